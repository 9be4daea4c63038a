"""One BLAS thread, whichever thread of the process asks for it and however many ask at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from inldl import WInLDL, hide
from inldl.engines import base
from inldl.engines.base import one_blas_thread

THREADS = 8


def numbers():
    """Return the number of threads of each BLAS library, as it says itself."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return {each.filepath: each.get_num_threads() for each in libraries}


@pytest.fixture
def two_threads():
    """Let BLAS have two threads, set and held by the main thread."""
    with threadpool_limits(2, user_api="blas"):
        assert set(numbers().values()) == {2}
        yield
        assert set(numbers().values()) == {2}


def in_threads(function):
    """Return what the function gives in each of eight threads that begin together."""
    barrier = threading.Barrier(THREADS)

    def begin(i):
        barrier.wait()
        return function(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.mark.parametrize("shape", [(1000, 243), (400, 1000)])
def test_eight_threads_that_fit_at_once_get_the_bits_of_one(two_threads, shape):
    """From some hundred features or rows on, a second BLAS thread changes bits of X'X and XX'."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = hide(rng.dirichlet(np.ones(6), len(X)), 0.5, random_state=0)
    with one_blas_thread():
        expected = WInLDL(max_iter=3).fit(X, y).coef_
    for found in in_threads(lambda i: WInLDL(max_iter=3, n_jobs=1 + i % 2).fit(X, y).coef_):
        np.testing.assert_array_equal(found, expected)


def test_the_limit_holds_inside_and_ends_with_the_last_one(two_threads):
    barrier = threading.Barrier(THREADS)

    def enter(i):
        seen = []
        for _ in range(5):
            with one_blas_thread(), one_blas_thread():
                barrier.wait()  # all are inside: one left early in the round before
                seen.append(set(numbers().values()))
        return seen

    assert in_threads(enter) == [[{1}] * 5] * THREADS


def test_a_limit_that_a_user_lifts_later_is_lifted():
    before = numbers()
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        pool.submit(WInLDL(max_iter=1).fit, np.eye(3), np.eye(3)).result()
    assert numbers() == before


def test_a_number_that_is_not_taken_ends_the_fit(monkeypatch, two_threads):
    class Deaf:
        internal_api, filepath = "deafblas", "/lib/deaf.so"

        def get_num_threads(self):
            return 4

        def set_num_threads(self, number):
            pass

    real = base._libraries()[0]
    monkeypatch.setattr(base, "_libraries", lambda: ([*real, Deaf()], []))
    with pytest.raises(RuntimeError, match=r"deafblas .* asked to use 1 thread\(s\) but uses 4"):
        WInLDL().fit(np.eye(3), np.eye(3))


def test_libraries_with_a_number_for_each_thread_are_limited_in_each(monkeypatch, two_threads):
    """OpenBLAS on OpenMP: what the main thread sets says nothing about the pool's threads."""

    class PerThread(threading.local):
        internal_api, filepath, number = "openblas", "/lib/openmp.so", 2

        def get_num_threads(self):
            return self.number

        def set_num_threads(self, number):
            self.number = number

    library, seen = PerThread(), []
    real = base._libraries()[0]
    monkeypatch.setattr(base, "_libraries", lambda: (real, [library]))

    class Watched(WInLDL):
        def _problem(self, *arguments):
            problem = super()._problem(*arguments)
            step = type(problem).step

            class Problem(type(problem)):
                def step(self, *arguments):
                    seen.append((threading.get_ident(), library.number))
                    return step(self, *arguments)

            return Problem(**vars(problem))

    X = np.random.default_rng(0).normal(size=(5000, 3))
    Watched(max_iter=2, n_jobs=2).fit(X, np.tile([0.2, 0.8], (5000, 1)))
    assert {number for _, number in seen} == {1}
    assert threading.get_ident() not in {thread for thread, _ in seen}
    assert library.number == 2
