"""The cross-entropy against finite differences and another solver."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from inldl_paper.solvers.linear_scores import Features
from inldl_paper.solvers.maximum_entropy import CrossEntropy, minimise_cross_entropy


def make(n=30, k=4, C=3, seed=0, holes=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    y = rng.dirichlet(np.ones(C), size=n)
    return X, np.where(rng.random((n, C)) < holes, np.nan, y), rng


def plain(X, y, V, l2):
    """Return F as the formula is written, with the bias as a column of ones."""
    ones = np.column_stack([X, np.ones(len(X))])[:, : len(V)]
    return -np.nansum(y * log_softmax(ones @ V, axis=1)) + l2 / 2 * (V**2).sum()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_value_and_gradient(fit_intercept, l2):
    X, y, rng = make()
    y[3] = np.nan
    features = Features(X, fit_intercept)
    problem = CrossEntropy(features, y, l2)
    V = rng.normal(size=(features.n_parameters, 3))
    value, gradient = problem.value_and_gradient(V)
    assert value == pytest.approx(plain(X, y, V, l2), rel=1e-12)
    numeric = np.empty_like(V)
    for at in np.ndindex(V.shape):
        step = np.zeros_like(V)
        step[at] = 1e-5
        numeric[at] = (plain(X, y, V + step, l2) - plain(X, y, V - step, l2)) / 2e-5
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)


def test_minimum_is_the_one_of_another_solver():
    X, y, _ = make()
    problem = CrossEntropy(Features(X, True), y, 0.1)
    result = minimise_cross_entropy(problem, np.zeros((5, 3)), max_iter=500, tol=1e-14)
    other = minimize(
        lambda v: plain(X, y, v.reshape(5, 3), 0.1), np.zeros(15), method="BFGS", tol=1e-6
    )
    assert result.converged
    np.testing.assert_allclose(result.shared.ravel(), other.x, rtol=0, atol=1e-5)
    assert result.n_iter == len(result.history["objective"])
    assert np.all(np.diff(result.history["objective"]) <= 0)
    assert result.history["objective"][-1] == problem.value_and_gradient(result.shared)[0]


def test_no_iteration_keeps_the_start():
    X, y, _ = make()
    features = Features(X, True)
    start = features.start("eye", 3)
    np.testing.assert_array_equal(start, np.vstack([np.eye(4, 3), np.zeros(3)]))
    result = minimise_cross_entropy(CrossEntropy(features, y), start, max_iter=0, tol=0.0)
    assert (result.n_iter, result.converged) == (0, False)
    np.testing.assert_array_equal(result.shared, start)
    assert result.history["objective"].shape == (0,)


def test_a_start_that_is_the_minimum_counts_as_one_iteration():
    X, y = make(C=1, holes=0)[:2]
    result = minimise_cross_entropy(
        CrossEntropy(Features(X, True), y), np.zeros((5, 1)), max_iter=9, tol=0.0
    )
    assert (result.n_iter, result.converged) == (1, True)
    np.testing.assert_array_equal(result.history["objective"], [0.0])


def test_float32_features_stay_and_parameters_are_double():
    X, y, rng = make()
    single, V = Features(X.astype(np.float32), True), rng.normal(size=(5, 3))
    assert single.X.dtype == np.float32
    for ours, exact in [
        (single.scores(V), Features(X, True).scores(V)),
        (single.moments(V[[0] * 30]), Features(X, True).moments(V[[0] * 30])),
    ]:
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, exact, rtol=1e-4, atol=1e-5)
    result = minimise_cross_entropy(
        CrossEntropy(single, y, 0.1), np.zeros((5, 3)), max_iter=400, tol=2e-9
    )
    assert result.converged
    assert result.shared.dtype == np.float64


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e200), (np.float32, 1e37)])
def test_features_that_overflow_are_refused(dtype, size):
    with pytest.raises(ValueError, match="squares of the features overflow; scale X"):
        Features(np.full((20, 20), -size, dtype), True)
