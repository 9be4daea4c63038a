"""Ridge and softmax regressions on weighted rows, beside repeated rows and other programs."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import Ridge

from inldl import hide
from inldl.solvers.masked_ridge import (
    fit_completed,
    leave_one_out,
    leave_one_out_errors,
    spread_of,
)
from inldl.solvers.softmax import MaskedSoftmax, eigenbasis, start_at_mean

RNG = np.random.default_rng(0)
ALPHAS = np.array([0.01, 1.0, 100.0])
Y = hide(RNG.dirichlet(np.ones(4), 40), 0.4, random_state=0)
W = RNG.integers(1, 5, 40).astype(float)
COPIES = np.repeat(np.arange(40), W.astype(int))


@pytest.fixture(params=[5, 60], ids=["tall", "wide"])
def features(request):
    return np.random.default_rng(1).normal(size=(40, request.param))


def left_out(features, alpha):
    """Return predictions without each row's own degrees, by scikit-learn."""
    out = np.empty(Y.shape)
    for i, j in np.ndindex(Y.shape):
        rows = np.flatnonzero(~np.isnan(Y[:, j]) & (np.arange(len(Y)) != i))
        model = Ridge(alpha).fit(features[rows], Y[rows, j], sample_weight=W[rows])
        out[i, j] = model.predict(features[i : i + 1])[0]
    return out


def test_rows_are_left_out_with_all_their_weight(features):
    expected = left_out(features, 0.5)
    found = leave_one_out(features, Y, 0.5, weights=W)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_errors_count_as_much_as_their_rows(features):
    found = leave_one_out_errors(features, Y, ALPHAS, weights=W)
    for alpha, error in zip(ALPHAS, found, strict=True):
        predicted = left_out(features, alpha)
        holes = np.isnan(Y)
        rest = 1 - np.nansum(Y, axis=1) - np.where(holes, predicted, 0).sum(axis=1)
        partial = holes.any(axis=1) & ~holes.all(axis=1)
        gaps = rest[partial] ** 2 / holes[partial].sum(axis=1)
        squares = np.nansum(W[:, None] * (Y - predicted) ** 2)
        np.testing.assert_allclose(error, squares + W[partial] @ gaps, rtol=1e-8)


def test_a_row_that_outweighs_all_others_gives_finite_numbers(features):
    heavy = np.where(np.arange(40) == 3, 1e20, 1.0)
    assert np.isfinite(leave_one_out(features, Y, 0.5, weights=heavy)).all()
    assert np.isfinite(leave_one_out_errors(features, Y, ALPHAS, weights=heavy)).all()


def test_completed_rows_are_fitted_as_if_repeated(features):
    raw = leave_one_out(features, Y, 0.5, weights=W)
    weighted = fit_completed(features, Y, raw, 0.5, max_iter=5, weights=W)
    repeated = fit_completed(features[COPIES], Y[COPIES], raw[COPIES], 0.5, max_iter=5)
    np.testing.assert_allclose(weighted[0], repeated[0], atol=1e-9)
    np.testing.assert_allclose(weighted[1], repeated[1], atol=1e-9)
    expected = spread_of(Y[COPIES], raw[COPIES])
    np.testing.assert_allclose(spread_of(Y, raw, W), expected)


def test_softmax_is_fitted_as_if_rows_were_repeated(features):
    found = []
    for X, y, weights in ((features, Y, W), (features[COPIES], Y[COPIES], None)):
        squares, basis = eigenbasis(X, weights)
        problem = MaskedSoftmax(X @ basis, squares, y, 0.5, weights)
        start = start_at_mean(y, X.shape[1], weights)
        V = problem.minimise(start, 500)
        values = [problem.value_and_gradient(at / problem.unit)[0] for at in (start, V)]
        found.append((squares, values, start[-1], basis @ V[:-1], V[-1]))
    for weighted, repeated in zip(*found, strict=True):
        np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-4)


def test_gradient_of_the_weighted_softmax(features):
    problem = MaskedSoftmax(features, np.ones(features.shape[1]), Y, 0.5, W)
    shape = (features.shape[1] + 1, 4)
    at = np.random.default_rng(2).normal(size=shape).ravel() / 10

    def value(u):
        return problem.value_and_gradient(u.reshape(shape))[0]

    def gradient(u):
        return problem.value_and_gradient(u.reshape(shape))[1].ravel()

    assert check_grad(value, gradient, at) < 1e-4 * np.linalg.norm(gradient(at))
