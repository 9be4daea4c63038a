"""Degrees that are hidden on purpose: one at a time, and never alone."""

import numpy as np
import pytest

from inldl import hide
from inldl.uncertainty.hiding import hide_each_label, raked, share_of_holes


def degrees(rate, n=80, n_labels=4):
    y = np.random.default_rng(0).dirichlet(np.ones(n_labels), n)
    return hide(y, rate, random_state=1)


@pytest.mark.parametrize("rate", [0, 0.1, 0.5, 0.9])
def test_each_observed_degree_is_hidden_once_and_never_alone(rate):
    y = degrees(rate)
    hidden = hide_each_label(y, seed=0)
    where = sorted(zip(hidden.row.tolist(), hidden.label.tolist(), strict=True))
    assert where == sorted(map(tuple, np.argwhere(~np.isnan(y)).tolist()))
    np.testing.assert_array_equal(hidden.degrees, y[hidden.row, hidden.label])
    at = np.arange(len(hidden.row)), hidden.label
    assert np.isnan(hidden.left[at]).all()
    assert (np.isnan(hidden.left).sum(axis=1) > 1).all()
    kept = ~np.isnan(hidden.left)
    np.testing.assert_array_equal(hidden.left[kept], y[hidden.row][kept])


def test_rows_with_holes_keep_just_these():
    y = degrees(0.5)
    hidden = hide_each_label(y, seed=0)
    before = np.isnan(y[hidden.row]).sum(axis=1)
    after = np.isnan(hidden.left).sum(axis=1)
    np.testing.assert_array_equal(after[before > 0], before[before > 0] + 1)


def test_tables_of_many_labels_are_thinned_out():
    y = np.random.default_rng(0).dirichlet(np.ones(400), 300)
    hidden = hide_each_label(y, seed=0)
    assert np.bincount(hidden.label).tolist() == [15] * 400


def test_weights_make_the_holes_as_frequent_as_they_are():
    y = degrees(0.3, n=400)
    left = hide_each_label(y, seed=0).left
    weights = share_of_holes(left, y)
    have, want = (np.isnan(a).sum(axis=1) for a in (left, y))
    several = want > 1
    target = np.average(want[several], weights=want[several])
    assert np.average(have, weights=weights) == pytest.approx(target)
    assert (share_of_holes(left, np.nan_to_num(y)) == 1).all()  # no holes: nothing to match


def test_raked_weights_meet_their_margins():
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=60), rng.integers(4, size=60)
    wanted = np.array([10.0, 20, 30]), np.array([6.0, 24, 0, 30])
    weights = raked(rng.random(60), list(zip(groups, wanted, strict=True)))
    np.testing.assert_allclose(np.bincount(groups[1], weights), wanted[1])
    np.testing.assert_allclose(np.bincount(groups[0], weights), wanted[0], rtol=0.02)


def test_groups_without_a_weight_are_left_out():
    weights = raked(np.array([2.0, 2, 1]), [(np.array([0, 0, 2]), np.array([3, 5, 0.5, 7]))])
    np.testing.assert_allclose(weights, [1.5, 1.5, 0.5])
    nothing = raked(np.ones(2), [(np.array([0, 0]), np.zeros(3))])
    np.testing.assert_array_equal(nothing, 1)
