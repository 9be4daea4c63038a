r"""Softmax regression with a loss that looks at the observed degrees only.

With :math:`q = \mathrm{softmax}(b + \varphi W)` it minimises

.. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij}) + \frac{\alpha}{2} \|W\|^2

The term :math:`q` is what a row with holes needs: without it the loss is least where all mass
lies on the observed labels.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from inldl import kernels
from inldl.solvers.softmax import Array, lbfgs, softmax, zero_filled

BLOCK = 1024  # rows
NEVER = -1e30  # score of a label that cannot be


class MaskedSoftmax:
    """The objective, as a function of parameters in which its curvature is about 1.

    Kernel features have eigenvalues of very different size; plain L-BFGS needs hundreds of
    iterations on them, and a tenth of that once each direction is scaled by its curvature.

    `features` are the rows in the eigenbasis of their Gram matrix, whose eigenvalues are
    `squares`; products are done in their precision. `alpha` penalises all coefficients but the
    bias, which is the last row of the parameters. A negative degree in `y` counts as 0. Weights of
    the rows multiply their terms, and are part of the Gram matrix.

    If `y` are `ratios`, q is the softmax over the observed labels of a row alone. The loss is then
    the likelihood of its ratios, whatever their scale is.
    """

    def __init__(
        self,
        features: Array,
        squares: Array,
        y: Array,
        alpha: float,
        weights: Array | None = None,
        ratios: bool = False,
    ) -> None:
        degrees, observed = zero_filled(y)
        self.ignored = ~observed if ratios else None
        self.features, self.degrees, self.counted = features, degrees, observed.astype(float)
        np.maximum(degrees, 0, out=degrees)
        (n, C), total = y.shape, float(len(y))
        if weights is not None:
            self.counted *= weights[:, None]
            degrees *= weights[:, None]
            total = float(weights.sum())
        curvature = max(self.counted.sum() / (total * C), 1 / n) / C
        self.penalty = np.append(np.full(len(squares), float(alpha)), 0)[:, None]
        weight = curvature * np.append(squares, total) + self.penalty[:, 0]
        self.unit = 1 / np.sqrt(np.maximum(weight, np.finfo(float).tiny))[:, None]

    def value_and_gradient(self, U: Array) -> tuple[float, Array]:
        """Return the objective and its gradient at the scaled parameters U."""
        V = self.unit * U
        coef, intercept = V[:-1].astype(self.features.dtype), V[-1].astype(self.features.dtype)
        value, gradient = np.vdot(self.penalty * V, V) / 2, self.penalty * V
        for start in range(0, len(self.features), BLOCK):  # both products find it in a cache
            rows = slice(start, start + BLOCK)
            scores = self.features[rows] @ coef
            scores += intercept
            if self.ignored is not None:
                scores[self.ignored[rows]] = NEVER
            about = self.degrees[rows], self.counted[rows]
            value += kernels.masked_softmax_rows(scores, *about)
            gradient[:-1] += self.features[rows].T @ scores
            gradient[-1] += scores.sum(axis=0)
        return float(value), self.unit * gradient

    def curvature(self, U: Array) -> Callable[[Array], Array]:
        """Return the function that multiplies by the matrix of second derivatives at U."""
        V = self.unit * U
        q = softmax(self.features @ V[:-1] + V[-1])
        pull = (self.counted * q - self.degrees).sum(axis=1, keepdims=True)

        def product(direction: Array) -> Array:
            D = self.unit * direction.reshape(V.shape)
            scores = self.features @ D[:-1] + D[-1]
            change = q * (scores - (q * scores).sum(axis=1, keepdims=True))
            own = self.counted * change
            own -= change * pull + q * own.sum(axis=1, keepdims=True)
            found = np.vstack([self.features.T @ own, own.sum(axis=0)]) + self.penalty * D
            return (self.unit * found).ravel()

        return product

    def minimise(self, V: Array, max_iter: int, ftol: float = 1e-9) -> Array:
        """Return the best parameters, starting at V; both are not scaled."""
        return self.unit * lbfgs(self.value_and_gradient, V / self.unit, max_iter, ftol)


def eigenbasis(features: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the eigenvalues of the Gram matrix, and its eigenvectors as columns."""
    weighted = features if weights is None else features * weights[:, None]
    squares, basis = linalg.eigh(features.T @ weighted)
    return np.maximum(squares, 0), basis


def start_at_mean(y: Array, n_features: int, weights: Array | None = None) -> Array:
    """Return parameters that predict the mean of the observed degrees for every row.

    A label without any starts at 1/C; no label starts at 0, where the softmax has no end.
    """
    degrees, observed = zero_filled(y)
    if weights is not None:
        degrees, observed = degrees * weights[:, None], observed * weights[:, None]
    count = observed.sum(axis=0)
    mean = np.maximum(degrees, 0).sum(axis=0) / np.where(count > 0, count, 1)
    mean = np.maximum(np.where(count > 0, mean, 1 / y.shape[1]), 1e-6)
    V = np.zeros((n_features + 1, y.shape[1]))
    V[-1] = np.log(mean / mean.sum())
    return V
