"""Vectors in kernels against NumPy."""

import numpy as np
import pytest

from inldl import kernels
from inldl.kernels.compile import any_above, fill, if_above, if_nan, kernel, load, magnitude, store


@kernel
def _work(a, b, out):
    x, y = load(a, 0), load(b, 0)
    zero = fill(x, 0)
    sum_ = x + y
    sum_ += fill(x, 0.5)
    results = (
        sum_,
        x - y,
        x * y,
        x / y,
        if_above(x, y, x, y),
        if_nan(x, zero, x),
        magnitude(x),
    )
    for i, result in enumerate(results):
        store(out, i * a.size, result)
    return any_above(x, y), any_above(zero, zero)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_operations(dtype):
    size = kernels.lane_count(np.dtype(dtype))
    a, b = np.random.default_rng(0).normal(size=(2, size)).astype(dtype)
    a[1] = np.nan
    out = np.empty((7, size), dtype)
    some, none = _work(a, b, out)
    expected = [
        a + b + dtype(0.5),
        a - b,
        a * b,
        a / b,
        np.where(a > b, a, b),
        np.where(np.isnan(a), 0, a),
        abs(a),
    ]
    np.testing.assert_allclose(out, expected, rtol=4 * np.finfo(dtype).eps)
    assert some == (a > b).any()
    assert not none
