"""Mix predictions such that the error is as small as can be."""

import numpy as np
from scipy.optimize import nnls

from inldl.solvers.winldl import Array


def simplex_weights(parts: Array, target: Array, weights: Array | None = None) -> Array:
    """Return w >= 0 of sum 1 that minimises the squared error of ``parts @ w``.

    `parts` (m, n_parts) predict the `target` (m,); `weights` say how much each error counts.
    """
    weighted = parts if weights is None else parts * weights[:, None]
    gram, moments = parts.T @ weighted, weighted.T @ target
    heavy = 1e6 * max(np.trace(gram), 1.0)  # makes the sum of the weights 1
    factor = np.linalg.cholesky(gram + heavy + 1e-9 * np.trace(gram) * np.eye(len(gram)))
    found = nnls(factor.T, np.linalg.solve(factor, moments + heavy))[0]
    return found / found.sum()
