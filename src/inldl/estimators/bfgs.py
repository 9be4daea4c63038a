"""The BFGS-LDL estimator, and the base of those that learn with it what they have recovered."""

from dataclasses import replace
from typing import ClassVar, Literal

from sklearn.exceptions import ConvergenceWarning

from inldl._errors import warn_user
from inldl._file_state import Array, FileState
from inldl.estimators._parameters import CountOrZero, NotNegative, parameters
from inldl.estimators._softmax_base import SoftmaxDistributionEstimator
from inldl.solvers.maximum_entropy import CrossEntropy, lbfgs
from inldl.solvers.neighbours import distinct_rows
from inldl.solvers.softmax import Features

MOST_ITERATIONS = 2000  # for what was recovered: small penalties take more than the usual 400


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
    fit_intercept : bool, default=True
        Whether to add a bias; it is penalised by `l2` like the rest of W.
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
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met; a ``ConvergenceWarning`` says so if not.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective", F after each iteration.

    Notes
    -----
    A negative degree counts as 0: the cross-entropy would have no minimum with it.

    References
    ----------
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering,
    2016.

    Examples
    --------
    >>> from inldl import BFGSLDL, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(500, random_state=0)
    >>> model = BFGSLDL().fit(X, hide(y, 0.5, random_state=0))
    >>> model.converged_
    True
    >>> model.predict(X[:1]).sum().round(6).item()
    1.0
    """

    l2: NotNegative = 1e-3
    fit_intercept: bool = True
    max_iter: CountOrZero = 400
    tol: NotNegative = 2e-9
    start: Literal["zero", "eye"] = "zero"

    tunable: ClassVar = {"l2": (1e-4, 1e-3, 1e-2, 0.1, 1.0)}

    @classmethod
    def as_published(cls, **changes):
        """Return the estimator as it was published: no penalty, no bias, the start "eye".

        `changes` are parameters with other values. The row of BFGS-LDL on SBU_3DFE in the WInLDL
        paper is that of the start itself, before any iteration:
        ``BFGSLDL.as_published(max_iter=0)`` on unscaled features.
        """
        return cls(**{"l2": 0.0, "fit_intercept": False, "start": "eye"} | changes)

    def _solve(self, features, y, weights):
        start = features.start(self.start, y.shape[1])
        problem = CrossEntropy(features, y, self.l2, weights)
        result = lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol)
        if not result.converged and self.max_iter > 0:
            warn_user(
                f"L-BFGS ended after {result.n_iter} iterations before F settled to "
                f"tol={self.tol}; raise max_iter, l2 or tol, or scale X.",
                ConvergenceWarning,
            )
        return result


class RecoveringEstimator(SoftmaxDistributionEstimator):
    """Base of estimators that learn a softmax model from distributions that they recovered.

    A method states `_check_parameters()`, `_recover(X, y, weights)`, which returns a result whose
    `shared` is the distributions of distinct rows, and has the parameters `l2` and
    `fit_intercept`.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The distributions of the training rows that have a weight. Model files do not keep them.
    """

    _in_file = FileState({"recovered_": Array(2, rows=False)})

    def _solve(self, features, y, weights):
        rows = distinct_rows(features.X, y, weights)
        X = features.X[rows.first]
        recovery = self._recover(X.astype(float), y[rows.first].astype(float), rows.weights)
        self.recovered_ = recovery.shared[rows.kind]
        learner = BFGSLDL(self.l2, self.fit_intercept, max_iter=MOST_ITERATIONS)
        few = Features(X, features.fit_intercept)
        learned = learner._solve(few, recovery.shared, rows.weights)
        return replace(recovery, shared=learned.shared)
