"""Paths of units: a dense Gaussian process over all rows of a unit is the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl import kernels
from inldl.completion.paths import ALONE, ALONG_TIME, SEASONAL, UNIT_LEVEL
from inldl.kernels.loops import SEASON_WIDTH, SEASONS, covariance

SHAPES = np.array([ALONE, UNIT_LEVEL, *ALONG_TIME, *SEASONAL])
PERIOD, MOST = 4.0, 32


def alike(shape, distance, period=PERIOD):
    """Return the covariance of an array of distances, as its formula is written."""
    signal, smoothness, reach, season = shape
    x = np.sqrt(2 * smoothness) * distance / reach
    path = {0.5: 1, 1.5: 1 + x, 2.5: 1 + x + x**2 / 3}.get(smoothness, 0) * np.exp(-x)
    off = np.sin(np.pi * distance / period) ** 2 / SEASON_WIDTH + distance / (SEASONS * period)
    return signal * (1 + path + season * np.exp(-off))


def expected(errors, known, unit, at, shape):
    """Return what the other rows of a unit say, row by row and label by label."""
    out = np.zeros(known.shape)
    for row, label in np.ndindex(*known.shape):
        lacking = ~known[row]
        useful = known[:, label] & (unit == unit[row]) & (np.arange(len(at)) != row)
        if lacking.any():
            useful &= known[:, lacking].any(axis=1)
        if useful.any():
            apart = np.abs(at[useful][:, None] - at[useful])
            matrix = alike(shape, apart) + np.eye(useful.sum())
            own = alike(shape, np.abs(at[useful] - at[row]))
            out[row, label] = own @ np.linalg.solve(matrix, errors[useful, label])
    return out


@st.composite
def units(draw):
    """Draw errors, which are known, units in order, and times that may be equal, in order."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    n, n_labels = sum(sizes), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unit = np.repeat(np.arange(len(sizes)), sizes)
    at = np.round(rng.uniform(-5, 5, n) * draw(st.sampled_from([0.4, 1, 3.7])), 1)
    at = at[np.lexsort((at, unit))]
    known = rng.random((n, n_labels)) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    return np.where(known, rng.normal(size=known.shape), np.nan), known, unit, at


def predict(errors, known, unit, at, *, rows=None, used=None, most=MOST):
    """Return what the kernel predicts, of shape (n_shapes, m, n_labels)."""
    first, end = (np.searchsorted(unit, unit, side) for side in ("left", "right"))
    rows = np.arange(len(at)) if rows is None else rows
    used = np.ones((1, len(SHAPES)), bool) if used is None else used
    how = errors[None], known, at, first, end, rows, SHAPES, PERIOD, used, most
    return kernels.predict_paths(*how)[0]


@given(units())
def test_it_is_a_gaussian_process_without_the_row_and_those_that_lack_the_same(table):
    found = predict(*table)
    for shape, values in zip(SHAPES, found, strict=True):
        assert values == pytest.approx(expected(*table, shape), rel=1e-6, abs=1e-9)


@given(units(), st.data())
def test_a_degree_has_no_say_in_what_is_predicted_of_its_row(table, data):
    errors, known, unit, at = table
    row = data.draw(st.integers(0, len(at) - 1))
    moved = errors.copy()
    moved[row] += 1.0
    before, after = predict(*table), predict(moved, known, unit, at)
    assert (before[:, row] == after[:, row]).all()
    elsewhere = unit != unit[row]
    assert (before[:, elsewhere] == after[:, elsewhere]).all()


@given(units(), st.data())
def test_rows_can_be_asked_for_alone_and_ways_left_out(table, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(table[3]) - 1), min_size=1)))
    used = np.array([data.draw(st.lists(st.booleans(), min_size=9, max_size=9))])
    whole, some = predict(*table), predict(*table, rows=rows, used=used)
    assert (some == np.where(used[0][:, None, None], whole[:, rows], 0)).all()


def test_only_the_nearest_rows_count():
    rng = np.random.default_rng(0)
    at = np.sort(rng.uniform(0, 50, 40))
    errors, unit = rng.normal(size=(40, 1)), np.zeros(40, int)
    known = np.ones((40, 1), bool)
    found = predict(errors, known, unit, at, most=5)
    for row in range(40):
        near = np.argsort(np.abs(at - at[row]))[:6]
        some = np.sort(near)
        alone = predict(errors[some], known[some], unit[some], at[some])
        place = np.searchsorted(some, row)
        assert found[:, row] == pytest.approx(alone[:, place], rel=1e-6, abs=1e-12)


def test_what_a_way_says_without_other_rows_is_nothing():
    known = np.ones((3, 2), bool)
    found = predict(np.ones((3, 2)), known, np.arange(3), np.zeros(3))
    assert not found.any()


@pytest.mark.parametrize("shape", SHAPES)
def test_likeness_falls_with_distance_but_returns_each_season(shape):
    distances = np.arange(0, 12, 0.5)
    values = np.array([covariance(shape, PERIOD, d) for d in distances])
    assert values == pytest.approx(alike(shape, distances))
    seasonal = shape[3] > 0
    assert (values[8] > values[4]) == seasonal
    assert covariance(shape, 0.0, 3.0) <= values[6]
