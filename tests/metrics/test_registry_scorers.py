"""Scorers inside scikit-learn's model selection, with holes in y."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

from inldl import WInLDL
from inldl.metrics import METRICS, scorer, scorers


class MeanRow(RegressorMixin, BaseEstimator):
    """Predict a mix of the mean observed degrees and the uniform distribution."""

    def __init__(self, uniform=0.0, frame=False):
        self.uniform = uniform
        self.frame = frame

    def fit(self, X, y):
        mean = np.nanmean(np.ascontiguousarray(y), axis=0)
        mean /= mean.sum()
        self.row_ = (1 - self.uniform) * mean + self.uniform / len(mean)
        self.labels_ = getattr(y, "columns", None)
        return self

    def predict(self, X):
        rows = np.tile(self.row_, (len(X), 1))
        return pd.DataFrame(rows, columns=self.labels_) if self.frame else rows


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.dirichlet([8.0, 4.0, 2.0, 1.0], 60)
    y[rng.random(y.shape) < 0.3] = np.nan
    return X, y


FOLDS = KFold(3)


@pytest.mark.parametrize("name", METRICS)
def test_cross_val_score_is_the_signed_mean_on_each_fold(name, data):
    X, y = data
    sign = 1 if METRICS[name].higher_is_better else -1
    expected = [
        sign * METRICS[name].function(y[test], MeanRow().fit(X[train], y[train]).predict(X[test]))
        for train, test in FOLDS.split(X)
    ]
    scores = cross_val_score(MeanRow(), X, y, scoring=scorer(name), cv=FOLDS)
    np.testing.assert_array_equal(scores, expected)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", ["cosine", "clark"])
def test_grid_search_picks_the_better_model_in_either_direction(name, data):
    grid = GridSearchCV(MeanRow(), {"uniform": [0.9, 0.0, 0.5]}, scoring=scorer(name), cv=FOLDS)
    assert grid.fit(*data).best_params_ == {"uniform": 0.0}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_rounded_degrees_are_scored(name, decimals, data):
    X, y = data
    y = y.round(decimals)
    y[::3] = np.random.default_rng(2).dirichlet([8, 4, 2, 1], 20).round(decimals)
    assert (np.abs(y.sum(axis=1) - 1) > 0.9 * 10.0**-decimals).any()
    grid = GridSearchCV(MeanRow(), {"uniform": [0.9, 0.0]}, scoring=scorer(name), cv=FOLDS)
    assert np.isfinite(grid.fit(X, y).cv_results_["mean_test_score"]).all()
    assert name in ("spearman", "kendall") or grid.best_params_ == {"uniform": 0.0}


@pytest.mark.parametrize("name", METRICS)
def test_what_fit_takes_is_scored(name, data):
    X, y = data
    complete = np.random.default_rng(3).dirichlet([8, 4, 2, 1], 60)
    score, model = scorer(name), MeanRow().fit(X, complete)
    for whole in (0.9, 100):
        assert score(model, X, whole * complete) == pytest.approx(score(model, X, complete))
    for doubtful in (100 * y, y - 0.1, np.tile([1, -2, 0, 3], (60, 1))):
        assert np.isfinite(score(model, X, doubtful))
    assert np.isnan(score(model, X, np.full_like(y, np.nan)))


@pytest.mark.parametrize("doubtful", [0.9, 3.0])
def test_a_warning_of_fit_is_no_nan_of_the_scorer(doubtful, data):
    X, y = data
    y[::2] = np.random.default_rng(3).dirichlet([8, 4, 2, 1], 30)
    with pytest.warns(UserWarning, match="of y do not sum to 1|degrees outside"):
        scores = cross_val_score(WInLDL(), X, doubtful * y, scoring=scorer("cosine"), cv=FOLDS)
    assert np.isfinite(scores).all()


def test_predictions_that_are_no_distributions_are_refused(data):
    X, y = data
    model = MeanRow().fit(X, y)
    model.row_ = 2 * model.row_
    with pytest.raises(ValueError, match=r"row 0 of y_pred sums to 2"):
        scorer("cosine")(model, X, y)


def test_frames_of_labels_and_of_predictions_score_the_same(data):
    X, y = data
    table = pd.DataFrame(y, columns=list("abcd"))
    for name in METRICS:
        plain = cross_val_score(MeanRow(), X, y, scoring=scorer(name), cv=FOLDS)
        framed = cross_val_score(MeanRow(frame=True), X, table, scoring=scorer(name), cv=FOLDS)
        np.testing.assert_array_equal(framed, plain)


def test_all_scorers_at_once(data):
    X, y = data
    together = cross_validate(MeanRow(), X, y, scoring=scorers(), cv=FOLDS)
    for name in METRICS:
        alone = cross_val_score(MeanRow(), X, y, scoring=scorer(name), cv=FOLDS)
        np.testing.assert_array_equal(together[f"test_{name}"], alone)


def test_scorers_by_name():
    assert list(scorers()) == list(METRICS)
    assert list(scorers(["clark", "cosine"])) == ["clark", "cosine"]


def test_a_pickled_scorer_scores_the_same(data):
    model = MeanRow().fit(*data)
    original = scorer("clark")
    assert pickle.loads(pickle.dumps(original))(model, *data) == original(model, *data) < 0


@pytest.mark.parametrize("make", [scorer, lambda name: scorers([name])])
def test_unknown_names_are_refused(make):
    with pytest.raises(ValueError, match="'accuracy' is not a metric: choose among cosine, "):
        make("accuracy")
