"""Methods with distributions of low rank: InLDL-p and InLDL-a."""

from typing import ClassVar

from inldl.methods.parameters import NotNegative, Positive, parameters, shared
from inldl.methods.winldl import LinearDistributionEstimator
from inldl.solvers.low_rank import AlternatingProblem, ProximalProblem


@shared
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
