"""Rows in memory, and blocks on the threads of one machine."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from inldl.engines.base import (
    Engine,
    Message,
    Problem,
    Sums,
    start_block,
    take_steps,
    total,
)
from inldl.engines.blas import limit_new_thread, one_blas_thread
from inldl.engines.blocks import in_runs, row_blocks

Parts = list[list[Any]]
"""Runs of blocks, part by part."""


@dataclass(frozen=True)
class MemoryRows:
    """Rows of arrays in memory, which have been checked; y is None if they are to be predicted."""

    X: Any
    y: Any = None
    label_names: Any = None
    beside: dict[str, np.ndarray] = field(default_factory=dict)
    in_memory = True

    def take(self, rows: np.ndarray) -> "MemoryRows":
        """Return some of the rows."""
        beside = {name: a[rows] for name, a in self.beside.items()}
        return MemoryRows(self.X[rows], self.y[rows], self.label_names, beside)

    def each_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        return [function(self.y, 0)]

    def engine(self, n_threads: int, name: str) -> "LocalEngine":
        return LocalEngine(n_threads)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        return function(self.X)


class LocalEngine(Engine):
    """Keep blocks in memory and run steps over them on threads, one BLAS thread each.

    Blocks lie in runs, and runs in parts. The sums of a run are added by its thread, then those
    of the runs of a part, then those of the parts.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self._parts: Parts = []

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._stack.enter_context(one_blas_thread())
        if self.n_threads > 1:
            self._pool = self._stack.enter_context(
                ThreadPoolExecutor(self.n_threads, initializer=limit_new_thread)
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._parts = []
        self._stack.close()

    def load(self, problem: Problem, rows: Any) -> Sums:
        self._problem = problem
        parts = [in_runs(row_blocks(rows.X, rows.y, *rows.beside.values()))]
        begin = partial(start_block, problem, list(rows.beside))
        self._parts, sums = self.map_parts(begin, parts)
        return total(sums)

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        take = partial(take_steps, self._problem, [(step, contiguous(message))])
        self._parts, sums = self.map_parts(take, self._parts)
        return total(sums)

    def map_parts(
        self, function: Callable[[Any], Any], parts: Sequence[Sequence[Any]]
    ) -> tuple[Parts, list[Sums]]:
        """Return what `function` makes of each block, and the sums of each part."""
        done = self._map(partial(self._map_run, function), [run for part in parts for run in part])
        found = [fold(lambda _: next(done), part) for part in parts]
        return [runs for runs, _ in found], [sums for _, sums in found]

    def _map_run(self, function: Callable[[Any], Any], run: Any) -> tuple[Any, Sums]:
        return fold(function, run)

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
