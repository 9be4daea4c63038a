"""A kernel softmax of all rows by few sweeps, against SciPy on all rows at once."""

import numpy as np
import pytest
from scipy.optimize import minimize

from inldl import hide
from inldl.rows.partial import PartialRows
from inldl.solvers import landmark_kernel
from inldl.solvers.landmark_kernel import KernelSweeps, LandmarkKernel, Sample, masked_loss
from inldl.solvers.softmax import softmax

N, SAMPLED, ALPHA = 4000, 800, 0.5


def same(X):
    return X


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = softmax(np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X[:, 2]]))
    return (
        X,
        PartialRows(hide(y, 0.4, random_state=0)).forced(),
        rng.integers(1, 4, N).astype(float),
    )


def sample_of(X, y, weights=None):
    kernel = LandmarkKernel("rbf", 0.3, X[:30].astype(np.float32))
    weights = None if weights is None else weights[:SAMPLED]
    return Sample(kernel, X[:SAMPLED], y[:SAMPLED], weights)


def swept(sample, X, y, weights, sweeps, damping=1.0):
    """Return the parameters after sweeps over all rows as one block, and the objective there."""
    problem = KernelSweeps(sample.kernel, same)
    block, total = problem.start(X, y, None if weights is None else weights[:, None])

    def loss(*message):
        return problem.step(block, *message)[1].added

    V = sample.learn(sample.start(), ALPHA)
    for _ in range(sweeps):
        slope = sample.slope(V, ALPHA, loss)
        V = sample.improved(V, ALPHA, slope, sample.total / total.added[0], damping)
    model = sample.model(V)
    return V, loss(model.coef, model.intercept)[0] + ALPHA / 2 * (V[:-1] ** 2).sum()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_few_sweeps_reach_the_minimum_of_all_rows(rows, weighted):
    """SciPy's own L-BFGS, on features of all rows in double precision, ends at the same value."""
    X, y, weights = rows
    weights = weights if weighted else None
    sample = sample_of(X, y, weights)
    features = sample.basis.features(X)
    shape = (features.shape[1] + 1, y.shape[1])

    def whole(v):
        V = v.reshape(shape)
        loss, residual = masked_loss(features @ V[:-1] + V[-1], y, weights)
        gradient = np.vstack([features.T @ residual + ALPHA * V[:-1], residual.sum(axis=0)])
        return loss + ALPHA / 2 * (V[:-1] ** 2).sum(), gradient.ravel()

    best = minimize(whole, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B",
                    options={"maxiter": 3000, "maxfun": 9000, "ftol": 1e-14}).fun  # fmt: skip
    gaps = [swept(sample, X, y, weights, sweeps)[1] - best for sweeps in (0, 1, 8)]
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[2] < 0.001 * gaps[0]


def test_a_sample_of_all_rows_needs_no_sweep(rows):
    X, y, _ = rows
    sample = sample_of(X, y)
    alone, value = swept(sample, X[:SAMPLED], y[:SAMPLED], None, 0)
    again, better = swept(sample, X[:SAMPLED], y[:SAMPLED], None, 1)
    assert better == pytest.approx(value, rel=1e-6)
    moved = sample.model(again)(X) - sample.model(alone)(X)
    assert np.abs(moved).max() < 1e-3


def test_damping_shortens_steps(rows):
    X, y, _ = rows
    sample = sample_of(X, y)
    start = swept(sample, X, y, None, 0)[0]
    steps = [
        np.linalg.norm(swept(sample, X, y, None, 1, each)[0] - start) for each in (0, 10, 1e4)
    ]
    assert steps[0] > steps[1] > 10 * steps[2]


def test_a_step_ends_at_the_minimum_whatever_the_last_digits_are(rows):
    """Sums in another order differ by as much; L-BFGS alone ends up to 1e-4 apart."""
    X, y, _ = rows
    sample = sample_of(X, y)
    V = sample.learn(sample.start(), 0.01)
    slope = 300 * np.random.default_rng(0).normal(size=V.shape)
    one, other = (
        sample.improved(V, 0.01, each, 0.1, 1.0) for each in (slope, slope * (1 + 1e-14))
    )
    np.testing.assert_allclose(sample.model(one)(X), sample.model(other)(X), atol=1e-9)


def test_few_rows_are_held_with_many_landmarks(rows, monkeypatch):
    X, y, weights = rows
    monkeypatch.setattr(landmark_kernel, "SAMPLE_ENTRIES", 30 * 200)
    sample = sample_of(X, y, weights)
    assert sample._features.shape[0] == 200
    assert sample.total == weights[:200].sum()


def test_a_gradient_that_is_no_number_is_refused(rows):
    X, y, _ = rows
    sample = sample_of(X, y)

    def loss(coef, intercept):
        return np.nan, np.full(coef.shape, np.nan), intercept

    with pytest.raises(ValueError, match="The squares of the features overflow; scale X first"):
        sample.slope(sample.start(), ALPHA, loss)
