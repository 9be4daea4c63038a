"""Low-rank label correlations in groups of rows: a softmax model fitted by ADMM."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from inldl.solvers.loop import Iteration, Result, run
from inldl.solvers.low_rank import shrink_singular_values
from inldl.solvers.softmax import Array, Features, minimum, softmax, through_softmax


def penalties(rho: float, growth: float, cap: float) -> Iterator[float]:
    """Yield the penalty of each iteration of ADMM; it is multiplied by `growth`, up to `cap`."""
    while True:
        yield rho
        rho = min(rho * growth, max(cap, rho))


@dataclass(frozen=True)
class EDLLRLProblem:
    """The parts of the objective of EDL-LRL, for degrees D that count where `counted` is 1.

    A row with the weight w counts as w equal rows, in the trace norms too: there it is multiplied
    by the root of w. Multipliers L are those of one of these rows.
    """

    features: Features
    D: Array
    counted: Array
    groups: list[Array]
    lam1: float
    lam2: float
    exact: bool = True
    hard: bool = False
    weights: Array | None = None

    @property
    def rows(self) -> Array | float:
        """How much each row counts."""
        return 1.0 if self.weights is None else self.weights[:, None]

    def augmented(self, V: Array, Z: Array, L: Array, rho: float) -> tuple[float, Array]:
        """Return what V minimises for given Z and multipliers L, and its gradient.

        Unless `exact`, the gradient passes through the diagonal of the softmax Jacobian only.
        """
        P = softmax(self.features.scores(V))
        E, apart, w = self.counted * (P - self.D), P - Z, self.rows
        norm, slope = self.features.penalty(V)
        value = float((w * E**2).sum() / 2 + (w * L * apart).sum())
        value += float(rho / 2 * (w * apart**2).sum())
        G = w * (E + L + rho * apart)
        R = through_softmax(P, G) if self.exact else P * (1 - P) * G
        return value + self.lam1 * norm, self.features.moments(R) + self.lam1 * slope

    def shrunk(self, A: Array, tau: float) -> tuple[Array, float]:
        """Return A with the singular values of each group shrunk, and the sum of what is left."""
        Z, total, root = np.empty_like(A), 0.0, np.sqrt(self.rows)
        A = A * root
        for rows in self.groups:
            Z[rows], norm = shrink_singular_values(A[rows], tau, hard=self.hard)
            total += norm
        return Z / root, total

    def root_mean_square(self, A: Array) -> float:
        """Return the root of the mean square of a matrix of rows."""
        if self.weights is None:
            return float(np.sqrt((A**2).mean()))
        return float(np.sqrt(np.average((A**2).mean(axis=1), weights=self.weights)))

    def objective(self, V: Array, P: Array) -> float:
        """Return the objective, for distributions P = softmax(XW)."""
        loss = float((self.rows * self.counted * (P - self.D) ** 2).sum()) / 2
        norms = self.shrunk(P, 0.0)[1]
        return loss + self.lam1 * self.features.penalty(V)[0] + self.lam2 * norms


@np.errstate(over="ignore", invalid="ignore")
def solve_edl_lrl(
    problem: EDLLRLProblem,
    V: Array,
    rhos: Iterable[float],
    *,
    max_iter: int,
    inner_iter: int,
    tol: float,
) -> Result:
    """Alternate between V by L-BFGS, Z by shrinkage, and the multipliers.

    It has converged when the root mean squares of P - Z and of the change of Z are at most `tol`.
    """
    return run(_iterations(problem, V, rhos, inner_iter, tol), max_iter)


def _iterations(
    problem: EDLLRLProblem, V: Array, rhos: Iterable[float], inner_iter: int, tol: float
) -> Iterator[Iteration]:
    Z, L = np.zeros_like(problem.D), np.zeros_like(problem.D)
    for rho in rhos:
        before = Z
        V = minimum(partial(problem.augmented, Z=Z, L=L, rho=rho), V, inner_iter)
        P = softmax(problem.features.scores(V))
        Z = problem.shrunk(P + L / rho, problem.lam2 / rho)[0]
        L = L + rho * (P - Z)
        gap, change = (problem.root_mean_square(A) for A in (P - Z, Z - before))
        changes = {"objective": problem.objective(V, P), "gap": gap, "change": change}
        yield V, changes, max(gap, change) <= tol
