"""What the sum of 1 says about the holes of y, and how holes are filled near a prediction."""

import numpy as np

from inldl import _kernels
from inldl._validation import sum_tolerance
from inldl.solvers.winldl import Array, closed

PAIRS = 20  # errors of two labels that are trusted as much as no errors at all
NOISE = 1e-3  # of the mean variance: keeps the inverse of a covariance within bounds
PATTERN_ENTRIES = 4_000_000  # of the matrices that are held at once


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
    spread : ndarray of shape (n_labels,) or (n_samples, n_labels)
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
    share = holes * np.broadcast_to(spread, y.shape)[rows]
    moved = predicted[rows] + share * (lacking / share.sum(axis=1))[:, None]
    filled = np.ascontiguousarray(np.where(holes, moved, -np.inf).T)
    _kernels.project_columns(filled, rest)
    out[rows] = np.where(holes, filled.T, y[rows])
    return out


def error_covariance(errors: Array) -> Array:
    """Return the covariance of the errors of the labels, from errors of which some are NaN.

    Pairs of labels that are rarely seen together are drawn towards what errors would have that
    have nothing to do with each other but for their sum, which is 0.
    """
    seen = ~np.isnan(errors)
    known = np.where(seen, errors, 0)
    count = seen.T.astype(float) @ seen
    found = known.T @ known / np.maximum(count, 1)
    variance = np.maximum(np.diag(found), np.finfo(float).tiny ** 0.5)
    unrelated = np.diag(variance) - np.outer(variance, variance) / variance.sum()
    trust = count / (count + PAIRS)
    mixed = trust * found + (1 - trust) * unrelated
    mixed -= mixed.mean(axis=0)  # errors of distributions sum to 0
    mixed -= mixed.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((mixed + mixed.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def given_observed(y: Array, predicted: Array, covariance: Array) -> tuple[Array, Array]:
    """Return what is expected at the holes of y once the observed degrees of the row are known.

    With p predicted and S the covariance of its errors, at the holes h of a row,

        p_h + S_ho S_oo^-1 (y_o - p_o),    of variance    diag(S_hh - S_ho S_oo^-1 S_oh)

    where o are the observed labels: the mean and the variance of errors that are normal.

    Parameters
    ----------
    y : ndarray of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    predicted : ndarray of shape (n_samples, n_labels)
        Distributions.
    covariance : ndarray of shape (n_labels, n_labels)
        Of the errors.

    Returns
    -------
    expected, variance : ndarray of shape (n_samples, n_labels)
        `predicted` and 0 where y is observed.
    """
    n, C = y.shape
    expected, variance = predicted.astype(np.float64), np.zeros(y.shape)
    noise = NOISE * np.trace(covariance) / C + np.finfo(float).tiny
    size = max(1, PATTERN_ENTRIES // C**2)
    for start in range(0, n, size):
        rows = slice(start, start + size)
        holes = np.isnan(y[rows])
        patterns, which = np.unique(holes, axis=0, return_inverse=True)
        seen = ~patterns[:, :, None]
        observed = covariance * seen * seen.swapaxes(1, 2)
        inner = observed + np.eye(C) * np.where(seen, noise, 1.0)
        gain = np.linalg.solve(inner, covariance * seen).swapaxes(1, 2)  # S_.o S_oo^-1
        known = np.einsum("pij,pij->pi", gain, covariance * ~patterns[:, None])
        errors = np.where(holes, 0, y[rows] - predicted[rows])
        moves = np.einsum("nij,nj->ni", gain[which.ravel()], errors)
        expected[rows] += np.where(holes, moves, 0)
        variance[rows] = np.where(
            holes, np.maximum(np.diag(covariance) - known, noise)[which.ravel()], 0
        )
    return expected, variance


def projected(raw: Array) -> Array:
    """Return the rows of `raw` projected onto the simplex."""
    columns = np.array(raw.T, dtype=np.float64, order="C")
    _kernels.project_columns(columns, np.ones(columns.shape[1]))
    return np.ascontiguousarray(columns.T)
