r"""HidLDL: distributions of which only the ratios of some degrees are known.

    min  1/2 tr(D'GD) + alpha |D|_*     rows of D on the simplex, D_ij = c_i y_ij where observed

G = diag(A1) - A is that of a graph: A_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)) if j is one of the
nearest neighbours of i, else 0. Copies K (which keeps the ratios) and L (of low rank) of D have
multipliers U and V, and penalties rho and `RHO_LOW`. An iteration, as in the public program:

    D = normalised max(D - step * gradient, 0), a gradient step on the augmented Lagrangian
    K = D + U/rho, where observed its projection onto the ray of y
    L = shrink(D + V/RHO_LOW, alpha/RHO_LOW)
    U += rho (D - K),  V += RHO_LOW (D - L)

A weight w counts a row w times: in the graph, and in L, by its root.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from inldl.solvers.loop import Iteration
from inldl.solvers.low_rank import shrink_singular_values
from inldl.solvers.neighbours import graph, neighbours
from inldl.solvers.softmax import zero_filled

Array = np.ndarray
RHO_LOW = 2.0  # the program does not let one choose it


@dataclass(frozen=True)
class Copies:
    """The distributions D, their copies K and L, and the multipliers U and V."""

    D: Array
    K: Array
    L: Array
    U: Array
    V: Array


class HidLDLProblem:
    """The problem of rows X with degrees y (NaN = unobserved), of which only ratios count."""

    def __init__(
        self,
        X: Array,
        y: Array,
        weights: Array,
        *,
        alpha: float,
        sigma: float,
        rho: float,
        n_neighbors: int,
    ) -> None:
        degrees, self.observed = zero_filled(y)
        self.ray = _normalised(np.maximum(degrees, 0))
        self.length = (self.ray**2).sum(axis=1, keepdims=True)
        self.alpha, self.rho = alpha, rho
        self.root = np.sqrt(weights)[:, None]
        distances, nearest = neighbours(X, n_neighbors)
        A = graph(nearest, np.exp(-((distances / sigma) ** 2) / 2))
        self.degree = np.asarray(A.sum(axis=1))[:, None]
        self.back = (A.T.multiply(weights[None, :]).multiply(1 / weights[:, None])).tocsr()
        self.edges = A

    def start(self) -> Copies:
        """Return the observed degrees, rescaled, and all else 1, as the program does."""
        D = np.where(self.length > 0, self.ray, 1 / self.ray.shape[1])
        ones = np.ones_like(D)
        return Copies(D, ones, ones, ones, ones)

    def step(self, now: Copies, step: float) -> Copies:
        """Make one iteration."""
        D = _normalised(np.maximum(now.D - step * self.gradient(now), 0), 1.0)
        K, L = self.keep_ratios(D + now.U / self.rho), self.low_rank(D + now.V / RHO_LOW)
        return Copies(D, K, L, now.U + self.rho * (D - K), now.V + RHO_LOW * (D - L))

    def gradient(self, now: Copies) -> Array:
        """Return the gradient of the augmented Lagrangian at D; rho is that of both copies."""
        smooth = self.degree * now.D - (self.edges @ now.D + self.back @ now.D) / 2
        return smooth + now.U + now.V + self.rho * (2 * now.D - now.K - now.L)

    def keep_ratios(self, T: Array) -> Array:
        """Return the nearest matrix to T whose observed degrees have the given ratios."""
        along = (np.where(self.observed, T, 0) * self.ray).sum(axis=1, keepdims=True)
        scale = np.divide(along, self.length, out=np.zeros_like(along), where=self.length > 0)
        return np.where(self.observed, scale * self.ray, T)

    def low_rank(self, T: Array) -> Array:
        """Shrink the singular values of T, whose rows count by their weights."""
        L = shrink_singular_values(self.root * T, self.alpha / RHO_LOW)[0]
        return L / self.root

    def iterations(self, step: float, tol: float) -> Iterator[Iteration]:
        """Iterate; it is good enough when no entry of K moves by more than `tol`."""
        now = self.start()
        while True:
            before, now = now, self.step(now, step)
            moved = float(np.abs(now.K - before.K).max())
            yield now.D, {"change": moved, "gap": float(np.abs(now.D - now.K).max())}, moved <= tol


def _normalised(D: Array, whole: float = 0.0) -> Array:
    """Return rows divided by their sum; a row of 0 becomes `whole` in equal parts."""
    total = D.sum(axis=1, keepdims=True)
    return np.where(total > 0, D / np.where(total > 0, total, 1), whole / D.shape[1])
