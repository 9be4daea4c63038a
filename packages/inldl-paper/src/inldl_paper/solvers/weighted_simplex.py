"""Weighted projections onto the simplex, compiled when one is first asked for."""

import numpy as np

from inldl.kernels.compile import kernel

Array = np.ndarray


@kernel
def weighted_simplex_columns(B: Array, curvature: Array) -> None:
    """Replace each column b of B by the solution of a weighted quadratic problem on the simplex.

    min sum(h z^2 / 2 - b z) over {z >= 0, sum(z) = 1}, with h > 0 the same column of `curvature`:
    z = max(b - theta, 0) / h. Each single entry bounds theta from below by b - h; from there
    Newton's method as for the projection, which is the case h = 1.
    """
    C = B.shape[0]
    zero = B.dtype.type(0)
    b, inverse = np.empty(C, B.dtype), np.empty(C, B.dtype)
    for i in range(B.shape[1]):
        theta = B[0, i] - curvature[0, i]
        for j in range(C):
            b[j], inverse[j] = B[j, i], 1 / curvature[j, i]
            theta = max(theta, b[j] - curvature[j, i])
        before = np.inf
        while True:
            total, weight = zero, zero
            for j in range(C):
                above = b[j] > theta
                total += (b[j] - theta) * inverse[j] if above else zero
                weight += inverse[j] if above else zero
            if not weight < before:
                break
            theta += (total - 1) / weight
            before = weight
        for j in range(C):
            B[j, i] = max(b[j] - theta, zero) * inverse[j]
