"""Methods that fill holes from the neighbours of rows in a graph: HidLDL and WSLDL-MCSC.

HidLDL knows only the ratios of some degrees::

    min  1/2 tr(D'GD) + alpha |D|_*     rows of D on the simplex, D_ij = c_i y_ij where observed

G = diag(A1) - A is that of a graph: ``A_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))`` if j is one of
the nearest neighbours of i, else 0. Copies K (which keeps the ratios) and L (of low rank) of D
have multipliers U and V, and penalties rho and `RHO_LOW`. An iteration, as in the public program::

    D = normalised max(D - step * gradient, 0), a gradient step on the augmented Lagrangian
    K = D + U/rho, where observed its projection onto the ray of y
    L = shrink(D + V/RHO_LOW, alpha/RHO_LOW)
    U += rho (D - K),  V += RHO_LOW (D - L)

A weight w counts a row w times: in the graph, and in L, by its root.

WSLDL-MCSC has one matrix of features and degrees, of low rank and smooth on a graph::

    min  mu |Z|_* + 1/2 |Z_X - X|^2 + gamma |O * (Z_Y - Y)|^2 + lam tr(Z_Y' L Z_Y)
         + 1/2 |Z_Y 1 - 1|^2,    Z = [Z_X 1 Z_Y]

The column of ones is fixed. L is the Laplacian of a graph of nearest neighbours by cosine. ADMM
with a copy S of Z and a scaled multiplier U: Z_X in closed form and Z_Y by conjugate gradients,
S = shrink(Z + U, mu/rho), U += Z - S. Its matrices hold the rows times the root of their weight.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.neighbors import NearestNeighbors

from inldl.solvers.linear import shrink_singular_values
from inldl.solvers.loop import Iteration
from inldl.solvers.softmax import zero_filled

Array = np.ndarray
NO_RANK = 1e-7  # a singular value that is rounding, relative to the largest
LEAST_RESIDUAL = 1e-150  # of a linear system: its square is still a number
SOLVED = 1e-3  # of the tolerance: how well each linear system is solved
RHO_LOW = 2.0  # the public program of HidLDL does not let one choose it


class Distinct(NamedTuple):
    """Which rows are the first of their kind, how much each kind weighs, and the kind of a row."""

    first: Array
    weights: Array
    kind: Array


def distinct_rows(X: Array, y: Array, weights: Array | None = None) -> Distinct:
    """Find rows that have the same features and the same degrees.

    A graph of distinct rows makes a row of weight 2 as good as the same row twice, which would
    otherwise be its own nearest neighbour. The kinds are in the order in which they come.
    """
    table = np.column_stack([X, np.where(np.isnan(y), np.inf, y)]) + 0.0  # no -0.0
    bytes_of_rows = np.ascontiguousarray(table).view(np.dtype((np.void, table[0].nbytes))).ravel()
    _, first, kind = np.unique(bytes_of_rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kind = rank[kind]
    return Distinct(first[order], np.bincount(kind, weights), kind)


def neighbours(points: Array, n_neighbors: int, of: Array | None = None) -> tuple[Array, Array]:
    """Return Euclidean distances to the nearest points, and which they are, nearest first.

    Without `of`, they are those of each point among the others. There are fewer than
    `n_neighbors` if there are not so many.
    """
    count = min(n_neighbors, len(points) - (of is None))
    if count == 0:
        return np.empty((len(points), 0)), np.empty((len(points), 0), dtype=int)
    return NearestNeighbors(n_neighbors=count).fit(points).kneighbors(of)


def graph(indices: Array, values: Array) -> sparse.csr_array:
    """Return the directed graph that has an edge from each row to each of its neighbours."""
    n, k = indices.shape
    starts = np.arange(0, n * k + 1, k) if k else np.zeros(n + 1, dtype=int)
    return sparse.csr_array((values.ravel(), indices.ravel(), starts), shape=(n, n))


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
        """Iterate from the rescaled degrees, until no entry of K moves by more than `tol`."""
        D = np.where(self.length > 0, self.ray, 1 / self.ray.shape[1])
        now = Copies(D, *[np.ones_like(D)] * 4)  # as the program does
        while True:
            before, now = now, self.step(now, step)
            moved = float(np.abs(now.K - before.K).max())
            yield now.D, {"change": moved, "gap": float(np.abs(now.D - now.K).max())}, moved <= tol


def _normalised(D: Array, whole: float = 0.0) -> Array:
    """Return rows divided by their sum; a row of 0 becomes `whole` in equal parts."""
    total = D.sum(axis=1, keepdims=True)
    return np.where(total > 0, D / np.where(total > 0, total, 1), whole / D.shape[1])


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


class MCSCProblem:
    """The problem of rows X with degrees y (NaN = unobserved) and the Laplacian L."""

    def __init__(
        self,
        X: Array,
        y: Array,
        weights: Array,
        L: sparse.csr_array,
        *,
        mu: float,
        gamma: float,
        lam: float,
        rho: float,
    ) -> None:
        self.mu, self.gamma, self.lam, self.rho = mu, gamma, lam, rho
        self.root, self.k = np.sqrt(weights)[:, None], X.shape[1]
        degrees, observed = zero_filled(y)
        self.X, self.Y = self.root * X, self.root * degrees
        self.observed = observed.astype(float)
        scale = sparse.diags_array(1 / self.root.ravel())
        self.L = (scale @ L @ scale).tocsr()

    def start(self) -> Array:
        """Return the features, ones, and the degrees with 0 where unobserved."""
        return np.hstack([self.X, self.root, self.Y])

    def closest(self, target: Array, guess: Array, tol: float) -> Array:
        """Return Z, the minimum of the smooth part and of rho/2 |Z - target|^2."""
        Z = np.empty_like(target)
        Z[:, : self.k] = (self.X + self.rho * target[:, : self.k]) / (1 + self.rho)
        Z[:, self.k] = self.root.ravel()
        right = 2 * self.gamma * self.observed * self.Y + self.root
        right += self.rho * target[:, self.k + 1 :]
        product = LinearOperator((right.size, right.size), self.curvature, dtype=float)
        limits = {"rtol": tol, "atol": LEAST_RESIDUAL, "maxiter": right.size}
        found, _ = cg(product, right.ravel(), guess.ravel(), **limits)
        Z[:, self.k + 1 :] = found.reshape(right.shape)
        return Z

    def curvature(self, flat: Array) -> Array:
        """Multiply degrees by the second derivative of what `closest` minimises."""
        Z_Y = flat.reshape(self.Y.shape)
        smooth = 2 * self.lam * (self.L @ Z_Y) + Z_Y.sum(axis=1, keepdims=True)
        return (smooth + (2 * self.gamma * self.observed + self.rho) * Z_Y).ravel()

    def iterations(self, tol: float) -> Iterator[Iteration]:
        """Iterate; it is good enough when both residuals, relative to Z, are below `tol`."""
        Z = self.start()
        S, U = Z, np.zeros_like(Z)
        while True:
            Z = self.closest(S - U, Z[:, self.k + 1 :], SOLVED * tol)
            before, (S, _) = S, shrink_singular_values(Z + U, self.mu / self.rho)
            U = U + Z - S
            size = float(np.linalg.norm(Z))
            gaps = np.linalg.norm(Z - S) / size, self.rho * np.linalg.norm(S - before) / size
            changes = {"primal_residual": float(gaps[0]), "dual_residual": float(gaps[1])}
            yield (Z, S), changes, bool(max(gaps) <= tol)


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
