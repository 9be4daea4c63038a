"""Blocks on the threads of one machine."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from inldl._engines.blas import limit_new_thread, one_blas_thread
from inldl._engines.blocks import in_runs
from inldl._engines.sums import Sums, total

Message = tuple[np.ndarray, ...]
Steps = Sequence[tuple[Callable[..., Any], Message]]


class LocalEngine:
    """Keep blocks in memory and run functions over them on threads, one BLAS thread each.

    Blocks lie in runs, and runs in parts. Neither these nor the order in which their sums are
    added depend on the number of threads, so results are the same to the bit for any `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, as everywhere in joblib: None is 1, -1 all cores.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = effective_n_jobs(n_jobs)
        self.parts: list[list[Sequence[Any]]] = []

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(one_blas_thread())
        if self.n_threads > 1:
            self._pool = self._stack.enter_context(
                ThreadPoolExecutor(self.n_threads, initializer=limit_new_thread)
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def load(self, start: Callable[..., Any], sources: Sequence[tuple[Any, ...]]) -> Sums:
        """Keep the block that `start` makes of each source; return the total of their sums."""
        self.parts = [in_runs(sources)]
        return total(self.part_sums(lambda source: start(*source)))

    def sweep(self, step: Callable[..., Any], *message: np.ndarray) -> Sums:
        """Replace each block by what `step` makes of it; return the total of their sums."""
        return self.replay([(step, message)])

    def replay(self, steps: Steps) -> Sums:
        """Take every block through steps in one pass; return the total of the last sums."""
        steps = [(step, contiguous(message)) for step, message in steps]
        return total(self.part_sums(partial(through, steps)))

    def part_sums(self, function: Callable[[Any], Any]) -> list[Sums]:
        """Replace each block by what `function` makes of it; return the sums of each part."""
        done = self._map(partial(fold, function), [run for part in self.parts for run in part])
        parts, sums = [], []
        for part in self.parts:
            runs, added = fold(lambda _: next(done), part)
            parts.append(runs)
            sums.append(added)
        self.parts = parts
        return sums

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


def contiguous(message: Iterable[np.ndarray]) -> Message:
    """Return arrays as they are after a journey, so that every engine multiplies the same."""
    return tuple(np.ascontiguousarray(array) for array in message)


def through(steps: Steps, block: Any) -> tuple[Any, Sums]:
    """Take a block through steps; return it and the sums of the last one."""
    for step, message in steps:
        block, sums = step(block, *message)
    return block, sums


def fold(function: Callable[[Any], Any], items: Iterable[Any]) -> tuple[list[Any], Sums]:
    """Return what the items become and the total of their sums, added in order."""
    kept: list[Any] = []

    def each() -> Iterator[Sums]:
        for item in items:
            new, sums = function(item)
            kept.append(new)
            yield sums

    added = total(each())
    return kept, added
