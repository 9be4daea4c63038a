"""Nearest neighbours of rows, and two methods that fill holes from them: IncomLDL and HidLDL.

IncomLDL-SNI and -LR take neighbours in a space that y shapes. The holes begin as the mean of the
observed degrees of their label. A round projects the rows into a space of few dimensions, takes
for each hole the mean degree of the nearest rows in that space, and scales the holes of a row so
that it sums to 1. The methods differ in the space:

- SNI takes the scores of a partial least squares regression of the degrees on X. A component w is
  the leading left singular vector of X'Y; its scores t = Xw are taken out of X before the next
  one: X -= t p' with p = X't / t't.
- LR takes the principal components of features and degrees together, both scaled to the same
  total variance, so that neither drowns the other.

Rows count by their weights. HidLDL knows only the ratios of some degrees::

    min  1/2 tr(D'GD) + alpha |D|_*     rows of D on the simplex, D_ij = c_i y_ij where observed

G = diag(A1) - A is that of a graph: ``A_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))`` if j is one of
the nearest neighbours of i, else 0. Copies K (which keeps the ratios) and L (of low rank) of D
have multipliers U and V, and penalties rho and `RHO_LOW`. An iteration, as in the public program::

    D = normalised max(D - step * gradient, 0), a gradient step on the augmented Lagrangian
    K = D + U/rho, where observed its projection onto the ray of y
    L = shrink(D + V/RHO_LOW, alpha/RHO_LOW)
    U += rho (D - K),  V += RHO_LOW (D - L)

A weight w counts a row w times: in the graph, and in L, by its root.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors

from inldl.solvers.gaussian import fill_in_proportion
from inldl.solvers.loop import Iteration
from inldl.solvers.low_rank import shrink_singular_values
from inldl.solvers.softmax import zero_filled

Array = np.ndarray
NOTHING_LEFT = 1e-12  # of the products X'Y: what is left is rounding
FEW_COLUMNS = 400  # columns up to which all components are computed
RHO_LOW = 2.0  # the public program of HidLDL does not let one choose it
Space = Callable[[Array], Array]
"""Takes degrees without holes to the coordinates of the rows."""


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


def _centred(A: Array, weights: Array) -> Array:
    """Return columns with the weighted mean 0."""
    return A - weights @ A / weights.sum()


def fill_rounds(
    y: Array, weights: Array, space: Space, n_neighbors: int, tol: float
) -> Iterator[Iteration]:
    """Fill the holes of y; it is good enough when the root mean square change is within `tol`."""
    holes = np.isnan(y)
    y = np.where(holes, np.nan, np.maximum(y, 0))
    filled = fill_in_proportion(y, _label_means(y, weights))
    while True:
        nearest = neighbours(space(filled), n_neighbors)[1]
        means = _neighbour_means(filled, nearest, weights)
        before, filled = filled, fill_in_proportion(y, means)
        change = float(np.sqrt(np.mean((filled - before)[holes] ** 2))) if holes.any() else 0.0
        yield filled, {"change": change}, change <= tol


def _label_means(y: Array, weights: Array) -> Array:
    seen = ~np.isnan(y)
    total = weights @ np.where(seen, y, 0)
    return np.broadcast_to(total / (weights @ seen), y.shape)


def _neighbour_means(filled: Array, nearest: Array, weights: Array) -> Array:
    """Return the weighted mean degrees of the neighbours of each row; its own if it has none."""
    if nearest.shape[1] == 0:
        return filled
    own = weights[nearest]
    return np.asarray(np.einsum("nm,nmc->nc", own, filled[nearest]) / own.sum(axis=1)[:, None])


def pls_scores(X: Array, y: Array, weights: Array, n_components: int) -> Array:
    """Return the scores of rows X (n, k) for degrees y (n, C) without holes."""
    X, Y = _centred(X, weights), weights[:, None] * _centred(y, weights)
    scores: list[Array] = []
    largest = None
    for _ in range(n_components):
        products = X.T @ Y
        size = np.linalg.norm(products)
        largest = size if largest is None else largest
        if size <= NOTHING_LEFT * largest:
            break
        t = X @ _leading(products / size)
        scores.append(t)
        weighted = weights * t
        X = X - np.outer(t, weighted @ X / (weighted @ t))
    return np.column_stack(scores) if scores else np.zeros((len(X), 1))


def _leading(products: Array) -> Array:
    """Return the leading left singular vector of a tall matrix, from its small Gram matrix."""
    v = np.linalg.eigh(products.T @ products)[1][:, -1]
    w = products @ v
    return np.asarray(w / np.linalg.norm(w))


def joint_components(X: Array, y: Array, weights: Array, n_components: int) -> Array:
    """Return the scores of rows on the leading components of [X y], for y without holes."""
    blocks = [_scaled(_centred(A, weights), weights) for A in (X, y)]
    rows = np.hstack(blocks)
    return np.asarray(rows @ _directions(np.sqrt(weights)[:, None] * rows, n_components))


def _scaled(A: Array, weights: Array) -> Array:
    """Return columns whose variances sum to 1; constant ones stay 0."""
    total = np.sqrt(weights @ (A**2).sum(axis=1) / weights.sum())
    return A / (total if total > 0 else 1.0)


def _directions(rows: Array, n_components: int) -> Array:
    k = rows.shape[1]
    if k <= max(FEW_COLUMNS, n_components):
        return np.linalg.eigh(rows.T @ rows)[1][:, -n_components:]
    product = LinearOperator((k, k), matvec=lambda v: rows.T @ (rows @ v), dtype=float)
    return np.asarray(eigsh(product, n_components, v0=np.ones(k))[1])


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
