"""InLDL-p and InLDL-a against plain statements with a singular value decomposition."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from inldl import hide
from inldl_paper.literature import InLDLADMM, InLDLProx
from inldl_paper.solvers import weighted_simplex_columns
from plain_numpy import project, with_bias

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(n=300, k=7, C=4, rate=0.5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / k)
    return X, hide(y / y.sum(axis=1, keepdims=True), rate, random_state=0)


def shrink(A, tau):
    u, s, v = np.linalg.svd(A, full_matrices=False)
    return (u * np.maximum(s - tau, 0)) @ v


def weighted_simplex(b, h):
    """Solve min sum(h z^2/2 - b z) on the simplex by sorting."""
    order = np.argsort(-b)
    theta = ((np.cumsum((b / h)[order]) - 1) / np.cumsum((1 / h)[order])).max()
    return np.maximum(b - theta, 0) / h


def plain_prox(X, y, lam=0.01, ridge=1e-5, tol=1e-3, max_iter=100):
    X, seen = with_bias(X), ~np.isnan(y)
    D, P, before = np.where(seen, y, 0), np.zeros(y.shape), np.inf
    G = X.T @ X + ridge * np.eye(X.shape[1])
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        M = project(shrink(P - seen * (P - D), lam))
        W = np.linalg.solve(G, X.T @ M)
        P = X @ W
        f = (seen * (P - D) ** 2).sum() / 2 + lam * np.linalg.norm(P, "nuc")
        if abs(f - before) < tol * before < np.inf:
            break
        before = f
    return W, n_iter, f


def plain_admm(X, y, lam=0.01, rho=1.0, ridge=1e-5, max_iter=100):
    X, seen = with_bias(X), ~np.isnan(y)
    (n, C), D = y.shape, np.where(seen, y, 0)
    Z, V = np.zeros(y.shape), np.zeros(y.shape)
    G = X.T @ X + ridge * np.eye(X.shape[1])
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        B = D + rho * Z - V
        M = np.array([weighted_simplex(b, h) for b, h in zip(B, seen + rho, strict=True)])
        W = np.linalg.solve(G, X.T @ M)
        P, Z_old = X @ W, Z
        Z = shrink(P + V / rho, lam / rho)
        V = V + rho * (P - Z)
        norm = np.linalg.norm
        if norm(P - Z) <= np.sqrt(n) * 1e-4 + 1e-3 * max(norm(Z), norm(P)) and rho * norm(
            Z - Z_old
        ) <= np.sqrt(C) * 1e-4 + 1e-3 * norm(V):
            break
    return W, n_iter


def stacked(model):
    return np.vstack([model.coef_.T, model.intercept_])


SHAPES = [(300, 7, 4), (3000, 70, 6), (150, 5, 40), (60, 200, 3), (10, 2, 15)]


@pytest.mark.parametrize("shape", SHAPES)
def test_prox_equals_plain_numpy(shape):
    X, y = problem(*shape, rate=0.3)
    W, n_iter, objective = plain_prox(X, y)
    model = InLDLProx().fit(X, y)
    assert model.n_iter_ == n_iter
    np.testing.assert_allclose(stacked(model), W, rtol=0, atol=1e-7)
    assert model.history_["objective"][-1] == pytest.approx(objective)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rho", [1.0, 0.3])
def test_admm_equals_plain_numpy(shape, rho):
    X, y = problem(*shape, rate=0.3)
    W, n_iter = plain_admm(X, y, rho=rho)
    model = InLDLADMM(rho=rho).fit(X, y)
    assert model.n_iter_ == n_iter
    np.testing.assert_allclose(stacked(model), W, rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", [InLDLProx, InLDLADMM])
def test_form_of_X_and_threads(method):
    X, y = problem(5000, 40, 5)
    X *= np.random.default_rng(5).random(X.shape) < 0.3
    expected = method().fit(X, y)
    np.testing.assert_array_equal(method(n_jobs=3).fit(X, y).coef_, expected.coef_)
    for form in (sparse.csr_array, np.asfortranarray):
        np.testing.assert_allclose(method().fit(form(X), y).coef_, expected.coef_, atol=1e-9)
    single = method().fit(X.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(single.predict(X), expected.predict(X), rtol=0, atol=1e-3)


@pytest.mark.parametrize("method", [InLDLProx, InLDLADMM])
def test_says_when_it_did_not_converge(method):
    with pytest.warns(ConvergenceWarning, match="did not reach tol=0 in max_iter=3 iterations"):
        model = method(max_iter=3, tol=0.0).fit(*problem())
    assert not model.converged_


def test_weighted_simplex_against_sorting_and_a_solver():
    rng = np.random.default_rng(0)
    for C in (1, 2, 6, 50):
        B, H = rng.normal(size=(C, 40)), rng.uniform(0.1, 3, size=(C, 40))
        Z = B.copy()
        weighted_simplex_columns(Z, H)
        expected = [weighted_simplex(b, h) for b, h in zip(B.T, H.T, strict=True)]
        np.testing.assert_allclose(Z.T, expected, rtol=0, atol=1e-13)
    b, h = B[:6, 0], H[:6, 0]
    found = minimize(
        lambda z: (h * z**2 / 2 - b * z).sum(),
        np.full(6, 1 / 6),
        jac=lambda z: h * z - b,
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        tol=1e-12,
    )
    np.testing.assert_allclose(weighted_simplex(b, h), found.x, atol=1e-5)


@pytest.mark.parametrize("method", [InLDLProx, InLDLADMM])
@pytest.mark.parametrize("preset", ["library", "as published"])
def test_hard_data_gives_distributions(method, preset):
    X, y = problem(30, 4, 5)
    X[:, 1], X[:, 2] = -2.0, 0.0
    y[3:12] = np.nan
    model = (method if preset == "library" else method.as_published)().fit(X, y)
    P = model.predict(X)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1)
