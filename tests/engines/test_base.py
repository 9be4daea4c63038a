"""What `engines/base.py` promises, of every engine and every row source."""

import gc
import threading
import time
import weakref
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import threaded
from distributed import Client, LocalCluster
from scipy import sparse
from threadpoolctl import ThreadpoolController, threadpool_limits

from inldl import WInLDL, hide
from inldl.engines import base, local, open_rows
from inldl.engines import dask as worker_parts
from inldl.engines.base import Engine, Sums, in_runs, row_blocks, start_block, take_step, total
from inldl.engines.chunks import ChunkedRows
from inldl.engines.dask import DaskEngine
from inldl.engines.local import DiskRows, LocalEngine, MemoryRows, contiguous
from inldl.solvers.loop import iterations, run
from inldl.solvers.winldl import WInLDLProblem
from inldl.weighting import get_weighting

N, K, C, CHUNK = 4500, 7, 3, 650
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, K)) * 10.0 ** RNG.integers(-6, 6, (N, 1))  # the order of adding shows
Y = hide(RNG.dirichlet(np.ones(C), N), 0.5, random_state=0)
ARRAYS = {"scale": RNG.uniform(size=(N, 1)), "shift": RNG.normal(size=(N, C))}
ENGINES = {
    "memory": LocalEngine,
    "disk": LocalEngine,
    "chunks": LocalEngine,
    "dask": DaskEngine,
}
WEIGHTS = [RNG.normal(size=(C, K)).T for _ in range(3)]  # not C-contiguous
CHUNKED = ("chunks", "dask")
ALIVE = weakref.WeakSet()


@dataclass(eq=False)
class Block:
    X: np.ndarray
    state: np.ndarray


class Toy:
    """A problem whose sums depend on all that blocks have gone through."""

    def start(self, X, y, scale=1, shift=0):
        block = Block(X, np.where(np.isnan(y), 0, y) * scale + shift)
        ALIVE.add(block)
        return block, Sums((X.T @ block.state, len(X)), (float(X.max()),))

    def step(self, block, weights):
        assert weights.flags.c_contiguous
        block.state = block.state / 2 + block.X @ weights
        return block, Sums((block.state.sum(axis=0), block.X.T @ block.state), (block.X.max(),))

    def blas(self, block):
        libraries = [library for group in base._libraries() for library in group]
        return block, Sums((0.0,), (max(float(each.get_num_threads()) for each in libraries),))

    def fail(self, block):
        raise LookupError("these rows are wrong")


class PlainEngine(Engine):
    """The contract in its simplest form: blocks in runs in parts, one after another."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.parts = []

    def load(self, problem, parts, names=()):
        self.problem = problem
        sources = [[b for rows in part for b in row_blocks(*rows)] for part in parts]
        self.parts = [in_runs(part, len(parts)) for part in sources]
        return self.each(partial(start_block, problem, names))

    def sweep(self, step, *message):
        return self.each(partial(take_step, self.problem, step, contiguous(message)))

    def each(self, function):
        found = [[[function(block) for block in run] for run in part] for part in self.parts]
        self.parts = [[[block for block, _ in run] for run in part] for part in found]
        return total(total(total(sums for _, sums in run) for run in part) for part in found)


@cache
def expected(chunked, names=()):
    """Return all sums of the toy: after the start, and after each step."""
    size, arrays = CHUNK if chunked else N, [X, Y, *(ARRAYS[name] for name in names)]
    parts = [[tuple(a[i : i + size] for a in arrays)] for i in range(0, N, size)]
    with PlainEngine() as engine:
        start = engine.load(Toy(), parts, names=names)
        return [start, *(engine.sweep("step", w) for w in WEIGHTS)]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=ENGINES)
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Have several blocks in each run, and several runs in each part."""
    monkeypatch.setattr(base, "MOST_BLOCK_ROWS", 64)
    monkeypatch.setattr(local, "BYTES_AT_ONCE", 2500)
    monkeypatch.setattr(local, "LARGE_MAP", 0)


@pytest.fixture
def opened(kind, client, tmp_path):
    """Return a function that opens an engine and its rows."""

    @contextmanager
    def open_engine(n_threads=1, arrays=None):
        with ExitStack() as stack:
            if kind == "dask":
                stack.enter_context(client.as_current())
            rows = source(kind, tmp_path, arrays or {})
            engine = stack.enter_context(rows.engine(n_threads, "toy"))
            assert type(engine) is ENGINES[kind]
            yield engine, rows

    return open_engine


def source(kind, folder, arrays=MappingProxyType({})):
    """Return the rows as they are given to each kind of engine, and what is arrays them."""
    if kind == "memory":
        return MemoryRows(X, Y, arrays=arrays)
    if kind == "disk":
        return DiskRows(mapped(folder), Y, arrays)
    chunked = (da.from_array(X, chunks=(CHUNK, 3)), da.from_array(Y, chunks=(CHUNK, -1)))
    return ChunkedRows(*chunked, arrays)


def mapped(folder, a=X, name="X"):
    a.tofile(folder / name)
    return np.memmap(folder / name, a.dtype, "r", shape=a.shape)


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.largest == other.largest
        for a, b in zip(one.added, other.added, strict=True):
            np.testing.assert_array_equal(a, b)


def kept_by_workers():
    return sum(len(fits) for fits in worker_parts._FITS.values())


@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_are_added_in_the_order_of_the_rows(kind, opened, n_threads):
    with opened(n_threads) as (engine, rows):
        found = [engine.load(Toy(), rows), *(engine.sweep("step", w) for w in WEIGHTS)]
        if kind != "dask":
            assert (engine.reader is not None) == (kind == "disk")
    assert_same(found, expected(kind in CHUNKED))


@pytest.mark.parametrize("names", [("scale",), ("scale", "shift")], ids="+".join)
def test_blocks_get_their_rows_of_the_arrays(kind, opened, names):
    arrays = {name: ARRAYS[name] for name in names}
    with opened(2, arrays) as (engine, rows):
        assert rows.arrays.keys() == arrays.keys()
        found = [engine.load(Toy(), rows), *(engine.sweep("step", w) for w in WEIGHTS)]
    assert_same(found, expected(kind in CHUNKED, names))


def test_arrays_may_be_where_the_features_are(kind, opened, tmp_path):
    arrays = dict(ARRAYS)
    if kind == "disk":
        arrays["shift"] = mapped(tmp_path, ARRAYS["shift"], "shift")
    elif kind != "memory":
        arrays = {name: da.from_array(a, chunks=(700, 1)) for name, a in ARRAYS.items()}
    with opened(1, arrays) as (engine, rows):
        found = engine.load(Toy(), rows)
    assert_same([found], expected(kind in CHUNKED, tuple(ARRAYS))[:1])


@pytest.mark.parametrize("kind", ["memory", "disk", "chunks"])
def test_arrays_must_have_the_rows_of_x(kind, tmp_path):
    given = {"memory": X, "disk": mapped(tmp_path), "chunks": da.from_array(X)}[kind]
    with pytest.raises(ValueError, match="X has 4500 rows and shift has 4499; give one row per"):
        open_rows(WInLDL(), given, Y, fitting=True, arrays={"shift": ARRAYS["shift"][1:]})


def test_the_order_of_adding_shows_in_these_rows():
    by_chunks, at_once = expected(True)[-1], expected(False)[-1]
    assert any((a != b).any() for a, b in zip(by_chunks.added, at_once.added, strict=True))


def test_errors_come_back_and_the_next_fit_is_fine(kind, opened):
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(LookupError, match="these rows are wrong"))
        engine, rows = stack.enter_context(opened(2))
        engine.load(Toy(), rows)
        engine.sweep("fail")
    with opened(2) as (engine, rows):
        assert_same([engine.load(Toy(), rows)], expected(kind in CHUNKED)[:1])


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_nothing_stays_behind(kind, opened, error, tmp_path):
    ALIVE.clear()  # of what other tests hold
    gc.freeze()  # so that the collector looks at new objects only, which is quick
    with threadpool_limits(2, user_api="blas"):
        numbers = [each["num_threads"] for each in threadpools()]
        threads = set(threading.enumerate())
        with ExitStack() as stack:
            if error is not None:
                stack.enter_context(pytest.raises(error))
            engine, rows = stack.enter_context(opened(3))
            engine.load(Toy(), rows)
            engine.sweep("step", WEIGHTS[0])
            assert ALIVE
            if error is not None:
                raise error
        assert [each["num_threads"] for each in threadpools()] == numbers
    assert [path for path in tmp_path.rglob("*") if path.name != "X"] == []
    if kind == "dask":  # whose threads belong to its workers, which drop a fit a little later
        until(lambda: not kept_by_workers())
    else:
        new = set(threading.enumerate()) - threads - threads_of_dask()
        assert not any("ThreadPool" in thread.name for thread in new)
    until(lambda: gc.collect() >= 0 and not ALIVE)


def threads_of_dask():
    """Return the threads that Dask keeps, for each number that it was once asked for."""
    pools = [pool for by_number in threaded.pools.values() for pool in by_number.values()]
    return {thread for pool in pools for thread in pool._threads}


def threadpools():
    return [each for each in ThreadpoolController().info() if each["user_api"] == "blas"]


def until(good, seconds=20):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not good() and time.monotonic() < end:
        time.sleep(0.05)
    assert good()


def test_blas_has_one_thread_inside(opened):
    with threadpool_limits(2, user_api="blas"), opened(2) as (engine, rows):
        engine.load(Toy(), rows)
        assert engine.sweep("blas").largest == (1.0,)


def test_an_engine_of_ones_own_runs_a_method():
    """It needs no more than the contract: one class, and no change elsewhere."""
    unit = X / np.abs(X).max(axis=1, keepdims=True)
    problem = WInLDLProblem(
        get_weighting("degree"),
        impute=True,
        rho=2.0,
        max_iter=9,
        ridge=1e-5,
        fit_intercept=True,
        close_rows=True,
    )
    with PlainEngine() as engine:
        found = run(iterations(problem, engine, [[(unit, Y)]], tol=0.0), max_iter=9)
    model = WInLDL(max_iter=9, tol=0.0).fit(unit, Y)
    np.testing.assert_array_equal(found.shared.coef, model.coef_)


@pytest.mark.parametrize("kind", ["memory", "disk", "chunks"])
def test_rows_are_mapped_where_they_are(kind, tmp_path):
    rows = source(kind, tmp_path)
    found = np.asarray(rows.map(lambda part: part[:, :2] * 2, 2))
    np.testing.assert_array_equal(found, X[:, :2] * 2)
    assert rows.in_memory == (kind == "memory")
    assert rows.label_names is None


@pytest.mark.parametrize("kind", ["memory", "disk", "chunks"])
def test_rows_are_mapped_with_their_degrees(kind, tmp_path):
    rows = source(kind, tmp_path, {"shift": ARRAYS["shift"]})

    def add(y, X, shift, first_row):
        return y + X[:, :1] + shift + first_row + np.arange(len(y))[:, None]

    found = np.asarray(rows.map_with_degrees(add, C))
    wanted = Y + X[:, :1] + ARRAYS["shift"] + np.arange(N)[:, None]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("rows", [[0], [5, 699, 700, 4000, N - 1], np.arange(N)], ids=len)
@pytest.mark.parametrize("kind", ["memory", "disk", "chunks"])
def test_some_rows_are_taken_into_memory(kind, rows, tmp_path):
    found = source(kind, tmp_path, ARRAYS).take(np.asarray(rows))
    assert type(found) is MemoryRows
    np.testing.assert_array_equal(found.X, X[rows])
    np.testing.assert_array_equal(found.y, Y[rows])
    assert found.arrays.keys() == ARRAYS.keys()
    for name, a in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], a[rows])


@pytest.mark.parametrize("kind", ["memory", "disk", "chunks"])
def test_degrees_are_looked_through_where_they_are(kind, tmp_path):
    found = source(kind, tmp_path).map_degrees(lambda y, first_row: (first_row, np.asarray(y)))
    assert len(found) == 1 or kind != "memory"
    assert [first for first, _ in found] == [0, *np.cumsum([len(y) for _, y in found])[:-1]]
    np.testing.assert_array_equal(np.concatenate([y for _, y in found]), Y)


def frame(a):
    return pd.DataFrame(a, columns=[f"c{j}" for j in range(a.shape[1])])


@pytest.mark.parametrize(
    ("given", "opened_as"),
    [
        ((X, Y), MemoryRows),
        ((X.tolist(), Y), MemoryRows),
        ((frame(X), frame(Y)), MemoryRows),
        ((sparse.csr_array(X), Y), MemoryRows),
        (("mapped", Y), DiskRows),
        ((da.from_array(X), Y), ChunkedRows),
        ((X, da.from_array(Y)), ChunkedRows),
        ((dd.from_pandas(frame(X), npartitions=2), frame(Y)), ChunkedRows),
    ],
    ids=["array", "list", "frame", "CSR", "mapped", "Dask X", "Dask y", "Dask frame"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_whatever_is_given_becomes_rows_that_know_where_they_are(given, opened_as, tmp_path):
    X_given, y_given = given
    X_given = mapped(tmp_path) if isinstance(X_given, str) else X_given
    model = WInLDL()
    rows = open_rows(model, X_given, y_given, fitting=True)
    assert type(rows) is opened_as
    assert (rows.X.shape, rows.y.shape, model.n_features_in_) == ((N, K), (N, C), K)
    assert (rows.label_names is not None) == hasattr(y_given, "columns")
    with pytest.raises(ValueError, match=r"is expecting 7 features|feature names"):
        open_rows(model, X[:, :5])
