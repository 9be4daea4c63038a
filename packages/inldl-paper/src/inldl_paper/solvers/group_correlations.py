"""Softmax models with correlations of labels in groups of rows: LDM and EDL-LRL.

In the label distribution manifold (LDM) the labels of a group explain each other. EDL-LRL has
distributions of low rank in each group, and is fitted by ADMM.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from inldl.solvers.loop import Iteration, Result, run
from inldl.solvers.softmax import Array, Function, minimum, softmax
from inldl_paper.solvers.linear_scores import Features, log_softmax, through_softmax
from inldl_paper.solvers.shrinkage import shrink_singular_values

Step = Callable[[Function, Array, int], tuple[Array, float, float]]
"""Takes a function, a start and a number of iterations; returns where it led, the value before
and the value there."""
RIDGE = 1e-3  # of the local reconstruction, as a share of the trace
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class LDMProblem:
    """The objective of LDM for zero-filled degrees D; a part is some rows and their weight.

    `weights` are those of single rows; D has been multiplied by them.
    """

    features: Features
    D: Array
    l1: float
    parts: list[tuple[Array | slice, float]]
    weights: Array | None = None

    def objective(self, V: Array, residuals: Array | None) -> tuple[float, Array]:
        """Return F and its gradient for given I - Z of each part; None = no manifold term."""
        logP = log_softmax(self.features.scores(V))
        P = np.exp(logP)
        value = -float((self.D * logP).sum())
        R = self.D.sum(axis=1, keepdims=True) * P - self.D
        if residuals is not None:
            manifold, G = self._manifold(P, residuals)
            value += manifold
            R += through_softmax(P, G)
        norm, slope = self.features.penalty(V)
        return value + self.l1 / 2 * norm, self.features.moments(R) + self.l1 / 2 * slope

    def _manifold(self, P: Array, residuals: Array) -> tuple[float, Array]:
        """Return the manifold terms, and their gradient with respect to P."""
        value, G = 0.0, np.zeros_like(P)
        for (rows, weight), residual in zip(self.parts, residuals, strict=True):
            E = P[rows] @ residual
            weighted = E if self.weights is None else E * self.weights[rows, None]
            value += weight * float((E * weighted).sum())
            G[rows] += 2 * weight * (weighted @ residual.T)
        return value, G

    def residuals(self, V: Array) -> Array:
        """Return I - Z of each part, parts x C x C, for the current distributions."""
        P = softmax(self.features.scores(V))
        C = P.shape[1]
        P -= 1 / C  # Z only sees differences of labels; this way small ones are not rounded away
        if self.weights is not None:
            P *= np.sqrt(self.weights)[:, None]
        H = np.array([P[rows].T @ P[rows] for rows, _ in self.parts]).reshape(-1, C, C)
        return np.eye(C) - reconstruction(H)


def reconstruction(H: Array) -> Array:
    """Return Z, which writes each label as an affine mix of the others.

    Column j of Z solves ``min |P(z - e_j)|^2 + r |z|^2`` with sum(z) = 1 and z_j = 0, where
    r is `RIDGE` times the summed squared distances of the other labels to j. A single label has
    no others, and gets 0.

    H, of shape (m, C, C), is P'P of each of m sets of rows, up to the same vector added to every
    label column of P. Z has the same shape.
    """
    m, C, _ = H.shape
    Z = np.zeros_like(H)
    for j in range(C if C > 1 else 0):
        others = np.delete(np.arange(C), j)
        cross = H[:, others, j]
        G = H[:, others][:, :, others] - cross[:, :, None] - cross[:, None, :]
        G += H[:, j, j][:, None, None]
        size = np.trace(G, axis1=1, axis2=2)
        G[:, range(C - 1), range(C - 1)] += RIDGE * np.where(size > TINY / RIDGE, size, 1)[:, None]
        w = np.linalg.solve(G, np.ones((m, C - 1, 1)))[:, :, 0]
        Z[:, others, j] = w / w.sum(axis=1, keepdims=True)
    return Z


class SteepestDescent:
    """Steepest descent that halves a step until it lowers the function enough.

    The first step has length 1; each later one, also in the next call, is first tried at twice
    the length at which the slope would repeat the last decrease.
    """

    def __init__(self) -> None:
        self.step: float | None = None

    @np.errstate(over="ignore", invalid="ignore")
    def __call__(self, function: Function, V: Array, max_iter: int) -> tuple[Array, float, float]:
        """Minimise from V by at most `max_iter` steps."""
        value, gradient = function(V)
        before = value
        if self.step is None:
            self.step = 1 / np.sqrt(max(float((gradient**2).sum()), TINY))
        for _ in range(max_iter):
            found = _halve(function, V, (value, gradient), self.step)
            if found is None:
                break
            decrease = value - found[1]
            V, value, gradient = found
            self.step = 4 * decrease / max(float((gradient**2).sum()), TINY)
        return V, before, value


def _halve(
    function: Function, V: Array, at: tuple[float, Array], step: float
) -> tuple[Array, float, Array] | None:
    """Return where the first of step, step/2, ... that lowers the function enough leads to."""
    value, gradient = at
    slope = float((gradient**2).sum())
    for _ in range(60):
        there = V - step * gradient
        new, new_gradient = function(there)
        if new < value and new <= value - 1e-4 * step * slope:
            return there, new, new_gradient
        step /= 2
    return None


def descend(function: Function, V: Array, max_iter: int) -> tuple[Array, float, float]:
    """Minimise from V by L-BFGS."""
    before = function(V)[0]
    V = minimum(function, V, max_iter)
    return V, before, function(V)[0]


STEPS: dict[str, Callable[[], Step]] = {"lbfgs": lambda: descend, "steepest": SteepestDescent}


@np.errstate(over="ignore", invalid="ignore")
def solve_ldm(
    problem: LDMProblem, V: Array, *, step: Step, max_iter: int, inner_iter: int, tol: float
) -> Result:
    """Alternate between V and the reconstructions; the first step has no manifold term.

    It has converged when a step lowers F, for the newest reconstructions, by at most `tol` of F.
    """

    def iterations(V: Array) -> Iterator[Iteration]:
        residuals = None
        while True:
            function = partial(problem.objective, residuals=residuals)
            V, before, after = step(function, V, inner_iter)
            good = residuals is not None and before - after <= tol * abs(after)
            yield V, {"objective_before": before, "objective": after}, good
            residuals = problem.residuals(V)

    return run(iterations(V), max_iter)


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

    def iterations(V: Array) -> Iterator[Iteration]:
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

    return run(iterations(V), max_iter)
