"""The ridge that degrees choose which are left out: against brute force, and other formulas."""

import numpy as np
import pytest
from scipy import sparse

from inldl import hide
from inldl.engines.local import LocalEngine, MemoryRows
from inldl.solvers.chosen_ridge import ALPHA_STEPS, ChosenRidgeProblem
from inldl.solvers.linear import FeatureSums, Regression, RowWeights
from inldl.solvers.masked_ridge import leave_one_out_errors
from inldl.weighting import get_weighting

RNG = np.random.default_rng(0)
N, K, C = 30, 4, 3
X = RNG.normal([0, 5, 0, 0], size=(N, K))
TRUTH = RNG.dirichlet(np.ones(C), N)
Y = hide(TRUTH, 0.5, random_state=0)
WEIGHTS = RNG.uniform(0.5, 2, N)
ALPHAS = np.array([1e-3, 0.3, 20.0])


def problem(**changes):
    given = {
        "weighting": get_weighting("degree"),
        "impute": True,
        "rho": 2.0,
        "max_iter": 50,
        "ridge": 0.0,
        "fit_intercept": True,
        "close_rows": False,
    }
    return ChosenRidgeProblem(**given | changes)


def chosen(X, y, weights=None, alphas=None, **changes):
    """Return the ridge, and the errors of all alphas that were tried."""
    beside = {} if weights is None else {"sample_weight": weights[:, None]}
    seen = {}

    def sweep(step, *message):
        if step == "misses":
            labels, tried, *rest = message
            seen["alphas"] = tried if alphas is None else alphas
            seen["errors"] = engine.sweep(step, labels, seen["alphas"], *rest).added[0]
        return engine.sweep(step, *message)

    with LocalEngine() as engine:
        method = problem(**changes)
        shared = method.first(engine.load(method, MemoryRows(X, y, arrays=beside)), sweep)
    return shared.regression.ridge, seen


def ridge_prediction(X, y, weights, x, alpha, bias):
    """Predict x by weighted ridge regression, the bias as a column that is not penalised."""
    if bias:
        X, x = np.column_stack([X, np.ones(len(X))]), np.append(x, 1.0)
    penalty = alpha * np.eye(X.shape[1])
    if bias:
        penalty[-1, -1] = 0
    return x @ np.linalg.solve((X.T * weights) @ X + penalty, (X.T * weights) @ y)


def brute_force(X, y, weights, alpha, bias):
    """Fit again without each degree; compare the sums of holes with what a row leaves for them."""
    total, predicted = 0.0, np.zeros(y.shape)
    for j in range(y.shape[1]):
        seen = ~np.isnan(y[:, j])
        for i in range(len(y)):
            kept = seen & (np.arange(len(y)) != i)
            args = X[kept], y[kept, j], weights[kept], X[i], alpha, bias
            predicted[i, j] = ridge_prediction(*args)
        total += weights[seen] @ (y[seen, j] - predicted[seen, j]) ** 2
    holes = np.isnan(y)
    partial = holes.any(axis=1) & ~holes.all(axis=1)
    rest = np.maximum(1 - np.nansum(y, axis=1), 0)
    gaps = (rest - np.where(holes, predicted, 0).sum(axis=1)) ** 2
    return total + (weights * gaps)[partial] @ (1 / holes.sum(axis=1)[partial])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["plain", "weighted"])
def test_errors_are_those_of_fits_without_each_degree(weights, bias):
    _, seen = chosen(X, Y, weights, ALPHAS, fit_intercept=bias)
    expected = [brute_force(X, Y, weights, alpha, bias) for alpha in ALPHAS]
    np.testing.assert_allclose(seen["errors"], expected, rtol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_errors_are_those_of_rows_in_memory(weights):
    _, seen = chosen(X, Y, weights)
    expected = leave_one_out_errors(X, Y, seen["alphas"], weights=weights)
    np.testing.assert_allclose(seen["errors"], expected, rtol=1e-9)


def test_rows_without_weight_say_nothing():
    weights = np.where(np.arange(N) % 3, 1.0, 0.0)
    kept = np.flatnonzero(weights)
    assert chosen(X, Y, weights)[0] == pytest.approx(chosen(X[kept], Y[kept])[0], rel=1e-12)


@pytest.mark.parametrize("kind", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_sparse_and_single_precision(kind):
    found, expected = chosen(kind(X), Y, alphas=ALPHAS), chosen(X, Y, alphas=ALPHAS)
    np.testing.assert_allclose(found[1]["errors"], expected[1]["errors"], rtol=1e-4)


def test_closed_rows_are_observed():
    ridge, seen = chosen(X, Y, close_rows=True)
    single = np.isnan(Y).sum(axis=1) == 1
    assert single.any()
    filled = np.where(single[:, None], TRUTH, Y)
    expected = leave_one_out_errors(X, filled, seen["alphas"])
    np.testing.assert_allclose(seen["errors"], expected, rtol=1e-9)
    assert ridge == pytest.approx(chosen(X, filled)[0])


def test_the_ridge_is_the_best_alpha_in_the_weights_of_winldl():
    ridge, seen = chosen(X, Y)
    best = seen["alphas"][np.argmin(seen["errors"])]
    weights = np.mean(4 ** (1 - Y[~np.isnan(Y)]))
    assert ridge == pytest.approx(best * weights / 2, rel=1e-9)
    assert chosen(X, Y, rho=8.0)[0] == pytest.approx(ridge / 4, rel=1e-9)
    uniform, _ = chosen(X, Y, weighting=get_weighting("uniform"))
    assert uniform == pytest.approx(best / 2, rel=1e-9)


def test_limited_rows_are_counted_as_they_are_observed():
    upper = np.where(np.isnan(Y), np.minimum(TRUTH + 0.1, 1), np.nan)
    rows = MemoryRows(X, Y, arrays={"upper": upper})
    with LocalEngine() as engine:
        method = problem()
        found = method.first(engine.load(method, rows), engine.sweep)
    assert found.regression.ridge == pytest.approx(chosen(X, Y)[0], rel=1e-12)


def test_units_of_the_features_do_not_matter():
    assert chosen(1000 * X, Y)[0] == pytest.approx(1e6 * chosen(X, Y)[0], rel=1e-6)


def test_features_that_tell_nothing():
    ridge, seen = chosen(np.ones((N, 2)), Y)
    assert ridge > ALPHA_STEPS[-1]  # all are as good: the largest, times the mean of the weights
    assert np.isfinite(seen["errors"]).all()


def test_some_of_many_labels_choose_for_all():
    y = hide(RNG.dirichlet(np.ones(7), N), 0.3, random_state=0)
    ridge, seen = chosen(X, y, gram_entries=5 * K**2)
    # A column alone has no row with both holes and degrees: sums of holes do not count.
    some = (0, 2, 3, 4, 6)
    expected = sum(leave_one_out_errors(X, y[:, [j]], seen["alphas"]) for j in some)
    np.testing.assert_allclose(seen["errors"], expected, rtol=1e-9)
    assert ridge > 0


def test_a_free_bias_is_the_regression_on_centred_features():
    moments, total = (X.T @ TRUTH).T, TRUTH.sum(axis=0)
    sums = FeatureSums.of(X, RowWeights(None, X.dtype))
    coef, intercept = Regression(sums, 3.0, True, free=True)(moments, total)
    centred, means = X - X.mean(axis=0), TRUTH.mean(axis=0)
    expected = np.linalg.solve(centred.T @ centred + 3 * np.eye(K), centred.T @ (TRUTH - means))
    np.testing.assert_allclose(coef, expected.T, atol=1e-12)
    np.testing.assert_allclose(intercept, means - X.mean(axis=0) @ expected, atol=1e-12)
