"""WSLDL-MCSC against a convex solver, cases by hand, and a row that completes itself."""

import numpy as np
import pytest
from scipy import sparse

from inldl import hide
from inldl.datasets import make_distributions
from inldl.solvers.loop import run
from inldl_paper.literature.wsldl_mcsc import (
    Extension,
    MCSCProblem,
    edge_weights,
    laplacian,
    right_factor,
    unit_rows,
)

PENALTIES = {"mu": 0.3, "gamma": 0.5, "lam": 0.2, "rho": 1.0}


@pytest.fixture(scope="module")
def made():
    X, y = make_distributions(25, random_state=1)
    y = hide(y, 0.4, random_state=1)
    y[4] = np.nan
    L = laplacian(unit_rows(X), np.ones(25), 3, "similarity")
    return X, y, L, MCSCProblem(X, y, np.ones(25), L, **PENALTIES)


def objective(problem, Z):
    """Return the value of the objective."""
    Z_X, Z_Y = Z[:, : problem.k], Z[:, problem.k + 1 :]
    apart = problem.observed * (Z_Y - problem.Y)
    squares = ((Z_X - problem.X) ** 2).sum() + ((Z_Y.sum(axis=1) - problem.root[:, 0]) ** 2).sum()
    smooth = problem.lam * (Z_Y * (problem.L @ Z_Y)).sum() + problem.gamma * (apart**2).sum()
    return problem.mu * np.linalg.norm(Z, "nuc") + squares / 2 + smooth


@pytest.fixture(scope="module")
def found(made):
    result = run(made[3].iterations(1e-10), 5000)
    assert result.converged
    return result.shared


def test_it_finds_the_minimum_of_a_convex_solver(made, found):
    """The numbers are those of CVXPY with Clarabel."""
    Z, _ = found
    assert objective(made[3], Z) == pytest.approx(4.1411836, rel=1e-7)
    expected = [[0.389979, 0.35036, 0.241068], [0.328954, 0.385427, 0.269706]]
    np.testing.assert_allclose(Z[[4, 0], 4:], expected, atol=1e-5)
    np.testing.assert_array_equal(Z[:, 3], 1)


def test_no_direction_leads_down(made, found):
    rng, (Z, _) = np.random.default_rng(0), found
    for size in (1e-2, 1e-3, 1e-4):
        move = rng.normal(size=Z.shape) * size
        move[:, 3] = 0
        assert objective(made[3], Z + move) > objective(made[3], Z)


def test_the_graph_by_hand():
    X = np.array([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0], [-1.0, 0.0]])
    root = np.sqrt(0.5)
    L = laplacian(unit_rows(X), np.ones(4), 1, "similarity").toarray()
    A = np.diag(np.diag(L)) - L
    # 0 and 2 are nearest to 1 and 1 to one of them; 3 is nearest to 2, at a cosine of 0
    assert A[0, 1] == pytest.approx(root)
    assert A[1, 2] == pytest.approx(root)
    assert A[2, 3] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(edge_weights(np.array([np.sqrt(2)]), "distance"), [1])
    np.testing.assert_array_equal(edge_weights(np.array([2.0]), "similarity"), [0])


def test_a_row_without_degrees_completes_itself(made, found):
    """What the extension gives for row 4, with all else as it was found, is row 4."""
    X, _, L, _ = made
    Z, S = found
    k = X.shape[1]
    B_X, B_1, B_Y = np.split(right_factor(S), [k, k + 1], axis=1)
    extension = Extension(B_X, B_1, B_Y, PENALTIES["mu"], PENALTIES["lam"])
    edges = -L.toarray()[4]
    near = np.flatnonzero(edges > 0)
    degrees = Z[:, k + 1 :]
    again = extension(X[[4]], edges[None, near], degrees[None, near])
    np.testing.assert_allclose(again[0], degrees[4], atol=1e-6)


def test_weights_are_copies_that_share_their_edges(made):
    """Two sets of the same rows without edges between them are one set of weight 2."""
    X, y, L, _ = made
    twice = MCSCProblem(
        np.vstack([X, X]), np.vstack([y, y]), np.ones(50), sparse.block_diag([L, L]).tocsr(),
        **PENALTIES,
    )  # fmt: skip
    weighted = MCSCProblem(X, y, np.full(25, 2.0), 2 * L, **PENALTIES)
    both = run(twice.iterations(1e-8), 3000).shared[0]
    once = run(weighted.iterations(1e-8), 3000).shared[0] / np.sqrt(2)
    np.testing.assert_allclose(both[:25], once, atol=1e-6)


def test_conjugate_gradients_solve_the_system_of_the_degrees(made):
    X, _, _, problem = made
    rng = np.random.default_rng(0)
    target = rng.normal(size=problem.start().shape)
    Z_Y = problem.closest(target, np.zeros_like(problem.Y), 1e-12)[:, X.shape[1] + 1 :]
    size = problem.Y.size
    A = np.column_stack([problem.curvature(unit) for unit in np.eye(size)])
    right = 2 * 0.5 * problem.observed * problem.Y + target[:, X.shape[1] + 1 :] + problem.root
    np.testing.assert_allclose(Z_Y.ravel(), np.linalg.solve(A, right.ravel()), atol=1e-9)
