"""One BLAS thread while blocks are worked on, whichever thread asks for it.

Threads of BLAS change the last bits of a product, and get in the way of the engine's own. Most
libraries have one number of threads for the whole process; OpenBLAS built on OpenMP has one for
each thread that calls it.
"""

import threading
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import LibController, ThreadpoolController

ATTEMPTS = 100  # another program part may set the number at the same moment


@cache
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return the BLAS libraries with one number of threads per process, and per thread."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers  # takes milliseconds
    per_thread = [each for each in found if getattr(each, "threading_layer", "") == "openmp"]
    return [each for each in found if each not in per_thread], per_thread


class _Limit:
    """Sets the number of threads to 1 at the first entry, and back at the last exit."""

    def __init__(self) -> None:
        self.inside = 0
        self.before: list[tuple[LibController, int]] = []

    def enter(self, libraries: list[LibController]) -> None:
        self.inside += 1
        try:
            for library in libraries:
                number = library.get_num_threads()
                if number is not None and number != 1:
                    _set_threads(library, 1)
                    if all(library is not known for known, _ in self.before):
                        self.before.append((library, number))
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        self.inside -= 1
        if not self.inside:
            before, self.before = self.before, []
            for library, number in before:
                _set_threads(library, number)


class _ThreadLimit(_Limit, threading.local):
    """The same for each thread on its own."""


class _OneBlasThread:
    def __init__(self) -> None:
        self._lock, self._process, self._thread = threading.Lock(), _Limit(), _ThreadLimit()

    def __enter__(self) -> None:
        with self._lock:
            self._process.enter(_libraries()[0])
        try:
            self.enter_thread()
        except BaseException:
            with self._lock:
                self._process.leave()
            raise

    def __exit__(self, *error: object) -> None:
        self._thread.leave()
        with self._lock:
            self._process.leave()

    def enter_thread(self) -> None:
        """Do for a thread that is started inside of the context what the context cannot reach."""
        self._thread.enter(_libraries()[1])


_ONE_BLAS_THREAD = _OneBlasThread()
limit_new_thread = _ONE_BLAS_THREAD.enter_thread


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread, or which raises a RuntimeError."""
    return _ONE_BLAS_THREAD


def _set_threads(library: LibController, number: int) -> None:
    """Set the number of threads and see that it was taken.

    Since version 3.8 threadpoolctl ignores the wish of every thread but the one that was first,
    without a word. That claim is given up before and after, so that neither we nor anybody who
    restores a limit later is ignored.
    """
    give_up_claim = getattr(library, "clear_controlling_thread", lambda force: None)
    for _ in range(ATTEMPTS):
        give_up_claim(force=True)
        library.set_num_threads(number)
        give_up_claim(force=True)
        if library.get_num_threads() == number:
            return
    raise RuntimeError(
        f"{library.internal_api} ({library.filepath}) was asked to use {number} thread(s) but "
        f"uses {library.get_num_threads()}, so results would differ in their last digits. Set "
        "OPENBLAS_NUM_THREADS=1 and MKL_NUM_THREADS=1 before Python starts, or install another "
        "version of threadpoolctl."
    )
