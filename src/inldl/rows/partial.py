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
from inldl.rows.aggregates import Counts

Array = np.ndarray
LEAST_SCALE = 1e-3  # of a row of ratios: what is predicted to be nothing at all has been seen
LEAST_PREDICTED = float(np.finfo(float).tiny) ** 0.5  # labels predicted as 0 share evenly
LEAST_SPREAD = 1e-12  # of a hole, relative to the largest of its row
PER_ROW = ("y", "lower", "upper", "sums", "weight", "spread_features", "features", "number")


@dataclass(frozen=True, eq=False)
class PartialRows:
    """Degrees of n rows, and what is known of those that are not observed.

    `PartialRows(y)` copies and checks nothing; `PartialRows.of` checks what a user gave.
    """

    y: Array  # (n, n_labels) degrees or ratios, NaN = unobserved
    # (n, n_labels) bounds, those of an observed degree are it; None if they say nothing more
    lower: Array | None = None
    upper: Array | None = None
    # Columns of labels whose sums are known; no label is in two groups
    groups: tuple[Array, ...] = ()
    sums: Array | None = None  # (n, n_groups) what the labels of each group sum to, NaN = unknown
    total: float = 1.0  # what the degrees of a row sum to; NaN if only their ratios are known
    weight: Array | None = None  # (n,) how much each row counts
    spread_features: Array | None = None  # (n, q) what tells how large errors are, such as votes
    features: Array | None = None  # (n, k) all features, if they are few
    number: Array | None = None  # (n,) numbers of the rows, for messages
    names: tuple[str, ...] | None = None  # of the labels
    counts: Counts | None = None  # what they are shares of, if they are counts

    @classmethod
    def of(
        cls,
        y: Any,
        lower: Any = None,
        upper: Any = None,
        sums: Mapping[Any, Any] | None = None,
        names: Any = None,
    ) -> PartialRows:
        """Return the rows that a user describes, or refuse what contradicts itself.

        Bounds and `sums` of groups of labels, by names or numbers, are NaN where nothing is known.
        `names` are those of the labels, by default of the columns of `y`.
        """
        names = checks.label_names(y) if names is None else names
        degrees = checks.as_degrees(y)
        header, arrays = cls.open(degrees, degrees, lower, upper, sums, names=names)
        return header.block(degrees, **arrays)

    @classmethod
    def open(
        cls,
        X: Any,
        y: Any,
        lower: Any,
        upper: Any,
        sums: Mapping[Any, Any] | None,
        sample_weight: Any = None,
        names: Any = None,
    ) -> tuple[PartialRows, dict[str, Any]]:
        """Return a header without rows, and 2-D arrays that engines carry with the rows.

        `block` takes both when a block of rows is started. Bounds and weights may be what engines
        can slice, such as arrays of Dask. Without bounds and sums nothing of `y` is read.
        """
        arrays = inputs.weight_column(sample_weight)
        names = checks.label_names(y) if names is None else names
        header = cls(np.empty((0, 0)), names=None if names is None else tuple(names))
        if lower is None and upper is None and not sums:
            return header, arrays
        more, groups = inputs.bound_arrays(X, y, lower, upper, sums or {}, names)
        return replace(header, groups=groups), arrays | more

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
        weight, number = (None if a is None else a[:, 0] for a in (sample_weight, row))
        rows = replace(self, y=y, weight=weight)
        if lower is None and upper is None and sums is None:
            return replace(rows, groups=())
        low = inputs.as_bounds(lower, "lower", y.shape, 0.0)
        high = inputs.as_bounds(upper, "upper", y.shape, 1.0)
        lower, upper = (np.where(np.isnan(y), np.clip(end, 0, 1), y) for end in (low, high))
        rows = replace(rows, lower=lower, upper=upper, sums=sums, number=number)
        inputs.check_limits(rows, low, high)
        return rows.simplified()

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def holes(self) -> Array:
        """Which degrees are not observed."""
        return np.isnan(self.y)

    @cached_property
    def rest(self) -> Array:
        """What the observed degrees of each row leave to its holes."""
        return np.asarray(1 - np.nansum(self.y, axis=1, dtype=np.float64))

    @cached_property
    def partial(self) -> Array:
        """Which rows have both holes and observed degrees."""
        return np.asarray(self.holes.any(axis=1) & ~self.holes.all(axis=1))

    @cached_property
    def open_holes(self) -> Array:
        """Which degrees neither are observed nor follow from the sum of their row."""
        return self.holes & (self.holes.sum(axis=1, keepdims=True) > 1)

    @property
    def constrained(self) -> bool:
        """Whether bounds or sums of groups say more than the sum of the rows."""
        return self.lower is not None

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lower and upper bounds of all degrees."""
        if self.lower is not None and self.upper is not None:
            return self.lower, self.upper
        return np.where(self.holes, 0, self.y), np.where(self.holes, 1, self.y)

    @cached_property
    def parts(self) -> list[tuple[Array, Array, Array, Array]]:
        """Cells of rows that have a sum of their own, their bounds, and that sum.

        Cells and bounds are of shape (n, n_labels), and the bounds of the cells of other parts are
        0. The sums are of shape (n,). The last part is what is not in a group of known sum.
        """
        parts, others, left = [], np.ones(self.y.shape, bool), np.ones(len(self.y))
        for columns, total in zip(self.groups, self._group_sums.T, strict=True):
            cells = np.zeros(self.y.shape, bool)
            cells[:, columns] = ~np.isnan(total)[:, None]
            parts.append((cells, np.nan_to_num(total)))
            others &= ~cells
            left = left - np.nan_to_num(total)
        lower, upper = self.box
        return [
            (cells, np.where(cells, lower, 0), np.where(cells, upper, 0), total)
            for cells, total in [*parts, (others, left)]
        ]

    @property
    def _group_sums(self) -> Array:
        return np.empty((len(self), 0)) if self.sums is None else self.sums

    @cached_property
    def bounded(self) -> Array:
        """Which holes have bounds."""
        lower, upper = self.box
        return self.holes & ((lower > 0) | (upper < 1))

    @cached_property
    def limited(self) -> Array:
        """Which holes have bounds, or are in a group of known sum."""
        return self.bounded | (self.holes & ~self.parts[-1][0])

    @cached_property
    def limited_rows(self) -> Array:
        """The numbers of the rows with such holes."""
        return np.flatnonzero(self.limited.any(axis=1)) if self.constrained else np.empty(0, int)

    @cached_property
    def informative(self) -> Array:
        """Which rows have bounds or sums that rule out what the sum of the row allows."""
        lower, upper = self.box
        tight = (lower > 0) | (upper < self.rest[:, None]) | ~self.parts[-1][0]
        return (self.limited & tight).any(axis=1)

    @cached_property
    def possible(self) -> tuple[Array, Array]:
        """The smallest and the largest value of each degree that its row allows."""
        lower, upper = (bounds.copy() for bounds in self.box)
        for cells, low, high, total in self.parts:
            least, most = (a.sum(axis=1, keepdims=True) for a in (low, high))
            total = np.clip(total[:, None], least, most)
            lower = np.where(cells, np.maximum(low, total - (most - high)), lower)
            upper = np.where(cells, np.minimum(high, total - (least - low)), upper)
        upper = np.where(self.holes, np.maximum(upper, self.box[0]), self.y)
        return np.where(self.holes, np.minimum(lower, upper), self.y), upper

    def arguments(self) -> dict[str, Any]:
        """Return bounds and sums as another estimator's `fit` takes them."""
        if not self.constrained:
            return {}
        groups = [tuple(columns.tolist()) for columns in self.groups]
        sums = dict(zip(groups, self._group_sums.T, strict=True))
        return {"lower": self.lower, "upper": self.upper, "sums": sums or None}

    def take(self, rows: Any) -> PartialRows:
        """Return some of the rows."""
        taken = {name: getattr(self, name) for name in (*PER_ROW, "counts")}
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
        for cells, low, high, total in self.parts:
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
        sums = np.where(kept, self._group_sums, np.nan)
        return replace(self, y=y, lower=lower, upper=upper, sums=sums).simplified()

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
        return replace(self, y=y, lower=lower, upper=upper, sums=self._group_sums / whole)

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

        The sum of the holes is known as well, and where small degrees are missing the observed
        ones are too large to judge by: it is one more cell. So `y` is followed by what it leaves,
        NaN in rows without holes and without degrees; predictions are 0 at the holes, and followed
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


def _relative(spread: Array, holes: Array) -> Array:
    """Return spreads relative to the largest of the holes of a row; never 0."""
    largest = np.where(holes, spread, 0).max(axis=1, keepdims=True, initial=0)
    spread = spread / np.where(largest > 0, largest, 1)
    return np.where(holes, np.maximum(spread, LEAST_SPREAD), 1)


def largest_sum(y: Array) -> float:
    """Return the largest sum of the known degrees of a row, or 1 if all are smaller."""
    return float(np.nansum(y, axis=1).max(initial=1.0))


def add_slack(values: Array) -> Array:
    """Return rows with one more label: what they lack to 1, which is missing if a degree is."""
    return np.hstack([values, 1 - values.sum(axis=1, keepdims=True)])


def close_single_holes(y: Array) -> Array:
    """Return y with max(0, 1 - the others) where a row has exactly one unobserved degree."""
    y, holes = y.copy(), np.isnan(y)
    single = np.flatnonzero(holes.sum(axis=1) == 1)
    y[single, holes[single].argmax(axis=1)] = np.maximum(0, 1 - np.nansum(y[single], axis=1))
    return y
