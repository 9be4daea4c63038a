"""What is known of hidden degrees: a threshold, the smallest of their row, or a sum."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide, hide_with_bounds, hide_with_sums


@pytest.fixture
def y():
    return np.random.default_rng(7).dirichlet(np.full(5, 0.7), size=300)


def test_all_below_a_threshold_are_suppressed(y):
    out, lower, upper = hide_with_bounds(y, threshold=0.05)
    hidden = np.isnan(out)
    np.testing.assert_array_equal(hidden, y < 0.05)
    np.testing.assert_array_equal(lower, np.where(hidden, 0, np.nan))
    np.testing.assert_array_equal(upper, np.where(hidden, 0.05, np.nan))


def test_a_rate_suppresses_so_many(y):
    y[0, 0] = np.nan
    out, lower, upper = hide_with_bounds(y, 1 / 3, random_state=0)
    newly = np.isnan(out) & ~np.isnan(y)
    assert newly.sum() == round((y.size - 1) / 3)
    assert (y[newly] <= upper[newly]).all()
    assert np.unique(upper[newly]) == np.nanmin(out)
    assert np.isnan(upper[~newly]).all()
    assert np.isnan(lower[~newly]).all()


def test_the_largest_of_a_row_bound_the_others(y):
    out, lower, upper = hide_with_bounds(y, 0.4, mechanism="top", random_state=0)
    hidden = np.isnan(out)
    expected = np.repeat(np.nanmin(out, axis=1)[:, None], 5, axis=1)
    np.testing.assert_array_equal(upper[hidden], expected[hidden])
    assert (lower[hidden] == 0).all()
    assert (y[hidden] <= upper[hidden]).all()


def test_groups_are_known_by_their_sums(y):
    frame = pd.DataFrame(y, columns=list("abcde"))
    frame.iloc[:3, 1] = np.nan
    out, sums = hide_with_sums(frame, 0.5, labels=["d", "b"], random_state=0)
    assert list(sums) == [("b", "d")]
    rows = ~np.isnan(sums["b", "d"])
    assert 140 <= rows.sum() <= 150
    assert not rows[:3].any()
    np.testing.assert_allclose(sums["b", "d"][rows], (frame["b"] + frame["d"])[rows])
    assert out.loc[rows, ["b", "d"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(out[["a", "c", "e"]], frame[["a", "c", "e"]])
    pd.testing.assert_frame_equal(out[~rows], frame[~rows])
    _, sums = hide_with_sums(y, 0.5, random_state=0)
    [columns] = sums
    assert len(columns) == 2
    assert hide_with_sums(y, 0)[1] == {}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rate": 0.1, "threshold": 0.1}, "threshold is for mechanism='suppressed', got"),
        ({"mechanism": "suppressed", "threshold": 0}, "threshold must be a number greater than 0"),
        ({"mechanism": "suppressed", "threshold": 0.1, "rate": 0.1}, "exclude each other"),
        ({"mechanism": "suppressed"}, "rate must be at least 0 and below 1, got None"),
        ({"rate": 0.1, "labels": [0, 1]}, "labels is for mechanism='grouped' or 'block'"),
        ({"rate": 0.1, "unit": [0]}, "unit is for mechanism='spell' or 'block', got"),
        ({"rate": 0.1, "mechanism": "grouped", "labels": [0]}, r"at least two labels of y, but g"),
        ({"rate": 0.1, "mechanism": "grouped", "labels": [0, 9]}, "labels of y, but 9 is not one"),
    ],
)
def test_options_that_do_not_fit_are_refused(y, options, told):
    with pytest.raises(ValueError, match=told):
        hide(y, **options)


def test_only_small_degrees_have_bounds(y):
    with pytest.raises(ValueError, match="mechanism must be one of 'suppressed', 'top', got 'un"):
        hide_with_bounds(y, 0.1, mechanism="uniform")
