"""Which suppressed cells of a table anybody can work out, and what else had to be suppressed.

Totals and bounds leave each suppressed cell a range. A cell whose range is one number is no
secret, and one whose range is narrow hardly is. A model may find what arithmetic leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inldl.progress import report
from inldl.rows.aggregates import CountGraph, Counts
from inldl.rows.checks import check_number
from inldl.rows.protection import further_cells, narrow_ranges
from inldl.tables.completing import placed, rows_together
from inldl.tables.results import pieces_for
from inldl.tables.table import whole_of
from inldl.tables.table_rows import id_columns, id_texts

COVERAGE = 0.9  # of the intervals that a model gives


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
    check_number("near", near, low=0, below=1)
    ids = id_columns(file, model)
    pieces = list(pieces_for(model, file, ids, "reading rows"))
    joined, _, numbers, rows = rows_together(file, model, pieces, scale, normalize)
    total = np.full(joined.size, whole_of(scale)) if joined.totals is None else joined.totals
    counts = rows.rows.counts or Counts(total[numbers], False)
    known = replace(rows.rows, counts=counts)
    with placed(file.place_of(numbers), file.labels):
        filled, *ends = rows.fill(COVERAGE if model.gives_intervals else None)
    report("working out what totals and bounds allow")
    graph = CountGraph.of(known)
    at, units = (graph.row, graph.label), counts.total[graph.row]
    estimate = graph.with_unknown_sums(filled[at] * units)
    flow, n = graph.some_flow(estimate), graph.n_holes
    edges, row, label = _suppressed(file, graph, numbers)
    least, most = graph.ranges(flow, edges)
    low, high = np.full((2, len(edges)), np.nan)
    if ends:
        low[:n], high[:n] = (end[at] * units for end in ends)
    narrow = narrow_ranges(least, most, near)
    which = [graph.certain(flow)[edges], narrow, narrow_ranges(low, high, near)]
    kind = np.select(which, ["computed", "narrow", "guessed"], "open")
    names = _names(joined.features, ids)
    about = {"least": least, "most": most, "estimate": estimate[edges], "low": low, "high": high}
    cells = _cells(names, file.labels, row, label).assign(**about, kind=kind)
    report("looking for further cells to suppress")
    further, n_open = further_cells(known, flow[:n], near, narrow[:n])
    place = numbers[further[0]], further[1]
    more = _cells(names, file.labels, *place)
    more = more.assign(value=known.y[further] * counts.total[further[0]])
    kinds = np.full((len(names), len(file.labels)), "published", dtype=object)
    kinds[row, label], kinds[place] = kind, "suppress"
    kinds = pd.DataFrame(kinds, columns=file.labels, index=names.index)
    return Disclosure(cells, more, kinds, near, n_open + int(narrow[n:].sum()))


def _suppressed(file, graph, numbers):
    """Return the edges of suppressed cells, also of rows that are sums, their rows and labels."""
    edges, row, label = np.arange(graph.n_holes), numbers[graph.row], graph.label
    if file.over_rows is None:
        return edges, row, label
    more, number, of = file.over_rows.edges(graph)
    pairs = (edges, more), (row, file.over_rows.rows[number]), (label, of)
    return tuple(map(np.concatenate, pairs))


def _names(features, ids):
    """Return the numbers and ids of rows; the index is how rows are called."""
    frame = pd.DataFrame({"row": np.arange(1, len(features) + 1)})
    frame = frame.assign(**{name: id_texts(features, [name]) for name in ids})
    texts = id_texts(features, ids) if ids else [f"row {number}" for number in frame["row"]]
    return frame.set_axis(pd.Index(texts, name=", ".join(ids) or "row"))


def _cells(names, labels, row, label):
    """Return a frame with the places of cells."""
    return names.iloc[row].reset_index(drop=True).assign(label=np.array(labels, object)[label])
