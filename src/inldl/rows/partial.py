r"""Rows of degrees of which some are not observed, and all that is known of these.

A degree may be known to lie between two bounds, such as a share that an office prints as "<5%".
The sum of a group of labels may be known where the degrees themselves are not. The degrees of a
row sum to 1, unless only their *ratios* are known: where missing labels were dropped and the
others divided by their sum, a row with the observed labels o has numbers :math:`r_j, j \in o`,
that sum to 1. Its degrees are :math:`d_j = s r_j`, with an unknown scale s in (0, 1]. If p is
predicted for the row,

.. math:: s = \textstyle\sum_{j \in o} p_j

is the scale that is expected of it. A complete row has the scale 1. A row with one observed label
tells nothing, as its only number is 1. Zeros stay zeros, also if a row has no other number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from inldl import kernels
from inldl.rows import checks, inputs
from inldl.rows.bounded import BoundedRows

Array = np.ndarray
LEAST_SCALE = 1e-3  # of a row of ratios: what is predicted to be nothing at all has been seen
LEAST_PREDICTED = float(np.finfo(float).tiny) ** 0.5  # labels predicted as 0 share evenly
LEAST_SPREAD = 1e-12  # of a hole, relative to the largest of its row
PER_ROW = ("y", "lower", "upper", "sums", "weight", "spread_features", "features", "number")


@dataclass(frozen=True, eq=False)
class PartialRows(BoundedRows):
    """Degrees of n rows, and what is known of those that are not observed.

    `PartialRows(y)` copies and checks nothing; `PartialRows.of` checks what a user gave.
    """

    total: float = 1.0  # what the degrees of a row sum to; NaN if only their ratios are known
    weight: Array | None = None  # (n,) how much each row counts
    spread_features: Array | None = None  # (n, q) what tells how large errors are, such as votes
    features: Array | None = None  # (n, k) all features, if they are few
    number: Array | None = None  # (n,) numbers of the rows, for messages
    names: tuple[str, ...] | None = None  # of the labels

    @classmethod
    def of(
        cls,
        y: Any,
        lower: Any = None,
        upper: Any = None,
        sums: Mapping[Any, Any] | None = None,
        names: Any = None,
        first_row: int | Array | None = 0,
    ) -> PartialRows:
        """Return the rows that a user describes, or refuse what contradicts itself.

        Bounds and `sums`, of groups of labels by their names or numbers, are NaN where nothing is
        known. `names` are those of the labels, by default of the columns of `y`. `first_row` is
        the number of the first row, or of each, for messages; None if it is not known.
        """
        names = checks.label_names(y) if names is None else names
        degrees = checks.as_degrees(y)
        names = None if names is None else tuple(names)
        if lower is None and upper is None and not sums:
            return cls(degrees, names=names)
        groups, totals = inputs.as_groups(sums or {}, degrees.shape, names)
        low = inputs.as_bounds(lower, "lower", degrees.shape, names, 0.0)
        high = inputs.as_bounds(upper, "upper", degrees.shape, names, 1.0)
        facts = inputs.BoundFacts.of(degrees, names, first_row)
        inputs.check_bounds(degrees, low, high, facts)
        seen = ~np.isnan(degrees)
        low = np.where(seen, degrees, np.maximum(low, 0))
        high = np.where(seen, degrees, np.minimum(high, 1))
        rows = cls(degrees, low, high, groups, totals, names=names)
        inputs.check_totals(rows, facts)
        return rows.simplified()

    @classmethod
    def open(
        cls, X: Any, y: Any, lower: Any, upper: Any, sums: Any, sample_weight: Any = None
    ) -> tuple[PartialRows, dict[str, Any]]:
        """Return a header without rows, and 2-D arrays that engines carry with the rows.

        `block` takes both when a block of rows is started. Bounds and weights may be what engines
        can slice, such as arrays of Dask. Nothing is read of `y` if no bounds and sums are given.
        """
        arrays = inputs.weight_column(sample_weight)
        if lower is None and upper is None and not sums:
            return cls(np.empty((0, 0))), arrays
        more, groups, names = inputs.bound_arrays(X, y, lower, upper, sums)
        return cls(np.empty((0, 0)), groups=groups, names=names), arrays | more

    def block(
        self,
        y: Array,
        sample_weight: Array | None = None,
        row: Array | None = None,
        lower: Array | None = None,
        upper: Array | None = None,
        sums: Array | None = None,
    ) -> PartialRows:
        """Return a block of rows, of which this is the header; `row` are their numbers."""
        weight = None if sample_weight is None else sample_weight[:, 0]
        if lower is None and upper is None and sums is None:
            return replace(self, y=y, groups=(), weight=weight)
        groups = tuple(tuple(columns.tolist()) for columns in self.groups)
        totals = {} if sums is None else dict(zip(groups, sums.T, strict=True))
        number = None if row is None else row[:, 0]
        rows = PartialRows.of(y, lower, upper, totals, self.names, number)
        return replace(rows, total=self.total, weight=weight, number=number)

    def arguments(self) -> dict[str, Any]:
        """Return bounds and sums as another estimator's `fit` takes them."""
        if not self.constrained:
            return {}
        groups = [tuple(columns.tolist()) for columns in self.groups]
        sums = {} if self.sums is None else dict(zip(groups, self.sums.T, strict=True))
        return {"lower": self.lower, "upper": self.upper, "sums": sums or None}

    def double(self) -> PartialRows:
        """Return the rows with degrees in double precision."""
        return self if self.y.dtype == np.float64 else replace(self, y=self.y.astype(np.float64))

    def take(self, rows: Any) -> PartialRows:
        """Return some of the rows."""
        taken = {name: getattr(self, name) for name in PER_ROW}
        return replace(self, **{name: a[rows] for name, a in taken.items() if a is not None})

    def blocks(self, size: int) -> Iterator[tuple[slice, PartialRows]]:
        """Yield slices of so many rows, and these rows."""
        for start in range(0, len(self), size):
            rows = slice(start, start + size)
            yield rows, self.take(rows)

    @cached_property
    def _open(self) -> tuple[Any, Array, Array]:
        """Rows that leave something to their holes; their holes, and what they leave."""
        rows: Any = np.flatnonzero(self.holes.any(axis=1) & (self.rest > 0))
        rows = slice(None) if len(rows) == len(self) else rows
        return rows, self.holes[rows], self.rest[rows]

    def project(self, values: Array, spread: Array | float = 1.0) -> Array:
        r"""Return the rows with their holes filled near `values`, within bounds and sums.

        The filled holes z minimise :math:`\sum_j (z_j - v_j)^2 / s_j`, where v are the values and
        s is `spread`: their expected squared errors, one number or of shape (n_labels,) or
        (n, n_labels). Observed degrees stay as they are; holes are 0 where these sum to 1 or more.
        """
        spread, some = np.asarray(spread, dtype=np.float64), self.limited_rows
        if len(some) == len(self) and len(self):
            return self._project_between(values, spread).astype(self.y.dtype, copy=False)
        out = np.where(self.holes, 0, self.y).astype(self.y.dtype, copy=False)
        rows, holes, rest = self._open
        near = values[rows].astype(np.float64)
        if spread.ndim:
            high = np.where(holes, rest[:, None], 0)
            spreads = np.broadcast_to(spread, self.y.shape)[rows]
            kernels.project_between(near, _relative(spreads, holes), 0 * high, high, rest)
        else:  # the same, faster
            columns = np.ascontiguousarray(np.where(holes, near, -np.inf).T)
            kernels.project_columns(columns, rest)
            near = columns.T
        out[rows] = np.where(holes, near, out[rows])
        if len(some):
            part = spread if spread.ndim < 2 else spread[some]
            out[some] = self.take(some)._project_between(values[some], part)
        return out

    def _project_between(self, values: Array, spread: Array) -> Array:
        """Do the same where all rows have bounds or sums of groups."""
        spread = _relative(np.broadcast_to(spread, values.shape), self.holes)
        out = self.y.astype(np.float64)
        for cells, low, high, total in self._boxes:
            near = np.array(values, dtype=np.float64, order="C")
            kernels.project_between(near, spread, low, high, total)
            np.copyto(out, near, where=cells & self.holes)
        return out

    def hide(self, y: Array) -> PartialRows:
        """Return what still is known if only the degrees `y` of the rows are observed.

        Nothing is known of a degree that was observed before, nor of a row that has one more.
        """
        if not self.constrained:
            return replace(self, y=y)
        seen = ~np.isnan(y)
        kept = ~(self.holes & seen).any(axis=1, keepdims=True)
        given, (lower, upper) = self.holes & kept, self.box
        lower = np.where(seen, y, np.where(given, lower, 0))
        upper = np.where(seen, y, np.where(given, upper, 1))
        sums = None if self.sums is None else np.where(kept, self.sums, np.nan)
        rows = replace(self, y=y, lower=lower, upper=upper, sums=sums)
        return rows.simplified()

    def simplified(self) -> PartialRows:
        """Return the rows without bounds and sums of groups, if these tell nothing of any row."""
        if not self.constrained or self.informative.any():
            return self
        return self.unconstrained()

    def unconstrained(self) -> PartialRows:
        """Return the rows without bounds and sums of groups."""
        return replace(self, lower=None, upper=None, groups=(), sums=None)

    def feasible(self) -> Array:
        """Return degrees in which holes that bounds or sums limit have some allowed value."""
        low, high = self.possible
        return np.where(self.limited, self.project((low + high) / 2), self.y)

    def free(self) -> PartialRows:
        """Return rows with the same bounds and sums that may differ from the observed degrees."""
        lower, upper = self.box
        lower, upper = np.where(self.holes, lower, 0), np.where(self.holes, upper, 1)
        return replace(self, y=np.full(self.y.shape, np.nan), lower=lower, upper=upper)

    def with_slack(self, whole: float) -> PartialRows:
        """Return rows divided by `whole`, with what they lack to 1 as one more label."""
        y = add_slack(self.y / whole)
        if not self.constrained:
            return replace(self, y=y)
        slack = y[:, -1:]
        lower, upper = (
            np.hstack([bounds / whole, np.where(np.isnan(slack), default, slack)])
            for bounds, default in zip(self.box, (0, 1), strict=True)
        )
        sums = None if self.sums is None else self.sums / whole
        return replace(self, y=y, lower=lower, upper=upper, sums=sums)

    def forced(self) -> Array:
        """Return degrees, in double precision, with the unobserved ones that leave no choice.

        One hole in a row is 1 minus the rest, or 0 if the rest is more than 1. Where the observed
        degrees sum to 1 already, every hole is 0.
        """
        y = close_single_holes(self.y.astype(np.float64))
        y[np.isnan(y) & (1 - np.nansum(y, axis=1) <= checks.sum_tolerance(y.dtype))[:, None]] = 0
        return y

    def evenly(self) -> Array:
        """Return degrees with the same value in all holes of a row."""
        share = np.maximum(self.rest, 0) / np.maximum(self.holes.sum(axis=1), 1)
        return np.where(self.holes, share[:, None], self.y)

    def cells(self, predicted: Array) -> tuple[Array, Array]:
        """Return what is known of rows, and what is predicted there, to compare the two.

        A prediction that is judged at the observed degrees only is judged by too large ones, where
        small ones are missing. The sum of the holes is known as well: it is one more cell. So `y`
        is followed by what the observed degrees leave, NaN in rows without holes, and in rows
        without degrees, where it tells nothing. The predictions are 0 at the holes, and followed
        by their sum there. Of ratios, the predicted ones at the same labels are returned; those
        of rows that tell nothing are NaN, and their predictions stay as they are.
        """
        if np.isnan(self.total):
            known = np.where(np.nansum(self.y, axis=1, keepdims=True) > 0, self.ratios, np.nan)
            there = np.where(np.isnan(known), 0, predicted + LEAST_PREDICTED)
            sums = there.sum(axis=1, keepdims=True)
            return known, np.where(sums > 0, there / np.where(sums > 0, sums, 1), predicted)
        rest = np.where(self.partial, np.maximum(self.rest, 0), np.nan)
        sums = np.where(self.holes, predicted, 0).sum(axis=1)
        there = np.where(self.holes, 0, predicted)
        return np.column_stack([self.y, rest]), np.column_stack([there, sums])

    @cached_property
    def ratios(self) -> Array:
        """The ratios without those of rows that have a single one, which is 1."""
        single = ((~self.holes).sum(axis=1) == 1) & (np.nansum(self.y, axis=1) > 0)
        single &= self.y.shape[1] > 1
        return np.where(single[:, None], np.nan, self.y) if single.any() else self.y

    def scales(self, predicted: Array) -> Array:
        """Return the scale of each row: what is predicted for its observed labels together."""
        mass = np.where(self.holes, 0, predicted).sum(axis=1, dtype=np.float64)
        return np.where(self.holes.any(axis=1), np.clip(mass, LEAST_SCALE, 1), 1)

    def scaled(self, predicted: Array) -> Array:
        """Return degrees: the ratios times the scales that predictions of the rows give them."""
        return (self.y * self.scales(predicted)[:, None]).astype(self.y.dtype, copy=False)

    def sum_completed(self, p: Array) -> tuple[Array, float]:
        """Return the sum of the rows that have ratios, completed by a distribution p; their count.

        Rows count by their weights.
        """
        known = np.where(self.holes, 0, self.y)
        some = known.any(axis=1) * (1.0 if self.weight is None else self.weight)
        completed = np.where(self.holes, p, known * self.scales(p)[:, None])
        return some @ completed, float(some.sum())

    def constant_distribution(self, rounds: int = 50, small_change: float = 1e-4) -> Array:
        """Return the distribution that, predicted for every row, agrees best with its ratios.

        It is the mean of the rows, completed and scaled by itself.
        """
        rows, n_labels = replace(self, y=self.ratios), self.y.shape[1]
        return fixed_point(rows.sum_completed, n_labels, rounds, small_change)


def fixed_point(
    sum_completed: Any, n_labels: int, rounds: int = 50, small_change: float = 1e-4
) -> Array:
    """Return the distribution p that is the mean of all rows if they are completed by p.

    `sum_completed(p)` returns the sum of the rows, and how many they are; then perhaps more.
    """
    p = np.full(n_labels, 1 / n_labels)
    for _ in range(rounds):
        total, count, *_ = sum_completed(p)
        before, p = p, total / max(count, 1)
        if np.abs(p - before).max() < small_change:
            break
    return p


def _relative(spread: Array, holes: Array) -> Array:
    """Return spreads relative to the largest of the holes of a row; never 0."""
    largest = np.where(holes, spread, 0).max(axis=1, keepdims=True, initial=0)
    spread = spread / np.where(largest > 0, largest, 1)
    return np.where(holes, np.maximum(spread, LEAST_SPREAD), 1)


def add_slack(values: Array) -> Array:
    """Return rows with one more label: what they lack to 1, which is missing if a degree is."""
    return np.hstack([values, 1 - values.sum(axis=1, keepdims=True)])


def close_single_holes(y: Array) -> Array:
    """Return y with max(0, 1 - the others) where a row has exactly one unobserved degree."""
    holes = np.isnan(y)
    single = np.flatnonzero(holes.sum(axis=1) == 1)
    if single.size == 0:
        return y
    y = y.copy()
    y[single, holes[single].argmax(axis=1)] = np.maximum(0, 1 - np.nansum(y[single], axis=1))
    return y
