"""Rows of a unit that follow each other, and labels of a period or region."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide


def hidden(n, n_labels, rate, mechanism, **options):
    """Return what is hidden of equal degrees."""
    y = np.full((n, n_labels), 1 / n_labels)
    return np.isnan(hide(y, rate, mechanism=mechanism, **options))


def runs(gone):
    """Return the lengths of the runs of True."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], gone, [0]])))
    return np.diff(ends)[::2]


@pytest.fixture
def panel():
    """Return the units and times of 40 units of 3 to 30 years, in random order."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 31, 40)
    unit = np.repeat([f"u{i}" for i in range(40)], sizes)
    time = np.concatenate([1990 + np.arange(size) for size in sizes])
    order = rng.permutation(len(unit))
    return unit[order], time[order]


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.9])
def test_spells_take_their_share_of_each_unit(panel, rate):
    unit, time = panel
    gone = hidden(len(unit), 3, rate, "spell", unit=unit, time=time, random_state=1)
    np.testing.assert_array_equal(gone.all(axis=1), gone.any(axis=1))
    gone = gone.all(axis=1)
    assert gone.sum() == round(rate * len(unit))
    for name in np.unique(unit):
        rows = unit == name
        assert abs(gone[rows].sum() - rate * rows.sum()) <= 1
        lengths = runs(gone[rows][np.argsort(time[rows])])
        if rate < 0.5:  # at most 6 rows
            assert len(lengths) <= 1
        assert len(lengths) <= np.ceil(gone[rows].sum() / 12)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_a_long_series_loses_several_runs_apart(rate):
    lengths = runs(hidden(600, 3, rate, "spell", random_state=0).all(axis=1))
    assert len(lengths) == np.ceil(600 * rate / 12)
    assert lengths.max() <= 12
    assert lengths.sum() == 600 * rate


def test_spells_start_anywhere():
    first = [np.argmax(hidden(10, 3, 0.2, "spell", random_state=i)[:, 0]) for i in range(300)]
    np.testing.assert_array_less(10, np.bincount(first, minlength=9))
    assert max(first) == 8


def test_spells_without_times_are_in_the_order_of_the_rows():
    unit = np.tile(["a", "b"], 10)
    gone = hidden(20, 3, 0.3, "spell", unit=unit, random_state=0).all(axis=1)
    assert [runs(gone[unit == name]).tolist() for name in "ab"] == [[3], [3]]


def test_blocks_are_early(panel):
    unit, time = panel
    gone = hidden(len(unit), 9, 0.15, "block", unit=unit, time=time, random_state=0)
    rows, labels = gone.any(axis=1), gone.any(axis=0)
    assert labels.sum() == 3
    np.testing.assert_array_equal(gone, np.outer(rows, labels))
    assert time[rows].max() < time[~rows].min()
    shares = [np.mean(time < year) * 3 / 9 for year in np.unique(time)]
    assert gone.mean() == min(shares, key=lambda share: abs(share - 0.15))


def test_blocks_without_times_take_units(panel):
    unit, _ = panel
    gone, other = (
        hidden(len(unit), 9, 0.15, "block", unit=unit, random_state=seed) for seed in (0, 1)
    )
    rows = gone.any(axis=1)
    np.testing.assert_array_equal(gone, np.outer(rows, gone.any(axis=0)))
    assert not set(unit[rows]) & set(unit[~rows])
    assert set(unit[rows]) != set(unit[other.any(axis=1)])
    assert abs(gone.mean() - 0.15) <= 15 * 3 / gone.size  # half of the largest unit


@pytest.mark.parametrize(
    ("rate", "n_labels", "n_rows"), [(0.1, 3, 30), (0.2, 3, 60), (0.4, 6, 60), (0.9, 9, 90)]
)
def test_blocks_of_a_series_take_first_rows_and_more_labels_if_needed(rate, n_labels, n_rows):
    gone = hidden(100, 9, rate, "block", random_state=0)
    assert gone.any(axis=0).sum() == n_labels
    np.testing.assert_array_equal(gone.any(axis=1), np.arange(100) < n_rows)


def test_blocks_of_chosen_labels_leave_the_last_time():
    frame = pd.DataFrame(np.full((6, 4), 0.25), columns=list("abcd"))
    years = pd.to_datetime(pd.Series(["2003", "2001", "2002"] * 2), format="%Y")
    out = hide(frame, 0.5, mechanism="block", labels=["b", "d"], time=years)
    assert out["b"].isna().tolist() == [False, True, True] * 2
    assert out.isna().sum().tolist() == [0, 4, 0, 4]


@pytest.mark.parametrize("mechanism", ["spell", "block"])
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"unit": ["a"]}, r"unit must have one value for each of 4 rows, got \(1,\)"),
        ({"unit": ["a", None, "b", "b"]}, "unit must be known for each row; some have none"),
        ({"time": [1, 2, np.nan, 3]}, "time must be known for each row"),
        ({"time": ["1.2.1999", "2.1.2000"] * 2}, "time must be numbers or datetime64"),
    ],
)
def test_refuses_rows_that_belong_nowhere(mechanism, options, told):
    with pytest.raises(ValueError, match=told):
        hidden(4, 3, 0.3, mechanism, **options)
