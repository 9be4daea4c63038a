"""WSLDL-MCSC: one matrix of features and degrees, of low rank and smooth on a graph.

The problem::

    min  mu |Z|_* + 1/2 |Z_X - X|^2 + gamma |O * (Z_Y - Y)|^2 + lam tr(Z_Y' L Z_Y)
         + 1/2 |Z_Y 1 - 1|^2,    Z = [Z_X 1 Z_Y]

The column of ones is fixed. L is the Laplacian of a graph of nearest neighbours by cosine. ADMM
with a copy S of Z and a scaled multiplier U: Z_X in closed form and Z_Y by conjugate gradients,
S = shrink(Z + U, mu/rho), U += Z - S. Its matrices hold the rows times the root of their weight.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from inldl.engines.base import one_blas_thread
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.rows.checks import FLOATS
from inldl.rows.inputs import check_predictable, validate_features
from inldl.solvers.gaussian import projected
from inldl.solvers.linear import Rotation, check_finite, gram
from inldl.solvers.loop import Iteration, run
from inldl.solvers.softmax import zero_filled
from inldl_paper.literature.neighbours import Array, distinct_rows, graph, neighbours
from inldl_paper.solvers.shrinkage import shrink_singular_values

NO_RANK = 1e-7  # a singular value that is rounding, relative to the largest
LEAST_RESIDUAL = 1e-150  # of a linear system: its square is still a number
SOLVED = 1e-3  # of the tolerance: how well each linear system is solved


@parameters
class WSLDLMCSC(DistributionEstimator):
    r"""Transductive matrix completion with sample correlations (WSLDL-MCSC).

    Features and degrees are the columns of one matrix, which is completed by

    .. math:: \min_Z \mu \|Z\|_* + \tfrac12 \|Z_X - X\|_F^2 + \gamma \|O \odot (Z_Y - Y)\|_F^2
              + \lambda\, \mathrm{tr}(Z_Y' L Z_Y) + \tfrac12 \|Z_Y 1 - 1\|^2,
              \quad Z = [Z_X, 1, Z_Y]

    where O marks the observed degrees and L is the Laplacian of a graph that joins each row to
    its nearest neighbours by the cosine of the features.

    Parameters
    ----------
    mu : float, default=0.01
        The weight of the trace norm.
    gamma : float, default=1.0
        The weight of the observed degrees.
    lam : float, default=0.1
        The weight of the graph.
    n_neighbors : int, default=5
        Neighbours that each row is joined to; fewer if there are fewer rows.
    edges : {"similarity", "distance"}, default="similarity"
        The weight of an edge: the cosine of two rows, at least 0, or 1 minus it. With the latter,
        as in the public program, rows pull each other more the farther they are apart.
    rho : float, default=1.0
        The penalty of ADMM.
    max_iter : int, default=200
        Iterations at most.
    tol : float, default=1e-3
        Stop when both residuals are below this part of Z.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The completed degrees of the training rows that have a weight, projected onto the simplex.
        Rows without any observed degree are completed as the method was published: together with
        the others. Model files leave them out.
    units_, degrees_ : ndarray of shape (n_rows, n_features) and (n_rows, n_labels)
        Distinct training rows, scaled to length 1, and their completed degrees: what new rows are
        compared with.
    extension_ : object
        What completes new rows.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met; a ``ConvergenceWarning`` says so if not.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "primal_residual" and "dual_residual".

    Notes
    -----
    `as_published` returns the setting of the public program: gamma = 0.1, lam = 1, edges of
    distances.

    The method is transductive: it was published for rows to predict that are there when it is
    fitted. To use it so, give them to `fit` with NaN as degrees and read `recovered_`. `predict`
    adds each new row by itself instead, holding what was found for the others, so that the
    prediction of a row does not depend on which others are predicted. The scale of the features
    matters beside degrees of at most 1.

    References
    ----------
    X. Jia, T. Ren, L. Chen, J. Wang, J. Zhu and X. Long, "Weakly supervised label distribution
    learning based on transductive matrix completion with sample correlations", Pattern
    Recognition Letters, 2019.
    """

    _converges = True
    mu: Positive = 0.01
    gamma: NotNegative = 1.0
    lam: NotNegative = 0.1
    n_neighbors: Count = 5
    edges: Literal["similarity", "distance"] = "similarity"
    rho: Positive = 1.0
    max_iter: Count = 200
    tol: NotNegative = 1e-3
    tunable: ClassVar = {
        "mu": (1e-3, 1e-2, 0.1), "gamma": (0.1, 1.0, 10.0), "lam": (0.01, 0.1, 1.0)
    }  # fmt: skip
    published: ClassVar = {"gamma": 0.1, "lam": 1.0, "edges": "distance"}

    def _learn(self, X, y, weights):
        rows = distinct_rows(X, y, weights)
        X, y = X[rows.first].astype(float), y[rows.first].astype(float)
        with one_blas_thread():
            self._set_history(self._complete_rows(X, y, rows.weights))
        self.recovered_ = projected(self.degrees_)[rows.kind]

    def _complete_rows(self, X, y, weights):
        """Complete distinct rows; set what predicting new rows needs."""
        check_finite(gram(X))
        self.units_, turn = unit_rows(X), None
        L = laplacian(self.units_, weights, self.n_neighbors, self.edges)
        if X.shape[1] > 2 * len(X):  # the same in as many columns as there are rows
            turn = Rotation(X, False)
            X = turn.features
        penalties = {"mu": self.mu, "gamma": self.gamma, "lam": self.lam, "rho": self.rho}
        problem = MCSCProblem(X, y, weights, L, **penalties)
        result = run(problem.iterations(self.tol), self.max_iter)
        Z, S = result.shared
        k = X.shape[1]
        B_X, B_1, B_Y = np.split(right_factor(S), [k, k + 1], axis=1)
        B_X = B_X if turn is None else turn.coef(B_X)[0]
        self.degrees_ = Z[:, k + 1 :] / problem.root
        self.extension_ = Extension(B_X, B_1, B_Y, self.mu, self.lam)
        return result

    def _predict(self, X):
        X = validate_features(self, X, dtype=FLOATS).astype(float, copy=False)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            distances, nearest = neighbours(self.units_, self.n_neighbors, unit_rows(X))
            edges = edge_weights(distances, self.edges)
            degrees = self.extension_(X, edges, self.degrees_[nearest])
        check_predictable(degrees)
        return projected(degrees)


def unit_rows(X: Array) -> Array:
    """Return rows of length 1; a row of 0 stays."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    X = X / np.where(largest > 0, largest, 1)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def edge_weights(distances: Array, kind: str) -> Array:
    """Return the weights of edges from Euclidean distances of rows of length 1.

    The cosine distance is half of their square; "similarity" is 1 minus that, at least 0.
    """
    apart = distances**2 / 2
    return apart if kind == "distance" else np.maximum(1 - apart, 0)


def laplacian(units: Array, weights: Array, n_neighbors: int, kind: str) -> sparse.csr_array:
    """Return the Laplacian of the graph in which each row is joined to its neighbours."""
    distances, nearest = neighbours(units, n_neighbors)
    A = graph(nearest, edge_weights(distances, kind))
    A = A.maximum(A.T).tocoo()
    i, j = A.coords
    A = sparse.csr_array((A.data * (weights[i] + weights[j]) / 2, (i, j)), shape=A.shape)
    return (sparse.diags_array(np.asarray(A.sum(axis=1))) - A).tocsr()


class MCSCProblem:
    """The problem of rows X with degrees y (NaN = unobserved) and the Laplacian L."""

    def __init__(
        self,
        X: Array,
        y: Array,
        weights: Array,
        L: sparse.csr_array,
        *,
        mu: float,
        gamma: float,
        lam: float,
        rho: float,
    ) -> None:
        self.mu, self.gamma, self.lam, self.rho = mu, gamma, lam, rho
        self.root, self.k = np.sqrt(weights)[:, None], X.shape[1]
        degrees, observed = zero_filled(y)
        self.X, self.Y = self.root * X, self.root * degrees
        self.observed = observed.astype(float)
        scale = sparse.diags_array(1 / self.root.ravel())
        self.L = (scale @ L @ scale).tocsr()

    def start(self) -> Array:
        """Return the features, ones, and the degrees with 0 where unobserved."""
        return np.hstack([self.X, self.root, self.Y])

    def closest(self, target: Array, guess: Array, tol: float) -> Array:
        """Return Z, the minimum of the smooth part and of rho/2 |Z - target|^2."""
        Z = np.empty_like(target)
        Z[:, : self.k] = (self.X + self.rho * target[:, : self.k]) / (1 + self.rho)
        Z[:, self.k] = self.root.ravel()
        right = 2 * self.gamma * self.observed * self.Y + self.root
        right += self.rho * target[:, self.k + 1 :]
        product = LinearOperator((right.size, right.size), self.curvature, dtype=float)
        limits = {"rtol": tol, "atol": LEAST_RESIDUAL, "maxiter": right.size}
        found, _ = cg(product, right.ravel(), guess.ravel(), **limits)
        Z[:, self.k + 1 :] = found.reshape(right.shape)
        return Z

    def curvature(self, flat: Array) -> Array:
        """Multiply degrees by the second derivative of what `closest` minimises."""
        Z_Y = flat.reshape(self.Y.shape)
        smooth = 2 * self.lam * (self.L @ Z_Y) + Z_Y.sum(axis=1, keepdims=True)
        return (smooth + (2 * self.gamma * self.observed + self.rho) * Z_Y).ravel()

    def iterations(self, tol: float) -> Iterator[Iteration]:
        """Iterate; it is good enough when both residuals, relative to Z, are below `tol`."""
        Z = self.start()
        S, U = Z, np.zeros_like(Z)
        while True:
            Z = self.closest(S - U, Z[:, self.k + 1 :], SOLVED * tol)
            before, (S, _) = S, shrink_singular_values(Z + U, self.mu / self.rho)
            U = U + Z - S
            size = float(np.linalg.norm(Z))
            gaps = np.linalg.norm(Z - S) / size, self.rho * np.linalg.norm(S - before) / size
            changes = {"primal_residual": float(gaps[0]), "dual_residual": float(gaps[1])}
            yield (Z, S), changes, bool(max(gaps) <= tol)


class Extension:
    """What the objective gives for one more row, if all that was found for others stays.

    With Z = AB and mu |Z|_* = mu/2 (|A|^2 + |B|^2) at the minimum, a new row a of A minimises

        mu/2 |a|^2 + 1/2 |a B_X - x|^2 + 1/2 (a B_Y 1 - 1)^2 + lam sum_j e_j |a B_Y - z_j|^2

    such that the column of ones has a 1, where e_j are the edges to its neighbours. The columns
    of `features`, `degrees` and `sums` are directions in which the quadratic forms are diagonal.
    """

    def __init__(self, B_X: Array, B_1: Array, B_Y: Array, mu: float, lam: float) -> None:
        sums = B_Y.sum(axis=1)
        fixed = mu * np.eye(len(sums)) + B_X @ B_X.T + np.outer(sums, sums)
        squares, directions = linalg.eigh(B_Y @ B_Y.T, fixed)
        self.curvature = 2 * lam * np.maximum(squares, 0)
        self.features, self.degrees = B_X.T @ directions, B_Y.T @ directions
        self.sums, self.one, self.lam = sums @ directions, B_1.ravel() @ directions, lam

    def __call__(self, X: Array, edges: Array, near: Array) -> Array:
        """Return the degrees of rows: `edges` (n, m) lead to degrees `near` (n, m, C)."""
        pull = np.einsum("nm,nmc->nc", edges, near)
        inverse = 1 / (1 + edges.sum(axis=1, keepdims=True) * self.curvature)
        a = (X @ self.features + self.sums + 2 * self.lam * pull @ self.degrees) * inverse
        lacking = (1 - a @ self.one) / (inverse @ self.one**2)
        a += lacking[:, None] * inverse * self.one
        return np.asarray(a @ self.degrees.T)


def right_factor(S: Array) -> Array:
    """Return B of S = AB with |A|^2 + |B|^2 = 2 |S|_*."""
    squares, V = linalg.eigh(S.T @ S)
    s = np.sqrt(np.maximum(squares, 0))
    kept = s > NO_RANK * s[-1]
    return np.asarray(np.sqrt(s[kept])[:, None] * V[:, kept].T)
