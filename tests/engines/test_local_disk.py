"""Features on disk: the same as in memory, to the bit, in little memory."""

import subprocess
import sys
import textwrap
from contextlib import ExitStack
from functools import cache

import numpy as np
import pytest

from inldl import WInLDL, hide
from inldl.engines import local
from inldl_paper.literature import InLDLADMM, InLDLProx

METHODS = {"winldl": WInLDL, "inldl-a": InLDLADMM, "inldl-p": InLDLProx}


@pytest.fixture
def small_files(monkeypatch):
    """Have files of any size read in pieces of few blocks."""
    monkeypatch.setattr(local, "LARGE_MAP", 0)
    monkeypatch.setattr(local, "BYTES_AT_ONCE", 1 << 18)


@cache
def make_table(dtype):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 8)), rng.dirichlet(np.ones(4), 30_000)
    return X.astype(dtype), hide(y, 0.5, random_state=0)


@pytest.fixture(params=[np.float64, np.float32])
def table(request):
    return make_table(np.dtype(request.param))


def mapped(path, array, **options):
    array.tofile(path)
    return np.memmap(path, array.dtype, "r", shape=array.shape, **options)


@pytest.fixture(scope="module")
def in_memory():
    """Return a function that fits a method to the table of a precision, once."""
    return cache(lambda method, dtype: METHODS[method]().fit(*make_table(dtype)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_a_mapped_file_gives_the_same_bits(
    tmp_path, small_files, table, in_memory, method, n_jobs
):
    X, y = table
    in_memory = in_memory(method, X.dtype)
    on_disk = METHODS[method](n_jobs=n_jobs).fit(
        mapped(tmp_path / "X", X), mapped(tmp_path / "y", y)
    )
    np.testing.assert_array_equal(on_disk.coef_, in_memory.coef_)
    np.testing.assert_array_equal(on_disk.intercept_, in_memory.intercept_)
    assert on_disk.n_iter_ == in_memory.n_iter_


def test_stores_give_the_same_bits(tmp_path, table, in_memory):
    zarr = pytest.importorskip("zarr")
    X, y = table
    store = zarr.create_array(tmp_path / "X.zarr", shape=X.shape, chunks=(7000, 8), dtype=X.dtype)
    store[:] = X
    degrees = zarr.create_array(tmp_path / "y.zarr", shape=y.shape, chunks=(999, 4), dtype=y.dtype)
    degrees[:] = y
    in_memory = in_memory("winldl", X.dtype)
    on_disk = WInLDL().fit(store, degrees)
    np.testing.assert_array_equal(on_disk.coef_, in_memory.coef_)
    np.testing.assert_allclose(on_disk.predict(store), in_memory.predict(X), rtol=0, atol=1e-6)


def test_hdf5_gives_the_same_bits(tmp_path, table, in_memory):
    h5py = pytest.importorskip("h5py")
    X, y = table
    in_memory = in_memory("winldl", X.dtype)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        stored = file.create_dataset("X", data=X, chunks=(4000, 8))
        degrees = file.create_dataset("y", data=y)
        on_disk = WInLDL(n_jobs=2).fit(stored, degrees)
        np.testing.assert_array_equal(on_disk.coef_, in_memory.coef_)
        np.testing.assert_array_equal(on_disk.predict(stored), in_memory.predict(X))


@pytest.mark.parametrize("kind", ["zarr", "h5py"])
def test_some_rows_of_stores_are_taken(tmp_path, kind):
    module = pytest.importorskip(kind)
    width = local.BYTES_AT_ONCE // (7 * 8)  # so rows 0 to 6, 7 to 13, ... are read at once
    X, y = np.arange(40.0 * width).reshape(40, width), np.full((40, 2), 0.5)
    with ExitStack() as stack:
        if kind == "zarr":
            store = module.create_array(
                tmp_path / "X", shape=X.shape, chunks=(9, width), dtype=X.dtype
            )
        else:
            file = stack.enter_context(module.File(tmp_path / "X.h5", "w"))
            store = file.create_dataset("X", shape=X.shape, dtype=X.dtype)
        store[:] = X
        assert local.is_on_disk(store)
        for rows in ([0, 6, 7, 20, 39], [13], np.arange(40)):
            found = local.DiskRows(store, y).take(np.array(rows))
            np.testing.assert_array_equal(found.X, X[rows])
            assert len(found.y) == len(rows)


def test_parts_of_maps_and_changed_maps_are_read_right(tmp_path, small_files):
    X = np.arange(4000.0).reshape(1000, 4)
    whole = mapped(tmp_path / "X", X)
    rows = slice(10, 20)
    np.testing.assert_array_equal(local.read_rows(whole, rows), X[rows])
    np.testing.assert_array_equal(local.read_rows(whole[100:], rows), X[100:][rows])
    np.testing.assert_array_equal(local.read_rows(whole[:, 1:3], rows), X[:, 1:3][rows])
    np.testing.assert_array_equal(local.read_rows(whole[::2], rows), X[::2][rows])
    with (tmp_path / "more").open("wb") as file:
        file.write(b"a header")
        file.write(X.tobytes())
    behind = np.memmap(tmp_path / "more", X.dtype, "r", offset=8, shape=X.shape)
    np.testing.assert_array_equal(local.read_rows(behind[5:], rows), X[5:][rows])
    own = np.memmap(tmp_path / "X", X.dtype, "c", shape=X.shape)
    own[12] = -1
    assert (local.read_rows(own, rows)[2] == -1).all()


def test_only_large_maps_are_read_in_pieces(tmp_path):
    small = mapped(tmp_path / "X", np.zeros((10, 2)))
    assert not local.is_on_disk(small)
    assert not local.is_on_disk(np.zeros((10, 2)))
    assert local.is_on_disk(np.memmap(tmp_path / "large", np.float32, "w+", shape=(1 << 25, 2)))


def test_bad_rows_are_refused_as_in_memory(tmp_path, small_files, table):
    X, y = table
    bad = X.copy()
    bad[20_000, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        WInLDL().fit(mapped(tmp_path / "bad", bad), y)
    on_disk = mapped(tmp_path / "X", X)
    with pytest.raises(ValueError, match=r"Label column 1 of y has no observed degree"):
        WInLDL().fit(on_disk, np.where(np.arange(4) == 1, np.nan, y))
    with pytest.raises(ValueError, match="X has 30000 rows and y has 29999"):
        WInLDL().fit(on_disk, y[1:])
    with pytest.raises(ValueError, match="cross_fit needs X and y in memory"):
        WInLDL(cross_fit=5).fit(on_disk, y)
    with pytest.warns(UserWarning, match=r"complete rows of y do not sum to 1, first row 25000"):
        WInLDL().fit(on_disk, np.where(np.arange(30_000)[:, None] == 25_000, 0.5, y))
    with pytest.raises(ValueError, match="X has 7 features, but WInLDL is expecting 8 features"):
        WInLDL().fit(X, y).predict(on_disk[:, 1:])


@pytest.mark.slow
def test_memory_stays_below_a_limit_that_the_features_exceed(tmp_path):
    """800 MB of features with 300 MB to spend, of which the state of the rows takes 130."""
    n, k = 1_000_000, 200
    X = np.memmap(tmp_path / "X", np.float32, "w+", shape=(n, k))
    rng = np.random.default_rng(0)
    for start in range(0, n, 50_000):
        X[start : start + 50_000] = rng.random((50_000, k), dtype=np.float32)
    X.flush()
    code = """
        import resource, sys
        import numpy as np
        from inldl import WInLDL
        y = np.tile(np.array([0.2, np.nan, 0.5, np.nan], np.float32), (1_000_000, 1))
        y[::7] = [0.1, 0.2, 0.3, 0.4]
        WInLDL(max_iter=2, tol=0).fit(np.zeros((100, 200), np.float32), y[:100])
        X = np.memmap(sys.argv[1], np.float32, "r", shape=(1_000_000, 200))
        def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        before = used()
        WInLDL(max_iter=2, tol=0).fit(X, y)
        print(used() - before)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), tmp_path / "X"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 300
