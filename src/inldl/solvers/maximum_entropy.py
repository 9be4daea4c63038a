"""The cross-entropy of softmax models: its value, its exact gradient, and L-BFGS on it.

Parameters V are features x labels; their last row is the bias where there is one. They are double
precision whatever the features are; products are done in the precision of the features, which
are never copied.
"""

from typing import Any

import numpy as np

from inldl.solvers.loop import Result
from inldl.solvers.softmax import Array, Features, log_softmax, minimised, zero_filled

CONVERGED = 0  # the status of scipy.optimize when a tolerance was met


class CrossEntropy:
    r"""The objective :math:`F(V) = -\sum \tilde D \log P + \tfrac{l_2}{2} \|V\|^2`.

    P is the row softmax of XV, and the degrees D~ are 0 where unobserved; a negative degree
    counts as 0, so that F is convex and bounded below for any numbers. The bias is penalised like
    the rest. Weights of the rows multiply their degrees.
    """

    def __init__(
        self, features: Features, y: Array, l2: float = 0.0, weights: Array | None = None
    ) -> None:
        self.features, self.l2, self.weights = features, l2, weights
        self.degrees = np.maximum(zero_filled(y)[0].astype(np.float64), 0)
        if weights is not None:
            self.degrees *= weights[:, None]
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


def lbfgs(problem: CrossEntropy, V: Array, *, max_iter: int, tol: float) -> Result:
    """Minimise by L-BFGS from V until an iteration lowers F by less than ``tol * max(|F|, 1)``.

    With ``max_iter=0`` the result is V. A `tol` below the precision of the features is raised to
    that, since F is not known any better.
    """
    if max_iter == 0:
        return unchanged(V)
    objective: list[float] = []

    def note(intermediate_result: Any) -> None:
        objective.append(float(intermediate_result.fun))

    precision = float(np.finfo(problem.features.X.dtype).eps)
    limits = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": max(tol, precision)}
    found = minimised(problem.value_and_gradient, V, note, gtol=0, **limits)
    objective = objective or [float(found.fun)]  # a start that is the minimum counts as one
    parameters, history = found.x.reshape(V.shape), {"objective": np.array(objective)}
    return Result(parameters, len(objective), found.status == CONVERGED, history)


def unchanged(V: Array) -> Result:
    """Return the result of no iteration."""
    return Result(V, 0, False, {"objective": np.empty(0)})
