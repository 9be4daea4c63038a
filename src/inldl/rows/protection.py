"""Which published counts to suppress, too, so that suppressed ones cannot be computed."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from inldl.rows.aggregates import Aggregates, CountGraph, Counts
from inldl.rows.partial import PartialRows

Array = np.ndarray
SUPPRESSED_ALREADY = 1e-3  # what it costs to change a cell that is suppressed, relative to others
MOST_ROUNDS, MOST_TRIALS = 20, 200


def also_suppressed(counts: Array, hidden: Array) -> Array:
    """Return which other counts to hide so that none that is `hidden` follows from totals.

    The totals of rows and of columns are known.
    """
    total, sums = counts.sum(axis=1), counts.sum(axis=0)[None]
    over = Aggregates(np.zeros(len(counts), int), sums, sums, np.array([-1]))
    y = np.where(hidden, np.nan, counts / np.where(total > 0, total, 1)[:, None])
    known = PartialRows(y, *PartialRows(y).box, counts=Counts(total, False, over))
    out, values = np.zeros(counts.shape, bool), counts[hidden]
    if hidden.any():
        graph = CountGraph.of(known)
        risky = narrow_ranges(*graph.ranges(values, np.arange(len(values))), 0)
        out[further_cells(known, values, 0, risky)[0]] = True
    return out


def narrow_ranges(low: Array, high: Array, near: float) -> Array:
    """Return where all between two ends is within a share of the middle."""
    return (high - low) / 2 <= near * np.abs(high + low) / 2 + 1e-9


def further_cells(known: PartialRows, hidden: Array, near: float, risky: Array) -> tuple[Any, int]:
    """Return published cells whose suppression keeps all others secret, and how many it does not.

    `hidden` are counts that the suppressed cells may have. For each cell that is `risky`, the
    cheapest cycle of cells along which numbers can be shifted is opened; then cells that turn out
    not to be needed are closed again. Others stay safe whatever else is suppressed.
    """
    assert known.counts is not None
    holes, values = known.holes, known.y * known.counts.total[:, None]
    values[holes] = hidden
    candidates, watched = ~holes & (values > 0), np.zeros(holes.shape, bool)
    watched[holes] = risky
    everything = CountGraph.of(_opened(known, candidates))
    place = everything.row, everything.label
    primary = holes[place]
    cost = np.where(primary, SUPPRESSED_ALREADY, 1 + values[place] / max(values.sum(), 1.0))
    extra, before, left = np.zeros(holes.shape, bool), -1, watched
    for _ in range(MOST_ROUNDS):
        if not left.any() or extra.sum() == before:
            break
        before = extra.sum()
        for edge in np.flatnonzero(left[place]).tolist():
            path = _cheapest_cycle(everything, cost, edge)
            cost[path] = np.minimum(cost[path], SUPPRESSED_ALREADY)
            extra[place[0][path], place[1][path]] = True
            extra &= candidates
        left = _risky(known, extra, values, near, watched)
        # They may be at their bounds; published cells can always rise and fall.
        cost = np.where(primary | extra[place], 1 / SUPPRESSED_ALREADY, cost)
    n_open, chosen = int(left.sum()), np.argwhere(extra)
    largest = np.argsort(-values[extra], kind="stable")
    for row, label in chosen[largest][:MOST_TRIALS].tolist():
        extra[row, label] = False
        if _risky(known, extra, values, near, watched).sum() > n_open:
            extra[row, label] = True
    return np.nonzero(extra), n_open


def _opened(known, cells):
    """Return rows in which some published cells are suppressed."""
    y = np.where(cells, np.nan, known.y)
    lower, upper = (np.where(cells, end, own) for end, own in zip((0, 1), known.box, strict=True))
    return replace(known, y=y, lower=lower, upper=upper)


def _risky(known, extra, values, near, watched):
    """Return which `watched` cells are as good as known if further ones are suppressed."""
    graph = CountGraph.of(_opened(known, extra))
    place, out = (graph.row, graph.label), np.zeros(watched.shape, bool)
    edges = np.flatnonzero(watched[place])
    ranges = graph.ranges(graph.with_unknown_sums(values[place]), edges)
    out[graph.row[edges], graph.label[edges]] = narrow_ranges(*ranges, near)
    return out


def _cheapest_cycle(graph, cost, edge):
    """Return the other edges of the cheapest cycle through an edge; none if there is no cycle."""
    n, n_cells = len(graph.supply), len(cost)
    pair = np.sort([graph.tail[:n_cells], graph.head[:n_cells]], axis=0)
    key = pair[0] * n + pair[1]
    order = np.lexsort((cost, key))
    order = order[order != edge]
    first = order[np.unique(key[order], return_index=True)[1]]  # the cheapest between two nodes
    links = csr_array((cost[first], pair[:, first]), shape=(n, n))
    _, before = dijkstra(links, directed=False, indices=graph.head[edge], return_predecessors=True)
    path, node, keys = [], graph.tail[edge], key[first]
    while node != graph.head[edge]:
        if before[node] < 0:
            return np.empty(0, int)
        a, b = sorted((int(node), int(before[node])))
        path.append(first[np.searchsorted(keys, a * n + b)])
        node = before[node]
    return np.array(path, int)
