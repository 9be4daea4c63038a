"""Rows of which only ratios are known, against closed forms and another optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from inldl import WInLDL, hide
from inldl.errors import DataError
from inldl.rows.checks import check_ratios, look_like_ratios
from inldl.rows.density import constant_distribution
from inldl.rows.partial import LEAST_SCALE, PartialRows
from inldl.solvers.winldl import WInLDLProblem
from inldl.weighting import get_weighting
from plain_numpy import project, with_bias

nan = np.nan


EXACTLY = {"rounds": 5000, "small_change": 1e-13}


def test_scale_is_the_mass_of_the_observed_labels():
    y = np.array([[0.25, 0.75, nan], [0.2, 0.3, 0.5], [nan, nan, nan], [0.0, nan, 0.0]])
    p = np.array([[0.1, 0.3, 0.6], [0.3, 0.3, 0.4], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]])
    np.testing.assert_allclose(PartialRows(y).scales(p)[:2], [0.4, 1])
    expected = [[0.1, 0.3, nan], [0.2, 0.3, 0.5], [nan, nan, nan], [0, nan, 0]]
    np.testing.assert_allclose(PartialRows(y).scaled(p), expected)


def test_scale_stays_above_0():
    assert (
        PartialRows(np.array([[0.5, 0.5, nan]])).scales(np.array([[-1.0, 0.5, 1.5]]))
        == LEAST_SCALE
    )


def test_two_labels_know_only_complete_rows():
    y = np.array([[0.2, 0.8], [0.6, 0.4], [1, nan], [nan, 1]])
    np.testing.assert_allclose(constant_distribution(PartialRows(y)), [0.4, 0.6])


def test_two_pairs_of_labels_decide_three():
    """If p0 : p1 is 1 : 3 and p1 : p2 is 3 : 2, then p is (1, 3, 2) / 6."""
    y = np.array([[0.25, 0.75, nan], [nan, 0.6, 0.4]])
    np.testing.assert_allclose(
        constant_distribution(PartialRows(y), **EXACTLY), np.array([1, 3, 2]) / 6, atol=1e-10
    )


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n_labels=st.integers(3, 6))
def test_ratios_of_one_distribution_give_it_back(seed, n_labels):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_labels) * 3)
    chain = [[j, j + 1] for j in range(n_labels - 1)]  # every label is compared with the next
    y = np.full((len(chain), n_labels), nan)
    for row, labels in zip(y, chain, strict=True):
        row[labels] = p[labels] / p[labels].sum()
    found = constant_distribution(PartialRows(y), rounds=20_000, small_change=1e-14)
    np.testing.assert_allclose(found, p, atol=1e-6)


def test_constant_distribution_maximises_a_weighted_likelihood():
    """At the end each row counts as much as its scale, and no other p agrees better."""
    rng = np.random.default_rng(0)
    y = hide(rng.dirichlet(np.ones(4), 50), 0.4, renormalise=True, random_state=1)
    p, seen = constant_distribution(PartialRows(y), **EXACTLY), ~np.isnan(PartialRows(y).ratios)
    own = PartialRows(y).scales(np.tile(p, (50, 1)))

    def lack(v):
        q = np.exp(v) / np.exp(v).sum()
        log = np.log(q) - np.log(np.where(seen, q, 0).sum(axis=1, keepdims=True).clip(1e-300))
        return -(own[:, None] * np.where(seen, np.nan_to_num(y) * log, 0)).sum()

    best = minimize(lack, np.zeros(4), tol=1e-12).x
    np.testing.assert_allclose(p, np.exp(best) / np.exp(best).sum(), atol=1e-5)


def test_weights_count_as_copies():
    y = hide(np.random.default_rng(0).dirichlet(np.ones(4), 30), 0.4, renormalise=True,
             random_state=0)  # fmt: skip
    weights = np.arange(30) % 3
    again = constant_distribution(PartialRows(np.repeat(y, weights, axis=0)))
    np.testing.assert_allclose(
        constant_distribution(PartialRows(y, weight=weights.astype(float))), again, atol=1e-12
    )


def test_one_known_label_tells_nothing():
    y = np.array([[1, nan, nan], [0, nan, nan], [0.5, 0.5, nan], [0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(PartialRows(y).ratios, np.vstack([[nan] * 3, y[1:]]))
    known, there = PartialRows(y, total=nan).cells(np.tile([0.2, 0.2, 0.6], (4, 1)))
    assert np.isnan(known[:2]).all()
    np.testing.assert_allclose(there[2], [0.5, 0.5, 0])
    np.testing.assert_allclose(there.sum(axis=1), 1)


@pytest.mark.parametrize("bad", [[0.2, 0.3, nan], [1.2, -0.2, nan], [0.9, 0.4, nan]])
def test_other_numbers_are_refused(bad):
    y = np.array([[0.5, 0.5, nan], bad])
    with pytest.raises(DataError, match="known='ratios'") as raised:
        check_ratios(y, first_row=10)
    assert raised.value.row == 11


def test_rounded_ratios_are_fine():
    check_ratios(np.array([[0.33, 0.33, 0.33, nan], [0.25, 0.25, 0.5, nan]]))


def test_rows_that_look_like_ratios():
    y = np.tile([0.5, 0.5, nan], (6, 1))
    assert look_like_ratios(y)
    assert not look_like_ratios(y[:4])
    assert not look_like_ratios(np.vstack([y, [0.5, 0.2, nan]]))
    assert not look_like_ratios(np.tile([0.2, 0.3, 0.5], (6, 1)))


def winldl_of_ratios(X, y, mu=2.0, max_iter=50, tol=1e-4, ridge=1e-5):
    """Return W, bias last, of WInLDL with scales, line by line as it is defined."""
    X, observed = with_bias(X), ~np.isnan(y)
    p = constant_distribution(PartialRows(y))
    incomplete = ~observed.all(axis=1)

    def degrees_of(predicted):
        mass = np.where(observed, predicted, 0).sum(axis=1)
        s = np.where(incomplete, np.clip(mass, LEAST_SCALE, 1), 1)
        return np.where(observed, y * s[:, None], 0)

    first = degrees_of(np.tile(p, (len(y), 1)))
    means, seen = first.mean(axis=0), 4 ** (1 - first)
    G = X.T @ X + ridge * np.eye(X.shape[1])
    Z, U = np.full(y.shape, 1 / y.shape[1]), np.zeros(y.shape)
    W = np.full((X.shape[1], y.shape[1]), np.inf)
    for t in range(1, max_iter + 1):
        W_old, Z_old = W, Z
        W = np.linalg.solve(G, X.T @ (Z - U))
        S = X @ W
        target = np.where(observed, degrees_of(S), project(S))
        Q2 = np.where(observed, seen, (1 + t / max_iter) ** (2 * (1 - means)))
        Z = project((mu * (S + U) + Q2 * target) / (Q2 + mu))
        U = U + S - Z
        if np.abs(W - W_old).max() < tol and np.abs(Z - Z_old).max() < tol:
            break
    return W


@pytest.mark.parametrize(("n", "k", "C"), [(300, 5, 4), (37, 3, 6), (60, 2, 3)])
def test_winldl_equals_plain_numpy(n, k, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / 2)
    y = hide(y / y.sum(axis=1, keepdims=True), 0.4, renormalise=True, random_state=1)
    y = PartialRows(y).ratios
    model = WInLDL(known="ratios").fit(X, y)
    found = np.vstack([model.coef_.T, model.intercept_])
    np.testing.assert_allclose(found, winldl_of_ratios(X, y), rtol=0, atol=1e-8)


def test_step_against_another_optimiser():
    """Z is the distribution nearest to the best compromise of scaled ratios and XW."""
    y = np.array([[0.2, 0.8, nan, nan], [0.1, 0.9, nan, 0.0], [0.1, 0.2, 0.3, 0.4]])
    fitted, mu = np.array([[0.1, 0.35, 0.4, 0.15], [0.6, 0.1, -0.2, 0.5], [0.25] * 4]), 2.0
    how = {"impute": True, "rho": mu, "max_iter": 50, "ridge": 1e-5, "fit_intercept": True}
    problem = WInLDLProblem(get_weighting("uniform"), **how, close_rows=True, ratios=True)
    block, _ = problem.start(np.eye(3), y)
    problem.settle(block, np.full(4, 0.25))
    problem.step(block, fitted.T.copy(), np.zeros(4), np.full(4, mu / (1.5 + mu)))
    found = block.state[:, :, 1].transpose(0, 2, 1).reshape(-1, 4)[:3]

    scale = np.array([0.45, 1, 1])  # 0.1 + 0.35; 0.6 + 0.1 + 0.5 is more than 1; complete
    target = np.where(np.isnan(y), project(fitted), np.nan_to_num(y) * scale[:, None])
    weights = np.where(np.isnan(y), 1.5, 1.0)
    for each in zip(found, target, fitted, weights, strict=True):
        np.testing.assert_allclose(each[0], _compromise(*each[1:], mu), atol=1e-5)


def _compromise(target, fitted, weights, mu):
    """Return the distribution nearest to the best compromise of two rows, both found by search."""

    def apart(u):
        return (weights * (u - target) ** 2 + mu * (u - fitted) ** 2).sum()

    between = minimize(apart, fitted, tol=1e-12).x
    whole = {"type": "eq", "fun": lambda u: u.sum() - 1}
    how = {"bounds": [(0, 1)] * 4, "constraints": whole, "method": "SLSQP", "tol": 1e-14}
    return minimize(lambda u: ((u - between) ** 2).sum(), target, **how).x
