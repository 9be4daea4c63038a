"""Loops over rows for which NumPy and BLAS have nothing, or something slower.

They are products, distances, projections and losses of rows, and predictions of degrees from the
nearest rows of a unit, by Gaussian processes along time.

Both products read four rows of X at a time for two labels. Where rows or labels do not divide, the
last group goes back and overlaps the one before: it writes the same numbers again, or adds zero.
"""

import math

import numpy as np

from inldl.kernels.compile import kernel

SEASON_WIDTH = 0.25  # squared, how alike the phases of a season must be
SEASONS = 20.0  # after so many seasons, they have little in common
MOST_HALVINGS = 200  # halving a bracket as often leaves nothing of it
MOST_MOVES, LOST = 4, 1e-12  # a sum that misses its mass by more was lost in huge values


@kernel
def narrow_fitted(X, W) -> np.ndarray:
    """Return W X' for X (m >= 4 rows, k) and W (C >= 2, k)."""
    m, k = X.shape
    C = W.shape[0]
    S = np.empty((C, m), X.dtype)
    for group in range(0, m, 4):
        i = min(group, m - 4)
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for pair in range(0, C, 2):
            j = min(pair, C - 2)
            w, v = W[j], W[j + 1]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = X.dtype.type(0)
            for q in range(k):
                a, b = w[q], v[q]
                a0 += a * x0[q]
                a1 += a * x1[q]
                a2 += a * x2[q]
                a3 += a * x3[q]
                b0 += b * x0[q]
                b1 += b * x1[q]
                b2 += b * x2[q]
                b3 += b * x3[q]
            S[j, i], S[j, i + 1], S[j, i + 2], S[j, i + 3] = a0, a1, a2, a3
            S[j + 1, i], S[j + 1, i + 1], S[j + 1, i + 2], S[j + 1, i + 3] = b0, b1, b2, b3
    return S


@kernel
def narrow_moments(R, X) -> np.ndarray:
    """Return R X for R (C >= 2, m) and X (m >= 4 rows, k)."""
    m, k = X.shape
    C = R.shape[0]
    M = np.zeros((C, k), X.dtype)
    weights = np.zeros((2, 4), X.dtype)
    for group in range(0, m, 4):
        i = min(group, m - 4)
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for pair in range(0, C, 2):
            j = min(pair, C - 2)
            for d in range(4):
                new = i + d >= group
                weights[0, d] = R[j, i + d] if new and j == pair else 0
                weights[1, d] = R[j + 1, i + d] if new else 0
            a0, a1, a2, a3 = weights[0, 0], weights[0, 1], weights[0, 2], weights[0, 3]
            b0, b1, b2, b3 = weights[1, 0], weights[1, 1], weights[1, 2], weights[1, 3]
            u, v = M[j], M[j + 1]
            for q in range(k):
                c0, c1, c2, c3 = x0[q], x1[q], x2[q], x3[q]
                u[q] += a0 * c0 + a1 * c1 + a2 * c2 + a3 * c3
                v[q] += b0 * c0 + b1 * c1 + b2 * c2 + b3 * c3
    return M


@kernel
def l1_distances(Z, L, D) -> np.ndarray:
    """Put the sums of absolute differences of rows of Z (n, k) and columns of L (k, m) into D.

    Four rows share each load of L, and the landmarks lie along the vector lanes.
    """
    n, k = Z.shape
    m = L.shape[1]
    D[:] = 0
    for group in range(0, n - n % 4, 4):
        d0, d1, d2, d3 = D[group], D[group + 1], D[group + 2], D[group + 3]
        for q in range(k):
            z0, z1, z2, z3 = Z[group, q], Z[group + 1, q], Z[group + 2, q], Z[group + 3, q]
            landmarks = L[q]
            for j in range(m):
                d0[j] += abs(z0 - landmarks[j])
                d1[j] += abs(z1 - landmarks[j])
                d2[j] += abs(z2 - landmarks[j])
                d3[j] += abs(z3 - landmarks[j])
    for i in range(n - n % 4, n):
        for q in range(k):
            z, landmarks, d = Z[i, q], L[q], D[i]
            for j in range(m):
                d[j] += abs(z - landmarks[j])
    return D


@kernel
def project_between(V, spread, lower, upper, mass) -> None:
    """Replace each row v of V (rows x labels) by the nearest point between bounds with a sum.

    min sum((z - v)^2 / (2 s)) over {lower <= z <= upper, sum(z) = mass}, with s > 0 the same row
    of `spread`: z = clip(v - theta s, lower, upper). The sum falls with theta, in straight pieces;
    Newton's method finds theta exactly once it is on the right piece, and a bracket keeps it from
    leaping to and fro. A mass that the bounds do not allow counts as the nearest one they do.
    Beside huge values theta is too coarse for the mass: v is moved by it, and what is left is
    small enough to be solved for again.
    """
    for i in range(V.shape[0]):
        v, s, low, high = V[i], spread[i], lower[i], upper[i]
        for _ in range(MOST_MOVES):
            theta, total = _threshold_between(v, s, low, high, mass[i]), 0.0
            for j in range(v.size):
                v[j] -= theta * s[j]
                total += min(max(v[j], low[j]), high[j])
            if abs(total - mass[i]) <= LOST or np.isinf(theta):
                break
        for j in range(v.size):
            v[j] = min(max(v[j], low[j]), high[j])


@kernel
def _threshold_between(v, s, low, high, mass):
    least, most, left, right = 0.0, 0.0, np.inf, -np.inf
    for j in range(v.size):
        least += low[j]
        most += high[j]
        left = min(left, (v[j] - high[j]) / s[j])
        right = max(right, (v[j] - low[j]) / s[j])
    if not least < mass < most:
        return np.inf if mass <= least else -np.inf
    theta = min(max(0.0, left), right)
    for _ in range(MOST_HALVINGS):
        total, slope = 0.0, 0.0
        for j in range(v.size):
            z = v[j] - theta * s[j]
            total += min(max(z, low[j]), high[j])
            slope += s[j] if low[j] < z < high[j] else 0.0
        gap = total - mass
        left, right = (theta, right) if gap > 0 else (left, theta)
        new = theta + gap / slope if slope > 0 else np.inf
        if new == theta:
            break
        theta = new if left < new < right else (left + right) / 2
    return theta


@kernel
def masked_softmax_rows(scores, degrees, counted) -> float:
    """Return the loss of rows, and put its gradient in the place of their scores.

    The loss is the sum of ``counted * q - degrees * log(q)``, where q is the softmax of a row of
    scores. All are (n, n_labels) in C order; `degrees` are times the weights of their rows, which
    are `counted`, and both are 0 where unobserved.
    """
    n, C = scores.shape
    q, total = np.empty(C), 0.0
    for i in range(n):
        row = scores[i]
        largest = row[0]
        for j in range(1, C):
            largest = max(largest, row[j])
        mass = 0.0
        for j in range(C):
            q[j] = np.exp(np.float64(row[j] - largest))
            mass += q[j]
        log_mass, pull = np.log(mass) + largest, 0.0
        for j in range(C):
            q[j] /= mass
            total += counted[i, j] * q[j] - degrees[i, j] * (row[j] - log_mass)
            pull += counted[i, j] * q[j] - degrees[i, j]
        for j in range(C):
            row[j] = counted[i, j] * q[j] - degrees[i, j] - q[j] * pull
    return total


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
