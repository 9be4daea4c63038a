"""A method with the preparation of its columns: the same as both by hand."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from inldl import AutoInLDL, TableModel, WInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.tables import FeatureEncoder


@pytest.fixture(scope="module")
def budget():
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    X = X.assign(region=np.where(X["age"] > 35, "north", "south"))
    X.loc[::7, "income"] = np.nan
    return X[:300], hide(y, 0.4, random_state=0)[:300], y[:300]


# scikit-learn 1.6 gives sparse matrices also to estimators whose tags say that they take none.
OLD_CHECKS = (
    {"check_sample_weight_equivalence_on_sparse_data": "takes frames and dense arrays"}
    if sklearn.__version__.startswith("1.6.")
    else {}
)


@pytest.fixture(scope="module")
def fitted(budget):
    return TableModel("winldl").fit(*budget[:2])


@pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning")
@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
@parametrize_with_checks([TableModel("winldl")], expected_failed_checks=lambda _: OLD_CHECKS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_is_the_encoder_and_the_method(budget, fitted):
    X, y, _ = budget
    encoded = FeatureEncoder().fit(X).transform(X)
    direct = WInLDL(cross_fit=5).fit(encoded, y)
    np.testing.assert_array_equal(fitted.predict(X), direct.predict(encoded))
    np.testing.assert_array_equal(fitted.complete(X, y), direct.complete(encoded, y))


def test_frames_come_back_as_frames(budget, fitted):
    X, y, _ = budget
    some = X.iloc[[5, 2, 250]]
    predicted = fitted.predict(some)
    assert list(predicted.columns) == list(y.columns) == list(fitted.label_names_)
    assert list(predicted.index) == [5, 2, 250]
    shuffled = some[some.columns[::-1]].assign(more="x")
    pd.testing.assert_frame_equal(fitted.predict(shuffled), predicted)
    completed = fitted.complete(X, y)
    assert list(completed.columns) == list(y.columns)
    kept = y.notna().to_numpy()
    np.testing.assert_array_equal(completed.to_numpy()[kept], y.to_numpy()[kept])


def test_complete_refuses_percentages(related, fitted):
    X, y, _, model = related
    for each in (model, fitted):
        with pytest.raises(ValueError, match=r"; divide percentages by 100\.$"):
            each.complete(X, 100 * y)


@pytest.fixture(scope="module")
def related(budget):
    """Return features, degrees, truth, and a model."""
    X, _, truth = budget
    y = hide(truth, 0.4, random_state=1)
    model = TableModel("winldl").fit(X, y)
    return X, y, truth, model


@pytest.mark.parametrize("coverage", [0.8, 0.9999])  # the second is more than errors can tell
def test_intervals_of_completed_degrees_stay_within_the_row(related, coverage):
    X, y, truth, model = related
    completed, lower, upper = (each.to_numpy() for each in model.complete_interval(X, y, coverage))
    rest = 1 - y.sum(axis=1).to_numpy()[:, None]
    assert (lower >= 0).all()
    assert (lower <= completed).all()
    assert (upper >= completed).all()
    assert (upper <= np.maximum(rest, completed) + 1e-12).all()
    unknown = y.isna().to_numpy() & (y.isna().sum(axis=1) > 1).to_numpy()[:, None]
    inside = ((lower <= truth) & (truth <= upper)).to_numpy()[unknown]
    assert inside.mean() > coverage - 0.06


def test_degrees_of_other_rows_are_refused(related):
    X, y, _, model = related
    with pytest.raises(ValueError, match="y has the shape"):
        model.complete(X[:3], y[:5])


def test_held_out_predictions_are_those_of_folds(budget, fitted):
    X, y, _ = budget
    encoded = fitted.encoder_.transform(X)
    train, test = next(iter(KFold(5, shuffle=True, random_state=0).split(encoded)))
    without = WInLDL().fit(encoded[train], y.to_numpy()[train])
    np.testing.assert_array_equal(fitted.held_out_[test], without.predict(encoded[test]))


def test_intervals_hold_what_they_promise(budget):
    X, _, truth = budget
    model = TableModel("winldl").fit(X[:200], truth[:200])
    lower, upper = model.predict_interval(X[200:], coverage=0.8)
    inside = (lower <= truth[200:]) & (truth[200:] <= upper)
    assert 0.72 < inside.to_numpy().mean() < 0.88


def test_intervals_are_of_the_kind_of_the_rows(budget, fitted):
    X, _, _ = budget
    expected = fitted.predict_interval(X.to_numpy())
    polar = fitted.predict_interval(polars.from_pandas(X))
    for plain, frame, other in zip(expected, fitted.predict_interval(X), polar, strict=True):
        pd.testing.assert_index_equal(frame.index, X.index)
        assert isinstance(plain, np.ndarray)
        assert isinstance(other, polars.DataFrame)
        assert list(frame) == other.columns == list(fitted.label_names_)
        np.testing.assert_array_equal(frame, plain)
        np.testing.assert_array_equal(other, plain)


def test_arrow_tables_are_given_back(budget, fitted):
    X, y, _ = budget
    table, shares = (pyarrow.Table.from_pandas(each, preserve_index=False) for each in (X, y))
    for found, wanted in (
        (fitted.predict(table), fitted.predict(X)),
        (fitted.predict(table.select([*reversed(table.column_names)])), fitted.predict(X)),
        (fitted.complete(table, shares), fitted.complete(X, y)),
        (fitted.predict_interval(table)[1], fitted.predict_interval(X)[1]),
    ):
        assert isinstance(found, pyarrow.Table)
        assert found.column_names == list(y)
        np.testing.assert_array_equal(found, wanted)
    pd.testing.assert_frame_equal(fitted.influence(table, shares), fitted.influence(X, y))


@pytest.mark.parametrize("kind", [polars.from_pandas, pyarrow.Table.from_pandas])
def test_frames_of_other_libraries_hold_all_types(kind):
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 900, 200), unit="D")
    holes = rng.random(200) < 0.3
    X = pd.DataFrame({"date": pd.Series(day.date), "time": day.tz_localize("UTC")})
    X["number"], X["whole"], X["truth"] = rng.normal(size=200), rng.integers(0, 9, 200), ~holes
    X["text"], X["kind"] = rng.choice(["a", None], 200), pd.Categorical(rng.choice([*"uvw"], 200))
    X["exact"] = [Decimal(f"{value:.2f}") for value in rng.random(200)]
    X["some"] = pd.array(np.where(holes, None, rng.integers(0, 5, 200)), "Int64")
    X["truths"] = pd.array(np.where(holes, None, rng.random(200) < 0.5), "boolean")
    y = rng.dirichlet([1, 2, 3], 200)
    model = TableModel("winldl", cross_fit=None).fit(X, y)
    other = TableModel("winldl", cross_fit=None).fit(kind(X), y)
    assert other.encoder_.sources_ == model.encoder_.sources_
    wanted = np.asarray(model.predict(X))
    for found in (
        other.predict(kind(X)),
        other.predict(X),
        model.predict(kind(X[[*reversed(X.columns)]])),
    ):
        np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-12)


def test_without_cross_fit_there_are_no_intervals(budget):
    X, y, _ = budget
    model = TableModel("winldl", cross_fit=None).fit(X, y)
    assert model.held_out_ is None
    with pytest.raises(NotFittedError, match="kept no held-out predictions"):
        model.predict_interval(X)


def test_method_can_be_an_estimator_and_is_cloned(budget):
    X, y, _ = budget
    method = WInLDL(mu=2)
    model = clone(TableModel(method, n_jobs=2)).fit(X, y)
    assert not hasattr(method, "coef_")
    assert model.estimator_.mu == 2
    assert model.estimator_.n_jobs == 2
    same = TableModel("winldl(mu=2)").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


def test_arrays_get_names(budget):
    _, y, _ = budget
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = TableModel("winldl").fit(X, y.to_numpy())
    names = [f"label {j}" for j in range(6)]
    assert list(model.label_names_) == names
    assert isinstance(model.predict(X), np.ndarray)
    assert list(model.predict(pd.DataFrame(X, columns=["x0", "x1"])).columns) == names


def test_large_tables_are_single_precision(budget, fitted, monkeypatch):
    X, y, _ = budget
    monkeypatch.setattr("inldl.tables.columns.encoder.LARGE_MATRIX", 100)
    monkeypatch.setattr("inldl.tables.columns.encoder.BLOCK_OF_LARGE", 77)
    model = TableModel("winldl", cross_fit=None).fit(X, y)
    assert model.encoder_.matrix(X).dtype == np.float32
    np.testing.assert_allclose(model.predict(X), fitted.predict(X), rtol=0, atol=2e-5)


def test_a_method_that_holds_rows_out_itself_is_judged_by_these(budget, monkeypatch):
    """As AutoInLDL does with very many rows."""
    monkeypatch.setattr("inldl.methods.auto_fitting.SAMPLE_ROWS", 200)
    X, y, _ = budget
    auto = AutoInLDL(members="boosted", random_state=0)
    model = TableModel(auto).fit(X, y)
    own = model.estimator_
    assert own.held_out_.shape == (40, y.shape[1])
    np.testing.assert_array_equal(model.held_out_, own.held_out_)
    assert model.held_out_rows_.shape == (40,)
    predicted = np.asarray(model.predict(X))[model.held_out_rows_]
    np.testing.assert_allclose(predicted, own.held_out_, atol=1e-6)


def test_influence_is_that_of_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"noise": rng.normal(size=400), "matters": rng.normal(size=400)})
    share = 1 / (1 + np.exp(-X["matters"]))
    y = pd.DataFrame({"a": share, "b": 1 - share})
    influence = TableModel("winldl", cross_fit=None).fit(X, y).influence(X, y)
    assert list(influence.index) == ["noise", "matters"]
    assert (influence.loc["matters"] > 20 * influence.loc["noise"].abs()).all()


def test_influence_of_a_column_of_any_name():
    X = pd.DataFrame({"self": np.linspace(0, 1, 50)})
    y = pd.DataFrame({"a": X["self"] / 2, "b": 1 - X["self"] / 2})
    influence = TableModel("winldl", cross_fit=None).fit(X, y).influence(X, y)
    assert influence.loc["self", "a"] > 0.1


def test_methods_that_need_complete_degrees_are_refused(budget):
    X, y, truth = budget
    with pytest.raises(ValueError, match=r"LinearRegression.* some are missing; use one of the m"):
        TableModel(LinearRegression()).fit(X, y)
    assert TableModel(LinearRegression(), cross_fit=None).fit(X, truth).predict(X).shape == (
        300,
        6,
    )


def test_labels_are_named_where_a_method_knows_their_numbers(budget):
    X, y, _ = budget
    y = y.copy()
    y.iloc[5:, 2] = np.nan
    needs_four = "boosting(max_iter=1, early_stopping=True, validation_fraction=3)"
    with pytest.raises(ValueError, match="cannot learn label 'clothes' from the 3 of 300"):
        TableModel(needs_four).fit(X, y)


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (TableModel("winldll"), {}, "There is no method 'winldll'"),
        (TableModel("winldl", cross_fit=1), {}, "cross_fit must be an integer at least 2"),
        (TableModel("winldl"), {"y": 299}, "X has 300 rows and y has 299"),
    ],
)
def test_what_cannot_be_fitted(budget, model, change, message):
    X, y, _ = budget
    with pytest.raises(ValueError, match=message):
        model.fit(X, y[: change.get("y", 300)])
