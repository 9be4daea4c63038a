"""The rows of a fit with their units and times, and rows beside them."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableModel
from made_panels import LABELS, early, made_panel


@pytest.fixture(scope="module")
def table():
    X, y, panel = made_panel()
    return X, early(panel, y)


@pytest.fixture(scope="module")
def model(table):
    return TableModel().fit(*table)


def test_rows_of_the_fit_are_recognised(model, table):
    """Their predictions are those of the fit, also of some of them, and in another order."""
    X, y = table
    whole = model.complete(X, y)
    some = np.random.default_rng(0).permutation(len(y))[:30]
    assert (model.complete(X.iloc[some], y[some]) == whole[some]).all()
    assert (model.complete(X[["year", "country"]].assign(more=1), y) == whole).all()


def test_features_tell_rows_of_a_unit_without_times_apart():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = np.exp(np.column_stack([x, np.zeros(80), -x]))
    y /= y.sum(axis=1, keepdims=True)
    true, y[:20, :2] = y[:20, 0].copy(), np.nan
    X = pd.DataFrame({"country": [f"c{i % 4}" for i in range(80)], "x": x})
    model = TableModel().fit(X, y, unit="country", time="none")
    assert np.corrcoef(model.complete(X, y)[:20, 0], true)[0, 1] > 0.95
    y[:20] = np.nan
    model = TableModel().fit(X, y, unit="country", time="none")
    assert np.corrcoef(model.complete(X, y)[:20, 0], true)[0, 1] > 0.9


def test_a_row_that_is_given_again_with_other_holes_is_not_known_by_heart(table):
    """What is filled in does not depend on the degrees that the fit knew of the row."""
    X, y = table
    row, found = 40, []
    for degree in (0.0, 0.05):
        known = y.copy()
        known[row, :2] += [degree, -degree]
        hidden = known.copy()
        hidden[row, :2] = np.nan
        model = TableModel().fit(X, known)
        panel = model.panel_
        panel.weights = np.full(panel.weights.shape, 1 / panel.weights.size)
        panel.told[:] = np.nanmean(y, axis=0)  # other rows know the degrees of this one
        encoded = model.encoder_.transform(X)
        predicted, far = panel.to_fill(X, encoded, hidden, model.estimator_.predict(encoded))
        assert far[row].tolist() == [1, 2]
        found.append(predicted[row])
    # All rows know it a little: it is one of 240 that bases are estimated from
    assert found[0] == pytest.approx(found[1], abs=5e-4)


def test_new_units_are_none_of_the_rows_without_a_time():
    """Such a row is a unit of its own, of which no other row knows anything."""
    X, y, _ = made_panel(20, 12)
    X = X.astype({"year": float})
    y[7] = [0.97, 0.01, 0.01, 0.01]
    X.loc[7, "year"] = np.nan
    model = TableModel().fit(X, y)
    assert model.panel_.unit.max() == 20
    new = pd.DataFrame({"country": ["elsewhere"], "year": [2005]})
    X["year"] = X["year"].fillna(2007)
    plain = TableModel().fit(X.drop(index=7), np.delete(y, 7, axis=0))
    assert model.predict(new).to_numpy() == pytest.approx(plain.predict(new).to_numpy(), abs=0.03)


def test_rows_that_the_fit_has_seen_are_counted(model, table):
    X, y = table
    assert model.predict_rows(X).count_learned(y) == len(y)
    assert model.predict_rows(X[:5]).count_learned(y[:5]) == 5
    assert model.predict_rows(X.assign(year=X["year"] + 50)).count_learned(y) == 0
    assert model.predict_rows(X).count_learned(y[::-1]) == 0


def test_intervals_of_new_units_are_wider(model):
    rows = pd.DataFrame({"country": ["c4", "elsewhere"], "year": [2012, 2012]})
    low, high = model.predict_interval(rows)
    known, new = (high - low).to_numpy()
    assert (new >= known).all()
    assert new.mean() > 2 * known.mean()


def test_rows_of_weight_0_are_not_learned_from(table):
    X, y = table
    X, y = X.iloc[::-1], y[::-1].copy()
    weight = np.ones(len(y))
    weight[:5] = 0
    model = TableModel().fit(X, y, weight)
    assert len(model.panel_.unit) == len(y) - 5
    years = X["year"].to_numpy()[model.held_out_rows_]
    assert weight[model.held_out_rows_].all()
    assert sorted(set(years)) == [*range(2003, 2007), *range(2008, 2012)]
    y[:5] = np.nan
    assert np.isfinite(model.complete(X, y)).all()


@pytest.mark.parametrize("kind", [np.array, lambda X: X.to_numpy().tolist()])
def test_arrays_have_no_columns_that_name_units(model, table, kind):
    X, y = kind(table[0]), table[1]
    for ask in (model.predict, model.predict_interval, lambda rows: model.complete(rows, y)):
        with pytest.raises(ValueError, match="from 'country', 'year', but X has no names of col"):
            ask(X)
    for name in ("unit", "time", "place"):
        with pytest.raises(ValueError, match="are names of columns, but X has none; give a frame"):
            TableModel().fit(X, y, **{name: "country"})


def test_a_table_without_the_column_of_units_is_refused(model, table):
    X, y = table
    for ask in (model.predict, model.predict_interval, lambda rows: model.complete(rows, y)):
        with pytest.raises(ValueError, match="lacks column 'country', which the model was fitted"):
            ask(X[["year"]])


def test_numbers_of_units_may_be_written_with_zeros():
    X, y, panel = made_panel()
    codes = pd.DataFrame({"code": panel.unit + 1, "year": X["year"]})
    y = pd.DataFrame(early(panel, y), columns=LABELS)
    model = TableModel().fit(codes, y)
    written = codes.assign(code=[f"0{u}" for u in codes["code"]])
    assert (model.predict(written) == model.predict(codes)).all(axis=None)
    texts = TableModel().fit(written, y)
    assert np.isfinite(texts.panel_.steps_away(written)).all()
    assert np.isinf(texts.panel_.steps_away(codes)).all()


def test_intervals_grow_with_the_steps_to_the_next_known_row(model):
    """They are no narrower than those of the next time, also those of a new unit."""
    years = [2005, 2012, 2013, 2020, 2012, 1996]
    rows = pd.DataFrame({"country": ["c4"] * 4 + ["elsewhere", "c5"], "year": years})
    assert model.panel_.steps_away(rows).tolist() == [1, 1, 2, 9, np.inf, 4]
    assert model.panel_.steps_away(rows[:0].reindex([0])).tolist() == [np.inf]
    low, high = map(np.asarray, model.predict_interval(rows))
    predicted = model.predict(rows).to_numpy()
    assert ((low <= predicted) & (predicted <= high)).all()
    width = (high - low).mean(axis=1)
    assert width[1] < min(width[2], width[4])
    assert width[2] < width[3]


def test_intervals_of_walks_hold_what_they_promise_at_any_step():
    held = []
    for seed in range(4):
        X, y, panel = made_panel(12, 20, seed=seed)
        seen = panel.positions < 12
        model = TableModel("winldl").fit(X[seen], y[seen])
        low, high = map(np.asarray, model.predict_interval(X[~seen]))
        held.append(((low <= y[~seen]) & (y[~seen] <= high)).reshape(12, 8, 4))
    by_step = np.mean(held, axis=(0, 1, 3))
    assert by_step.min() > 0.8


def test_one_series_has_intervals_of_the_next_times():
    """Its last three times alone would be too few for them."""
    held, widths = [], []
    for seed in range(12):
        X, y, panel = made_panel(1, 60, seed=seed)
        seen = panel.positions < 58
        model = TableModel("winldl").fit(X[seen], y[seen], unit="none", time="year")
        low, high = map(np.asarray, model.predict_interval(X[~seen]))
        held.append((low <= y[~seen]) & (y[~seen] <= high))
        widths.append(high - low)
    assert np.mean(held) > 0.75
    assert np.mean(widths) < 0.5
