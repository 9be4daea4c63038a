"""Extra trees: few numbers, many small forests, the same ones on any number of threads.

A random threshold is drawn for each of some random features, and the best of these splits is
taken (Geurts, Ernst and Wehenkel, 2006). scikit-learn has the same method; for forests of some
hundred rows most of its time goes into making Python objects of trees.
"""

import numpy as np

from inldl.kernels.compile import exact_kernel
from inldl.randomness import mixed_bits

FLAT = 1e-7  # a feature that varies by less in a node does not split it
BETTER = 1 + 1e-12  # by how much a split must be better: rounding shall not decide

_mixed_bits = exact_kernel(mixed_bits)


@exact_kernel
def _random(state):
    """Return a number in [0, 1) and the next state (splitmix64)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    return np.float64(_mixed_bits(state) >> np.uint64(11)) * 1.1102230246251565e-16, state


@exact_kernel
def _gain(column, cut, y, rows, total, min_leaf):
    """Return what a split takes off the squared error, plus a constant of the node.

    It is -2 if a leaf would have too few rows.
    """
    less, count = 0.0, 0
    for i in rows:
        if column[i] <= cut:
            less += y[i]
            count += 1
    others = len(rows) - count
    if count < min_leaf or others < min_leaf:
        return -2.0
    return less * less / count + (total - less) * (total - less) / others


@exact_kernel
def _best_split(columns, y, rows, order, n_tried, min_leaf, state):
    """Return the feature (-1 if none) and threshold that lower the squared error most."""
    total = 0.0
    for i in rows:
        total += y[i]
    best, feature, threshold = -1.0, -1, np.float32(0)
    tried, left_to_draw = 0, len(order)
    while tried < n_tried and left_to_draw > 0:
        u, state = _random(state)
        at = int(u * left_to_draw)
        left_to_draw -= 1
        f = order[at]
        order[at], order[left_to_draw] = order[left_to_draw], f
        column = columns[f]
        low, high = column[rows[0]], column[rows[0]]
        for i in rows:
            low, high = min(low, column[i]), max(high, column[i])
        if high - low <= FLAT:
            continue
        tried += 1
        u, state = _random(state)
        cut = min(np.float32(low + u * (high - low)), np.nextafter(high, low))
        gain = _gain(column, cut, y, rows, total, min_leaf)
        if gain > best * BETTER:
            best, feature, threshold = gain, f, cut
    return feature, threshold, state


@exact_kernel
def _part(column, threshold, rows):
    """Put the rows that are not above the threshold first; return how many there are."""
    first, last = 0, len(rows) - 1
    while first <= last:
        if column[rows[first]] <= threshold:
            first += 1
        else:
            rows[first], rows[last] = rows[last], rows[first]
            last -= 1
    return first


@exact_kernel
def _grow(columns, y, n_tried, min_leaf, state, feature, threshold, child, value):
    """Grow one tree into the given arrays; return the number of its nodes and the next state."""
    n = len(y)
    rows, order = np.arange(n), np.arange(len(columns))
    starts, stops = np.empty(len(child), np.int64), np.empty(len(child), np.int64)
    starts[0], stops[0], size, node = 0, n, 1, 0
    while node < size:
        mine = rows[starts[node] : stops[node]]
        mean, low, high = 0.0, y[mine[0]], y[mine[0]]
        for i in mine:
            mean += y[i]
            low, high = min(low, y[i]), max(high, y[i])
        value[node], child[node] = mean / len(mine), -1
        if len(mine) >= 2 * min_leaf and high > low:
            f, cut, state = _best_split(columns, y, mine, order, n_tried, min_leaf, state)
            if f >= 0:
                middle = starts[node] + _part(columns[f], cut, mine)
                feature[node], threshold[node], child[node] = f, cut, size
                starts[size], stops[size] = starts[node], middle
                starts[size + 1], stops[size + 1] = middle, stops[node]
                size += 2
        node += 1
    return size, state


@exact_kernel
def grow_forest(columns, y, n_trees, n_tried, min_leaf, seed) -> tuple[np.ndarray, ...]:
    """Grow extra trees that learn `y` (n,) from `columns` (n_features, n), in C order.

    The features are float32, which is enough to tell rows apart. A split looks at `n_tried` of
    them, and a leaf has at least `min_leaf` rows. Returns feature, threshold, child and value of
    shape (n_trees, n_nodes): a node goes to `child` where the feature is at most the threshold,
    else to the next one after it. A leaf has child -1.
    """
    most = max(1, 2 * (len(y) // min_leaf))
    feature, child = np.zeros((2, n_trees, most), np.int32)
    threshold, value = np.zeros((n_trees, most), np.float32), np.zeros((n_trees, most))
    largest, state = 1, np.uint64(seed)
    for t in range(n_trees):
        size, state = _grow(
            columns, y, n_tried, min_leaf, state, feature[t], threshold[t], child[t], value[t]
        )
        largest = max(largest, size)
    return (
        feature[:, :largest].copy(),
        threshold[:, :largest].copy(),
        child[:, :largest].copy(),
        value[:, :largest].copy(),
    )


@exact_kernel
def forest_mean(X, feature, threshold, child, value) -> np.ndarray:
    """Return the mean of what the trees say about each row of X, in single precision."""
    out = np.zeros(len(X))
    for t in range(len(feature)):
        f, cut, to, v = feature[t], threshold[t], child[t], value[t]
        for i in range(len(X)):
            node = 0
            while to[node] >= 0:
                node = to[node] + (X[i, f[node]] > cut[node])
            out[i] += v[node]
    return out / len(feature)


class ExtraTrees:
    """Extremely randomised trees whose mean predicts a number `y` from features.

    A leaf has at least `min_leaf` rows, and a split looks at a share `max_features` of them.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        *,
        n_trees: int,
        seed: int,
        min_leaf: int = 2,
        max_features: float = 0.5,
    ) -> None:
        columns = np.ascontiguousarray(X.T, dtype=np.float32)
        n_tried = max(1, int(max_features * len(columns)))
        y = np.ascontiguousarray(y, dtype=np.float64)
        self._trees = grow_forest(columns, y, n_trees, n_tried, min_leaf, seed)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return what is expected of each row."""
        return forest_mean(np.ascontiguousarray(X, dtype=np.float32), *self._trees)
