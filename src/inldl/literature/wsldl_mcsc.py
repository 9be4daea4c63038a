"""The WSLDL-MCSC estimator."""

from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inldl.engines import one_blas_thread
from inldl.errors import warn_user
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.rows.checks import FLOATS
from inldl.rows.inputs import check_predictable, validate_features
from inldl.solvers.gaussian import projected
from inldl.solvers.linear import Rotation, check_finite, gram
from inldl.solvers.loop import run
from inldl.solvers.neighbours import distinct_rows, neighbours
from inldl.solvers.wsldl_mcsc import (
    Extension,
    MCSCProblem,
    Penalties,
    edge_weights,
    laplacian,
    right_factor,
    unit_rows,
)


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
        problem = MCSCProblem(X, y, weights, L, Penalties(self.mu, self.gamma, self.lam, self.rho))
        result = run(problem.iterations(self.tol), self.max_iter)
        Z, S = result.shared
        k = X.shape[1]
        B_X, B_1, B_Y = np.split(right_factor(S), [k, k + 1], axis=1)
        B_X = B_X if turn is None else turn.coef(B_X)[0]
        self.degrees_ = Z[:, k + 1 :] / problem.root
        self.extension_ = Extension(B_X, B_1, B_Y, self.mu, self.lam)
        self._warn(result)
        return result

    def _warn(self, result):
        if not result.converged:
            warn_user(
                f"WSLDLMCSC did not reach tol={self.tol:g} in max_iter={self.max_iter} "
                "iterations; history_ shows how far it came.",
                ConvergenceWarning,
            )

    def _predict(self, X):
        X = validate_features(self, X, dtype=FLOATS).astype(float, copy=False)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            distances, nearest = neighbours(self.units_, self.n_neighbors, unit_rows(X))
            edges = edge_weights(distances, self.edges)
            degrees = self.extension_(X, edges, self.degrees_[nearest])
        check_predictable(degrees)
        return projected(degrees)
