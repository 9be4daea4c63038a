"""Predict degrees of a row from the nearest rows of its unit, by Gaussian processes along time."""

import math

import numpy as np

from inldl.kernels.compile import kernel

SEASON_WIDTH = 0.25  # squared, how alike the phases of a season must be
SEASONS = 20.0  # after so many seasons, they have little in common


@kernel
def covariance(shape, period, distance) -> float:
    r"""Return how alike rows of a unit are at a distance in time, relative to what each has alone.

    It is :math:`s (1 + k(d / r) + c(d))`: the 1 is the level of the unit, k its path, Matern's
    function of a smoothness, and c what returns each season. `shape` has the signal s, the
    smoothness (0: no path), the reach r, and the size of c.
    """
    signal, smoothness, reach, season = shape
    alike = 1.0
    if smoothness > 0:
        x = math.sqrt(2 * smoothness) * distance / reach
        path = 1.0
        if smoothness > 1:
            path += x
        if smoothness > 2:
            path += x * x / 3
        alike += path * math.exp(-x)
    if season > 0 and period > 0:
        phase = math.sin(math.pi * distance / period)
        off = phase * phase / SEASON_WIDTH + distance / (SEASONS * period)
        alike += season * math.exp(-off)
    return signal * alike


@kernel
def _nearest(known, at, first, end, row, label, found) -> int:
    """Write the nearest rows that know a label and something that the row lacks; say how many.

    The rows of the unit are `first` to `end` - 1. If the row lacks nothing, all others will do.
    """
    n_labels, most, n = known.shape[1], len(found), 0
    complete = known[row].all()
    below, above = row - 1, row + 1
    while n < most and (below >= first or above < end):
        down = above >= end or (below >= first and at[row] - at[below] <= at[above] - at[row])
        other = below if down else above
        if down:
            below -= 1
        else:
            above += 1
        usable = known[other, label]
        if usable and not complete:
            usable = False
            for j in range(n_labels):
                if known[other, j] and not known[row, j]:
                    usable = True
                    break
        if usable:
            found[n] = other
            n += 1
    return n


@kernel
def _solve(matrix, right, n) -> None:
    """Solve a positive definite system of n equations in place; the matrix is lost."""
    for j in range(n):
        for k in range(j):
            matrix[j, j] -= matrix[j, k] * matrix[j, k]
        matrix[j, j] = math.sqrt(matrix[j, j])
        for i in range(j + 1, n):
            s = matrix[i, j]
            for k in range(j):
                s -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = s / matrix[j, j]
    for i in range(n):
        for k in range(i):
            right[i] -= matrix[i, k] * right[k]
        right[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            right[i] -= matrix[k, i] * right[k]
        right[i] /= matrix[i, i]


@kernel
def _weigh(shape, period, at, row, near, n, matrix, weights) -> None:
    """Write how much each of n near rows counts for a row."""
    for i in range(n):
        weights[i] = covariance(shape, period, abs(at[near[i]] - at[row]))
        for j in range(i):
            matrix[i, j] = covariance(shape, period, abs(at[near[i]] - at[near[j]]))
        matrix[i, i] = covariance(shape, period, 0.0) + 1.0
    _solve(matrix, weights, n)


@kernel
def predict_paths(errors, known, at, first, end, rows, shapes, period, used, most) -> np.ndarray:
    """Return what the other rows of its unit say of each degree of some rows.

    Rows are in the order of units and times; `first` and `end` are where the unit of each begins
    and ends. A degree is predicted as if it was missing with the holes of its row: without the
    row, and without others that lack all that the row lacks.

    Parameters
    ----------
    errors : ndarray of shape (n_bases, n, n_labels)
        Distances of known degrees from what paths are taken around.
    known : ndarray of bool of shape (n, n_labels)
    at : ndarray of shape (n,)
        Times.
    rows : ndarray of int of shape (m,)
        The rows to predict.
    shapes : ndarray of shape (n_shapes, 4)
        See `covariance`.
    used : ndarray of bool of shape (n_bases, n_shapes)
        Which are wanted.
    most : int
        Near rows that are used at most.

    Returns
    -------
    ndarray of shape (n_bases, n_shapes, m, n_labels)
        0 where no other row of the unit knows the label, or the shape is not wanted.
    """
    n_bases, n_shapes, n_labels = errors.shape[0], shapes.shape[0], known.shape[1]
    out = np.zeros((n_bases, n_shapes, len(rows), n_labels))
    near, before = np.zeros(most, np.int64), np.zeros(most, np.int64)
    weights, matrix = np.zeros((n_shapes, most)), np.zeros((most, most))
    for i, row in enumerate(rows):
        n_before = -1
        for label in range(n_labels):
            n = _nearest(known, at, first[row], end[row], row, label, near)
            if n != n_before or not (near[:n] == before[:n]).all():
                for k in range(n_shapes):
                    if used[:, k].any():
                        _weigh(shapes[k], period, at, row, near, n, matrix, weights[k])
                before[:n], n_before = near[:n], n
            for b in range(n_bases):
                for k in range(n_shapes):
                    if used[b, k]:
                        s = 0.0
                        for j in range(n):
                            s += weights[k, j] * errors[b, near[j], label]
                        out[b, k, i, label] = s
    return out
