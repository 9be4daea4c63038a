"""The IIS-LDL estimator."""

from typing import ClassVar, Literal

from inldl.estimators._parameters import CountOrZero, NotNegative, parameters
from inldl.estimators._softmax_base import SoftmaxDistributionEstimator
from inldl.solvers.iis import solve
from inldl.solvers.maximum_entropy import CrossEntropy


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
        The first W: 0, or 1 from the j-th feature to the j-th label, as published.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether the fit ended by `tol`. It usually ends at `max_iter`
        instead; that is how the method is meant, and no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective", F after each iteration; it never rises.

    Notes
    -----
    A negative degree counts as 0: the cross-entropy would have no minimum with it.

    Where a root lies at infinity, for example for a label whose observed degrees are all 0, the
    step is cut at ``log(1e12) / mean(s)``.

    References
    ----------
    X. Geng, "Label Distribution Learning", IEEE Transactions on Knowledge and Data Engineering,
    2016.

    Examples
    --------
    >>> from inldl import IISLDL, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(500, random_state=0)
    >>> model = IISLDL().fit(X, hide(y, 0.5, random_state=0))
    >>> model.predict(X[:1]).sum().round(6).item()
    1.0
    """

    max_iter: CountOrZero = 50
    tol: NotNegative = 1e-6
    fit_intercept: bool = True
    mass: Literal["unit", "observed"] = "unit"
    start: Literal["zero", "eye"] = "zero"

    tunable: ClassVar = {"max_iter": (5, 10, 20, 50, 100)}

    @classmethod
    def as_published(cls, **changes):
        """Return the estimator as it was published: 10 iterations, no bias, the start "eye".

        `changes` are parameters with other values. With unscaled features it gives the row of
        IIS-LDL on SBU_3DFE in the WInLDL paper.
        """
        preset = {"max_iter": 10, "tol": 0.0, "fit_intercept": False, "start": "eye"}
        return cls(**preset | changes)

    def _solve(self, features, y, weights):
        return solve(
            CrossEntropy(features, y, weights=weights),
            features.start(self.start, y.shape[1]),
            max_iter=self.max_iter,
            tol=self.tol,
            unit_mass=self.mass == "unit",
        )
