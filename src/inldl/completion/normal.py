"""Fill holes with what is expected of normal rows, given what is known of them.

The errors of the prediction are taken as normal around a linear function of the prediction and of
a few features. It is fitted by expectation maximisation [1]_: the holes are filled with what is
expected of them, and the function and the covariance are estimated from the filled rows, in turns.

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
    centred,
    error_covariance,
    given_observed,
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

    @classmethod
    def learn(cls, training: Any) -> Self:
        """Learn from rows and predictions."""
        return cls(training.rows, training.predicted)

    def __init__(self, rows: PartialRows, predicted: Array, work: float = NORMAL_WORK) -> None:
        n_labels = rows.y.shape[1]
        some = evenly_spaced(len(rows), int(min(NORMAL_ROWS, work // n_labels**3)))
        self._mean, self._unit = predicted.mean(axis=0), predicted.std(axis=0).max() + TINY**0.5
        self._axes = self._ends = None
        if rows.features is not None:
            self._axes, self._ends = principal_axes(rows.features), _reach(rows.features)
        known, errors = self._known(predicted, rows), rows.y - predicted
        self.coef, self.covariance = np.zeros((known.shape[1], n_labels)), error_covariance(errors)
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
            self.covariance = _averaged(apart.T @ apart + left, len(errors))

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, Array]:
        """Return completed rows, and the variances of their errors."""
        mean = predicted + self._known(predicted, rows) @ self.coef
        expected, variance = given_observed(rows.y, mean, self.covariance)
        return rows.project(expected, variance + TINY), variance


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


def _averaged(products, n):
    """Return the covariance of n errors of sum 0, drawn a little towards unrelated ones."""
    unrelated = unrelated_errors(np.maximum(np.diag(products) / n, LEAST_ERROR_VARIANCE))
    mixed = centred((products + PRIOR_ROWS * unrelated) / (n + PRIOR_ROWS))
    return (mixed + mixed.T) / 2
