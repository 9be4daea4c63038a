"""What the sum of 1 says about the holes of y, and how holes are filled near a prediction."""

import numpy as np

from inldl import _kernels
from inldl._validation import sum_tolerance
from inldl.solvers.winldl import Array, closed


def fill_forced(y: Array) -> Array:
    """Return y, in double precision, with the unobserved degrees that leave no choice.

    One hole in a row is 1 minus the rest, or 0 if the rest is more than 1. Where the observed
    degrees sum to 1 already, every hole is 0.
    """
    y = closed(y.astype(np.float64))
    holes = np.isnan(y)
    rest = 1 - np.nansum(y, axis=1)
    y[holes & (rest <= sum_tolerance(y.dtype))[:, None]] = 0
    return y


def fill_near(y: Array, predicted: Array, spread: Array) -> Array:
    """Return y with its holes filled so that rows sum to 1, near what is predicted.

    What the predicted holes of a row lack to its sum is shared out in proportion to `spread`,
    the expected squared error of each label; then the holes are projected onto what is left.

    Parameters
    ----------
    y : ndarray of shape (n_samples, n_labels)
        Degrees in double precision, NaN = unobserved.
    predicted : ndarray of shape (n_samples, n_labels)
        Any finite numbers.
    spread : ndarray of shape (n_labels,)
        Positive numbers.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        `y` without holes, those of a row whose observed degrees sum to more than 1 being 0.
    """
    rest = 1 - np.nansum(y, axis=1)
    out = np.where(np.isnan(y) & (rest <= 0)[:, None], 0, y)
    rows = np.flatnonzero(np.isnan(out).any(axis=1))
    holes, rest = np.isnan(y[rows]), rest[rows]
    lacking = rest - np.where(holes, predicted[rows], 0).sum(axis=1)
    share = holes * spread
    moved = predicted[rows] + share * (lacking / share.sum(axis=1))[:, None]
    filled = np.ascontiguousarray(np.where(holes, moved, -np.inf).T)
    _kernels.project_columns(filled, rest)
    out[rows] = np.where(holes, filled.T, y[rows])
    return out


def projected(raw: Array) -> Array:
    """Return the rows of `raw` projected onto the simplex."""
    columns = np.array(raw.T, dtype=np.float64, order="C")
    _kernels.project_columns(columns, np.ones(columns.shape[1]))
    return np.ascontiguousarray(columns.T)
