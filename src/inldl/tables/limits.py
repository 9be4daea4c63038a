"""What is known of missing degrees beside the sum of their row: bounds, and sums of some labels.

Of the degrees `y` of some rows, NaN where they are missing, `lower` and `upper` are bounds (NaN
where there is none), and `groups` are sums (NaN where not known) of disjoint sets of columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from inldl.tables.bounded_cells import Bounds

WHOLE = {"fraction": 1.0, "percent": 100.0}  # what the degrees of a row sum to in the file


@dataclass(frozen=True, eq=False)
class Known:
    """Hold what is known of the degrees of some rows, as fractions."""

    y: np.ndarray  # (n, C) degrees, NaN where missing
    # (n, C) bounds of missing degrees, NaN where there is none; None if there are none at all
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None  # (n, C)
    # (n,) sums of some labels, NaN where not known
    groups: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict)

    @property
    def n_bounded(self):
        """Return how many degrees have bounds."""
        given = [~np.isnan(each) for each in (self.lower, self.upper) if each is not None]
        return int(np.any(given, axis=0).sum()) if given else 0

    @property
    def limits(self):
        """Return the arguments beside `y` with which an estimator completes it, if any."""
        bounds = {"lower": self.lower, "upper": self.upper, "sums": self.groups or None}
        return {name: each for name, each in bounds.items() if each is not None}


@dataclass(frozen=True, eq=False)
class Beside:
    """Hold what a file says of some rows beside their degrees, in its units."""

    bounds: Bounds | None = None  # what cells such as <5 say
    # (n,) the total of each row, NaN where not known, from the column `total_name`
    totals: np.ndarray | None = None
    total_name: str | None = None
    # (n,) sums of some labels, NaN where not known; `names` are the columns that hold them
    groups: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict)
    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    # Tells whether all counts of the file are whole numbers
    whole: Callable[[], bool] = lambda: False
    each: float | None = None  # the total, if it is the same in all rows and in no column

    @property
    def limiting(self):
        """Return whether something is known of missing degrees."""
        return self.bounds is not None or bool(self.groups)

    def notes(self, scale):
        """Return a sentence on bounds, if there are some."""
        if self.bounds is None:
            return []
        return [self.bounds.note(WHOLE.get(scale, np.nan), scale == "count" and self.whole())]

    def summed(self, values, labels):
        """Return degrees with known sums in place of labels of which one is missing.

        The first label of a group gets the sum, the others 0.
        """
        values = values.copy() if self.groups else values
        for names, sums in self.groups.items():
            columns = [labels.index(name) for name in names]
            rows = np.isnan(values[:, columns]).any(axis=1) & ~np.isnan(sums)
            values[np.ix_(rows, columns)] = 0
            values[rows, columns[0]] = sums[rows]
        return values

    def votes(self, counts, labels):
        """Return the totals of rows of counts: those that are given, else the sums."""
        sums = self.summed(counts, labels).sum(axis=1)
        return sums if self.totals is None else np.where(np.isnan(self.totals), sums, self.totals)

    def limits(self, labels, whole, scale):
        """Return bounds and sums as shares of the `whole` of each row."""
        lower = upper = np.full((len(whole), len(labels)), np.nan)
        if self.bounds is not None:
            lower, upper = self.bounds.closed(scale == "count" and self.whole())
        columns = {names: tuple(map(labels.index, names)) for names in self.groups}
        groups = {columns[names]: sums / whole for names, sums in self.groups.items()}
        told = {columns[names]: self.names[names] for names in self.groups}
        return Limits(lower / whole[:, None], upper / whole[:, None], groups, told)


class Limits:
    """Check bounds and sums of groups against the degrees of their rows, and close rounded gaps.

    All are shares. The groups are numbers of columns; `names` are the columns with their sums.
    """

    def __init__(self, lower, upper, groups, names):
        self.lower, self.upper, self.groups, self._names = lower, upper, dict(groups), names

    def ends(self, y):
        """Return the least and the most that each degree can be, without the sums of groups."""
        holes = np.isnan(y)
        least = np.where(holes, np.where(np.isnan(self.lower), 0, self.lower), y)
        most = np.where(holes, np.where(np.isnan(self.upper), np.inf, self.upper), y)
        return least, most

    def check_groups(self, y, gap, whole, labels, refuse):
        """Refuse sums that their labels cannot have; round the others to what they can have.

        A `gap` is what rounding explains, `whole` the units of the file, both for each row.
        """
        least, most = self.ends(y)
        for columns, sums in self.groups.items():
            low, high = least[:, columns].sum(axis=1), most[:, columns].sum(axis=1)
            words = partial(self._words, columns, whole, labels)
            refuse(sums < low - gap, partial(words, "at least ", low, high))
            refuse(sums > high + gap, partial(words, "at most ", high, low))
            told = ~np.isnan(y[:, columns]).any(axis=1)  # then the sum says nothing new
            self.groups[columns] = np.where(told, np.nan, np.clip(sums, low, high))

    def _words(self, columns, whole, labels, word, end, other, at, place):
        [row] = at
        given, can_be = (each[row] * whole[row] for each in (self.groups[columns], end))
        names = " and ".join(repr(labels[j]) for j in columns)
        word = "" if end[row] == other[row] else word
        return (
            f"{place}: column {self._names[columns]!r} has {given:.6g}, but {names} are "
            f"{word}{can_be:.6g} together; correct one of them."
        )

    def reach(self, y):
        """Return the least and the most that the degrees of each row can sum to."""
        least, most = self.ends(y)
        for columns, sums in self.groups.items():
            known = ~np.isnan(sums)
            for part in (least, most):
                part[np.ix_(known, columns)] = 0
                part[known, columns[0]] = sums[known]
        return least.sum(axis=1), most.sum(axis=1)

    def close(self, y, factors):
        """Divide rows of `y`, in place, and their limits."""
        y /= factors[:, None]
        self.lower, self.upper = self.lower / factors[:, None], self.upper / factors[:, None]
        self.groups = {columns: sums / factors for columns, sums in self.groups.items()}

    def known(self, y, labels):
        """Return all that is known."""
        bounds = {"lower": self.lower, "upper": np.minimum(self.upper, 1)}
        bounds = {name: None if np.isnan(each).all() else each for name, each in bounds.items()}
        groups = {
            tuple(labels[j] for j in columns): sums
            for columns, sums in self.groups.items()
            if not np.isnan(sums).all()
        }
        return Known(y, **bounds, groups=groups)
