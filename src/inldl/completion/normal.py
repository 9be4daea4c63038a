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
