"""Completing rows of which only the largest degrees are recorded."""

import numpy as np

from inldl.completion import Completer
from inldl.completion.mechanism import LargestRecorded
from inldl.datasets import hide
from inldl.solvers.selection import split_evenly


def rows(n=150):
    y = np.random.default_rng(1).dirichlet([5.0, 3.0, 2.0, 1.0, 1.0], n)
    return y, np.tile(y.mean(axis=0), (n, 1))


def test_nothing_is_filled_above_the_smallest_recorded_degree():
    y, predicted = rows()
    given = hide(y, 0.6, mechanism="top")
    completer = Completer().fit(given, predicted)
    filled, lower, upper = completer.fill_with_intervals(given, predicted, 0.9)
    holes, limit = np.isnan(given), np.nanmin(given, axis=1)[:, None] + 1e-9
    np.testing.assert_allclose(filled.sum(axis=1), 1)
    np.testing.assert_array_equal(filled[~holes], given[~holes])
    assert (filled <= limit)[holes].all()
    assert (upper <= limit)[holes].all()
    assert (lower <= filled).all()
    means = np.where(holes, np.nanmean(given, axis=0), 0)
    rest = 1 - np.nansum(given, axis=1, keepdims=True)
    in_proportion = rest * means / means.sum(axis=1, keepdims=True)
    for other in (split_evenly(given), in_proportion):
        assert np.square(filled - y)[holes].mean() < np.square(other - y)[holes].mean()


def test_other_holes_are_left_to_the_members():
    y, predicted = rows()
    for mechanism in ("uniform", "keep", "small"):
        assert LargestRecorded.of(hide(y, 0.5, mechanism=mechanism, random_state=0)) is None
    completer = Completer().fit(hide(y, 0.5, random_state=0), predicted)
    assert completer.largest_ is None


def test_a_new_row_that_contradicts_has_no_limit():
    y, predicted = rows()
    completer = Completer().fit(hide(y, 0.6, mechanism="top"), predicted)
    given = np.array([[0.1, 0.05, np.nan, np.nan, np.nan]])
    filled = completer.fill(given, predicted[:1])
    np.testing.assert_allclose(filled.sum(), 1)


def test_no_draw_is_above_the_smallest_recorded_degree():
    y, predicted = rows()
    given = hide(y, 0.6, mechanism="top")
    draws = Completer().fit(given, predicted).draw(given, predicted, 5, seed=0)
    holes, limit = np.isnan(given), np.nanmin(given, axis=1)[:, None] + 1e-9
    assert (draws <= limit)[:, holes].all()
    assert draws.min() >= 0
    np.testing.assert_allclose(draws.sum(axis=2), 1)
    np.testing.assert_array_equal(draws[:, ~holes], np.tile(given[~holes], (5, 1)))
    assert (draws.std(axis=0) > 1e-4)[holes].mean() > 0.9


def test_intervals_know_of_what_predictions_do_not_tell():
    """Predictions are exact here, but holes are not filled from them."""
    y, _ = rows()
    given = hide(y, 0.8, mechanism="top")
    filled, lower, upper = Completer().fit(given, y).fill_with_intervals(given, y, 0.9)
    holes = np.isnan(given)
    assert ((lower <= y) & (y <= upper))[holes].mean() > 0.6
    assert np.abs(filled - y)[holes].mean() > 0.02
