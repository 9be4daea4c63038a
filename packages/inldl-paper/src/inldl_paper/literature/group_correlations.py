"""EDL-LRL and LDM: softmax models with correlations of labels in groups of similar rows."""

import warnings
from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inldl.methods.parameters import (
    AtLeastOne,
    Count,
    NotNegative,
    Positive,
    parameters,
)
from inldl.randomness import seed_from
from inldl.solvers.softmax import zero_filled
from inldl_paper.literature.maximum_entropy import SoftmaxDistributionEstimator
from inldl_paper.solvers.group_correlations import (
    STEPS,
    EDLLRLProblem,
    LDMProblem,
    penalties,
    solve_edl_lrl,
    solve_ldm,
)


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
    n_iter_, converged_ : int, bool
        Iterations of ADMM done, and whether `tol` was met. The method is usually ended by
        `max_iter`, on purpose, so no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective" is the formula above; "gap" and "change" are what `tol` is compared with.

    See Also
    --------
    LDM : Labels that explain each other, in groups of rows with similar degrees.

    Notes
    -----
    `as_published` returns the setting of the public program. It differs from the description in
    the loss (unobserved degrees count as 0), the gradient and the threshold, and has no bias, a
    random start and nearly no regularisation.

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
    loss: Literal["masked", "zero"] = "masked"
    gradient: Literal["exact", "diagonal"] = "exact"
    threshold: Literal["soft", "hard"] = "soft"
    start: Literal["zero", "uniform"] = "zero"
    random_state: object = 0

    tunable: ClassVar = {"lam1": (1e-4, 1e-3, 1e-2, 0.1), "lam2": (1e-2, 0.1, 1.0)}
    published: ClassVar = {
        "lam1": 1e-7, "lam2": 1e-7, "rho": 1e-6, "rho_growth": 1.1,
        "max_iter": 50, "inner_iter": 10, "tol": 0.0, "fit_intercept": False, "loss": "zero",
        "gradient": "diagonal", "threshold": "hard", "start": "uniform",
    }  # fmt: skip

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


@parameters
class LDM(SoftmaxDistributionEstimator):
    r"""Label distribution learning by exploiting the label distribution manifold.

    Fits the softmax P of a linear map, alternating between W and the :math:`Z_q` of

    .. math:: \min_W -\sum_{ij \text{ observed}} D_{ij} \log P_{ij} + \tfrac{l_1}2 \|W\|_F^2
              + \sum_q l_q \|P_q (I - Z_q)\|_F^2, \quad P = \mathrm{softmax}(XW)

    where q runs over the whole set (weight :math:`l_2`) and groups of rows (weight :math:`l_3`).
    The groups are made by k-means on the degrees, with 0 for the unobserved ones. Each column
    of :math:`Z_q` writes a label as the affine mix of the other labels that is nearest to it on
    the rows :math:`P_q`, slightly regularised. The first W-step has no such term.

    Parameters
    ----------
    l1 : float, default=1e-4
        The weight of the squared norm of the coefficients and the bias.
    l2 : float, default=1.0
        The weight of the manifold of all rows.
    l3 : float, default=1.0
        The weight of the manifold of each group.
    n_groups : int, default=10
        Groups of rows; fewer if there are fewer rows.
    max_iter : int, default=3
        Alternations at most.
    inner_iter : int, default=50
        Iterations of the solver in each W-step at most.
    tol : float, default=1e-6
        Stop when a W-step lowers the objective by no larger share of it.
    fit_intercept : bool, default=True
        Whether to add a bias to the linear map; `l1` penalises it like the rest.
    solver : {"lbfgs", "steepest"}, default="lbfgs"
        What does the W-step: L-BFGS, or steepest descent with step halving.
    start : {"zero", "uniform"}, default="zero"
        First coefficients: 0, or uniform in [-0.1, 0.1] (for features scaled to stay within 1).
    random_state : int, RandomState, Generator or None, default=0
        For k-means and a random start; the same int gives the same result to the bit.

    Attributes
    ----------
    n_iter_, converged_ : int, bool
        Alternations done, and whether `tol` was met. The method is usually ended by `max_iter`,
        on purpose, so no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "objective_before" and "objective": the formula above before and after each W-step, with
        the :math:`Z_q` of that step.

    See Also
    --------
    EDLLRL : Low-rank label correlations in groups of rows with similar features.

    Notes
    -----
    `as_published` returns the setting that comes nearest to the printed results, for unscaled
    features: 600 alternations of one step of steepest descent, no bias and a random start. The
    released program allows 100 alternations of 600 steps each.

    The released program makes its groups from the complete degrees even where degrees are
    hidden from the fit; here only what is observed is used.

    References
    ----------
    Wang and Geng, "Label distribution learning by exploiting label distribution manifold",
    IEEE Transactions on Neural Networks and Learning Systems 34(2), 2023.
    """

    _rescale = True

    l1: NotNegative = 1e-4
    l2: NotNegative = 1.0
    l3: NotNegative = 1.0
    n_groups: Count = 10
    max_iter: Count = 3
    inner_iter: Count = 50
    tol: NotNegative = 1e-6
    solver: Literal["lbfgs", "steepest"] = "lbfgs"
    start: Literal["zero", "uniform"] = "zero"
    random_state: object = 0

    tunable: ClassVar = {"l1": (1e-4, 1e-2, 1.0), "l2": (0.1, 1.0, 10.0)}
    published: ClassVar = {
        "max_iter": 600, "inner_iter": 1, "tol": 0.0, "fit_intercept": False,
        "solver": "steepest", "start": "uniform",
    }  # fmt: skip

    def _solve(self, features, y, weights):
        seed = seed_from(self.random_state)
        D, _ = zero_filled(y.astype(np.float64, copy=False))
        groups = group_rows(D, self.n_groups, seed, weights)
        parts = [(slice(None), self.l2), *((rows, self.l3) for rows in groups)]
        parts = [part for part in parts if part[1] > 0]
        if weights is not None:
            D = D * weights[:, None]
        problem = LDMProblem(features, D, self.l1, parts, weights)
        V = np.zeros((features.n_parameters, D.shape[1]))
        if self.start == "uniform":
            V = np.random.default_rng(seed).uniform(-0.1, 0.1, V.shape)
        limits = {"max_iter": self.max_iter, "inner_iter": self.inner_iter, "tol": self.tol}
        return solve_ldm(problem, V, step=STEPS[self.solver](), **limits)


def group_rows(A, n_groups, seed, weights=None) -> list[np.ndarray]:
    """Return the row numbers of each group that k-means finds, at most `n_groups`, none empty."""
    from sklearn.cluster import KMeans  # time that other methods need not pay

    largest = max(A.max(), -A.min())
    if largest > 1e15:  # the squares of float32 end at 3e38
        A = A / largest
    means = KMeans(min(n_groups, len(A)), random_state=seed)
    with warnings.catch_warnings():  # fewer distinct rows than groups is no trouble here
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = means.fit_predict(A, sample_weight=weights)
    return [np.flatnonzero(labels == group) for group in np.unique(labels)]
