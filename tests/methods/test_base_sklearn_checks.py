"""scikit-learn's own checks, and its tools around our estimators."""

import pickle
import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.methods import ConstantLDL, RegressorLDL
from inldl.methods.registry import METHODS, make_method
from inldl_paper.literature import IISLDL
from plain_methods import PLAIN

QUICK = {
    "auto": "auto(members=('kernel-ridge',))",
    "kernel-ridge": "kernel-ridge(kernel='rbf', scale=1.0)",
    "kernel-softmax": "kernel-softmax(kernel='rbf', scale=1.0, alpha=0.1)",
    "forest": "forest(n_trees=2, kernel='rbf', scale=1.0)",
    "extra-trees": "extra-trees(n_estimators=3)",
    "boosting": "boosting(max_iter=2)",
}
BY_CLASS = {METHODS[name].class_name: name for name in reversed(PLAIN)}
ESTIMATORS = [make_method(QUICK.get(name, name), seed=0) for name in BY_CLASS.values()]
OPTIONS = [
    WInLDL(missing="zero", fit_intercept=False, close_rows=False, n_jobs=2),
    WInLDL(cross_fit=3),
    WInLDL(ridge="auto"),
    WInLDL(ridge="auto", kernel="rbf", random_state=0),
    ConstantLDL("uniform"),
    IISLDL(mass="observed"),
    RegressorLDL(completer=WInLDL()),
    RegressorLDL(ExtraTreesRegressor(3, random_state=0), n_jobs=2),
]
LONG = [make_method(name, seed=0) for name in PLAIN if name not in BY_CLASS.values()]
LONG += OPTIONS
LONG += [make_method(name, seed=0) for name in QUICK]
LONG += [RegressorLDL(HistGradientBoostingRegressor(max_iter=2), completer=ConstantLDL())]
OURS = [each for each in ESTIMATORS if not isinstance(each, RegressorLDL)]
odd_degrees = [
    pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning"),
    pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


class TestScikitLearn:
    """The checks of scikit-learn: a method is in them as soon as it is in the list of methods."""

    pytestmark = odd_degrees

    @parametrize_with_checks(ESTIMATORS)
    def test_checks(self, estimator, check):
        check(estimator)

    @pytest.mark.slow
    @parametrize_with_checks(LONG)
    def test_checks_of_variants_options_and_large_models(self, estimator, check):
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
    assert repr(clone(fitted).get_params()) == repr(estimator.get_params())


HUGE = {
    "one": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 5, 1e308, X),
    "a column": lambda X: np.where(np.arange(X.shape[1]) == 1, 1e308, X),
    "all": lambda X: np.clip(X, -1, 1) * 1e308,
    "squares": lambda X: X * 1e160,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("estimator", OURS, ids=repr)
def test_huge_features_are_taken_or_refused_in_words(estimator, huge):
    """Any warning of NumPy would fail this test."""
    X, y = make_distributions(40, random_state=0)
    y = hide(y, 0.4, random_state=0)
    large = HUGE[huge](X)
    words = "squares of the features overflow; scale X|too large for trees; scale X"
    with suppressed(ValueError, words):
        clone(estimator).fit(large, y)
    model = clone(estimator).fit(X, y)
    words = r"no number for row \d+ \(counted from 0\): its features are too large for the model"
    for predict in (model.predict, lambda X: model.complete(X, y)):
        with suppressed(ValueError, words):
            np.testing.assert_allclose(predict(large).sum(axis=1), 1)


@contextmanager
def suppressed(kind, words):
    """Let an error pass that says one of these words, and no other."""
    try:
        yield
    except kind as error:
        if not re.search(words, str(error)):
            raise
