"""Blocks on the threads of one machine."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import Any, Self

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes longer than a small fit


class LocalEngine:
    """Keep blocks in memory and run functions over them on threads, one BLAS thread each.

    Blocks are independent of the number of threads and their sums are added in the order of the
    blocks, so results are the same to the bit for any `n_jobs`.

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
        self._stack.enter_context(_libraries().limit(limits=1, user_api="blas"))
        if self.n_threads > 1:
            self._pool = self._stack.enter_context(ThreadPoolExecutor(self.n_threads))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def load(self, start: Callable[..., Any], sources: Iterable[tuple[Any, ...]]) -> Any:
        """Keep the block that `start` makes of each source; return the total of their sums."""
        return self._keep(self._map(lambda source: start(*source), sources))

    def sweep(self, step: Callable[..., Any], *shared: Any) -> Any:
        """Replace each block by what `step` makes of it; return the total of their sums."""
        blocks, self.blocks = self.blocks, []
        return self._keep(self._map(lambda block: step(block, *shared), blocks))

    def _keep(self, results: Iterator[Any]) -> Any:
        total = None
        for block, sums in results:
            self.blocks.append(block)
            total = sums if total is None else total + sums
        return total

    def _map(self, function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in order, with few of them waiting at any time."""
        if self.n_threads == 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Any]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > 4 * self.n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
