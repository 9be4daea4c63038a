"""Rows in memory, and blocks on the threads of one machine, with one BLAS thread each.

Threads of BLAS change the last bits of a product, and get in the way of the engine's own. Most
libraries have one number of threads for the whole process; OpenBLAS built on OpenMP has one for
each thread that calls it.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Self

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

from inldl.engines.base import (
    BlockProblem,
    Engine,
    RowSource,
    Sums,
    in_runs,
    row_blocks,
    start_block,
    take_step,
    total,
)
from inldl.rows.checks import DegreeFacts, degree_facts
from inldl.rows.inputs import validate_chunk, validate_chunk_features, validate_row_array

ATTEMPTS = 100  # to set BLAS threads: another part of the program may do so at the same moment

Parts = list[list[Any]]
"""Runs of blocks, part by part."""


@dataclass
class MemoryRows:
    """Rows of arrays in memory, which have been checked; y is None if they are to be predicted."""

    X: Any
    y: Any = None
    label_names: Any = None
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    in_memory = True

    def take(self, rows: np.ndarray) -> "MemoryRows":
        arrays = {name: a[rows] for name, a in self.arrays.items()}
        return MemoryRows(self.X[rows], self.y[rows], self.label_names, arrays)

    def engine(self, n_threads: int, name: str) -> "LocalEngine":
        return LocalEngine(n_threads)

    def start_blocks(
        self, problem: BlockProblem, engine: "LocalEngine"
    ) -> tuple[Parts, list[Sums]]:
        parts = [in_runs(row_blocks(self.X, self.y, *self.arrays.values()))]
        return engine.map_parts(partial(start_block, problem, list(self.arrays)), parts)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        return function(self.X)

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> np.ndarray:
        return function(self.y, self.X, *self.arrays.values(), first_row=0)

    def map_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        return [function(self.y, 0)]


class LocalEngine(Engine):
    """Run steps over blocks on the threads of this machine, one BLAS thread each.

    Blocks lie in runs, and runs in parts. The sums of a run are added by its thread, then those
    of the runs of a part, then those of the parts. Features that are not in memory come from the
    `reader` that the row source has set (a `FeatureReader`); `closing` has what ends with the fit.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self.reader: Any = None
        self._parts: Parts = []

    def __enter__(self) -> Self:
        self.closing = ExitStack()
        self.closing.enter_context(one_blas_thread())
        if self.n_threads > 1:
            pool = ThreadPoolExecutor(self.n_threads, initializer=_ONE_BLAS_THREAD.enter_thread)
            self._pool = self.closing.enter_context(pool)
        return self

    def __exit__(self, *error: object) -> None:
        self._parts, self.reader = [], None
        self.closing.close()

    def load(self, problem: BlockProblem, rows: RowSource) -> Sums:
        self._problem = problem
        self._parts, sums = rows.start_blocks(problem, self)
        return total(sums)

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        take = partial(take_step, self._problem, step, contiguous(message))
        self._parts, sums = self.map_parts(take, self._parts)
        return total(sums)

    def map_parts(
        self, function: Callable[[Any], Any], parts: Sequence[Sequence[Any]]
    ) -> tuple[Parts, list[Sums]]:
        """Return what `function` makes of each block, and the sums of each part."""
        map_run = fold if self.reader is None else self.reader.map_run
        done = self._map(partial(map_run, function), [run for part in parts for run in part])
        by_part = [fold(lambda _: next(done), part) for part in parts]
        return [runs for runs, _ in by_part], [sums for _, sums in by_part]

    def _map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in order, with few of them waiting at any time."""
        if self.n_threads == 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Any]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > 2 * self.n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def contiguous(message: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return arrays as they are after a journey, so that every engine multiplies the same."""
    return tuple(np.ascontiguousarray(array) for array in message)


def fold(function: Callable[[Any], Any], items: Iterable[Any]) -> tuple[list[Any], Sums]:
    """Return what the items become and the total of their sums, added in order."""
    kept: list[Any] = []

    def sums_in_order() -> Iterator[Sums]:
        for item in items:
            new, sums = function(item)
            kept.append(new)
            yield sums

    added = total(sums_in_order())
    return kept, added


def check_rows_read(
    X: Any, y: Any, arrays: Mapping[str, Any], first_row: int = 0
) -> tuple[Any, np.ndarray, dict[str, np.ndarray], DegreeFacts]:
    """Return rows that were not in memory before, checked, and what y looks like."""
    X, y = validate_chunk(X, y)
    checked = {name: validate_row_array(name, a, first_row) for name, a in arrays.items()}
    return X, y, checked, degree_facts(y, first_row, checked.get("sample_weight"))


def start_chunks(
    problem: BlockProblem, chunks: Sequence[Any], first_row: int, n_parts: int
) -> tuple[list[Any], Sums, list[DegreeFacts]]:
    """Check the chunks of one of several parts and start its blocks; y itself is not kept.

    Returns the runs of blocks, the total of their sums, and what y looks like.
    """
    sources, facts = [], []
    for X, y, arrays in chunks:
        X, y, arrays, seen = check_rows_read(X, y, arrays, first_row)
        facts.append(seen)
        first_row += len(y)
        sources += row_blocks(X, y, *arrays.values())
    begin = partial(start_block, problem, list(chunks[0][2]))
    runs, sums = fold(partial(fold, begin), in_runs(sources, n_parts))
    return runs, sums, facts


@cache
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return the BLAS libraries with one number of threads per process, and per thread."""
    blas = ThreadpoolController().select(user_api="blas").lib_controllers  # takes milliseconds
    per_thread = [one for one in blas if getattr(one, "threading_layer", "") == "openmp"]
    return [one for one in blas if one not in per_thread], per_thread


class _Limit:
    """Sets the number of threads to 1 at the first entry, and back at the last exit."""

    def __init__(self) -> None:
        self.depth = 0
        self.before: list[tuple[LibController, int]] = []

    def enter(self, libraries: list[LibController]) -> None:
        self.depth += 1
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
        self.depth -= 1
        if not self.depth:
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


def map_unchecked(function: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """Apply a function, with one BLAS thread, to features that have not been checked yet."""
    X = validate_chunk_features(X)
    with one_blas_thread():
        return function(X)
