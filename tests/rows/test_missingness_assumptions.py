"""Zeros that are too small to be recorded, and filled degrees under stated departures."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.rows.missingness import rounded_zeros, settle_largest, shift_filled
from inldl.rows.partial import PartialRows

NAN = np.nan


def test_a_rounded_zero_is_a_hole_below_its_limit():
    y, lower, upper = rounded_zeros([[0.5, 0.48, 0.0], [0.5, NAN, 0.0], [0.5, 0.5, 0.0]], 0.05)
    np.testing.assert_array_equal(y[:2], [[0.5, 0.48, NAN], [0.5, NAN, NAN]])
    np.testing.assert_array_equal(upper[:2], [[NAN, NAN, 0.05], [NAN, NAN, 0.05]])
    assert np.isnan(lower[:2]).all()
    # The last row sums to 1 without it, so the first of its largest degrees gives way.
    np.testing.assert_array_equal(np.isnan(y[2]), [True, False, True])
    np.testing.assert_allclose([lower[2, 0], upper[2, 0]], [0.45, 0.55])


def test_the_limit_is_by_default_the_smallest_other_degree():
    frame = pd.DataFrame({"a": [60.0, 99.5, 99.0], "b": [40.0, 0.0, 1.0], "c": [0.0, 0.5, 0.0]})
    y, _, upper = rounded_zeros(frame, whole=100)
    assert list(upper.columns) == ["a", "b", "c"]
    assert (upper["c"][0], upper["b"][1]) == (0.5, 1)
    assert y["b"].isna().tolist() == [False, True, False]
    kept, *_ = rounded_zeros(frame, [NAN, 1, NAN], whole=100)
    assert kept["c"].tolist() == [0, 0.5, 0]


def test_rows_to_learn_from_know_the_degree_that_gives_way():
    y, lower, upper = rounded_zeros([[0.7, 0.3, 0.0]], 0.02)
    rows = settle_largest(PartialRows.of(y, lower, upper), ~np.isnan(lower))
    np.testing.assert_allclose(rows.y, [[0.687, 0.3, NAN]])
    np.testing.assert_allclose(rows.project(np.zeros((1, 3))), [[0.687, 0.3, 0.013]])
    assert settle_largest(rows, None) is rows


def test_filled_degrees_are_multiplied_and_the_others_of_the_row_give_way():
    rows = PartialRows(
        np.array([[0.4, NAN, NAN, NAN], [0.4, NAN, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4]])
    )
    filled = np.array([[0.4, 0.2, 0.1, 0.3], [0.4, 0.2, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4]])
    shifted = shift_filled(rows, filled, np.array([1, 1.2, 1, 1]))
    np.testing.assert_allclose(shifted[0], [0.4, 0.24, 0.09, 0.27])
    np.testing.assert_array_equal(shifted[1:], filled[1:])  # the sums of these leave no choice


@pytest.mark.parametrize(
    ("factor", "expected"), [(10, [0.4, 0.6, 0, 0]), (0, [0.4, 0, 0.15, 0.45])]
)
def test_a_row_gives_what_it_has(factor, expected):
    rows = PartialRows(np.array([[0.4, NAN, NAN, NAN]]))
    shifted = shift_filled(rows, np.array([[0.4, 0.2, 0.1, 0.3]]), np.array([1, factor, 1, 1]))
    np.testing.assert_allclose(shifted[0], expected, atol=1e-15)


def test_labels_that_are_all_named_share_what_the_row_leaves():
    rows, filled = PartialRows(np.array([[0.4, NAN, NAN]])), np.array([[0.4, 0.2, 0.4]])
    shifted = shift_filled(rows, filled, np.array([1, 2, 1.5]))
    np.testing.assert_allclose(shifted[0], [0.4, 0.24, 0.36])
    np.testing.assert_array_equal(shift_filled(rows, filled, np.array([1.0, 0, 0])), filled)


@given(
    seed=st.integers(0, 999),
    factors=st.lists(st.sampled_from([0, 0.5, 1, 1.1, 3]), min_size=5, max_size=5),
    bounded=st.booleans(),
)
def test_sums_known_degrees_and_bounds_are_kept(seed, factors, bounded):
    rng = np.random.default_rng(seed)
    whole = rng.dirichlet(np.ones(5), 20)
    holes = rng.random(whole.shape) < 0.5
    lower, upper = (np.where(holes, whole * each, NAN) for each in (0.5, 1.2))
    limits = {"lower": lower, "upper": np.minimum(upper, 1)} if bounded else {}
    rows = PartialRows.of(np.where(holes, NAN, whole), **limits)
    shifted = shift_filled(rows, whole, np.array(factors))
    np.testing.assert_array_equal(shifted[~holes], whole[~holes])
    np.testing.assert_allclose(shifted.sum(axis=1), 1, atol=1e-9)
    low, high = rows.box
    assert (shifted >= low - 1e-9).all()
    assert (shifted <= high + 1e-9).all()
    same = shift_filled(rows, whole, np.ones(5))
    np.testing.assert_allclose(same, whole, atol=1e-9)
