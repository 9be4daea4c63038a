"""Ways to predict the rows of a panel from each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.completion.paths import Ways, effects
from inldl.rows.density import mean_degrees
from inldl.rows.panel import Panel
from made_panels import early, made_panel

ALONE, LEVEL, LINEAR = 0, 1, 3  # shapes: no path, the level of the unit, nearly linear


@st.composite
def panels(draw):
    """Draw a panel of any kind, with holes anywhere, and what features tell of it or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_labels = draw(st.integers(1, 25)), draw(st.integers(2, 5))
    unit = np.unique(rng.integers(0, draw(st.integers(1, 8)), n), return_inverse=True)[1]
    times = draw(st.sampled_from(["none", "whole", "uneven", "seasonal"]))
    time = None if times == "none" else rng.uniform(-20, 20, n)
    time = time.round() if times in ("whole", "seasonal") else time
    y = rng.dirichlet(np.ones(n_labels), n)
    y[rng.random(y.shape) < draw(st.sampled_from([0, 0.3, 0.8]))] = np.nan
    y[unit == draw(st.integers(0, 8))] = np.nan  # a unit of which nothing is known
    told = rng.dirichlet(np.ones(n_labels), n) if draw(st.booleans()) else None
    return Panel(unit, time, 4.0 if times == "seasonal" else None), y, told


@given(panels())
def test_all_ways_predict_shares(panel):
    ways = Ways(*panel)
    found = ways.predict()
    assert found.shape == (*ways.shape, *panel[1].shape)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found[:, 0].max() <= 1
    n_bases = 2 if panel[2] is None else 4
    n_shapes = 2 if panel[0].time is None else 9 if panel[0].period else 7
    assert ways.shape == (n_bases, 2, n_shapes)


@given(panels(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(panel, random):
    where, y, told = panel
    if where.time is not None and len(np.unique(where.time)) < len(y):
        where = Panel(where.unit, where.time + 1e-3 * np.arange(len(y)), where.period)
    order = np.array(random.sample(range(len(y)), len(y)))
    moved = Ways(where.take(order), y[order], None if told is None else told[order])
    assert moved.predict() == pytest.approx(Ways(where, y, told).predict()[..., order, :])


def test_paths_go_on_between_the_rows_of_a_unit():
    """Nearly linear between the nearest rows, and back to the base without any."""
    time = np.array([0.0, 1, 2, 3, 0])
    y = np.array([[0.1, 0.9], [np.nan] * 2, [np.nan] * 2, [0.4, 0.6], [0.3, 0.7]])
    found = Ways(Panel(np.array([0, 0, 0, 0, 1]), time), y).predict()[0, 0]
    assert found[LINEAR, 1:3, 0] == pytest.approx([0.2, 0.3], abs=2e-3)
    assert found[LEVEL, 1, 0] == pytest.approx(0.25, abs=0.02)
    assert (found[ALONE, :, 0] == mean_degrees(y)[0]).all()
    assert found[LINEAR, 4, 0] == mean_degrees(y)[0]


def test_logarithms_follow_ratios():
    """A share that doubles each year is 0.04 between 0.02 and 0.08."""
    y = np.array([[0.02, 0.98], [np.nan] * 2, [0.08, 0.92]])
    found = Ways(Panel(np.zeros(3, int), np.arange(3.0)), y).predict()[0, :, LINEAR, 1, 0]
    assert found[0] == pytest.approx(0.05, abs=1e-3)
    assert found[1] == pytest.approx(np.sqrt(0.03 * 0.09) - 0.01, abs=1e-3)


def test_effects_are_those_of_units_and_times():
    """Levels plus moves that all units share are found from a part of the cells."""
    rng = np.random.default_rng(0)
    unit, time = np.repeat(np.arange(12), 20), np.tile(np.arange(20.0), 12)
    true = rng.normal(size=12)[unit] + np.sin(time / 4)
    values = np.where(rng.random(240) < 0.3, np.nan, true)[:, None]
    assert effects(Panel(unit, time), values)[:, 0] == pytest.approx(true, abs=0.25)
    levels = effects(Panel(unit), values)[:, 0]
    assert np.ptp(levels[unit == 3]) == 0


def test_many_times_share_effects():
    n = 1000
    values = np.sin(np.arange(n) / 100)[:, None]
    found = effects(Panel(np.zeros(n, int), np.arange(n, dtype=float)), values)
    assert found == pytest.approx(values, abs=0.2)


def test_a_label_that_is_never_known_is_nearly_0():
    y = np.array([[0.5, np.nan], [0.6, np.nan], [0.4, np.nan]])
    found = Ways(Panel(np.zeros(3, int), np.arange(3.0)), y).predict()
    assert found[..., 1].max() < 1e-9


def test_a_known_degree_hardly_moves_its_own_prediction():
    """Paths leave the row out; what they are taken around does not, and that is little."""
    _, y, panel = made_panel(20, 15)
    y = early(panel, y)
    moved = y.copy()
    moved[100, 2] += 0.1
    before, after = (Ways(panel, each).predict()[:, 0, :, 100, 2] for each in (y, moved))
    own = np.abs(after - before) / 0.1
    assert own[0].max() < 1 / 100  # a mean of 300 rows
    assert own[1].max() < 0.25


@given(panels())
def test_interpolation_is_trusted_most_before_any_error_is_known(panel):
    ways = Ways(*panel)
    trust = ways.trust
    assert trust.shape == ways.shape
    assert trust.sum() == pytest.approx(1)
    if panel[0].time is not None:
        assert trust[0, :, LINEAR].sum() > 0.2
        assert (trust <= trust[0, 0, LINEAR]).all()
    if panel[2] is not None:  # what features tell of rows has many paths, all about the same
        assert trust[2:].sum() < trust[:2].sum() / 2
