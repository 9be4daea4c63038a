"""The cross-entropy of softmax models: its value, its exact gradient, and L-BFGS on it.

Parameters V are features x labels; their last row is the bias where there is one. They are double
precision whatever the features are; products are done in the precision of the features, which
are never copied.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from inldl.solvers.softmax import log_softmax, zero_filled

Array = np.ndarray
CONVERGED = 0  # the status of scipy.optimize when a tolerance was met


class Features:
    """Rows of features, with a constant 1 as the last one where a bias is fitted.

    Raises
    ------
    ValueError
        When the features are so large that sums of their squares overflow.
    """

    def __init__(self, X: Array, fit_intercept: bool) -> None:
        self.X, self.fit_intercept = X, fit_intercept
        n, k = X.shape
        self.n_parameters = k + fit_intercept
        largest = max(float(X.max()), -float(X.min())) * n * k
        if largest >= min(1e154, float(np.finfo(X.dtype).max)):
            raise ValueError(
                "The squares of the features overflow; scale X first, for example with "
                "sklearn.preprocessing.StandardScaler."
            )

    def scores(self, V: Array) -> Array:
        """Return XV, rows x labels, in double precision.

        A line search may try parameters so large that scores overflow; they are cut at 1e100,
        where the objective is so high that the search turns back.
        """
        k = self.X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.X @ V[:k].astype(self.X.dtype, copy=False)
        scores = scores.astype(np.float64, copy=False)
        if not np.isfinite(scores).all():
            scores = np.clip(np.nan_to_num(scores), -1e100, 1e100)
        return scores + V[k] if self.fit_intercept else scores

    def moments(self, R: Array) -> Array:
        """Return X'R, features x labels, in double precision."""
        total = self.X.T @ R.astype(self.X.dtype, copy=False)
        return np.vstack([total, R.sum(axis=0)]) if self.fit_intercept else total.astype(R.dtype)

    def start(self, kind: str, n_labels: int) -> Array:
        """Return the first parameters: 0 ("zero"), or 1 from feature j to label j ("eye")."""
        V = np.zeros((self.n_parameters, n_labels))
        if kind == "eye":
            np.fill_diagonal(V[: self.X.shape[1]], 1)
        return V

    def split(self, V: Array) -> tuple[Array, Array]:
        """Return the coefficients, labels x features, and the bias of each label."""
        k = self.X.shape[1]
        intercept = V[k].copy() if self.fit_intercept else np.zeros(V.shape[1])
        return np.ascontiguousarray(V[:k].T), intercept


class CrossEntropy:
    r"""The objective :math:`F(V) = -\sum \tilde D \log P + \tfrac{l_2}{2} \|V\|^2`.

    P is the row softmax of XV, and the degrees D~ are 0 where unobserved; a negative degree
    counts as 0, so that F is convex and bounded below for any numbers.

    Parameters
    ----------
    features : Features
        The rows.
    y : ndarray of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    l2 : float
        The weight of the penalty; the bias is penalised like the rest.
    """

    def __init__(self, features: Features, y: Array, l2: float = 0.0) -> None:
        self.features, self.l2 = features, l2
        self.degrees = np.maximum(zero_filled(y)[0].astype(np.float64), 0)
        self.mass = self.degrees.sum(axis=1, keepdims=True)

    def value(self, V: Array, log_P: Array) -> float:
        """Return F(V), given log P at V."""
        return float(self.l2 / 2 * np.vdot(V, V) - np.vdot(self.degrees, log_P))

    def log_P(self, V: Array) -> Array:
        """Return the logarithm of the predictions at V."""
        return log_softmax(self.features.scores(V))

    def value_and_gradient(self, V: Array) -> tuple[float, Array]:
        """Return F(V) and X'(diag(r) P - D~) + l2 V, where r is the observed mass of each row.

        X'(P - D~), which is often used instead, is the gradient only when rows sum to 1.
        """
        log_P = self.log_P(V)
        residual = self.mass * np.exp(log_P) - self.degrees
        return self.value(V, log_P), self.features.moments(residual) + self.l2 * V


@dataclass(frozen=True)
class Result:
    """The parameters found, and how the solver got there."""

    parameters: Array
    n_iter: int
    converged: bool
    history: dict[str, Array]


def lbfgs(problem: CrossEntropy, V: Array, *, max_iter: int, tol: float) -> Result:
    """Minimise by L-BFGS from V until an iteration lowers F by less than ``tol * max(|F|, 1)``.

    With ``max_iter=0`` the result is V. A `tol` below the precision of the features is raised to
    that, since F is not known any better.
    """
    objective: list[float] = []

    def note(intermediate_result: Any) -> None:
        objective.append(float(intermediate_result.fun))

    def flat(v: Array) -> tuple[float, Array]:
        value, gradient = problem.value_and_gradient(v.reshape(V.shape))
        return value, gradient.ravel()

    if max_iter == 0:
        return Result(V, 0, False, {"objective": np.empty(0)})
    precision = float(np.finfo(problem.features.X.dtype).eps)
    options = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": max(tol, precision)}
    found = minimize(
        flat, V.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options | {"gtol": 0}
    )
    objective = objective or [float(found.fun)]  # a start that is the minimum counts as one
    parameters, history = found.x.reshape(V.shape), {"objective": np.array(objective)}
    return Result(parameters, len(objective), found.status == CONVERGED, history)
