"""Nearest neighbours of rows, and IncomLDL, which fills holes from them round by round.

IncomLDL-SNI and -LR take neighbours in a space that y shapes. The holes begin as the mean of the
observed degrees of their label. A round projects the rows into a space of few dimensions, takes
for each hole the mean degree of the nearest rows in that space, and scales the holes of a row so
that it sums to 1. The methods differ in the space:

- SNI takes the scores of a partial least squares regression of the degrees on X. A component w is
  the leading left singular vector of X'Y; its scores t = Xw are taken out of X before the next
  one: X -= t p' with p = X't / t't.
- LR takes the principal components of features and degrees together, both scaled to the same
  total variance, so that neither drowns the other.

Rows count by their weights.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors

from inldl.solvers.gaussian import fill_in_proportion
from inldl.solvers.loop import Iteration

Array = np.ndarray
NOTHING_LEFT = 1e-12  # of the products X'Y: what is left is rounding
FEW_COLUMNS = 400  # columns up to which all components are computed
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
