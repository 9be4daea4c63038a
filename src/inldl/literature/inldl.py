"""The two InLDL estimators: low-rank label distributions."""

from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from inldl.errors import warn_user
from inldl.methods.base import LinearDistributionEstimator
from inldl.methods.parameters import Count, Jobs, NotNegative, Positive, parameters
from inldl.solvers.low_rank import AlternatingProblem, ProximalProblem


class _LowRankEstimator(LinearDistributionEstimator):
    """Base of both: their parameters, and the warning where the cap was hit."""

    def _store(self, rows, coef, intercept, result):
        super()._store(rows, coef, intercept, result)
        if not self.converged_:
            warn_user(
                f"{type(self).__name__} did not reach tol={self.tol:g} in max_iter="
                f"{self.max_iter} iterations; history_ shows how far it came.",
                ConvergenceWarning,
            )


@parameters
class InLDLProx(_LowRankEstimator):
    r"""Low-rank incomplete label distribution learning by proximal gradient (InLDL-p).

    .. math:: \min_W \tfrac12 \|O \odot (XW - D)\|_F^2 + \lambda \|XW\|_*
              \quad \text{s.t. rows of } XW \text{ on the simplex}

    Each iteration puts the observed degrees into the current fit, shrinks its singular values,
    projects the rows onto the simplex and regresses them onto X. The regression is not part of the
    proximal step, so the objective need not fall.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the trace norm.
    ridge : float, default=1e-5
        Added to the diagonal of X'X in the regression; more influential than `lam`.
    fit_intercept : bool, default=True
        Whether to add a bias, penalised by `ridge` like the rest.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-3
        Stop when the objective changes by less, relatively.
    n_jobs, verbose
        As in :class:`WInLDL`.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective" and "objective_change".

    References
    ----------
    M. Xu and Z.-H. Zhou, "Incomplete Label Distribution Learning", IJCAI 2017.
    """

    lam: NotNegative = 0.01
    ridge: NotNegative = 1e-5
    fit_intercept: bool = True
    max_iter: Count = 100
    tol: NotNegative = 1e-3
    n_jobs: Jobs = None
    verbose: int = 0

    tunable: ClassVar = {"lam": (1e-3, 1e-2, 0.1, 1.0), "ridge": (1e-5, 1e-2, 1.0)}

    @classmethod
    def as_published(cls, **changes):
        """Return the setting behind the published numbers: no ridge, no bias, lam = 1e-3.

        `changes` are parameters with other values. It is meant for features as they are, without
        any preprocessing.
        """
        return cls(**{"lam": 1e-3, "ridge": 0.0, "fit_intercept": False} | changes)

    def _problem(self, fit_intercept, expand, initial):
        return ProximalProblem(self.lam, self.ridge, fit_intercept)


@parameters
class InLDLADMM(_LowRankEstimator):
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
    lam, ridge, fit_intercept, max_iter, n_jobs, verbose
        As in :class:`InLDLProx`.

    Attributes
    ----------
    history_ : dict of str to ndarray of shape (n_iter_,)
        "primal_residual" and "dual_residual". All others are as in :class:`InLDLProx`.

    References
    ----------
    M. Xu and Z.-H. Zhou, "Incomplete Label Distribution Learning", IJCAI 2017.
    """

    lam: NotNegative = 0.01
    rho: Positive = 1.0
    ridge: NotNegative = 1e-5
    fit_intercept: bool = True
    max_iter: Count = 100
    tol: NotNegative = 1e-3
    n_jobs: Jobs = None
    verbose: int = 0

    tunable: ClassVar = {"lam": (1e-3, 1e-2, 0.1, 1.0), "ridge": (1e-5, 1e-2, 1.0)}

    @classmethod
    def as_published(cls, **changes):
        """Return the setting behind the published numbers: no ridge, no bias.

        `changes` are parameters with other values. It is meant for features as they are, without
        any preprocessing.
        """
        return cls(**{"ridge": 0.0, "fit_intercept": False} | changes)

    def _problem(self, fit_intercept, expand, initial):
        return AlternatingProblem(self.lam, self.ridge, fit_intercept, self.rho)
