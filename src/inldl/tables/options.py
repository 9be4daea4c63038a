r"""The options of table commands, each stated once.

A dataclass here is a group of options that one function takes. The command line has an option for
each field, the page of the studio a control for each field that has a place there, and the
functions take the dataclass, or keywords with the names of its fields. To add an option, add a
field here, and use it in the function.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from inldl.tables.option_groups import Options, option, option_group

_COLUMNS, _FILE = "Which columns are used", "How the file is written"
PANELS = (_COLUMNS, "The shares, and how they are learned", "What is written", _FILE)
"""The parts of a help text, in their order."""
_READING, _SHARES, _MORE = "The file", "The shares", "More options"  # parts of the page
LABELS = (
    'The columns with shares: names "joy,anger", patterns "emotion_*", or "re:" and a regular '
    'expression. In a pattern ? stands for any character, even a comma: "joy? mild".'
)
SCALE_TITLES = {"auto": "Detect it from the sums", "fraction": "Fractions: rows sum to 1"}
SCALE_TITLES |= {"percent": "Percentages: rows sum to 100", "count": "Counts"}


def _in_file(title: str, help: str, **more: Any) -> Any:
    """Return an option about how the file is written; None has it detected."""
    return option(None, help, panel=_FILE, page=(_READING, title), **more)


def _column(help: str, **more: Any) -> Any:
    """Return an option that names columns."""
    return option(None, help, panel=_COLUMNS, **more)


@option_group
class FileOptions(Options):
    r"""How the file of a table is written.

    Parameters
    ----------
    thousands : {"", ",", ".", " ", "'"}, default=None
        What separates thousands, as in 47,300; "" if nothing does. A space stands for no-break
        and thin spaces as well, and an apostrophe for the typographic one. Detected if None; a
        table in which 47,300 could mean 47300 or 47.3 is refused.
    encoding : str, default=None
        The encoding of a text file. If None, the one that its byte order mark tells; else UTF-8
        if the file is valid UTF-8, or cp1252 or latin-1.
    mark : str or dict, default=None
        What signs in label columns stand for: bounds, a number or, if it is empty, missing, as in
        "*=1-4,-=0,x=" or {"*": "1-4", "-": 0, "x": ""}. Numbers have a decimal point and the units
        of the table, and no percent sign. In totals and sums, bounds are missing.
    skip_rows, skip_last : int, default=None
        Lines (rows of a sheet) above the header, and lines with content below the last row, that
        are no part of the table; files that are written keep them. By default titles and notes
        are detected where they are clear.
    """

    delimiter: str | None = _in_file(
        "Between cells",
        "Between cells: , ; | tab or space. Detected by default.",
        choices={",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar", " ": "Space"},
        words={"tab": "\t", "\\t": "\t", "space": " "},
    )
    decimal: str | None = _in_file(
        "Decimal sign",
        "The decimal sign: . or , Detected by default.",
        choices={".": "Point", ",": "Comma"},
    )
    thousands: str | None = _in_file(
        "Between thousands",
        "Between thousands: , . ' space or none. Detected by default.",
        choices={",": "Comma", ".": "Point", "'": "Apostrophe", " ": "Space", "none": "Nothing"},
        words={"space": " ", "none": ""},
    )
    encoding: str | None = _in_file(
        "Encoding", "Such as utf-8 or cp1252. Detected by default.", example="detected"
    )
    na: str | Sequence[str] | None = _in_file(
        "Cells that mean missing",
        'Cells that mean missing in any column, besides the usual ones: "s,x,-99".',
        example="s, x, -99",
    )
    mark: str | dict[str, Any] | None = _in_file(
        "Signs that stand for something",
        'What signs in columns of shares stand for: "*=1-4,-=0,x=" for bounds, a number, missing.',
        example="*=1-4, -=0",
    )
    skip_rows: int | None = _in_file(
        "Lines above the header",
        "Lines (in a sheet: rows) above the header. Detected by default.",
        least=0,
        page_most=1000,
        example="detected",
    )
    skip_last: int | None = _in_file(
        "Lines below the last row",
        "Lines with content below the last row, such as notes. Detected by default.",
        least=0,
        page_most=1000,
        example="detected",
    )
    sheet: str | int | None = _in_file(
        "Sheet or table of the file",
        "The sheet of a spreadsheet, by name or number, or the table of a database; the first by "
        "default. It may also follow the file: survey.db::answers.",
    )


@option_group
class ColumnOptions(FileOptions):
    """How the file of a table is written, and which of its columns are used.

    Parameters
    ----------
    long : str or dict, default=None
        For a table with one row per thing and label: which columns are the id of the thing, the
        label and the value, as in "id=county,label=party,value=votes", or "id=state+year,..." for
        an id of several columns. All labels are taken by default. A label that a thing has no row
        for is missing; with "absent=0" it is 0.
    total : str or float, default=None
        For counts, which may then be missing: the column with the totals of the rows, or one total
        of all rows, such as 24; or "none" if no total is known, so that missing counts are filled
        in from the known ones of their row. The column is a feature only if `features` names it.
    column_totals : str, path or dict, default=None
        For counts: the total of each label over all rows, which completed tables have. "last-row"
        if the last row of the table holds them, "rows" if the rows do that are found to be sums of
        others, a file with one row of totals under the names of the labels, or a dict from labels
        to totals. A total may be missing, or a text with bounds such as "<500". Rows that are
        totals or means of others are not learned from, but with "none".
    parent : str, default=None
        For counts: the column that names the row of which a row is a part, such as its region;
        `id` says which column holds the names. Rows sum to the row that they are part of, which
        may be part of another. Rows that are sums are not learned from.
    sums : str, list of str or dict, default=None
        Columns that hold sums of labels, in the same units: "alcohol=beer,wine", several such
        texts, or a dict from such a column to its labels. A label may be in one sum only. These
        columns are neither labels nor, unless `features` names them, features.
    """

    ignore: str | list[str] | None = _column('Columns to leave alone: "notes,tmp_*".')
    features: str | list[str] | None = _column(
        'The columns to learn from: "age,income"; all others by default.'
    )
    id: str | list[str] | None = _column(
        'The columns that name the rows: "county". They are not used as features, but may hold '
        "units and times.",
    )
    category: str | list[str] | None = _column(
        'Columns of codes, whose numbers are names and no quantities: "nace,district". Found '
        "where held-out rows show it; none: numbers are never taken as codes."
    )
    long: str | dict[str, Any] | None = _column(
        'For a table with one row per thing and label: "id=county,label=party,value=votes"; add '
        '"absent=0" if a label without a row means 0.',
        page=(_READING, "One row per label"),
        example="id=county,label=party,value=votes",
    )
    total: str | float | None = _column(
        "For counts: the column with the total of each row, or a number if all rows have the same "
        "total, such as 24. Counts may then be missing; completed rows sum to their total. none: "
        "totals are not known, and missing counts follow from the known ones of their row.",
    )
    column_totals: str | dict[str, Any] | None = _column(
        "For counts: the total of each label over all rows, which completed tables have: last-row "
        "if the last row holds them, rows for all that are sums of others, or a file with one "
        "row of totals; none if such rows are like the others.",
        page=(_SHARES, "Totals of columns"),
        example="last-row",
    )
    parent: str | None = _column(
        "For counts: the column that names the row of which each row is a part, such as its "
        "region; rows then sum to that row. Name the column of names with --id.",
        page=(_SHARES, "Part of"),
    )
    sums: list[str] | str | dict[str, Any] | None = _column(
        'A column with the sum of some labels: "alcohol=beer,wine". Repeat the option for more '
        "columns.",
        flag="--sum",
        page=(_SHARES, "Columns that hold sums of labels"),
        hint="One column per line, and the labels that it is the sum of.",
        example="alcohol=beer,wine",
    )
    other: str | None = _column(
        "A name for what the labels leave of the whole, which becomes a label and a new column."
    )
    zeros: str = option(
        "true",
        "What a 0 is: true, never (the label cannot be in that row), or rounded (too small to be "
        'recorded), as in "rounded<0.5:wine,beer" with a limit and labels.',
        panel=PANELS[1],
        page=(_SHARES, "What a 0 is"),
    )


@option_group
class ScaleOptions(Options):
    """What the shares of a table are, for a look at it.

    Parameters
    ----------
    scale : {"auto", "fraction", "percent", "count"}, default="auto"
        What the degrees are. "auto" looks at the sums of the complete rows (about 1, about 100,
        or neither), and at the largest degree if no row is complete. Counts are divided by the
        sum of their row, and none may be missing, unless there is a `total`.
    """

    panel: ClassVar[str] = PANELS[1]

    scale: str = option(
        "auto",
        "What the shares are: auto, fraction, percent or count.",
        choices=SCALE_TITLES,
        page=(_SHARES, "What the shares are"),
    )
    weight: str | None = _column(
        "A column that says how much each row counts, such as a survey weight; only ratios "
        "matter. It is not used as a feature.",
    )
    dates: str = option(
        "auto",
        "How to read dates such as 5/1/2024 if a column is unclear: day-first or month-first.",
        panel=_FILE,
        choices={"auto": "Detect it", "day-first": "Day first", "month-first": "Month first"},
        show_default=False,
        page=(_READING, "Dates such as 5/1/2024"),
    )


@option_group
class ShareOptions(ScaleOptions):
    """What the shares of a table are, and whether rows with other sums are accepted.

    Parameters
    ----------
    normalize : bool, default=False
        Divide complete rows that do not sum to the whole by their sum, instead of refusing them.
        Incomplete rows that exceed the whole by at most 5 percent are divided as well, which
        leaves 0 for their missing degrees. Rows that are off by no more than rounding explains
        (half a unit of the last decimal for each degree, at most 5 percent in all) are always
        divided. `write_table` keeps all these rows as they are in the file.
    """

    normalize: bool = option(
        False,
        "Accept complete rows that do not sum to the whole; the file keeps their numbers.",
        page=(_SHARES, "Accept rows with other sums"),
    )


@option_group
class PanelOptions(ScaleOptions):
    """What the shares of a table are, and where its rows belong."""

    unit: str | Sequence[str] | None = _column(
        'Columns that name what has a row for each of several times: "country", or '
        '"state,industry" together. Found if there are times; none: rows are unrelated.'
    )
    time: str | Sequence[str] | None = _column(
        'Columns with the times of rows: "date", or "year,month" together. Found if they tell '
        "the rows of a unit apart; none: rows have no order."
    )


@option_group
class GroupOptions(ShareOptions, PanelOptions):
    """What the shares of a table are, and which of its rows belong together."""

    group: str | None = _column(
        "A column of groups, such as persons; errors are measured on groups that were left out."
    )


@option_group
class LearnOptions(GroupOptions):
    """How a model is fitted to a table."""

    place: str | Sequence[str] | None = _column(
        'Columns of latitudes and longitudes: "lat,lon"; found by name. none leaves them out.'
    )
    votes: bool = option(
        False,
        "For counts: weigh rows by how reliable their shares are, which is estimated; shares of 3 "
        "votes say less than those of 300.",
        page=(_SHARES, "Weigh rows by their votes"),
    )
    ratios: bool = option(
        False,
        "Missing labels were dropped and the others rescaled to the whole, so only the ratios of "
        "known shares are right; rows with missing shares are scaled back.",
        page=(_SHARES, "Only ratios are known"),
    )
    error: str = option(
        "shares",
        "What filled-in shares are to be near in: shares, or ratios of shares, where small ones "
        "count as much as large ones.",
        choices={"shares": "Differences of shares", "ratios": "Ratios of shares"},
        page=(_MORE, "Errors to keep small"),
    )
    most_rows: int | None = option(
        None,
        "About how many rows to learn from; all by default, up to 100 million numbers.",
        flag="--learn-from",
        least=2,
        page=(_MORE, "Rows to learn from"),
        page_most=10**9,
        hint="Fewer are faster where a table has very many.",
        example="all",
    )
    n_jobs: int = option(1, "Threads; -1 is one per core.", flag="--jobs")


@option_group
class IntervalOptions(Options):
    """Whether intervals are written."""

    panel: ClassVar[str] = PANELS[2]

    coverage: float | None = option(
        None,
        "Add columns LABEL_low and LABEL_high; with 0.9, about 9 in 10 shares lie between them.",
        flag="--uncertainty",
    )


@option_group
class FillOptions(IntervalOptions):
    """How a completed table is written."""

    joint: bool = option(
        False,
        "With --uncertainty 0.9: in about 9 of 10 rows all shares are within their intervals.",
    )
    ranges: bool = option(
        False,
        "Add columns LABEL_least and LABEL_most: what totals and bounds allow for certain.",
        flag="--range",
        page=(_MORE, "What is possible for certain"),
    )
    filled_columns: bool = option(
        False,
        "Add columns LABEL_filled: 1 where a cell was filled, 2 where it had bounds such as <5.",
    )
    whole: bool = option(
        False,
        "Fill in whole numbers; for counts with a --total.",
        page=(_MORE, "Fill in whole numbers"),
        hint="For counts with a column of totals.",
    )
    delta: str | dict[str, float] | None = option(
        None,
        'What if the missing shares are not like the known ones? "wine=+10%,beer=-20%" multiplies '
        "those that are filled in; a semicolon starts another case, for comparison.",
    )
    n_draws: int = option(
        0,
        "Also write this many tables, OUT-draw1 and so on, whose filled shares vary as much as "
        "they are uncertain (multiple imputation: analyse each, then pool by Rubin's rules).",
        flag="--draws",
        least=0,
        show_default=False,
        page=(_MORE, "Multiple imputations"),
        page_most=100,
        hint="Also make this many completed tables, which differ as much as their filled-in "
        "shares are uncertain.",
        example="none",
    )
    stacked: bool = option(
        False,
        "Also write the table and all --draws into one, OUT-stacked.csv, for mice::as.mids of R.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.joint and self.coverage is None:
            raise ValueError("--joint makes intervals wider; ask for some with --uncertainty 0.9.")


@option_group
class AskOptions(Options):
    """Which missing shares to ask for, and what answers cost.

    The options are as in `inldl.suggest`; `cost` names a column in place of `row_cost`.
    """

    budget: float = option(
        50, "What all answers may cost; without prices, how many cells to ask for.", short=("-b",)
    )
    by: str = option(
        "cell", "Ask for single cells, or for all missing shares of a row: cell or row."
    )
    row_cost: float = option(1, "The price of the first answer in a row.")
    cell_cost: float | None = option(
        None, "The price of each further answer in the same row; that of the first by default."
    )
    cost: str | None = option(
        None, "A column with the price of a row: of each answer, or of the first with --cell-cost."
    )
