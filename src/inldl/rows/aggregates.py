r"""Counts whose sums are known both ways: those of rows, and those of each label over rows.

A label may have a total over all rows, or over those of a region, which may be part of a larger
one. All unknown counts are numbers on the edges of a graph. A row, or a group of its labels, is a
node with what it leaves to its holes; an aggregate and a label are another, where the counts of
its rows arrive, and which their sum leaves, if that is not known. Counts that are possible differ
by what goes around in cycles of that graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from inldl import kernels
from inldl.errors import DataError
from inldl.text import listed

Array = np.ndarray
Response = Callable[[Array], tuple[Array, Array]]
EXACT = 1e-10  # of the largest sum: what a sum may be off
CERTAIN = 1e-6  # a count that can change by less is known
STEPS, SHORTEST_STEP = 100, 1e-6
DAMPED, LEAST_DAMPED = 1e-2, 1e-10  # relative: steps are too long where little can give way


@dataclass(frozen=True, eq=False)
class Aggregates:
    """Sums of counts over rows; one aggregate, such as a region, has a sum for each label."""

    of: Array  # (n,) the aggregate that each row is part of, -1 if of none
    lower: Array  # (n_aggregates, n_labels) bounds of the sums, equal where they are known
    upper: Array
    within: Array  # (n_aggregates,) the larger aggregate that each is part of, -1 if of none
    names: tuple[str, ...] = ()  # of the aggregates


@dataclass(frozen=True, eq=False)
class Counts:
    """That degrees of rows are counts."""

    total: Array  # (n,) what the counts of each row sum to
    whole: bool = False  # whether they are whole numbers
    aggregates: Aggregates | None = None  # of these rows
    where: Callable[[int], str] = "row {} (counted from 0)".format  # a row is, for messages

    def __getitem__(self, rows: Any) -> Counts:
        """Return some of the rows, of which no aggregates are known."""
        return Counts(self.total[rows], self.whole)

    def name_of_sum(self, labels: Any, number: int, label: int) -> str:
        """Return the name of a sum over rows."""
        names = () if self.aggregates is None else self.aggregates.names
        of = f"label {label}" if labels is None else repr(str(labels[label]))
        return f"{of} in {names[number]}" if names and names[number] else of


@dataclass(frozen=True, eq=False)
class CountGraph:
    """Unknown counts, and the sums that bind them.

    Edges are the holes of rows, in the order of `row` and `label`, then unknown sums. They leave
    their `tail` and arrive at their `head`. The nodes are those of rows, of sums over rows, and
    one where all that is left arrives.
    """

    row: Array  # (n_holes,) where the holes are
    label: Array
    tail: Array  # (n_edges,)
    head: Array
    lower: Array  # (n_edges,) bounds
    upper: Array
    supply: Array  # (n_nodes,) what leaves a node less what arrives there; of the last it follows
    own: Array  # (n_own,) the rows of the first nodes
    rows: Any  # the `PartialRows`

    @classmethod
    def of(cls, rows: Any) -> CountGraph:
        """Return the graph of `PartialRows` that are counts."""
        counts = rows.counts
        n, n_labels = rows.y.shape
        scale, sums = counts.total[:, None], counts.aggregates
        known = np.where(rows.holes, 0, rows.y) * scale
        lower, upper = (end * scale for end in rows.box)
        if counts.whole:
            known, lower, upper = np.rint(known), np.rint(lower), np.rint(upper)
        row, label = np.nonzero(rows.holes)
        part, left = np.zeros((n, n_labels), int), []
        for number, (cells, *_, total) in enumerate(rows.parts):
            part[cells] = number
            lacking = total * counts.total - np.where(cells, known, 0).sum(axis=1)
            left.append(np.rint(lacking) if counts.whole else lacking)
        key = row * len(left) + part[row, label]
        own, tail = np.unique(key, return_inverse=True)
        supply = np.column_stack(left).ravel()[own]
        nowhere, ends = np.full(len(row), -1), (lower[row, label], upper[row, label])
        graph = cls(row, label, tail, nowhere, *ends, supply, own // len(left), rows)
        graph = graph if sums is None else graph._with_sums(sums, known)
        last = len(graph.supply)
        head = np.where(graph.head < 0, last, graph.head)
        full = replace(graph, head=head, supply=np.append(graph.supply, -graph.supply.sum()))
        upper = full.with_unknown_sums(np.minimum(upper[row, label], supply[tail]))
        return replace(full, upper=np.maximum(np.minimum(full.upper, upper), full.lower))

    def _with_sums(self, sums: Aggregates, known: Array) -> CountGraph:
        """Return the graph with the nodes of aggregates and their unknown sums."""
        n_sums, n_labels = sums.lower.shape
        first, inside = len(self.supply), sums.of >= 0
        arriving = np.zeros((n_sums + 1, n_labels))
        np.add.at(arriving, np.where(inside, sums.of, n_sums), known)
        fixed = sums.lower == sums.upper
        leaving = np.where(fixed, sums.lower, 0)
        np.add.at(arriving, np.where(sums.within >= 0, sums.within, n_sums), leaving)
        supply = (arriving[:-1] - leaving).ravel()
        of = sums.of[self.row]
        head = np.where(of >= 0, first + of * n_labels + self.label, -1)
        a, j = np.nonzero(~fixed)
        up = sums.within[a]
        return replace(
            self,
            tail=np.concatenate([self.tail, first + a * n_labels + j]),
            head=np.concatenate([head, np.where(up >= 0, first + up * n_labels + j, -1)]),
            lower=np.concatenate([self.lower, sums.lower[a, j]]),
            upper=np.concatenate([self.upper, sums.upper[a, j]]),
            supply=np.concatenate([self.supply, supply]),
        )

    @property
    def whole(self) -> bool:
        """Whether all counts are whole numbers."""
        return bool(self.rows.counts.whole)

    @property
    def over_rows(self) -> bool:
        """Whether there are sums over rows."""
        return len(self.supply) > len(self.own) + 1

    @property
    def n_holes(self) -> int:
        """How many of the edges are holes of rows."""
        return len(self.row)

    @cached_property
    def graph(self) -> tuple[Array, Array, Array, Array]:
        """The graph as kernels take it."""
        ends = np.concatenate([self.tail, self.head])
        order = np.argsort(ends, kind="stable")
        first = np.searchsorted(ends[order], np.arange(len(self.supply) + 1))
        return first, order % len(self.tail), self.tail, self.head

    @cached_property
    def matrix(self) -> Any:
        """The signs with which edges count at all nodes but the last, of shape (nodes, edges)."""
        n_edges, n = len(self.tail), len(self.supply) - 1
        edges, ends = np.tile(np.arange(n_edges), 2), np.concatenate([self.tail, self.head])
        signs = np.repeat([1.0, -1.0], n_edges)
        kept = ends < n
        return csr_array((signs[kept], (ends[kept], edges[kept])), shape=(n, n_edges))

    @cached_property
    def summed(self) -> Array:
        """Which edges arrive at a sum over rows of which something is known."""
        known = np.ones(len(self.supply), bool)
        known[self.tail[self.n_holes :]] = False
        known[-1] = False
        return known[self.head]

    def with_unknown_sums(self, of_holes: Array) -> Array:
        """Return numbers of the holes, followed by the unknown sums that these make."""
        out, n = np.zeros(len(self.tail)), self.n_holes
        out[:n], before = of_holes, None
        while before is None or (out != before).any():  # once for each level of aggregates
            before = out.copy()
            arriving = np.bincount(self.head, out, minlength=len(self.supply))
            out[n:] = (arriving + self.supply)[self.tail[n:]]
        return out

    def balanced(self, response: Response, steps: int = STEPS) -> tuple[Array, bool]:
        r"""Return the numbers z that have the known sums, for a response to prices of the nodes.

        z is `response(h)`, followed by its slopes, where :math:`h_e` is the price of the tail of
        an edge less that of its head. Newton's method finds the prices of sums over rows; those
        of rows follow from these, one by one. Also says whether it has found them.
        """
        signs, supply, n = self.matrix, self.supply[:-1], len(self.own)
        gap, price = EXACT * max(1.0, np.abs(supply).max(initial=0)), np.zeros(len(supply))
        (z, slope), damping = self._with_rows_closed(response, price, gap, steps), DAMPED
        for _ in range(steps):
            lack = supply - signs @ z
            found = np.abs(lack).max(initial=0) <= gap
            if found or len(lack) == n:
                return z, found
            step, before = _solved(signs, slope, lack, n, damping), price.copy()
            length, rise = 1.0, lack[n:] @ step[n:]
            while True:
                price = before + length * step
                z, slope = self._with_rows_closed(response, price, gap, steps)
                over = (supply - signs @ z)[n:] @ step[n:] < -rise / 2
                if not over or length < SHORTEST_STEP:
                    break
                length /= 2
            damping = max(damping / 10, LEAST_DAMPED) if length == 1 else min(10 * damping, DAMPED)
        return z, False

    def _with_rows_closed(
        self, response: Response, price: Array, gap: float, steps: int
    ) -> tuple[Array, Array]:
        """Return a response once the prices of rows are such that rows have their sums.

        Newton's method, or halving where it leaves the interval that holds the price. The prices
        are changed in place.
        """
        signs, own = self.matrix, price[: len(self.own)]
        low, high = np.full(len(own), -np.inf), np.full(len(own), np.inf)
        reach = np.ones(len(own))
        for _ in range(steps):
            z, slope = response(signs.T @ price)
            lack = (self.supply[:-1] - signs @ z)[: len(own)]
            open_ = np.abs(lack) > gap / 10
            if not open_.any():
                break
            low, high = np.where(lack > 0, own, low), np.where(lack < 0, own, high)
            change = np.bincount(self.tail, slope, minlength=len(price) + 1)[: len(own)]
            step = lack / np.where(change > 0, change, np.inf)
            stuck = (np.abs(step) > reach) | (change <= 0)
            step = np.where(stuck, np.sign(lack) * reach, step)
            reach = np.where(stuck, 2 * reach, reach)
            new = own + step
            past = ((new <= low) | (new >= high)) & np.isfinite(low) & np.isfinite(high)
            new[past] = (low[past] + high[past]) / 2
            own[:] = np.where(open_, new, own)
        return z, slope

    def some_flow(self, values: Array) -> Array:
        """Return counts with the known sums and within bounds, that begin with some `values`.

        Sums that contradict each other are refused.
        """
        flow = np.clip(np.rint(values) if self.whole else values, self.lower, self.upper)
        n, ends = len(self.supply), (self.tail, self.head)
        out, arriving = (np.bincount(end, flow, n) for end in ends)
        room = np.array([self.upper - flow, flow - self.lower])
        stuck = kernels.settle_flow(self.graph, room, out - arriving - self.supply)
        if len(stuck):
            self._refuse(stuck)
        return self.lower + room[1]

    def certain(self, flow: Array) -> Array:
        """Return which edges have the same number in all flows; `flow` is any of them.

        These lie on no cycle along which the flow can change: their ends are not in one strongly
        connected part, or they are its only link between two halves.
        """
        rise, fall = self.upper - flow > CERTAIN, flow - self.lower > CERTAIN
        tail, head = (np.concatenate(ends) for ends in (
            (self.tail[rise], self.head[fall]), (self.head[rise], self.tail[fall]),
        ))  # fmt: skip
        n = len(self.supply)
        arcs = csr_array((np.ones(len(tail)), (tail, head)), shape=(n, n))
        part = connected_components(arcs, connection="strong")[1]
        inside = (part[self.tail] == part[self.head]) & (rise | fall)
        keys = np.random.default_rng(0).integers(1, 2**63, len(flow), dtype=np.uint64)
        return ~inside | kernels.bridges(self.graph, inside, keys)

    def ranges(self, flow: Array, edges: Array) -> tuple[Array, Array]:
        """Return the smallest and the largest number that some edges can have."""
        room = np.array([self.upper - flow, flow - self.lower])
        rise, fall = kernels.room_around(self.graph, np.maximum(room, 0), edges)
        low, high = flow[edges] - fall, flow[edges] + rise
        return (np.rint(low), np.rint(high)) if self.whole else (low, high)

    def rounded(self, flow: Array) -> Array:
        """Return whole numbers near those of a flow, with the same sums if these are whole."""
        flow = flow.copy()
        kernels.round_flow(self.graph, flow)
        near = np.rint(flow)
        return np.where(np.abs(flow - near) < CERTAIN, near, flow)

    def _name(self, node: int) -> str:
        """Return the name of a row, or of a sum over rows."""
        counts, n = self.rows.counts, len(self.own)
        if node < n:
            return str(counts.where(int(self.own[node])))
        return str(counts.name_of_sum(self.rows.names, *divmod(node - n, self.rows.y.shape[1])))

    def _refuse(self, stuck: Array) -> None:
        """Refuse sums that contradict each other, with the rows and labels concerned.

        The nodes that are `stuck` cannot have what they are to have, nor can all others together.
        """
        n = len(self.supply)
        least, most = (
            np.bincount(self.tail, out, n) - np.bincount(self.head, into, n)
            for out, into in ((self.lower, self.upper), (self.upper, self.lower))
        )
        alone = np.flatnonzero((self.supply < least - CERTAIN) | (self.supply > most + CERTAIN))
        inside = np.isin(np.arange(n), alone[:1] if len(alone) and alone[0] < n - 1 else stuck)
        if inside[-1] or 2 * inside.sum() > n:
            inside = ~inside
        nodes = np.flatnonzero(inside)
        leaving = inside[self.tail] & ~inside[self.head]
        entering = inside[self.head] & ~inside[self.tail]
        left = float(self.supply[nodes].sum())
        most = self.upper[leaving].sum() - self.lower[entering].sum()
        least = self.lower[leaving].sum() - self.upper[entering].sum()
        if not (nodes < len(self.own)).any():  # what arrives at sums over rows
            left, least, most = -left, -most, -least
        names = listed(map(self._name, nodes.tolist()), 5)
        of = f"The {'total' if len(nodes) == 1 else 'totals'} of {names}"
        if left < 0:
            raise DataError(f"{of}: the known counts are {-left:.10g} more; correct one of them.")
        between = f"{most + 0:.10g} at most" if left > most else f"{least + 0:.10g} at least"
        raise DataError(
            f"{of} and the known counts leave {left:.10g} for the missing ones, which can be "
            f"{between} by their bounds and all other totals; correct one of them."
        )


def _solved(signs: Any, slope: Array, lack: Array, n_own: int, damping: float) -> Array:
    """Return the step of prices that makes up for what sums lack.

    The first `n_own` nodes are those of rows, which have no edge in common: they are eliminated.
    """
    weighted = signs.multiply(slope).tocsr()
    own = weighted.multiply(signs).sum(axis=1)
    usual = slope[slope > 0].mean() if slope.any() else 1.0
    own = np.where(own > 0, own * (1 + damping), usual)
    if n_own == len(lack):
        return lack / own
    links = weighted[:n_own] @ signs[n_own:].T
    others = weighted[n_own:] @ signs[n_own:].T
    scaled = diags_array(1 / own[:n_own]) @ links
    products = others - links.T @ scaled
    products.setdiag(products.diagonal() + own[n_own:] - others.diagonal())
    step = splu(products.tocsc()).solve(lack[n_own:] - scaled.T @ lack[:n_own])
    return np.concatenate([lack[:n_own] / own[:n_own] - scaled @ step, step])
