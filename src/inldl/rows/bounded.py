"""Degrees between bounds, some of whose sums are known: what these allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """Degrees of n rows, with bounds and sums of those that are not observed."""

    y: Array  # (n, n_labels) degrees or ratios, NaN = unobserved
    # (n, n_labels) bounds of all degrees, both the degree itself where it is observed; None if
    # neither bounds nor sums say more than the sum of the row
    lower: Array | None = None
    upper: Array | None = None
    # Columns of labels whose sums are known; no label is in two groups
    groups: tuple[Array, ...] = ()
    sums: Array | None = None  # (n, n_groups) what the labels of each group sum to, NaN = unknown

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
    def parts(self) -> list[tuple[Array, Array]]:
        """Cells of rows that have a sum of their own, and that sum, which bounds allow.

        The cells are of shape (n, n_labels), the sums of shape (n,). The last part is what is not
        in a group of known sum.
        """
        parts, others, left = [], np.ones(self.y.shape, bool), np.ones(len(self.y))
        for number, columns in enumerate(self.groups if self.sums is not None else ()):
            total = self.sums[:, number]  # type: ignore[index]
            cells = np.zeros(self.y.shape, bool)
            cells[:, columns] = ~np.isnan(total)[:, None]
            parts.append((cells, np.nan_to_num(total)))
            others &= ~cells
            left = left - np.nan_to_num(total)
        return [*parts, (others, left)]

    @cached_property
    def part_numbers(self) -> Array:
        """The number of the part that each cell is in."""
        numbers = np.zeros(self.y.shape, int)
        for number, (cells, _) in enumerate(self.parts):
            numbers[cells] = number
        return numbers

    @cached_property
    def bounded(self) -> Array:
        """Which holes have bounds."""
        lower, upper = self.box
        return self.holes & ((lower > 0) | (upper < 1))

    @cached_property
    def _grouped(self) -> Array:
        """Which holes are in a group of known sum."""
        return self.holes & (self.part_numbers < len(self.parts) - 1)

    @cached_property
    def limited(self) -> Array:
        """Which holes have bounds, or are in a group of known sum."""
        return self.bounded | self._grouped

    @cached_property
    def limited_rows(self) -> Array:
        """The numbers of the rows with such holes."""
        return np.flatnonzero(self.limited.any(axis=1)) if self.constrained else np.empty(0, int)

    @cached_property
    def informative(self) -> Array:
        """Which rows have bounds or sums that rule out what the sum of the row allows."""
        lower, upper = self.box
        tight = self.bounded & ((lower > 0) | (upper < self.rest[:, None]))
        return (tight | self._grouped).any(axis=1)

    @cached_property
    def possible(self) -> tuple[Array, Array]:
        """The smallest and the largest value of each degree that its row allows."""
        lower, upper = (bounds.copy() for bounds in self.box)
        for cells, low, high, total in self._boxes:
            least, most = (a.sum(axis=1, keepdims=True) for a in (low, high))
            total = np.clip(total[:, None], least, most)
            lower = np.where(cells, np.maximum(low, total - (most - high)), lower)
            upper = np.where(cells, np.minimum(high, total - (least - low)), upper)
        upper = np.where(self.holes, np.maximum(upper, self.box[0]), self.y)
        return np.where(self.holes, np.minimum(lower, upper), self.y), upper

    @cached_property
    def _boxes(self) -> list[tuple[Array, Array, Array, Array]]:
        """Parts with their bounds, which are 0 for the cells of other parts."""
        lower, upper = self.box
        return [
            (cells, np.where(cells, lower, 0), np.where(cells, upper, 0), total)
            for cells, total in self.parts
        ]
