"""The softmax of linear scores, and how a gradient passes back through it.

Here logits, distributions and gradients are rows x labels, and W is features x labels.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

Array = np.ndarray
Function = Callable[[Array], tuple[float, Array]]
MEMORY = 20  # pairs that L-BFGS keeps: short runs then forget nothing


def log_softmax(logits: Array) -> Array:
    """Return log P, shifted by the row maximum so that nothing overflows."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax(logits: Array) -> Array:
    """Return P, rows that are positive and sum to 1."""
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P


def through_softmax(P: Array, G: Array) -> Array:
    """Return the gradient with respect to the logits from G, the one with respect to P."""
    return P * (G - (G * P).sum(axis=1, keepdims=True))


def zero_filled(y: Array) -> tuple[Array, Array]:
    """Return the degrees with 0 where unobserved, and which are observed."""
    observed = ~np.isnan(y)
    return np.where(observed, y, 0), observed


class LinearScores:
    """The scores of rows that are linear in parameters V, the last row of V being the bias.

    V is the coefficients in units in which no feature exceeds 1, so that features of any size
    neither overflow nor make the first step of a descent too long. The features stay as they are.
    """

    def __init__(self, X: Array, fit_intercept: bool):
        self.X, self.bias = X, fit_intercept
        largest = float(max(X.max(), -X.min()))
        self.unit = np.ldexp(1.0, -max(int(np.frexp(largest)[1]), 0))

    @property
    def n_parameters(self) -> int:
        """The number of rows of V."""
        return self.X.shape[1] + self.bias

    def logits(self, V: Array) -> Array:
        """Return the scores, rows x labels, in float64."""
        coef, intercept = self.coef(V)
        return (self.X @ coef.T.astype(self.X.dtype)).astype(np.float64, copy=False) + intercept

    def coef(self, V: Array) -> tuple[Array, Array]:
        """Return the coefficients (labels x features) and the intercept of each label."""
        intercept = V[-1].copy() if self.bias else np.zeros(V.shape[1])
        return np.ascontiguousarray(V[: self.X.shape[1]].T * self.unit), intercept

    def gradient(self, R: Array) -> Array:
        """Return the gradient with respect to V from R, the one with respect to the scores."""
        moments = (self.X.T @ (R * self.unit).astype(self.X.dtype)).astype(np.float64, copy=False)
        return np.vstack([moments, R.sum(axis=0)]) if self.bias else moments

    def penalty(self, V: Array) -> tuple[float, Array]:
        """Return the squared norm of all coefficients and the bias, and its gradient."""
        units = np.full((len(V), 1), self.unit)
        units[self.X.shape[1] :] = 1
        W = units * V
        return float((W**2).sum()), 2 * units * W


@np.errstate(over="ignore", invalid="ignore")
def lbfgs(function: Function, V: Array, max_iter: int) -> Array:
    """Minimise by L-BFGS; return the start where what it finds is not finite."""

    def flat(v: Array) -> tuple[float, Array]:
        value, gradient = function(v.reshape(V.shape))
        return value, gradient.ravel()

    options = {"maxiter": max_iter, "maxcor": MEMORY, "ftol": 1e-9, "gtol": 1e-6}
    found = minimize(flat, V.ravel(), jac=True, method="L-BFGS-B", options=options)
    good = np.isfinite(found.fun) and np.isfinite(found.x).all()
    return found.x.reshape(V.shape) if good else V
