"""Densities of degrees between bounds, on a grid, and those below limits of detection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import spearmanr

from inldl.rows.partial import PartialRows

Array = np.ndarray
GRID_POINTS = 32
EDGES = np.linspace(0, 1, GRID_POINTS + 1) ** 2  # of the grid between two bounds
CENTRES, WIDTHS = (EDGES[1:] + EDGES[:-1]) / 2, np.diff(EDGES)
SMALLEST_MEAN = 1e-4
LEAST_VARIANCE = 1e-12
FEWEST_ABOVE = 5  # observed degrees above a limit that tell their density
EXPONENTS = 0.3, 20.0  # of the power law below a limit
UNSURE_EXPONENTS = (0.33, 0.3), (1.0, 0.4), (3.0, 0.3)  # factors that it may be off by
FURTHEST = 2.5  # standard deviations that what is expected may tell of a rank
TRUSTED_CORRELATION = 0.5  # share of it that holds below limits, where nothing was observed
UNLIKE_NORMAL = 2.0  # times the variance of other degrees: their densities are not normal


@dataclass(frozen=True, eq=False)
class GridDensity:
    """Probabilities of intervals between the bounds of degrees; `EDGES` are their ends."""

    lower: Array  # (...,) bounds
    upper: Array
    weights: Array  # (..., GRID_POINTS) the probabilities

    def given_sums(self, rows: PartialRows) -> GridDensity:
        """Return the density once the sums of rows, and of groups, are known.

        The other degrees of a sum are taken as normal: what they lack to it is the degree.
        """
        mean, variance = (np.where(rows.holes, moment, 0) for moment in self.moments())
        mean = np.where(rows.holes, mean, np.nan_to_num(rows.y))
        grid = self.lower[..., None] + (self.upper - self.lower)[..., None] * CENTRES
        log = np.log(np.maximum(self.weights, LEAST_VARIANCE**2) / WIDTHS)
        for cells, _, _, total in rows.parts:
            others, spread = (
                np.where(cells, moment, 0).sum(axis=1, keepdims=True) - moment
                for moment in (mean, variance)
            )
            lack = grid - (total[:, None] - others)[..., None]
            spread = UNLIKE_NORMAL * np.maximum(spread, LEAST_VARIANCE)
            factor = -(lack**2) / (2 * spread)[..., None]
            log += np.where((cells & rows.holes)[..., None], factor, 0)
        return GridDensity(self.lower, self.upper, normalised(log))

    def moments(self) -> tuple[Array, Array]:
        """Return means and variances."""
        grid = self.lower[..., None] + (self.upper - self.lower)[..., None] * CENTRES
        mean = (self.weights * grid).sum(axis=-1)
        return mean, (self.weights * (grid - mean[..., None]) ** 2).sum(axis=-1)

    def quantile(self, level: Array | float) -> Array:
        """Return the degrees that are exceeded with the probability 1 - `level`."""
        below = np.cumsum(self.weights, axis=-1)
        level = np.broadcast_to(level, self.lower.shape)[..., None]
        at = np.minimum((below < level).sum(axis=-1, keepdims=True), GRID_POINTS - 1)
        own = np.take_along_axis(self.weights, at, -1)
        before = np.take_along_axis(below - self.weights, at, -1)
        share = np.clip((level - before) / np.maximum(own, LEAST_VARIANCE), 0, 1)
        place = EDGES[at] + share * (EDGES[at + 1] - EDGES[at])
        return self.lower + (self.upper - self.lower) * place[..., 0]

    def shortest(self, coverage: Array | float) -> tuple[Array, Array]:
        """Return the ends of the shortest of three intervals that hold a share `coverage`.

        One begins at the lower bound, one ends at the upper bound, one leaves as much at either
        side.
        """
        starts = (0.0 * coverage, (1 - coverage) / 2, 1 - coverage)
        low = np.array([self.quantile(start) for start in starts])
        high = np.array([self.quantile(start + coverage) for start in starts])
        best = (high - low).argmin(axis=0)[None]
        return np.take_along_axis(low, best, 0)[0], np.take_along_axis(high, best, 0)[0]


def normalised(log: Array) -> Array:
    """Return the probabilities of the intervals of a grid from logarithms of a density there."""
    log = log + np.log(WIDTHS)
    log -= log.max(axis=-1, keepdims=True)
    weights = np.exp(log, out=log)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


@dataclass(frozen=True, eq=False)
class Tail:
    r"""How degrees below limits are distributed if none of them was observed.

    Below a limit h the degrees of a label have a power law that goes on from what lies above it:

    .. math:: P(d < x) = F(h) (x / h)^a, \qquad a = h f(h) / F(h),

    where F(h) is the share of the degrees below h, and f(h) the density of those just above. Which
    of the degrees are the larger ones, what is expected of them tells as well as it does among the
    smallest observed degrees: normal scores of the two have the correlation there.
    """

    seen: list[Array]  # the observed degrees of each label, in ascending order
    limits: list[Array]  # limits of those below one, in ascending order
    centre: Array  # (n_labels,) mean of the logarithms of what is expected of these
    spread: Array  # (n_labels,) their standard deviation
    correlation: float

    @classmethod
    def learn(cls, rows: PartialRows, expected: Array, correlation: float) -> Tail:
        """Learn from rows, and what is expected of them."""
        below, upper = censored(rows), rows.box[1]
        sizes = np.log(np.maximum(expected, SMALLEST_MEAN**2))
        centre, spread = np.zeros((2, expected.shape[1]))
        for label, at in enumerate(below.T):
            if at.any():
                centre[label], spread[label] = sizes[at, label].mean(), sizes[at, label].std()
        columns = range(expected.shape[1])
        seen = [np.sort(rows.y[~rows.holes[:, j], j]) for j in columns]
        limits = [np.sort(upper[below[:, j], j]) for j in columns]
        return cls(seen, limits, centre, spread, correlation)

    def exponents(self, limits: Array) -> Array:
        """Return a for limits (n, n_labels)."""
        found = np.ones(limits.shape)
        for label, (seen, below) in enumerate(zip(self.seen, self.limits, strict=True)):
            h = limits[:, label]
            first = np.searchsorted(seen, h, side="right")
            lower = first + np.searchsorted(below, h, side="right")
            n_above = np.minimum(np.maximum(FEWEST_ABOVE, lower // 2), len(seen) - first)
            last = seen[np.minimum(first + n_above, len(seen)) - 1] if len(seen) else h
            a = h * n_above / np.maximum((last - h) * lower, LEAST_VARIANCE)
            found[:, label] = np.where((lower > 0) & (n_above > 1), a, 1)
        return np.clip(found, *EXPONENTS)

    def density(self, expected: Array, rows: PartialRows) -> GridDensity:
        """Return the density of the holes of rows between what is possible."""
        a, (lower, upper) = self.exponents(rows.box[1])[..., None], rows.possible
        room, most = (upper - lower)[..., None], np.maximum(upper, LEAST_VARIANCE)[..., None]
        size = np.log(np.maximum(expected, SMALLEST_MEAN**2)) - self.centre
        size = np.clip(size / np.maximum(self.spread, LEAST_VARIANCE), -FURTHEST, FURTHEST)
        r = TRUSTED_CORRELATION * self.correlation
        weights = np.zeros((*expected.shape, GRID_POINTS))
        for factor, share in UNSURE_EXPONENTS:
            least = (lower[..., None] / most) ** (factor * a)
            rank = ((lower[..., None] + room * EDGES) / most) ** (factor * a) - least
            scores = ndtri(np.clip(rank / np.maximum(1 - least, LEAST_VARIANCE), 0, 1))
            below = ndtr((scores - r * size[..., None]) / np.sqrt(1 - r**2))
            weights += share * np.maximum(np.diff(below, axis=-1), LEAST_VARIANCE)
        return GridDensity(lower, upper, weights / weights.sum(axis=-1, keepdims=True))


def rank_correlation(expected: Array, degrees: Array, label: Array) -> float:
    """Return how well the ranks of the smallest third of the degrees of labels are expected."""
    found, counts = [], []
    for at in (label == j for j in np.unique(label)):
        d, e = degrees[at], expected[at]
        some = d <= np.quantile(d, 1 / 3)
        if np.ptp(d[some]) > 0 < np.ptp(e[some]):
            found.append(spearmanr(d[some], e[some]).statistic)
            counts.append(some.sum())
    mean = float(np.average(found, weights=counts)) if found else 0.0
    return min(max(mean, 0.0), 1.0)


def censored(rows: PartialRows) -> Array:
    """Return which holes are known to be below a limit, and nothing else."""
    lower, upper = rows.box
    return rows.holes & (lower <= 0) & (upper < 1)
