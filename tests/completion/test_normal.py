"""The normal member: what it learns of rows with holes, and what it fills in."""

import numpy as np
import pytest

from inldl import hide
from inldl.completion import normal
from inldl.completion.normal import Normal
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import centred, error_covariance


def linear(n=400, seed=0):
    """Return a feature, degrees that follow it and each other, and a prediction of their means."""
    rng = np.random.default_rng(seed)
    x, shared = rng.normal(size=(2, n, 1))
    y = 0.25 + x * [0.03, -0.03, 0.02, -0.02] + shared * [0.02, 0.01, -0.02, -0.01]
    y += centred(np.eye(4))[rng.integers(0, 4, n)] * 0.004 * rng.normal(size=(n, 1))
    return x, y, np.tile(y.mean(axis=0), (n, 1))


def error(filled, truth, y):
    several = np.isnan(y) & (np.isnan(y).sum(axis=1) > 1)[:, None]
    return np.sqrt(np.mean((filled - truth)[several] ** 2))


def test_without_holes_it_is_a_penalised_regression():
    """With all degrees seen, one step is exact: ridge, and the covariance of what is left."""
    x, y, mean = linear()
    found, known = Normal(PartialRows(y, features=x), mean), np.hstack([np.ones((400, 1)), x])
    known[:, 1] = (known[:, 1] - x.mean()) / x.std()
    kept = [0, -1]  # predictions that do not vary say nothing
    expected = np.linalg.solve(known.T @ known + normal.PENALTY * np.eye(2), known.T @ (y - mean))
    np.testing.assert_allclose(np.abs(found.coef[kept]), np.abs(expected), atol=1e-6)
    apart = y - mean - known @ expected
    np.testing.assert_allclose(found.covariance, apart.T @ apart / 400, rtol=0.1, atol=2e-6)


def test_features_and_other_degrees_tell_the_missing_ones():
    x, truth, mean = linear()
    y = hide(truth, 0.4, random_state=0)
    fills = [
        Normal(rows, mean).fill(rows, mean)[0]
        for rows in (PartialRows(y, features=x), PartialRows(y))
    ]
    errors = [error(filled, truth, y) for filled in fills]
    assert errors[0] < 0.7 * errors[1] < 0.7 * error(mean, truth, y)


def test_the_covariance_of_rows_with_holes_is_nearer_to_the_true_one_than_that_of_pairs():
    _, truth, mean = linear(150)
    real = np.cov(truth.T, bias=True)
    y = hide(truth, 0.6, random_state=1)
    pairs, fitted = error_covariance(y - mean), Normal(PartialRows(y), mean).covariance
    assert np.linalg.norm(fitted - real) < np.linalg.norm(pairs - real)


def test_many_labels_have_the_covariance_of_pairs():
    _, truth, mean = linear(100)
    y = hide(truth, 0.5, random_state=3)
    found = Normal(PartialRows(y), mean, work=4**3 * 15)  # 15 rows, less than four for each label
    np.testing.assert_array_equal(found.covariance, error_covariance(y - mean))


@pytest.mark.parametrize("n", [1, 3, 20])
def test_rows_that_are_all_alike(n):
    y = np.tile([0.2, np.nan, np.nan, 0.1], (n, 1))
    mean = np.tile([0.2, 0.4, 0.3, 0.1], (n, 1))
    np.testing.assert_allclose(Normal(PartialRows(y), mean).fill(PartialRows(y), mean)[0], mean)
