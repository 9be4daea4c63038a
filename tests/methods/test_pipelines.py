"""Pipelines and searches complete; what comes back is of the kind that was given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import TableModel, WInLDL, complete, complete_interval, hide
from inldl.datasets import make_distributions
from inldl.methods import ConstantLDL, draw_scorer
from inldl.metrics import crps, energy_score, log_score, mae, scorer


@pytest.fixture(scope="module")
def data():
    X, y = make_distributions(60, random_state=0)
    return X * [1, 100, 1000], hide(y, 0.4, random_state=0)


def test_a_pipeline_completes_as_its_steps_do(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), "passthrough", WInLDL()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = WInLDL().fit(scaled, y).complete(scaled, y)
    np.testing.assert_array_equal(complete(pipeline, X, y), expected)
    nested = Pipeline([("all", pipeline)])
    np.testing.assert_array_equal(complete(nested, X, y), expected)


def test_searches_and_options_are_passed_on(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), WInLDL(cross_fit=3))
    search = GridSearchCV(pipeline, {"winldl__mu": [1, 4]}, scoring=scorer("mae"), cv=2)
    search.fit(X, y)
    completed, lower, upper = complete_interval(search, X, y, coverage=0.5)
    assert not np.isnan(completed).any()
    assert ((lower <= completed) & (completed <= upper)).all()


def test_other_estimators_are_refused(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), Ridge()).fit(X, np.nan_to_num(y))
    with pytest.raises(ValueError, match="Ridge cannot complete rows; end the pipeline in an est"):
        complete(pipeline, X, y)


def test_the_mean_absolute_error_is_a_scorer_that_minds_holes(data):
    X, y = data
    model = ConstantLDL().fit(X, y)
    errors = np.abs(y - model.predict(X))
    expected = np.mean([row[~np.isnan(row)].mean() for row in errors if not np.isnan(row).all()])
    assert np.isnan(y).all(axis=1).any()
    assert scorer("mae")(model, X, y) == pytest.approx(-expected)
    assert mae(y, model.predict(X)) == pytest.approx(expected)
    assert (cross_val_score(WInLDL(), X, y, scoring=scorer("mae"), cv=3) < 0).all()


NAMES = ["p", "q", "r"]
KINDS = {
    "array": lambda a: a,
    "pandas": lambda a: pd.DataFrame(a, columns=NAMES, index=range(7, 7 + len(a))),
    "polars": lambda a: pl.DataFrame(a, schema=NAMES, orient="row"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 60])  # of which the first is as many as there are labels
@pytest.mark.parametrize(
    "method",
    [WInLDL(max_iter=5), WInLDL(cross_fit=2, max_iter=5), TableModel("winldl", cross_fit=None)],
)
def test_what_is_completed_is_of_the_kind_of_the_degrees(data, kind, n, method):
    X, y = data[0][:n], KINDS[kind](data[1][:n])
    completed = clone(method).fit(data[0], KINDS[kind](data[1])).complete(X, y)
    assert type(completed) is type(y)
    known = ~np.isnan(data[1][:n])
    np.testing.assert_array_equal(np.asarray(completed)[known], data[1][:n][known])
    if kind == "pandas":
        assert completed.index.equals(y.index)
    if kind != "array":
        assert list(completed.columns) == NAMES


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_predicts_what_is_of_the_kind_of_the_features(data, kind):
    X, y = data
    given = KINDS[kind](X)
    model = TableModel("winldl", cross_fit=None).fit(given, y)
    predicted = model.predict(given)
    assert type(predicted) is type(given)
    np.testing.assert_array_equal(np.asarray(predicted), np.asarray(model.predict(given)))
    if kind == "pandas":
        assert predicted.index.equals(given.index)
    if kind != "array":
        assert list(predicted.columns) == [f"label {j}" for j in range(3)]
    assert model.influence(given, y).shape == (3, 3)


@pytest.mark.parametrize("score", [crps, energy_score])
def test_proper_scores_judge_draws_of_new_rows(data, score):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), WInLDL(cross_fit=3))
    scoring = draw_scorer(score, n_draws=20)
    good, bad = (
        cross_val_score(pipeline, each, y, scoring=scoring, cv=2).mean() for each in (X, X[::-1])
    )
    assert bad < good < 0
    fitted = pipeline.fit(X, y)
    draws = fitted[-1].sample(fitted[:-1].transform(X), 20, random_state=0)
    assert scoring(fitted, X, y) == -score(y, draws)
    weights = np.arange(len(X))
    assert scoring(fitted, X, y, weights) == -score(y, draws, sample_weight=weights)


def test_scores_of_draws_have_names(data):
    X, y = data
    model = WInLDL(cross_fit=3).fit(X, y)
    for name, score in {"crps": crps, "energy": energy_score}.items():
        assert draw_scorer(name, 10)(model, X, y) == draw_scorer(score, 10)(model, X, y)
    found = draw_scorer("log")
    assert found(model, X, y) == -log_score(y, model.predict_dirichlet(X))
    scores = cross_val_score(WInLDL(cross_fit=3), X, y, cv=2, scoring=found, error_score="raise")
    assert np.isfinite(scores).all()
    with pytest.raises(
        ValueError, match="score must be one of 'crps', 'energy', 'log', got 'mae'"
    ):
        draw_scorer("mae")
    with pytest.raises(ValueError, match="ConstantLDL has no intervals and no draws"):
        found(ConstantLDL().fit(X, y), X, y)


def test_weights_reach_scores_of_draws(data):
    X, y = data
    weights = np.where(np.arange(len(X)) % 2, 1.0, 3.0)
    with config_context(enable_metadata_routing=True):
        scoring = draw_scorer("log").set_score_request(sample_weight=True)
        model = WInLDL(cross_fit=3).set_fit_request(sample_weight=False)
        about = {"cv": 2, "error_score": "raise", "scoring": scoring}
        found = cross_val_score(model, X, y, params={"sample_weight": weights}, **about)
    fitted = clone(model).fit(X[30:], y[30:])
    expected = -log_score(y[:30], fitted.predict_dirichlet(X[:30]), sample_weight=weights[:30])
    assert found[0] == pytest.approx(expected)
