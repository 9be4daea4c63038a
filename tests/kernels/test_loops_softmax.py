"""The softmax loss of rows against SciPy and finite differences."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax

from inldl.kernels import masked_softmax_rows


def loss(scores, degrees, counted):
    log_q = log_softmax(scores, axis=1)
    return (counted * np.exp(log_q) - degrees * log_q).sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loss_and_gradient(dtype):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 4)).astype(dtype) * 3
    counted = (rng.random((6, 4)) < 0.6) * rng.uniform(0.5, 2, (6, 1))
    degrees = counted * rng.dirichlet(np.ones(4), 6)
    expected = loss(scores.astype(float), degrees, counted)
    flat = scores.astype(float).ravel()
    slope = approx_fprime(flat, lambda s: loss(s.reshape(6, 4), degrees, counted), 1e-7)
    found = scores.copy()
    assert masked_softmax_rows(found, degrees, counted) == pytest.approx(expected, rel=1e-6)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.ravel(), slope, atol=2e-6)


def test_scores_of_any_size():
    scores = np.array([[1000.0, 0.0], [-1000.0, 0.0]])
    degrees, counted = np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones((2, 2))
    assert masked_softmax_rows(scores, degrees, counted) == pytest.approx(2.0)
    np.testing.assert_allclose(scores, 0, atol=1e-12)
