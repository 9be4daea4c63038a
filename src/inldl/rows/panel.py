"""Where rows belong: to a unit such as a country, and to a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Panel:
    """The unit and the time of each row, as far as a table has them."""

    unit: Array  # (n,) of int from 0; all are 0 if the table is one series
    # (n,) in steps that are usual between two times, such as months; None: rows have no order
    time: Array | None = None
    period: float | None = None  # steps after which a season returns: 12 if they are months

    def __len__(self) -> int:
        return len(self.unit)

    def take(self, rows: Array) -> Panel:
        """Return some of the rows."""
        return Panel(self.unit[rows], None if self.time is None else self.time[rows], self.period)

    def renumbered(self) -> Panel:
        """Return the rows with units that are numbered without gaps."""
        unit = np.unique(self.unit, return_inverse=True)[1]
        return Panel(unit, self.time, self.period)

    def joined(self, other: Panel) -> Panel:
        """Return these rows, followed by others."""
        unit = np.concatenate([self.unit, other.unit])
        if self.time is None or other.time is None:
            return Panel(unit)
        return Panel(unit, np.concatenate([self.time, other.time]), self.period)

    @property
    def positions(self) -> Array:
        """Where rows stand along time; all are 0 if they have no order."""
        return np.zeros(len(self)) if self.time is None else self.time

    @cached_property
    def n_units(self) -> int:
        """Return how many units there are, with those of which no row is left."""
        return int(self.unit.max(initial=-1)) + 1

    def held_out_together(self, n_parts: int) -> Array | None:
        """Return numbers of groups of rows: units, or stretches of one series; None if neither.

        A row that is left out with its group is predicted as one of a new unit, or another time.
        """
        group = self.unit
        if self.one_series:
            group = np.searchsorted(np.sort(self.positions), self.positions) * n_parts // len(self)
        return group if len(np.unique(group)) > 1 else None

    @property
    def one_series(self) -> bool:
        """Return whether most rows are of one unit with times; one without a time is another."""
        most = int(np.bincount(self.unit).max(initial=0))
        return self.time is not None and 2 * most > len(self)

    @cached_property
    def units(self) -> list[Array]:
        """Return the numbers of the rows of each unit that has some, in the order of time."""
        order = np.lexsort((self.positions, self.unit))
        return np.split(order, np.flatnonzero(np.diff(self.unit[order])) + 1)
