"""The solver against plain NumPy, whatever X is made of."""

import numpy as np
import pytest
from scipy import sparse

from inldl import WInLDL, hide
from inldl.rows.partial import close_single_holes
from inldl.solvers.linear import Rotation, ridge_solver
from inldl.solvers.winldl import lanes
from plain_numpy import close, winldl


def problem(n=300, k=7, C=4, seed=0, rate=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / k)
    return X, hide(y / y.sum(axis=1, keepdims=True), rate, random_state=seed)


def stacked(model):
    return np.vstack([model.coef_.T, model.intercept_])


SHAPES = [
    (300, 7, 4),
    (3000, 40, 6),
    (200, 3, 1),
    (150, 5, 80),
    (60, 90, 3),
    (60, 200, 3),
    (5, 1, 2),
]


@pytest.mark.parametrize("impute", [True, False])
@pytest.mark.parametrize(("n", "k", "C"), SHAPES)
def test_equals_plain_numpy(n, k, C, impute):
    X, y = problem(n, k, C, rate=0.3)
    W, n_iter = winldl(X, y, impute=impute)
    model = WInLDL(missing="impute" if impute else "zero").fit(X, y)
    assert model.n_iter_ == n_iter
    np.testing.assert_allclose(stacked(model), W, rtol=0, atol=1e-8)


def in_column_order(X):
    return np.asfortranarray(X)


def strided(X):
    return np.repeat(X, 2, axis=1)[:, ::2]


@pytest.mark.parametrize(
    "form", [in_column_order, strided, sparse.csr_array, sparse.csr_matrix, sparse.coo_array]
)
@pytest.mark.parametrize("shape", [(3000, 40, 6), (60, 200, 3)])
def test_form_of_X_does_not_matter(form, shape):
    X, y = problem(*shape)
    X = X * (np.random.default_rng(5).random(X.shape) < 0.3)
    expected, model = WInLDL().fit(X, y), WInLDL().fit(form(X), y)
    np.testing.assert_allclose(stacked(model), stacked(expected), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.predict(form(X)), expected.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("shape", [(3000, 40, 6), (60, 200, 3)])
def test_single_precision(shape):
    X, y = problem(*shape)
    double, single = WInLDL().fit(X, y), WInLDL().fit(X.astype(np.float32), y.astype(np.float32))
    predicted = single.predict(X.astype(np.float32))
    assert predicted.dtype == np.float32
    np.testing.assert_allclose(predicted, double.predict(X), rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
@pytest.mark.parametrize("shape", [(5000, 60, 6), (2500, 20, 70)])
def test_threads_change_nothing(n_jobs, shape):
    X, y = problem(*shape)
    serial, threaded = WInLDL().fit(X, y), WInLDL(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(stacked(threaded), stacked(serial))
    np.testing.assert_array_equal(
        threaded.history_["degree_change"], serial.history_["degree_change"]
    )


def test_rows_without_degrees_are_unlabelled_data():
    X, y = problem()
    y[::3] = np.nan
    W, _ = winldl(X, y)
    np.testing.assert_allclose(stacked(WInLDL().fit(X, y)), W, rtol=0, atol=1e-8)


def test_rank_deficient_features():
    X, y = problem()
    twice = np.hstack([X, X, np.zeros((len(X), 2))])
    for ridge in (1e-5, 0.0):
        once = WInLDL(ridge=ridge / 2).fit(X, y).predict(X)
        again = WInLDL(ridge=ridge).fit(twice, y).predict(twice)
        np.testing.assert_allclose(again, once, rtol=0, atol=1e-5)


def test_stops_when_nothing_changes():
    X, y = problem(rate=0.0)
    model = WInLDL(max_iter=500, tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 500
    assert model.history_["coef_change"][-1] < 1e-6
    assert model.history_["degree_change"][-1] < 1e-6
    assert all(len(column) == model.n_iter_ for column in model.history_.values())


def test_without_intercept_and_closing():
    X, y = problem()
    model = WInLDL(fit_intercept=False).fit(X, y)
    assert not model.intercept_.any()
    X1 = np.column_stack([X, np.ones(len(X))])
    bias = WInLDL(fit_intercept=False).fit(X1, y)
    np.testing.assert_allclose(bias.coef_.T, stacked(WInLDL().fit(X, y)), rtol=0, atol=1e-9)
    open_, closed_ = WInLDL(close_rows=False).fit(X, y), WInLDL().fit(X, y)
    assert np.abs(open_.coef_ - closed_.coef_).max() > 1e-4
    by_hand = WInLDL(close_rows=False).fit(X, close(y))
    np.testing.assert_array_equal(by_hand.coef_, closed_.coef_)


def test_closing_a_row():
    y = np.array([[0.2, np.nan, 0.3], [0.9, 0.4, np.nan], [np.nan, np.nan, 0.1], [0.2, 0.3, 0.5]])
    expected = y.copy()
    expected[0, 1], expected[1, 2] = 0.5, 0.0
    np.testing.assert_allclose(close_single_holes(y), expected)
    np.testing.assert_array_equal(close_single_holes(y), close(y))
    assert np.isnan(y[0, 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "C"), [(1, 1), (64, 3), (100, 68), (129, 5), (40, 5000)])
def test_lanes_hold_every_row(n, C, dtype):
    parts = np.random.default_rng(0).random((2, n, C)).astype(dtype)
    held = lanes(parts, dtype)
    assert held.flags.c_contiguous
    assert held.ctypes.data % 64 == 0
    rows = held.transpose(2, 0, 3, 1).reshape(2, -1, C)
    np.testing.assert_array_equal(rows[:, :n], parts)
    assert not rows[:, n:].any()


def test_ridge_solver_takes_the_smallest_solution_of_a_singular_system():
    A = np.random.default_rng(0).normal(size=(4, 9))
    M = np.random.default_rng(1).normal(size=(2, 4)) @ A
    np.testing.assert_allclose(
        ridge_solver(A.T @ A, 0.0)(M), M @ np.linalg.pinv(A.T @ A), atol=1e-10
    )


def test_rotation_keeps_all_inner_products():
    X = np.random.default_rng(0).normal(size=(8, 50))
    rotation = Rotation(X, True)
    T = rotation.features
    np.testing.assert_allclose(T @ T.T, X @ X.T + 1, atol=1e-10)
    W = np.random.default_rng(1).normal(size=(3, T.shape[1]))
    coef, intercept = rotation.coef(W)
    np.testing.assert_allclose(X @ coef.T + intercept, T @ W.T, atol=1e-10)


def test_single_precision_leaves_out_what_it_cannot_resolve():
    """Columns that sum to the bias column, and one of tiny units, which is not left out."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    X = np.column_stack(
        [rng.normal(size=400), group == 0, group == 1, rng.normal(size=400) * 1e-3]
    )
    y = rng.dirichlet(np.ones(3), 400)
    y[:, 0] = 0.5 + 0.4 * X[:, 3] / np.abs(X[:, 3]).max()
    y[:, 1:] *= ((1 - y[:, 0]) / y[:, 1:].sum(axis=1))[:, None]
    double, single = (WInLDL().fit(X.astype(kind), y) for kind in (np.float64, np.float32))
    assert double.n_iter_ == single.n_iter_
    np.testing.assert_allclose(single.predict(X), double.predict(X), rtol=0, atol=5e-6)
    assert np.corrcoef(double.predict(X)[:, 0], y[:, 0])[0, 1] > 0.9
