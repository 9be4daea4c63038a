"""A method with the preparation of its columns: the same as both by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from inldl import Model, WInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.tables import FeatureEncoder
from inldl.tables import model as module


@pytest.fixture(scope="module")
def budget():
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    X = X.assign(region=np.where(X["age"] > 35, "north", "south"))
    X.loc[::7, "income"] = np.nan
    return X[:300], hide(y, 0.4, random_state=0)[:300], y[:300]


@pytest.fixture(scope="module")
def fitted(budget):
    return Model("winldl").fit(*budget[:2])


def test_it_is_the_encoder_and_the_method(budget, fitted):
    X, y, _ = budget
    encoded = FeatureEncoder().fit(X).transform(X)
    direct = WInLDL().fit(encoded, y)
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


def test_held_out_predictions_are_those_of_folds(budget, fitted):
    X, y, _ = budget
    encoded = fitted.encoder_.transform(X)
    train, test = next(iter(KFold(5, shuffle=True, random_state=0).split(encoded)))
    without = WInLDL().fit(encoded[train], y.to_numpy()[train])
    np.testing.assert_array_equal(fitted.held_out_[test], without.predict(encoded[test]))


def test_intervals_hold_what_they_promise(budget):
    X, _, truth = budget
    model = Model("winldl").fit(X[:200], truth[:200])
    lower, upper = model.predict_interval(X[200:], coverage=0.8)
    inside = (lower <= truth[200:].to_numpy()) & (truth[200:].to_numpy() <= upper)
    assert 0.72 < inside.mean() < 0.88


def test_without_cross_fit_there_are_no_intervals(budget):
    X, y, _ = budget
    model = Model("winldl", cross_fit=None).fit(X, y)
    assert model.held_out_ is None
    with pytest.raises(NotFittedError, match="kept no held-out predictions"):
        model.predict_interval(X)


def test_method_can_be_an_estimator_and_is_cloned(budget):
    X, y, _ = budget
    method = WInLDL(mu=2)
    model = clone(Model(method, n_jobs=2)).fit(X, y)
    assert not hasattr(method, "coef_")
    assert model.estimator_.mu == 2
    assert model.estimator_.n_jobs == 2
    same = Model("winldl(mu=2)").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


def test_arrays_get_names(budget):
    _, y, _ = budget
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = Model("winldl").fit(X, y.to_numpy())
    assert list(model.predict(X).columns) == [f"label {j}" for j in range(6)]


def test_large_tables_are_single_precision(budget, fitted, monkeypatch):
    X, y, _ = budget
    monkeypatch.setattr(module, "LARGE", 100)
    monkeypatch.setattr(module, "ROWS", 77)
    model = Model("winldl", cross_fit=None).fit(X, y)
    assert model._matrix(X).dtype == np.float32
    np.testing.assert_allclose(model.predict(X), fitted.predict(X), rtol=0, atol=2e-5)


def test_influence_is_that_of_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"noise": rng.normal(size=400), "matters": rng.normal(size=400)})
    share = 1 / (1 + np.exp(-X["matters"]))
    y = pd.DataFrame({"a": share, "b": 1 - share})
    influence = Model("winldl", cross_fit=None).fit(X, y).influence(X, y)
    assert list(influence.index) == ["noise", "matters"]
    assert (influence.loc["matters"] > 20 * influence.loc["noise"].abs()).all()


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (Model("winldll"), {}, "There is no method 'winldll'"),
        (Model("winldl", cross_fit=1), {}, "cross_fit must be an integer at least 2"),
        (Model("winldl"), {"y": 299}, "X has 300 rows and y has 299"),
    ],
)
def test_what_cannot_be_fitted(budget, model, change, message):
    X, y, _ = budget
    with pytest.raises(ValueError, match=message):
        model.fit(X, y[: change.get("y", 300)])
