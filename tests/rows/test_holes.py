"""How holes lie: what hides them is recognised, and size is not blamed for places."""

import numpy as np
import pytest

from inldl.datasets import hide, load_budget_shares
from inldl.rows.holes import find_holes, usual_of
from inldl.rows.missingness import hidden_mass, mechanism_of
from inldl.rows.panel import Panel

UNITS, TIMES = 12, 20
PANEL = Panel(np.repeat(np.arange(UNITS), TIMES), np.tile(np.arange(TIMES, dtype=float), UNITS))
EARLY, FIRST = PANEL.time < 7, PANEL.unit < 4


def degrees(seed=0):
    """Return the rows of units that differ, and change a little with time."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 0.7, (UNITS, 6))[PANEL.unit] + np.linspace(0, 1.5, 6)
    drift = rng.normal(0, 0.03, (UNITS, 6))[PANEL.unit] * PANEL.time[:, None]
    y = np.exp(level + drift + rng.normal(0, 0.1, level.shape))
    return y / y.sum(axis=1, keepdims=True)


def without(y, rows, labels=slice(None)):
    y, cells = y.copy(), np.zeros(y.shape, bool)
    cells[rows, labels] = True
    return np.where(cells, np.nan, y)


def spells(rng):
    start = rng.integers(0, TIMES - 4, UNITS)[PANEL.unit]
    return (PANEL.time >= start) & (PANEL.time < start + 4)


def forms(y, rng):
    """Hide two of six labels of each row, as a questionnaire in three forms does."""
    form = rng.integers(0, 3, len(y))
    return np.where(np.arange(6) // 2 == form[:, None], np.nan, y)


HIDDEN = {
    "cells": lambda y, rng: hide(y, 0.2, random_state=rng),
    "rows": lambda y, rng: hide(y, 0.15, mechanism="rows", random_state=rng),
    "spells": lambda y, rng: without(y, spells(rng)),
    "region": lambda y, rng: without(y, FIRST, slice(2)),
    "period": lambda y, rng: without(y, EARLY & FIRST, slice(2)),
    "suppressed": lambda y, rng: hide(y, threshold=0.06, mechanism="suppressed"),
    "largest": lambda y, rng: hide(y, 0.67, mechanism="top", random_state=rng),
    "design": forms,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", HIDDEN)
def test_what_hides_degrees_is_recognised(kind, seed):
    y = HIDDEN[kind](degrees(seed), np.random.default_rng(seed))
    (found,) = find_holes(y, PANEL)
    assert found.kind == kind
    np.testing.assert_array_equal(found.cells, np.isnan(y))


def test_where_a_region_and_a_period_are():
    (region,) = find_holes(without(degrees(), FIRST, 1), PANEL)
    np.testing.assert_array_equal(region.units, np.arange(4))
    (period,) = find_holes(without(degrees(), EARLY & FIRST, 1), PANEL)
    np.testing.assert_array_equal(period.units, np.arange(4))
    np.testing.assert_array_equal(period.times, np.arange(7))
    (all_units,) = find_holes(without(degrees(), EARLY, 1), PANEL)
    assert all_units.kind == "period"
    assert len(all_units.units) == UNITS


def test_kinds_beside_each_other_are_told_apart():
    rng = np.random.default_rng(0)
    y = hide(without(degrees(), EARLY, 5), 0.1, random_state=rng)
    y[rng.choice(len(y), 25, replace=False)] = np.nan
    kinds = {each.kind: each.cells for each in find_holes(y, PANEL)}
    assert set(kinds) == {"period", "rows", "cells"}
    np.testing.assert_array_equal(sum(kinds.values()), np.isnan(y))
    assert kinds["period"][:, :5].sum() == 0


def test_a_run_in_one_series():
    y, series = degrees()[:60], Panel(np.zeros(60, int), np.arange(60.0))
    middle, start = (np.arange(60) // 12 == k for k in (2, 0))
    assert find_holes(without(y, middle, 1), series)[0].kind == "spells"
    assert find_holes(without(y, start, 1), series)[0].kind == "period"


def test_a_period_where_each_unit_has_times_of_its_own():
    panel = Panel(PANEL.unit, PANEL.time + np.random.default_rng(0).uniform(0, 1, len(PANEL)))
    (found,) = find_holes(without(degrees(), panel.time < 7, 1), panel)
    assert (found.kind, len(found.units)) == ("period", UNITS)
    assert found.times[-1] < 7


def test_times_that_do_not_follow_each_other():
    odd = np.isin(PANEL.time, [1, 5, 9, 12])
    (found,) = find_holes(without(degrees(), odd, slice(2)), PANEL)
    assert found.kind == "period"
    np.testing.assert_array_equal(found.times, [1, 5, 9, 12])


def test_units_without_time_and_labels_that_are_nowhere_recorded():
    places = Panel(PANEL.unit)
    assert [each.kind for each in find_holes(without(degrees(), FIRST, 2), places)] == ["region"]
    never = find_holes(without(degrees(), slice(None), 3), PANEL)
    assert [each.kind for each in never] == ["label"]
    assert find_holes(degrees(), PANEL) == []
    assert find_holes(np.full((5, 3), np.nan))[0].kind == "label"


def test_features_that_tell_what_is_missing():
    X, y = load_budget_shares(return_X_y=True)
    rich = X[:, 0] > np.quantile(X[:, 0], 0.7)
    assert find_holes(without(y, rich, slice(2)), features=X)[0].kind == "features"
    assert find_holes(hide(y, 0.3, random_state=0), features=X)[0].kind == "cells"
    small = hide(y, 0.3, mechanism="small", random_state=0)
    assert find_holes(small, features=X)[0].kind == "small"


def test_size_is_not_blamed_where_units_explain_the_holes():
    """Labels are missing more often in units in which they are small, whatever the row."""
    y, rng = degrees(1), np.random.default_rng(0)
    usual = np.array([y[rows].mean(axis=0) for rows in PANEL.units])[PANEL.unit]
    holes = np.where(rng.random(y.shape) < np.where(usual < 0.1, 0.5, 0.1), np.nan, y)
    assert mechanism_of(holes) == "small"
    expected = usual_of(holes, PANEL.unit)
    assert mechanism_of(holes, expected=expected) == "random"
    assert hidden_mass(holes, expected).p_value > 0.01


def test_size_is_blamed_within_units():
    rng = np.random.default_rng(0)
    y = rng.dirichlet([6.0, 3.0, 2.0, 2.0, 1.0, 1.0], len(PANEL))
    holes = hide(y, 0.4, mechanism="small", random_state=rng)
    assert mechanism_of(holes, expected=usual_of(holes, PANEL.unit)) == "small"
    assert find_holes(holes, PANEL)[0].kind == "small"


def test_expected_degrees_that_say_nothing_change_nothing():
    y = hide(degrees(), 0.4, mechanism="small", random_state=0)
    plain, same = hidden_mass(y), hidden_mass(y, np.zeros(y.shape))
    np.testing.assert_allclose(same, plain)
    told = np.where(FIRST[:, None], np.nan, 0.0) + np.zeros(y.shape)
    np.testing.assert_allclose(hidden_mass(y, told), hidden_mass(y[~FIRST]))
    assert hidden_mass(y, np.full(y.shape, np.nan)) is None


def test_usual_degrees_leave_out_the_row():
    y = np.array([[0.2, 0.8], [0.4, np.nan], [0.9, 0.1]])
    usual = usual_of(y, np.array([0, 0, 1]))
    np.testing.assert_allclose(usual, [[0.4, 0.45], [0.2, 0.8], [0.5, 0.45]])
