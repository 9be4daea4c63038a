"""Holes within limits: fills, intervals and draws keep what is known."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inldl.completion.completer import Completer
from inldl.rows.density import GammaDegrees
from inldl.rows.grid import EDGES, GridDensity, Tail, rank_correlation
from inldl.rows.partial import PartialRows

NAN = np.nan


@st.composite
def cases(draw):
    """Return what is expected of rows, a table within limits, and the limits."""
    n, C = draw(st.integers(1, 4)), draw(st.integers(3, 6))
    truth = draw(arrays(float, (n, C), elements=st.floats(0.01, 1)))
    truth /= truth.sum(axis=1, keepdims=True)
    y = np.where(draw(arrays(bool, (n, C))), truth, NAN)
    common = draw(st.sampled_from([0.05, 0.3]))  # holes of a row may have the same bound
    upper = np.where(truth <= common, common, truth + draw(st.sampled_from([0.0, 0.1])))
    lower = np.where(draw(arrays(bool, (n, C))), truth * 0.5, NAN)
    sums = {(0, 2): np.where(draw(arrays(bool, n)), truth[:, 0] + truth[:, 2], NAN)}
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    expected = draw(arrays(float, (n, C), elements=st.floats(0, 1)))
    return np.where(np.isnan(y), expected, y), limits


def within(unseen, C):
    rng = np.random.default_rng(0)
    expected = rng.dirichlet(np.ones(C), 50).ravel()
    degrees = np.clip(expected + rng.normal(0, 0.05, expected.size), 0, 1)
    tail, label = None, np.tile(np.arange(C), 50)
    if unseen:
        table = degrees.reshape(50, C)
        below = table < 0.1
        limits = PartialRows(
            np.where(below, NAN, table), np.where(below, 0, table), np.where(below, 0.1, table)
        )
        tail = Tail.learn(limits, expected.reshape(50, C), 0.5)
    return GammaDegrees.of_errors(expected, degrees, label, C, tail)


def keeps(filled, limits):
    """Assert that rows are within limits, to the bit where that can be."""
    seen = ~np.isnan(limits.y)
    np.testing.assert_array_equal(filled[seen], limits.y[seen])
    assert (limits.lower <= filled).all()
    assert (filled <= limits.upper).all()
    for inside, *_, total in limits.parts:
        there = inside.any(axis=1)
        sums = np.where(inside, filled, 0).sum(axis=1)
        np.testing.assert_allclose(sums[there], total[there], atol=1e-9)


@pytest.mark.parametrize("unseen", [True, False])
@given(case=cases())
def test_fills_and_draws_stay_within_limits(unseen, case):
    expected, limits = case
    how = within(unseen, expected.shape[1])
    keeps(how.fill_around(expected, limits), limits)
    draws = how.draw(expected, limits, 3, np.random.default_rng(0))
    assert draws.shape == (3, *expected.shape)
    for each in draws:
        keeps(each, limits)


@pytest.mark.parametrize("unseen", [True, False])
@given(case=cases(), coverage=st.sampled_from([0.5, 0.9]))
def test_intervals_hold_their_fill_and_are_possible(unseen, case, coverage):
    expected, limits = case
    how = within(unseen, expected.shape[1])
    zero, one = np.zeros_like(expected), np.ones_like(expected)
    filled, lower, upper = how.intervals(expected, zero, one, limits, coverage)
    np.testing.assert_array_equal(filled, how.fill_around(expected, limits))
    low, high = limits.possible
    assert (lower <= filled).all()
    assert (filled <= upper).all()
    assert (lower >= low - 1e-9).all()
    assert (upper <= high + 1e-9).all()
    seen = ~np.isnan(limits.y)
    np.testing.assert_array_equal(lower[seen], limits.y[seen])
    np.testing.assert_array_equal(upper[seen], limits.y[seen])
    other = np.isnan(limits.y) & ~limits.limited  # no limits of their own: as far as rows allow
    np.testing.assert_allclose(upper[other], high[other], atol=1e-9)


def censored(a, n=4000, limit=0.05, seed=0):
    """Return degrees of which those below a limit have a power law, and the rows that are known.

    The first label has the degrees, P(d < x) = F (x / limit)^a below the limit; others share the
    rest.
    """
    rng = np.random.default_rng(seed)
    first = 0.2 * rng.uniform(size=n) ** (1 / a)
    others = rng.dirichlet([4, 4], n) * (1 - first)[:, None]
    truth = np.column_stack([first, others])
    below = truth < limit
    y = np.where(below, NAN, truth)
    return truth, PartialRows(y, np.where(below, 0, truth), np.where(below, limit, truth))


@pytest.mark.parametrize("a", [0.7, 1.5, 3.0])
def test_the_exponent_below_a_limit_is_that_of_what_lies_above(a):
    """A power law has the same exponent above and below."""
    _, rows = censored(a, limit=0.1)
    tail = Tail.learn(rows, rows.project(np.full(rows.y.shape, 0.1)), 0.0)
    assert tail.exponents(rows.box[1])[0, 0] == pytest.approx(a, rel=0.25)


def test_what_is_expected_orders_degrees_below_a_limit():
    _, rows = censored(1.5)
    expected = 0.03 * np.exp(np.random.default_rng(0).normal(size=rows.y.shape))
    tail = Tail.learn(rows, expected, 1.0)
    row = PartialRows.of([[NAN, 0.5, NAN]], upper=[[0.05, NAN, NAN]])
    means = [
        tail.density(np.array([[size, 0.5, 0.4]]), row).moments()[0][0, 0]
        for size in (0.001, 0.03, 0.2)
    ]
    assert 0 < means[0] < means[1] < means[2] < 0.05


def test_a_known_sum_narrows_a_density():
    """Three holes whose limits leave much room: their means come nearer to what is left."""
    y = np.array([[0.5, NAN, NAN, NAN]])
    rows = PartialRows.of(y, upper=np.array([[NAN, 0.4, 0.4, 0.3]]))
    flat = GridDensity(*rows.possible, np.broadcast_to(np.diff(EDGES), (1, 4, 32)))
    holes = np.array([False, True, True, True])
    before, after = flat.moments(), flat.given_sums(rows).moments()
    off = [abs(mean[0, holes].sum() - 0.5) for mean, _ in (before, after)]
    assert off[1] < 0.7 * off[0]
    assert (after[1][0, holes] < 0.95 * before[1][0, holes]).all()


def test_ranks_of_small_degrees_that_are_expected():
    rng = np.random.default_rng(0)
    degrees, label = rng.uniform(size=600), np.repeat([0, 1], 300)
    assert rank_correlation(degrees, degrees, label) == pytest.approx(1)
    assert rank_correlation(rng.uniform(size=600), degrees, label) < 0.2
    assert rank_correlation(np.ones(600), degrees, label) == 0


def test_a_hole_that_was_seen_elsewhere_gets_its_mean_between_bounds():
    y = np.array([[0.5, NAN, NAN]])
    limits = PartialRows.of(y, upper=np.array([[NAN, 0.1, NAN]]))
    low = within(False, 3).fill_around(np.array([[0.5, 0.05, 0.45]]), limits)[0, 1]
    high = within(False, 3).fill_around(np.array([[0.5, 0.3, 0.2]]), limits)[0, 1]
    assert 0.01 < low < high < 0.1


def table(n=50, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet([3, 2, 1, 1], n)
    predicted = 0.7 * truth + 0.3 * truth.mean(axis=0)
    return truth, np.where(rng.random(truth.shape) < 0.4, NAN, truth), predicted


def test_the_completer_changes_only_rows_with_limits(without_trees):
    truth, y, predicted = table()
    completer = Completer().fit(PartialRows(y), predicted)
    upper = np.full(y.shape, NAN)
    rows = np.arange(50) % 2 == 0
    upper[rows] = np.where(np.isnan(y[rows]), truth[rows] + 0.02, NAN)
    limits = PartialRows.of(y, upper=upper)
    others = np.setdiff1d(np.arange(50), limits.limited_rows)
    plain, found = (completer.fill(rows, predicted) for rows in (PartialRows(y), limits))
    np.testing.assert_array_equal(found[others], plain[others])
    keeps(found[limits.limited_rows], limits.take(limits.limited_rows))
    filled, lower, upper_end = completer.fill_with_intervals(limits, predicted, 0.9)
    np.testing.assert_array_equal(filled, found)
    assert (lower <= filled).all()
    assert (filled <= upper_end).all()
    draws = completer.draw(limits, predicted, 3, 0)
    for each in draws:
        keeps(each[limits.limited_rows], limits.take(limits.limited_rows))
    assert (draws[0] != draws[1]).any()
    np.testing.assert_array_equal(completer.draw(limits, predicted, 3, 0), draws)


def test_learning_without_one_error_still_fills():
    how = GammaDegrees.of_errors(np.empty(0), np.empty(0), np.empty(0, int), 3)
    limits = PartialRows.of([[0.5, NAN, NAN]], upper=[[NAN, 0.1, NAN]])
    keeps(how.fill_around(np.array([[0.5, 0.2, 0.3]]), limits), limits)


def test_draws_of_blocks_of_limited_rows_differ(without_trees, monkeypatch):
    """Rows that are alike have draws of their own, in whatever block they are."""
    monkeypatch.setattr("inldl.completion.filling.FILL_ROWS", 10)
    truth, y, predicted = table()
    upper = np.where(np.isnan(y), np.maximum(truth + 0.02, 0.2), NAN)
    completer = Completer().fit(PartialRows(y), predicted)
    row = np.full(40, np.flatnonzero(np.isnan(y).sum(axis=1) == 3)[0])
    limits = PartialRows.of(y[row], upper=upper[row])
    draws = completer.draw(limits, predicted[row], 1, 0)[0]
    assert (draws[:10] != draws[10:20]).any()
