"""Mix predictions such that the error is as small as can be."""

import numpy as np
from scipy.optimize import nnls

from inldl.solvers.winldl import Array


def simplex_weights(parts: Array, target: Array, weights: Array | None = None) -> Array:
    """Return w >= 0 of sum 1 that minimises the squared error of ``parts @ w``.

    `parts` (m, n_parts) predict the `target` (m,); `weights` say how much each error counts.
    """
    return _on_simplex(*_squares(parts, target, weights))


def weights_towards(
    expected: Array, pull: float, parts: Array, target: Array, weights: Array
) -> Array:
    """Return w >= 0 of sum 1 that is likely, if `expected` (n_parts,) is what is expected of it.

    The errors of the mixture are taken as normal, and w as normal around what is expected with
    the variance 1 / `pull`. So a few errors move w little, and many move it as far as they should.
    The variance of the errors is that of a first w, for which it was that of what is expected:
    errors of the best weights would be too small if they are few. The rest is as for
    `simplex_weights`.
    """
    gram, moments = _squares(parts, target, weights)
    found = expected
    for _ in range(2):
        held = pull * np.average((target - parts @ found) ** 2, weights=weights)
        found = _on_simplex(gram + held * np.eye(len(gram)), moments + held * expected)
    return found


def _squares(parts: Array, target: Array, weights: Array | None) -> tuple[Array, Array]:
    weighted = parts if weights is None else parts * weights[:, None]
    return parts.T @ weighted, weighted.T @ target


def _on_simplex(gram: Array, moments: Array) -> Array:
    """Return w >= 0 of sum 1 with the least w' gram w - 2 w' moments."""
    heavy = 1e6 * max(np.trace(gram), 1.0)  # makes the sum of the weights 1
    factor = np.linalg.cholesky(gram + heavy + 1e-9 * np.trace(gram) * np.eye(len(gram)))
    found = nnls(factor.T, np.linalg.solve(factor, moments + heavy))[0]
    return found / found.sum()
