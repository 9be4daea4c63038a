"""What is known of degrees that are not observed: bounds, and sums of some of them.

A degree may be known to lie between two bounds, such as a share that an office prints as "<5%",
and the sum of a group of labels may be known where the degrees themselves are not.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from inldl import kernels

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Limits:
    """Rows with holes, and between what their holes are."""

    y: Array  # (n, n_labels) degrees in double precision, NaN = unobserved
    # (n, n_labels) bounds of all degrees; both are the degree itself where it is observed
    lower: Array
    upper: Array  # (n, n_labels)
    # Columns of labels of which sums are known; no label is in two groups
    groups: tuple[Array, ...] = ()
    sums: Array | None = None  # (n, n_groups) what the labels of each group sum to, NaN = unknown

    def take(self, rows: Any) -> "Limits":
        """Return the limits of some rows."""
        sums = None if self.sums is None else self.sums[rows]
        return Limits(self.y[rows], self.lower[rows], self.upper[rows], self.groups, sums)

    @cached_property
    def parts(self) -> list[tuple[Array, Array]]:
        """Cells of rows that have a sum of their own, and that sum, which bounds allow.

        The cells are of shape (n, n_labels), the sums of shape (n,). The last part is what is not
        in a group of known sum.
        """
        found, others, left = [], np.ones(self.y.shape, bool), np.ones(len(self.y))
        for number, columns in enumerate(self.groups):
            total = self.sums[:, number]  # type: ignore[index]
            inside = np.zeros(self.y.shape, bool)
            inside[:, columns] = ~np.isnan(total)[:, None]
            found.append((inside, np.nan_to_num(total)))
            others &= ~inside
            left = left - np.nan_to_num(total)
        return [*found, (others, left)]

    @cached_property
    def part_numbers(self) -> Array:
        """The number of the part that each cell is in."""
        numbers = np.zeros(self.y.shape, int)
        for number, (inside, _) in enumerate(self.parts):
            numbers[inside] = number
        return numbers

    @cached_property
    def bounded(self) -> Array:
        """Which holes have bounds."""
        return np.isnan(self.y) & ((self.lower > 0) | (self.upper < 1))

    @cached_property
    def told(self) -> Array:
        """Which holes have bounds, or are in a group of known sum."""
        return self.bounded | self._in_group

    @cached_property
    def _in_group(self) -> Array:
        """Which holes are in a group of known sum."""
        return np.isnan(self.y) & (self.part_numbers < len(self.groups))

    @cached_property
    def telling(self) -> Array:
        """Which rows have a hole that can be less than the row allows without limits."""
        rest = 1 - np.nansum(self.y, axis=1, keepdims=True)
        tight = self.bounded & ((self.lower > 0) | (self.upper < rest))
        return (tight | self._in_group).any(axis=1)

    def tell_something(self) -> bool:
        """Say whether any row has such a hole."""
        return bool(self.telling.any())

    @property
    def rows(self) -> Array:
        """The numbers of the rows with such holes."""
        return np.flatnonzero(self.told.any(axis=1))

    @cached_property
    def possible(self) -> tuple[Array, Array]:
        """The smallest and the largest value of each degree that its row allows."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for inside, low, high, total in self._boxes:
            least, most = (a.sum(axis=1, keepdims=True) for a in (low, high))
            total = np.clip(total[:, None], least, most)
            lower = np.where(inside, np.maximum(low, total - (most - high)), lower)
            upper = np.where(inside, np.minimum(high, total - (least - low)), upper)
        free = np.isnan(self.y)
        upper = np.where(free, np.maximum(upper, self.lower), self.y)
        return np.where(free, np.minimum(lower, upper), self.y), upper

    def nearest(self, values: Array, spread: Array | float = 1.0) -> Array:
        """Return the rows within the limits that are nearest to given ones.

        Observed degrees stay as they are. `spread` are the expected squared errors of the values:
        degrees move in proportion to them.
        """
        spread = np.broadcast_to(np.asarray(spread, dtype=np.float64), values.shape)
        if spread.size:
            spread = spread / spread.max(axis=1, keepdims=True)
        out = self.y.copy()
        for inside, low, high, total in self._boxes:
            found = np.array(values, dtype=np.float64, order="C")
            kernels.project_between(found, spread, low, high, total)
            np.copyto(out, found, where=inside & np.isnan(self.y))
        return out

    @cached_property
    def _boxes(self) -> list[tuple[Array, Array, Array, Array]]:
        """Parts with their bounds, which are 0 for the cells of other parts."""
        return [
            (inside, np.where(inside, self.lower, 0), np.where(inside, self.upper, 0), total)
            for inside, total in self.parts
        ]

    def as_given(self) -> dict[str, Any]:
        """Return what was given to `limits_of`."""
        groups = [tuple(columns.tolist()) for columns in self.groups]
        sums = {} if self.sums is None else dict(zip(groups, self.sums.T, strict=True))
        return {"lower": self.lower, "upper": self.upper, "sums": sums or None}

    def with_holes(self, y: Array) -> "Limits | None":
        """Return what still is known if only the degrees `y` of the rows are observed.

        Nothing is known of a degree that was observed before, nor of a row that has one more.
        """
        missing, seen = np.isnan(self.y), ~np.isnan(y)
        kept = ~(missing & seen).any(axis=1, keepdims=True)
        given = missing & kept
        lower = np.where(seen, y, np.where(given, self.lower, 0))
        upper = np.where(seen, y, np.where(given, self.upper, 1))
        sums = None if self.sums is None else np.where(kept, self.sums, np.nan)
        limits = Limits(y, lower, upper, self.groups, sums)
        return limits if limits.tell_something() else None

    def any_filled(self) -> Array:
        """Return rows in which all holes that more is known of have some degree."""
        low, high = self.possible
        return np.where(self.told, self.nearest((low + high) / 2), self.y)

    def with_lack(self, whole: float) -> "Limits":
        """Return limits of rows divided by `whole`, with what they lack to 1 as one more label."""
        y = np.hstack([self.y / whole, 1 - self.y.sum(axis=1, keepdims=True) / whole])
        known = ~np.isnan(y[:, -1:])
        lower = np.hstack([self.lower / whole, np.where(known, y[:, -1:], 0)])
        upper = np.hstack([self.upper / whole, np.where(known, y[:, -1:], 1)])
        sums = None if self.sums is None else self.sums / whole
        return Limits(y, lower, upper, self.groups, sums)

    def open(self) -> "Limits":
        """Return the same limits of rows that may differ from the observed degrees."""
        holes = np.isnan(self.y)
        lower, upper = np.where(holes, self.lower, 0), np.where(holes, self.upper, 1)
        return Limits(np.full(self.y.shape, np.nan), lower, upper, self.groups, self.sums)
