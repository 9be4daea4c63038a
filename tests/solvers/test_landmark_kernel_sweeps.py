"""The loss of a kernel softmax, and its gradient, in sums over blocks."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from inldl import hide
from inldl.rows.partial import PartialRows
from inldl.solvers.landmark_kernel import KernelSoftmax, KernelSweeps, LandmarkKernel, masked_loss
from inldl.solvers.softmax import MaskedSoftmax

KERNELS = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = hide(RNG.dirichlet(np.ones(3), 90), 0.5, random_state=0)
WEIGHTS = RNG.integers(0, 4, 90).astype(float)
COEF, INTERCEPT = RNG.normal(size=(20, 3)), RNG.normal(size=3)


def same(X):
    return X


def problem(kernel="rbf"):
    return KernelSweeps(LandmarkKernel(kernel, 0.2, X[:20].astype(np.float32)), same)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_the_loss_is_that_of_the_masked_softmax(weights):
    """At any parameters, with its gradient; a negative degree counts as 0."""
    y = PartialRows(Y).forced()
    y[0, 0] = -0.1
    features = RNG.normal(size=(90, 5))
    whole = MaskedSoftmax(features, np.ones(5), y, 0.0, weights)
    V = RNG.normal(size=(6, 3))
    value, gradient = whole.value_and_gradient(V / whole.unit)
    loss, residual = masked_loss(features @ V[:-1] + V[-1], y, weights)
    assert loss == pytest.approx(value)
    by_V = np.vstack([features.T @ residual, residual.sum(axis=0)])
    np.testing.assert_allclose(by_V * whole.unit, gradient, atol=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_step_returns_loss_and_gradient(kernel, weights):
    many = np.resize(np.arange(90), 14_000)  # more rows than a piece of the kernel matrix has
    weights = None if weights is None else weights[many]
    beside = {} if weights is None else {"sample_weight": weights[:, None]}
    method = problem(kernel)
    assert len(list(method.map.pieces(X[many]))) > 1
    block, counted = method.start(X[many], Y[many], **beside)
    assert counted.added == (14_000.0 if weights is None else weights.sum(),)
    sums = method.step(block, COEF, INTERCEPT)[1]
    K = KERNELS[kernel](X[many], X[:20], gamma=0.2)
    y = PartialRows(Y[many]).forced()
    loss, residual = masked_loss(K @ COEF + INTERCEPT, y, weights)
    assert sums.added[0] == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(sums.added[1], K.T @ residual, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(sums.added[2], residual.sum(axis=0), rtol=1e-4, atol=1e-4)


def test_weights_are_repeated_rows():
    block, _ = problem().start(X, Y, WEIGHTS[:, None])
    rows = np.repeat(np.arange(90), WEIGHTS.astype(int))
    repeated, _ = problem().start(X[rows], Y[rows])
    one, other = (problem().step(each, COEF, INTERCEPT)[1].added for each in (block, repeated))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_the_gradient_is_the_slope_of_the_loss():
    """In double precision: K @ A in single precision has no finite differences to speak of."""
    scores, step = RNG.normal(size=Y.shape), 1e-6
    _, residual = masked_loss(scores.copy(), Y, WEIGHTS)
    for i, j in [(0, 0), (3, 1), (50, 2)]:
        moved = [scores.copy(), scores.copy()]
        moved[0][i, j] -= step
        moved[1][i, j] += step
        low, high = (masked_loss(each, Y, WEIGHTS)[0] for each in moved)
        assert (high - low) / (2 * step) == pytest.approx(residual[i, j], abs=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_of_any_size_give_the_same_sums(kernel):
    """What BLAS makes of a row in single precision does not depend on the rows around it."""
    found = []
    for size in (90, 37, 1):
        blocks = [problem(kernel).start(X[i : i + size], Y[i : i + size])[0]
                  for i in range(0, 90, size)]  # fmt: skip
        found.append([problem(kernel).step(each, COEF, INTERCEPT)[1].added for each in blocks])
    for sums in zip(*(zip(*each, strict=True) for each in found), strict=True):
        whole, *others = (np.sum(each, axis=0) for each in sums)
        for other in others:
            np.testing.assert_allclose(other, whole, rtol=1e-12, atol=1e-12)


def test_problems_travel_and_predictions_are_distributions():
    again = pickle.loads(pickle.dumps(problem()))
    block, _ = again.start(X, Y)
    a, b = (each.step(block, COEF, INTERCEPT)[1].added for each in (again, problem()))
    np.testing.assert_array_equal(a[1], b[1])
    P = KernelSoftmax(problem().map, COEF, INTERCEPT)(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P.min() > 0
