"""What comes of a table in a file: a model, a file that was written, an evaluation."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from inldl.completion.loose_sums import largest_sum
from inldl.rows.partial import PartialRows, add_slack
from inldl.tables import audit
from inldl.tables.missingness import UNKNOWN_SCALES, UNKNOWN_TOTALS, SizeTest, size_test
from inldl.tables.model import TableModel
from inldl.tables.row_columns import id_texts
from inldl.tables.scale import whole_of

MOST_SHUFFLED = 100  # that are shuffled
SHOWN_ROWS = 48  # rows of a picture
TALLIED_ROWS = 200_000  # that tell why degrees are missing


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model that was fitted to a file, and how well it does."""

    model: TableModel
    scale: str  # how the degrees stand in the file
    holes: list  # the labels that may have holes
    n_rows: int  # rows that were learned from
    n_missing: int  # degrees of these rows
    n_observed: int
    n_empty: int  # missing degrees in rows without an observed one
    notes: list  # what a user should know
    # How well rows that the model has not seen are predicted, in the units of the file
    new_rows: Any
    sample: tuple = field(repr=False)  # some rows: features and degrees
    size: SizeTest  # whether missing depends on the size of a degree

    @property
    def missing(self):
        """Return the share of the degrees that are missing."""
        return self.n_missing / (self.n_missing + self.n_observed)

    @cached_property
    def completion(self):
        """Return how well hidden degrees are completed, a `HeldOut` in the units of the file.

        Completing is learned now, if it was not before.
        """
        return audit.measure_completion(self.model).in_units_of(self.scale)

    def info(self, table):
        """Return what a model file says about the fit; `table` is the name of the file."""
        overall = self.new_rows.overall()
        return {
            "table": table,
            "rows": self.n_rows,
            "scale": self.scale,
            "missing": self.missing,
            **{key: overall[key] for key in ("mae", "constant_mae", "explained")},
        }

    def influence(self):
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
    n_exact: int  # those of them that the sum of their row gives, whatever the model
    n_filled_rows: int  # rows with such degrees
    # Some rows, in the units of the file. The index names them: by the id columns, whose name it
    # has, or by their numbers, from 1
    before: pd.DataFrame
    after: pd.DataFrame
    notes: list = field(default_factory=list)  # what a user should know
    # The lower and the upper ends of the intervals of these rows, if there are some
    ends: tuple = ()
    coverage: float | None = None  # of the intervals
    # Whether shares were filled as where only the largest of each row are recorded
    below_recorded: bool = False
    n_bounded: int = 0  # filled degrees whose cells had bounds, such as <5
    size: SizeTest | None = None  # whether missing depends on the size of a degree
    # What the mean absolute error of the filled degrees cannot exceed, in the units of the file;
    # those that the sums of their rows give do not count
    most_error: float = float("nan")
    # Whether only ratios of known degrees were given: in rows with holes these are scaled
    ratios: bool = False


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


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces, in the units of the file."""

    def __init__(self, file, labels, whole, ids=()):
        self._labels, self._whole, self._ids = labels, whole, list(ids)
        self._step = max(1, -(-file.source.most_rows() // SHOWN_ROWS))
        self._rows = [], []
        self._ends = [], []

    def keep(self, piece, before, after, ends=()):
        """Keep the rows of a piece that are shown, and the `paired_ends` of their intervals."""
        chosen = np.arange(-piece.first % self._step, piece.size, self._step)
        names = self._names(piece, chosen)
        parts = [np.asarray(values) * self._whole for values in (before, after)]
        parts += [pairs[:, side::2] for pairs in ends for side in (0, 1)]
        for kept, values in zip((*self._rows, *self._ends), parts, strict=False):
            kept.append(pd.DataFrame(values[chosen], index=names, columns=self._labels))

    def _names(self, piece, chosen):
        """Return the ids of the rows, and the number of a row that has none."""
        numbers = piece.first + chosen + 1
        if not self._ids:
            return numbers
        texts = id_texts(piece.features.iloc[chosen], self._ids)
        names = [text or f"row {number}" for text, number in zip(texts, numbers, strict=True)]
        return pd.Index(names, name=", ".join(self._ids))

    def frames(self):
        """Return the rows before and after."""
        empty = pd.DataFrame(columns=self._labels, dtype=float)
        return [pd.concat(kept or [empty]) for kept in self._rows]

    def ends(self):
        """Return the lower and the upper ends of the intervals, or nothing without any."""
        return tuple(pd.concat(kept) for kept in self._ends if kept)


class Tally:
    """Count the degrees that a model fills in, and keep what tells why they were missing."""

    def __init__(self, file, model, scale):
        self._labels, self._scale, self._whole = file.labels, scale, whole_of(scale)
        self._step = max(1, -(-file.source.most_rows() // TALLIED_ROWS))
        self._loose = model.examples_ is not None and model.examples_.loose
        self._ratios = model.known == "ratios"
        self._completer = None if self._ratios else model._completer()
        self._counts, self._most, self._rows = np.zeros(4, int), 0.0, []
        self._n_bounded = 0

    def add(self, piece, y, completed, rows=None):
        """Add a piece, of which `y` are the degrees as fractions."""
        missing = np.isnan(y)
        exact = (
            0
            if self._loose or self._ratios
            else missing.sum() - np.isnan(PartialRows(y).forced()).sum()
        )
        self._counts += piece.size, missing.sum(), exact, missing.any(axis=1).sum()
        self._n_bounded += 0 if piece.bounds is None else int(piece.bounds.given().sum())
        if self._completer is not None:
            self._most += _most_errors(self._completer, y, np.asarray(completed), rows)
        as_given = piece.values / self._whole if self._loose else y
        if rows is not None and rows.constrained:  # bounds say why these are missing
            as_given = np.where(rows.limited, completed, as_given)
        self._rows.append(as_given[-piece.first % self._step :: self._step])

    def counts(self):
        """Return how many rows, filled degrees, exact ones and filled rows there are."""
        return self._counts.tolist()

    def results(self):
        """Return what else is known of the filled degrees, by the names in `WriteResult`."""
        unsure, known = self._counts[1] - self._counts[2], self._completer is not None
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(self._labels)))
        if self._ratios:  # sums of rows tell nothing then
            return {"ratios": True}
        return {
            "n_bounded": self._n_bounded,
            "below_recorded": known and self._completer.largest_ is not None,
            "size": size_of_holes(rows, self._labels, self._scale, self._loose),
            "most_error": self._whole * self._most / unsure if unsure and known else np.nan,
        }


def _most_errors(completer, y, completed, rows):
    """Return the largest sum of absolute errors that filled degrees can have."""
    found = completer.most_errors(y, completed)
    if rows is not None and rows.constrained:
        low, high = rows.possible
        worst = np.where(np.isnan(y), np.maximum(completed - low, high - completed), 0)
        found = np.minimum(found, worst.sum(axis=1))
    return found.sum()


def size_of_holes(y, labels, scale, loose, ratios=False):
    """Return what the sums of rows tell about the sizes of missing degrees, a `SizeTest`."""
    y = np.asarray(y, dtype=np.float64)
    if loose:  # then a row hides what it lacks, too
        y, labels = add_slack(y / largest_sum(y)), [*labels, "what is lacking"]
    untestable = UNKNOWN_TOTALS if scale == "count" else UNKNOWN_SCALES if ratios else ""
    return size_test(y, labels, untestable=untestable)
