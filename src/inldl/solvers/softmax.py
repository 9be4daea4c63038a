r"""The softmax of linear scores, and a regression that looks at the observed degrees only.

Here logits, distributions and gradients are rows x labels, and W is features x labels. With
:math:`q = \mathrm{softmax}(b + \varphi W)`, `MaskedSoftmax` minimises

.. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij}) + \frac{\alpha}{2} \|W\|^2

The term :math:`q` is what a row with holes needs: without it the loss is least where all mass
lies on the observed labels.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from inldl import kernels

Array = np.ndarray
Function = Callable[[Array], tuple[float, Array]]
ROWS_AT_ONCE = 1024  # both products of a gradient find them in a cache
NEVER = -1e30  # score of a label that cannot be


def softmax(logits: Array) -> Array:
    """Return P, rows that are positive and sum to 1."""
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P


def zero_filled(y: Array) -> tuple[Array, Array]:
    """Return the degrees with 0 where unobserved, and which are observed."""
    observed = ~np.isnan(y)
    return np.where(observed, y, 0), observed


def weighted_degrees(y: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return degrees that are at least 0, and 1 where they are observed; both 0 elsewhere.

    Both are multiplied by the weights of their rows.
    """
    degrees, observed = zero_filled(y)
    degrees, counted = np.maximum(degrees, 0), observed.astype(float)
    if weights is None:
        return degrees, counted
    return degrees * weights[:, None], counted * weights[:, None]


@np.errstate(over="ignore", invalid="ignore")
def minimum(function: Function, V: Array, max_iter: int, ftol: float = 1e-9) -> Array:
    """Minimise by L-BFGS; return the start where what it finds is not finite."""
    found = lbfgs(function, V, maxiter=max_iter, ftol=ftol, gtol=1e-6)
    good = np.isfinite(found.fun) and np.isfinite(found.x).all()
    return found.x.reshape(V.shape) if good else V


def lbfgs(
    function: Function, V: Array, note: Callable[..., None] | None = None, **options: float
) -> Any:
    """Return what SciPy's L-BFGS finds from V; `note` is called after each iteration."""

    def flat(v: Array) -> tuple[float, Array]:
        value, gradient = function(v.reshape(V.shape))
        return value, gradient.ravel()

    return minimize(flat, V.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)


class MaskedSoftmax:
    """The objective, as a function of parameters in which its curvature is about 1.

    Kernel features have eigenvalues of very different size; plain L-BFGS needs hundreds of
    iterations on them, and a tenth of that once each direction is scaled by its curvature.

    `features` are the rows in the eigenbasis of their Gram matrix, whose eigenvalues are
    `squares`; products are done in their precision. `alpha` penalises all coefficients but the
    bias, which is the last row of the parameters. A negative degree in `y` counts as 0. Weights of
    the rows multiply their terms, and are part of the Gram matrix.

    With `smoothness` s the labels are in order: alpha also penalises s times the squared second
    differences of the coefficients of neighbouring labels.

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
        smoothness: float = 0.0,
    ) -> None:
        self.features, self.ignored = features, np.isnan(y) if ratios else None
        self.degrees, self.counted = weighted_degrees(y, weights)
        (n, C), total = y.shape, float(len(y) if weights is None else weights.sum())
        curvature = max(self.counted.sum() / (total * C), 1 / n) / C
        self.penalty = np.append(np.full(len(squares), float(alpha)), 0)[:, None]
        weight = curvature * np.append(squares, total) + self.penalty[:, 0]
        self.unit = 1 / np.sqrt(np.maximum(weight, np.finfo(float).tiny))[:, None]
        # The penalty of V is that of its parts A in V = A mix, of which it is alpha |A|^2 / 2.
        differences = np.diff(np.eye(C), n=2, axis=0)
        curves, turn = linalg.eigh(differences.T @ differences)
        turn, roots = (turn, np.sqrt(1 + smoothness * curves)) if smoothness else (np.eye(C), 1)
        self.mix, self.unmix = turn / roots @ turn.T, turn * roots @ turn.T

    def value_and_gradient(self, U: Array) -> tuple[float, Array]:
        """Return the objective and its gradient at the scaled parameters U."""
        A = self.unit * U
        V = (A @ self.mix).astype(self.features.dtype)
        coef, intercept = V[:-1], V[-1]
        value, gradient = np.vdot(self.penalty * A, A) / 2, self.penalty * (A @ self.unmix)
        for start in range(0, self.features.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            scores = self.features[rows] @ coef
            scores += intercept
            if self.ignored is not None:
                scores[self.ignored[rows]] = NEVER
            about = self.degrees[rows], self.counted[rows]
            value += kernels.masked_softmax_rows(scores, *about)
            gradient[:-1] += self.features[rows].T @ scores
            gradient[-1] += scores.sum(axis=0)
        return float(value), self.unit * (gradient @ self.mix)

    def curvature(self, U: Array) -> Callable[[Array], Array]:
        """Return the function that multiplies by the matrix of second derivatives at U."""
        V = self.unit * U @ self.mix
        q = softmax(self.features @ V[:-1] + V[-1])
        pull = (self.counted * q - self.degrees).sum(axis=1, keepdims=True)

        def product(direction: Array) -> Array:
            part = self.unit * direction.reshape(V.shape)
            D = part @ self.mix
            scores = self.features @ D[:-1] + D[-1]
            change = q * (scores - (q * scores).sum(axis=1, keepdims=True))
            own = self.counted * change
            own -= change * pull + q * own.sum(axis=1, keepdims=True)
            found = np.vstack([self.features.T @ own, own.sum(axis=0)])
            return (self.unit * (found @ self.mix + self.penalty * part)).ravel()

        return product

    def minimise(self, V: Array, max_iter: int, ftol: float = 1e-9) -> Array:
        """Return the best parameters, starting at V; both are not scaled."""
        start = V @ self.unmix / self.unit
        return self.unit * minimum(self.value_and_gradient, start, max_iter, ftol) @ self.mix


def eigenbasis(features: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the eigenvalues of the Gram matrix, and its eigenvectors as columns."""
    weighted = features if weights is None else features * weights[:, None]
    squares, basis = linalg.eigh(features.T @ weighted)
    return np.maximum(squares, 0), basis


def start_at_mean(y: Array, n_features: int, weights: Array | None = None) -> Array:
    """Return parameters that predict the mean of the observed degrees for every row.

    A label without any starts at 1/C; no label starts at 0, where the softmax has no end.
    """
    degrees, counted = weighted_degrees(y, weights)
    count = counted.sum(axis=0)
    mean = degrees.sum(axis=0) / np.where(count > 0, count, 1)
    mean = np.maximum(np.where(count > 0, mean, 1 / y.shape[1]), 1e-6)
    V = np.zeros((n_features + 1, y.shape[1]))
    V[-1] = np.log(mean / mean.sum())
    return V
