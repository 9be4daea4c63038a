"""The masked softmax of labels in order, whose neighbours have similar coefficients."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import log_softmax, softmax

from inldl.solvers.softmax import MaskedSoftmax, start_at_mean

C, M, ALPHA, SMOOTHNESS = 5, 2, 0.3, 7.0


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(C), 25)
    y[rng.random(y.shape) < 0.4] = np.nan
    features = rng.normal(size=(25, M))
    built = MaskedSoftmax(features, (features**2).sum(axis=0), y, ALPHA, smoothness=SMOOTHNESS)
    return features, y, built


def objective(v, features, y):
    """Return the objective, written down once more."""
    V = v.reshape(-1, C)
    logits = features @ V[:-1] + V[-1]
    loss = (softmax(logits, axis=1) - y * log_softmax(logits, axis=1))[~np.isnan(y)].sum()
    W = V[:-1]
    curves = W[:, :-2] - 2 * W[:, 1:-1] + W[:, 2:]
    return loss + ALPHA / 2 * ((W**2).sum() + SMOOTHNESS * (curves**2).sum())


def test_value_and_gradient(problem):
    features, y, built = problem
    U = np.random.default_rng(1).normal(size=(M + 1, C))
    value, _ = built.value_and_gradient(U)
    assert value == pytest.approx(objective(built.unit * U @ built.mix, features, y))
    error = check_grad(
        lambda u: built.value_and_gradient(u.reshape(U.shape))[0],
        lambda u: built.value_and_gradient(u.reshape(U.shape))[1].ravel(),
        U.ravel(),
    )
    assert error < 1e-5


def test_optimum(problem):
    features, y, built = problem
    found = built.minimise(start_at_mean(y, M), 1000)
    start = np.zeros((M + 1) * C)
    other = minimize(objective, start, (features, y), method="BFGS", tol=1e-8)
    assert objective(found, features, y) <= other.fun + 1e-7


def test_in_the_limit_scores_are_linear_from_label_to_label(problem):
    features, y, _ = problem
    built = MaskedSoftmax(features, np.ones(M), y, ALPHA, smoothness=1e12)
    W = built.minimise(start_at_mean(y, M), 1000)[:-1]
    np.testing.assert_allclose(np.diff(W, n=2, axis=1), 0, atol=1e-4)
    assert np.abs(np.diff(W, axis=1)).max() > 0.01
