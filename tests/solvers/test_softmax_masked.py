"""The masked softmax objective against finite differences and another optimiser."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import log_softmax, softmax

from inldl.solvers.softmax import MaskedSoftmax, Network, as_layers, eigenbasis, start_at_mean

nan = np.nan


def problem(n=25, m=3, C=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.dirichlet(np.ones(C), n)
    y[rng.random((n, C)) < 0.5] = nan
    y[0] = nan
    features = rng.normal(size=(n, m)) * [10, 1, 0.1]
    return features, y


def objective(v, features, y, alpha):
    """Return the objective, written down once more."""
    V = v.reshape(-1, y.shape[1])
    logits = features @ V[:-1] + V[-1]
    q, log_q = softmax(logits, axis=1), log_softmax(logits, axis=1)
    seen = ~np.isnan(y)
    return (q - y * log_q)[seen].sum() + alpha / 2 * (V[:-1] ** 2).sum()


def masked_softmax(features, y, alpha):
    return MaskedSoftmax(features, (features**2).sum(axis=0), y, alpha)


def test_value_and_gradient():
    features, y = problem()
    built, rng = masked_softmax(features, y, 0.3), np.random.default_rng(1)
    for _ in range(5):
        U = rng.normal(size=(4, 4))
        value = built.value_and_gradient(U)[0]
        assert value == pytest.approx(objective((built.unit * U).ravel(), features, y, 0.3))
        error = check_grad(
            lambda u: built.value_and_gradient(u.reshape(4, 4))[0],
            lambda u: built.value_and_gradient(u.reshape(4, 4))[1].ravel(),
            U.ravel(),
        )
        assert error < 1e-5


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_optimum(alpha):
    features, y = problem()
    found = masked_softmax(features, y, alpha).minimise(start_at_mean(y, 3), 1000)
    other = minimize(objective, np.zeros(16), (features, y, alpha), method="BFGS", tol=1e-8)
    assert objective(found.ravel(), features, y, alpha) <= other.fun + 1e-7
    expected = softmax(features @ other.x.reshape(4, 4)[:-1] + other.x[-4:], axis=1)
    np.testing.assert_allclose(softmax(features @ found[:-1] + found[-1], axis=1), expected,
                               atol=2e-3)  # fmt: skip


def test_what_is_unobserved_has_no_influence():
    features, y = problem()
    built = masked_softmax(features, y, 0.1)
    U = np.random.default_rng(0).normal(size=(4, 4))
    fewer = masked_softmax(features[1:], y[1:], 0.1)  # nothing of the first row is observed
    np.testing.assert_allclose(
        built.value_and_gradient(U)[0], fewer.value_and_gradient(built.unit * U / fewer.unit)[0]
    )


def test_start_is_the_mean():
    y = np.array([[0.5, nan, nan, nan], [0.1, 0.0, nan, -3.0]])
    V = start_at_mean(y, 2)
    assert not V[:-1].any()
    expected = np.array([0.3, 1e-6, 0.25, 1e-6])
    np.testing.assert_allclose(softmax(V[-1]), expected / expected.sum())


def test_eigenbasis():
    features, _ = problem()
    squares, basis = eigenbasis(features)
    rotated = features @ basis
    np.testing.assert_allclose(rotated.T @ rotated, np.diag(squares), atol=1e-9 * squares.max())


def test_ratios_have_their_own_likelihood():
    """Of ratios, the softmax over the observed labels of a row is judged, whatever their scale."""
    features, y = problem()
    y = y / np.nansum(y, axis=1, keepdims=True)
    built = MaskedSoftmax(features, (features**2).sum(axis=0), y, 0.3, ratios=True)
    rng, told = np.random.default_rng(1), ~np.isnan(y).all(axis=1)

    def conditional(u):
        V = built.unit * u.reshape(4, 4)
        logits = np.where(np.isnan(y), -np.inf, features @ V[:-1] + V[-1])[told]
        likelihood = np.where(np.isnan(y[told]), 0, y[told] * log_softmax(logits, axis=1)).sum()
        return told.sum() - likelihood + 0.3 / 2 * (V[:-1] ** 2).sum()

    for _ in range(5):
        U = rng.normal(size=(4, 4))
        assert built.value_and_gradient(U)[0] == pytest.approx(conditional(U.ravel()))
        error = check_grad(
            conditional,
            lambda u: built.value_and_gradient(u.reshape(4, 4))[1].ravel(),
            U.ravel(),
        )
        assert error < 1e-5


def test_the_gradient_of_a_network():
    rng = np.random.default_rng(0)
    Z, G, widths = rng.normal(size=(20, 3)), rng.normal(size=(20, 4)), [3, 5, 6, 4]
    flat, found = rng.normal(size=(2, 4 * 5 + 6 * 6 + 7 * 4))
    network = Network(as_layers(flat, widths))
    network.add_gradient(network.inputs(Z), G, as_layers(found, widths))

    def value(v):
        return float(np.vdot(G, Network(as_layers(v, widths)).inputs(Z)[-1]))

    slopes = [(value(flat + e) - value(flat - e)) / 2e-6 for e in 1e-6 * np.eye(len(flat))]
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)
