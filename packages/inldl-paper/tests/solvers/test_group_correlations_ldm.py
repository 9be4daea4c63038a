"""LDM: gradients, the reconstruction of labels by each other, and the two descents."""

import numpy as np
import pytest

from inldl.datasets import hide
from inldl.solvers.softmax import minimum, softmax, zero_filled
from inldl_paper.solvers.group_correlations import (
    RIDGE,
    STEPS,
    LDMProblem,
    SteepestDescent,
    descend,
    reconstruction,
    solve_ldm,
)
from inldl_paper.solvers.linear_scores import Features


def central_differences(function, V, h=1e-6):
    out = np.empty_like(V)
    for i in np.ndindex(V.shape):
        E = np.zeros_like(V)
        E[i] = h
        out[i] = (function(V + E)[0] - function(V - E)[0]) / (2 * h)
    return out


def a_problem(n=40, k=3, C=4, fit_intercept=True, size=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = size * rng.normal(size=(n, k))
    y = hide(rng.dirichlet(np.ones(C), n), 0.4, random_state=seed)
    y[0] = np.nan
    groups = np.array_split(rng.permutation(n), 3)
    parts = [(slice(None), 0.7), *((rows, 1.3) for rows in groups)]
    scores = Features(X, fit_intercept, rescale=True)
    problem = LDMProblem(scores, zero_filled(y)[0], 0.1, parts)
    return problem, rng.normal(size=(scores.n_parameters, C))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("manifold", [True, False])
@pytest.mark.parametrize("size", [0.01, 1, 30])
def test_gradient_equals_central_differences(fit_intercept, manifold, size):
    problem, V = a_problem(fit_intercept=fit_intercept, size=size)
    residuals = problem.residuals(V + 0.1) if manifold else None
    function = lambda V: problem.objective(V, residuals)  # noqa: E731
    expected = central_differences(function, V)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(function(V)[1] / scale, expected / scale, rtol=0, atol=1e-6)


def test_objective_is_the_formula():
    problem, V = a_problem()
    X, D = problem.features.X, problem.D
    coef, intercept = problem.features.split(V)
    P = softmax(X @ coef.T + intercept)
    residuals = problem.residuals(V)
    expected = -(D * np.log(P)).sum() + 0.05 * ((coef**2).sum() + (intercept**2).sum())
    for (rows, weight), residual in zip(problem.parts, residuals, strict=True):
        expected += weight * np.linalg.norm(P[rows] @ residual) ** 2
    assert problem.objective(V, residuals)[0] == pytest.approx(expected, rel=1e-12)


def slow_reconstruction(P):
    """Solve the KKT system of each label: constrained least squares with the ridge."""
    C = P.shape[1]
    Z = np.zeros((C, C))
    for j in range(C):
        others = [a for a in range(C) if a != j]
        A = P[:, others]
        distances = ((A - P[:, [j]]) ** 2).sum()
        ridge = RIDGE * distances if distances > 0 else RIDGE
        ones = np.ones((C - 1, 1))
        system = np.block([[A.T @ A + ridge * np.eye(C - 1), ones], [ones.T, np.zeros((1, 1))]])
        right = np.append(A.T @ P[:, j], 1)
        Z[others, j] = np.linalg.solve(system, right)[:-1]
    return Z


@pytest.mark.parametrize("C", [2, 3, 7])
def test_reconstruction_is_constrained_least_squares(C):
    rng = np.random.default_rng(C)
    sets = [rng.dirichlet(np.ones(C), n) for n in (1, 3, 50)]
    Z = reconstruction(np.array([P.T @ P for P in sets]))
    for P, found in zip(sets, Z, strict=True):
        np.testing.assert_allclose(found, slow_reconstruction(P), rtol=0, atol=1e-9)
        np.testing.assert_array_equal(np.diag(found), 0)
        np.testing.assert_allclose(found.sum(axis=0), 1, rtol=0, atol=1e-12)


def test_residuals_are_those_of_the_distributions():
    problem, V = a_problem()
    P = softmax(problem.features.scores(V))
    for (rows, _), residual in zip(problem.parts, problem.residuals(V), strict=True):
        expected = np.eye(P.shape[1]) - slow_reconstruction(P[rows])
        np.testing.assert_allclose(residual, expected, rtol=0, atol=1e-9)


def test_equal_labels_are_mixed_evenly():
    np.testing.assert_allclose(reconstruction(np.zeros((1, 3, 3)))[0], (1 - np.eye(3)) / 2)
    problem, V = a_problem()
    residuals = problem.residuals(1e-9 * V)  # differences far below the rounding of P'P
    assert np.isfinite(residuals).all()
    np.testing.assert_allclose(residuals.sum(axis=1), 0, rtol=0, atol=1e-12)
    larger = problem.residuals(1e-4 * V)
    np.testing.assert_allclose(residuals, larger, rtol=0, atol=1e-2)


def test_a_single_label_has_no_others():
    np.testing.assert_array_equal(reconstruction(np.ones((2, 1, 1))), np.zeros((2, 1, 1)))


@pytest.mark.parametrize("solver", sorted(STEPS))
@pytest.mark.parametrize("seed", range(3))
def test_no_step_raises_the_objective(solver, seed):
    problem, V = a_problem(seed=seed)
    step = STEPS[solver]()
    found = solve_ldm(problem, V, step=step, max_iter=6, inner_iter=5, tol=0.0)
    before, after = found.history["objective_before"], found.history["objective"]
    assert np.all(after <= before)
    assert after[0] < before[0]


def test_both_descents_find_the_minimum():
    problem, V = a_problem()
    function = lambda V: problem.objective(V, None)  # noqa: E731  (convex)
    one, other = minimum(function, V, 1000), SteepestDescent()(function, V, 5000)[0]
    assert np.abs(function(one)[1]).max() < 1e-3
    assert function(other)[0] == pytest.approx(function(one)[0], rel=1e-8)


def test_it_says_when_it_has_converged():
    problem, V = a_problem()
    found = solve_ldm(problem, V, step=descend, max_iter=200, inner_iter=500, tol=1e-6)
    assert found.converged
    assert found.n_iter < 200
    short = solve_ldm(problem, V, step=descend, max_iter=1, inner_iter=500, tol=1e-6)
    assert not short.converged


def test_without_a_floor_the_start_or_something_finite_comes_back():
    V = a_problem()[1]
    endless = lambda V: (-float(np.exp(V).sum()), -np.exp(V))  # noqa: E731
    for make in STEPS.values():
        assert np.isfinite(make()(endless, V, 50)[0]).all()


def test_steepest_descent_computes_nothing_twice():
    calls = []
    function = lambda V: calls.append(V) or (float((V**2).sum()), 2 * V)  # noqa: E731
    V, before, after = SteepestDescent()(function, np.ones(2), 1)
    assert (before, after) == (2.0, (V**2).sum())
    assert len({each.tobytes() for each in calls}) == len(calls)
