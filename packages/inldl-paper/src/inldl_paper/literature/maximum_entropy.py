"""Softmax models of a linear score: their base, BFGS-LDL and IIS-LDL."""

from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inldl.engines.base import one_blas_thread
from inldl.errors import warn_user
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import (
    CountOrZero,
    NotNegative,
    parameters,
    shared,
)
from inldl.rows.checks import FLOATS
from inldl.rows.inputs import check_predictable, validate_features
from inldl.solvers.softmax import softmax
from inldl_paper.solvers.linear_scores import Features, linear_scores
from inldl_paper.solvers.maximum_entropy import (
    CrossEntropy,
    minimise_cross_entropy,
    scale_iteratively,
)


@shared
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
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering
    28(7), 2016, doi:10.1109/TKDE.2016.2545658.
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
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering
    28(7), 2016, doi:10.1109/TKDE.2016.2545658.
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
