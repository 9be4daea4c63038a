"""Blocks on the threads of one machine."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import cache, partial
from typing import Any, Self

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

# Blocks are handed to the threads in this many runs at most: waking a thread takes as long as
# half a block, and the sums of a run are added by its thread.
RUNS = 64


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes longer than a small fit


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread."""
    return _libraries().limit(limits=1, user_api="blas")


class LocalEngine:
    """Keep blocks in memory and run functions over them on threads, one BLAS thread each.

    Neither the blocks nor the order in which their sums are added depends on the number of
    threads, so results are the same to the bit for any `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, as everywhere in joblib: None is 1, -1 all cores.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = effective_n_jobs(n_jobs)
        self.blocks: list[Any] = []

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(one_blas_thread())
        if self.n_threads > 1:
            self._pool = self._stack.enter_context(ThreadPoolExecutor(self.n_threads))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def load(self, start: Callable[..., Any], sources: Sequence[tuple[Any, ...]]) -> Any:
        """Keep the block that `start` makes of each source; return the total of their sums."""
        return self._run(lambda source: start(*source), sources)

    def sweep(self, step: Callable[..., Any], *shared: Any) -> Any:
        """Replace each block by what `step` makes of it; return the total of their sums."""
        return self._run(lambda block: step(block, *shared), self.blocks)

    def _run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        size = -(-len(items) // RUNS)
        runs = [items[i : i + size] for i in range(0, len(items), size)]
        blocks, total = [], None
        for run, sums in self._map(partial(_fold, function), runs):
            blocks += run
            total = sums if total is None else total + sums
        self.blocks = blocks
        return total

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


def _fold(function: Callable[[Any], Any], run: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return the new blocks of a run and the total of their sums, added in order."""
    blocks, total = [], None
    for item in run:
        block, sums = function(item)
        blocks.append(block)
        total = sums if total is None else total + sums
    return blocks, total
