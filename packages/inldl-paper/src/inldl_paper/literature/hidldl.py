"""HidLDL: degrees of which only ratios are known, recovered on a graph of neighbours.

The problem of the recovery::

    min  1/2 tr(D'GD) + alpha |D|_*     rows of D on the simplex, D_ij = c_i y_ij where observed

G = diag(A1) - A is that of a graph: ``A_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))`` if j is one of
the nearest neighbours of i, else 0. Copies K (which keeps the ratios) and L (of low rank) of D
have multipliers U and V, and penalties rho and `RHO_LOW`. An iteration, as in the public program::

    D = normalised max(D - step * gradient, 0), a gradient step on the augmented Lagrangian
    K = D + U/rho, where observed its projection onto the ray of y
    L = shrink(D + V/RHO_LOW, alpha/RHO_LOW)
    U += rho (D - K),  V += RHO_LOW (D - L)

A weight w counts a row w times: in the graph, and in L, by its root.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from inldl.methods.parameters import (
    Count,
    CountOrNone,
    Known,
    NotNegative,
    Positive,
    parameters,
)
from inldl.solvers.loop import Iteration, run
from inldl.solvers.softmax import zero_filled
from inldl_paper.literature.maximum_entropy import BFGSLDL, SoftmaxDistributionEstimator
from inldl_paper.literature.neighbours import Array, distinct_rows, graph, neighbours
from inldl_paper.solvers.linear_scores import Features
from inldl_paper.solvers.shrinkage import shrink_singular_values

MOST_ITERATIONS = 2000  # of the softmax model of HidLDL: small penalties need more than 400
RHO_LOW = 2.0  # the public program of HidLDL does not let one choose it


@parameters
class HidLDL(SoftmaxDistributionEstimator):
    r"""Label distributions with hidden labels: only ratios of the observed degrees are used.

    Labels that were dropped before the others were rescaled to a sum of 1 leave ratios only. The
    distributions D of the training rows are recovered by an approximate ADMM on

    .. math:: \min_D \tfrac12 \mathrm{tr}(D' G D) + \alpha \|D\|_*
              \quad \text{s.t. rows of } D \text{ on the simplex}, \;
              D_{ij} = c_i y_{ij} \text{ where observed}

    where G is that of a graph of nearest neighbours; then a softmax model (:class:`BFGSLDL`)
    learns D from the features. Since only ratios count, degrees that were not rescaled give the
    same result as those that were, and what their sum tells is not used.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the trace norm. The authors chose it with the true distributions in hand.
    sigma : float, default=1.0
        The width of the kernel that turns distances of features into edges of the graph.
    n_neighbors : int or None, default=None
        Neighbours of a row; None is one more than there are labels, as published.
    rho : float, default=2.0
        The penalty of ADMM.
    step : float, default=0.01
        The length of its gradient steps.
    max_iter : int, default=100
        Iterations at most. They usually end the fit, on purpose: it regularises.
    tol : float, default=1e-3
        Stop when no entry of the copy of D that keeps the ratios moves by more.
    known : {"degrees", "ratios"}, default="degrees"
        What `complete` is given of rows with holes. The fit uses ratios only, whatever it is.
    l2 : float, default=1e-4
        The penalty of the softmax model.
    fit_intercept : bool, default=True
        Whether the softmax model has a bias.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The recovered distributions of the training rows that have a weight; ratios of the
        observed degrees are kept approximately. Model files leave them out.
    n_iter_, converged_ : int, bool
        Iterations of the recovery, and whether `tol` was met.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "change" is what `tol` is compared with; "gap" is how far D is from keeping the ratios.

    Notes
    -----
    A negative degree counts as 0. Rows that are equal count as one of their total weight, so that
    none is a neighbour of itself.

    References
    ----------
    J. Jiang, J. Tang, J. Jiang, H. Liu, J. Hou and Y. Jia, "Towards Better IncomLDL: We Are
    Unaware of Hidden Labels in Advance", arXiv 2511.12494, 2025.
    """

    alpha: NotNegative = 1.0
    sigma: Positive = 1.0
    n_neighbors: CountOrNone = None
    rho: Positive = 2.0
    step: Positive = 0.01
    max_iter: Count = 100
    tol: NotNegative = 1e-3
    known: Known = "degrees"
    l2: NotNegative = 1e-4
    tunable: ClassVar = {"alpha": (0.01, 0.1, 1.0, 10.0)}

    def _solve(self, features, y, weights):
        rows = distinct_rows(features.X, y, weights)
        X = features.X[rows.first]
        problem = HidLDLProblem(
            X.astype(float),
            y[rows.first].astype(float),
            rows.weights,
            alpha=self.alpha,
            sigma=self.sigma,
            rho=self.rho,
            n_neighbors=self.n_neighbors or y.shape[1] + 1,
        )
        recovery = run(problem.iterations(self.step, self.tol), self.max_iter)
        self.recovered_ = recovery.shared[rows.kind]
        learner = BFGSLDL(self.l2, max_iter=MOST_ITERATIONS, fit_intercept=self.fit_intercept)
        few = Features(X, features.fit_intercept)
        learned = learner._solve(few, recovery.shared, rows.weights)
        return replace(recovery, shared=learned.shared)


@dataclass(frozen=True)
class Copies:
    """The distributions D, their copies K and L, and the multipliers U and V."""

    D: Array
    K: Array
    L: Array
    U: Array
    V: Array


class HidLDLProblem:
    """The problem of rows X with degrees y (NaN = unobserved), of which only ratios count."""

    def __init__(
        self,
        X: Array,
        y: Array,
        weights: Array,
        *,
        alpha: float,
        sigma: float,
        rho: float,
        n_neighbors: int,
    ) -> None:
        degrees, self.observed = zero_filled(y)
        self.ray = _normalised(np.maximum(degrees, 0))
        self.length = (self.ray**2).sum(axis=1, keepdims=True)
        self.alpha, self.rho = alpha, rho
        self.root = np.sqrt(weights)[:, None]
        distances, nearest = neighbours(X, n_neighbors)
        A = graph(nearest, np.exp(-((distances / sigma) ** 2) / 2))
        self.degree = np.asarray(A.sum(axis=1))[:, None]
        self.back = (A.T.multiply(weights[None, :]).multiply(1 / weights[:, None])).tocsr()
        self.edges = A

    def step(self, now: Copies, step: float) -> Copies:
        """Make one iteration."""
        D = _normalised(np.maximum(now.D - step * self.gradient(now), 0), 1.0)
        K, L = self.keep_ratios(D + now.U / self.rho), self.low_rank(D + now.V / RHO_LOW)
        return Copies(D, K, L, now.U + self.rho * (D - K), now.V + RHO_LOW * (D - L))

    def gradient(self, now: Copies) -> Array:
        """Return the gradient of the augmented Lagrangian at D; rho is that of both copies."""
        smooth = self.degree * now.D - (self.edges @ now.D + self.back @ now.D) / 2
        return smooth + now.U + now.V + self.rho * (2 * now.D - now.K - now.L)

    def keep_ratios(self, T: Array) -> Array:
        """Return the nearest matrix to T whose observed degrees have the given ratios."""
        along = (np.where(self.observed, T, 0) * self.ray).sum(axis=1, keepdims=True)
        scale = np.divide(along, self.length, out=np.zeros_like(along), where=self.length > 0)
        return np.where(self.observed, scale * self.ray, T)

    def low_rank(self, T: Array) -> Array:
        """Shrink the singular values of T, whose rows count by their weights."""
        L = shrink_singular_values(self.root * T, self.alpha / RHO_LOW)[0]
        return L / self.root

    def iterations(self, step: float, tol: float) -> Iterator[Iteration]:
        """Iterate from the rescaled degrees, until no entry of K moves by more than `tol`."""
        D = np.where(self.length > 0, self.ray, 1 / self.ray.shape[1])
        now = Copies(D, *[np.ones_like(D)] * 4)  # as the program does
        while True:
            before, now = now, self.step(now, step)
            moved = float(np.abs(now.K - before.K).max())
            yield now.D, {"change": moved, "gap": float(np.abs(now.D - now.K).max())}, moved <= tol


def _normalised(D: Array, whole: float = 0.0) -> Array:
    """Return rows divided by their sum; a row of 0 becomes `whole` in equal parts."""
    total = D.sum(axis=1, keepdims=True)
    return np.where(total > 0, D / np.where(total > 0, total, 1), whole / D.shape[1])
