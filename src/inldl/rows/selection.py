r"""Degrees that are missing because of their size: what is expected of them.

The degrees of label j are taken to have a gamma distribution of mean :math:`m_j` and variance
:math:`\theta_j m_j`, and a degree d to be observed with the probability

.. math:: s(d) = \frac{1}{1 + \exp(-a - b \log(C d + 0.1))}

so that b > 0 hides small degrees, b < 0 large ones. If only the largest degrees of a row are
recorded, a hole is also at most the smallest of them. A hole then has the density
:math:`\Gamma(d) (1 - s(d))` below that bound; its mean and variance are sums over a grid. What the
means of a row lack to its sum is shared out in proportion to the variances. These steps, and new
estimates of m, theta, a and b from the rows so filled, are repeated (expectation-maximisation).
Labels that are rarely among the largest remain little known, so what is filled in then lies half
way to an even split.
"""

from dataclasses import dataclass

import numpy as np

from inldl.rows.missingness import bounds_of_largest, hidden_mass
from inldl.rows.partial import PartialRows

Array = np.ndarray

LEVEL = 0.01  # p values below it count as evidence
SMALL_EFFECT = 0.05  # of the expected mass: less is certain in a long table, but of no importance
FEWEST = 30  # rows with holes that can tell why degrees are missing
CONSISTENT = 0.995  # share of them that must not contradict
EQUALLY_MANY = 0.95  # share of them that have the same number of observed degrees
GRID = 48
STEPS, LEARN_ROWS = 30, 1000
STEEPEST = 8.0  # |b|: hides nearly all degrees below a size, and nearly none above it
TINY = 1e-9
BLOCK = 1 << 12  # rows that are filled at once


def mechanism_of(y: Array, fewest: int = FEWEST) -> str:
    """Return which degrees are missing: "random", "small", "large", or "rest".

    The last is where only the largest degrees of each row are recorded: no row contradicts it,
    and the hidden degrees are smaller than random ones would be. "random" is also what cannot be
    told, and where fewer than `fewest` rows have holes. Degrees that the sum of a row gives are
    not missing.
    """
    mass = hidden_mass(y) if PartialRows(y).partial.sum() >= fewest else None
    if mass is None or mass.p_value >= LEVEL:
        return "random"
    if abs(mass.difference) < SMALL_EFFECT * mass.expected:
        return "random"
    if mass.difference > 0:
        return "large"
    return "rest" if _largest_recorded(y) else "small"


def _largest_recorded(y: Array) -> bool:
    """Say whether rows show their largest degrees only: as many in each, or all above a size.

    A single degree in each row may be chance, unless all rows have one.
    """
    recorded = (~np.isnan(y)).sum(axis=1)
    y, empty = y[PartialRows(y).partial], np.count_nonzero(recorded == 0)
    if np.isfinite(bounds_of_largest(y)).mean() < CONSISTENT:
        return False
    recorded = (~np.isnan(y)).sum(axis=1)
    counts = np.bincount(recorded)
    n_rows = len(y) + (empty if counts.argmax() == 1 else 0)
    mean_hole = (1 - np.nansum(y, axis=1)) / (y.shape[1] - recorded)
    above_a_size = (mean_hole <= np.nanmin(y)).mean() >= CONSISTENT
    return bool(counts.max() >= EQUALLY_MANY * n_rows or above_a_size)


@dataclass(frozen=True, eq=False)
class Selection:
    """How degrees are distributed, and which of them are missing."""

    mean: Array  # (n_labels,) m
    scale: Array  # (n_labels,) theta
    intercept: float  # a
    slope: float  # b
    bounded: bool  # whether only the largest degrees of a row are recorded
    largest: float  # the largest degree that is thought possible

    @classmethod
    def learn(cls, y: Array, bounded: bool, prior: Array | None = None) -> "Selection":
        """Learn from rows with holes; `prior` are means for each of them, if they are known."""
        rows = np.flatnonzero(~np.isnan(y).all(axis=1))
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), LEARN_ROWS)).astype(int)]
        y, prior = y[rows], None if prior is None else prior[rows]
        holes = np.isnan(y)
        filled = PartialRows(y).evenly()
        share = np.clip(1 - holes.mean(), TINY, 1 - TINY)
        found = cls(
            filled.mean(axis=0),
            np.ones(y.shape[1]),
            float(np.log(share / (1 - share))),
            0.0,
            bounded,
            min(1.0, 1.05 * float(np.nanmax(y))),
        )._estimated(holes, filled, np.zeros(y.shape), prior)
        for _ in range(STEPS):
            found = found._estimated(holes, *found._expected(y, prior), prior)
        return found

    def _estimated(
        self, holes: Array, filled: Array, variance: Array, prior: Array | None
    ) -> "Selection":
        """Return new estimates from filled rows and the variances of their holes."""
        mean = np.maximum(filled.mean(axis=0), 1e-4)
        around = mean if prior is None else np.maximum(prior, 1e-4)
        scale = (((filled - around) ** 2 + variance) / around).mean(axis=0) + 1e-7
        a, b = self.intercept, self.slope
        x, seen = logarithm(filled, filled.shape[1]).ravel(), ~holes.ravel()
        for _ in range(2):  # steps of Newton's method for a logistic regression
            p = _sigmoid(a + b * x)
            weight = p * (1 - p) + TINY
            wx = weight * x
            products = np.array([[weight.sum(), wx.sum()], [wx.sum(), wx @ x]])
            step = np.linalg.solve(products + 1e-6 * np.eye(2), [(seen - p).sum(), (seen - p) @ x])
            a += float(np.clip(step[0], -2, 2))
            b = float(np.clip(b + np.clip(step[1], -1, 1), -STEEPEST, STEEPEST))
        return Selection(mean, scale, a, b, self.bounded, self.largest)

    def bounds(self, y: Array) -> Array:
        """Return what the holes of each row cannot exceed, as a column."""
        rest = np.maximum(1 - np.nansum(y, axis=1), 0)
        return (np.minimum(rest, bounds_of_largest(y)) if self.bounded else rest)[:, None]

    def fill(self, y: Array, prior: Array | None = None) -> tuple[Array, Array]:
        """Return rows without holes, and the variances of what was filled in.

        `prior` is what is expected of each row; the means of the labels by default.
        """
        filled, variance = self._expected(y, prior)
        if self.bounded:
            filled = (filled + PartialRows(y).evenly()) / 2
        return filled, variance

    def _expected(self, y: Array, prior: Array | None) -> tuple[Array, Array]:
        """Return rows filled with what is expected, and the variances of that."""
        out, variance = y.astype(np.float64), np.zeros(y.shape)
        missing = np.flatnonzero(np.isnan(y).any(axis=1))
        for at in range(0, len(missing), BLOCK):
            rows = missing[at : at + BLOCK]
            means = self.mean if prior is None else prior[rows]
            means = np.broadcast_to(np.maximum(means, 1e-4), y[rows].shape)
            bounds = self.bounds(y[rows])
            expected, spread = self._moments(means, bounds)
            out[rows], variance[rows] = _fitted(y[rows], expected, spread, bounds)
        return out, variance

    def _moments(self, means: Array, bounds: Array) -> tuple[Array, Array]:
        """Return the means and variances of hidden degrees below their bounds."""
        edges = np.linspace(0, 1, GRID + 1) ** 2 * self.largest
        grid, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        hidden = 1 - _sigmoid(self.intercept + self.slope * logarithm(grid, means.shape[1]))
        log = np.log(np.maximum(hidden, 1e-12) * width)
        shape = np.maximum(means / self.scale, 0.05)[..., None]
        log = (shape - 1) * np.log(grid) - grid / self.scale[:, None] + log
        log[np.broadcast_to(grid > np.maximum(bounds, grid[0])[..., None], log.shape)] = -np.inf
        log -= log.max(axis=-1, keepdims=True)
        weights = np.exp(log, out=log)
        weights /= weights.sum(axis=-1, keepdims=True)
        expected = weights @ grid
        return expected, np.maximum(weights @ grid**2 - expected**2, 0)


def _fitted(y: Array, expected: Array, spread: Array, bounds: Array) -> tuple[Array, Array]:
    """Return rows that sum to 1, and the variances that are left; holes are within bounds."""
    holes = np.isnan(y)
    rest = np.maximum(1 - np.nansum(y, axis=1, keepdims=True), 0)
    filled = np.where(holes, np.minimum(expected, bounds), 0)
    for _ in range(4):
        lacking = rest - filled.sum(axis=1, keepdims=True)
        room = np.where(lacking > 0, bounds - filled, filled)
        share = np.where(holes & (room > 0), spread + TINY, 0)
        share /= np.maximum(share.sum(axis=1, keepdims=True), TINY)
        filled = np.where(holes, np.clip(filled + share * lacking, 0, bounds), 0)
    total = filled.sum(axis=1, keepdims=True)
    room = np.where(holes, bounds - filled, 0)
    more = np.maximum(rest - total, 0) / np.maximum(room.sum(axis=1, keepdims=True), TINY)
    less = np.where(total > rest, rest / np.maximum(total, TINY), 1)
    filled = np.minimum(filled * less + room * more, bounds)
    variance = np.where(holes, spread, 0)
    variance *= 1 - variance / np.maximum(variance.sum(axis=1, keepdims=True), TINY**2)
    return np.where(holes, filled, y), variance


def logarithm(degrees: Array, n_labels: int) -> Array:
    """Return the sizes of degrees on the scale that decides whether they are missing."""
    return np.log(n_labels * degrees + 0.1)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -500, 500)))
