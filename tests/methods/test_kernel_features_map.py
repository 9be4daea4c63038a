"""The sample that a kernel is learned from, and the features that it gives."""

import dask.array as da
import numpy as np
import pytest

from inldl.engines.chunks import ChunkedRows
from inldl.engines.local import MemoryRows
from inldl.methods.kernel_features import KernelMap, draw_sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = RNG.dirichlet(np.ones(4), 60)
WEIGHTS = (np.arange(60) % 2).astype(float)[:, None]


def source(chunked, weights):
    beside = {"sample_weight": weights} if weights is not None else {}
    if chunked:
        return ChunkedRows(da.from_array(X, chunks=(17, -1)), Y, beside)
    return MemoryRows(X, Y, arrays=beside)


def sample(rows, seed, most=60):
    return draw_sample(rows, most, seed, fewest=5)[1]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_the_same_rows_are_drawn_everywhere(weights):
    here, there = sample(source(False, weights), 3, 20), sample(source(True, weights), 3, 20)
    np.testing.assert_array_equal(here.X, there.X)
    np.testing.assert_array_equal(here.y, there.y)
    assert len(here.X) == (20 if weights is None else here.arrays["sample_weight"].sum())
    assert not np.array_equal(here.X, sample(source(False, weights), 4, 20).X)


def test_few_rows_are_all_taken():
    rows = source(False, None)
    assert sample(rows, 0) is rows
    np.testing.assert_array_equal(sample(source(True, WEIGHTS), 0).X, X[1::2])


def test_rows_without_weight_alone_are_refused():
    with pytest.raises(ValueError, match=r"None of 60 random rows.*leave out the rows without"):
        sample(source(True, np.zeros((60, 1))), 0)


def test_products_of_features_are_the_kernel_where_all_rows_are_landmarks():
    features = KernelMap().fit(source(False, None), "laplacian", 60, 0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = np.abs(scaled[:, None] - scaled).sum(axis=2)
    median = np.median(distances[np.triu_indices(60, 1)])
    expected = np.exp(-features.scale_ * distances / median)
    F = features(X)
    assert F.shape == (60, features.n_features_out_)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-8)


def test_rows_that_are_too_large_are_nan():
    F = KernelMap().fit(MemoryRows(X / 4, Y), "rbf", 10, 0)(
        np.vstack([X[:1] / 4, np.sign(X[:1]) * 1.7e308])
    )
    assert np.isfinite(F[0]).all()
    assert np.isnan(F[1]).all()
