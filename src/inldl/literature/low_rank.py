"""Methods with matrices of low rank: InLDL-p, InLDL-a, I2LDL and WSLDL-MCSC."""

from typing import ClassVar, Literal

import numpy as np

from inldl.engines import one_blas_thread
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.methods.winldl import LinearDistributionEstimator
from inldl.rows.checks import FLOATS
from inldl.rows.inputs import check_predictable, validate_features
from inldl.solvers.gaussian import projected
from inldl.solvers.linear import Rotation, check_finite, gram
from inldl.solvers.loop import run
from inldl.solvers.low_rank import AlternatingProblem, I2LDLProblem, ProximalProblem
from inldl.solvers.neighbours import (
    Extension,
    MCSCProblem,
    distinct_rows,
    edge_weights,
    laplacian,
    neighbours,
    right_factor,
    unit_rows,
)


class _InLDL(LinearDistributionEstimator):
    """Base of the two InLDL methods, which have the same objective.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the trace norm.
    ridge : float, default=1e-5
        Added to the diagonal of X'X in the regression; more influential than `lam`.
    fit_intercept : bool, default=True
        Whether to add a bias, penalised by `ridge` like the rest.
    """

    _converges = True
    lam: NotNegative = 0.01
    ridge: NotNegative = 1e-5
    tunable: ClassVar = {"lam": (1e-3, 1e-2, 0.1, 1.0), "ridge": (1e-5, 1e-2, 1.0)}


@parameters
class InLDLProx(_InLDL):
    r"""Low-rank incomplete label distribution learning by proximal gradient (InLDL-p).

    .. math:: \min_W \tfrac12 \|O \odot (XW - D)\|_F^2 + \lambda \|XW\|_*
              \quad \text{s.t. rows of } XW \text{ on the simplex}

    Each iteration puts the observed degrees into the current fit, shrinks its singular values,
    projects the rows onto the simplex and regresses them onto X. The regression is not part of the
    proximal step, so the objective need not fall.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop when the objective changes by less, relatively.

    Attributes
    ----------
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective" and "objective_change".

    Notes
    -----
    `as_published` returns the setting behind the published numbers, for features without any
    preprocessing: no ridge, no bias, lam = 1e-3.

    References
    ----------
    M. Xu and Z.-H. Zhou, "Incomplete Label Distribution Learning", IJCAI 2017.
    """

    published: ClassVar = {"lam": 1e-3, "ridge": 0.0, "fit_intercept": False}

    def _problem(self):
        return ProximalProblem(self.lam, self.ridge, bool(self.fit_intercept))


@parameters
class InLDLADMM(_InLDL):
    r"""Low-rank incomplete label distribution learning by ADMM (InLDL-a).

    The objective is that of :class:`InLDLProx`. Distributions on the simplex, the linear map and a
    low-rank matrix are updated in turn. The regression ignores that XW lies in the range of X, so
    there is no guarantee of convergence.

    Parameters
    ----------
    rho : float, default=1.0
        The penalty of ADMM.
    tol : float, default=1e-3
        Stop when both residuals, relative to the size of what they compare, are below it.

    Notes
    -----
    `as_published` returns the setting behind the published numbers, for features without any
    preprocessing: no ridge, no bias.

    References
    ----------
    M. Xu and Z.-H. Zhou, "Incomplete Label Distribution Learning", IJCAI 2017.
    """

    rho: Positive = 1.0

    published: ClassVar = {"ridge": 0.0, "fit_intercept": False}

    def _problem(self):
        return AlternatingProblem(self.lam, self.ridge, bool(self.fit_intercept), self.rho)


@parameters
class I2LDL(LinearDistributionEstimator):
    r"""Incomplete and imbalanced label distributions: a low-rank part and a sparse part (I2LDL).

    .. math:: \min_{W, Q} \tfrac12 \|O \odot (X(W + Q) - D)\|_F^2 + 2 \lambda_1 \|W\|_*
              + \lambda_2 \|Q\|_F^2 + \lambda_3 \|XQ\|_1
              \quad \text{s.t. rows of } X(W + Q) \text{ on the simplex}

    W, of low rank, is meant for labels that are frequent and Q, whose predictions are sparse, for
    those in tails. The problem is convex and solved by ADMM, whose steps are all in closed form.

    Parameters
    ----------
    lam1 : float, default=1e-3
        Weight of the trace norm of W.
    lam2 : float, default=1e-5
        Weight of the squares of Q.
    lam3 : float, default=1e-3
        Weight of the absolute values of XQ.
    rho : float, default=1.0
        The penalty of ADMM. It decides how fast the solution is found, not which.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients (W + Q)', and the bias of each label.

    See Also
    --------
    InLDLADMM : The low-rank part alone, of predictions instead of coefficients.

    References
    ----------
    Z. Kou, H. Xuan, J. Wang, Y. Jia and X. Geng, "Towards Better Performance in Incomplete LDL:
    Addressing Data Imbalance", arXiv 2410.13579, 2024.
    """

    _converges = True
    lam1: NotNegative = 1e-3
    lam2: NotNegative = 1e-5
    lam3: NotNegative = 1e-3
    rho: Positive = 1.0
    max_iter: Count = 500
    tunable: ClassVar = {
        "lam1": (1e-4, 1e-3, 1e-2, 0.1), "lam2": (1e-5, 1e-3), "lam3": (1e-4, 1e-3, 1e-2)
    }  # fmt: skip

    def _problem(self):
        penalties = self.lam1, self.lam2, self.lam3
        return I2LDLProblem(*penalties, self.rho, bool(self.fit_intercept))


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
