r"""Degrees that are known to lie between bounds: what is expected of them.

The degrees of label j are taken to have a gamma distribution of mean :math:`m_j`, or of what is
predicted for the row, and variance :math:`\theta_j` times the mean. A hole has that density
between its bounds; its mean and variance are sums over a grid. What the means of a row lack to its
sum, or to that of a group, is shared out in proportion to the variances, within the bounds. These
steps and new estimates of m and theta from the rows so filled are repeated
(expectation-maximisation).
"""

from dataclasses import dataclass

import numpy as np

from inldl.rows.partial import PartialRows

Array = np.ndarray

GRID = 32
EDGES = np.linspace(0, 1, GRID + 1) ** 2  # of the grid between two bounds
STEPS, LEARN_ROWS = 30, 1000
SMALLEST = 1e-4  # mean
LEAST_SHAPE = 0.05
TINY = 1e-12
TILT_STEPS, STEEPEST = 30, 200.0  # of the density of which only the mean is known
BLOCK = 1 << 12  # rows that are filled at once


@dataclass(frozen=True, eq=False)
class Inside:
    """How degrees are distributed."""

    mean: Array  # (n_labels,) m
    scale: Array  # (n_labels,) theta

    @classmethod
    def learn(cls, rows: PartialRows, prior: Array | None = None) -> "Inside":
        """Learn from rows with holes; `prior` are predictions of the rows, if there are any."""
        some = evenly(len(rows), LEARN_ROWS)
        rows, prior = rows.take(some), None if prior is None else prior[some]
        low, high = rows.possible
        found = cls._estimated(rows.project((low + high) / 2), 0.0, prior)
        for _ in range(STEPS):
            found = cls._estimated(*found.fill(rows, prior), prior)
        return found

    @classmethod
    def _estimated(cls, filled: Array, variance: Array | float, prior: Array | None) -> "Inside":
        mean = np.maximum(filled.mean(axis=0), SMALLEST)
        around = mean if prior is None else np.maximum(prior, SMALLEST)
        scale = (((filled - around) ** 2 + variance) / around).mean(axis=0) + 1e-7
        return cls(mean, scale)

    def fill(self, rows: PartialRows, prior: Array | None = None) -> tuple[Array, Array]:
        """Return rows filled with what is expected of their holes, and the variances of that."""
        out, variance = rows.y.astype(np.float64), np.zeros(rows.y.shape)
        missing = np.flatnonzero(rows.holes.any(axis=1))
        for at in range(0, len(missing), BLOCK):
            some = missing[at : at + BLOCK]
            part = rows.take(some)
            means = self.mean if prior is None else prior[some]
            means = np.broadcast_to(np.maximum(means, SMALLEST), part.y.shape)
            expected, spread = self.moments(means, *part.possible)
            spread = np.where(part.holes, spread + TINY, TINY)
            out[some] = part.project(expected, spread)
            variance[some] = _given_sums(spread, part)
        return out, variance

    def moments(self, means: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return the means and variances of degrees between bounds."""
        grid, weights = self.density(means, lower, upper)
        expected = (weights * grid).sum(axis=-1)
        return expected, (weights * (grid - expected[..., None]) ** 2).sum(axis=-1)

    def density(self, means: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return points between the bounds of each degree, and their probabilities."""
        grid = lower[..., None] + (upper - lower)[..., None] * (EDGES[1:] + EDGES[:-1]) / 2
        shape = np.maximum(means / self.scale, LEAST_SHAPE)[..., None]
        log = (shape - 1) * np.log(np.maximum(grid, TINY)) - grid / self.scale[:, None]
        log += np.log(np.diff(EDGES))
        log -= log.max(axis=-1, keepdims=True)
        weights = np.exp(log, out=log)
        weights /= weights.sum(axis=-1, keepdims=True)
        return grid, weights


def tilted_density(means: Array, lower: Array, upper: Array) -> Array:
    """Return the probabilities of places between bounds of which nothing but the mean is known.

    The distribution of largest entropy has the density exp(t x); Newton's method finds t.
    """
    centres, widths = (EDGES[1:] + EDGES[:-1]) / 2, np.diff(EDGES)
    goal = np.clip((means - lower) / np.maximum(upper - lower, TINY), centres[0], centres[-1])
    tilt = np.zeros(means.shape)
    for _ in range(TILT_STEPS):
        log = tilt[..., None] * centres
        weights = np.exp(log - log.max(axis=-1, keepdims=True)) * widths
        weights /= weights.sum(axis=-1, keepdims=True)
        mean = weights @ centres
        variance = np.maximum(weights @ centres**2 - mean**2, TINY)
        tilt = np.clip(tilt + np.clip((goal - mean) / variance, -5, 5), -STEEPEST, STEEPEST)
    return weights


def quantile(weights: Array, lower: Array, upper: Array, level: Array | float) -> Array:
    """Return which degrees between bounds a share `level` is below, by their probabilities."""
    below = np.cumsum(weights, axis=-1)
    level = np.broadcast_to(level, lower.shape)[..., None]
    at = np.minimum((below < level).sum(axis=-1, keepdims=True), GRID - 1)
    before = np.take_along_axis(below - weights, at, -1)
    share = (level - before) / np.maximum(np.take_along_axis(weights, at, -1), TINY)
    place = EDGES[at] + np.clip(share, 0, 1) * (EDGES[at + 1] - EDGES[at])
    return lower + (upper - lower) * place[..., 0]


def shortest(weights: Array, lower: Array, upper: Array, coverage: float) -> tuple[Array, Array]:
    """Return the ends of the shortest of three intervals that hold a share `coverage`.

    One begins at the lower bound, one ends at the upper bound, one leaves as much at either side.
    """
    starts = np.array([0.0, (1 - coverage) / 2, 1 - coverage])
    ends = [
        [quantile(weights, lower, upper, level) for level in (start, start + coverage)]
        for start in starts
    ]
    low, high = np.moveaxis(np.array(ends), 1, 0)
    best = (high - low).argmin(axis=0)[None]
    return np.take_along_axis(low, best, 0)[0], np.take_along_axis(high, best, 0)[0]


def _given_sums(spread: Array, rows: PartialRows) -> Array:
    """Return the variances that are left once the sums of parts of rows are known."""
    variance = np.where(rows.holes, spread, 0)
    for cells, _ in rows.parts:
        whole = np.where(cells, variance, 0).sum(axis=1, keepdims=True)
        share = variance / np.maximum(whole, TINY**2)
        variance = np.where(cells, variance * np.maximum(1 - share, 0), variance)
    return variance


def evenly(n: int, most: int) -> Array:
    """Return the numbers of at most `most` of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)


def count_known(y: Array, weights: Array | None = None) -> float:
    """Return how many cells `PartialRows.cells` knows, each counting as much as its row."""
    rows = PartialRows(y)
    known = (~rows.holes).sum(axis=1) + rows.partial
    return float(known.sum() if weights is None else weights @ known)


def quantiles(y: Array, level: float, weights: Array | None = None) -> Array:
    """Return a quantile of the observed degrees of each label, each counting as much as its row.

    Whole-number weights give what rows repeated as often would: positions between two degrees
    are interpolated. Weights that are smaller than 1 on average are scaled up to that. Every label
    is observed somewhere.
    """
    if weights is None:
        return np.nanquantile(y, level, axis=0)
    return np.array([_quantile(column, level, weights) for column in y.T])


def _quantile(column: Array, level: float, weights: Array) -> float:
    seen = np.flatnonzero(~np.isnan(column))
    order = seen[np.argsort(column[seen], kind="stable")]
    ends = np.cumsum(weights[order] / min(weights.mean(), 1.0))
    at = level * max(ends[-1] - 1, 0)  # repeated rows are numbered 0, 1, ...
    below, above = np.searchsorted(ends, [np.floor(at), np.ceil(at)], side="right")
    low, high = column[order[[below, min(above, len(order) - 1)]]]
    return float(low + (at - np.floor(at)) * (high - low))


def mean_degrees(y: Array, weights: Array | None = None) -> Array:
    """Return the mean of the observed degrees of each label, each counting as much as its row.

    It is 0 for a label that is nowhere observed.
    """
    seen = ~np.isnan(y)
    known = np.where(seen, y, 0)
    if weights is None:
        return known.sum(axis=0, dtype=float) / np.maximum(seen.sum(axis=0), 1)
    count = weights @ seen
    return weights @ known / np.where(count > 0, count, 1)
