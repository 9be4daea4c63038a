"""Draw completed rows at random, as far from each other as completing is unsure of them.

A draw is the completed row, moved by an error that all rows have in common and by one of its own,
and projected onto what is possible.
"""

import numpy as np

from inldl import _kernels
from inldl.solvers.completion import given_observed

TRIALS = 16  # pairs of errors on which moves and scales are fitted
STEPS = 10  # of the fit
LEAST, MOST = 0.5, 4.0  # scale of a row's errors
ENOUGH = 3  # errors for each number that may tell them; their mean alone is told by fewer
BISECTIONS = 30
NUMBERS = 4_000_000  # that are held at once
TINY = float(np.finfo(float).tiny) ** 0.5


class SharedErrors:
    """Errors that completed rows have in common, as all were learned from the same rows.

    The held-out errors of each label are regressed on what is known before. Had other rows been
    drawn from the same source, the coefficients would be others. How much they vary is told by
    weights of the rows that are drawn at random (the Bayesian bootstrap).

    Parameters
    ----------
    known : ndarray of shape (m, q)
        What may tell an error before it is known; the first is 1.
    row, label : ndarray of int of shape (m,)
        Where each error is.
    errors : ndarray of shape (m,)
        The errors.
    n_labels : int
        Number of labels.
    """

    def __init__(self, known, row, label, errors, n_labels):
        self._n_rows, self._labels = int(row.max()) + 1, []
        for j in range(n_labels):
            at = label == j
            told = known[at] * ([1] + [at.sum() >= ENOUGH * known.shape[1]] * (known.shape[1] - 1))
            self._labels.append((row[at], np.linalg.pinv(told, rcond=1e-6) * errors[at]))

    def draw(self, known, n_draws, generator):
        """Return errors of shape (n_draws, n, n_labels) for rows of which so much is known."""
        weights = generator.exponential(size=(n_draws, self._n_rows)) - 1
        return np.stack([weights[:, row] @ pulls.T @ known.T for row, pulls in self._labels], -1)


def own_errors(y, covariance, n_draws, generator):
    """Draw normal errors of the holes of rows, given that the other degrees have none.

    A normal vector minus what is expected of it once its observed part is known has just the
    covariance that is left at the holes.

    Returns
    -------
    ndarray of shape (n_draws, n, n_labels)
        With variance 1, and 0 where y is observed.
    """
    n, n_labels = y.shape
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    errors = generator.standard_normal((n_draws * n, n_labels)) @ root.T
    holes = np.tile(np.isnan(y), (n_draws, 1))
    expected, variance = given_observed(
        np.where(holes, np.nan, errors), np.zeros(errors.shape), covariance
    )
    errors = np.where(holes, errors - expected, 0) / np.sqrt(np.maximum(variance, TINY))
    return errors.reshape(n_draws, n, n_labels)


def draw_rows(y, filled, spread, shared, errors, most=None):
    """Return draws of rows that have several holes.

    Parameters
    ----------
    y : ndarray of shape (n, C)
        Degrees, NaN = unobserved; each row leaves something to two holes at least.
    filled : ndarray of shape (n, C)
        The completed rows: the means of the draws.
    spread : ndarray of shape (n, C)
        Standard deviations of the draws, as far as degrees that are not negative can have them.
    shared : ndarray of shape (n_draws, n, C)
        Errors that rows have in common.
    errors : ndarray of shape (TRIALS + n_draws, n, C)
        Errors of their own, of variance 1.
    most : ndarray of shape (n, 1), optional
        What no hole of a row exceeds; what the row leaves to them by default.

    Returns
    -------
    ndarray of shape (n_draws, n, C)
    """
    holes, rest = np.isnan(y), 1 - np.nansum(y, axis=1)
    possible = holes, rest, most
    mean, spread = np.where(holes, filled, 0), np.where(holes, spread, 0)
    errors, shared = (_of_sum_0(each, spread) for each in (errors * spread, shared * holes))
    trials, errors = errors[:TRIALS], errors[TRIALS:]
    move, scale = _fitted(mean, spread, np.concatenate([trials, -trials]), *possible)
    draws = _projected(mean + move + scale * errors + shared, *possible)
    return np.where(holes, draws, y)


def _of_sum_0(errors, spread):
    """Return errors whose rows sum to 0; what they lack goes to labels that vary most."""
    share = spread**2 / np.maximum((spread**2).sum(axis=1, keepdims=True), TINY)
    return errors - share * errors.sum(axis=2, keepdims=True)


def _fitted(mean, spread, errors, holes, rest, most):
    """Return a move of each degree, and a scale of the errors of each row.

    Projecting onto degrees that are not negative raises the small ones and cuts errors short.
    With move and scale the projected trials have the mean and the total variance that they should.
    """
    largest = rest[:, None] if most is None else most
    possible = mean * np.maximum(largest - mean, 0)  # of a degree between 0 and the largest
    target = np.minimum(spread**2, possible).sum(axis=1)
    move, scale = np.zeros(mean.shape), np.ones((len(mean), 1))
    for _ in range(STEPS):
        draws = _projected(mean + move + scale * errors, holes, rest, most)
        variance = ((draws - mean) ** 2).mean(axis=0).sum(axis=1)
        ratio = np.sqrt((target + TINY) / (variance + TINY))[:, None]
        move += np.where(holes, mean - draws.mean(axis=0), 0)
        scale = np.clip(scale * ratio, LEAST, MOST)
    return move, scale


def _projected(rows, holes, rest, most):
    """Return rows whose holes are not negative and sum to the rest, and that are 0 elsewhere."""
    if most is not None:
        return _projected_below(rows, holes, rest[:, None], most)
    columns = np.where(holes, rows, -np.inf).reshape(-1, rows.shape[-1]).T.copy(order="C")
    _kernels.project_columns(columns, np.tile(rest, len(rows)))
    return np.where(holes, columns.T.reshape(rows.shape), 0)


def _projected_below(rows, holes, rest, most):
    """Return the same where no hole exceeds `most`: less a threshold, which bisection finds."""

    def less(threshold):
        return np.where(holes, np.clip(rows - threshold, 0, most), 0)

    low = np.where(holes, rows, np.inf).min(axis=-1, keepdims=True) - most
    high = np.where(holes, rows, -np.inf).max(axis=-1, keepdims=True)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = less(middle).sum(axis=-1, keepdims=True) > rest
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    out = less(high)
    room = np.where(holes, most - out, 0)
    lack = np.maximum(rest - out.sum(axis=-1, keepdims=True), 0)
    return out + room * np.minimum(lack / np.maximum(room.sum(axis=-1, keepdims=True), TINY), 1)
