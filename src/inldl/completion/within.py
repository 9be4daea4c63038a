"""Fill holes that are known to lie between bounds, or whose sums are known."""

from dataclasses import dataclass

import numpy as np

from inldl.rows.density import SMALLEST, TINY, Inside, quantile, shortest, tilted_density

PRIOR = 20  # squared errors of all labels that those of each label are averaged with
PEERS = 0.5  # how far degrees of which none was ever observed go towards their mean


@dataclass(frozen=True, eq=False)
class WithinLimits:
    """What is expected of holes within limits, once it is known what is expected without."""

    inside: Inside  # how degrees are distributed around what is expected of them
    # Whether degrees between such bounds were not observed, either, in the rows that were learned
    # from. Little is known then about how they differ
    unseen: bool

    @classmethod
    def of(cls, expected, degrees, label, n_labels, unseen):
        """Learn from degrees, their labels, and what was expected of them."""
        around = np.maximum(expected, SMALLEST)
        ratio = (degrees - expected) ** 2 / around
        mean = ratio.mean() if len(ratio) else 1.0
        count = np.bincount(label, minlength=n_labels)
        scale = (np.bincount(label, ratio, n_labels) + PRIOR * mean) / (count + PRIOR)
        return cls(Inside(np.zeros(n_labels), scale + 1e-7), unseen)

    def fill(self, expected, rows):
        """Return rows within their rows.

        If degrees between such bounds were observed, a hole gets its mean between its bounds. If
        not, `expected` was learned from rows with the same limits and knows about them; which of
        several degrees of a row between the same bounds is larger was learned from others, so
        they go some way towards their mean.
        """
        if self.unseen:
            filled = rows.project(expected)
            filled += PEERS * (_mean_of_peers(filled, rows) - filled)
            return np.clip(filled, rows.lower, rows.upper)  # means are rounded
        found, variance = self.inside.moments(*_around(expected, rows))
        return rows.project(found, variance + TINY)

    def intervals(self, expected, lower, upper, rows, coverage):
        """Return rows within their limits, and the ends of intervals.

        Holes without limits keep the intervals around what is expected of them, as far as the
        limits of the others allow.
        """
        filled, possible = self.fill(expected, rows), rows.possible
        weights = self._density(expected, filled, possible)
        ends = shortest(weights, *possible, coverage)
        lower, upper = (
            np.clip(np.where(rows.limited, end, given), *possible)
            for end, given in zip(ends, (lower, upper), strict=True)
        )
        return filled, np.minimum(lower, filled), np.maximum(upper, filled)

    def draw(self, expected, rows, n_draws, generator):
        """Return rows at random, as many of each as there are draws."""
        possible = rows.possible
        weights = self._density(expected, self.fill(expected, rows), possible)
        middle = quantile(weights, *possible, 0.5)
        spread = (quantile(weights, *possible, 0.84) - middle) ** 2 + TINY
        out = np.empty((n_draws, *expected.shape))
        for each in out:
            levels = generator.uniform(size=expected.shape)
            each[:] = rows.project(quantile(weights, *possible, levels), spread)
        return out

    def _density(self, expected, filled, possible):
        """Return how probable places between the bounds of each degree are."""
        if self.unseen:
            return tilted_density(filled, *possible)
        return self.inside.density(np.maximum(expected, SMALLEST), *possible)[1]


def _around(expected, rows):
    """Return the means of degrees without limits, and between what they are."""
    return np.maximum(expected, SMALLEST), *rows.possible


def _mean_of_peers(filled, rows):
    """Return the mean of the cells of a row that have the same bounds, for each cell."""
    out = filled.copy()
    bounded = rows.bounded
    for some in np.array_split(np.arange(len(filled)), max(1, filled.size // 500_000)):
        same = bounded[some, :, None] & bounded[some, None, :]
        for bounds in (rows.lower[some], rows.upper[some], rows.part_numbers[some]):
            same &= bounds[:, :, None] == bounds[:, None, :]
        count = same.sum(axis=2)
        sums = np.einsum("ijk,ik->ij", same, filled[some])
        out[some] = np.where(count > 0, sums / np.maximum(count, 1), filled[some])
    return out
