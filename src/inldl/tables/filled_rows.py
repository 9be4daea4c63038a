"""Rows that a model completes or predicts, with their columns encoded once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import norm

from inldl.completion.asking import RowErrors
from inldl.completion.filling import WIDTH, coverage_of_holes
from inldl.rows.counts import FilledCounts
from inldl.rows.missingness import settle_largest, shift_filled
from inldl.rows.partial import PartialRows


@dataclass(frozen=True, eq=False)
class RowsToFill:
    """Rows that an estimator is to complete, and what it predicts in their place."""

    model: Any  # the estimator, fitted
    rows: PartialRows  # (n, n_labels) the given degrees, bounds, sums
    predicted: np.ndarray  # (n, n_labels)
    factors: Any = None  # (n_labels,) that draws are shifted by

    @classmethod
    def of(cls, model, X, y, lower=None, upper=None, sums=None) -> RowsToFill:
        """Return rows that are given as the `complete` of an estimator takes them."""
        return cls(model, *model._rows_to_fill(X, y, lower, upper, sums))

    def take(self, at) -> RowsToFill:
        """Return some of the rows."""
        return replace(self, rows=self.rows.take(at), predicted=self.predicted[at])

    def fill(self, coverage=None, joint=False, largest=None) -> tuple[np.ndarray, ...]:
        """Return completed rows; with a coverage, the ends of intervals of the filled, too.

        The `largest` degrees, if any, are those that give way to rounded zeros.
        """
        if self._are_settled:
            return self._settled(coverage, joint)
        rows = settle_largest(self.rows, largest)
        if coverage is None:
            return (self.model._fill(rows, self.predicted),)
        about = self.rows, self.predicted, coverage, joint
        completed, *ends = self.model._fill_with_intervals(*about)
        if rows is not self.rows:
            completed = self.model._fill(rows, self.predicted)
            ends = [np.minimum(ends[0], completed), np.maximum(ends[1], completed)]
        return completed, *(np.where(self.rows.holes, end, np.nan) for end in ends)

    @property
    def _are_settled(self) -> bool:
        """Whether the holes are counts with bounds, or with sums over rows."""
        counts = self.rows.counts
        if counts is None or self.model.known == "ratios":
            return False
        return counts.aggregates is not None or (counts.whole and self.rows.constrained)

    @cached_property
    def _free(self) -> PartialRows:
        """The rows without what `FilledCounts` will see to: of whole counts, bounds as well."""
        assert self.rows.counts is not None
        rows = self.rows.unconstrained() if self.rows.counts.whole else self.rows
        return replace(rows, counts=None)

    @cached_property
    def _limited(self) -> Any:
        """Which rows `FilledCounts` fills: all if there are sums over rows."""
        assert self.rows.counts is not None
        return slice(None) if self.rows.counts.aggregates is not None else self.rows.limited_rows

    @property
    def counted(self) -> FilledCounts | None:
        """The counts of the rows that have bounds or sums over rows, once these are filled."""
        if self._are_settled and "_kept" not in vars(self):
            self._settled(None, False)
        return vars(self).get("_kept")

    def _settled(self, coverage, joint):
        """Return completed rows of counts; with a coverage, the ends of intervals, too."""
        rows, at = self._free, self._limited
        each = coverage_of_holes(rows, coverage or WIDTH, joint)
        if self.model.gives_intervals:
            about = rows, self.predicted, coverage or WIDTH, joint
            filled, *ends = self.model._fill_with_intervals(*about)
            variance = ((ends[1] - filled) / norm.ppf((1 + each[:, None]) / 2)) ** 2
        else:
            filled, ends = self.model._fill(rows, self.predicted), []
            variance = filled * (1 - filled) / np.maximum(self.rows.counts.total[:, None], 1)
        limited = self.rows if isinstance(at, slice) else self.rows.take(at)
        vars(self)["_kept"] = found = FilledCounts(limited, filled[at], variance[at])
        if ends:
            ends = [np.where(self.rows.holes, end, np.nan) for end in ends]
            inside = found.intervals(ends[0][at], ends[1][at], each[at])
            for end, new in zip(ends, inside, strict=True):
                end[at] = new
        filled[at] = found.degrees()
        return (filled, *ends)[: 1 if coverage is None else 3]

    def whole(self, completed) -> np.ndarray:
        """Return completed rows of counts with sums over rows as whole numbers."""
        found = self.counted
        assert found is not None
        return found.rounded(completed)

    def possible(self) -> tuple[np.ndarray, ...]:
        """Return the smallest and the largest degrees that bounds and sums allow at the holes."""
        ends = [np.where(self.rows.holes, end, np.nan) for end in self.rows.possible]
        if (found := self.counted) is not None:
            for end, new in zip(ends, found.ranges(), strict=True):
                end[self._limited] = new
        return tuple(ends)

    def are_exact(self) -> np.ndarray:
        """Return which holes can have one value only."""
        out = self.rows.holes & ~np.isnan(self.rows.forced())
        if (found := self.counted) is not None:
            out[self._limited] = found.are_certain()
        return out

    def draw(self, n_draws, seed, first=0) -> np.ndarray:
        """Return completed tables that differ as far as degrees are unsure.

        `first` is the number of the first row among those of a longer table.
        """
        self.model._check_draws(n_draws)
        if (found := self.counted) is not None:
            at = self._limited
            draws = self.model._draw(self._free, self.predicted, n_draws, seed, first)
            generator = np.random.default_rng([seed, 3, first])
            for table in draws:
                table[at] = found.drawn(table[at], generator)
            return draws
        draws = self.model._draw(self.rows, self.predicted, n_draws, seed, first)
        shifted = (shift_filled(self.rows, table, self.factors) for table in draws)
        return draws if self.factors is None else np.array(list(shifted))

    def row_errors(self) -> RowErrors:
        """Return what the errors of the filled degrees are expected to be."""
        completer = self.model._completer()
        if completer is None:
            name = type(self.model).__name__
            raise ValueError(
                f"This {name} kept no held-out predictions, which show how uncertain missing "
                f"degrees are; fit {name}(cross_fit=5), or use inldl.TableModel."
            )
        return completer.row_errors(self.rows, self.predicted)


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Rows that a model predicts."""

    model: Any  # a `TableModel`
    features: Any  # (n, k) a table
    encoded: np.ndarray  # (n, k) its encoded columns
    predicted: np.ndarray  # (n, n_labels)
    # Which rows have numbers, text, units and times unlike those of the fit
    unfamiliar: tuple[np.ndarray, ...]

    def interval(self, coverage) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper ends of the intervals of the predictions."""
        return self.model._intervals(self.features, self.predicted, coverage)

    def count_learned(self, y) -> int:
        """Return how many rows the model was fitted to, as far as it remembers them."""
        if self.model.panel_ is not None:
            return self.model.panel_.n_shared(self.features, self.encoded, y)
        examples = self.model.held_out_sample_
        return 0 if examples is None else examples.n_shared(self.encoded, y)


def widened(rows, unseen, completed, low, high, only_largest) -> tuple[np.ndarray, ...]:
    """Return the ends of intervals of rows with holes in `unseen` labels.

    No degree of these is known: one may have all that is possible. If `only_largest` degrees of
    each row are recorded, it is no larger than these, and may leave its part to others.
    """
    few, most = rows.holes & unseen, rows.possible[1]
    if only_largest:
        most = np.minimum(most, np.where(rows.holes, np.inf, rows.y).min(axis=1, keepdims=True))
        others = high + np.where(few, completed, 0).sum(axis=1, keepdims=True)
        high = np.where(
            rows.holes & few.any(axis=1, keepdims=True), np.minimum(others, most), high
        )
    ends = np.where(few, rows.possible[0], low), np.where(few, most, high)
    return ends[0], np.maximum(ends[1], completed)
