"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

FORMAT = "How the file is written"

File = Annotated[
    Path, typer.Argument(help="The table: .csv, .tsv, .txt, .parquet or .xlsx.", metavar="TABLE")
]
ModelFile = Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL")]
Labels = Annotated[
    str,
    typer.Option(
        "--labels",
        "-l",
        help='The degree columns: names "joy,anger", patterns "emotion_*", or "re:" and a '
        "regular expression.",
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", "-m", help="See `inldl methods`; winldl is the fast one."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The file to write.")]
Page = Annotated[
    Path | None, typer.Option(help="Write an HTML page with pictures, such as report.html.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Scale = Annotated[
    str, typer.Option(help="What the degrees are: auto, fraction, percent or count.")
]
Normalize = Annotated[
    bool, typer.Option("--normalize", help="Divide complete rows by their sums.")
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--learn-from",
        help="About how many rows to learn from; all by default, up to 100 million numbers.",
        min=2,
    ),
]
Uncertainty = Annotated[
    float | None,
    typer.Option(
        help="Add columns LABEL_low and LABEL_high that hold this share of the degrees, such as "
        "0.9.",
    ),
]
Jobs = Annotated[int, typer.Option(help="Threads; -1 is one per core.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between cells: , ; | or tab. Found out by default.", rich_help_panel=FORMAT
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="The decimal sign: . or , Found out by default.", rich_help_panel=FORMAT),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Such as utf-8 or cp1252. Found out by default.", rich_help_panel=FORMAT),
]


def open_table(path, labels, delimiter, decimal, encoding):
    """Return the table in a file, as the options say."""
    from inldl.io import TableFile

    delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
    return TableFile(path, labels, delimiter=delimiter, decimal=decimal, encoding=encoding)


def check_page(page, overwrite):
    """Refuse a page that cannot be written, before any work is done."""
    from inldl.io._replacing import check_free

    if page is None:
        return
    check_free(page, overwrite=overwrite)
    for package in ("jinja2", "matplotlib"):
        try:
            __import__(package)
        except ImportError:
            raise ImportError(f"Pages need {package}: pip install 'inldl[report]'") from None
