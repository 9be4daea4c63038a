"""Shrinkage of singular values against the decomposition itself."""

import numpy as np
import pytest

from inldl_paper.solvers.shrinkage import shrink_singular_values


@pytest.mark.parametrize("shape", [(200, 7), (7, 200), (5, 5), (30, 1), (1, 4)])
@pytest.mark.parametrize("tau", [0.0, 0.1, 3.0, 1e3])
@pytest.mark.parametrize("hard", [False, True])
def test_equals_the_decomposition(shape, tau, hard):
    A = np.random.default_rng(0).normal(size=shape)
    u, s, v = np.linalg.svd(A, full_matrices=False)
    left = np.where(s > tau, s if hard else s - tau, 0)
    Z, norm = shrink_singular_values(A, tau, hard=hard)
    np.testing.assert_allclose(Z, (u * left) @ v, rtol=0, atol=1e-12)
    assert norm == pytest.approx(left.sum())


def test_of_nothing_is_nothing():
    Z, norm = shrink_singular_values(np.zeros((9, 3)), 0.5)
    assert norm == 0
    assert not Z.any()
