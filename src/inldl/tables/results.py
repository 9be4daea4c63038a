"""Results of tables in files, and what is collected for them while the pieces pass by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from inldl.files.replacing import replacing
from inldl.progress import report
from inldl.rows.checks import check_number
from inldl.rows.holes import find_holes
from inldl.rows.panel import Panel
from inldl.rows.partial import add_slack, largest_sum
from inldl.tables import audit
from inldl.tables.assumptions import giving_way
from inldl.tables.findings import UNKNOWN_SCALES, UNKNOWN_TOTALS, SizeTest
from inldl.tables.formats import plain_name
from inldl.tables.holes import size_in_panel
from inldl.tables.model import TableModel
from inldl.tables.numbers import parse_column
from inldl.tables.table import Piece, whole_of
from inldl.tables.table_rows import id_texts
from inldl.tables.writing import TableWriter, refuse_taken

MOST_SHUFFLED = 100  # columns whose influence is measured
SHOWN_ROWS = 48  # rows of a picture
PICTURED_ROWS = 5000  # that show how known and filled degrees are distributed
TALLIED_ROWS = 200_000  # that tell why degrees are missing
NUMBERED = (".imp", ".id")  # the columns of mice's long tables: the imputation, and the row


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model that was fitted to a file, and how well it does."""

    model: TableModel
    scale: str  # how the degrees stand in the file
    holes: list  # the labels that may have holes
    n_rows: int  # rows that were learned from
    n_missing: int  # degrees of these rows
    missing: float  # their share
    n_empty: int  # missing degrees in rows without an observed one
    notes: list  # what a user should know
    # How well rows that the model has not seen are predicted, in the units of the file
    new_rows: Any
    sample: tuple = field(repr=False)  # some rows: features and degrees
    size: SizeTest  # whether missing depends on the size of a degree

    @cached_property
    def completion(self) -> audit.HeldOut:
        """Return how well hidden degrees are completed, a `HeldOut` in the units of the file.

        Completing is learned now, if it was not before.
        """
        return audit.measure_completion(self.model).in_units_of(self.scale)

    def info(self, table) -> dict[str, Any]:
        """Return what a model file says about the fit; `table` is the name of the file."""
        overall = self.new_rows.overall()
        return {
            "table": table,
            "rows": self.n_rows,
            "scale": self.scale,
            "missing": self.missing,
            **{key: overall[key] for key in ("mae", "constant_mae", "explained")},
        }

    def influence(self) -> pd.DataFrame | None:
        """Return by how much errors rise, in the units of the file, if a column is shuffled.

        It is None if there are so many columns that this would take long.
        """
        if len(self.model.encoder_.columns_) > MOST_SHUFFLED:
            return None
        return self.model.influence(*self.sample) * whole_of(self.scale)


@dataclass(frozen=True, eq=False)
class WriteResult:
    """What was written to a file."""

    n_rows: int  # rows of the file
    n_filled: int  # degrees that were filled or predicted
    n_exact: int  # those of them that known sums give, whatever the model
    n_filled_rows: int  # rows with such degrees
    # Some rows, in the units of the file. The index names them: by the id columns, whose name it
    # has, or by their numbers, from 1
    before: pd.DataFrame
    after: pd.DataFrame
    notes: list = field(default_factory=list)  # what a user should know
    # The lower and the upper ends of the intervals of these rows, if there are some
    ends: tuple = ()
    coverage: float | None = None  # of the intervals
    joint: bool = False  # whether that is the share of rows that have all in their intervals
    # Whether shares were filled as where only the largest of each row are recorded
    below_recorded: bool = False
    n_bounded: int = 0  # filled degrees whose cells had bounds, such as <5
    size: SizeTest | None = None  # whether missing depends on the size of a degree
    # What the mean absolute error of the filled degrees cannot exceed, in the units of the file;
    # those that the sums of their rows give do not count
    most_error: float = float("nan")
    # Whether only ratios of known degrees were given: in rows with holes these are scaled
    ratios: bool = False
    # The means of labels, as filled in and under each departure that a user states, if any
    moved: pd.DataFrame | None = None
    pictured: tuple = ()  # more rows than `before` and `after`, for how degrees are distributed


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a model predicts a table."""

    metrics: dict  # all measures of the library, means over rows
    constant: dict  # the same for the constant mean of the rows that were learned from
    held_out: Any  # degree by degree, in the units of the table
    n_rows: int  # rows of the table
    coverage: float = 0.9  # of the intervals
    # How predictions agree with cells that have bounds, such as <5; the measures leave them out.
    bounded: Any = None
    n_learned: int = 0  # rows that the model was fitted to, as far as it remembers them


def pieces_for(model, file, others, step, text=None) -> Iterator[Piece]:
    """Yield the pieces of a file with the columns that a model needs, and some `others`.

    Those in `text` are read as text; by default the others that the model does not use. The name
    of the `step` and the share of the rows that came so far are reported.
    """
    columns = model.encoder_.columns_
    names = [column.name for column in columns if column.name in file.features]
    places = [] if model.panel_ is None else model.panel_.reader.columns
    others = list(dict.fromkeys([*others, *(n for n in places if n in file.source.names)]))
    text = {*others} - {*names} if text is None else {*text}
    text |= {column.name for column in columns if column.as_text}
    bound = max(1, file.source.most_rows())
    for piece in file.pieces(list(dict.fromkeys([*names, *others])), text):
        yield piece
        report(step, min(1.0, piece.rows.stop / bound))


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces, in the units of the file."""

    def __init__(self, file, labels, whole, ids=(), most=SHOWN_ROWS) -> None:
        self._labels, self._whole, self._ids = labels, whole, list(ids)
        self._step = max(1, -(-file.source.most_rows() // most))
        self._kept: tuple[list[pd.DataFrame], ...] = [], [], [], []

    def keep(self, piece, before, after, ends=()) -> None:
        """Keep the rows of a piece that are shown: degrees, and the ends of their intervals."""
        chosen = np.arange(-piece.first % self._step, piece.size, self._step)
        names = self._names(piece, chosen)
        for kept, values in zip(self._kept, (before, after, *ends), strict=False):
            part = np.asarray(values)[chosen] * self._whole
            kept.append(pd.DataFrame(part, index=names, columns=self._labels))

    def _names(self, piece, chosen):
        """Return the ids of the rows, and the number of a row that has none."""
        numbers = piece.first + chosen + 1
        if not self._ids:
            return numbers
        texts = id_texts(piece.features.iloc[chosen], self._ids)
        names = [text or f"row {number}" for text, number in zip(texts, numbers, strict=True)]
        return pd.Index(names, name=", ".join(self._ids))

    def frames(self) -> dict[str, Any]:
        """Return the rows, by the names in `WriteResult`."""
        empty = [pd.DataFrame(columns=self._labels, dtype=float)]
        before, after = (pd.concat(kept or empty) for kept in self._kept[:2])
        ends = tuple(pd.concat(kept) for kept in self._kept[2:] if kept)
        return {"before": before, "after": after, "ends": ends}


class Tally:
    """Count the degrees that a model fills in, and keep what tells why they were missing."""

    def __init__(self, file, model, scale):
        self._labels, self._scale, self._whole = file.labels, scale, whole_of(scale)
        self._step = max(1, -(-file.source.most_rows() // TALLIED_ROWS))
        self._loose = model.held_out_sample_ is not None and model.held_out_sample_.loose
        self._ratios, self._unknown = model.known == "ratios", file.totals.unknown
        self._completer = None if self._ratios else model._completer()
        self._counts, self._most_errors = np.zeros(5, int), 0.0
        self._rows, self._panels = [np.empty((0, len(file.labels)))], []
        self._reader = None if model.panel_ is None else model.panel_.reader

    def add(self, piece, y, completed, rows, exact) -> None:
        """Add a piece, of which `y` are the degrees as fractions, and `rows` are to be filled.

        Those that are `exact` follow from sums, unless sums of rows are loose.
        """
        missing, exact = np.isnan(y), 0 if self._loose or self._ratios else exact.sum()
        bounded = 0 if piece.bounds is None else (piece.bounds.limits[2] >= 0).sum()
        filled = missing.sum() - giving_way(piece).sum()
        self._counts += piece.size, filled, exact, missing.any(axis=1).sum(), bounded
        if self._completer is not None:
            most = self._completer.most_errors(y, completed)
            if rows.constrained:
                low, high = rows.possible
                worst = np.where(missing, np.maximum(completed - low, high - completed), 0)
                most = np.minimum(most, worst.sum(axis=1))
            self._most_errors += most.sum()
        given = piece.values / self._whole if self._loose else y
        if rows.constrained:  # bounds say why these are missing
            given = np.where(rows.limited, completed, given)
        some = slice(-piece.first % self._step, None, self._step)
        self._rows.append(given[some])
        if self._reader is not None:
            self._panels.append(self._reader.read(piece.features.iloc[some]))

    def results(self) -> dict[str, Any]:
        """Return what is known of the filled degrees, by the names in `WriteResult`."""
        names = ("n_rows", "n_filled", "n_exact", "n_filled_rows", "n_bounded")
        found = dict(zip(names, self._counts.tolist(), strict=True))
        if self._ratios:  # sums of rows tell nothing then
            return found | {"ratios": not self._unknown}
        rows, completer = np.concatenate(self._rows), self._completer
        panel = reduce(Panel.joined, self._panels) if self._panels else None
        found["size"] = size_of_holes(rows, self._labels, self._scale, self._loose, panel=panel)
        if completer is not None:
            found["below_recorded"] = completer.top_k_ is not None
            if unsure := found["n_filled"] - found["n_exact"]:
                found["most_error"] = self._whole * self._most_errors / unsure
        return found


def size_of_holes(y, labels, scale, loose, ratios=False, panel=None) -> SizeTest:
    """Return what the sums of rows tell about the sizes of missing degrees, a `SizeTest`.

    Size is not blamed for holes that the units and times of a `panel` explain.
    """
    y = np.asarray(y, dtype=np.float64)
    if loose:  # then a row hides what it lacks, too
        y, labels = add_slack(y / largest_sum(y)), [*labels, "what is lacking"]
    untestable = UNKNOWN_TOTALS if scale == "count" else UNKNOWN_SCALES if ratios else ""
    found = [] if panel is None else find_holes(y, panel, totals=not untestable)
    return size_in_panel(y, labels, found, panel, untestable=untestable)


def draw_paths(path, n_draws) -> list[Path]:
    """Return the files of the draws: beside the completed table, and named in their order."""
    check_number("n_draws", n_draws, low=0, integer=True)
    path, width = Path(path), len(str(n_draws))
    stem = plain_name(path).stem  # of survey.csv.gz, too
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-draw{i:0{width}}{ending}") for i in range(1, n_draws + 1)]


def stacked_path(path, options) -> Path | None:
    """Return the file with all draws in one table, None if `FillOptions` ask for none."""
    if options.stacked and not options.n_draws:
        raise ValueError(
            "--stacked (stacked=True) puts draws into one table; say how many to make with "
            "--draws (n_draws)."
        )
    stem = plain_name(Path(path)).stem
    return Path(path).with_name(f"{stem}-stacked.csv") if options.stacked else None


@contextmanager
def stacked_file(file, path, n_draws, *, overwrite) -> Iterator[Callable]:
    """Give a function that adds rows to one table of a file with its holes, and of all draws.

    It takes a piece with all columns, and what each draw fills in. `.imp` is 0 in the rows with
    holes, then the number of the draw; `.id` is the number of the row, from 1. The text has commas
    and decimal points whatever the file has, and NA in each hole, as `read.csv` of R expects.
    """
    refuse_taken(file, NUMBERED)
    names = [*NUMBERED, *file.source.names]
    with replacing(path, overwrite=overwrite) as part, TemporaryDirectory() as folder:
        parts = [Path(folder, str(i)) for i in range(n_draws + 1)]

        def add(piece, draws):
            index = np.arange(piece.first, piece.first + piece.size) + 1
            others = {name: _numbers(cells, file) for name, cells in piece.features.items()}
            for i, filled in enumerate([np.full(piece.values.shape, np.nan), *draws]):
                shares = np.where(np.isnan(filled), piece.values, filled).T
                columns = others | dict(zip(file.labels, shares, strict=True))
                columns |= dict(zip(NUMBERED, (i, index), strict=True))
                frame = pd.DataFrame(columns, piece.features.index)[names]
                how = {"index": False, "na_rep": "NA", "lineterminator": "\n"}
                frame.to_csv(parts[i], mode="a", header=not (i or piece.first), **how)

        yield add
        with part.open("wb") as whole:
            for each in filter(Path.exists, parts):  # an empty table has none
                whole.write(each.read_bytes())


def _numbers(cells, file):
    """Return a column of text as numbers if it has nothing else."""
    found = parse_column(cells, file.format) if cells.dtype.kind == "O" else None
    return cells if found is None else found


@contextmanager
def completed_files(
    file, path, plain, extra, *, n_draws, seed, stacked=None, **how
) -> Iterator[Callable]:
    """Give a function that writes the next rows of a completed table, and of its draws.

    It takes a piece, the degrees that stay, the completed ones, their scale, values of the
    `extra` columns, and `RowsToFill`. The table also goes to the file `plain` without the extra
    columns, and all draws to the file `stacked`, if these are not None. Each other file is a
    `TableWriter`, made with `how`; the files appear when all pieces are there.
    """
    with ExitStack() as stack:
        writer = stack.enter_context(TableWriter(file, path, extra=extra, **how))
        copies = [] if plain is None else [plain]
        paths = [*copies, *draw_paths(plain or path, n_draws)]
        others = [stack.enter_context(TableWriter(file, other, **how)) for other in paths]
        if stacked is not None:
            one = stacked_file(file, stacked, n_draws, overwrite=how["overwrite"])
            add = stack.enter_context(one)

        def write(piece, kept, completed, scale, added, rows):
            writer.write(piece, kept, completed, scale, added)
            draws = rows.draw(n_draws, seed, piece.first) if n_draws else ()
            pairs = zip(others, [*([completed] * len(copies)), *draws], strict=True)
            filled = [other.write(piece, kept, table, scale) for other, table in pairs]
            if stacked is not None:
                add(piece, filled[len(copies) :])

        yield write


def rounded_rows(values) -> np.ndarray:
    """Return rows of nine decimals that keep their sum: the largest takes the rest."""
    rounded = np.round(values, 9)
    rows, largest = np.arange(len(values)), np.argmax(values, axis=1)
    rounded[rows, largest] += np.round(values.sum(axis=1) - rounded.sum(axis=1), 9)
    return rounded
