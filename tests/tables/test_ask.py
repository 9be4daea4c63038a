"""`inldl.suggest`: which missing degrees to ask for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import inldl
from inldl import AutoInLDL, TableModel, WInLDL, hide, suggest
from inldl.rows.partial import PartialRows
from inldl.tables.ask import suggestion
from inldl.tables.filled_rows import RowsToFill
from inldl.tables.table_rows import TrainingRows

COLUMNS = ["rank", "row", "label", "estimate", "low", "high", "gain", "rmse", "cost"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=["x", "y", "z"])
    scores = np.exp(X.to_numpy() @ rng.normal(size=(3, 5)) + 0.3 * rng.normal(size=(50, 5)))
    y = pd.DataFrame(scores, columns=list("abcde")).div(scores.sum(axis=1), axis=0)
    return X, y.mask(np.isnan(hide(y.to_numpy(), 0.5, random_state=0))), y


@pytest.fixture(scope="module")
def model(data):
    return TableModel("winldl").fit(*data[:2])


def cells(found):
    return list(zip(found.table["row"], found.table["label"], strict=True))


def test_a_table_of_questions_the_best_first(data, model):
    X, y, _ = data
    found = suggest(model, X, y, budget=8)
    table = found.table
    assert list(table) == COLUMNS
    assert len(table) == 8
    assert table["rank"].tolist() == list(range(1, 9))
    holes = np.isnan(np.asarray(y))
    labels = list(model.label_names_)
    assert all(holes[row, labels.index(label)] for row, label in cells(found))
    completed, low, high = model.complete_interval(X, y)
    at = table["row"], [labels.index(label) for label in table["label"]]
    for name, values in (("estimate", completed), ("low", low), ("high", high)):
        np.testing.assert_allclose(table[name], np.asarray(values)[at], atol=1e-9)
    assert (table["gain"] > 0).all()
    assert found.n_missing == holes.sum()


def test_errors_fall_by_the_gains(data, model):
    found = suggest(model, *data[:2], budget=8)
    before = found.rmse**2 * found.n_missing
    after = before - found.table["gain"].cumsum()
    np.testing.assert_allclose(found.table["rmse"], np.sqrt(after / found.n_missing))
    assert found.rmse_after == found.table["rmse"].iloc[-1]


def test_all_questions_leave_no_error_and_are_one_less_than_the_holes_of_each_row(data, model):
    X, y, _ = data
    found = suggest(model, X, y, budget=None)
    assert found.rmse_after == pytest.approx(0, abs=1e-6 * found.rmse)
    holes = np.isnan(np.asarray(y)).sum(axis=1)
    assert len(found.table) == np.maximum(holes - 1, 0).sum()
    assert cells(suggest(model, X, y, budget=10**6)) == cells(found)  # more than there are


def test_the_expected_error_is_about_the_real_one(data, model):
    X, y, truth = data
    holes = np.isnan(np.asarray(y))
    errors = (np.asarray(model.complete(X, y)) - np.asarray(truth))[holes]
    real = np.sqrt(np.mean(errors**2))
    assert suggest(model, X, y, budget=1).rmse == pytest.approx(real, rel=0.5)


def test_what_is_fitted_is_used_and_what_is_not_is_fitted(data, model):
    X, y, _ = data
    found = cells(suggest(model, X, y))
    assert cells(suggest("winldl", X, y)) == found
    assert cells(suggest(TableModel("winldl"), X, y)) == found
    own = WInLDL(cross_fit=5).fit(X, y)
    unfitted = WInLDL(cross_fit=5)
    assert cells(suggest(own, X, y)) == cells(suggest(unfitted, X, y))
    assert not hasattr(unfitted, "coef_")


def test_pipelines_and_searches(data):
    X, y, _ = data
    pipeline = make_pipeline(StandardScaler(), WInLDL(cross_fit=5))
    expected = cells(suggest(pipeline.fit(X, y), X, y))
    scaled = StandardScaler().fit_transform(X)
    assert expected == cells(suggest(WInLDL(cross_fit=5), scaled, y))
    assert cells(suggest(make_pipeline(StandardScaler(), WInLDL(cross_fit=5)), X, y)) == expected
    search = GridSearchCV(pipeline, {"winldl__mu": [2.0]}, cv=2).fit(X, y)
    assert cells(suggest(search, X, y)) == expected


def test_estimators_that_do_not_know_how_unsure_they_are_are_refused(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="cross_fit=5"):
        suggest(WInLDL(), X, y)
    with pytest.raises(ValueError, match="StandardScaler cannot complete rows"):
        suggest(StandardScaler(), X, y)


def test_tables_without_features(data):
    found = suggest("auto", None, data[1], budget=4)
    assert len(found.table) == 4
    nothing = pd.DataFrame(index=range(50))
    assert cells(suggest("auto", nothing, data[1], budget=4)) == cells(found)


def test_arrays_have_labels_with_numbers(data):
    X, y, _ = data
    found = suggest("winldl", np.asarray(X), np.asarray(y), budget=4)
    assert set(found.table["label"]) <= {f"label {j}" for j in range(5)}


def test_nothing_to_ask(data, model):
    X, _, truth = data
    found = suggest(model, X, truth)
    assert list(found.table) == COLUMNS
    assert len(found.table) == 0
    assert (found.rmse, found.rmse_after, found.n_missing) == (0, 0, 0)


def test_rows_are_ranked_as_a_whole(data, model):
    found = suggest(model, *data[:2], budget=12, by="row").table
    assert found["cost"].sum() <= 12
    holes = np.isnan(np.asarray(data[1])).sum(axis=1)
    for _, part in found.groupby("rank"):
        assert part["row"].nunique() == 1
        assert len(part) == holes[part["row"].iloc[0]] - 1  # the last follows from the sum
    totals = found.groupby("rank")[["gain", "cost"]].sum()
    worth = (totals["gain"] / totals["cost"]).to_numpy()
    assert (np.diff(worth) <= 1e-12).all()


def test_prices(data, model):
    X, y, _ = data
    plain = suggest(model, X, y, budget=12).table
    dear = suggest(model, X, y, budget=12, row_cost=5, cell_cost=1).table
    assert dear["cost"].sum() <= 12
    assert len(dear) / dear["row"].nunique() > len(plain) / plain["row"].nunique()
    prices = np.where(np.arange(50) == plain["row"].iloc[0], 1000.0, 1.0)
    assert plain["row"].iloc[0] not in suggest(model, X, y, row_cost=prices).table["row"].tolist()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"by": "column"}, "by must be"),
        ({"budget": 0}, "budget must be"),
        ({"coverage": 2}, "coverage must be"),
        ({"row_cost": 0}, "row_cost is 0, which is not a price"),
        ({"row_cost": np.ones(3)}, "a number for each of the 50 rows"),
        ({"cell_cost": np.r_[np.ones(49), np.nan]}, r"cell_cost is nan in row 49"),
        ({"cell_cost": "much"}, "cell_cost must be a number"),
    ],
)
def test_what_cannot_be_asked_for(data, model, wrong, words):
    with pytest.raises(ValueError, match=words):
        suggest(model, *data[:2], **wrong)


def test_what_cannot_complete_is_refused_before_it_is_fitted(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="LinearRegression cannot complete rows"):
        suggest(LinearRegression(), X, y)


def test_bounds_make_holes_surer(data):
    X, y, _ = data
    first = suggest("winldl", X, y, budget=1).table.iloc[0]
    upper = np.full(np.shape(y), np.nan)
    upper[first["row"]] = 1.0
    column = list(pd.DataFrame(y).columns).index(first["label"]) if hasattr(y, "columns") else 0
    upper[first["row"], column] = first["estimate"] + 1e-4
    lower = np.full(np.shape(y), np.nan)
    lower[first["row"], column] = max(first["estimate"] - 1e-4, 0)
    model = TableModel("winldl").fit(X, y)
    plain, bounded = (
        suggest(model, X, y, 1, **k).rmse for k in ({}, {"lower": lower, "upper": upper})
    )
    assert bounded < plain


def test_sums_that_vary_leave_single_holes_unsure():
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(4) * 5, 58) * rng.uniform(0.9, 1.1, (58, 1))
    y[:25, 0] = np.nan
    sums = np.where(np.isnan(y).any(axis=1), 1, np.nansum(y, axis=1))
    model = TableModel("winldl")
    degrees = PartialRows(y / sums[:, None], number=np.arange(58))
    training = TrainingRows(rng.normal(size=(58, 2)), degrees, divisors=sums)
    prepared = model.prepare(training, list("abcd"))
    model.fit_prepared(prepared)
    rows = PartialRows(y, **model.held_out_sample_.side_information(prepared.features))
    part = RowsToFill(model, rows, np.full(y.shape, 0.25))
    found = suggestion(part, list("abcd"), None, "cell", {}, 0.9)
    assert len(found.table) == 25
    assert (found.table["gain"] > 0).all()


def test_it_is_a_name_of_the_package():
    assert inldl.suggest is suggest
    assert "suggest" in dir(inldl)


@pytest.mark.slow
def test_the_default_method(data):
    found = suggest(AutoInLDL(random_state=0), *data[:2], budget=3)
    assert len(found.table) == 3


@pytest.mark.parametrize(
    "model",
    [
        "winldl(known='ratios')",
        TableModel("winldl(known='ratios')"),
        WInLDL(known="ratios", cross_fit=5),
        make_pipeline(StandardScaler(), WInLDL(known="ratios", cross_fit=5)),
    ],
)
def test_ratios_are_refused_before_anything_is_fitted(data, model):
    with pytest.raises(ValueError, match=r"Only ratios of shares are known .* need a table"):
        suggest(model, *data[:2])
