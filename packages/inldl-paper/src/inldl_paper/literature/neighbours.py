"""What methods share that fill holes from the neighbours of rows: distinct rows, and a graph."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

Array = np.ndarray


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
