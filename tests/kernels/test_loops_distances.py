"""Distances against SciPy's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from inldl import kernels


@pytest.mark.parametrize("n", [1, 4, 11])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_l1_distances(n, dtype):
    rng = np.random.default_rng(0)
    Z, L = rng.normal(size=(n, 5)).astype(dtype), rng.normal(size=(13, 5)).astype(dtype)
    found = np.full((n, 13), np.nan, dtype)
    kernels.l1_distances(Z, np.ascontiguousarray(L.T), found)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, cdist(Z, L, "cityblock"), rtol=tolerance)
