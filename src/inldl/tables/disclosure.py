"""Which suppressed cells of a table anybody can work out, and what else had to be suppressed.

Totals and bounds leave each suppressed cell a range. A cell whose range is one number is no
secret, and one whose range is narrow hardly is. A model may find what arithmetic leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from inldl.progress import report
from inldl.rows.aggregates import CountGraph, Counts
from inldl.rows.checks import check_number
from inldl.rows.partial import PartialRows
from inldl.tables.completing import placed, rows_together
from inldl.tables.results import pieces_for
from inldl.tables.table import whole_of
from inldl.tables.table_rows import id_columns, id_texts

Array = np.ndarray
COVERAGE = 0.9  # of the intervals that a model gives
SUPPRESSED_ALREADY = 1e-3  # what it costs to change a cell that is suppressed, relative to others
MOST_ROUNDS, MOST_TRIALS = 20, 200


@dataclass(frozen=True, eq=False)
class Disclosure:
    """What a table with suppressed cells gives away."""

    # One row per suppressed cell: row, ids, label, least, most, estimate, low, high, kind
    cells: pd.DataFrame
    further: pd.DataFrame  # published cells to suppress, too: row, ids, label, value
    kinds: pd.DataFrame  # the kind of each cell of the table, "published" or "suppress" elsewhere
    near: float  # the share by which a number may be off to be as good as known
    n_open: int  # cells that are computed or narrow even if all further ones are suppressed

    def listed(self) -> pd.DataFrame:
        """Return all suppressed cells, and those to suppress, too, as one list."""
        return pd.concat([self.cells, self.further.assign(kind="suppress")], ignore_index=True)

    def count(self, *kinds: str) -> int:
        """Return how many suppressed cells are of some kinds: computed, narrow, guessed, open."""
        return int(self.cells["kind"].isin(kinds).sum())


def audit_table(file, model, *, scale, near=0.1, normalize=False) -> Disclosure:
    """Find out what totals, bounds and a model tell about the missing cells of a table.

    Parameters
    ----------
    file : TableFile
        The table as it is published. Its missing cells are the suppressed ones.
    model : TableModel
        Fitted to the table.
    scale : {"fraction", "percent", "count"}
        How the degrees are written in the file.
    near : float, default=0.1
        A cell is as good as known if all that it can be lies within this share of the middle.
    normalize : bool
        As in `inldl.tables.read_table`.

    Returns
    -------
    Disclosure
    """
    check_number("near", near, low=0)
    ids = id_columns(file, model)
    pieces = list(pieces_for(model, file, ids, "reading rows"))
    found = rows_together(file, model, pieces, scale, normalize)
    numbers, rows = found.at, found.rows
    total = found.joined.totals
    total = np.full(found.joined.size, whole_of(scale)) if total is None else total
    counts = rows.rows.counts or Counts(total[numbers], False)
    known = replace(rows.rows, counts=counts)
    with placed(file.place_of(numbers), file.labels):
        filled, *ends = rows.fill(COVERAGE if model.gives_intervals else None)
    report("working out what totals and bounds allow")
    graph = CountGraph.of(known)
    at, units = (graph.row, graph.label), counts.total[graph.row]
    flow = graph.some_flow(graph.with_unknown_sums(filled[at] * units))
    least, most = graph.ranges(flow, np.arange(graph.n_holes))
    low, high = (end[at] * units for end in ends) if ends else np.full((2, len(units)), np.nan)
    estimate = filled[at] * units
    certain, narrow = graph.certain(flow)[: graph.n_holes], _narrow(least, most, near)
    which = [certain, narrow, _narrow(low, high, near)]
    kind = np.select(which, ["computed", "narrow", "guessed"], "open")
    names = _names(found.joined.features.iloc[numbers], ids, numbers)
    about = {"least": least, "most": most, "estimate": estimate, "low": low, "high": high}
    cells = _cells(names, file.labels, *at).assign(**about, kind=kind)
    report("looking for further cells to suppress")
    further, n_open = _further(known, flow[: graph.n_holes], near, narrow)
    value = known.y[further] * counts.total[further[0]]
    more = _cells(names, file.labels, *further).assign(value=value)
    kinds = np.full(known.y.shape, "published", dtype=object)
    kinds[at], kinds[further] = kind, "suppress"
    kinds = pd.DataFrame(kinds, columns=file.labels, index=names.index)
    return Disclosure(cells, more, kinds, near, n_open)


def _names(features, ids, numbers):
    """Return the ids of rows, with a row of names for each, and how the rows are called."""
    frame = pd.DataFrame({name: id_texts(features, [name]) for name in ids})
    texts = id_texts(features, ids) if ids else [f"row {number + 1}" for number in numbers]
    frame.insert(0, "row", numbers + 1)
    return frame.set_axis(pd.Index(texts, name=", ".join(ids) or "row"))


def _cells(names, labels, row, label):
    """Return a frame with the places of cells."""
    return names.iloc[row].reset_index(drop=True).assign(label=np.array(labels, object)[label])


def _narrow(low, high, near):
    """Return where all between two ends is within a share of the middle."""
    return (high - low) / 2 <= near * np.abs(high + low) / 2 + 1e-9


def _further(known: PartialRows, hidden: Array, near: float, risky: Array) -> tuple[Any, int]:
    """Return published cells whose suppression keeps all others secret, and how many it does not.

    `hidden` are counts that the suppressed cells may have. For each cell that is `risky`, the
    cheapest cycle of cells along which numbers can be shifted is opened; then cells that turn out
    not to be needed are closed again.
    """
    assert known.counts is not None
    holes, values = known.holes, known.y * known.counts.total[:, None]
    values[holes] = hidden
    candidates = ~holes & (values > 0)
    everything = CountGraph.of(_opened(known, candidates))
    place = everything.row, everything.label
    primary = holes[place]
    cost = np.where(primary, SUPPRESSED_ALREADY, 1 + values[place] / max(values.sum(), 1.0))
    extra, before = np.zeros(holes.shape, bool), -1
    for _ in range(MOST_ROUNDS):
        if not risky.any() or extra.sum() == before:
            break
        edges, before = np.flatnonzero(primary)[risky], extra.sum()
        for edge in edges.tolist():
            path = _cheapest_cycle(everything, cost, edge)
            cost[path] = np.minimum(cost[path], SUPPRESSED_ALREADY)
            extra[place[0][path], place[1][path]] = True
            extra &= candidates
        risky = _risky(known, extra, values, near)
        # They may be at their bounds; published cells can always rise and fall.
        cost = np.where(primary | extra[place], 1 / SUPPRESSED_ALREADY, cost)
    n_open = int(risky.sum())
    chosen = np.argwhere(extra)
    largest = np.argsort(-values[extra], kind="stable")
    for row, label in chosen[largest][:MOST_TRIALS].tolist():
        extra[row, label] = False
        if _risky(known, extra, values, near).sum() > n_open:
            extra[row, label] = True
    return np.nonzero(extra), n_open


def _opened(known, cells):
    """Return rows in which some published cells are suppressed."""
    y = np.where(cells, np.nan, known.y)
    lower, upper = (np.where(cells, end, own) for end, own in zip((0, 1), known.box, strict=True))
    return replace(known, y=y, lower=lower, upper=upper)


def _risky(known, extra, values, near):
    """Return which suppressed cells are as good as known if further ones are suppressed."""
    graph = CountGraph.of(_opened(known, extra))
    place = graph.row, graph.label
    flow = graph.with_unknown_sums(values[place])
    primary = np.flatnonzero(known.holes[place])
    return _narrow(*graph.ranges(flow, primary), near)


def _cheapest_cycle(graph, cost, edge):
    """Return the other edges of the cheapest cycle through an edge; none if there is no cycle."""
    n, others = len(graph.supply), np.arange(len(cost)) != edge
    pair = np.sort(np.stack([graph.tail, graph.head])[:, : len(cost)], axis=0)
    key = pair[0] * n + pair[1]
    order = np.lexsort((cost, key))[others[np.lexsort((cost, key))]]
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
