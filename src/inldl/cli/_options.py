"""Options that several commands share."""

import os
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from inldl._text import say
from inldl.io.formats import suffixes

FORMAT = "How the file is written"
LABELS = (
    'The degree columns: names "joy,anger", patterns "emotion_*", or "re:" and a regular '
    'expression. In a pattern ? stands for any sign, also for a comma: "joy? mild".'
)


def _share(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise ValueError(
            f"--uncertainty must lie between 0 and 1, got {value:g}; 0.9 asks for intervals that "
            "hold nine of ten degrees."
        )
    return value


def threads(value: int) -> int:
    """Refuse --jobs 0."""
    if value == 0:
        raise ValueError("--jobs cannot be 0; 1 is one at a time, -1 one per core.")
    return value


def flag(*names, **more):
    """Return an option without a value."""
    return typer.Option(*names, metavar="", **more)


File = Annotated[
    Path,
    typer.Argument(
        help=f"The table: {', '.join(suffixes())}; - is standard input.",
        metavar="TABLE",
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL")]
Labels = Annotated[str, typer.Option("--labels", "-l", help=LABELS)]
Method = Annotated[
    str,
    typer.Option("--method", "-m", help="See `inldl methods`; winldl is the fast one."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The file to write.")]
Page = Annotated[
    Path | None, typer.Option(help="Write an HTML page with pictures, such as report.html.")
]
Overwrite = Annotated[bool, flag("--overwrite", help="Replace files that exist.")]
Scale = Annotated[
    str, typer.Option(help="What the degrees are: auto, fraction, percent or count.")
]
Normalize = Annotated[
    bool,
    flag(
        "--normalize",
        help="Divide complete rows by their sums for learning; the file keeps them as they are.",
    ),
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
        callback=_share,
    ),
]
Jobs = Annotated[int, typer.Option(help="Threads; -1 is one per core.", callback=threads)]
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
Thousands = Annotated[
    str | None,
    typer.Option(
        help="Between thousands: , . ' space or none. Found out by default.",
        rich_help_panel=FORMAT,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Such as utf-8 or cp1252. Found out by default.", rich_help_panel=FORMAT),
]


def open_table(path, labels, delimiter, decimal, thousands, encoding):
    """Return the table in a file, as the options say."""
    from inldl.io import TableFile

    delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
    thousands = {"space": " ", "none": ""}.get(thousands, thousands)
    signs = {"delimiter": delimiter, "decimal": decimal, "thousands": thousands}
    return TableFile(path, labels, encoding=encoding, **signs)


def check_apart(onto_table=False, **files):
    """Refuse a file that has two roles.

    Parameters
    ----------
    onto_table : bool
        Whether `out` may be the table.
    **files : Path or None
        By role: table, model, run, out, page.
    """
    given = {role: path for role, path in files.items() if path is not None}
    for (first, path), (second, other) in combinations(given.items(), 2):
        allowed = onto_table and {first, second} == {"table", "out"}
        if not allowed and _same_file(path, other):
            words = {"table": "the table", "model": "the model", "run": "the file of results",
                     "out": "--out", "page": "--page"}  # fmt: skip
            raise ValueError(
                f"{other} is given both as {words[first]} and as {words[second]}; give each a "
                "file of its own."
            )


def _same_file(first, second):
    if first.exists() and second.exists():
        return first.samefile(second)
    return os.path.realpath(first) == os.path.realpath(second)


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
            raise ImportError(
                f"Pages need {package}: pip install 'inldl[report]', or leave out --page."
            ) from None


def load_model_of_table(path, coverage=None):
    """Return the model in a file, which must have intervals if a coverage is asked for."""
    from inldl.io.model_file import load_model
    from inldl.tables import Model

    model = load_model(path)
    if not isinstance(model, Model):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which knows no column names; use it from "
            "Python, or make a model with `inldl fit`."
        )
    if coverage is not None and model.calibration_ is None:
        raise ValueError(
            f"{path} was fitted without held-out predictions, on which intervals rest; make a "
            "model with `inldl fit`, or leave --uncertainty out."
        )
    return model


def check_labels(model, labels):
    """Refuse labels that are not those of the model."""
    if list(model.label_names_) != list(labels):
        raise ValueError(
            f"The model was fitted to the labels {', '.join(model.label_names_)}; leave --labels "
            "out to use these."
        )


def refuse_options_of_fit(context):
    """Refuse options that have nothing to act on where the model comes from a file."""
    options = {"method": "--method", "learn_from": "--learn-from", "jobs": "--jobs"}
    for name, option in options.items():
        if context.get_parameter_source(name).name == "COMMANDLINE":
            raise ValueError(
                f"{option} is for fitting, but --model is fitted; leave out one of them."
            )


def scale_for(model, file, scale):
    """Return the scale of a table that a model completes, and refuse one that is in doubt."""
    for note in file.notes:
        say(note)
    if scale != "auto":
        return scale
    scale, note = file.find_scale()
    known = getattr(model, "scale_", scale)
    if scale != known:
        raise ValueError(
            f"{note[:-1]}, but the model was fitted to a table with --scale {known}; give "
            f"--scale {scale} or --scale {known} to say which it is."
        )
    say(note)
    return scale
