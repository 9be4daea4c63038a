"""Fill holes with what is expected of normal rows, given what is known of them.

The errors of the prediction are taken as normal on some scale (shares, their roots or logarithms),
around a linear function of the prediction and of a few features. It is fitted by expectation
maximisation [1]_: the holes are filled with what is expected of them, and the function and the
covariance are estimated from the filled rows, in turns.

.. [1] A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum Likelihood from Incomplete Data via
   the EM Algorithm", Journal of the Royal Statistical Society B 39(1), 1977.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from inldl.rows.density import evenly_spaced
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import (
    TINY,
    LogScale,
    RootScale,
    ShareScale,
    centred,
    error_covariance,
    given_observed,
    pairwise_covariance,
    unrelated_errors,
)
from inldl.uncertainty.draws import principal_axes

Array = np.ndarray
NORMAL_STEPS = 12  # of expectation maximisation
NORMAL_ROWS = 2000  # that take part at most
NORMAL_WORK = 2e7  # rows times the cube of the labels, at most
ROWS_FOR_LABEL = 4  # at least; without them the covariance of pairs is all that is learned
PENALTY = 20.0  # rows that say that the prediction is right as it is
PRIOR_ROWS = 5.0  # rows that say that errors have nothing to do with each other
FEWEST_PAIRS, FEWEST_SCORES = 3, 50  # of labels known together; of hidden counts of a label
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of what is expected of normal errors
LEAST_KNOWN_SHARE = 1e-6  # whose logarithm is taken
EM_NOISE = 1e-4  # of the mean variance: keeps the inverse of a covariance within bounds
LEAST_ERROR_VARIANCE = 1e-30  # variance


class Normal:
    """Fill with what is expected if the errors of the prediction are normal.

    Parameters
    ----------
    rows : PartialRows
        The rows; features that they have are used.
    predicted : ndarray of shape (n, n_labels)
        Predictions that were made without them.
    work : float
        It learns from as many rows as stay below it, times the cube of the labels.

    Attributes
    ----------
    coef : ndarray of shape (r, n_labels)
        With what is known of a row they give the expected error of its prediction.
    covariance : ndarray of shape (n_labels, n_labels)
        Of the errors around that.
    """

    name, safe, follows = "normal", 0.5, False
    kind: type[ShareScale] = ShareScale
    median = False  # whether holes get their median, which is right for ratios, and not their mean

    @classmethod
    def learn(cls, training: Any) -> Self:
        """Learn from rows and predictions."""
        found = cls(training.rows, training.predicted)
        found.median = isinstance(training.scale, LogScale)
        return found

    def __init__(self, rows: PartialRows, predicted: Array, work: float = NORMAL_WORK) -> None:
        n_labels, self.scale = rows.y.shape[1], self.kind(rows.y)
        some = evenly_spaced(len(rows), int(min(NORMAL_ROWS, work // n_labels**3)))
        predicted, y = self.scale.of(predicted), self.scale.of(rows.y)
        self._mean, self._unit = predicted.mean(axis=0), predicted.std(axis=0).max() + TINY**0.5
        self._axes = self._ends = None
        if rows.features is not None:
            self._axes, self._ends = principal_axes(rows.features), _reach(rows.features)
        known, errors = self._known(predicted, rows), y - predicted
        covariance = error_covariance if self.scale.of_sum_0 else pairwise_covariance
        self.coef, self.covariance = np.zeros((known.shape[1], n_labels)), covariance(errors)
        if len(some) >= ROWS_FOR_LABEL * n_labels:
            self._fit(errors[some], known[some])

    def _known(self, predicted, rows):
        """Return 1, predictions and features, of mean 0 and about the same size."""
        known = [np.ones((len(predicted), 1)), (predicted - self._mean) / self._unit]
        if self._axes is not None:
            centre, axes = self._axes
            known.append((np.clip(rows.features, *self._ends) - centre) @ axes)
        return np.hstack(known)

    def _fit(self, errors, known):
        penalty = PENALTY * np.eye(known.shape[1])
        least_squares = np.linalg.solve(known.T @ known + penalty, known.T)
        for _ in range(NORMAL_STEPS):
            filled, left = _expected(errors, known @ self.coef, self.covariance)
            self.coef = least_squares @ filled
            apart = filled - known @ self.coef
            self.covariance = self._averaged(apart.T @ apart + left, len(errors))

    def _averaged(self, products, n):
        """Return the covariance of n errors, drawn a little towards unrelated ones."""
        variance = np.maximum(np.diag(products) / n, LEAST_ERROR_VARIANCE)
        unrelated = unrelated_errors(variance) if self.scale.of_sum_0 else np.diag(variance)
        mixed = (products + PRIOR_ROWS * unrelated) / (n + PRIOR_ROWS)
        mixed = centred(mixed) if self.scale.of_sum_0 else mixed
        return (mixed + mixed.T) / 2

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, Array]:
        """Return completed rows, and the variances of their errors."""
        mean, v = self.expected(rows, predicted)
        expected, variance = self.scale.moments(mean, v)
        if self.median:
            expected = self.scale.back(mean)
        return rows.project(expected, variance + TINY), variance

    def expected(self, rows: PartialRows, predicted: Array) -> tuple[Array, Array]:
        """Return what is expected of rows on the scale of the member, and the variances."""
        predicted = self.scale.of(predicted)
        mean = predicted + self._known(predicted, rows) @ self.coef
        return given_observed(self.scale.of(rows.y), mean, self.covariance)


class RootNormal(Normal):
    """Fill with what is expected if the errors of square roots are normal."""

    name, safe, kind = "root normal", 0.25, RootScale


class LogNormal(Normal):
    """Fill with what is expected if the errors of logarithms are normal."""

    name, safe, kind = "log normal", 0.0, LogScale


class LogCounts:
    """Fill holes of whole counts whose totals are not known.

    The logarithm of a count is that of its total, of its predicted share and of how far this is
    off in general, plus errors that labels share and the noise of a Poisson distribution. The
    total is estimated by generalised least squares, a missing count from the known ones of its
    row. It is mixed with what the mean shares give, by a weight that suits hidden counts.

    Attributes
    ----------
    offset, covariance : ndarray of shape (n_labels,), (n_labels, n_labels)
        How far predicted shares are off, as logarithms, and the covariance of the rest.
    truth, found, plain, label : ndarray of shape (m,)
        Known counts that were hidden, what was filled in, what the means of the shares give, and
        their labels.
    scores : ndarray of shape (m,)
        How far the logarithms were off, in standard deviations.
    """

    def __init__(self, counts: Array, predicted: Array) -> None:
        seen, sums = ~np.isnan(counts), np.nansum(counts, axis=1, keepdims=True)
        self.means = np.nanmean(counts / np.fmax(sums, 1), axis=0)
        apart = np.log(counts + 0.5) - _log(predicted)
        self.offset, noise = np.zeros(counts.shape[1]), np.where(seen, 1 / (counts + 0.5), np.nan)
        for _ in range(NORMAL_STEPS):
            rows = np.nanmean(apart - self.offset, axis=1, keepdims=True)
            self.offset = np.nanmean(apart - rows, axis=0)
        apart -= self.offset
        pairs = (apart[:, :, None] - apart[:, None]) ** 2 - noise[:, :, None] - noise[:, None]
        both = (seen[:, :, None] & seen[:, None]).sum(axis=0)
        variation = np.nansum(pairs, axis=0) / np.maximum(both, 1)
        np.fill_diagonal(variation, 0)
        usual = max(float(np.median(variation[both >= FEWEST_PAIRS], axis=None)), EM_NOISE)
        variation = np.where(both < FEWEST_PAIRS, usual, np.maximum(variation, 0))
        np.fill_diagonal(variation, 0)
        sizes, axes = np.linalg.eigh(-centred(variation) / 2)
        self.covariance = (axes * np.maximum(sizes, EM_NOISE * usual)) @ axes.T
        self._hide(counts, predicted, seen)

    def _hide(self, counts: Array, predicted: Array, seen: Array) -> None:
        """Hide each known count of rows with another one, and keep how far off it is filled."""
        cells = np.argwhere(seen & (seen.sum(axis=1, keepdims=True) > 1))
        row, label = cells[evenly_spaced(len(cells), NORMAL_ROWS)].T
        at, left, predicted = (np.arange(len(row)), label), counts[row], predicted[row]
        self.truth, self.label = left[at].copy(), label
        left[at] = np.nan
        log, (normal, deviation) = np.log(self.truth + 0.5), self._expected(left, predicted)
        plain, deviation = np.log(self._in_proportion(left) + 0.5)[at], deviation[at]
        apart, few = log - plain, FEWEST_SCORES
        ranges = [apart if len(own) < few else own for own in self._of_labels(apart)]
        self.reach = np.array([[each.min(), each.max()] for each in ranges]).T
        mixes = [plain + w * (normal[at] - plain) for w in WEIGHTS]
        mixes = [plain + np.clip(each - plain, *self.reach[:, label]) for each in mixes]
        errors = [np.abs(np.exp(each) - np.exp(log)).mean() for each in mixes]
        self.weight, mixed = WEIGHTS[int(np.argmin(errors))], mixes[int(np.argmin(errors))]
        self.found, self.plain = np.exp(mixed) - 0.5, np.exp(plain) - 0.5
        n, n_labels = counts.shape
        self.scores = (log - mixed) / deviation * np.sqrt(n / max(n - n_labels, 1))

    def _of_labels(self, values: Array) -> list[Array]:
        """Return values at the hidden counts of each label."""
        return [values[self.label == j] for j in range(len(self.offset))]

    def _in_proportion(self, counts: Array) -> Array:
        """Return counts that are to the known ones of their row as the mean shares."""
        known = np.where(np.isnan(counts), 0, self.means).sum(axis=1, keepdims=True)
        return np.nansum(counts, axis=1, keepdims=True) * self.means / known

    def _expected(self, counts: Array, predicted: Array) -> tuple[Array, Array]:
        """Return what is expected of the logarithms of all counts, and its standard deviation."""
        seen, n = ~np.isnan(counts), counts.shape[1]
        base, noise = _log(predicted) + self.offset, 1 / (np.where(seen, counts, 0) + 0.5)
        blocks = np.where(seen[:, :, None] & seen[:, None], self.covariance, 0)
        blocks[:, np.arange(n), np.arange(n)] += np.where(seen, noise, 1)
        weights = np.linalg.inv(blocks) * (seen[:, :, None] & seen[:, None])
        apart, whole = np.where(seen, np.log(counts + 0.5) - base, 0), weights.sum(axis=(1, 2))
        total = np.einsum("nij,nj->n", weights, apart)[:, None] / whole[:, None]
        pulls = weights @ self.covariance  # (n, seen, wanted)
        mean = base + total + np.einsum("nij,ni->nj", pulls, apart - np.where(seen, total, 0))
        left = np.diag(self.covariance) - np.einsum("ij,nij->nj", self.covariance, pulls)
        left = left + (1 - pulls.sum(axis=1)) ** 2 / whole[:, None] + np.exp(-mean)
        return mean, np.sqrt(np.maximum(left, TINY))

    def fill(self, counts: Array, predicted: Array, coverage: float | None = None) -> tuple:
        """Return counts with their holes filled; with a coverage, the ends of intervals, too."""
        holes, (normal, deviation) = np.isnan(counts), self._expected(counts, predicted)
        plain = np.log(self._in_proportion(counts) + 0.5)
        mean = plain + np.clip(self.weight * (normal - plain), *self.reach)
        scores = self._of_labels(self.scores)
        times = np.array([self._times(own, coverage or 0.5) for own in scores])
        ends = [mean + np.array(side) * times * deviation for side in (0, -1, 1)]
        few = np.array([len(own) < FEWEST_SCORES for own in scores])
        beyond = self.reach + few * np.ptp(self.reach, axis=0) / 2 * [[-1], [1]]
        ends = [np.exp(plain + np.clip(each - plain, *beyond)) - 0.5 for each in ends]
        filled, low, high = (np.where(holes, np.maximum(each, 0), counts) for each in ends)
        return (filled,) if coverage is None else (filled, low, high)

    def _times(self, own: Array, coverage: float) -> float:
        """Return how many standard deviations intervals reach, given the scores of their label."""
        own = np.sort(np.abs(own if len(own) >= FEWEST_SCORES else self.scores))
        return float(own[min(int(np.ceil((len(own) + 1) * coverage)), len(own)) - 1])


def _log(shares):
    return np.log(np.maximum(shares, LEAST_KNOWN_SHARE))


def _reach(features):
    """Return how far a linear function of features is trusted: as far again as they were seen."""
    least, most = features.min(axis=0), features.max(axis=0)
    return 2 * least - most, 2 * most - least


def _expected(errors, mean, covariance):
    """Return errors with what is expected where they are NaN, and the sum of their covariances."""
    seen, n_labels = ~np.isnan(errors), len(covariance)
    both = seen[:, :, None] & seen[:, None, :]
    noise = EM_NOISE * np.trace(covariance) / n_labels + LEAST_ERROR_VARIANCE
    blocks = np.where(both, covariance, 0)
    blocks[:, np.arange(n_labels), np.arange(n_labels)] += np.where(seen, noise, 1)
    pulls = (np.linalg.inv(blocks) * both) @ covariance
    off = np.where(seen, errors - mean, 0)
    filled = np.where(seen, errors, mean + np.einsum("nij,ni->nj", pulls, off))
    return filled, len(errors) * covariance - covariance @ pulls.sum(axis=0)
