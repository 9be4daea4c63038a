"""Scorers inside scikit-learn's model selection, with holes in y."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

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
