"""The Dask engine on real worker processes: the same bits whatever happens to them."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from threadpoolctl import threadpool_limits

import inldl
from dask_workers import (
    HERE,
    Workers,
    be_of_version,
    chunked,
    fill_memory,
    forget_everything,
    free_memory,
    hurry,
    interrupted,
    keys_in_memory,
    problem,
    status,
)
from inldl import WInLDL
from inldl.engines import chunks
from inldl_paper.literature import InLDLADMM, InLDLProx

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="kills processes by signals"),
]
METHODS = [WInLDL, InLDLADMM, InLDLProx]
SLOW = pytest.mark.slow
ONE_IS_QUICK = [WInLDL, *(pytest.param(each, marks=SLOW) for each in METHODS[1:])]


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        workers = Workers(cluster, client, folder)
        yield workers
        for process in workers.processes:
            process.terminate()
        for process in workers.processes:
            process.wait()


def assert_same(model, expected):
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    assert model.n_iter_ == expected.n_iter_
    for name, column in expected.history_.items():
        np.testing.assert_array_equal(model.history_[name], column)


@pytest.fixture(scope="module")
def expected():
    """Return what one thread of this process finds."""
    return {method: method(max_iter=9, tol=0.0).fit(*chunked()) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing_and_chunks_little(method, expected):
    for n_jobs in (2, 4):
        model = method(max_iter=9, tol=0.0, n_jobs=n_jobs).fit(*chunked())
        assert_same(model, expected[method])
    for other in (chunked(rows=4000), chunked(rows=37), problem()):
        model = method(max_iter=9, tol=0.0).fit(*other)
        np.testing.assert_allclose(model.coef_, expected[method].coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "n_workers", [pytest.param(1, marks=SLOW), 2, pytest.param(4, marks=SLOW)]
)
def test_workers_of_any_number_give_the_bits_of_threads(workers, expected, n_workers):
    workers.at_least(n_workers)
    for method in METHODS:
        model = workers.fit(method(max_iter=9, tol=0.0), *chunked())
        assert_same(model, expected[method])
    assert workers.fits_kept() == 0


def test_threads_of_blas_change_nothing(workers):
    """From some hundred features on they change the last bits of a factorisation."""
    workers.at_least(1)
    X, y = chunked(1000, 243, columns=-1)
    expected = WInLDL(max_iter=5).fit(X, y)
    with threadpool_limits(2, user_api="blas"):
        assert_same(workers.fit(WInLDL(max_iter=5), X, y), expected)


@SLOW
def test_a_worker_leaves_and_another_comes(workers, expected):
    workers.at_least(2)

    def change():
        leaving = workers.processes[0]
        workers.client.retire_workers([workers.addresses()[leaving.pid]], close_workers=True)
        leaving.wait(timeout=300)
        workers.at_least(2)

    model = workers.fit(interrupted(InLDLProx, 3, change), *chunked())
    assert_same(model, expected[InLDLProx])


@SLOW
def test_the_last_worker_is_killed_before_another_comes(workers, expected):
    workers.at_least(1)

    def change():
        for process in workers.processes:
            workers.kill(process)
        workers.start(1)

    model = workers.fit(interrupted(InLDLADMM, 3, change), *chunked())
    assert_same(model, expected[InLDLADMM])


def test_workers_that_forget_are_told_again(workers, expected):
    workers.at_least(1)
    model = interrupted(WInLDL, 6, lambda: workers.client.run(forget_everything))
    assert_same(workers.fit(model, *chunked()), expected[WInLDL])


def test_a_worker_is_busy_with_something_else(workers, expected):
    workers.at_least(2)
    others = []

    def keep_busy():
        busy = next(iter(workers.addresses().values()))
        others.extend(workers.client.map(time.sleep, [1.0] * 4, workers=[busy], pure=False))

    model = workers.fit(interrupted(WInLDL, 4, keep_busy), *chunked())
    assert_same(model, expected[WInLDL])


def test_chunks_are_not_held_twice(workers):
    """Dask holds nothing of X and y once the blocks are built, only the sums of the last sweep."""
    workers.at_least(1)
    others = []

    def look():
        """Ask until workers have freed what they were told to free, for a minute at most."""
        for _ in range(600):
            keys = [key for held in workers.client.run(keys_in_memory).values() for key in held]
            others[:] = [[key for key in keys if not key.startswith("winldl-step-")]]
            if not others[0]:
                break
            time.sleep(0.1)

    workers.fit(interrupted(WInLDL, 4, look), *chunked())
    assert others == [[]]


def test_a_persisted_array_stays_where_it_is(workers, expected):
    workers.at_least(2)
    X, y = chunked()
    with workers.client.as_current():
        X, y = (a.rechunk((300, -1)).persist() for a in (X, y))
        assert_same(WInLDL(max_iter=9, tol=0.0).fit(X, y), expected[WInLDL])


def test_errors_come_back_and_nothing_stays_on_the_workers(workers):
    workers.at_least(1)
    X, y = chunked()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        workers.fit(WInLDL(), da.where(X > 3.4, np.nan, X), y)
    with pytest.raises(KeyboardInterrupt):
        workers.fit(interrupted(WInLDL, 3, interrupt), X, y)
    y = da.where(da.arange(4000)[:, None] == 2345, 2.0, y)
    with workers.client.as_current(), pytest.warns(UserWarning, match="in row 2345") as found:
        WInLDL(max_iter=2).fit(X, y)
    assert found[0].filename == __file__
    assert workers.fits_kept() == 0


def test_a_failed_fit_leaves_no_tasks_to_the_next(workers):
    """Their chunks would wait for the workers of the failed fit, also if these are gone."""
    workers.at_least(1)
    X, y = chunked()
    with pytest.raises(ValueError, match="Input X contains NaN") as kept:
        workers.fit(WInLDL(), da.where(X > 3.4, np.nan, X), y)
    assert kept.tb  # which holds the futures
    assert workers.tasks_left("load-part") == []


def interrupt():
    signal.raise_signal(signal.SIGINT)  # in this thread, at once; os.kill may hit another


CLIENT = """
    import os, signal, sys
    from importlib import import_module
    import dask_workers
    from distributed import Client

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    if __name__ == "__main__":
        with Client(sys.argv[1]):
            method = getattr(import_module(sys.argv[2]), sys.argv[3])
            model = dask_workers.interrupted(method, 6, die)
            model.fit(*dask_workers.chunked())
"""


@SLOW
@pytest.mark.parametrize("method", METHODS)
def test_the_client_is_killed_and_the_next_one_is_fine(workers, expected, method):
    workers.at_least(2)
    arguments = [workers.cluster.scheduler_address, method.__module__, method.__name__]
    died = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CLIENT), *arguments],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert workers.fits_kept(seconds=0) > 0
    model = method(max_iter=9, tol=0.0)
    assert_same(workers.fit(model, *chunked()), expected[method])


@SLOW
def test_what_a_dead_client_left_is_dropped(workers):
    """The tests before killed clients in the middle of a fit."""
    workers.client.run(hurry)
    assert workers.fits_kept() == 0


def test_traffic_does_not_grow_with_the_rows(workers, monkeypatch):
    workers.at_least(2)
    monkeypatch.setattr(chunks, "PARTS", 16)
    sent, write = [0], TCP.write

    async def counting(self, *arguments, **options):
        size = await write(self, *arguments, **options)
        sent[0] += size
        return size

    monkeypatch.setattr(TCP, "write", counting)

    def bytes_of_an_iteration(n, rows):
        model, found = WInLDL(max_iter=12, tol=0.0, verbose=1), []
        model._report = lambda t, changes: found.append(sent[0])
        workers.fit(model, *chunked(n, k=40, C=20, rows=rows, columns=-1))
        return (found[-1] - found[1]) / 10

    once, four_times = bytes_of_an_iteration(3200, 50), bytes_of_an_iteration(12800, 50)
    assert four_times == pytest.approx(once, rel=0.1)
    larger_chunks = bytes_of_an_iteration(12800, 200)
    assert larger_chunks == pytest.approx(once, rel=0.1)


def test_workers_of_another_version_are_refused(workers):
    workers.at_least(1)

    def change():
        workers.client.run(be_of_version, "0.0.1")
        workers.client.run(forget_everything)  # so that they load, as a new worker would

    refused = r"worker tcp://\S+ has inldl 0\.0\.1, and this is inldl .*; install the same version"
    with pytest.raises(RuntimeError, match=refused):
        workers.fit(interrupted(WInLDL, 3, change), *chunked())
    with pytest.raises(RuntimeError, match=refused):
        workers.fit(WInLDL(), *chunked())
    workers.client.run(be_of_version, inldl.__version__)


# After the quick ones, which would start another worker.
@pytest.mark.parametrize("method", ONE_IS_QUICK)
def test_a_worker_is_killed(workers, expected, method):
    workers.at_least(2)
    model = interrupted(method, 4, lambda: workers.kill(workers.processes[0]))
    assert_same(workers.fit(model, *chunked()), expected[method])


@SLOW
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="stops a process")
def test_a_frozen_worker_is_not_waited_for(workers, expected):
    """It says nothing for as long as the timeout, so its parts are loaded elsewhere."""
    workers.at_least(2)
    frozen = workers.processes[0]
    model = interrupted(WInLDL, 4, lambda: os.kill(frozen.pid, signal.SIGSTOP))
    try:
        with dask.config.set({"inldl.worker-timeout": "4s"}):
            assert_same(workers.fit(model, *chunked()), expected[WInLDL])
    finally:
        workers.kill(frozen)


@SLOW
def test_all_workers_are_killed(workers):
    workers.at_least(1)

    def kill_all():
        for process in workers.processes:
            workers.kill(process)

    with (
        dask.config.set({"inldl.worker-timeout": "2s"}),
        pytest.raises(RuntimeError, match="no running worker for 2 s, so the fit cannot go on"),
    ):
        workers.fit(interrupted(WInLDL, 3, kill_all), *chunked())


@SLOW
def test_memory_is_full_for_a_while_or_for_good(workers, expected):
    """A worker that Dask pauses is there, but does nothing until it has memory again."""
    workers.one("--memory-limit", "600 MB")

    def pause():
        workers.client.run(fill_memory)
        while set(workers.client.run(status).values()) != {"paused"}:
            time.sleep(0.05)

    def pause_for_a_while():
        pause()
        threading.Timer(1.0, workers.client.run, [free_memory]).start()

    model = workers.fit(interrupted(WInLDL, 3, pause_for_a_while), *chunked())
    assert_same(model, expected[WInLDL])
    full = (
        r"The Dask worker tcp://\S+ has been paused for 2 s, as its memory is full \(\d+ of 600 MB"
    )
    with dask.config.set({"inldl.worker-timeout": "2s"}):
        with pytest.raises(RuntimeError, match=full):
            workers.fit(interrupted(WInLDL, 3, pause), *chunked())
        with pytest.raises(RuntimeError, match=full):
            workers.fit(WInLDL(), *chunked())


@SLOW
def test_a_worker_without_inldl_is_refused(workers, tmp_path):
    """Its process would end when it is sent a task."""
    (tmp_path / "first.py").write_text("import sys; sys.modules['inldl'] = None")
    workers.one("--preload", str(tmp_path / "first.py"))
    with pytest.raises(RuntimeError, match=r"worker tcp://\S+ has no inldl .*; install the same"):
        workers.fit(WInLDL(), *chunked())
    assert workers.processes[0].poll() is None
