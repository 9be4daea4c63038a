"""Leave-one-out in closed form against refits, and completion against its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import (
    CHUNK,
    fit_completed,
    leave_one_out,
    leave_one_out_errors,
    leave_out_folds,
    spread_of,
)

nan = np.nan
ALPHAS = np.array([1e-4, 1e-2, 1.0, 100.0])


def problem(n=30, m=6, C=4, rate=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.dirichlet(np.ones(C), n)
    y[rng.random((n, C)) < rate] = nan
    y[:3] = 1 / C  # each label is observed at least three times
    return rng.normal(size=(n, m)) + 3, y


def refits(features, y, alpha, some=None):
    """Fit scikit-learn's ridge again for each row, or some, and label, without that row."""
    out = np.full_like(y, nan)
    for i, j in product(range(len(y)) if some is None else some, range(y.shape[1])):
        rows = np.flatnonzero(~np.isnan(y[:, j]) & (np.arange(len(y)) != i))
        model = Ridge(alpha, solver="svd").fit(features[rows], y[rows, j])
        out[i, j] = model.predict(features[[i]])[0]
    return out


@pytest.mark.parametrize("m", [1, 6, 60], ids=["one feature", "tall", "wide"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_leave_one_out_equals_refits(m, alpha):
    features, y = problem(m=m)
    expected = refits(features, y, alpha)
    np.testing.assert_allclose(leave_one_out(features, y, alpha), expected, atol=1e-8)


def test_errors_are_those_of_refits():
    features, y = problem()
    holes = np.isnan(y)
    count = np.where(holes.all(axis=1), 0, holes.sum(axis=1))
    expected = []
    for alpha in ALPHAS:
        predicted = refits(features, y, alpha)
        gaps = 1 - np.nansum(y, axis=1) - np.where(holes, predicted, 0).sum(axis=1)
        sums = gaps[count > 0] ** 2 / count[count > 0]
        expected.append(np.nansum((predicted - y) ** 2) + sums.sum())
    np.testing.assert_allclose(leave_one_out_errors(features, y, ALPHAS), expected, rtol=1e-8)


def test_without_holes_only_residuals_count():
    features, y = problem(rate=0)
    expected = [((refits(features, y, alpha) - y) ** 2).sum() for alpha in ALPHAS]
    np.testing.assert_allclose(leave_one_out_errors(features, y, ALPHAS), expected, rtol=1e-8)


def test_chunks_and_threads_change_nothing():
    features, y = problem(n=3 * CHUNK)
    found, some = leave_one_out(features, y, 0.1), [0, CHUNK + 1, len(y) - 1]
    np.testing.assert_array_equal(leave_one_out(features, y, 0.1, n_jobs=2), found)
    expected = refits(features, y, 0.1, some)
    np.testing.assert_allclose(found[some], expected[some], atol=1e-12)
    holes = np.isnan(y)
    some = ~holes.all(axis=1) & holes.any(axis=1)
    gaps = 1 - np.nansum(y, axis=1) - np.where(holes, found, 0).sum(axis=1)
    squares = np.nansum((found - y) ** 2) + (gaps[some] ** 2 / holes[some].sum(axis=1)).sum()
    np.testing.assert_allclose(leave_one_out_errors(features, y, np.array([0.1])), squares)


def test_a_row_does_not_see_its_own_degrees():
    features, y = problem()
    before = leave_one_out(features, y, 0.1)
    y[5] = [0.9, 0.1, nan, 7.0]
    after = leave_one_out(features, y, 0.1)
    np.testing.assert_allclose(after[5], before[5], atol=1e-9)
    assert np.abs(after[6] - before[6]).max() > 1e-4


def test_labels_of_which_little_is_known():
    features, y = problem(n=5, C=4)
    y[:, :2] = nan
    y[2, 0] = 0.7
    found = leave_one_out(features, y, 1.0)
    np.testing.assert_allclose(found[:, 0], [0.7, 0.7, 0.25, 0.7, 0.7])
    np.testing.assert_allclose(found[:, 1], 0.25)
    assert np.isfinite(found).all()
    assert np.isfinite(leave_one_out_errors(features, y, ALPHAS)).all()


def test_complete_degrees_need_one_ridge():
    features, y = problem(rate=0)
    held_out = leave_one_out(features, y, 0.5)
    coef, intercept, n_iter = fit_completed(features, y, held_out, 0.5, max_iter=10)
    expected = Ridge(0.5).fit(features, y)
    assert n_iter == 1
    np.testing.assert_allclose(coef, expected.coef_.T, atol=1e-10)
    np.testing.assert_allclose(intercept, expected.intercept_, atol=1e-10)


def test_completion_is_a_fixed_point():
    features, y = problem(n=60)
    y = PartialRows(y).forced()
    raw = leave_one_out(features, y, 1.0)
    limits = {"max_iter": 1000, "tol": 1e-10}
    coef, intercept, n_iter = fit_completed(features, y, raw, 1.0, **limits)
    assert n_iter < 1000
    completed = PartialRows(y).project(features @ coef + intercept, spread_of(y, raw))
    model = Ridge(1.0).fit(features, completed)
    np.testing.assert_allclose(coef, model.coef_.T, atol=1e-8)
    again = PartialRows(y).project(model.predict(features), spread_of(y, raw))
    np.testing.assert_allclose(again, completed, atol=1e-8)


def test_spread_of_observed_residuals():
    y = np.array([[0.5, nan, nan], [0.1, 0.2, nan]])
    np.testing.assert_allclose(spread_of(y, np.zeros((2, 3)))[:2], [0.13, 0.04])
    assert spread_of(y, np.zeros((2, 3)))[2] > 0


# --- what the sum forces ----------------------------------------------------------------------


def test_fill_forced():
    y = np.array(
        [
            [0.2, nan, 0.5],
            [0.6, nan, 0.7],
            [1.0, nan, nan],
            [0.4, 0.600001, nan],
            [0.4, nan, nan],
            [nan, nan, nan],
            [0.0, nan, nan],
        ]
    )
    expected = [
        [0.2, 0.3, 0.5],
        [0.6, 0, 0.7],
        [1, 0, 0],
        [0.4, 0.600001, 0],
        [0.4, nan, nan],
        [nan, nan, nan],
        [0, nan, nan],
    ]
    np.testing.assert_allclose(PartialRows(y).forced(), expected, atol=1e-12)
    assert np.isnan(y).sum() == 12  # what was given stays as it was
    assert PartialRows(y.astype(np.float32)).forced().dtype == np.float64


@given(st.integers(0, 10_000))
def test_filled_rows_sum_to_one(seed):
    rng = np.random.default_rng(seed)
    y = rng.dirichlet(np.full(5, 0.3), 20)
    given_ = ~(rng.random(y.shape) < 0.6)
    holes = PartialRows(np.where(given_, y, nan)).forced()
    filled = PartialRows(holes).project(rng.normal(size=y.shape), rng.random(5) + 1e-3)
    assert filled.min() >= -1e-15
    np.testing.assert_allclose(filled.sum(axis=1), 1, atol=2e-5)
    np.testing.assert_array_equal(filled[given_], y[given_])


def test_labels_that_are_hard_to_predict_give_way():
    y = np.array([[0.2, nan, nan, nan]])
    filled = PartialRows(y).project(np.array([[9, 0.1, 0.2, 0.2]]), np.array([5.0, 1.0, 2.0, 0.0]))
    np.testing.assert_allclose(filled, [[0.2, 0.2, 0.4, 0.2]])


def test_filling_minimises_the_weighted_distance_when_nothing_is_negative():
    predicted, spread = np.array([[0.2, 0.1, 0.4]]), np.array([0.5, 1.0, 3.0])
    found = PartialRows(np.full((1, 3), nan)).project(predicted, spread)
    expected = minimize(
        lambda z: ((z - predicted[0]) ** 2 / spread).sum(),
        np.ones(3) / 3,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        tol=1e-13,
    )
    np.testing.assert_allclose(found[0], expected.x, atol=1e-5)


def test_rows_over_one_leave_nothing_to_fill():
    np.testing.assert_array_equal(
        PartialRows(np.array([[0.7, 0.6, nan]])).project(np.ones((1, 3)), np.ones(3)),
        [[0.7, 0.6, 0]],
    )


def test_projected():
    np.testing.assert_allclose(projected(np.array([[2, 0.0], [0.7, 0.7]])), [[1, 0], [0.5, 0.5]])


def test_folds_are_left_out_together():
    """As scikit-learn's ridge regression predicts each fold from the rows of the others."""
    features, y = problem()
    fold = np.arange(len(y)) % 3
    found = leave_out_folds(features, y, np.array([0.1, 3.0]), fold)
    for i, alpha in enumerate((0.1, 3.0)):
        for j, test in product(range(y.shape[1]), range(3)):
            train = (fold != test) & ~np.isnan(y[:, j])
            ridge = Ridge(alpha).fit(features[train], y[train, j])
            np.testing.assert_allclose(
                found[i, fold == test, j], ridge.predict(features[fold == test])
            )
    errors = leave_one_out_errors(features, y, np.array([0.1, 3.0]), fold=fold)
    for error, predicted in zip(errors, found, strict=True):
        known, there = PartialRows(y).cells(predicted)
        assert error == pytest.approx(np.nansum((known - there) ** 2))
