r"""How degrees are distributed: means and quantiles of observed ones, and a density of the others.

The degrees of label j are taken to have a gamma distribution of mean :math:`m_j`, or of what is
predicted for the row, and variance :math:`\theta_j` times the mean. A hole has that density
between its bounds; its mean and variance are sums over a grid. Where sizes decide what is missing,
a degree d is observed with the probability

.. math:: s(d) = \frac{1}{1 + \exp(-a - b \log(C d + 0.1))}

so that b > 0 hides small degrees, b < 0 large ones; the density of a hole is then multiplied by
:math:`1 - s(d)`. What the means of a row lack to its sum, or to that of a group, is shared out in
proportion to the variances, within the bounds. These steps and new estimates of m, theta, a and b
from the rows so filled are repeated (expectation-maximisation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from inldl.rows.grid import (
    CENTRES,
    LEAST_VARIANCE,
    SMALLEST_MEAN,
    WIDTHS,
    GridDensity,
    Tail,
    censored,
    normalised,
)
from inldl.rows.partial import PartialRows

Array = np.ndarray

EM_STEPS, EM_ROWS = 30, 1000
LEAST_SHAPE = 0.05
STEEPEST_SELECTION = 8.0  # |b|: hides nearly all degrees below a size, and nearly none above it
PRIOR_ERRORS = 20  # squared errors of all labels that those of each label are averaged with
FILL_ROWS = 1 << 12  # that are filled at once


@dataclass(frozen=True)
class Selection:
    """Which degrees are observed, by their sizes."""

    intercept: float  # a
    slope: float  # b
    largest: float  # the largest degree that is thought possible

    @classmethod
    def start(cls, rows: PartialRows) -> Selection:
        """Return that sizes decide nothing."""
        share = np.clip(1 - rows.holes.mean(), 1e-9, 1 - 1e-9)
        largest = min(1.0, 1.05 * float(np.nanmax(rows.y)))
        return cls(float(np.log(share / (1 - share))), 0.0, largest)

    def log_hidden(self, degrees: Array, n_labels: int) -> Array:
        """Return the logarithms of the probabilities that degrees are missing."""
        hidden = 1 - expit(self.intercept + self.slope * log_size(degrees, n_labels))
        return np.log(np.maximum(hidden, LEAST_VARIANCE))

    def updated(self, holes: Array, filled: Array) -> Selection:
        """Return new estimates by two Newton steps of a logistic regression on filled rows."""
        a, b = self.intercept, self.slope
        x, seen = log_size(filled, filled.shape[1]).ravel(), ~holes.ravel()
        for _ in range(2):
            p = expit(a + b * x)
            weight = p * (1 - p) + 1e-9
            wx = weight * x
            products = np.array([[weight.sum(), wx.sum()], [wx.sum(), wx @ x]])
            step = np.linalg.solve(products + 1e-6 * np.eye(2), [(seen - p).sum(), (seen - p) @ x])
            a += float(np.clip(step[0], -2, 2))
            b += float(np.clip(step[1], -1, 1))
            b = float(np.clip(b, -STEEPEST_SELECTION, STEEPEST_SELECTION))
        return replace(self, intercept=a, slope=b)


def log_size(degrees: Array, n_labels: int) -> Array:
    """Return the sizes of degrees on the scale that decides whether they are missing."""
    return np.log(n_labels * degrees + 0.1)


@dataclass(frozen=True, eq=False)
class GammaDegrees:
    """How degrees that are not observed are distributed between their bounds."""

    mean: Array  # (n_labels,) m
    scale: Array  # (n_labels,) theta
    selection: Selection | None = None  # if sizes decide what is missing
    tail: Tail | None = None  # of degrees below limits, if none of them was observed

    @classmethod
    def learn(
        cls, rows: PartialRows, prior: Array | None = None, *, by_size: bool = False
    ) -> GammaDegrees:
        """Learn from rows with holes, which are missing by their size if `by_size`.

        `prior` are predictions of the rows, if there are any.
        """
        known = np.flatnonzero(~rows.holes.all(axis=1)) if by_size else np.arange(len(rows))
        some = known[evenly_spaced(len(known), EM_ROWS)]
        rows, prior = rows.take(some), None if prior is None else prior[some]
        low, high = rows.possible
        filled, variance = rows.project((low + high) / 2), np.zeros(rows.y.shape)
        selection = Selection.start(rows) if by_size else None

        def estimate(selection: Selection | None) -> GammaDegrees:
            mean = np.maximum(filled.mean(axis=0), SMALLEST_MEAN)
            around = mean if prior is None else np.maximum(prior, SMALLEST_MEAN)
            scale = (((filled - around) ** 2 + variance) / around).mean(axis=0) + 1e-7
            return cls(mean, scale, selection and selection.updated(rows.holes, filled))

        learned = estimate(selection)
        for _ in range(EM_STEPS):
            filled, variance = learned.fill(rows, prior)
            learned = estimate(learned.selection)
        return learned

    @classmethod
    def of_errors(
        cls,
        expected: Array,
        degrees: Array,
        label: Array,
        n_labels: int,
        tail: Tail | None = None,
    ) -> GammaDegrees:
        """Learn from degrees (m,), their labels, and what was expected of them."""
        ratio = (degrees - expected) ** 2 / np.maximum(expected, SMALLEST_MEAN)
        mean = ratio.mean() if len(ratio) else 1.0
        count, sums = (np.bincount(label, w, minlength=n_labels) for w in (None, ratio))
        scale = (sums + PRIOR_ERRORS * mean) / (count + PRIOR_ERRORS)
        return cls(np.zeros(n_labels), scale + 1e-7, tail=tail)

    def between(self, means: Array, lower: Array, upper: Array) -> GridDensity:
        """Return the density of degrees of some means between bounds, each (n, n_labels)."""
        if self.selection is not None:
            upper = np.maximum(np.minimum(upper, self.selection.largest), lower)
        grid = lower[..., None] + (upper - lower)[..., None] * CENTRES
        shape = np.maximum(means / self.scale, LEAST_SHAPE)[..., None]
        log = (shape - 1) * np.log(np.maximum(grid, LEAST_VARIANCE)) - grid / self.scale[:, None]
        if self.selection is not None:
            log += self.selection.log_hidden(grid, means.shape[1])
        return GridDensity(lower, upper, normalised(log))

    def fill(
        self, rows: PartialRows, prior: Array | None = None, at_once: int = FILL_ROWS
    ) -> tuple[Array, Array]:
        """Return rows filled with what is expected of their holes, and the variances of that."""
        out, variance = rows.y.astype(np.float64), np.zeros(rows.y.shape)
        missing = np.flatnonzero(rows.holes.any(axis=1))
        for start in range(0, len(missing), at_once):
            some = missing[start : start + at_once]
            part = rows.take(some)
            means = self.mean if prior is None else prior[some]
            means = np.broadcast_to(np.maximum(means, SMALLEST_MEAN), part.y.shape)
            expected, spread = self.between(means, *part.possible).moments()
            spread = np.where(part.holes, spread, 0) + LEAST_VARIANCE
            out[some] = part.project(expected, spread)
            variance[some] = _given_sums(spread, part)
        return out, variance

    def fill_around(self, expected: Array, rows: PartialRows) -> Array:
        """Return rows within their bounds and sums, given what is expected without these.

        If degrees between such bounds were observed, a hole gets its mean between its bounds. If
        not, `expected` was learned from rows with the same bounds and knows about them, but for
        degrees below limits, which get the mean of their tail.
        """
        mean, variance = self._around(expected, rows).moments()
        if self.tail is not None:
            within = np.clip(expected, *rows.possible)
            mean = np.where(censored(rows), (mean + within) / 2, expected)
        return rows.project(mean, variance + LEAST_VARIANCE)

    def intervals(
        self,
        expected: Array,
        lower: Array,
        upper: Array,
        rows: PartialRows,
        coverage: Array | float,
    ) -> tuple[Array, Array, Array]:
        """Return rows within their bounds and sums, and the ends of intervals.

        Holes without limits keep the intervals around what is expected of them, as far as the
        limits of the others allow.
        """
        filled = self.fill_around(expected, rows)
        ends = self._around(expected, rows).shortest(coverage)
        lower, upper = (
            np.clip(np.where(rows.limited, end, given), *rows.possible)
            for end, given in zip(ends, (lower, upper), strict=True)
        )
        return filled, np.minimum(lower, filled), np.maximum(upper, filled)

    def draw(
        self, expected: Array, rows: PartialRows, n_draws: int, generator: np.random.Generator
    ) -> Array:
        """Return rows at random, as many of each as there are draws."""
        density = self._around(expected, rows)
        levels = (generator.uniform(size=expected.shape) for _ in range(n_draws))
        values = (density.quantile(level) for level in levels)
        return np.array([rows.project(each, each + LEAST_VARIANCE) for each in values])

    def _around(self, expected: Array, rows: PartialRows) -> GridDensity:
        """Return the density of degrees within their limits."""
        found = self.between(np.maximum(expected, SMALLEST_MEAN), *rows.possible)
        if self.tail is None:
            return found
        below = self.tail.density(expected, rows).weights
        weights = np.where(censored(rows)[..., None], below, WIDTHS)
        return replace(found, weights=weights).given_sums(rows)


def _given_sums(spread: Array, rows: PartialRows) -> Array:
    """Return the variances that are left once the sums of parts of rows are known."""
    variance = np.where(rows.holes, spread, 0)
    for cells, *_ in rows.parts:
        whole = np.where(cells, variance, 0).sum(axis=1, keepdims=True)
        share = variance / np.maximum(whole, LEAST_VARIANCE**2)
        variance = np.where(cells, variance * np.maximum(1 - share, 0), variance)
    return variance


def evenly_spaced(n: int, most: int) -> Array:
    """Return the numbers of at most `most` of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)


def count_known(y: Array, weights: Array | None = None) -> float:
    """Return how many cells `PartialRows.cells` knows, each counting as much as its row."""
    rows = PartialRows(y)
    known = (~rows.holes).sum(axis=1) + rows.partial
    return float(known.sum() if weights is None else weights @ known)


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


def constant_distribution(rows: PartialRows, **how: Any) -> Array:
    """Return the distribution that, predicted for every row, agrees best with its ratios.

    It is the mean of the rows, completed and scaled by itself; `how` are options of `fixed_point`.
    """
    rows, n_labels = replace(rows, y=rows.ratios), rows.y.shape[1]
    return fixed_point(partial(sum_completed, rows), n_labels, **how)


def sum_completed(rows: PartialRows, p: Array) -> tuple[Array, float]:
    """Return the sum of the rows that have ratios, completed by a distribution p; their count.

    Rows count by their weights.
    """
    known = np.where(rows.holes, 0, rows.y)
    some = known.any(axis=1) * (1.0 if rows.weight is None else rows.weight)
    completed = np.where(rows.holes, p, known * rows.scales(p)[:, None])
    return some @ completed, float(some.sum())


def fixed_point(
    completed: Callable[[Array], Any], n_labels: int, rounds: int = 50, small_change: float = 1e-4
) -> Array:
    """Return the distribution p that is the mean of all rows if they are completed by p.

    `completed(p)` returns the sum of the rows, and how many they are; then perhaps more.
    """
    p = np.full(n_labels, 1 / n_labels)
    for _ in range(rounds):
        total, count, *_ = completed(p)
        before, p = p, total / max(count, 1)
        if np.abs(p - before).max() < small_change:
            break
    return p


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
