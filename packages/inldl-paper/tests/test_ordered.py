"""Metrics of ordered labels, against SciPy, scikit-learn and small cases by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata, wasserstein_distance
from sklearn.metrics import top_k_accuracy_score

from inldl.metrics import EXTRA_METRICS, METRICS, evaluate, scorer
from inldl_paper import ordered


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(6), 40), rng.dirichlet(np.ones(6), 40)


def test_earth_movers_distance_is_that_of_scipy(pair):
    places = np.arange(6)
    expected = [wasserstein_distance(places, places, p, q) for p, q in zip(*pair, strict=True)]
    np.testing.assert_allclose(ordered.earth_mover.per_row(*pair), expected)


def test_ranked_probability_of_one_label_is_its_score(pair):
    """E|q - x| - E|q - q'| / 2 for independent draws of q."""
    q = pair[1]
    gaps = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    for label in range(6):
        truth = np.tile(np.eye(6)[label], (40, 1))
        expected = q @ gaps[label] - np.einsum("ij,jk,ik->i", q, gaps, q) / 2
        np.testing.assert_allclose(ordered.ranked_probability.per_row(truth, q), expected)


def test_label_error_is_the_error_of_the_mean(pair):
    p, q = pair
    expected = np.abs(p @ np.arange(6) - q @ np.arange(6))
    np.testing.assert_allclose(ordered.label_error.per_row(p, q), expected)
    assert (expected <= ordered.earth_mover.per_row(p, q) + 1e-12).all()


@pytest.mark.parametrize(("name", "most"), [("zero_one", 1), ("top_3", 3)])
def test_largest_labels_are_those_of_scikit_learn(pair, name, most):
    p, q = pair
    found = top_k_accuracy_score(p.argmax(axis=1), q, k=most, labels=range(6))
    ours = EXTRA_METRICS[name].function(p, q)
    assert (1 - ours if name == "zero_one" else ours) == pytest.approx(found)


def test_order_match_is_that_of_ranks(pair):
    ranks = [rankdata(-rows, axis=1) for rows in pair]
    expected = (ranks[0] == ranks[1]).mean(axis=1)
    np.testing.assert_allclose(ordered.order_match.per_row(*pair), expected)


@pytest.mark.parametrize("name", ordered.__all__)
def test_they_are_known_by_name_and_left_out_by_default(pair, name):
    p, q = pair
    assert name in EXTRA_METRICS
    assert name not in METRICS
    assert name not in evaluate(p, q)
    assert list(evaluate(p, q, [name, "cosine"])) == [name, "cosine"]
    assert EXTRA_METRICS[name].function(p, p) == EXTRA_METRICS[name].perfect
    assert callable(scorer(name))
    holes = p.copy()
    holes[0, 0] = np.nan
    values = EXTRA_METRICS[name].function.per_row(holes, q)
    assert np.isnan(values[0])
    assert np.isfinite(values[1:]).all()


def test_labels_that_share_the_largest_degree_are_all_right():
    assert ordered.zero_one([[0.5, 0.5, 0.0]], [[0.1, 0.8, 0.1]]) == 0
    assert ordered.order_match([[0.5, 0.5, 0.0]], [[0.6, 0.4, 0.0]]) == pytest.approx(2 / 3)
