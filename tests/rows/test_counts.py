"""Filled counts: all sums hold, bounds are kept, and probabilities are those that are stated."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import poisson

from inldl.rows.aggregates import Aggregates, Counts
from inldl.rows.counts import FilledCounts, shortest_runs
from inldl.rows.partial import PartialRows


def suppressed(counts, limit=5, both=True):
    """Return rows of counts of which those from 1 to `limit` - 1 are known by that only."""
    total = counts.sum(axis=1).astype(float)[:, None]
    hidden = (counts > 0) & (counts < limit)
    y = np.where(hidden, np.nan, counts / total)
    lower, upper = (np.where(hidden, end / total, y) for end in (1, limit - 1))
    sums = counts.sum(axis=0)[None].astype(float)
    over = Aggregates(np.zeros(len(counts), int), sums, sums, np.array([-1])) if both else None
    return PartialRows(y, lower, upper, counts=Counts(total[:, 0], True, over)), hidden


def made(seed=0, n=60, n_labels=6):
    generator = np.random.default_rng(seed)
    means = generator.gamma(2, 4, (n, 1)) * generator.dirichlet(np.full(n_labels, 2.0)) * n_labels
    counts = generator.poisson(means / 2)
    counts[:, 0] += 10
    return means / means.sum(axis=1, keepdims=True), counts


def test_all_sums_hold_and_bounds_are_kept():
    expected, counts = made()
    rows, hidden = suppressed(counts)
    found = FilledCounts(rows, expected, expected / rows.counts.total[:, None])
    filled = found.degrees() * rows.counts.total[:, None]
    np.testing.assert_allclose(filled.sum(axis=0), counts.sum(axis=0), atol=1e-7)
    np.testing.assert_allclose(filled.sum(axis=1), counts.sum(axis=1), atol=1e-7)
    assert (filled[hidden] >= 1).all()
    assert (filled[hidden] <= 4).all()
    np.testing.assert_allclose(filled[~hidden], counts[~hidden], rtol=1e-12)
    whole = found.rounded(found.degrees()) * rows.counts.total[:, None]
    np.testing.assert_allclose(whole, np.rint(whole), atol=1e-9)
    np.testing.assert_allclose(whole.sum(axis=0), counts.sum(axis=0), atol=1e-9)
    generator, before = np.random.default_rng(0), filled
    for _ in range(3):
        drawn = found.drawn(found.degrees(), generator) * rows.counts.total[:, None]
        assert np.abs(drawn - before)[hidden].mean() > 0.1
        before = drawn
        np.testing.assert_allclose(drawn.sum(axis=0), counts.sum(axis=0), atol=1e-6)
        assert (drawn[hidden] >= 1 - 1e-9).all()
        assert (drawn[hidden] <= 4 + 1e-9).all()
    low, high = (end * rows.counts.total[:, None] for end in found.ranges())
    assert ((low <= counts + 1e-9) & (counts <= high + 1e-9))[hidden].all()


def test_a_single_row_has_the_means_of_tilted_poisson_counts():
    """Two missing counts from 1 to 4 that sum to 5: the tilt has their means sum to that."""
    counts, mean = np.array([[20, 2, 3]]), np.array([[20, 1.5, 2.5]])
    rows, _ = suppressed(counts, both=False)
    found = FilledCounts(rows, mean / 25, mean / 25**2)
    k, best = np.arange(1, 5), None
    for tilt in np.linspace(-2, 2, 400_001)[::200]:
        parts = [poisson.pmf(k, m) * np.exp(tilt * k) for m in (1.5, 2.5)]
        means = [k @ p / p.sum() for p in parts]
        if best is None or abs(sum(means) - 5) < abs(sum(best) - 5):
            best = means
    np.testing.assert_allclose(found.degrees()[0, 1:] * 25, best, atol=2e-2)


def test_intervals_hold_as_often_as_they_say():
    held, width = [], []
    for seed in range(20):
        expected, counts = made(seed)
        rows, hidden = suppressed(counts, limit=8)
        total = rows.counts.total[:, None]
        found = FilledCounts(rows, expected, expected / total)
        ends = found.intervals(np.zeros(expected.shape), np.ones(expected.shape), np.array(0.8))
        unsure = hidden & ~found.are_certain()
        low, high = (np.rint(end * total) for end in ends)
        held.append(((low <= counts) & (counts <= high))[unsure])
        width.append((high - low)[unsure])
    assert 0.78 < np.concatenate(held).mean() < 0.93
    assert np.concatenate(width).mean() < 5


def test_larger_sums_over_rows_move_the_counts_of_their_label():
    expected, counts = made()
    rows, hidden = suppressed(counts)
    more = counts.copy()
    at = np.flatnonzero(hidden[:, 1] & hidden[:, 2] & (counts[:, 2] > 1) & (counts[:, 1] < 4))
    more[at, 1], more[at, 2] = counts[at, 1] + 1, counts[at, 2] - 1
    assert len(at) > 3
    filled = []
    for table in (counts, more):
        sums = table.sum(axis=0)[None].astype(float)
        over = replace(
            rows.counts, aggregates=replace(rows.counts.aggregates, lower=sums, upper=sums)
        )
        filled.append(FilledCounts(replace(rows, counts=over), expected, expected / 50).degrees())
    assert (filled[1] - filled[0])[:, 1].sum() > 0 > (filled[1] - filled[0])[:, 2].sum()


def test_counts_without_bounds_are_fitted_in_proportion_and_by_their_variances():
    """Without bounds and with variances like the counts, it is proportional fitting."""
    expected = np.array([[0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    y = np.full((3, 3), np.nan)
    sums = np.array([[140.0, 60.0, 100.0]])
    over = Aggregates(np.zeros(3, int), sums, sums, np.array([-1]))
    rows = PartialRows(y, counts=Counts(np.full(3, 100.0), False, over))
    found = FilledCounts(rows, expected, expected / 100).degrees() * 100
    fitted = expected * 100
    for _ in range(200):
        fitted *= sums / fitted.sum(axis=0)
        fitted *= 100 / fitted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.sum(axis=0), sums[0], atol=1e-7)
    np.testing.assert_allclose(found, fitted, rtol=0.1)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_shortest_runs_are_the_shortest(coverage):
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.ones(6), 50)
    values = np.arange(6.0) + generator.integers(0, 3, (50, 1))
    low, high = shortest_runs(values, weights, np.full(50, coverage))
    for k, w in enumerate(weights):
        runs = [(b - a, -w[a : b + 1].sum()) for a, b in product(range(6), repeat=2) if a <= b]
        length = min(each for each, held in runs if -held >= coverage - 1e-12)
        first, last = (np.flatnonzero(values[k] == end)[0] for end in (low[k], high[k]))
        assert last - first == length
        assert w[first : last + 1].sum() >= coverage - 1e-12
