"""Counts with known sums both ways, against linear programming."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from inldl.rows.aggregates import Aggregates, CountGraph, Counts
from inldl.rows.partial import PartialRows


def a_table(generator, n, n_labels, limit, share, levels):
    """Return counts, which of them are suppressed, and what is known of them."""
    size = generator.gamma(1, 4, (n, 1)) * generator.gamma(1, 1, n_labels)
    counts = generator.poisson(size + 0.5)
    counts[counts.sum(axis=1) == 0, 0] = 1
    hidden = (counts < limit) & (generator.random(counts.shape) < share)
    total = counts.sum(axis=1).astype(float)
    y = np.where(hidden, np.nan, counts / total[:, None])
    rows = PartialRows(y, *PartialRows(y).box)
    upper = np.where(hidden, np.minimum((limit - 1) / total[:, None], 1), rows.upper)
    of = generator.integers(0, levels, n)
    sums = np.array([counts[of == k].sum(axis=0) for k in range(levels)], float)
    within, lower, high = np.full(levels, -1), sums.copy(), sums.copy()
    if levels > 1:
        unknown = generator.random(sums.shape) < 0.4
        lower[unknown], high[unknown] = 0, np.inf
        bounded = unknown & (generator.random(sums.shape) < 0.5)
        high[bounded] = sums[bounded] + 2
        all_rows = counts.sum(axis=0)[None]
        lower, high = np.vstack([lower, all_rows]), np.vstack([high, all_rows])
        within = np.append(np.full(levels, levels), -1)
    known = Counts(total, True, Aggregates(of, lower, high, within))
    return counts, hidden, replace(rows, upper=upper, counts=known)


def some_tables(n_tables, seed=0):
    generator = np.random.default_rng(seed)
    for k in range(n_tables):
        shape = generator.integers(2, 7), generator.integers(2, 6)
        limit = generator.integers(2, 6)
        counts, hidden, rows = a_table(generator, *shape, limit, 0.7, 1 + 2 * (k % 2))
        if hidden.any():
            yield counts, CountGraph.of(rows)


def extremes(graph, edge):
    """Return the smallest and the largest number of an edge, by linear programming."""
    objective = np.zeros(len(graph.tail))
    objective[edge] = 1
    about = {"A_eq": graph.matrix, "b_eq": graph.supply[:-1]}
    about["bounds"] = np.column_stack([graph.lower, graph.upper])
    return linprog(objective, **about).fun, -linprog(-objective, **about).fun


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_certain_counts_and_ranges_are_those_of_linear_programmes(seed):
    n_certain = n_free = 0
    for counts, graph in some_tables(30 if seed == 0 else 200, seed):
        flow = graph.some_flow(graph.with_unknown_sums(np.ones(graph.n_holes)))
        holes = np.arange(graph.n_holes)
        low, high = graph.ranges(flow, holes)
        found = np.array([extremes(graph, edge) for edge in holes])
        np.testing.assert_allclose(np.column_stack([low, high]), found, atol=1e-6)
        certain = graph.certain(flow)[holes]
        assert (certain == (found[:, 1] - found[:, 0] < 1e-6)).all()
        truth = counts[graph.row, graph.label]
        assert (low <= truth).all()
        assert (truth <= high).all()
        n_certain, n_free = n_certain + certain.sum(), n_free + (~certain).sum()
    assert n_certain > 20
    assert n_free > 20


def test_some_flow_has_all_sums_and_rounding_keeps_them():
    for _, graph in some_tables(60, seed=2):
        start = graph.with_unknown_sums(np.full(graph.n_holes, 1.3))
        flow = graph.some_flow(start)
        mixed = (flow + 2 * graph.some_flow(0 * start)) / 3  # another flow, with fractions
        for numbers in (flow, mixed):
            np.testing.assert_allclose(graph.matrix @ numbers, graph.supply[:-1], atol=1e-9)
        whole = graph.rounded(mixed)
        assert (graph.matrix @ whole == graph.supply[:-1]).all()
        assert (whole == np.rint(whole)).all()
        assert np.abs(whole - mixed).max() < 1
        assert (whole >= graph.lower).all()
        assert (whole <= graph.upper).all()


def two_rows(columns):
    """Return rows of 10 and 20 of which two counts below 5 are missing in each."""
    y = np.array([[8, np.nan, np.nan], [16, np.nan, np.nan]]) / [[10], [20]]
    rows = PartialRows(y, *PartialRows(y).box, names=("a", "b", "c"))
    upper = np.where(np.isnan(y), np.array([[0.4], [0.2]]), rows.upper)
    sums = np.array([columns], float)
    known = Counts(
        np.array([10.0, 20]), True, Aggregates(np.zeros(2, int), sums, sums, np.array([-1]))
    )
    return CountGraph.of(replace(rows, upper=upper, counts=known))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((23, 3, 4), "The total of 'a': the known counts are 1 more"),
        ((24, -1, 7), "The total of 'b': the known counts are 1 more"),
        ((24, 9, -3), "The total of 'b' and the known counts leave 9 .* can be 6 at most"),
        ((25, 2, 3), "The total of 'a' and the known counts leave 1 .* can be 0 at most"),
    ],
)  # fmt: skip
def test_contradictions_name_what_contradicts(columns, message):
    with pytest.raises(ValueError, match=message):
        (graph := two_rows(columns)).some_flow(np.ones(graph.n_holes))


def test_sums_that_leave_no_choice():
    graph = two_rows((24, 6, 0))
    flow = graph.some_flow(np.ones(4))
    assert flow.tolist() == [2, 0, 4, 0]
    assert graph.certain(flow).all()
