"""The space of IncomLDL-SNI: scores of a partial least squares regression of the degrees on X.

A component w is the leading left singular vector of X'Y; its scores t = Xw are taken out of X
before the next one: X -= t p' with p = X't / t't. Rows count by their weights.
"""

import numpy as np

from inldl.solvers.neighbour_filling import centred

Array = np.ndarray
NOTHING_LEFT = 1e-12  # of the products X'Y: what is left is rounding


def pls_scores(X: Array, y: Array, weights: Array, n_components: int) -> Array:
    """Return the scores of rows X (n, k) for degrees y (n, C) without holes."""
    X, Y = centred(X, weights), weights[:, None] * centred(y, weights)
    scores: list[Array] = []
    largest = None
    for _ in range(n_components):
        products = X.T @ Y
        size = np.linalg.norm(products)
        largest = size if largest is None else largest
        if size <= NOTHING_LEFT * largest:
            break
        t = X @ _leading(products / size)
        scores.append(t)
        weighted = weights * t
        X = X - np.outer(t, weighted @ X / (weighted @ t))
    return np.column_stack(scores) if scores else np.zeros((len(X), 1))


def _leading(products: Array) -> Array:
    """Return the leading left singular vector of a tall matrix, from its small Gram matrix."""
    v = np.linalg.eigh(products.T @ products)[1][:, -1]
    w = products @ v
    return np.asarray(w / np.linalg.norm(w))
