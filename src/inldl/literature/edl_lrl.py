"""The EDL-LRL estimator."""

from typing import ClassVar, Literal

import numpy as np

from inldl.methods.parameters import (
    AtLeastOne,
    Count,
    NotNegative,
    Positive,
    parameters,
)
from inldl.methods.softmax_base import SoftmaxDistributionEstimator, group_rows
from inldl.randomness import seed_from
from inldl.solvers.edl_lrl import EDLLRLProblem, penalties, solve_edl_lrl
from inldl.solvers.softmax import zero_filled


@parameters
class EDLLRL(SoftmaxDistributionEstimator):
    r"""Label distribution learning with low-rank label correlations in groups of rows.

    Fits the softmax P of a linear map by ADMM on

    .. math:: \min_W \tfrac12 \|O \odot (P - D)\|_F^2 + \lambda_1 \|W\|_F^2
              + \lambda_2 \sum_c \|P_c\|_*, \quad P = \mathrm{softmax}(XW)

    where O marks the observed degrees, the rows are grouped by k-means on the features, and
    :math:`\|P_c\|_*` is the trace norm of the distributions of group c.

    Parameters
    ----------
    n_groups : int, default=5
        Groups of rows; fewer if there are fewer rows.
    lam1 : float, default=1e-3
        The weight of the squared norm of the coefficients and the bias.
    lam2 : float, default=0.1
        The weight of the trace norms.
    rho : float, default=1.0
        The penalty of ADMM in its first iteration.
    rho_growth : float, default=1.0
        The penalty is multiplied by this after each iteration, ...
    rho_max : float, default=1e6
        ... up to this.
    max_iter : int, default=10
        Iterations of ADMM at most.
    inner_iter : int, default=20
        Iterations of L-BFGS in each of them at most.
    tol : float, default=1e-4
        Stop when the root mean squares of P - Z and of the change of Z are not larger, Z being
        the low-rank copy of P.
    fit_intercept : bool, default=True
        Whether to add a bias to the linear map; `lam1` penalises it like the rest.
    loss : {"masked", "zero"}, default="masked"
        Whether unobserved degrees are left out of the loss, or count as degrees of 0.
    gradient : {"exact", "diagonal"}, default="exact"
        Whether the gradient uses the whole Jacobian of the softmax or, as the public program
        does, its diagonal only. That is no gradient of the objective: L-BFGS then stops early.
    threshold : {"soft", "hard"}, default="soft"
        Whether singular values above the threshold are shrunk, as the trace norm asks, or kept.
    start : {"zero", "uniform"}, default="zero"
        First coefficients: 0, or uniform in [0, 1] (for features scaled to stay within 1).
    random_state : int, RandomState, Generator or None, default=0
        For k-means and a random start; the same int gives the same result to the bit.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations of ADMM done, and whether `tol` was met. The method is usually ended by
        `max_iter`, on purpose, so no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective" is the formula above; "gap" and "change" are what `tol` is compared with.

    See Also
    --------
    LDM : Labels that explain each other, in groups of rows with similar degrees.

    References
    ----------
    Jia, Zheng, Li, Zhang and Li, "Facial emotion distribution learning by exploiting low-rank
    label correlations locally", CVPR 2019.
    """

    _rescale = True

    n_groups: Count = 5
    lam1: NotNegative = 1e-3
    lam2: NotNegative = 0.1
    rho: Positive = 1.0
    rho_growth: AtLeastOne = 1.0
    rho_max: Positive = 1e6
    max_iter: Count = 10
    inner_iter: Count = 20
    tol: NotNegative = 1e-4
    fit_intercept: bool = True
    loss: Literal["masked", "zero"] = "masked"
    gradient: Literal["exact", "diagonal"] = "exact"
    threshold: Literal["soft", "hard"] = "soft"
    start: Literal["zero", "uniform"] = "zero"
    random_state: object = 0

    tunable: ClassVar = {"lam1": (1e-4, 1e-3, 1e-2, 0.1), "lam2": (1e-2, 0.1, 1.0)}

    @classmethod
    def as_published(cls, **changes):
        """Return the estimator with the setting of the public program.

        `changes` are parameters with other values. It differs from the method's description in the
        loss (unobserved degrees count as 0), the gradient and the threshold, and has no bias, a
        random start and nearly no regularisation.
        """
        program = {
            "lam1": 1e-7, "lam2": 1e-7, "rho": 1e-6, "rho_growth": 1.1,
            "max_iter": 50, "inner_iter": 10, "tol": 0.0, "fit_intercept": False, "loss": "zero",
            "gradient": "diagonal", "threshold": "hard", "start": "uniform",
        }  # fmt: skip
        return cls(**program | changes)

    def _solve(self, features, y, weights):
        seed = seed_from(self.random_state)
        D, observed = zero_filled(y.astype(np.float64, copy=False))
        problem = EDLLRLProblem(
            features,
            D,
            np.ones_like(D) if self.loss == "zero" else observed.astype(np.float64),
            group_rows(features.X, self.n_groups, seed, weights),
            lam1=self.lam1,
            lam2=self.lam2,
            exact=self.gradient == "exact",
            hard=self.threshold == "hard",
            weights=weights,
        )
        V = np.zeros((features.n_parameters, D.shape[1]))
        if self.start == "uniform":
            V = np.random.default_rng(seed).random(V.shape)
        rhos = penalties(self.rho, self.rho_growth, self.rho_max)
        limits = {"max_iter": self.max_iter, "inner_iter": self.inner_iter, "tol": self.tol}
        return solve_edl_lrl(problem, V, rhos, **limits)
