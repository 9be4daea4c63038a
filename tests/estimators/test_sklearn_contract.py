"""scikit-learn's own checks, and its tools around our estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from inldl import (
    AutoInLDL,
    ConstantLDL,
    ForestLDL,
    InLDLADMM,
    InLDLProx,
    KernelRidgeLDL,
    KernelSoftmaxLDL,
    WInLDL,
    hide,
)
from inldl.datasets import make_distributions

ESTIMATORS = [
    WInLDL(),
    WInLDL(missing="zero", fit_intercept=False, close_rows=False, n_jobs=2),
    ConstantLDL(),
    ConstantLDL("uniform"),
    InLDLProx(),
    InLDLADMM(),
    AutoInLDL(random_state=0),
    KernelRidgeLDL(random_state=0),
    KernelSoftmaxLDL(random_state=0),
    ForestLDL(random_state=0),
]


@pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning")
@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_distributions(200, random_state=0)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    y = pd.DataFrame(hide(y, 0.4, random_state=0), columns=["low", "mid", "high"])
    return X, y


def test_pipeline_with_frames(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), WInLDL()).set_output(transform="pandas").fit(X, y)
    assert list(pipeline[-1].feature_names_in_) == ["a", "b", "c"]
    assert list(pipeline[-1].label_names_) == ["low", "mid", "high"]
    np.testing.assert_allclose(pipeline.predict(X).sum(axis=1), 1)


def test_model_selection_carries_the_holes(data):
    X, y = data
    scores = cross_val_score(WInLDL(), X, y, cv=4)
    assert np.all((scores > 0.8) & (scores <= 1))
    search = GridSearchCV(WInLDL(), {"ridge": [1e-5, 1e3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"ridge": 1e-5}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_complete_refuses_percentages(estimator, data):
    X, y = (frame[:30] for frame in data)
    fitted = clone(estimator).fit(X, y)
    row = (100 * y > 1).any(axis=1).argmax()
    with pytest.raises(ValueError, match=rf"Row {row} of y has .*; divide percentages by 100\.$"):
        fitted.complete(X, 100 * y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_pickle_and_clone(estimator, data):
    X, y = data
    fitted = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == estimator.get_params()
