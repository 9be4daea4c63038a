"""Softmax models of a linear score: their base, BFGS-LDL, IIS-LDL and HidLDL."""

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inldl.engines import one_blas_thread
from inldl.errors import warn_user
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import (
    Count,
    CountOrNone,
    CountOrZero,
    Known,
    NotNegative,
    Positive,
    parameters,
)
from inldl.rows.checks import FLOATS
from inldl.rows.inputs import check_predictable, validate_features
from inldl.solvers.loop import run
from inldl.solvers.maximum_entropy import CrossEntropy, minimise_cross_entropy, scale_iteratively
from inldl.solvers.neighbours import HidLDLProblem, distinct_rows
from inldl.solvers.softmax import Features, linear_scores, softmax

MOST_ITERATIONS = 2000  # of the softmax model of HidLDL: small penalties need more than 400


class SoftmaxDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the softmax of a linear function.

    A method states `_check_parameters()`, `_solve(features, y, weights)`, where weights are those
    of the rows or None, and, in `_rescale`, whether its parameters count in units of the largest
    feature.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add a bias; it is penalised like the rest of W.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met.
    """

    fit_intercept: bool = True
    _rescale = False

    def _to_onnx(self, graph, features):
        return graph.softmax(graph.scores(features, self.coef_, self.intercept_))

    def _learn(self, X, y, weights):
        features = Features(X, bool(self.fit_intercept), self._rescale)
        with one_blas_thread():  # products this small lose more than they gain by threads
            result = self._solve(features, y, weights)
        self.coef_, self.intercept_ = features.split(result.shared)
        self._set_history(result)

    def _predict(self, X):
        X = validate_features(self, X, dtype=FLOATS)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = softmax(linear_scores(X, self.coef_, self.intercept_))
        check_predictable(predicted)
        return predicted


@parameters
class BFGSLDL(SoftmaxDistributionEstimator):
    r"""Maximum entropy model of label distributions, fitted by L-BFGS.

    Predicts the softmax :math:`P` of ``XW`` and minimises the cross-entropy of the observed
    degrees,

    .. math:: F(W) = -\sum_{(i,j) \text{ observed}} D_{ij} \log P_{ij}
              + \tfrac{l_2}{2} \|W\|_F^2

    with the gradient :math:`X'(\mathrm{diag}(r) P - \tilde D) + l_2 W`, where :math:`\tilde D` is
    0 where unobserved and :math:`r` is the observed mass of each row. Public programs leave
    :math:`r` out, which is right for complete rows only: with missing degrees their line search
    stops almost at once.

    Parameters
    ----------
    l2 : float, default=1e-3
        The penalty. With 0 the model overfits where features are many.
    max_iter : int, default=400
        Iterations at most; 0 keeps the start.
    tol : float, default=2e-9
        Stop when an iteration lowers F by less than this part of ``max(|F|, 1)``. For float32
        features it is at least their precision, 1.2e-7.
    start : {"zero", "eye"}, default="zero"
        The first W: 0, or 1 from the j-th feature to the j-th label, as published. F is convex,
        so the start matters only where the fit ends early.

    Attributes
    ----------
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met; a ``ConvergenceWarning`` says so if not.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective", F after each iteration.

    Notes
    -----
    `as_published` has no penalty, no bias and the start "eye". The row of BFGS-LDL on SBU_3DFE in
    the WInLDL paper is that of the start itself, before any iteration:
    ``BFGSLDL.as_published(max_iter=0)`` on unscaled features.

    A negative degree counts as 0: the cross-entropy would have no minimum with it.

    References
    ----------
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering,
    2016.
    """

    l2: NotNegative = 1e-3
    max_iter: CountOrZero = 400
    tol: NotNegative = 2e-9
    start: Literal["zero", "eye"] = "zero"

    tunable: ClassVar = {"l2": (1e-4, 1e-3, 1e-2, 0.1, 1.0)}
    published: ClassVar = {"l2": 0.0, "fit_intercept": False, "start": "eye"}

    def _solve(self, features, y, weights):
        start = features.start(self.start, y.shape[1])
        problem = CrossEntropy(features, y, self.l2, weights)
        result = minimise_cross_entropy(problem, start, max_iter=self.max_iter, tol=self.tol)
        if not result.converged and self.max_iter > 0:
            warn_user(
                f"L-BFGS ended after {result.n_iter} iterations before F settled to "
                f"tol={self.tol}; raise max_iter, l2 or tol, or scale X.",
                ConvergenceWarning,
            )
        return result


@parameters
class IISLDL(SoftmaxDistributionEstimator):
    r"""Maximum entropy model of label distributions, fitted by improved iterative scaling.

    Predicts the softmax :math:`P` of ``XW`` and lowers the cross-entropy of the observed degrees,

    .. math:: F(W) = -\sum_{(i,j) \text{ observed}} D_{ij} \log P_{ij}

    by adding to each :math:`W_{kj}` the root :math:`\delta` of

    .. math:: \sum_{x_{ik} > 0} m_i p_{ij} x_{ik} e^{\delta s_i}
              - \sum_{x_{ik} < 0} m_i p_{ij} |x_{ik}| e^{-\delta s_i} = (X' \tilde D)_{kj}

    where :math:`s_i = \sum_k |x_{ik}|` and :math:`\tilde D` is 0 where unobserved. All roots are
    found together.

    Parameters
    ----------
    max_iter : int, default=50
        Iterations at most; 0 keeps the start. Nothing else regularises the model: more
        iterations fit the training rows closer.
    tol : float, default=1e-6
        Stop when an iteration lowers F by no more than this part of ``max(|F|, 1)``.
    fit_intercept : bool, default=True
        Whether to add a bias, as a feature that is 1 in each row.
    mass : {"unit", "observed"}, default="unit"
        The weight :math:`m_i` of a row's prediction: 1, as published, or the sum of its observed
        degrees, with which each iteration is sure to lower F. The two agree on complete rows.
        With "unit" and missing degrees an iteration can raise F; it is not done, and the fit
        ends there.
    start : {"zero", "eye"}, default="zero"
        The first W, as in :class:`BFGSLDL`.

    Attributes
    ----------
    n_iter_, converged_ : int, bool
        Iterations done, and whether the fit ended by `tol`. It usually ends at `max_iter`
        instead; that is how the method is meant, and no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective", F after each iteration; it never rises.

    Notes
    -----
    `as_published` has 10 iterations, no bias and the start "eye". With unscaled features it gives
    the row of IIS-LDL on SBU_3DFE in the WInLDL paper.

    A negative degree counts as 0: the cross-entropy would have no minimum with it.

    Where a root lies at infinity, for example for a label whose observed degrees are all 0, the
    step is cut at ``log(1e12) / mean(s)``.

    References
    ----------
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering,
    2016.
    """

    max_iter: CountOrZero = 50
    tol: NotNegative = 1e-6
    mass: Literal["unit", "observed"] = "unit"
    start: Literal["zero", "eye"] = "zero"

    tunable: ClassVar = {"max_iter": (5, 10, 20, 50, 100)}
    published: ClassVar = {"max_iter": 10, "tol": 0.0, "fit_intercept": False, "start": "eye"}

    def _solve(self, features, y, weights):
        return scale_iteratively(
            CrossEntropy(features, y, weights=weights),
            features.start(self.start, y.shape[1]),
            max_iter=self.max_iter,
            tol=self.tol,
            unit_mass=self.mass == "unit",
        )


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
