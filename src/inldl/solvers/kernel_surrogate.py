r"""A kernel softmax learned from all rows, with a sample of them in memory to say where to go.

Let F be the objective of all rows with its penalty :math:`\alpha`, S the loss of a sample that is
a share s of them, and V parameters at which one sweep over all rows gave the gradient of F. Then

.. math:: V^+ = \arg\min_U \; S(U) + \langle s \nabla F(V) - \nabla S(V) - s \alpha V, U \rangle
          + \frac{s \alpha}{2} \|U\|^2 + \frac{\delta \alpha}{2} \|U - V\|^2

needs the sample only. Were S the same as its share of F, and :math:`\delta = 0`, this would be
the minimum of F. As it is, each sweep shrinks the distance to it by about the square root of
landmarks / rows of the sample (the surrogate likelihood of Jordan, Lee and Yang, 2019): two or
three sweeps do what L-BFGS on all rows needs dozens for. The last term keeps steps short in
directions that the sample knows little about; without it they can grow from sweep to sweep.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from inldl._validation import TOO_LARGE
from inldl.solvers.kernel_sweeps import KernelSoftmax
from inldl.solvers.landmark_kernel import Basis, KernelFeatures, LandmarkKernel
from inldl.solvers.masked_softmax import MaskedSoftmax, start_at_mean
from inldl.solvers.softmax import Array, Function, minimised

MOST_ENTRIES = 1 << 26  # of the features of the sample: 512 MB
MAX_ITER, MOST_STEPS = 100, 8
ROUGH = 1e-6  # what L-BFGS leaves to Newton's steps, which need fewer products for the rest
CLOSE = 1e-6  # a gradient, in parameters in which curvature is about 1

Loss = Callable[[Array, Array], tuple[float, Array, Array]]
"""The loss of all rows at coefficients and intercept, and its gradients by both."""


def polished(function: Function, curvature: Callable[[Array], Any], U: Array) -> Array:
    """Return the minimum, by Newton's steps from a point nearby.

    Where L-BFGS ends depends on the last digits of what it is given, so on the order in which the
    rows of a sweep were added up; a minimum does not.
    """
    gradient = function(U)[1]
    for _ in range(MOST_STEPS):
        if np.linalg.norm(gradient) < CLOSE:
            break
        product = LinearOperator((U.size, U.size), curvature(U), dtype=float)
        step, _ = cg(product, -gradient.ravel(), rtol=1e-2, maxiter=MAX_ITER)
        trial = U + step.reshape(U.shape)
        after = function(trial)[1]
        if not np.linalg.norm(after) < np.linalg.norm(gradient):
            break
        U, gradient = trial, after
    return U


class Sample:
    """Rows in memory, from which a kernel softmax is learned, alone or for all rows.

    Parameters
    ----------
    kernel : LandmarkKernel
        The kernel and its landmarks.
    Z : ndarray of shape (n, k)
        Scaled columns, in double precision.
    y : ndarray of shape (n, n_labels)
        Degrees in double precision, NaN = unobserved.
    weights : ndarray of shape (n,), optional
        Weights of the rows.
    """

    def __init__(self, kernel: LandmarkKernel, Z: Array, y: Array, weights: Array | None = None):
        rows = slice(max(MOST_ENTRIES // len(kernel.components_), 1))
        self.y, self.weights = y[rows], None if weights is None else weights[rows]
        self.kernel, kernel_map = kernel, KernelFeatures.of(kernel)
        self.basis = Basis.of(kernel_map, Z[rows], self.weights)
        self._features = self.basis.features(Z[rows])

    @property
    def total(self) -> float:
        """The sum of the weights of its rows."""
        return float(len(self.y)) if self.weights is None else float(self.weights.sum())

    def start(self) -> Array:
        """Return the parameters of a constant prediction."""
        return start_at_mean(self.y, self._features.shape[1], self.weights)

    def learn(self, V: Array, alpha: float) -> Array:
        """Return the best parameters for these rows alone, starting from V."""
        return self._problem(alpha).minimise(V, MAX_ITER)

    def model(self, V: Array) -> KernelSoftmax:
        """Return the softmax that has the parameters V; the last row is the bias."""
        coef, intercept = self.basis.split(V)
        return KernelSoftmax(self.kernel, self.basis.map.normalization_ @ coef, intercept)

    def slope(self, V: Array, alpha: float, loss: Loss) -> Array:
        """Return the gradient of the objective of all rows at V, by one sweep."""
        model, basis = self.model(V), self.basis
        _, by_coef, by_intercept = loss(model.coef, model.intercept)
        inner = basis.turn.T @ (basis.map.normalization_.T @ by_coef)
        found = np.vstack([inner - np.outer(basis.center, by_intercept), by_intercept])
        if not np.isfinite(found).all():
            raise ValueError(TOO_LARGE)
        found[:-1] += alpha * V[:-1]
        return found

    def improved(
        self, V: Array, alpha: float, slope: Array, share: float, damping: float
    ) -> Array:
        """Return better parameters for all rows than V, where they have the gradient `slope`.

        `share` is that of the sample in the weights of all rows.
        """
        problem = self._problem((share + damping) * alpha)
        tilt = share * slope - problem.value_and_gradient(V / problem.unit)[1] / problem.unit
        tilt *= problem.unit

        def surrogate(U: Array) -> tuple[float, Array]:
            value, gradient = problem.value_and_gradient(U)
            return value + float(np.vdot(tilt, U)), gradient + tilt

        found = minimised(surrogate, V / problem.unit, maxiter=MAX_ITER, ftol=ROUGH, gtol=CLOSE)
        U = polished(surrogate, problem.curvature, found.x.reshape(V.shape))
        return problem.unit * U

    def _problem(self, alpha: float) -> MaskedSoftmax:
        about = self.basis.squares, self.y, alpha, self.weights
        return MaskedSoftmax(self._features, *about)
