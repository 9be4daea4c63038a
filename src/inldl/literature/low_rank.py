"""Linear methods whose predictions or coefficients are of low rank: InLDL-p, InLDL-a and I2LDL."""

from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning

from inldl.errors import warn_user
from inldl.methods.linear import LinearDistributionEstimator
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.solvers.i2ldl import I2LDLProblem
from inldl.solvers.low_rank import AlternatingProblem, ProximalProblem


class LowRankEstimator(LinearDistributionEstimator):
    """Base of linear methods that are expected to converge: a warning says if one did not."""

    def _learn(self, rows, header):
        super()._learn(rows, header)
        if not self.converged_:
            warn_user(
                f"{type(self).__name__} did not reach tol={self.tol:g} in max_iter="
                f"{self.max_iter} iterations; history_ shows how far it came.",
                ConvergenceWarning,
            )


class _InLDL(LowRankEstimator):
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
class I2LDL(LowRankEstimator):
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
