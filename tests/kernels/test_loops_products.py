"""The product kernels against BLAS, where rows and labels divide and where they do not."""

import numpy as np
import pytest

from inldl import kernels


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [4, 5, 6, 7, 8, 65])
@pytest.mark.parametrize("C", [2, 3, 4, 9])
@pytest.mark.parametrize("k", [1, 3, 100])
def test_products(m, k, C, dtype):
    rng = np.random.default_rng(0)
    X, W, R = (rng.normal(size=shape).astype(dtype) for shape in ((m, k), (C, k), (C, m)))
    tolerance = {"rtol": 0, "atol": 1e-12 if dtype == np.float64 else 1e-4}
    np.testing.assert_allclose(kernels.narrow_fitted(X, W), W @ X.T, **tolerance)
    np.testing.assert_allclose(kernels.narrow_moments(R, X), R @ X, **tolerance)
