"""I2LDL against a convex solver, the conditions of its minimum, and special cases."""

import numpy as np
import pytest

from inldl import hide
from inldl_paper.literature import I2LDL
from inldl_paper.literature.i2ldl import I2LDLProblem
from plain_numpy import with_bias

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# What CVXPY with Clarabel finds for the data of 14 rows.
MINIMUM = {(0.05, 0.1, 0.02): 0.0766343176, (0.3, 0.01, 0.05): 0.3881629347}


def data(n=60, k=4, C=3, rate=0.4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / k)
    return X, hide(y / y.sum(axis=1, keepdims=True), rate, random_state=0)


def solved(X, y, lams, rho=1.0, tol=1e-10, sample_weight=None):
    """Run the problem as an engine would that has all rows in one block."""
    problem = I2LDLProblem(*lams, rho, fit_intercept=True)
    block, sums = problem.start(X, y, sample_weight)
    shared = problem.first(sums, None)
    for _ in range(5000):
        block, sums = problem.step(block, *problem.message(shared))
        if max(problem.changes(shared, sums).values()) < tol:
            return block, shared
        shared = problem.next(shared, sums, None)
    raise AssertionError("it did not converge")


def objective(X, y, W, Q, lams):
    lam1, lam2, lam3 = lams
    apart = np.nansum((X @ (W + Q) - y) ** 2) / 2
    low, sparse = np.linalg.norm(W, "nuc"), np.abs(X @ Q).sum()
    return apart + 2 * lam1 * low + lam2 * (Q**2).sum() + lam3 * sparse


@pytest.mark.parametrize("lams", MINIMUM)
@pytest.mark.parametrize("rho", [1.0, 0.3])
def test_it_finds_the_minimum_of_a_convex_solver(lams, rho):
    X, y = data(n=14, k=2)
    _, shared = solved(X, y, lams, rho)
    W, Q, X = shared.W.T, shared.Q.T, with_bias(X)
    assert objective(X, y, W, Q, lams) == pytest.approx(MINIMUM[lams], rel=1e-6)
    assert (X @ (W + Q)).min() > -1e-7
    np.testing.assert_allclose((X @ (W + Q)).sum(axis=1), 1, atol=1e-7)


def test_the_conditions_of_a_minimum_hold():
    """With multipliers a, b and t of P, G and S: nothing in the algorithm is used but these."""
    X, y = data()
    lams = lam1, lam2, lam3 = 0.05, 0.1, 0.02
    block, shared = solved(X, y, lams)
    X, a, b, t = (
        with_bias(X),
        block.A.T,
        shared.maps.part * block.B.T,
        shared.maps.unit * shared.T.T,
    )
    np.testing.assert_allclose(X.T @ a + t, 0, atol=1e-6)
    np.testing.assert_allclose(X.T @ (a + b) + 2 * lam2 * shared.Q.T, 0, atol=1e-6)
    P, G = block.P.T, block.G.T
    slope = np.where(np.isnan(y), 0, P - y) - a  # equal where P > 0, larger where P = 0
    np.testing.assert_allclose((P * (slope - slope.min(axis=1, keepdims=True))), 0, atol=1e-7)
    assert np.abs(b).max() <= lam3 + 1e-9
    np.testing.assert_allclose(b[np.abs(G) > 1e-6], lam3 * np.sign(G[np.abs(G) > 1e-6]))
    assert np.linalg.norm(t, 2) <= 2 * lam1 + 1e-9
    low = np.linalg.norm(shared.S, "nuc")
    assert np.vdot(t, shared.S.T) == pytest.approx(2 * lam1 * low, abs=1e-6)


def test_both_parts_are_of_use():
    _, shared = solved(*data(), (2.0, 0.01, 0.05))
    assert np.linalg.matrix_rank(shared.S, 1e-9) < 3
    assert np.abs(shared.Q).max() > 1e-3


def test_a_weight_of_2_is_the_row_twice():
    X, y = data()
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    _, weighted = solved(X, y, (0.05, 0.1, 0.02), sample_weight=weights)
    _, repeated = solved(X[copies], y[copies], (0.05, 0.1, 0.02))
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-8)


def test_a_wide_X_gives_the_same_in_fewer_columns():
    X, y = data(n=20, k=3)
    wide = np.hstack([X, np.zeros((20, 60))])
    options = {"lam1": 0.01, "lam2": 0.1, "lam3": 0.01, "tol": 1e-9, "max_iter": 20000}
    thin, found = I2LDL(**options).fit(X, y), I2LDL(**options).fit(wide, y)
    np.testing.assert_allclose(found.predict(wide), thin.predict(X), atol=1e-5)
    np.testing.assert_allclose(found.coef_[:, 3:], 0, atol=1e-9)


def test_threads_and_the_order_of_X_do_not_matter():
    X, y = data(5000, 8, 5)
    expected = I2LDL().fit(X, y)
    np.testing.assert_array_equal(I2LDL(n_jobs=3).fit(X, y).coef_, expected.coef_)
    np.testing.assert_allclose(
        I2LDL().fit(np.asfortranarray(X), y).coef_, expected.coef_, atol=1e-9
    )
