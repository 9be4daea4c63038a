r"""WSLDL-MCSC: a matrix of features and degrees together, of low rank and smooth on a graph.

::

    min  mu |Z|_* + 1/2 |Z_X - X|^2 + gamma |O * (Z_Y - Y)|^2 + lam tr(Z_Y' L Z_Y)
         + 1/2 |Z_Y 1 - 1|^2,    Z = [Z_X 1 Z_Y]

The column of ones is fixed. L is the Laplacian of a graph of nearest neighbours by cosine. ADMM
with a copy S of Z and a scaled multiplier U: Z_X in closed form and Z_Y by conjugate gradients,
S = shrink(Z + U, mu/rho), U += Z - S. A weight w counts a row w times: matrices here hold the rows
times the root of w.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from inldl.solvers.loop import Iteration
from inldl.solvers.low_rank import shrink_singular_values
from inldl.solvers.neighbours import graph, neighbours
from inldl.solvers.softmax import zero_filled

Array = np.ndarray
NO_RANK = 1e-7  # a singular value that is rounding, relative to the largest
SOLVED = 1e-3  # of the tolerance: how well each linear system is solved


def unit_rows(X: Array) -> Array:
    """Return rows of length 1; a row of 0 stays."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    X = X / np.where(largest > 0, largest, 1)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def edge_weights(distances: Array, kind: str) -> Array:
    """Return the weights of edges from Euclidean distances of rows of length 1.

    The cosine distance is half of their square; "similarity" is 1 minus that, at least 0.
    """
    apart = distances**2 / 2
    return apart if kind == "distance" else np.maximum(1 - apart, 0)


def laplacian(units: Array, weights: Array, n_neighbors: int, kind: str) -> sparse.csr_array:
    """Return the Laplacian of the graph in which each row is joined to its neighbours."""
    distances, nearest = neighbours(units, n_neighbors)
    A = graph(nearest, edge_weights(distances, kind))
    A = A.maximum(A.T).tocoo()
    i, j = A.coords
    A = sparse.csr_array((A.data * (weights[i] + weights[j]) / 2, (i, j)), shape=A.shape)
    return (sparse.diags_array(np.asarray(A.sum(axis=1))) - A).tocsr()


@dataclass(frozen=True)
class Penalties:
    """The weights of the terms, and the penalty of ADMM."""

    mu: float
    gamma: float
    lam: float
    rho: float


class MCSCProblem:
    """The problem of rows X with degrees y (NaN = unobserved) and the Laplacian L."""

    def __init__(
        self, X: Array, y: Array, weights: Array, L: sparse.csr_array, penalties: Penalties
    ) -> None:
        self.root, self.k, self.penalties = np.sqrt(weights)[:, None], X.shape[1], penalties
        degrees, observed = zero_filled(y)
        self.X, self.Y = self.root * X, self.root * degrees
        self.observed = observed.astype(float)
        scale = sparse.diags_array(1 / self.root.ravel())
        self.L = (scale @ L @ scale).tocsr()

    def start(self) -> Array:
        """Return the features, ones, and the degrees with 0 where unobserved."""
        return np.hstack([self.X, self.root, self.Y])

    def objective(self, Z: Array) -> float:
        """Return the value of the objective."""
        p, Z_X, Z_Y = self.penalties, Z[:, : self.k], Z[:, self.k + 1 :]
        low = shrink_singular_values(Z, 0.0)[1]
        apart = self.observed * (Z_Y - self.Y)
        sums = Z_Y.sum(axis=1) - self.root.ravel()
        squares = np.vdot(Z_X - self.X, Z_X - self.X) + np.vdot(sums, sums)
        smooth = np.vdot(Z_Y, self.L @ Z_Y)
        return float(p.mu * low + squares / 2 + p.gamma * np.vdot(apart, apart) + p.lam * smooth)

    def closest(self, target: Array, guess: Array, tol: float) -> Array:
        """Return Z, the minimum of the smooth part and of rho/2 |Z - target|^2."""
        p, Z = self.penalties, np.empty_like(target)
        Z[:, : self.k] = (self.X + p.rho * target[:, : self.k]) / (1 + p.rho)
        Z[:, self.k] = self.root.ravel()
        right = 2 * p.gamma * self.observed * self.Y + p.rho * target[:, self.k + 1 :] + self.root
        Z[:, self.k + 1 :] = conjugate_gradients(self.curvature, right, guess, tol)
        return Z

    def curvature(self, Z_Y: Array) -> Array:
        """Multiply degrees by the second derivative of what `closest` minimises."""
        p = self.penalties
        smooth = 2 * p.lam * (self.L @ Z_Y) + Z_Y.sum(axis=1, keepdims=True)
        return smooth + (2 * p.gamma * self.observed + p.rho) * Z_Y

    def iterations(self, tol: float) -> Iterator[Iteration]:
        """Iterate; it is good enough when both residuals, relative to Z, are below `tol`."""
        p, Z = self.penalties, self.start()
        S, U = Z, np.zeros_like(Z)
        while True:
            Z = self.closest(S - U, Z[:, self.k + 1 :], SOLVED * tol)
            before, (S, _) = S, shrink_singular_values(Z + U, p.mu / p.rho)
            U = U + Z - S
            size = float(np.linalg.norm(Z))
            gaps = np.linalg.norm(Z - S) / size, p.rho * np.linalg.norm(S - before) / size
            changes = {"primal_residual": float(gaps[0]), "dual_residual": float(gaps[1])}
            yield (Z, S), changes, bool(max(gaps) <= tol)


def conjugate_gradients(
    multiply: Callable[[Array], Array], right: Array, guess: Array, tol: float
) -> Array:
    """Solve a linear system of matrices whose operator is symmetric and positive definite."""
    found = guess.copy()
    residual = right - multiply(found)
    direction, square = residual, np.vdot(residual, residual)
    enough = (tol * np.linalg.norm(right)) ** 2
    for _ in range(right.size):
        if square <= enough:
            break
        image = multiply(direction)
        length = square / np.vdot(direction, image)
        found += length * direction
        residual = residual - length * image
        square, old = np.vdot(residual, residual), square
        direction = residual + (square / old) * direction
    return found


class Extension:
    """What the objective gives for one more row, if all that was found for others stays.

    With Z = AB and mu |Z|_* = mu/2 (|A|^2 + |B|^2) at the minimum, a new row a of A minimises

        mu/2 |a|^2 + 1/2 |a B_X - x|^2 + 1/2 (a B_Y 1 - 1)^2 + lam sum_j e_j |a B_Y - z_j|^2

    such that the column of ones has a 1, where e_j are the edges to its neighbours. The columns
    of `features`, `degrees` and `sums` are directions in which the quadratic forms are diagonal.
    """

    def __init__(self, B_X: Array, B_1: Array, B_Y: Array, mu: float, lam: float) -> None:
        sums = B_Y.sum(axis=1)
        fixed = mu * np.eye(len(sums)) + B_X @ B_X.T + np.outer(sums, sums)
        squares, directions = linalg.eigh(B_Y @ B_Y.T, fixed)
        self.curvature = 2 * lam * np.maximum(squares, 0)
        self.features, self.degrees = B_X.T @ directions, B_Y.T @ directions
        self.sums, self.one, self.lam = sums @ directions, B_1.ravel() @ directions, lam

    def __call__(self, X: Array, edges: Array, near: Array) -> Array:
        """Return the degrees of rows: `edges` (n, m) lead to degrees `near` (n, m, C)."""
        pull = np.einsum("nm,nmc->nc", edges, near)
        inverse = 1 / (1 + edges.sum(axis=1, keepdims=True) * self.curvature)
        a = (X @ self.features + self.sums + 2 * self.lam * pull @ self.degrees) * inverse
        lacking = (1 - a @ self.one) / (inverse @ self.one**2)
        a += lacking[:, None] * inverse * self.one
        return np.asarray(a @ self.degrees.T)


def right_factor(S: Array) -> Array:
    """Return B of S = AB with |A|^2 + |B|^2 = 2 |S|_*."""
    squares, V = linalg.eigh(S.T @ S)
    s = np.sqrt(np.maximum(squares, 0))
    kept = s > NO_RANK * s[-1]
    return np.asarray(np.sqrt(s[kept])[:, None] * V[:, kept].T)
