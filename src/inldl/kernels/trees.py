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


# Numba keeps one branch of ``targets.ndim == 1``. As one of several targets, with a weight, the
# single target of `grow_forest` would cost small forests more than 3% of their time; now it is 2%.
@exact_kernel
def _node_total(targets, rows, work):
    """Return the sum of a target over rows, or those of several targets, in `work`."""
    if targets.ndim == 1:
        found = 0.0
        for i in rows:
            found += targets[i]
        return found
    total = work[0]
    total[:] = 0.0
    for i in rows:
        for j in range(targets.shape[1]):
            total[j] += targets[i, j]
    return total


@exact_kernel
def _gain(column, cut, targets, rows, total, min_leaf, work):
    """Return what a split takes off the squared error, plus a constant of the node.

    It is -2 if a leaf would have too few rows. One target counts each row once. Several are times
    weights, and the weights come last.
    """
    count = 0
    if targets.ndim == 1:
        less = 0.0
        for i in rows:
            if column[i] <= cut:
                less += targets[i]
                count += 1
        others = len(rows) - count
        if count < min_leaf or others < min_leaf:
            return -2.0
        return less * less / count + (total - less) * (total - less) / others
    below = work[1]
    below[:] = 0.0
    for i in rows:
        if column[i] <= cut:
            count += 1
            for j in range(targets.shape[1]):
                below[j] += targets[i, j]
    if count < min_leaf or len(rows) - count < min_leaf:
        return -2.0
    gain, mine, rest = 0.0, below[-1], total[-1] - below[-1]
    for j in range(targets.shape[1] - 1):
        gain += below[j] * below[j] / mine + (total[j] - below[j]) ** 2 / rest
    return gain


@exact_kernel
def _best_split(columns, targets, rows, order, n_tried, min_leaf, state, work):
    """Return the feature (-1 if none) and threshold that lower the squared error most.

    `targets` are (n,), or (n, m) as `_gain` has them; `work` has two rows of as many numbers.
    """
    total = _node_total(targets, rows, work)
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
        gain = _gain(column, cut, targets, rows, total, min_leaf, work)
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
    none = np.empty((2, 0))
    while node < size:
        mine = rows[starts[node] : stops[node]]
        mean, low, high = 0.0, y[mine[0]], y[mine[0]]
        for i in mine:
            mean += y[i]
            low, high = min(low, y[i]), max(high, y[i])
        value[node], child[node] = mean / len(mine), -1
        if len(mine) >= 2 * min_leaf and high > low:
            f, cut, state = _best_split(columns, y, mine, order, n_tried, min_leaf, state, none)
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


@exact_kernel
def _grow_level_tree(columns, moments, n_tried, min_leaf, state, feature, threshold):
    """Grow a tree whose node i goes to 2i + 1 or 2i + 2; return rows by leaf, and where each ends.

    A node that is not split sends all rows to the left.
    """
    n, n_inner = columns.shape[1], len(feature)
    rows, order = np.arange(n), np.arange(len(columns))
    starts, stops = np.zeros(2 * n_inner + 1, np.int64), np.zeros(2 * n_inner + 1, np.int64)
    stops[0], work = n, np.empty((2, moments.shape[1]))
    for node in range(n_inner):
        mine = rows[starts[node] : stops[node]]
        f, middle = -1, stops[node]
        if len(mine) >= 2 * min_leaf:
            f, cut, state = _best_split(
                columns, moments, mine, order, n_tried, min_leaf, state, work
            )
        if f >= 0:
            feature[node], threshold[node] = f, cut
            middle = starts[node] + _part(columns[f], cut, mine)
        starts[2 * node + 1], stops[2 * node + 1] = starts[node], middle
        starts[2 * node + 2], stops[2 * node + 2] = middle, stops[node]
    return rows, starts[n_inner:], stops[n_inner:], state


@exact_kernel
def _softmax_moments(scores, y, weights, share, state, moments, curvature):
    """Write what the next tree learns: how far the expected distributions are from the softmax.

    A missing degree is expected to be its share, by the softmax, of what its row leaves. A `share`
    of the rows, drawn by chance, counts for the tree; returns the next state.
    """
    n, C = y.shape
    for i in range(n):
        u, state = _random(state)
        weight = weights[i] if u < share else 0.0
        top, total, known, unknown = scores[i].max(), 0.0, 0.0, 0.0
        for j in range(C):
            moments[i, j] = np.exp(scores[i, j] - top)
            total += moments[i, j]
        for j in range(C):
            moments[i, j] /= total
            if np.isnan(y[i, j]):
                unknown += moments[i, j]
            else:
                known += y[i, j]
        rest = max(1.0 - known, 0.0) if unknown > 0 else 0.0
        whole = max(known + rest, 1e-12)
        for j in range(C):
            p = moments[i, j]
            missing = np.isnan(y[i, j])
            t = rest * p / unknown if missing else y[i, j]
            moments[i, j] = weight * (t / whole - p)
            curvature[i, j] = 0.0 if missing else weight * p * (1 - p)
        moments[i, C] = weight
    return state


@exact_kernel
def boost_softmax(columns, y, weights, mean, trees, step, seed) -> tuple[np.ndarray, ...]:
    """Boost a softmax by small trees that learn all labels (n, C) together, NaN = unobserved.

    `columns` are as for `grow_forest`; `mean` (C,) is what it starts from. `trees` are their
    number, depth, the features a split looks at and the rows of a leaf; `step` is how much of a
    Newton step a leaf takes, how many rows of the mean are added to its own, and the share of the
    rows that a tree learns from. Returns feature and threshold (n_trees, 2^depth - 1) of inner
    nodes, and value (n_trees, 2^depth, C) of leaves.
    """
    n_trees, depth, n_tried, min_leaf = trees
    rate, prior, share = step
    (n, C), n_inner, state = y.shape, 2**depth - 1, np.uint64(seed)
    feature = np.zeros((n_trees, n_inner), np.int32)
    threshold = np.full((n_trees, n_inner), np.finfo(np.float32).max, np.float32)
    value = np.zeros((n_trees, n_inner + 1, C))
    scores, moments, curvature = np.empty((n, C)), np.empty((n, C + 1)), np.empty((n, C))
    scores[:] = np.log(mean)
    for t in range(n_trees):
        state = _softmax_moments(scores, y, weights, share, state, moments, curvature)
        rows, starts, stops, state = _grow_level_tree(
            columns, moments, n_tried, min_leaf, state, feature[t], threshold[t]
        )
        for leaf in range(n_inner + 1):
            mine = rows[starts[leaf] : stops[leaf]]
            for j in range(C):
                up, down = 0.0, prior * mean[j] * (1 - mean[j]) + 1e-12
                for i in mine:
                    up += moments[i, j]
                    down += curvature[i, j]
                value[t, leaf, j] = rate * min(max(up / down, -1 / rate), 1 / rate)
                for i in mine:
                    scores[i, j] += value[t, leaf, j]
    return feature, threshold, value


@exact_kernel
def add_boosted(X, feature, threshold, value, scores) -> None:
    """Add what the trees say about each row of X (n, k), in single precision, to `scores`."""
    n_inner = feature.shape[1]
    for t in range(len(feature)):
        for i in range(len(X)):
            node = 0
            while node < n_inner:
                node = 2 * node + 1 + (X[i, feature[t, node]] > threshold[t, node])
            for j in range(scores.shape[1]):
                scores[i, j] += value[t, node - n_inner, j]


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
