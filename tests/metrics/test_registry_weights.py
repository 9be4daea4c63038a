"""Weights of rows in all metrics and scorers."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from inldl.metrics import METRICS, evaluate, scorer

RNG = np.random.default_rng(0)
TRUTH, PREDICTED = RNG.dirichlet(np.ones(4), 12), RNG.dirichlet(np.ones(4), 12)
TRUTH[3] = np.nan  # a row without a value
TRUTH[5, :2] = np.nan
W = RNG.integers(0, 4, 12)
COPIES = np.repeat(np.arange(12), W)


@pytest.mark.parametrize("name", METRICS)
def test_weights_are_repeated_rows(name):
    measure = METRICS[name].function
    found = measure(TRUTH, PREDICTED, sample_weight=W)
    assert found == pytest.approx(measure(TRUTH[COPIES], PREDICTED[COPIES]))
    assert found != measure(TRUTH, PREDICTED)
    assert evaluate(TRUTH, PREDICTED, [name], sample_weight=W) == {name: found}
    by_hand = np.average(measure.per_row(TRUTH, PREDICTED), weights=W)
    assert np.isnan(by_hand) or found == pytest.approx(by_hand)


def test_rows_that_count_may_have_no_value():
    only = np.where(np.arange(12) == 3, 1.0, 0.0)
    assert np.isnan(METRICS["cosine"].function(TRUTH, PREDICTED, sample_weight=only))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(12, -1.0), "sample_weight has -1 in row 0"),
        (np.ones(11), "There are 12 rows and 11 weights; give one weight per sample"),
        (np.zeros(12), "All weights in sample_weight are zero, so no row counts"),
        (np.ones((12, 1)), "must be 1-D"),
    ],
)
def test_wrong_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        evaluate(TRUTH, PREDICTED, sample_weight=weights)


def test_scorers_take_weights():
    class TableModel(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return PREDICTED

    found = scorer("chebyshev")(TableModel(), None, TRUTH, sample_weight=W)
    assert found == -METRICS["chebyshev"].function(TRUTH, PREDICTED, sample_weight=W)
