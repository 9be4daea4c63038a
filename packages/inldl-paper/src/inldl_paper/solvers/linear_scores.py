"""Softmax of linear scores: features of any size, and what gradients need."""

import numpy as np

from inldl.rows.inputs import TOO_LARGE
from inldl.solvers.softmax import Array


def log_softmax(logits: Array) -> Array:
    """Return log P, shifted by the row maximum so that nothing overflows."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def through_softmax(P: Array, G: Array) -> Array:
    """Return the gradient with respect to the logits from G, the one with respect to P."""
    return P * (G - (G * P).sum(axis=1, keepdims=True))


def linear_scores(X: Array, coef: Array, intercept: Array) -> Array:
    """Return XW + b, rows x labels, in double precision, from a product in that of X.

    Coefficients of any size are brought to at most 1 for the product, by a power of two, which
    changes nothing but that single precision does not overflow.
    """
    size = np.ldexp(1.0, np.frexp(np.abs(coef).max(initial=0.0))[1])
    scores = X @ (coef.T / size).astype(X.dtype)
    return scores.astype(np.float64, copy=False) * size + intercept


class Features:
    """Rows of features for scores XV, with a constant 1 as the last one where a bias is fitted.

    Parameters V are features x labels in double precision; products are done in the precision of
    the features, which are never copied. With `rescale`, V counts in units in which no feature
    exceeds 1, so that features of any size neither overflow nor make the first step of a descent
    too long. Otherwise features whose squares overflow are refused.
    """

    def __init__(self, X: Array, fit_intercept: bool, rescale: bool = False) -> None:
        self.X, self.fit_intercept, self.unit = X, fit_intercept, 1.0
        self.n_parameters = X.shape[1] + fit_intercept
        largest = max(float(X.max()), -float(X.min()))
        if rescale:
            self.unit = float(np.ldexp(1.0, -max(int(np.frexp(largest)[1]), 0)))
        elif largest * X.size >= min(1e154, float(np.finfo(X.dtype).max)):
            raise ValueError(TOO_LARGE)

    def scores(self, V: Array) -> Array:
        """Return XV, rows x labels, in double precision."""
        return linear_scores(self.X, *self.split(V))

    def moments(self, R: Array) -> Array:
        """Return X'R, features x labels, in double precision: the gradient if R is the scores'."""
        total = (self.X.T @ (R * self.unit).astype(self.X.dtype)).astype(np.float64, copy=False)
        return np.vstack([total, R.sum(axis=0)]) if self.fit_intercept else total

    def split(self, V: Array) -> tuple[Array, Array]:
        """Return the coefficients, labels x features, and the bias of each label."""
        k = self.X.shape[1]
        intercept = V[k].copy() if self.fit_intercept else np.zeros(V.shape[1])
        return np.ascontiguousarray(V[:k].T * self.unit), intercept

    def penalty(self, V: Array) -> tuple[float, Array]:
        """Return the squared norm of all coefficients and the bias, and its gradient."""
        units = np.full((len(V), 1), self.unit)
        units[self.X.shape[1] :] = 1
        W = units * V
        return float((W**2).sum()), 2 * units * W

    def start(self, kind: str, n_labels: int) -> Array:
        """Return the first parameters: 0 ("zero"), or 1 from feature j to label j ("eye")."""
        V = np.zeros((self.n_parameters, n_labels))
        if kind == "eye":
            np.fill_diagonal(V[: self.X.shape[1]], 1)
        return V
