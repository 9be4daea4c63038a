"""What comes of a table in a file: a model, a file that was written, an evaluation."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from inldl.io._scale import WHOLE
from inldl.tables import quality
from inldl.tables._missingness import SizeTest
from inldl.tables.model import Model

MOST_COLUMNS = 100  # that are shuffled


@dataclass(frozen=True, eq=False)
class Learned:
    """A model that was fitted to a file, and how well it does.

    Attributes
    ----------
    model : Model
        The model.
    scale : str
        How the degrees stand in the file.
    holes : list of str
        The labels that may have holes.
    n_rows : int
        Rows that were learned from.
    n_missing, n_observed : int
        Degrees of these rows.
    n_empty : int
        Missing degrees in rows without an observed one.
    notes : list of str
        What a user should know.
    new_rows : HeldOut
        How well rows that the model has not seen are predicted, in the units of the file.
    sample : tuple of DataFrame
        Some rows: features and degrees.
    size : SizeTest
        Whether missing depends on the size of a degree.
    """

    model: Model
    scale: str
    holes: list
    n_rows: int
    n_missing: int
    n_observed: int
    n_empty: int
    notes: list
    new_rows: Any
    sample: tuple = field(repr=False)
    size: SizeTest

    @property
    def missing(self):
        """Return the share of the degrees that are missing."""
        return self.n_missing / (self.n_missing + self.n_observed)

    @cached_property
    def completion(self):
        """Return how well hidden degrees are completed, a `HeldOut` in the units of the file.

        Completing is learned now, if it was not before.
        """
        return quality.of_completion(self.model).in_units_of(self.scale)

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
        if len(self.model.encoder_.columns_) > MOST_COLUMNS:
            return None
        return self.model.influence(*self.sample) * WHOLE.get(self.scale, 1.0)


@dataclass(frozen=True, eq=False)
class Written:
    """What was written to a file.

    Attributes
    ----------
    n_rows : int
        Rows of the file.
    n_filled : int
        Degrees that were filled or predicted.
    n_exact : int
        Those of them that the sum of their row gives, whatever the model.
    n_filled_rows : int
        Rows with such degrees.
    before, after : DataFrame
        Some rows, in the units of the file. The index names them: by the id columns, whose name
        it has, or by their numbers, from 1.
    notes : list of str
        What a user should know.
    ends : tuple of DataFrame
        The lower and the upper ends of the intervals of these rows, if there are some.
    coverage : float or None
        Of the intervals.
    below_recorded : bool
        Whether shares were filled as where only the largest of each row are recorded.
    n_bounded : int
        Filled degrees whose cells had bounds, such as <5.
    size : SizeTest or None
        Whether missing depends on the size of a degree.
    most_error : float
        What the mean absolute error of the filled degrees cannot exceed, in the units of the file;
        those that the sums of their rows give do not count.
    """

    n_rows: int
    n_filled: int
    n_exact: int
    n_filled_rows: int
    before: pd.DataFrame
    after: pd.DataFrame
    notes: list = field(default_factory=list)
    ends: tuple = ()
    coverage: float | None = None
    below_recorded: bool = False
    n_bounded: int = 0
    size: SizeTest | None = None
    most_error: float = float("nan")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a model predicts a table.

    Attributes
    ----------
    metrics : dict of str to float
        All measures of the library, means over rows.
    constant : dict of str to float
        The same for the constant mean of the rows that were learned from.
    held_out : HeldOut
        Degree by degree, in the units of the table.
    n_rows : int
        Rows of the table.
    coverage : float
        Of the intervals.
    n_bounded : int
        Missing degrees whose cells have bounds, such as <5; they do not count.
    """

    metrics: dict
    constant: dict
    held_out: Any
    n_rows: int
    coverage: float = 0.9
    n_bounded: int = 0
