"""The sample of rows: the same from every place, with rare labels, without weightless rows."""

import dask.array as da
import numpy as np
import pytest

from inldl.engines.chunks import ChunkedRows
from inldl.engines.local import DiskRows, MemoryRows
from inldl.errors import DataError
from inldl.methods import kernel_features
from inldl.methods.auto_all_rows import is_large
from inldl.methods.auto_fitting import SAMPLE_ROWS

N = 5000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 210)), RNG.dirichlet(np.ones(3), N)  # of several pieces on disk
MANY = np.zeros((SAMPLE_ROWS + 1, 1))


def draw_sample(rows, seed, most=400):
    return kernel_features.draw_sample(rows, most, seed, fewest=30)


def sources(y, weights=None):
    beside = {} if weights is None else {"sample_weight": weights[:, None]}
    yield MemoryRows(X, y, None, beside)
    yield DiskRows(X, y, beside)
    yield ChunkedRows(
        da.from_array(X, chunks=(700, 100)), da.from_array(y, chunks=(900, -1)), beside
    )


def test_the_same_rows_from_every_place():
    rare = Y.copy()
    rare[::2, 1] = np.nan
    rare[10:, 2] = np.nan
    rare[np.arange(0, N, 20), 2] = 0.1
    samples = [draw_sample(rows, seed=3) for rows in sources(rare)]
    numbers = samples[0][0]
    assert (np.diff(numbers) > 0).all()
    for found, sample in samples:
        np.testing.assert_array_equal(found, numbers)
        np.testing.assert_array_equal(sample.X, X[numbers])
        np.testing.assert_array_equal(sample.y, rare[numbers])
    seen = ~np.isnan(rare[numbers])
    assert 400 < len(numbers) <= 430
    assert seen.sum(axis=0)[2] >= 30
    assert (draw_sample(MemoryRows(X, rare), seed=4)[0][:10] != numbers[:10]).any()


def test_rows_of_a_rare_label_are_spread_over_the_table():
    rare = Y.copy()
    rare[:, 0] = np.nan
    rare[np.arange(0, N, 25), 0] = 0.2  # 200 of them
    numbers, sample = draw_sample(MemoryRows(X, rare), seed=0)
    found = numbers[~np.isnan(sample.y[:, 0])]
    assert 30 <= len(found) < 60
    assert found.min() < N / 5
    assert found.max() > 4 * N / 5


def test_weightless_rows_are_left_out():
    weights = np.where(np.arange(N) % 2, 2.0, 0.0)
    for rows in sources(Y, weights):
        numbers, sample = draw_sample(rows, seed=0)
        assert (numbers % 2).all()
        assert (sample.arrays["sample_weight"] == 2).all()
        np.testing.assert_array_equal(sample.y, Y[numbers])


def test_few_rows_are_all_taken():
    for rows in sources(Y):
        numbers, sample = draw_sample(rows, seed=0, most=N)
        np.testing.assert_array_equal(numbers, np.arange(N))
        np.testing.assert_array_equal(sample.y, Y)


def test_a_label_that_nobody_observed_is_refused():
    y = Y.copy()
    y[:, 1] = np.nan
    for rows in sources(y):
        with pytest.raises(DataError, match="Label column 1 of y has no observed degree"):
            draw_sample(rows, seed=0)


@pytest.mark.parametrize(
    ("given", "large"),
    [
        ((MANY[1:], MANY[1:]), False),
        ((MANY, MANY), True),
        ((MANY.tolist(), MANY), True),
        ((da.from_array(X[:9]), Y), True),
        ((X[:9], da.from_array(Y)), True),
        ((MANY, MANY, np.arange(len(MANY)).astype(float)), False),
        ((MANY, MANY, np.ones(len(MANY))), True),
        ((None, Y), False),
    ],
    ids=["few", "many", "list", "Dask X", "Dask y", "few count", "all count", "nothing"],
)
def test_what_is_large(given, large):
    assert is_large(*given) == large
