"""Options that several commands share.

A dataclass is a group of options: each of its fields becomes an option of the commands that have a
parameter of its type.
"""

import os
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from inldl.cli._progress import working
from inldl.tables.formats.registry import suffixes
from inldl.text import say

LABELS = (
    'The columns with shares: names "joy,anger", patterns "emotion_*", or "re:" and a regular '
    'expression. In a pattern ? stands for any character, even a comma: "joy? mild".'
)


def _share(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise ValueError(
            f"--uncertainty must lie between 0 and 1, got {value:g}; 0.9 asks for intervals that "
            "contain about 9 in 10 shares."
        )
    return value


def _order(value: str) -> str:
    if value not in ("auto", "day-first", "month-first"):
        raise ValueError(f"--dates must be day-first or month-first, got {value!r}.")
    return value


def _threads(value: int) -> int:
    if value == 0:
        raise ValueError("--jobs cannot be 0; 1 is one at a time, -1 one per core.")
    return value


def _column(text, *names):
    return typer.Option(*names, help=text, rich_help_panel="Which columns are used")


def flag(*names, **more):
    """Return an option without a value."""
    return typer.Option(*names, metavar="", **more)


def out(what):
    """Return the option --out for what is written."""
    return typer.Option("--out", "-o", help=what)


def workers(what):
    """Return the option --jobs for threads or processes."""
    return typer.Option(help=f"{what}; -1 is one per core.", callback=_threads)


def _in_file(text, detected="Detected by default.", **more):
    return typer.Option(
        help=f"{text} {detected}", rich_help_panel="How the file is written", **more
    )


_TABLE = f"The table: {', '.join(suffixes())}, also as .csv.gz and the like; - is standard input."
File = Annotated[Path, typer.Argument(help=_TABLE, metavar="TABLE")]
ModelFile = Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL")]
_LABELS = f"{LABELS} All of a --long table by default."
Labels = Annotated[str | None, typer.Option("--labels", "-l", help=_LABELS)]
_METHOD = "See `inldl methods`; winldl is the fast one."
Method = Annotated[str, typer.Option("--method", "-m", help=_METHOD)]
Out = Annotated[Path, out("The file to write.")]
Overwrite = Annotated[bool, flag("--overwrite", help="Replace files that exist.")]
_SCALE = "What the shares are: auto, fraction, percent or count."
_INTERVALS = (
    "Add columns LABEL_low and LABEL_high; with 0.9, about 9 in 10 shares lie between them."
)
Uncertainty = Annotated[float | None, typer.Option(help=_INTERVALS, callback=_share)]
_PAGE = "Write an HTML page with pictures, such as report.html."
_SUMS = "Accept complete rows that do not sum to the whole; the file keeps their numbers."
_LONG = (
    "For a table with one row per thing and label: "
    '"id=county,label=party,value=votes"; add "absent=0" if a label without a row means 0.'
)
_IGNORE = 'Columns to leave alone: "notes,tmp_*".'
_FEATURES = 'The columns to learn from: "age,income"; all others by default.'
_ID = 'The columns that name the rows: "county". They are not used as features.'
_NA = 'Cells that mean missing, besides the usual ones: "s,x,-99".'
_ABOVE = "Lines (in a sheet: rows) above the header."
_BELOW = "Lines with content below the last row, such as notes."
_DATES = "How to read dates such as 5/1/2024 if a column is unclear: day-first or month-first."
_SHEET = "The sheet of an Excel file, by name or number; the first by default."
_GROUP = (
    "A column of groups, such as persons: errors are measured on groups that were left out. It "
    "is not used as a feature."
)
_WEIGHT = (
    "A column that says how much each row counts, such as a survey weight; only ratios matter. It "
    "is not used as a feature."
)
_VOTES = (
    "For counts: weigh rows by how reliable their shares are, which is estimated; shares of 3 "
    "votes say less than those of 300."
)
_TOTAL = (
    "For counts: the column with the total of each row, or a number if all rows have the same "
    "total, such as 24. Counts may then be missing; completed rows sum to their total."
)
_GROUPS = (
    'A column with the sum of some labels: "alcohol=beer,wine". Repeat the option for more '
    "columns."
)
_RATIOS = (
    "Missing labels were dropped and the others rescaled to the whole, so only the ratios of "
    "known shares are right; rows with missing shares are scaled back."
)
_ROWS = "About how many rows to learn from; all by default, up to 100 million numbers."
_AS_GIVEN = (
    "encoding", "na", "skip_rows", "skip_last", "sheet", "ignore", "features", "id", "long",
    "total", "sums",
)  # fmt: skip


@dataclass(frozen=True)
class TableOptions:
    """Whether a page is wanted, whether files may be replaced, and how the table is written."""

    page: Annotated[Path | None, typer.Option(help=_PAGE)] = None
    overwrite: Overwrite = False
    delimiter: Annotated[str | None, _in_file("Between cells: , ; | or tab.")] = None
    decimal: Annotated[str | None, _in_file("The decimal sign: . or ,")] = None
    thousands: Annotated[str | None, _in_file("Between thousands: , . ' space or none.")] = None
    encoding: Annotated[str | None, _in_file("Such as utf-8 or cp1252.")] = None
    na: Annotated[str | None, _in_file(_NA, "")] = None
    skip_rows: Annotated[int | None, _in_file(_ABOVE, min=0)] = None
    skip_last: Annotated[int | None, _in_file(_BELOW, min=0)] = None
    sheet: Annotated[str | None, _in_file(_SHEET, "")] = None

    def open(self, table, labels, **files):
        """Return the table in a file, after a check of the page and of the other `files`."""
        from inldl.tables import TableFile

        check_apart(table=table, **files, page=self.page)
        self._check_page()
        delimiter = "\t" if self.delimiter in ("tab", "\\t") else self.delimiter
        thousands = {"space": " ", "none": ""}.get(self.thousands, self.thousands)
        signs = {"delimiter": delimiter, "decimal": self.decimal, "thousands": thousands}
        same = {name: getattr(self, name) for name in _AS_GIVEN if hasattr(self, name)}
        return TableFile(table, labels, **signs, **same)

    def _check_page(self):
        """Refuse a page that cannot be written, before any work is done."""
        from inldl.files.replacing import check_free

        if self.page is None:
            return
        check_free(self.page, overwrite=self.overwrite)
        for package in ("jinja2", "matplotlib"):
            try:
                __import__(package)
            except ImportError:
                raise ImportError(
                    f"Pages need {package}: pip install 'inldl[report]', or leave out --page."
                ) from None

    def show(self, document, out=None, on_page=None):
        """Print what a result says, and write the page if one is wanted.

        `on_page` returns the document of the page, where that one takes more work.
        """
        from inldl.report.terminal import show

        show(document)
        if out is not None:
            say(f"Wrote {out}")
        if self.page is not None:
            document = on_page() if on_page else document
            with working("Drawing"):
                document.write(self.page, overwrite=self.overwrite)
            say(f"Wrote {self.page}")


@dataclass(frozen=True)
class ScaleOptions(TableOptions):
    """And what the shares are, and which other columns are used."""

    scale: Annotated[str, typer.Option(help=_SCALE)] = "auto"
    ignore: Annotated[str | None, _column(_IGNORE)] = None
    features: Annotated[str | None, _column(_FEATURES)] = None
    id: Annotated[str | None, _column(_ID)] = None
    long: Annotated[str | None, _column(_LONG)] = None
    total: Annotated[str | None, _column(_TOTAL)] = None
    sums: Annotated[list[str] | None, _column(_GROUPS, "--sum")] = None
    weight: Annotated[str | None, _column(_WEIGHT)] = None
    dates: Annotated[str, _in_file(_DATES, "", callback=_order, show_default=False)] = "auto"

    def open(self, table, labels, **files):
        """Do the same; labels must be named, unless the table is long."""
        if labels is None and self.long is None:
            raise ValueError('Name the columns with shares, such as --labels "joy,anger".')
        return super().open(table, labels, **files)


@dataclass(frozen=True)
class ShareOptions(ScaleOptions):
    """And what is learned of rows with other sums."""

    normalize: Annotated[bool, flag("--normalize", help=_SUMS)] = False


@dataclass(frozen=True)
class FitOptions(ShareOptions):
    """And which rows belong together, what is known of them, and how much work a fit may be."""

    group: Annotated[str | None, _column(_GROUP)] = None
    votes: Annotated[bool, flag("--votes", help=_VOTES)] = False
    ratios: Annotated[bool, flag("--ratios", help=_RATIOS)] = False
    learn_from: Annotated[int | None, typer.Option("--learn-from", help=_ROWS, min=2)] = None
    jobs: Annotated[int, workers("Threads")] = 1

    def method_for(self, method, **asked):
        """Return a method that learns what --ratios says, and refuse what does not go with it."""
        if not self.ratios:
            return method
        from inldl.tables.tasks import method_of_ratios

        beside = {"total": self.total, "sums": self.sums, "votes": self.votes}
        return method_of_ratios(method, **beside, **asked)


_ROLES = {
    "table": "the table",
    "model": "the model",
    "run": "the file of results",
    "out": "--out",
    "answers": "--answers",
    "page": "--page",
}


def check_apart(onto_table=False, **files):
    """Refuse a file that has two roles; `onto_table` allows that `out` is the table."""
    given = {role: path for role, path in files.items() if path is not None}
    for (first, path), (second, other) in combinations(given.items(), 2):
        allowed = onto_table and {first, second} == {"table", "out"}
        if not allowed and _same_file(path, other):
            raise ValueError(
                f"{other} is given both as {_ROLES[first]} and as {_ROLES[second]}; give each a "
                "file of its own."
            )


def _same_file(first, second):
    if first.exists() and second.exists():
        return first.samefile(second)
    return os.path.realpath(first) == os.path.realpath(second)


def load_model_of_table(path, coverage=None, draws=0):
    """Return the model in a file, which must have what intervals or draws need if asked for."""
    from inldl.files.model_file import load_model
    from inldl.tables import TableModel

    model = load_model(path)
    if (coverage is not None or draws) and getattr(model, "known", "") == "ratios":
        raise ValueError(
            f"{path} was fitted with --ratios, which rules out intervals and draws; "
            "leave out --uncertainty and --draws."
        )
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which has no column names; use it from "
            "Python, or make a model with `inldl fit`."
        )
    if coverage is not None and model.calibration_ is None:
        raise ValueError(
            f"{path} was fitted without held-out predictions, which intervals need; make a "
            "model with `inldl fit`, or leave --uncertainty out."
        )
    if draws and model.examples_ is None:
        raise ValueError(
            f"{path} has no held-out predictions of its rows, which draws need; make a model "
            "with `inldl fit`, or leave --draws out."
        )
    return model


def given(context, names):
    """Return those of some options that the user has given."""
    source = context.get_parameter_source
    return [f"--{n.replace('_', '-')}" for n in names if source(n).name == "COMMANDLINE"]


def scale_for(model, file, scale, context):
    """Return the scale of a table that a model completes, and refuse one that is in doubt.

    Refuse other labels than those of the model, and options that are for fitting.
    """
    fitting = ("method", "learn_from", "jobs", "weight", "votes", "ratios", "dates")
    for option in given(context, fitting):
        raise ValueError(
            f"{option} is for fitting, but --model is already fitted; leave out one of them."
        )
    if list(model.label_names_) != list(file.labels):
        raise ValueError(
            f"The model was fitted to the labels {', '.join(model.label_names_)}; leave --labels "
            "out to use these."
        )
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
