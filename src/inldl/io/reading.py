"""Read a table of features and degrees from a file."""

from dataclasses import replace
from pathlib import Path

from inldl._validation import check_choice
from inldl.io._dialect import DELIMITERS, find_decimal, find_delimiter
from inldl.io._encoding import to_utf8
from inldl.io._labels import check_columns, select_labels
from inldl.io._scale import Degrees
from inldl.io._sources import FrameSource, TextSource
from inldl.io.table import Format, Table

KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".xlsx": "excel",
}
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def read_table(
    path, labels, *, scale="auto", normalize=False, delimiter=None, decimal=None, encoding=None
):
    r"""Read a table whose degrees may have holes.

    A degree is a hole if its cell is empty or one of NA, N/A, #N/A, NaN, null, None, ? and -, in
    any case and with any space around it. Columns other than the labels are features: those with
    numbers and such holes only become float64, all others stay text in which only an empty cell
    is a hole (NA may be a word there).

    Parameters
    ----------
    path : str or path
        A file that ends in .csv, .tsv, .tab or .txt (delimited text), .parquet or .xlsx.
    labels : str or list of str
        The label columns: names ("joy,anger" or a list), patterns with `*`, `?` and `[...]`
        ("emotion_*"), or "re:" and a regular expression that fits the whole name.
    scale : {"auto", "fraction", "percent", "count"}, default="auto"
        What the degrees are. "auto" looks at the sums of the complete rows (about 1, about 100,
        or neither), and at the largest degree if no row is complete. Counts are divided by the
        sum of their row and may have no holes.
    normalize : bool, default=False
        Divide complete rows that do not sum to the whole by their sum, instead of refusing them.
    delimiter : {",", ";", "\t", "|"}, default=None
        What separates the cells of a text; found out if None, a tab for .tsv and .tab.
    decimal : {".", ","}, default=None
        The decimal sign of a text; found out if None.
    encoding : str, default=None
        The encoding of a text. If None: by its mark, UTF-8 if it is that, else cp1252 or latin-1.

    Returns
    -------
    Table
        The degrees as fractions, the features, and notes on what was found out.

    Raises
    ------
    ValueError
        If the table cannot be read as one; the message names the line (the header is line 1
        if nothing is above it) and the column.
    OSError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from inldl.io import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "survey.csv")
    ...     _ = file.write_text("age;yes;no\n31;0,25;0,75\n58;0,5;\n")
    ...     table = read_table(file, "yes,no")
    >>> table.y.tolist()
    [[0.25, 0.75], [0.5, nan]]
    >>> print(*table.notes, sep="\n")
    The delimiter is a semicolon.
    The decimal sign is a comma.
    The degrees are taken as fractions: most complete rows sum to about 1.
    """
    check_choice("scale", scale, ("auto", "fraction", "percent", "count"))
    path = Path(path)
    kind, notes = _kind(path), []
    if kind == "text":
        source, form = _open_text(path, delimiter, decimal, encoding, notes)
    else:
        source, form = FrameSource(_open_frame(path, kind)), Format(kind)
    check_columns(source.names)
    names = select_labels(source.names, labels)
    if kind == "text":
        form = _with_decimal(form, source, names, decimal, notes)
    _check_rows(path, source)
    values, features = source.read(names)
    y, scale, more = Degrees(values, names, source.where).fractions(scale, normalize=normalize)
    return Table(names, y, features, scale, notes + more, form, path, source)


def kind_of(path):
    """Return the kind of file that the suffix of `path` stands for."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(
            f"{path} ends in {path.suffix!r}, which is no known kind of table; known are "
            f"{', '.join(KINDS)}."
        )
    return kind


def _kind(path):
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}; check its name and its folder.")
    return kind_of(path)


def _open_text(path, delimiter, decimal, encoding, notes):
    if delimiter is not None:
        check_choice("delimiter", delimiter, DELIMITERS)
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    content, encoding, mark, note = to_utf8(path.read_bytes(), encoding)
    if not content or content.isspace():
        raise ValueError(f"{path} is empty; it needs a header and at least two rows.")
    notes.extend([note] if note else [])
    found = delimiter
    if found is None:
        found = "\t" if path.suffix.lower() in (".tsv", ".tab") else find_delimiter(content)
        notes.extend([f"The delimiter is {_NAMES[found]}."] if found != "," else [])
    source = TextSource(content, found)
    newline = source.cells.newline.decode()
    newline = "\r\n" if newline == "\n" and b"\r\n" in content else newline
    form = Format("text", found, ".", encoding, newline, mark)
    return source, form


def _with_decimal(form, source, names, decimal, notes):
    """Return the format with the decimal sign, found out if it is None."""
    if decimal is None:
        decimal = find_decimal(source.cells, [source.names.index(name) for name in names])
        notes.extend(["The decimal sign is a comma."] if decimal == "," else [])
    source.decimal = decimal
    return replace(form, decimal=decimal)


def _open_frame(path, kind):
    import pandas as pd

    read, package = {
        "parquet": (pd.read_parquet, "pyarrow"),
        "excel": (pd.read_excel, "openpyxl"),
    }[kind]
    try:
        return read(path, engine=package)
    except ImportError:
        raise ImportError(
            f"{path.suffix} files need {package}: pip install 'inldl[parquet]'"
        ) from None
    except OSError:
        raise
    except Exception as error:  # each engine has errors of its own
        raise ValueError(f"{path} cannot be read as {path.suffix}: {error}") from None


def _check_rows(path, source):
    count = source.n_rows(enough=2)
    if count < 2:
        problem = "only one row" if count else "a header but no rows"
        raise ValueError(f"{path} has {problem}; at least two rows are needed to learn from.")
