"""Dask collections beyond the memory of this machine: the same bits, in little memory."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from inldl import WInLDL, hide
from inldl.engines import disk
from inldl.engines.chunks import ChunkedRows
from inldl.literature import InLDLADMM, InLDLProx

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
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_chunks_through_a_file_give_the_bits_of_chunks_in_memory(
    monkeypatch, tmp_path, table, method, n_jobs
):
    monkeypatch.setattr(disk, "BYTES_AT_ONCE", 1 << 17)  # several in a run
    X, y = (da.from_array(a, chunks=(7000, -1)) for a in table)
    expected = METHODS[method]().fit(X, y)
    with dask.config.set({**SMALL, "temporary-directory": str(tmp_path)}):
        same_bits(METHODS[method](n_jobs=n_jobs).fit(X, y), expected)
    assert not list(tmp_path.iterdir())


def test_parquet(tmp_path, table):
    both = pd.DataFrame(np.hstack(table), columns=list("abcdefghwxyz"))
    for i in range(4):
        both[7500 * i : 7500 * (i + 1)].to_parquet(tmp_path / f"rows.{i}.parquet")
    both = dd.read_parquet(tmp_path / "rows.*.parquet")
    X, y = both[list("abcdefgh")], both[list("wxyz")]
    expected = WInLDL().fit(X, y)
    with dask.config.set(SMALL):
        same_bits(WInLDL(n_jobs=2).fit(X, y), expected)


def test_whole_numbers_count_as_what_they_become():
    """As bytes they would take 1 MB and be loaded; as numbers of 8 bytes they take 7."""
    X = da.ones((30_000, 8), chunks=(7000, -1), dtype=np.int8)
    y = da.full((30_000, 4), 0.25, chunks=(7000, -1))
    with dask.config.set({"inldl.memory-limit": "5 MB"}):
        assert not ChunkedRows(X, y).fits_into_memory()
    with dask.config.set({"inldl.memory-limit": "50 MB"}):
        assert ChunkedRows(X, y).fits_into_memory()


def test_bad_rows_are_named(table):
    X, y = table
    bad = X.copy()
    bad[20_000, 3] = np.inf
    with dask.config.set(SMALL), pytest.raises(ValueError, match="Input X contains infinity"):
        WInLDL().fit(da.from_array(bad, chunks=(7000, -1)), y)


def test_too_little_room_is_said_before_anything_is_written(tmp_path):
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    X = da.zeros((free // 80, 20), chunks=(1_000_000, -1))
    y = da.full((free // 80, 2), 0.5, chunks=(1_000_000, -1))
    where = {**SMALL, "temporary-directory": str(tmp_path)}
    message = f"free in {re.escape(str(tmp_path))}; name a folder with more room"
    with dask.config.set(where), pytest.raises(ValueError, match=message):
        WInLDL().fit(X, y)


def test_the_file_is_read_where_threads_cannot_read_at_once(monkeypatch, table):
    monkeypatch.delattr(disk.os, "preadv", raising=False)
    X, y = (da.from_array(a, chunks=(7000, -1)) for a in table)
    with dask.config.set(SMALL):
        same_bits(WInLDL(n_jobs=3).fit(X, y), WInLDL().fit(X, y))


@pytest.mark.slow
def test_memory_stays_below_a_limit_that_the_features_exceed(tmp_path):
    """640 MB of features in Parquet with 320 MB to spend, of which the state takes 50."""
    rng = np.random.default_rng(0)
    X = rng.random((80_000, 400), dtype=np.float32)
    y = rng.dirichlet(np.ones(4), 80_000).astype(np.float32)
    y[rng.random(y.shape) < 0.5] = np.nan
    both = pd.DataFrame(np.hstack([X, y]), columns=[f"c{j}" for j in range(404)])
    both.to_parquet(tmp_path / "rows.0.parquet", row_group_size=10_000)
    for i in range(1, 5):
        shutil.copy(tmp_path / "rows.0.parquet", tmp_path / f"rows.{i}.parquet")
    code = """
        import resource, sys
        import dask, dask.dataframe as dd
        from inldl import WInLDL
        both = dd.read_parquet(sys.argv[1], split_row_groups=True)
        X, y = both.iloc[:, :400], both.iloc[:, 400:]
        model = WInLDL(max_iter=2, tol=0)
        with dask.config.set({"inldl.memory-limit": "320 MB"}):
            model.fit(X.partitions[0], y.partitions[0])
            def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            before = used()
            model.fit(X, y)
        print(used() - before)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), tmp_path / "rows.*.parquet"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 320
