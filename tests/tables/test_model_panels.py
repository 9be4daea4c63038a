"""Models of tables whose rows belong to units and times."""

import numpy as np
import pandas as pd
import pytest

from inldl.files import export_onnx, load_model, save_model
from inldl.rows.panel import Panel
from inldl.tables import TableModel, audit
from made_panels import LABELS, early, made_panel

NAMED = {"unit": "country", "time": "year"}


@pytest.fixture(scope="module")
def table():
    X, y, panel = made_panel()
    return X, early(panel, y)


@pytest.fixture(scope="module")
def with_feature(table):
    X, y = table
    x = np.where(np.isnan(y[:, 2]), 0, y[:, 2]) + np.random.default_rng(1).normal(0, 0.02, len(y))
    return X.assign(x=x), y


def check(model, X, y):
    """Check all that is asked of a fitted model, also of rows that it has not seen."""
    new = X.iloc[:2].assign(country=["new", X["country"].iloc[0]])
    if "year" in X:
        new["year"] = [1990, 2030]
    hidden = np.array(y, dtype=float)[-2:]
    hidden[:, :2] = np.nan
    for rows, given in ((X, np.asarray(y)), (new, hidden)):
        known = ~np.isnan(given)
        completed, low, high = map(np.asarray, model.complete_interval(rows, given))
        assert completed.dtype == given.dtype
        assert completed.sum(axis=1) == pytest.approx(1, abs=1e-6)
        assert completed.min() >= 0
        assert (completed[known] == given[known]).all()
        assert (low <= completed).all()
        assert (completed <= high).all()
        assert (np.asarray(model.complete(rows, given)) == completed).all()
        draws = model.draw(rows, given, 2, 0)
        assert np.sum(draws, axis=2) == pytest.approx(1, abs=1e-6)
        predicted = np.asarray(model.predict(rows))
        assert predicted.sum(axis=1) == pytest.approx(1)
        lower, upper = map(np.asarray, model.predict_interval(rows, 0.5))
        assert (lower <= predicted).all()
        assert (predicted <= upper).all()
    audit.measure_completion(model)
    return completed


def missing(X, y, seed=0):
    """Return shares of which random rows lack two labels."""
    y = np.array(y)
    y[np.ix_(np.random.default_rng(seed).random(len(X)) < 0.3, [0, 1])] = np.nan
    return y


def only_one_unit():
    X, y, panel = made_panel()
    y[np.ix_(panel.unit != 0, [0, 1])] = np.nan
    return X, y


def one_row_units():
    X, y, _ = made_panel(20, 1)
    return X.assign(year=2000 + np.arange(20) % 4), missing(X, y)


def empty_unit():
    X, y, panel = made_panel()
    y[panel.unit == 2] = np.nan
    return X, y


def duplicates():
    X, y, panel = made_panel()
    more = pd.concat([X, X[:20]], ignore_index=True)
    return more, np.vstack([early(panel, y), y[:20]])


def two_labels():
    X, y, _ = made_panel(n_labels=2)
    y[:4] = np.nan
    return X, y


def single_precision():
    X, y, panel = made_panel()
    return X, early(panel, y).astype(np.float32)


def uneven_times():
    X, y, panel = made_panel()
    times = X["year"] + np.random.default_rng(0).uniform(0, 9, len(X))
    return X.assign(year=times), early(panel, y)


def label_of_the_last_time_only():
    X, y, panel = made_panel()
    y[np.ix_(panel.positions < 11, [0, 1])] = np.nan
    return X, y


MADE = [only_one_unit, one_row_units, empty_unit, duplicates, two_labels, single_precision,
        uneven_times, label_of_the_last_time_only]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Label", "ignore:The draws depend")
@pytest.mark.parametrize("make", MADE)
def test_difficult_panels_are_completed(make):
    X, y = make()
    check(TableModel("winldl").fit(X, y, **NAMED), X, y)


@pytest.mark.filterwarnings("ignore:Label")
def test_complete_tables_learn_to_complete_others():
    X, y, panel = made_panel(12, 12)
    later = panel.positions >= 4
    model = TableModel("winldl").fit(X[later], y[later], **NAMED)
    hidden = early(panel, y, n_units=12)
    assert audit.measure_completion(model).unknown == ""
    check(model, X[later], y[later])
    filled = np.abs(model.complete(X[~later], hidden[~later]) - y[~later])[:, :2].mean()
    assert filled < 0.5 * np.abs(y[later].mean(axis=0) - y[~later])[:, :2].mean()


@pytest.mark.filterwarnings("ignore:Label")
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("unit", ["country", "none"])
def test_small_tables_are_completed(n, unit):
    rng = np.random.default_rng(n)
    y = rng.dirichlet(np.ones(3), n)
    y[0, :2] = np.nan
    years = 2000 + (np.arange(n) if unit == "none" else np.arange(n) // 2)
    X = pd.DataFrame({"country": [f"c{i % 2}" for i in range(n)], "year": years})
    if n == 2:
        X["year"] = [2000, 2001]
    check(TableModel("winldl").fit(X, y, unit=unit, time="year"), X, y)


@pytest.mark.filterwarnings("ignore:Label")
@pytest.mark.parametrize("feature", [False, True])
def test_one_unit_and_then_another(feature):
    """Ways are as many as in the fit, whatever units come later."""
    X, y, panel = made_panel(1, 30)
    X = X.assign(x=y[:, 2]) if feature else X
    check(TableModel("winldl").fit(X, early(panel, y, 1), **NAMED), X, early(panel, y, 1))


def test_units_without_times(table):
    X, y = table
    model = TableModel().fit(X[["country"]], y, unit="country")
    assert model.panel_.time is None
    check(model, X[["country"]], y)


def test_files_give_the_same_model(with_feature, tmp_path):
    X, y = with_feature
    model = TableModel("winldl").fit(X, y)
    save_model(model, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    new = X[:4].assign(country=["new", "c0", "c1", "c1"], year=[2003, 2020, 1990, 2001])
    hidden = y[-4:].copy()
    hidden[:, 1:3] = np.nan
    for rows, given in ((X, y), (new, hidden)):
        assert (model.predict(rows) == again.predict(rows)).all(axis=None)
        for ours, theirs in zip(
            (*model.complete_interval(rows, given), *model.predict_interval(rows)),
            (*again.complete_interval(rows, given), *again.predict_interval(rows)),
            strict=True,
        ):
            assert np.array_equal(ours, theirs)
        assert np.array_equal(model.draw(rows, given, 3, 0), again.draw(rows, given, 3, 0))


def test_the_order_of_rows_does_not_matter(table):
    X, y = table
    order = np.random.default_rng(0).permutation(len(y))
    ways = []
    for rows in (np.arange(len(y)), order):
        model = TableModel().fit(X.iloc[rows], y[rows])
        ways.append(model.panel_.ahead)
        new = pd.DataFrame({"country": ["c1", "c5"], "year": [2012, 2013]})
        assert model.predict(new).to_numpy() == pytest.approx(
            TableModel().fit(X, y).predict(new).to_numpy()
        )
    assert ways[0] == pytest.approx(ways[1])


def test_what_is_predicted_of_a_row_does_not_depend_on_others_of_which_nothing_is_known(table):
    model = TableModel().fit(*table)
    rows = pd.DataFrame({"country": ["c1", "c5", "new", "c1"], "year": [2012, 2013, 2001, 2012.0]})
    together = model.predict(rows).to_numpy()
    alone = np.vstack([model.predict(rows.iloc[[i]]) for i in range(4)])
    assert together == pytest.approx(alone, abs=1e-12)


def test_paths_are_followed_beyond_the_last_time(table):
    """The next time of a unit is predicted near its last one, and far from the means."""
    X, y = table
    next_year = X[X["year"] == 2011].assign(year=2012)
    predicted = TableModel().fit(X, y).predict(next_year).to_numpy()
    last = y[X["year"] == 2011]
    means = np.nanmean(y, axis=0)
    assert np.abs(predicted - last).mean() < 0.2 * np.abs(means - last).mean()


def test_weights_votes_and_limits(table):
    X, y = table
    weight = np.ones(len(y))
    weight[::5] = 0
    upper = np.full(y.shape, np.nan)
    upper[:2, 0] = 0.1
    lower = np.full(y.shape, np.nan)
    lower[2, 1] = 0.2
    pair = made_panel()[1][:, :2].sum(axis=1)
    for how in (
        {"sample_weight": weight},
        {"votes": np.arange(1, len(y) + 1)},
        {"upper": upper, "lower": lower},
        {"sums": {(0, 1): pair}},
    ):
        model = TableModel("winldl").fit(X, y, **how, **NAMED)
        check(model, X, y)
    completed = model.complete(X, y, upper=upper, lower=lower)
    assert completed[:2, 0].max() <= 0.1
    assert completed[2, 1] >= 0.2
    halves = np.full(len(y), np.nan)
    halves[0] = 0.9 * (1 - y[0, 2:].sum())
    completed = model.complete(X, y, sums={(0, 2): halves + y[:, 2]})
    assert completed[0, 0] == pytest.approx(halves[0])


def test_few_spells_make_intervals_wide(table):
    X, y = table
    model = TableModel().fit(X, y)
    assert model.panel_.sample.n_spells < 10
    assert "too few to tell; intervals are wider for it" in audit.measure_completion(model).unknown
    few = model.complete_interval(X, y)
    model._completer().errors_._n_spells = 1000.0
    many = model.complete_interval(X, y)
    holes = np.isnan(y)
    assert (few[0] == many[0]).all()
    assert (few[2] - few[1])[holes].mean() > 1.1 * (many[2] - many[1])[holes].mean()


@pytest.mark.parametrize(
    ("how", "fit", "why"),
    [
        ({"method": "winldl(known=ratios)"}, {}, "if only ratios of shares are known"),
        (
            {"method": "winldl", "cross_fit": None},
            {},
            "with cross_fit=None, which leaves out",
        ),
        ({"method": "winldl"}, {"groups": True}, "beside groups"),
    ],
)
def test_units_are_refused_where_they_cannot_be_used(table, how, fit, why):
    X, y = table
    fit = {"groups": X["country"]} if fit else {}
    for named in ({"unit": "country"}, {"time": ["year"]}):
        with pytest.raises(ValueError, match=f"Units and times cannot be used {why}"):
            TableModel(**how).fit(X, y, **named, **fit)
    for none in ({}, {"unit": " None", "time": "none"}):  # what is found is not insisted on
        y = np.nan_to_num(y, nan=0.1)
        assert TableModel(**how).fit(X, y / y.sum(1)[:, None], **none, **fit).panel_ is None


def test_units_can_be_turned_off(table):
    X, y = table
    model = TableModel("winldl").fit(X, y, unit="none", time="none")
    assert model.panel_ is None
    assert model.feature_names_in_.tolist() == ["country", "year"]
    assert TableModel("winldl").fit(X.to_numpy(), y, unit="none").panel_ is None
    assert TableModel("winldl").fit(X, y).panel_ is not None


def test_degrees_that_are_not_finite_are_refused(table):
    X, y = table
    model = TableModel().fit(X, y)
    wrong = y.copy()
    wrong[3, 2] = np.inf
    for ask in (lambda: model.complete(X, wrong), lambda: TableModel().fit(X, wrong)):
        with pytest.raises(ValueError, match=r"[Ii]nf"):
            ask()


def test_empty_cells_that_name_rows_are_refused_where_they_are_named(table):
    X, y = table
    X = X.astype({"year": float})
    X.loc[3, "year"] = np.nan
    with pytest.raises(ValueError, match=r"'year' names the units.* but is empty in row 3"):
        TableModel().fit(X, y, **NAMED)


def test_a_panel_cannot_be_exported(table, tmp_path):
    X, y = table
    model = TableModel("winldl").fit(X, y)
    with pytest.raises(ValueError, match="others of their units and times, which an ONNX file"):
        export_onnx(model, tmp_path / "m.onnx")


def test_early_holes_of_real_spending_are_filled_about_as_well_as_by_interpolation(shared):
    """Government expenditure by function, early years without labels in half of all countries."""
    frame = pd.read_csv(shared / "datasets" / "tables" / "govexp.csv")
    true = frame.filter(regex="^y_").to_numpy(float)
    true /= true.sum(axis=1, keepdims=True)
    X = frame[["x_country", "x_year"]]
    codes = pd.factorize(X["x_country"])[0]
    panel, rng = Panel(codes, X["x_year"].to_numpy(float)), np.random.default_rng(0)
    some = np.isin(codes, rng.choice(codes.max() + 1, (codes.max() + 1) // 2, replace=False))
    some &= panel.positions <= np.quantile(panel.positions, 1 / 3)
    labels, y = rng.choice(true.shape[1], 3, replace=False), true.copy()
    y[np.ix_(some, labels)] = np.nan
    filled = TableModel().fit(X, y).complete(X, y)
    means = pd.DataFrame(y).groupby(codes).transform("mean").fillna(pd.DataFrame(y).mean())
    simple = pd.DataFrame(y).groupby(codes, group_keys=False)
    simple = simple.apply(lambda part: part.interpolate().bfill()).fillna(means).to_numpy()
    rest = 1 - np.nansum(y, axis=1, keepdims=True)
    holes = np.isnan(y)
    simple = np.where(holes, simple, 0)
    simple *= rest / np.maximum(simple.sum(axis=1, keepdims=True), 1e-12)
    errors = [np.abs(each - true)[holes].mean() for each in (filled, simple)]
    assert errors[0] < 1.15 * errors[1]


@pytest.mark.parametrize(
    ("name", "unit", "time"),
    [("livestock", "x_State", "x_year"), ("tourism", "x_Region", "x_Quarter"),
     ("olive", "x_area", "none")],
)  # fmt: skip
def test_real_panels_are_predicted_better_with_their_units(shared, name, unit, time):
    frame = pd.read_csv(shared / "datasets" / "tables" / f"{name}.csv")
    true = frame.filter(regex="^y_").to_numpy(float)
    frame, true = frame[true.sum(axis=1) > 0], true[true.sum(axis=1) > 0]
    true /= true.sum(axis=1, keepdims=True)
    names = [unit] if time == "none" else [unit, time]
    X, hidden = frame[names][:300], np.random.default_rng(0).random(len(true[:300])) < 0.2
    y = np.where(hidden[:, None], np.nan, true[:300])
    errors = []
    for place in ({"unit": unit, "time": time}, {"unit": "none", "time": "none"}):
        completed = TableModel("constant-mean").fit(X, y, **place).complete(X, y)
        errors.append(np.abs(completed - true[:300])[hidden].mean())
    assert errors[0] < errors[1]


def test_labels_have_their_names(table):
    X, y = table
    y = pd.DataFrame(y, columns=LABELS, index=X.index + 100)
    X = X.set_index(y.index)
    model = TableModel().fit(X, y)
    assert model.complete(X, y).columns.tolist() == LABELS
    assert model.complete(X, y).index.equals(y.index)
    assert model.predict(X[:2]).index.equals(X.index[:2])
    with pytest.raises(ValueError, match="label"):
        model.complete(X, y[LABELS[::-1]])
