"""The LDM estimator."""

from typing import ClassVar, Literal

import numpy as np

from inldl.methods.parameters import Count, NotNegative, parameters
from inldl.methods.softmax_base import SoftmaxDistributionEstimator, group_rows
from inldl.randomness import seed_from
from inldl.solvers.ldm import STEPS, LDMProblem, solve_ldm
from inldl.solvers.softmax import zero_filled


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
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
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
    fit_intercept: bool = True
    solver: Literal["lbfgs", "steepest"] = "lbfgs"
    start: Literal["zero", "uniform"] = "zero"
    random_state: object = 0

    tunable: ClassVar = {"l1": (1e-4, 1e-2, 1.0), "l2": (0.1, 1.0, 10.0)}

    @classmethod
    def as_published(cls, **changes):
        """Return the estimator with the setting that comes nearest to the printed results.

        `changes` are parameters with other values. It has 600 alternations of one step of steepest
        descent, no bias and a random start, and is meant for unscaled features. The released
        program allows 100 alternations of 600 steps each.
        """
        published = {
            "max_iter": 600, "inner_iter": 1, "tol": 0.0, "fit_intercept": False,
            "solver": "steepest", "start": "uniform",
        }  # fmt: skip
        return cls(**published | changes)

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
