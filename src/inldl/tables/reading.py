"""Read a table of features and degrees from a file."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from inldl.rows.checks import check_choice, check_number
from inldl.rows.missingness import settle_largest
from inldl.rows.partial import PartialRows
from inldl.tables.assumptions import Rest, Zeros, giving_way, notes_on_largest
from inldl.tables.columns import as_names
from inldl.tables.formats import load_format, readable_twice, unpacked
from inldl.tables.formats.long import Keys, LongTable, long_table_hint
from inldl.tables.hints import ScaleEvidence, notes_on_features, notes_on_last_row
from inldl.tables.marks import as_marks, notes_on_signs, questions
from inldl.tables.numbers import as_words, check_signs
from inldl.tables.options import SCALE_TITLES, ColumnOptions
from inldl.tables.selection import (
    TotalColumns,
    are_whole,
    check_columns,
    check_named_once,
    named_by,
    refused_total,
    select_features,
    select_labels,
    split_names,
)
from inldl.tables.shares import Degrees
from inldl.tables.structure import NONE
from inldl.tables.sums_over_rows import NO_TOTALS, SumsOverRows
from inldl.tables.table import Piece, Table
from inldl.tables.table_rows import gather
from inldl.tables.total_rows import find_total_rows

_SIGNED = "The shares are read as percentages: they have a percent sign."


def read_table(path, labels, options=None, *, scale="auto", normalize=False, **keywords) -> Table:
    r"""Read a table of shares from a file, with missing cells and cells such as ``<5``.

    Guide: :doc:`/tables`.

    A degree is missing if its cell is empty or holds NA, n.a., NaN, null, None, ?, -, --, a long
    dash, *, **, one to three dots, a colon, (s), (x), (d) or an error of a spreadsheet; `na` adds
    to these, and `mark` says what such signs stand for instead. All columns other than the labels
    are features: float64 if their cells are numbers or missing in this sense, else text, in which
    only an empty cell is missing. Degrees may have percent signs. Cells such as <5, <=5, >50, 1-9
    and 5 to 10 give bounds, in the units of the others; among whole counts <5 is at most 4.

    Parameters
    ----------
    path : str or path
        A file that ends in .csv, .tsv, .tab or .txt (delimited text), .xlsx or .ods (the first
        sheet, without empty rows and columns), .parquet, .feather, .sav or .zsav (SPSS), .dta
        (Stata), .db, .sqlite or .duckdb (the first table of a database), compressed if .gz, .bz2,
        .xz or .zip follows; or "-" for standard input. "survey.db::answers" names a table, and
        "budget.xlsx::2024" a sheet. Standard input, pipes and compressed files are copied first.
    labels : str or list of str
        The label columns: names ("joy,anger" or a list), patterns with `*`, `?` and `[...]`
        ("emotion_*"), or "re:" and a regular expression that fits the whole name.
    options : ColumnOptions, optional
        How the file is written, and which columns are used.
    scale, normalize
        What the degrees are, and whether rows with other sums are accepted, as in `ShareOptions`.
    **keywords
        Fields of `ColumnOptions`, such as ``decimal=","``, in place of those of `options`.

    Returns
    -------
    Table
        The degrees as fractions, the features, and notes on what was detected.

    Raises
    ------
    ValueError
        If the file holds no such table; the message names the line (the header is usually
        line 1) and the column.
    OSError
        If there is no such file, or it cannot be read.

    See Also
    --------
    TableFile : Read the same file a piece at a time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from inldl.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "survey.csv")
    ...     _ = file.write_text("age;yes;no\n31;0,25;0,75\n58;0,5;\n")
    ...     table = read_table(file, "yes,no")
    >>> table.y.tolist()
    [[0.25, 0.75], [0.5, nan]]
    >>> print(*table.notes, sep="\n")
    The delimiter is a semicolon.
    The decimal sign is a comma.
    The shares are read as fractions: most complete rows sum to about 1.
    """
    return TableFile(path, labels, options, **keywords).read(scale=scale, normalize=normalize)


class TableFile:
    r"""A table in a file, whose rows are read when you ask for them.

    Parameters
    ----------
    path : str or path
        The file, as in `read_table`.
    labels : str, list of str or None
        The label columns, as in `read_table`; None if the file need not have any.
    options : ColumnOptions, optional
        How the file is written, and which columns are used.
    **keywords
        Fields of `ColumnOptions`, such as ``decimal=","``, in place of those of `options`.

    Attributes
    ----------
    path : Path
        The file, or the copy of a pipe.
    options : ColumnOptions
        How it was opened.
    format : Format
        How it is written.
    labels, features, ids, categories : list of str
        Names of the label columns, of the feature columns, of those that name the rows, and of
        those whose numbers are codes.
    things : sequence of str
        The columns that name the things of a table with one row per thing and label.
    finds_codes : bool
        Whether other columns of numbers may be found to be codes.
    totals : TotalColumns
        Which columns hold totals, or sums of labels.
    columns, rest : list of str, Rest or None
        The label columns of the file, and the last label, if it is what these leave.
    notes : list of str
        Sentences that tell what was detected about the file.
    zeros : Zeros
        What its zeros are.
    source : TableFormat
        The table as the format of the file opens it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from inldl.tables import TableFile
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "survey.csv")
    ...     _ = path.write_text("age,yes,no\n31,0.25,0.75\n58,0.5,\n")
    ...     [piece.values.tolist() for piece in TableFile(path, "yes,no").pieces()]
    [[[0.25, 0.75], [0.5, nan]]]
    """

    def __init__(self, path, labels, options=None, **keywords) -> None:
        self.options = options = ColumnOptions.of(options, **keywords)
        check_signs(options.decimal, options.thousands)
        for name in ("skip_rows", "skip_last"):
            if getattr(options, name) is not None:
                check_number(name, getattr(options, name), low=0, integer=True)
        path, _, sheet = str(path).partition("::")
        options = replace(options, sheet=sheet) if sheet else options
        self.options, self.path = options, readable_twice(Path(path), owner=self)
        self._stamp = self._looks()
        plain = unpacked(self.path, owner=self)
        words = {"na": as_words(options.na), "mark": as_marks(options.mark)}
        source = load_format(plain)(plain, replace(options, **words))
        check_columns(source.names)
        self.things, named, signs = (), options.id, (options.decimal, options.thousands)
        if options.long is not None:
            source = self._widened(source, options.long, *signs)
            self.things, named = source.keys.id, named or source.ids
        self.source = source
        self.ids = named_by(source.names, named or (), "id columns")
        self.finds_codes = options.category != NONE
        codes = (options.category or ()) if self.finds_codes else ()
        self.categories = named_by(source.names, codes, "columns of codes")
        self.totals = TotalColumns(source.names, options.total, options.sums)
        self._select(labels, options)
        self.source.find_signs(self.labels, *signs, self.totals.columns)
        self.notes, self.format = list(self.source.notes), self.source.format
        self.rest, self.columns = None, list(self.labels)
        if options.other is not None and self.labels:
            self.rest = rest = Rest.of(options.other, self)
            self.labels.append(rest.name)  # of the totals, too
            self.notes.append(rest.note())
        self.zeros = Zeros.of(options.zeros, self.labels, self._pieces) if self.labels else Zeros()

    def _select(self, labels, options):
        """Set which columns are labels and which are features."""
        names = self.source.names
        unused = [*self.ids, *named_by(names, options.ignore or (), "columns")]
        if options.long is not None and labels is None:
            labels = [name for name in self.source.categories if name not in unused]
        self.labels = [] if labels is None else self._labels(labels, unused)
        self.totals.check(self.labels)
        named = split_names(options.features)
        unused += [name for name in self.totals.columns if name not in named]
        self.features = select_features(names, self.labels, options.features, unused)

    @staticmethod
    def _widened(source, long, decimal, thousands) -> LongTable:
        """Return a table with a row per thing, of one that has a row per thing and label."""
        source.find_signs([(keys := Keys.of(long, source.names)).value], decimal, thousands)
        wide = LongTable(source, keys)
        check_columns(wide.names)
        return wide

    def _labels(self, labels, unused):
        """Return the label columns; if there are none, say whether the table looks long."""
        check_named_once(labels, "a label", unused, "an id or a column to ignore")
        try:
            others, least = [*unused, *self.totals.columns], 1 if self.options.other else 2
            return select_labels(self.source.names, labels, others, least)
        except ValueError as error:
            hint = long_table_hint(self.source, labels) or getattr(self.source, "other_sheets", "")
            if hint:
                raise ValueError(f"{error} {hint}") from None
            raise

    def read(
        self, *, scale="auto", normalize=False, check=True, most_rows=None, least_rows=2
    ) -> Table:
        """Read the table.

        Parameters
        ----------
        scale, normalize
            As in `read_table`.
        check : bool, default=True
            Whether to refuse degrees that cannot be shares.
        most_rows : int, default=None
            About how many rows to take, drawn evenly from all; None takes all.
        least_rows : int, default=2
            Refuse a table with fewer rows; learning needs two.

        Returns
        -------
        Table
        """
        check_choice("scale", scale, SCALE_TITLES)
        sampled = most_rows is not None and most_rows < self.source.most_rows()
        piece, rows = gather(self, most_rows, self.ids)
        totals = []
        if self.over_rows is None and self.options.column_totals != NO_TOTALS:
            found = find_total_rows(piece)
            totals = found.notes(self.place_of(rows), piece.totals is not None)
            piece, rows = found.apart(piece, rows)
        for name in piece.features.columns.intersection(self.categories):
            piece.features[name] = as_names(piece.features[name])
        if piece.size < least_rows:
            problem = "only one row" if piece.size else "a header but no rows"
            needed = "at least two rows are needed to learn from" if least_rows > 1 else "add rows"
            raise ValueError(f"{self.path} has {problem}; {needed}.")
        notes = [*self.notes, *self._doubts(piece, self.place_of(rows), check)]
        notes += [] if self.over_rows is None else self.over_rows.notes()
        rounded = self.zeros.limits is not None
        if scale == "auto" and (self.format.percent or (rounded and not self.totals.given)):
            scale, note = self.find_scale()
            notes.append(note)
        where = self.place_of(rows)
        opened, how = self.zeros.open(piece), {"normalize": normalize, "check": check}
        shares = self._shares(opened, where, scale, **how, part=rounded)
        known = settle_largest(shares.known, giving_way(opened))
        notes += [*self.totals.notes(), *shares.notes, *notes_on_largest(opened)]
        notes += [*notes_on_signs(self, [piece], shares.scale, opened.bounds), *totals]
        votes = piece.votes(self.labels) if shares.scale == "count" else None
        named = {name: piece.features.pop(name) for name in self.ids}
        ids = pd.DataFrame(named, index=piece.features.index)
        return Table(
            self.labels, known, piece.features, shares.scale, notes, self, rows,
            shares.divisors, votes, shares.totals, ids, sampled, shares.doubts,
        )  # fmt: skip

    def _doubts(self, piece, place, check):
        """Return sentences on a label that is a total, or refuse it, and on a note as last row."""
        problem = refused_total(self.labels, piece.values)
        if check and problem:
            raise ValueError(problem)
        notes = notes_on_last_row(piece, place, "skip_rows" in self.source.layout)
        return [*filter(None, [problem]), *notes, *notes_on_features(piece.features)]

    def _shares(self, piece, where, scale, *, normalize=False, check=True, part=False):
        self.totals.check_scale(scale, normalize, self.format.percent)
        about = self.totals, where, lambda: self.whole_numbers, check, partial(questions, self)
        return Degrees(piece, *about).shares(scale, normalize=normalize, part=part)

    @cached_property
    def whole_numbers(self) -> bool:
        """Whether all numbers of labels and totals are whole."""
        return are_whole(self._plain_pieces())

    @cached_property
    def over_rows(self) -> SumsOverRows | None:
        """What is known of sums over rows, if anything."""
        if self.options.column_totals in (None, NO_TOTALS) and self.options.parent is None:
            return None
        if not self.totals.given:
            raise ValueError(
                "Totals of columns (--column-totals) and sums of rows (--parent) are for counts "
                "that also have a total in each row; name its column (--total)."
            )
        return SumsOverRows.find(self)

    def like(self, path) -> "TableFile | None":
        """Return another file with the labels of this one that it has; None if they are few."""
        words = {"na": self.options.na, "mark": self.options.mark}
        names = TableFile(path, None, **words).source.names
        labels = [name for name in self.labels if name in names]
        return TableFile(path, labels, **words) if len(labels) > 1 else None

    def whole_piece(self, features=()) -> Piece:
        """Return all rows as one piece, with some columns, as text."""
        pieces = self._plain_pieces(features, set(features))
        return Piece.joined([replace(piece, raw=None) for piece in pieces])

    def find_scale(self) -> tuple[str, str]:
        """Detect what the degrees are, from the label columns alone and a piece at a time.

        Returns
        -------
        scale : {"fraction", "percent", "count"}
            What `read` would take them for.
        note : str
            A sentence that says so, and why.
        """
        if self.format.percent:
            return "percent", _SIGNED
        if self.totals.given or self.totals.unknown:
            return "count", " ".join(self.totals.notes()) or "The shares are read as counts."
        evidence = ScaleEvidence()
        for piece in self._pieces():
            evidence.add(piece.grouped_values(self.labels))
        return evidence.scale()

    def pieces(self, features=(), text=()) -> Iterator[Piece]:
        """Yield the rows a piece at a time, with rounded zeros as holes.

        Parameters
        ----------
        features : sequence of str
            The feature columns to read.
        text : collection of str
            Those of them that are text, also where a piece has only numbers in them.

        Yields
        ------
        Piece
        """
        self.check_unchanged()
        for piece in self._pieces(features, text):
            self.check_unchanged()
            yield self.zeros.open(piece)

    def _pieces(self, features=(), text=()):
        """Yield pieces in which rows that are sums of others have a total."""
        for piece in self._plain_pieces(features, text):
            yield piece if self.over_rows is None else self.over_rows.with_totals(piece)

    def _plain_pieces(self, features=(), text=()):
        """Yield pieces, with totals and sums of labels apart from the labels."""
        columns = [*self.columns, *self.totals.columns]
        for piece in self.source.pieces(columns, features, {*text, *self.categories}):
            place = self.place_of(first=piece.first)
            apart = self.totals.columns or self.totals.given
            piece = self.totals.apart(piece, place) if apart else piece
            yield piece if self.rest is None else self.rest.add(piece)

    def known(self, piece, scale, *, normalize=False) -> PartialRows:
        """Return the degrees of a piece, bounds, and sums of labels, as fractions.

        The `scale` is "fraction", "percent" or "count", and `normalize` as in `read_table`.
        """
        where = self.place_of(first=piece.first)
        return self._shares(piece, where, scale, normalize=normalize, part=True).known

    def written_limits(self, piece, scale) -> PartialRows:
        """Return the bounds and sums at the holes of a piece, in units of the file."""
        return piece.limits(self.labels, scale == "count" and self.whole_numbers)

    def check_unchanged(self) -> None:
        """Refuse to go on if the file has changed since it was opened."""
        if not self.path.exists() or self._looks() != self._stamp:
            raise OSError(f"{self.path} was changed while it was read; start again.")

    def _looks(self):
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

    def place_of(self, rows=None, first=0) -> Callable[[int], str]:
        """Return a function that says where a row stands in the file, such as "Line 7".

        Its rows are counted from row `first` of the file, or are the rows numbered `rows`.
        """
        return lambda row: self.source.where(first + row if rows is None else int(rows[row]))
