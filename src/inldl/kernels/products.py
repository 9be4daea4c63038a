"""Products of a block of X with few labels, and distances: BLAS is slower, or has none.

Both products read four rows of X at a time for two labels. Where rows or labels do not divide, the
last group goes back and overlaps the one before: it writes the same numbers again, or adds zero.
"""

import numpy as np

from inldl.kernels.compile import kernel


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
