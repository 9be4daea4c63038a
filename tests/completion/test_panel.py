"""A mixture of ways to predict the rows of a panel, judged by spells that are hidden."""

import numpy as np
import pytest

from inldl.completion import panel as module
from inldl.completion.panel import PanelModel, far_from_known, some_rows
from inldl.completion.paths import Ways
from inldl.rows.panel import Panel
from inldl.uncertainty.hiding import hide_last
from made_panels import early, made_panel


@pytest.fixture(scope="module")
def table():
    """Return a panel, its shares, and what is left of them."""
    _, y, panel = made_panel(12, 15)
    return panel, y, early(panel, y, n_units=6)


def test_paths_are_better_than_means(table):
    """Where shares are walks, the nearest known value is the best guess."""
    panel, true, y = table
    model = PanelModel(panel, y)
    model.learn()
    holes = np.isnan(y)
    found = np.abs(model.predict_own() - true)[holes].mean()
    nearest = true[np.flatnonzero(panel.positions == 4)][panel.unit]
    assert found < 1.2 * np.abs(nearest - true)[holes].mean()
    assert found < 0.5 * np.abs(np.nanmean(y, axis=0) - true)[holes].mean()


def test_weights_are_those_of_ways(table):
    panel, _, y = table
    model = PanelModel(panel, y)
    for ahead in (False, True):
        sample = model.learn(ahead)
        assert model.weights.sum() == pytest.approx(1)
        assert model.weights.min() == 0
        assert model.weights.shape == (2, 2, 7)
        assert sample.is_consistent(4)


def test_a_sample_has_hidden_degrees_with_predictions_made_without_them(table):
    panel, true, y = table
    sample = PanelModel(panel, y).learn()
    rows = sample.keys.astype(int)
    assert np.array_equal(sample.degrees, y[rows], equal_nan=True)
    hidden = np.isnan(sample.left) & ~np.isnan(sample.degrees)
    assert hidden[sample.hidden > 0].all()
    assert set(np.nonzero(sample.hidden)[1]) == {0, 1}
    assert (sample.groups == panel.unit[rows]).all()
    off = np.abs(sample.predicted - true[rows])[sample.hidden > 0]
    assert off.mean() > 0.01  # else they would be known
    cells = sample.hidden_cells()
    assert len(cells.row) == round(sample.hidden.sum())
    assert (cells.degrees == true[rows][cells.row, cells.label]).all()
    assert np.isnan(cells.left[np.arange(len(cells.row)), cells.label]).all()


def test_the_last_times_are_predicted_from_those_before(table):
    """What comes at that time or later must not tell anything."""
    panel, _, y = table
    moved = np.where(panel.positions[:, None] >= 13, y[:, ::-1], y)
    found = []
    for trial, again in zip(*(hide_last(panel, each, 0) for each in (y, moved)), strict=True):
        if panel.positions[trial.rows[0]] <= 13:
            assert np.array_equal(trial.left, again.left, equal_nan=True)
            found += trial.rows.tolist()
    sample = PanelModel(panel, y).learn(ahead=True)
    rows, first = sample.keys.astype(int), sample.hidden.any(axis=1)
    assert set(found) == {*rows[panel.positions[rows] < 14], *rows[~first]}
    assert (sample.spread_features[first, 0] == 1).all()
    assert set(sample.spread_features[:, 0]) == {1, 2, 3}
    assert sample.n_spells == pytest.approx(3)  # times
    assert (sample.predicted.argmax(axis=1) == sample.degrees.argmax(axis=1)).mean() > 0.8


def test_nothing_can_be_hidden_like_holes_of_all_units_but_one():
    _, y, panel = made_panel()
    y[np.ix_(panel.unit != 0, [0, 1])] = np.nan
    model = PanelModel(panel, y)
    assert model.learn() is None
    assert (model.weights == Ways(panel, y).trust).all()
    weights = np.ones((2, 2, 7)) / 28
    weights[0, 0] *= 2
    model.weights = weights
    assert model.learn() is None
    assert (model.weights == weights).all()


def test_rows_are_held_out_where_no_spells_can_be():
    """One-row units follow their own degrees, unless these are left out."""
    panel = Panel(np.arange(40), np.arange(40) % 4.0)
    y = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    model = PanelModel(panel, y, weights=np.full((2, 2, 7), 1 / 28))
    kept = model.hold_out()
    assert sorted(kept.keys.tolist()) == list(range(40))
    assert np.corrcoef(kept.predicted[:, 0], y[kept.keys.astype(int), 0])[0, 1] < 0.3
    assert np.corrcoef(model.predict_own()[:, 0], y[:, 0])[0, 1] > 0.9
    assert kept.n_spells is None
    y[0] = np.nan
    assert PanelModel(panel, y, weights=model.weights).hold_out().n_spells == 0


def test_some_units_stand_for_many(monkeypatch):
    _, y, panel = made_panel(20, 10)
    assert some_rows(panel, 4).tolist() == list(range(200))
    monkeypatch.setattr(module, "TRIAL_CELLS", 200)
    rows = some_rows(panel, 4)
    assert len(rows) == 50
    assert len(np.unique(panel.unit[rows])) == 5
    series = Panel(np.zeros(200, int), np.arange(200.0)[::-1])
    assert some_rows(series, 4).tolist() == list(range(50))  # the last times
    model = PanelModel(panel, early(panel, y, n_units=15))
    sample = model.learn()
    assert np.isin(sample.keys.astype(int), some_rows(panel, 4)).all()
    assert model.predict_own().shape == y.shape


def test_trials_with_one_of_many_units_serve_all(monkeypatch):
    _, y, panel = made_panel(3, 30)
    monkeypatch.setattr(module, "TRIAL_CELLS", 160)
    model = PanelModel(panel, early(panel, y, n_units=3))
    model.learn()
    assert np.isfinite(model.predict_own()).all()


def test_other_rows_are_predicted_beside_these(table):
    """A row that is given later has the prediction that it has in the table."""
    panel, _, y = table
    some = np.arange(len(y)) % 9 > 0
    model = PanelModel(panel, y)
    model.learn()
    whole = model.predict_own()
    rest = PanelModel(panel.take(some), y[some], weights=model.weights)
    found = rest.predict(panel.take(~some), y[~some])
    assert found == pytest.approx(whole[~some], abs=1e-9)


def test_how_far_holes_are_and_on_how_few_sides():
    _, y, panel = made_panel(2, 6)
    y[:3, 0] = np.nan
    y[1, 1] = np.nan
    y[np.ix_(np.arange(6, 12), [3])] = np.nan
    far = far_from_known(panel, np.isnan(y))
    assert far[:6].tolist() == [[3, 1], [2, 1], [1, 1], [0, 2], [0, 2], [0, 2]]
    assert far[6:].tolist() == [[6, 0]] * 6
