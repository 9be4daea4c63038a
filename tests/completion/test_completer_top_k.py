"""Degrees that are missing because of their size."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from inldl.completion import Completer
from inldl.datasets import hide
from inldl.rows.missingness import mechanism_of, most_errors, top_k_rows
from inldl.rows.partial import PartialRows
from inldl.uncertainty.hiding import hide_each_label, weights_of_holes


def rows(n=150):
    y = np.random.default_rng(1).dirichlet([5.0, 3.0, 2.0, 1.0, 1.0], n)
    return y, np.tile(y.mean(axis=0), (n, 1))


def test_nothing_is_filled_above_the_smallest_recorded_degree():
    y, predicted = rows()
    given = hide(y, 0.6, mechanism="top")
    completer = Completer().fit(PartialRows(given), predicted)
    filled, lower, upper = completer.fill_with_intervals(PartialRows(given), predicted, 0.9)
    holes, limit = np.isnan(given), np.nanmin(given, axis=1)[:, None] + 1e-9
    np.testing.assert_allclose(filled.sum(axis=1), 1)
    np.testing.assert_array_equal(filled[~holes], given[~holes])
    assert (filled <= limit)[holes].all()
    assert (upper <= limit)[holes].all()
    assert (lower <= filled).all()
    means = np.where(holes, np.nanmean(given, axis=0), 0)
    rest = 1 - np.nansum(given, axis=1, keepdims=True)
    in_proportion = rest * means / means.sum(axis=1, keepdims=True)
    for other in (PartialRows(given).evenly(), in_proportion):
        assert np.square(filled - y)[holes].mean() < np.square(other - y)[holes].mean()


def test_other_holes_are_left_to_the_members():
    y, predicted = rows()
    for mechanism in ("uniform", "keep", "small"):
        assert mechanism_of(hide(y, 0.5, mechanism=mechanism, random_state=0)) != "rest"
    completer = Completer().fit(PartialRows(hide(y, 0.5, random_state=0)), predicted)
    assert completer.top_k_ is None


def test_a_new_row_that_contradicts_has_no_limit():
    y, predicted = rows()
    completer = Completer().fit(PartialRows(hide(y, 0.6, mechanism="top")), predicted)
    given = np.array([[0.1, 0.05, np.nan, np.nan, np.nan]])
    filled = completer.fill(PartialRows(given), predicted[:1])
    np.testing.assert_allclose(filled.sum(), 1)


def test_no_draw_is_above_the_smallest_recorded_degree():
    y, predicted = rows()
    given = hide(y, 0.6, mechanism="top")
    draws = (
        Completer()
        .fit(PartialRows(given), predicted)
        .draw(PartialRows(given), predicted, 5, seed=0)
    )
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
    filled, lower, upper = (
        Completer().fit(PartialRows(given), y).fill_with_intervals(PartialRows(given), y, 0.9)
    )
    holes = np.isnan(given)
    assert ((lower <= y) & (y <= upper))[holes].mean() > 0.6
    assert np.abs(filled - y)[holes].mean() > 0.02


def test_the_largest_error_is_that_of_a_linear_programme():
    """Errors are convex, so the largest is one of those that push each hole up or down."""
    y, _ = rows(6)
    given = hide(y, 0.6, mechanism="top")
    learned = Completer().fit(PartialRows(hide(rows()[0], 0.6, mechanism="top")), rows()[1])
    filled = learned.fill(PartialRows(given), y)
    limits, holes = top_k_rows(given).upper, np.isnan(given)
    found = learned.most_errors(given, filled)
    assert (np.abs(filled - y).sum(axis=1) <= found + 1e-12).all()
    for i, most in enumerate(found):
        f, rest = filled[i, holes[i]], 1 - np.nansum(given[i])
        best = 0
        for signs in product((-1, 1), repeat=len(f)):
            bounds = [(0, limit) for limit in limits[i, holes[i]]]
            solved = linprog(-np.array(signs), A_eq=[[1] * len(f)], b_eq=[rest], bounds=bounds)
            best = max(best, -solved.fun - np.dot(signs, f))
        assert most == pytest.approx(best, abs=1e-9)


def test_without_a_limit_all_that_a_row_leaves_may_be_in_one_hole():
    given = np.array([[0.4, np.nan, np.nan, np.nan], [0.4, 0.1, 0.2, np.nan]])
    filled = np.array([[0.4, 0.3, 0.2, 0.1], [0.4, 0.1, 0.2, 0.3]])
    found = most_errors(PartialRows(given), filled)
    np.testing.assert_allclose(found, [0.5 + 0.3 + 0.2, 0], atol=1e-12)


def one_by_one(y):
    """Return observed degrees as if each was hidden from its row."""
    hidden = hide_each_label(y, seed=0)
    return replace(hidden, filled=hidden.degrees, weights=np.ones(len(hidden.row)))


def test_known_degrees_count_as_often_as_such_are_missing():
    """Their mean is that of the missing ones, which the sums of rows give, and labels agree."""
    rng = np.random.default_rng(0)
    y = rng.dirichlet([3.0, 2.0, 2.0, 1.0], 1000)
    given = np.where(rng.random(y.shape) < 0.08 / (0.12 + y), np.nan, y)
    given = PartialRows(given[~np.isnan(given).all(axis=1)]).forced()
    refilled = one_by_one(given)
    known, label = refilled.degrees, refilled.label
    weights, holes = weights_of_holes(given, refilled), np.isnan(given)
    mean = (1 - np.nansum(given, axis=1))[holes.any(axis=1)].sum() / holes.sum()
    assert known.mean() > 1.3 * mean
    assert np.average(known, weights=weights) == pytest.approx(mean)
    np.testing.assert_allclose(np.bincount(label, weights), holes.sum(axis=0))
    small = weights[known < 0.1].mean(), weights[known > 0.4].mean()
    assert small[0] > 2 * small[1]


def test_without_holes_all_degrees_count_as_before():
    np.testing.assert_array_equal(weights_of_holes(rows(5)[0], one_by_one(rows(5)[0])), 1)


def test_where_hardly_any_are_like_the_missing_ones_nothing_is_told():
    y, predicted = rows()
    given = np.where((y < 0.15) & (np.random.default_rng(0).random(y.shape) < 0.97), np.nan, y)
    completer = Completer().fit(PartialRows(given), predicted)
    assert completer.top_k_ is None
    assert completer.hole_weights_ is None
    assert (
        Completer().fit(PartialRows(hide(y, 0.4, random_state=0)), predicted).hole_weights_
        is not None
    )
