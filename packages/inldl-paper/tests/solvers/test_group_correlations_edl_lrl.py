"""EDL-LRL: gradients, the shrinkage of each group, and where ADMM leads."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from inldl.datasets import hide, make_distributions
from inldl.solvers.softmax import softmax, zero_filled
from inldl_paper.solvers.group_correlations import EDLLRLProblem, penalties, solve_edl_lrl
from inldl_paper.solvers.linear_scores import Features


def a_problem(n=40, k=3, C=4, masked=True, seed=0, lam2=0.1, size=1.0, **options):
    rng = np.random.default_rng(seed)
    X = size * rng.normal(size=(n, k))
    y = hide(rng.dirichlet(np.ones(C), n), 0.4, random_state=seed)
    y[0] = np.nan
    D, observed = zero_filled(y)
    counted = observed.astype(float) if masked else np.ones_like(D)
    groups = np.array_split(rng.permutation(n), 3)
    scores = Features(X, True, rescale=True)
    problem = EDLLRLProblem(scores, D, counted, groups, lam1=0.05, lam2=lam2, **options)
    return problem, rng.normal(size=(k + 1, C)), rng


def central_differences(function, V, h=1e-6):
    out = np.empty_like(V)
    for i in np.ndindex(V.shape):
        E = np.zeros_like(V)
        E[i] = h
        out[i] = (function(V + E)[0] - function(V - E)[0]) / (2 * h)
    return out


@pytest.mark.parametrize("masked", [True, False])
def test_exact_gradient_equals_central_differences(masked):
    problem, V, rng = a_problem(masked=masked)
    Z, L = rng.random(problem.D.shape), rng.normal(size=problem.D.shape)
    function = lambda V: problem.augmented(V, Z, L, 0.7)  # noqa: E731
    expected = central_differences(function, V)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(function(V)[1] / scale, expected / scale, rtol=0, atol=1e-6)


def test_diagonal_gradient_is_the_programs():
    problem, V, rng = a_problem(masked=False, exact=False)
    Z, L = rng.random(problem.D.shape), rng.normal(size=problem.D.shape)
    P = softmax(problem.features.scores(V))
    R = np.empty_like(P)
    for i, p in enumerate(P):
        jacobian = np.diag(p) - np.outer(p, p)
        R[i] = np.diag(jacobian) * (p - problem.D[i] + L[i] + 0.7 * (p - Z[i]))
    expected = problem.features.moments(R) + problem.lam1 * problem.features.penalty(V)[1]
    np.testing.assert_allclose(problem.augmented(V, Z, L, 0.7)[1], expected, atol=1e-12)


def test_what_is_unobserved_has_no_say_unless_it_counts_as_zero():
    problem, V, _ = a_problem()
    zeros = np.zeros_like(problem.D)
    other = EDLLRLProblem(
        problem.features, np.where(problem.counted > 0, problem.D, 9), problem.counted,
        problem.groups, problem.lam1, problem.lam2,
    )  # fmt: skip
    for one, two in zip(
        problem.augmented(V, zeros, zeros, 1.0), other.augmented(V, zeros, zeros, 1.0), strict=True
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("hard", [False, True])
def test_shrinkage_is_that_of_each_group(hard):
    problem, _, rng = a_problem(hard=hard)
    A = rng.normal(size=problem.D.shape)
    Z, total = problem.shrunk(A, 2.5)
    expected = 0.0
    for rows in problem.groups:
        U, s, Vt = np.linalg.svd(A[rows], full_matrices=False)
        left = np.where(s > 2.5, s if hard else s - 2.5, 0)
        np.testing.assert_allclose(Z[rows], (U * left) @ Vt, rtol=0, atol=1e-10)
        expected += left.sum()
    assert total == pytest.approx(expected)


def test_objective_is_the_formula():
    problem, V, _ = a_problem()
    P = softmax(problem.features.scores(V))
    coef, intercept = problem.features.split(V)
    expected = 0.5 * np.linalg.norm(problem.counted * (P - problem.D)) ** 2
    expected += 0.05 * ((coef**2).sum() + (intercept**2).sum())
    expected += 0.1 * sum(np.linalg.norm(P[rows], "nuc") for rows in problem.groups)
    assert problem.objective(V, P) == pytest.approx(expected, rel=1e-10)


def test_admm_finds_a_minimum_of_the_objective():
    """Another solver, started where ADMM ends, on the objective itself, finds nothing lower."""
    problem, V, _ = a_problem(lam2=0.3)
    rhos = penalties(1.0, 1.0, 1.0)
    found = solve_edl_lrl(problem, 0 * V, rhos, max_iter=400, inner_iter=50, tol=1e-6)
    assert found.converged
    assert found.history["gap"][-1] <= 1e-6

    def whole(v):
        W = v.reshape(V.shape)
        return problem.objective(W, softmax(problem.features.scores(W)))

    end = found.history["objective"][-1]
    better = minimize(whole, found.shared.ravel(), method="L-BFGS-B")
    assert better.fun >= end - 1e-5 * abs(end)
    assert end < found.history["objective"][0]


def test_penalty_grows_up_to_its_cap():
    assert list(islice(penalties(1.0, 2.0, 3.0), 4)) == [1.0, 2.0, 3.0, 3.0]
    assert list(islice(penalties(5.0, 2.0, 3.0), 2)) == [5.0, 5.0]


@pytest.mark.parametrize("size", [1e-3, 1, 1e4, 1e150, 1e300])
def test_scores_do_not_depend_on_the_unit(size):
    problem, V, _ = a_problem(size=size)
    scores = problem.features
    coef, intercept = scores.split(V)
    np.testing.assert_allclose(scores.scores(V), scores.X @ coef.T + intercept)
    assert np.abs(scores.X).max() * scores.unit <= 1
    R = problem.D - 0.1
    expected = (scores.X * scores.unit).T @ R
    np.testing.assert_allclose(scores.moments(R)[:-1], expected, rtol=1e-9)
    np.testing.assert_allclose(scores.moments(R)[-1], R.sum(axis=0))


def test_float32_features_stay_float32():
    X, _ = make_distributions(50, random_state=0)
    V = np.random.default_rng(0).normal(size=(X.shape[1] + 1, 3))
    narrow, wide = (
        Features(X.astype(np.float32), True, rescale=True),
        Features(X, True, rescale=True),
    )
    assert narrow.scores(V).dtype == narrow.moments(narrow.scores(V)).dtype == np.float64
    np.testing.assert_allclose(narrow.scores(V), wide.scores(V), rtol=0, atol=1e-4)


def test_penalty_is_the_squared_norm_of_coefficients_and_bias():
    problem, V, _ = a_problem(size=100)
    coef, intercept = problem.features.split(V)
    value, gradient = problem.features.penalty(V)
    assert value == pytest.approx((coef**2).sum() + (intercept**2).sum())
    flat = lambda v: problem.features.penalty(v.reshape(V.shape))[0]  # noqa: E731
    np.testing.assert_allclose(gradient.ravel(), approx_fprime(V.ravel(), flat), atol=1e-5)
