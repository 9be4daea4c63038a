"""The space of IncomLDL-LR: principal components of features and degrees together.

Both blocks are scaled to the same total variance, so that neither drowns the other.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from inldl.solvers.neighbour_filling import centred

Array = np.ndarray
SMALL = 400  # columns up to which all components are computed


def joint_components(X: Array, y: Array, weights: Array, n_components: int) -> Array:
    """Return the scores of rows on the leading components of [X y], for y without holes."""
    blocks = [_scaled(centred(A, weights), weights) for A in (X, y)]
    rows = np.hstack(blocks)
    return np.asarray(rows @ _directions(np.sqrt(weights)[:, None] * rows, n_components))


def _scaled(A: Array, weights: Array) -> Array:
    """Return columns whose variances sum to 1; constant ones stay 0."""
    total = np.sqrt(weights @ (A**2).sum(axis=1) / weights.sum())
    return A / (total if total > 0 else 1.0)


def _directions(rows: Array, n_components: int) -> Array:
    k = rows.shape[1]
    if k <= max(SMALL, n_components):
        return np.linalg.eigh(rows.T @ rows)[1][:, -n_components:]
    product = LinearOperator((k, k), matvec=lambda v: rows.T @ (rows @ v), dtype=float)
    return np.asarray(eigsh(product, n_components, v0=np.ones(k))[1])
