"""Each root of iterative scaling against a scalar root finder, and the descent it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from inldl_paper.solvers import maximum_entropy
from inldl_paper.solvers.linear_scores import Features
from inldl_paper.solvers.maximum_entropy import (
    FLOOR,
    CrossEntropy,
    Scaling,
    cut,
    interpolation,
    log_ratio,
    minimise_cross_entropy,
    scale_iteratively,
)


def scalar_root(x, p, s, target):
    """Return the root of the equation as it is written, for one feature and one label."""

    def g(delta):
        up, down = x > 0, x < 0
        positive = np.sum(p[up] * x[up] * np.exp(delta * s[up]))
        return positive + np.sum(p[down] * x[down] * np.exp(-delta * s[down])) - target

    bound = FLOOR / s.mean()
    return brentq(g, -bound, bound, xtol=1e-14, rtol=1e-14)


def make(n, k, C, seed=0, tail=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) * rng.lognormal(sigma=tail, size=(n, 1))
    y = rng.dirichlet(np.ones(C), size=n)
    return X, y, rng


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("tail", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("sign", ["both", "positive", "negative"])
def test_every_root_is_that_of_the_scalar_equation(fit_intercept, tail, sign):
    X, y, rng = make(25, 4, 3, tail=tail)
    X = {"both": X, "positive": np.abs(X), "negative": -np.abs(X)}[sign]
    X[:, 1] = 0.3
    degrees = np.where(rng.random(y.shape) < 0.4, 0, y)
    P = rng.dirichlet(np.ones(3), size=25)
    found = Scaling(Features(X, fit_intercept), degrees).step(P)
    full = np.column_stack([X, np.ones(25)])[:, : len(found)]
    s = np.abs(full).sum(axis=1)
    expected = np.empty_like(found)
    for k, j in np.ndindex(found.shape):
        expected[k, j] = scalar_root(full[:, k], P[:, j], s, full[:, k] @ degrees[:, j])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_blocks_of_rows_add_up(monkeypatch):
    X, y, _ = make(700, 3, 2)
    whole = Scaling(Features(X, True), y).step(y[::-1])
    monkeypatch.setattr(maximum_entropy, "rows_per_block", lambda n_columns: 64)
    np.testing.assert_allclose(Scaling(Features(X, True), y).step(y[::-1]), whole, atol=1e-13)


def test_equal_sums_need_no_iteration(monkeypatch):
    X, y, rng = make(30, 4, 3)
    X /= np.abs(X).sum(axis=1, keepdims=True)
    scaling = Scaling(Features(X, False), y)
    monkeypatch.setattr(maximum_entropy, "roots", None)
    P = rng.dirichlet(np.ones(3), size=30)
    found = scaling.step(P)
    expected = scalar_root(X[:, 2], P[:, 1], np.ones(30), X[:, 2] @ y[:, 1])
    assert found[2, 1] == pytest.approx(expected, abs=1e-12)


def test_roots_at_infinity_stop_at_the_floor_and_zero_columns_do_not_move():
    X, y, _ = make(30, 3, 3)
    X = np.abs(X)
    X[:, 0] = 0
    X[:, 2] *= -1
    y[:, 1] = 0
    scaling = Scaling(Features(X, False), y)
    found = scaling.step(np.full(y.shape, 1 / 3))
    np.testing.assert_array_equal(found[0], 0)
    limit = FLOOR / np.abs(X).sum(axis=1).mean()
    assert found[1, 1] == pytest.approx(-limit)
    assert found[2, 1] == pytest.approx(limit)


def test_ratio_solves_its_quadratic_and_knows_its_limits():
    a, b, A = np.random.default_rng(0).normal(size=(3, 50))
    a, b = np.abs(a), np.abs(b)
    u = np.exp(log_ratio(a, b, A))
    np.testing.assert_allclose(a * u - b / u, A, rtol=1e-9, atol=1e-12)
    a, b, A = np.array([[1, 0, 0.0], [0, 1, 0.0], [0, 0, 0], [0, 0, 1.0]]).T
    np.testing.assert_array_equal(log_ratio(a, b, A), [-np.inf, np.inf, 0, np.inf])


@given(st.integers(0, 10**6), st.floats(-8, 8))
def test_interpolation_is_exact_to_rounding(seed, exponent):
    s = np.random.default_rng(seed).uniform(1, 1.5, size=20)
    nodes, weights = interpolation(s)
    delta = exponent / 1.5
    found = weights @ np.exp(delta * nodes)
    np.testing.assert_allclose(found, np.exp(delta * s), rtol=1e-12)
    at_nodes = interpolation(np.r_[1.0, nodes, 1.5])
    np.testing.assert_allclose(at_nodes[1].sum(axis=1), 1)


def test_pieces_cover_rows_once_and_are_narrow():
    s = np.r_[0.0, np.random.default_rng(0).lognormal(sigma=2, size=500)]
    pieces = cut(s, 64)
    rows = [block[0] for piece in pieces for block in piece.blocks]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(1, 501))
    for piece in pieces:
        members = s[np.concatenate([block[0] for block in piece.blocks])]
        assert members.max() / members.min() <= maximum_entropy.RATIO * (1 + 1e-12)
    assert cut(np.zeros(3), 64) == []


@pytest.mark.parametrize(("holes", "unit_mass"), [(0.0, True), (0.0, False), (0.6, False)])
@pytest.mark.parametrize("tail", [0.0, 1.5])
def test_the_objective_falls_in_every_iteration(holes, unit_mass, tail):
    X, y, rng = make(60, 5, 4, seed=3, tail=tail)
    y[rng.random(y.shape) < holes] = np.nan
    problem = CrossEntropy(Features(X, True), y)
    V = problem.features.start("eye", 4)
    result = scale_iteratively(problem, V, max_iter=40, tol=0.0, unit_mass=unit_mass)
    assert (result.n_iter, result.converged) == (40, False)
    assert np.all(np.diff(result.history["objective"]) < 0)
    log_P = problem.log_P(result.shared)
    assert result.history["objective"][-1] == pytest.approx(problem.value(V, log_P), rel=1e-12)


def test_only_the_observed_mass_leads_to_the_minimum():
    """The update with unit mass would raise the objective at some point; it stops there."""
    X, y, rng = make(40, 3, 3, seed=1)
    y[rng.random(y.shape) < 0.5] = np.nan
    problem = CrossEntropy(Features(X, True), y)
    V = np.zeros((4, 3))
    unit, observed = (
        scale_iteratively(problem, V, max_iter=500, tol=1e-12, unit_mass=unit_mass).history[
            "objective"
        ]
        for unit_mass in (True, False)
    )
    minimum = minimise_cross_entropy(problem, V, max_iter=500, tol=1e-15).history["objective"][-1]
    assert observed[-1] == pytest.approx(minimum, abs=1e-6)
    assert unit[-1] > minimum + 0.5
    assert np.all(np.diff(unit) <= 0)
    assert unit[-1] == unit[-2]  # what the last iteration found was not kept
    assert len(unit) < 20
