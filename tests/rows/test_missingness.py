"""Degrees that are missing because of their size: recognised, and filled."""

import numpy as np
import pytest

from inldl.datasets import hide
from inldl.rows.density import GammaDegrees
from inldl.rows.missingness import fill_top_k, mechanism_of, top_k_rows
from inldl.rows.partial import PartialRows


def degrees(n=400, seed=0):
    return np.random.default_rng(seed).dirichlet([6.0, 3.0, 2.0, 2.0, 1.0, 1.0], n)


def error(filled, y, holes):
    return np.sqrt(np.mean((filled - y)[np.isnan(holes)] ** 2))


@pytest.mark.parametrize(
    ("mechanism", "rate", "expected"),
    [
        ("top", 0.4, "rest"),
        ("top", 0.9, "rest"),
        ("small", 0.4, "small"),
        ("small", 0.8, "small"),
        ("uniform", 0.5, "random"),
        ("keep", 0.5, "random"),
        ("keep", 0.8, "random"),
    ],
)
def test_mechanisms_are_recognised(mechanism, rate, expected):
    assert mechanism_of(hide(degrees(), rate, mechanism=mechanism, random_state=0)) == expected


def test_large_ones_and_a_size_below_which_nothing_is_recorded():
    y = degrees()
    assert mechanism_of(np.where(y > 0.3, np.nan, y)) == "large"
    assert mechanism_of(np.where(y < 0.15, np.nan, y)) == "rest"


def test_nothing_to_tell():
    y = degrees(40)
    assert mechanism_of(y) == "random"
    assert mechanism_of(np.full((5, 3), np.nan)) == "random"
    assert mechanism_of(hide(y, 0.5, mechanism="rows", random_state=0)) == "random"


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize(("mechanism", "rate"), [("top", 0.5), ("small", 0.5), ("small", 0.9)])
def test_filled_better_than_evenly(mechanism, rate, prior):
    y = degrees()
    holes = hide(y, rate, mechanism=mechanism, random_state=0)
    means = np.tile(y.mean(axis=0), (len(y), 1)) if prior else None
    rows = top_k_rows(holes) if mechanism == "top" else PartialRows(holes)
    found = GammaDegrees.learn(rows, means, by_size=True)
    filled, variance = found.fill(rows, means)
    np.testing.assert_allclose(filled.sum(axis=1), 1, atol=1e-9)
    seen = ~np.isnan(holes)
    np.testing.assert_array_equal(filled[seen], holes[seen])
    assert filled.min() >= 0
    assert (variance[seen] == 0).all()
    assert found.selection.slope > 0
    assert error(filled, y, holes) < 0.98 * error(PartialRows(holes).evenly(), y, holes)
    if mechanism == "top":
        half_way, spread = fill_top_k(found, rows)
        for each in (filled, half_way):
            largest = np.where(seen, 0, each).max(axis=1)
            assert (largest <= np.nanmin(holes, axis=1) + 1e-9).all()
        assert (spread[seen] == 0).all()


def test_the_means_of_labels_are_found():
    """The means of what is recorded are far off, and those of an even split are too equal."""
    y = degrees(1000)
    holes = hide(y, 0.7, mechanism="small", random_state=0)
    rows = PartialRows(holes)
    filled = GammaDegrees.learn(rows, by_size=True).fill(rows)[0].mean(axis=0)
    observed = np.nanmean(holes, axis=0)
    for other in (observed / observed.sum(), PartialRows(holes).evenly().mean(axis=0)):
        assert np.abs(filled - y.mean(axis=0)).max() < 0.7 * np.abs(other - y.mean(axis=0)).max()
