"""The I2LDL estimator."""

from typing import ClassVar

from inldl.literature.inldl import _LowRankEstimator
from inldl.methods.parameters import Count, Jobs, NotNegative, Positive, parameters
from inldl.solvers.i2ldl import I2LDLProblem


@parameters
class I2LDL(_LowRankEstimator):
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
    fit_intercept : bool, default=True
        Whether to add a bias, penalised like the rest.
    max_iter : int, default=500
        Iterations at most.
    tol : float, default=1e-3
        Stop when both residuals are below this part of the distributions.
    n_jobs, verbose
        As in :class:`WInLDL`.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients (W + Q)', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met; a ``ConvergenceWarning`` says so if not.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "primal_residual" and "dual_residual".

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
    fit_intercept: bool = True
    max_iter: Count = 500
    tol: NotNegative = 1e-3
    n_jobs: Jobs = None
    verbose: int = 0
    tunable: ClassVar = {
        "lam1": (1e-4, 1e-3, 1e-2, 0.1), "lam2": (1e-5, 1e-3), "lam3": (1e-4, 1e-3, 1e-2)
    }  # fmt: skip

    def _problem(self, fit_intercept, expand, initial):
        penalties = self.lam1, self.lam2, self.lam3
        return I2LDLProblem(*penalties, self.rho, fit_intercept)
