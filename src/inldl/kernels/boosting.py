"""Boost a softmax by trees of binned features that learn all labels together.

A tree splits where three random mixtures of the residuals of all labels have the largest gain, and
its leaves hold a step for each label. So a tree costs the same for any number of labels, and what
labels have in common is learned once (Iosipoi and Vakhrushev, 2022). The leaf with the largest
gain is split next. The sums of the smaller child are counted, those of the other one are the rest
of their parent's.
"""

import numpy as np

from inldl.kernels.compile import exact_kernel
from inldl.randomness import mixed_bits

MIXED = 3  # mixtures of residuals that choose splits; the weight of a row is a fourth number
LARGER = 1 + 1e-9  # by how much a split must be better: rounding shall not decide
LARGEST_STEP = 2.0  # of Newton, before it is multiplied by the rate
TINY = 1e-12

_mixed_bits = exact_kernel(mixed_bits)


@exact_kernel
def _random(state):
    """Return a number in [0, 1) and the next state (splitmix64)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    return np.float64(_mixed_bits(state) >> np.uint64(11)) * 1.1102230246251565e-16, state


@exact_kernel
def _softmax(scores, y, p):
    """Write the softmax of a row to `p`; return its sum, that of its holes, and their softmax."""
    top, total, known, unknown = scores.max(), 0.0, 0.0, 0.0
    for j in range(len(p)):
        p[j] = np.exp(scores[j] - top)
        total += p[j]
    total = 1 / total
    for j in range(len(p)):
        p[j] *= total
        if np.isnan(y[j]):
            unknown += p[j]
        else:
            known += max(y[j], 0.0)
    rest = max(1.0 - known, 0.0) if unknown > 0 else 0.0
    return max(known + rest, TINY), rest, max(unknown, TINY)


@exact_kernel
def _loss(scores, y, weights, rows):
    """Return minus the log-likelihood of degrees, and of the sums of missing ones, of rows."""
    p, total = np.empty(y.shape[1]), 0.0
    for i in rows:
        whole, rest, unknown = _softmax(scores[i], y[i], p)
        found = rest * np.log(unknown)
        for j in range(len(p)):
            if y[i, j] > 0:
                found += y[i, j] * np.log(max(p[j], TINY))
        total -= weights[i] * found / whole
    return total


@exact_kernel
def _residuals(scores, y, weights, rows, mixing, moments):
    """Write the gradient, its curvature, and the mixtures that choose splits, of some rows.

    A missing degree is expected to be its share, by the softmax, of what its row leaves.
    """
    gradient, curvature, mixed = moments
    C = y.shape[1]
    p = np.empty(C)
    for i in rows:
        whole, rest, unknown = _softmax(scores[i], y[i], p)
        weight, whole, share, odds = weights[i], 1 / whole, rest / unknown, 1 / unknown - 1
        m0, m1, m2 = 0.0, 0.0, 0.0
        for j in range(C):
            if np.isnan(y[i, j]):
                expected, curved = share * p[j], odds * p[j] * p[j]
            else:
                expected, curved = max(y[i, j], 0.0), p[j] * (1 - p[j])
            slope = weight * (expected * whole - p[j])
            gradient[i, j], curvature[i, j] = slope, weight * curved
            m0 += slope * mixing[j, 0]
            m1 += slope * mixing[j, 1]
            m2 += slope * mixing[j, 2]
        mixed[i, 0], mixed[i, 1], mixed[i, 2], mixed[i, 3] = m0, m1, m2, weight


@exact_kernel
def _count(bins, columns, rows, mixed, near, sums):
    """Sum up the mixtures of rows in each bin of some columns; `near` is room for their copy."""
    for i in range(len(rows)):
        for d in range(MIXED + 1):
            near[i, d] = mixed[rows[i], d]
    for a in range(len(columns)):
        column, mine = bins[columns[a]], sums[a]
        mine[:] = 0.0
        for i in range(len(rows)):
            b = column[rows[i]]
            mine[b, 0] += near[i, 0]
            mine[b, 1] += near[i, 1]
            mine[b, 2] += near[i, 2]
            mine[b, 3] += near[i, 3]


@exact_kernel
def _best_split(sums, columns, n_bins, least):
    """Return the gain, the column (of those in `sums`) and the last bin on the left of a split.

    The gain is that in squared error, times two; it is 0 if a side would have less than the
    weight `least`.
    """
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for b in range(n_bins[columns[0]]):
        t0 += sums[0, b, 0]
        t1 += sums[0, b, 1]
        t2 += sums[0, b, 2]
        t3 += sums[0, b, 3]
    base = (t0 * t0 + t1 * t1 + t2 * t2) / (t3 + 1)
    best, column, last = TINY, -1, 0
    for a in range(len(columns)):
        l0, l1, l2, l3 = 0.0, 0.0, 0.0, 0.0
        for b in range(n_bins[columns[a]] - 1):
            l0 += sums[a, b, 0]
            l1 += sums[a, b, 1]
            l2 += sums[a, b, 2]
            l3 += sums[a, b, 3]
            r0, r1, r2, r3 = t0 - l0, t1 - l1, t2 - l2, t3 - l3
            if l3 < least:
                continue
            if r3 < least:
                break
            left = (l0 * l0 + l1 * l1 + l2 * l2) / (l3 + 1)
            gain = left + (r0 * r0 + r1 * r1 + r2 * r2) / (r3 + 1) - base
            if gain > best * LARGER:
                best, column, last = gain, a, b
    return best if column >= 0 else 0.0, column, last


@exact_kernel
def _part(column, last, rows, room):
    """Put the rows up to a bin first, in their order; return how many there are."""
    first, others = 0, 0
    for i in range(len(rows)):
        if column[rows[i]] <= last:
            rows[first] = rows[i]
            first += 1
        else:
            room[others] = rows[i]
            others += 1
    rows[first:] = room[:others]
    return first


@exact_kernel
def _grow(bins, columns, n_bins, rows, mixed, limits, room, tree):
    """Grow a tree; return the number of its nodes. Rows are put in the order of its leaves.

    `limits` are the number of leaves and their least weight. `room` has the sums of open leaves,
    and space for rows. The `tree` is columns, last bins on the left, left children (-1: a leaf),
    and where the rows of a node begin and end.
    """
    (n_leaves, least), (sums, near, spare) = limits, room
    feature, last, child, starts, stops = tree
    gain, split = np.zeros(len(child)), np.zeros((len(child), 3), np.int64)
    starts[0], stops[0], child[0], size, n_open = 0, len(rows), -1, 1, 1
    _count(bins, columns, rows, mixed, near, sums[0])
    gain[0], split[0, 0], split[0, 1] = _best_split(sums[0], columns, n_bins, least)
    while n_open < n_leaves:
        node = np.argmax(gain[:size])
        if gain[node] <= 0:
            break
        a, b, slot = split[node]
        mine = rows[starts[node] : stops[node]]
        middle = starts[node] + _part(bins[columns[a]], b, mine, spare)
        feature[node], last[node], child[node], gain[node] = columns[a], b, size, 0.0
        starts[size], stops[size], starts[size + 1], stops[size + 1] = (
            starts[node], middle, middle, stops[node],
        )  # fmt: skip
        larger = size if 2 * (middle - starts[node]) > len(mine) else size + 1
        smaller = 2 * size + 1 - larger
        split[larger, 2], split[smaller, 2] = slot, n_open
        n_open += 1
        if n_open < n_leaves:
            some, others = sums[split[smaller, 2]], sums[slot]
            _count(bins, columns, rows[starts[smaller] : stops[smaller]], mixed, near, some)
            for i in range(len(columns)):
                for c in range(n_bins[columns[i]]):
                    for d in range(MIXED + 1):
                        others[i, c, d] -= some[i, c, d]
        for each in (size, size + 1):
            child[each] = -1
            if n_open < n_leaves:
                found = _best_split(sums[split[each, 2]], columns, n_bins, least)
                gain[each], split[each, 0], split[each, 1] = found
        size += 2
    return size


@exact_kernel
def _leaf_step(rows, moments, prior, rate, value, scores):
    """Write and take a part `rate` of Newton's step for the rows of a leaf, damped by `prior`."""
    up, down = np.zeros(len(prior)), prior.copy()
    for i in rows:
        for j in range(len(prior)):
            up[j] += moments[0][i, j]
            down[j] += moments[1][i, j]
    for j in range(len(prior)):
        value[j] = rate * min(max(up[j] / down[j], -LARGEST_STEP), LARGEST_STEP)
    for i in rows:
        for j in range(len(prior)):
            scores[i, j] += value[j]


@exact_kernel
def _add_tree(bins, rows, tree, leaf_of, value, scores):
    """Add what a tree says about some rows, in bins, to their scores."""
    feature, last, child = tree[0], tree[1], tree[2]
    for i in rows:
        node = 0
        while child[node] >= 0:
            node = child[node] + (bins[feature[node], i] > last[node])
        for j in range(scores.shape[1]):
            scores[i, j] += value[leaf_of[node], j]


@exact_kernel
def _draw(train, share, columns, mixing, state):
    """Draw rows to learn from, put drawn columns first, and mix labels anew.

    Returns the rows, with those that are left out at the end, their number and the next state.
    """
    rows, found, out = np.empty(len(train), np.int64), 0, len(train)
    for i in train:
        u, state = _random(state)
        if u < share:
            rows[found] = i
            found += 1
        else:
            out -= 1
            rows[out] = i
    for a in range(len(columns) - 1):
        u, state = _random(state)
        b = a + int(u * (len(columns) - a))
        columns[a], columns[b] = columns[b], columns[a]
    mixing[:] = 0.0
    for j in range(len(mixing)):
        for d in range(MIXED):
            if len(mixing) <= MIXED:
                mixing[j, d] = np.float64(j == d)
                continue
            for _ in range(3):  # a sum of three is about normal
                u, state = _random(state)
                mixing[j, d] += 2 * u - 1
    return rows, found if found > 0 else len(rows), state


@exact_kernel
def _plant(rows_of, scores, drawn, moments, limits, step, room, tree, leaves):
    """Grow a tree and add it to the scores of all rows; return its nodes and the next leaf.

    `rows_of` are bins, their numbers and the rows to be judged; `drawn` are the rows to learn
    from, those left out, and the columns. `leaves` are the values of leaves, the numbers of those
    of the tree, and the next one.
    """
    (bins, n_bins, test), (rows, others, columns) = rows_of, drawn
    value, leaf_of, leaf = leaves
    size = _grow(bins, columns, n_bins, rows, moments[2], limits, room, tree)
    child, starts, stops = tree[2], tree[3], tree[4]
    for node in range(size):
        if child[node] < 0:
            mine = rows[starts[node] : stops[node]]
            _leaf_step(mine, moments, step[1], step[0], value[leaf], scores)
            leaf_of[node] = leaf
            leaf += 1
    _add_tree(bins, others, tree, leaf_of, value, scores)
    _add_tree(bins, test, tree, leaf_of, value, scores)
    for node in range(size):
        if child[node] < 0:
            child[node] = -1 - leaf_of[node]
    return size, leaf


@exact_kernel
def _room_for(n_rows, n_leaves, n_columns, most_bins):
    """Return room for the sums of open leaves, copies of rows, and their numbers."""
    sums = np.empty((n_leaves, n_columns, most_bins, MIXED + 1))
    return sums, np.empty((n_rows, MIXED + 1), np.float32), np.empty(n_rows, np.int64)


@exact_kernel
def _first_scores(n, start):
    scores = np.empty((n, len(start)))
    for i in range(n):
        for j in range(len(start)):
            scores[i, j] = start[j]
    return scores


@exact_kernel
def boost_softmax(bins, n_bins, y, weights, split, start, limits, step) -> tuple[np.ndarray, ...]:
    """Boost a softmax by trees that learn all labels (n, C) together, NaN = unobserved.

    `bins` (k, n) are of features, each with `n_bins`; rows are learned from and judged by as
    `split` says, and have the scores `start` (C,) at first. `limits` are the most trees, leaves of
    a tree, weight of a leaf, columns of a tree, after how many trees rows are judged, and how
    often these may get no better. `step` is the part of a Newton step, what is added to its
    curvature (C,), the share of the rows that a tree learns from, and a seed.

    Returns for each node of all trees its feature, last bin on the left and child (3, nodes): the
    number of the left one in the tree, or for a leaf -1 - its number in all trees. Then the values
    of leaves, the first node and the first leaf of each tree, and the losses of the judged rows.
    """
    (train, test), (n, C) = split, y.shape
    n_trees, n_leaves, least, n_columns, every, patience = limits
    most, state = 2 * n_leaves - 1, np.uint64(step[3])
    nodes = np.zeros((3, n_trees * most), np.int32)
    value = np.zeros((n_trees * n_leaves, C), np.float32)
    roots, firsts = np.zeros((2, n_trees + 1), np.int64)
    losses = np.zeros(n_trees // every)
    gradient, curvature = np.empty((2, n, C), np.float32)
    moments = gradient, curvature, np.empty((n, MIXED + 1), np.float32)
    scores = _first_scores(n, start)
    room = _room_for(len(train), n_leaves, n_columns, n_bins.max())
    columns, mixing = np.arange(len(bins)), np.empty((C, MIXED))
    starts, stops, leaf_of = np.zeros((3, most), np.int64)
    grown, best, waited = 0, np.inf, 0
    while grown < n_trees and waited < patience:
        drawn, n_drawn, state = _draw(train, step[2], columns, mixing, state)
        rows, root = drawn[:n_drawn], roots[grown]
        _residuals(scores, y, weights, rows, mixing, moments)
        own = slice(root, root + most)
        tree = nodes[0, own], nodes[1, own], nodes[2, own], starts, stops
        some = rows, drawn[n_drawn:], columns[:n_columns]
        size_of, leaves = (n_leaves, least * n_drawn / len(train)), (value, leaf_of, firsts[grown])
        where = bins, n_bins, test
        size, leaf = _plant(where, scores, some, moments, size_of, step, room, tree, leaves)
        grown += 1
        roots[grown], firsts[grown] = root + size, leaf
        if grown % every == 0:
            loss = _loss(scores, y, weights, test)
            losses[grown // every - 1] = loss
            waited = 0 if loss < best else waited + 1
            best = min(best, loss)
    end = roots[grown]
    return (
        nodes[:, :end].copy(),
        value[: firsts[grown]].copy(),
        roots[: grown + 1].copy(),
        firsts[: grown + 1].copy(),
        losses[: grown // every].copy(),
    )


@exact_kernel
def add_boosted(X, feature, threshold, child, value, roots, scores) -> None:
    """Add what the trees say about each row of X (n, k) to `scores`.

    A row without a number goes to the right.
    """
    for i in range(len(X)):
        for root in roots:
            node = 0
            while child[root + node] >= 0:
                at = root + node
                node = child[at] + (not X[i, feature[at]] <= threshold[at])
            leaf = -1 - child[root + node]
            for j in range(scores.shape[1]):
                scores[i, j] += value[leaf, j]
