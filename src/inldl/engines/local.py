"""Rows in memory, and blocks on the threads of one machine."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from inldl.engines.base import (
    BlockProblem,
    Engine,
    Message,
    RowSource,
    Sums,
    in_runs,
    row_blocks,
    start_block,
    take_step,
    total,
)
from inldl.engines.blas import limit_new_thread, one_blas_thread
from inldl.rows.checks import DegreeFacts, degree_facts
from inldl.rows.inputs import validate_chunk, validate_row_array

Parts = list[list[Any]]
"""Runs of blocks, part by part."""


@dataclass(frozen=True)
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

    def each_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        return [function(self.y, 0)]


class Reader(Protocol):
    """Reads the features of blocks that are not in memory."""

    def map_run(self, function: Callable[[Any], Any], run: Any) -> tuple[Any, Sums]:
        """Return what `function` makes of the blocks of a run, and the total of their sums."""


class LocalEngine(Engine):
    """Run steps over blocks on the threads of this machine, one BLAS thread each.

    Blocks lie in runs, and runs in parts. The sums of a run are added by its thread, then those
    of the runs of a part, then those of the parts. Features that are not in memory come from the
    `reader` that the row source has set; `closing` has what ends with the fit.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self.reader: Reader | None = None
        self._parts: Parts = []

    def __enter__(self) -> Self:
        self.closing = ExitStack()
        self.closing.enter_context(one_blas_thread())
        if self.n_threads > 1:
            self._pool = self.closing.enter_context(
                ThreadPoolExecutor(self.n_threads, initializer=limit_new_thread)
            )
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
        found = [fold(lambda _: next(done), part) for part in parts]
        return [runs for runs, _ in found], [sums for _, sums in found]

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
        X, y, arrays, found = check_rows_read(X, y, arrays, first_row)
        facts.append(found)
        first_row += len(y)
        sources += row_blocks(X, y, *arrays.values())
    begin = partial(start_block, problem, list(chunks[0][2]))
    runs, sums = fold(partial(fold, begin), in_runs(sources, n_parts))
    return runs, sums, facts
