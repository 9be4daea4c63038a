"""What is expected of degrees between bounds, against SciPy's gamma distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inldl.rows.density import GammaDegrees
from inldl.rows.grid import EDGES, GridDensity
from inldl.rows.partial import PartialRows

NAN = np.nan
DEGREES = st.floats(0.0, 1.0)


def inside_of(mean, scale):
    return GammaDegrees(np.array([mean]), np.array([scale]))


@pytest.mark.parametrize(("mean", "scale"), [(0.3, 0.02), (0.1, 0.05), (0.05, 0.03), (0.2, 0.2)])
@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.05), (0.05, 0.2), (0.0, 1.0), (0.3, 0.5)])
def test_moments_are_those_of_a_truncated_gamma(mean, scale, lower, upper):
    shape = np.array([[mean]]), np.array([[lower]]), np.array([[upper]])
    expected, variance = inside_of(mean, scale).between(*shape).moments()
    gamma = stats.gamma(mean / scale, scale=scale)
    between = {"lb": lower, "ub": upper, "conditional": True}
    first = gamma.expect(lambda x: x, **between)
    second = gamma.expect(lambda x: (x - first) ** 2, **between)
    width = upper - lower
    assert expected.item() == pytest.approx(first, abs=0.01 * width)
    assert np.sqrt(variance.item()) == pytest.approx(np.sqrt(second), abs=0.02 * width)


@given(DEGREES, DEGREES, DEGREES, st.sampled_from([1e-7, 1e-3, 0.1, 5.0]))
def test_means_are_between_the_bounds(mean, one, other, scale):
    lower, upper = np.sort([one, other])
    cell = np.array([[max(mean, 1e-4)]]), np.array([[lower]]), np.array([[upper]])
    expected, variance = inside_of(mean, scale).between(*cell).moments()
    assert lower - 1e-12 <= expected.item() <= upper + 1e-12
    assert 0 <= variance.item() <= (upper - lower) ** 2 / 4 + 1e-12


def test_quantiles_of_even_probabilities():
    lower, upper = np.array([[0.1, 0.3]]), np.array([[0.2, 0.3]])
    weights = np.broadcast_to(np.diff(EDGES), (1, 2, 32))
    for level in (0.0, 0.25, 0.5, 0.9, 1.0):
        found = GridDensity(lower, upper, weights).quantile(level)
        np.testing.assert_allclose(found, [[0.1 + 0.1 * level, 0.3]], atol=1e-12)
    levels = np.array([[0.2, 0.7]])
    np.testing.assert_allclose(GridDensity(lower, upper, weights).quantile(levels), [[0.12, 0.3]])


@pytest.mark.parametrize("side", ["low", "high", "even"])
def test_the_shortest_interval_is_where_the_density_is(side):
    lower, upper = np.zeros((1, 1)), np.ones((1, 1))
    centres = (EDGES[1:] + EDGES[:-1]) / 2
    slope = {"low": np.exp(-8 * centres), "high": np.exp(8 * centres), "even": np.ones(32)}[side]
    weights = slope * np.diff(EDGES)
    weights = (weights / weights.sum())[None, None]
    low, high = (end.item() for end in GridDensity(lower, upper, weights).shortest(0.8))
    assert high - low <= 0.8 + 1e-9
    if side == "even":
        assert high - low == pytest.approx(0.8)
    else:
        assert high - low < 0.4
        assert low == 0 if side == "low" else high == 1


def suppressed(n=400, limit=0.1, seed=0):
    """Return distributions, their small degrees hidden, and the bound of these."""
    truth = np.random.default_rng(seed).dirichlet([4, 3, 0.6, 0.5], n)
    y = np.where(truth < limit, NAN, truth)
    return truth, y, np.where(np.isnan(y), limit, NAN)


def test_learning_finds_the_means_of_suppressed_degrees():
    truth, y, upper = suppressed()
    limits = PartialRows.of(y, upper=upper)
    found = GammaDegrees.learn(limits)
    np.testing.assert_allclose(found.mean, truth.mean(axis=0), rtol=0.15)
    filled, variance = found.fill(limits)
    holes = np.isnan(y)
    half = limits.project(np.full(y.shape, 0.05))
    assert ((filled - truth)[holes] ** 2).mean() < ((half - truth)[holes] ** 2).mean()
    assert (variance[~holes] == 0).all()
    assert (variance >= 0).all()
    np.testing.assert_array_equal(filled[~holes], y[~holes])
    assert (filled[holes] <= 0.1).all()
    np.testing.assert_allclose(filled.sum(axis=1), 1)


def test_a_single_hole_has_no_variance():
    y = np.array([[0.6, 0.3, NAN], [0.5, NAN, NAN], [0.2, 0.3, 0.5]])
    limits = PartialRows.of(y, upper=np.where(np.isnan(y), 0.3, NAN))
    filled, variance = GammaDegrees(np.array([0.5, 0.3, 0.2]), np.full(3, 0.05)).fill(limits)
    assert filled[0, 2] == pytest.approx(0.1)
    assert variance[0, 2] == pytest.approx(0, abs=1e-9)
    assert (variance[1, 1:] > 1e-4).all()


def test_predictions_of_rows_are_followed():
    truth, y, upper = suppressed(limit=0.3)
    limits = PartialRows.of(y, upper=upper)
    holes = np.isnan(y)
    by_rows = GammaDegrees.learn(limits, truth).fill(limits, truth)[0]
    by_labels = GammaDegrees.learn(limits).fill(limits)[0]
    errors = [((filled - truth)[holes] ** 2).mean() for filled in (by_rows, by_labels)]
    assert errors[0] < 0.5 * errors[1]


def test_sums_of_groups_are_kept_and_blocks_do_not_matter():
    truth, y, upper = suppressed(limit=0.4)
    limits = PartialRows.of(y, upper=upper, sums={(1, 2): truth[:, 1] + truth[:, 2]})
    found = GammaDegrees.learn(limits)
    filled, variance = found.fill(limits)
    np.testing.assert_allclose(filled[:, 1] + filled[:, 2], truth[:, 1] + truth[:, 2])
    for again, before in zip(found.fill(limits, at_once=7), (filled, variance), strict=True):
        np.testing.assert_array_equal(again, before)
