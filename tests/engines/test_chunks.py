"""Dask collections without a cluster: rows in memory, or a refusal before any is loaded."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from inldl import WInLDL, hide
from inldl_paper.literature import InLDLADMM, InLDLProx

METHODS = {"winldl": WInLDL, "inldl-a": InLDLADMM, "inldl-p": InLDLProx}
SMALL = {"inldl.memory-limit": "1 MB"}


@pytest.fixture(params=[np.float64, np.float32])
def table(request):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 8)), rng.dirichlet(np.ones(4), 30_000)
    return X.astype(request.param), hide(y, 0.5, random_state=0).astype(request.param)


def same_bits(model, expected):
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    assert model.n_iter_ == expected.n_iter_


@pytest.mark.parametrize("method", METHODS)
def test_threads_of_any_number_give_the_same_bits(table, method):
    X, y = (da.from_array(a, chunks=(7000, -1)) for a in table)
    expected = METHODS[method]().fit(X, y)
    for n_jobs in (2, 4):
        same_bits(METHODS[method](n_jobs=n_jobs).fit(X, y), expected)


def test_parquet(tmp_path, table):
    both = pd.DataFrame(np.hstack(table), columns=list("abcdefghwxyz"))
    for i in range(4):
        both[7500 * i : 7500 * (i + 1)].to_parquet(tmp_path / f"rows.{i}.parquet")
    both = dd.read_parquet(tmp_path / "rows.*.parquet")
    X, y = both[list("abcdefgh")], both[list("wxyz")]
    found = WInLDL().fit(X, y)
    same_bits(WInLDL(n_jobs=2).fit(X, y), found)
    np.testing.assert_allclose(found.coef_, WInLDL().fit(*table).coef_, atol=1e-8)


def never(block):
    raise AssertionError("a chunk was computed")


def test_rows_beyond_memory_are_refused_before_any_is_loaded():
    X = da.ones((30_000, 8), chunks=(7000, -1)).map_blocks(never, meta=np.empty((0, 0)))
    y = da.full((30_000, 4), 0.25, chunks=(7000, -1))
    message = r"these 30000 rows needs 0\.0067 GB, but may use 0\.0007 GB .*; write X to disk"
    with dask.config.set(SMALL), pytest.raises(ValueError, match=message):
        WInLDL().fit(X, y)


def test_the_advice_for_rows_beyond_memory_works(tmp_path, table):
    zarr = pytest.importorskip("zarr")
    X, y = (da.from_array(a, chunks=(7000, -1)) for a in table)
    with dask.config.set(SMALL):
        with pytest.raises(ValueError, match="zarr"):
            WInLDL().fit(X, y)
        X.to_zarr(str(tmp_path / "X.zarr"))
        found = WInLDL(n_jobs=2).fit(zarr.open(str(tmp_path / "X.zarr")), y.compute())
    same_bits(found, WInLDL().fit(*table))


def test_whole_numbers_count_as_what_they_become():
    """As bytes they would take 1 MB and be loaded; as numbers of 8 bytes they take 7."""
    X = da.random.default_rng(0).integers(0, 9, (30_000, 8), chunks=(7000, -1), dtype=np.int8)
    y = da.full((30_000, 4), 0.25, chunks=(7000, -1))
    limits = dask.config.set({"inldl.memory-limit": "5 MB"})
    with limits, pytest.raises(ValueError, match=r"but may use 0\.0035 GB"):
        WInLDL().fit(X, y)
    with dask.config.set({"inldl.memory-limit": "50 MB"}):
        WInLDL().fit(X, y)


def test_bad_rows_are_named(table):
    X, y = table
    bad = X.copy()
    bad[20_000, 3] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        WInLDL().fit(da.from_array(bad, chunks=(7000, -1)), y)
