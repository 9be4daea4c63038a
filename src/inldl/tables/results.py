"""What comes of a table in a file: a model, a file that was written, an evaluation."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from inldl.tables import audit
from inldl.tables.missingness import SizeTest
from inldl.tables.model import TableModel
from inldl.tables.scale import whole_of

MOST_SHUFFLED = 100  # that are shuffled


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
    def missing(self) -> float:
        """Return the share of the degrees that are missing."""
        return self.n_missing / (self.n_missing + self.n_observed)

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
