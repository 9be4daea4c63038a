"""What engines, row sources and problems promise each other, and how rows are cut into blocks.

A fit takes its rows through steps. A *problem* (`inldl.solvers`) says what happens to a block of
rows, a *row source* says where the rows are, and an *engine* runs the problem over the blocks and
adds up what comes back. No engine knows any mathematics, and no problem knows where its rows are.
Blocks follow from the shape of the rows alone, never from the number of workers.

Each thread has one thread of BLAS. More would change the last bits of a product, and get in the
way of the engine's own. Most libraries have one number of threads for the whole process; OpenBLAS
built on OpenMP has one for each thread that calls it.

`tests/engines/test_base.py` holds every engine to what is promised here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from threadpoolctl import LibController, ThreadpoolController

# A block of X should stay in a cache between its two uses, and be worth waking a thread for.
BLOCK_ENTRIES = 1 << 18
MOST_BLOCK_ROWS, FEWEST_BLOCK_ROWS = 2048, 64
ROW_STEP = 16  # rows: as many as the lanes of the longest vector

# Blocks are handed to the threads in about this many runs: waking a thread takes as long as half
# a block, and the sums of a run are added by its thread.
RUNS = 64
ATTEMPTS = 100  # to set BLAS threads: another part of the program may do so at the same moment


@dataclass(frozen=True)
class Sums:
    """What blocks return: arrays or numbers to add up, and numbers of which the largest counts.

    Nothing else travels from the rows to the loop.
    """

    added: tuple[Any, ...]
    largest: tuple[float, ...] = ()

    def __add__(self, other: Sums) -> Sums:
        with np.errstate(invalid="ignore", over="ignore"):  # whoever uses sums looks at them
            added = tuple(a + b for a, b in zip(self.added, other.added, strict=True))
        return Sums(added, tuple(map(max, self.largest, other.largest)))


def total(sums: Iterable[Sums]) -> Sums:
    """Add up in order, from the first to the last."""
    rest = iter(sums)
    first = next(rest, None)
    if first is None:
        raise ValueError("There are no rows to add up.")
    return reduce(add, rest, first)


class BlockProblem(Protocol):
    """What an engine needs of a problem: how to start a block. Its other methods are steps.

    A block is the state of a few rows, kept from one step to the next. It belongs to the problem,
    except for its `X`, the features of the rows: an engine that does not hold them in memory sets
    `X` to None between two steps.

    A step is called as ``step(block, *message)`` and returns the new block and its sums. It may
    reuse the arrays of the old block. It must not depend on other blocks, on the number of
    threads, or on anything that changes between calls: a block that was lost is started again and
    repeats its steps. A problem can be pickled.
    """

    start: Callable[..., tuple[Any, Sums]]
    """Make a block of some rows, ``start(X, y, **arrays)``; return it and its first sums.

    The arrays are those of the row source, by their names: the same rows of them.
    """


def start_block(problem: BlockProblem, names: Iterable[str], source: Sequence[Any]) -> Any:
    """Start a block of X, y and the arrays that go with them under `names`, in this order."""
    X, y, *others = source
    return problem.start(X, y, **dict(zip(names, others, strict=True)))


def take_step(
    problem: BlockProblem, step: str, message: Sequence[np.ndarray], block: Any
) -> tuple[Any, Sums]:
    """Take a block through a step, which goes by its name as the problem may have travelled.

    The message, the arrays that the step needs, is the same for all blocks.
    """
    return getattr(problem, step)(block, *message)


class Engine(Protocol):
    """Keeps the blocks of one fit and takes them through steps.

    It is a context: inside, BLAS has one thread; afterwards nothing of the fit is left in memory,
    in files or on other machines, also after an error or Ctrl-C. Errors of a problem come back as
    they are. Sums are added in the order of the rows, in groups that depend on the shape of the
    rows or their chunks alone, so that results are the same to the bit for any number of threads
    and workers. `closing` has what ends with the fit.
    """

    closing: ExitStack

    def __enter__(self) -> Self:
        self.closing = ExitStack()
        self.closing.enter_context(one_blas_thread())
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.close()

    def load(self, problem: BlockProblem, rows: Any) -> Sums:
        """Start a block for each few rows of a source of this engine; return the total."""

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        """Take every block through one step; return the total of the sums."""


class RowSource(Protocol):
    """Rows of features, with their degrees in a fit, wherever they are.

    Rows in memory have been checked. Others are checked when they are read.
    """

    X: Any  # the features: something with a shape and a dtype
    y: Any  # the degrees, or None
    arrays: dict[str, Any]  # what else a fit knows of the rows: 2-D arrays with a row for each
    label_names: Any  # the names of the columns of y, or None
    in_memory: bool  # whether X, y and the arrays are in the memory of this process

    def take(self, rows: np.ndarray) -> RowSource:
        """Return some rows of a fit, by their numbers in order, as rows in memory."""

    def engine(self, n_threads: int, name: str) -> Engine:
        """Return an engine that can load these rows; `name` is what a dashboard calls the fit."""

    def start_blocks(self, problem: BlockProblem, engine: Any) -> tuple[list[Any], list[Sums]]:
        """Return the started blocks for a `LocalEngine`, in runs by part, and sums by part."""

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> Any:
        """Return ``function(X)``, `n_columns` numbers for each row, lazily if X is lazy."""

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> Any:
        """Return ``function(y, X, *arrays, first_row=...)`` in the same way."""

    def map_degrees(self, function: Callable[..., Any]) -> list[Any]:
        """Return ``function(y, first_row=...)`` of all degrees of a fit, part by part."""


def rows_per_block(n_columns: int) -> int:
    """Return how many dense rows of `n_columns` entries make a block: an odd multiple of 16.

    Products are held as labels x rows. Were the rows a power of two, the same row of all labels
    would have to share a few places of the cache.
    """
    rows = min(max(BLOCK_ENTRIES // max(n_columns, 1), FEWEST_BLOCK_ROWS), MOST_BLOCK_ROWS)
    return (rows // ROW_STEP - 1 | 1) * ROW_STEP


def row_blocks(X: Any, *others: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the blocks of X and of arrays that go with it, in order, as views."""
    n, k = X.shape
    if sparse.issparse(X):  # each block costs dense sums, so let them be few
        size = max(MOST_BLOCK_ROWS, -(-n // 64))
    else:
        size = rows_per_block(max([k, *(a.shape[1] for a in others)]))
    return [(_rows(X, rows), *(a[rows] for a in others)) for rows in row_slices(n, size)]


def row_slices(n: int, size: int) -> list[slice]:
    """Return n rows as slices of `size` rows, the last one of fewer perhaps."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def in_runs(blocks: Sequence[Any], n_parts: int = 1) -> list[Sequence[Any]]:
    """Return the blocks of one of `n_parts` parts as two runs or more, `RUNS` in all parts."""
    return in_pieces(blocks, max(-(-len(blocks) // max(-(-RUNS // n_parts), 2)), 1))


def in_pieces(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return the items in order, `size` at a time."""
    return [items[i : i + size] for i in range(0, len(items), size)]


def _rows(X: Any, rows: slice) -> Any:
    """Return a block of rows that shares the memory of X, also where X is CSR."""
    if not sparse.issparse(X):
        return X[rows]
    pointer = X.indptr[rows.start : rows.stop + 1]
    data = slice(pointer[0], pointer[-1])
    parts = (X.data[data], X.indices[data], pointer - pointer[0])
    return sparse.csr_array(parts, shape=(len(pointer) - 1, X.shape[1]), copy=False)


@cache
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return the BLAS libraries with one number of threads per process, and per thread."""
    blas = ThreadpoolController().select(user_api="blas").lib_controllers  # takes milliseconds
    per_thread = [one for one in blas if getattr(one, "threading_layer", "") == "openmp"]
    return [one for one in blas if one not in per_thread], per_thread


class _Limit:
    """Sets the number of threads to 1 at the first entry, and back at the last exit."""

    def __init__(self, which: int) -> None:
        self._which, self._depth, self._lock = which, 0, threading.RLock()
        self._before: dict[LibController, int] = {}

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            try:
                for library in _libraries()[self._which]:
                    number = library.get_num_threads()
                    if number is not None and number != 1:
                        _set_threads(library, 1)
                        self._before.setdefault(library, number)
            except BaseException:
                self.__exit__()
                raise

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                before, self._before = self._before, {}
                for library, number in before.items():
                    _set_threads(library, number)


class _ThreadLimit(_Limit, threading.local):
    """The same for each thread on its own."""


_OF_PROCESS, OF_THREAD = _Limit(0), _ThreadLimit(1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give a context in which BLAS uses one thread, or which raises a RuntimeError."""
    with _OF_PROCESS, OF_THREAD:
        yield


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
