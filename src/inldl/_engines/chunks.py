"""Rows that arrive in chunks: Dask arrays and frames, and the engine that loads them into memory.

The unit of work is a *part*: a few chunks of rows in a row, cut into blocks. Parts follow from
the chunks alone, and sums are added part by part, so that threads and workers of any number give
the same result to the bit.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client
from distributed.system import MEMORY_LIMIT

from inldl._engines.base import Engine, Problem, Start, Sums, map_unchecked, start_block, total
from inldl._engines.blocks import in_pieces, in_runs, row_blocks
from inldl._engines.local import LocalEngine, fold
from inldl._validation import (
    Survey,
    check_2d,
    check_rows,
    judge,
    label_names,
    survey,
    validate_chunk,
)

PARTS = 256  # twice as many threads can work at once; the sums of each travel in every sweep
MEMORY_SHARE = 0.7  # of this machine's, or of dask.config.set({"inldl.memory-limit": ...})


def as_array(a: Any) -> da.Array:
    """Return a Dask frame, a Dask array or an array in memory as a Dask array."""
    if hasattr(a, "to_dask_array"):
        return a.to_dask_array()
    return a if isinstance(a, da.Array) else da.from_array(np.asanyarray(a))


def header(X: Any) -> Any:
    """Return what stands for X where only its columns count."""
    return X._meta if hasattr(X, "to_dask_array") else X


def aligned(X: Any, y: Any) -> tuple[da.Array, da.Array]:
    """Return X and y as arrays of the same chunks of rows, all columns in each of them."""
    X, y = as_array(X), as_array(y)
    check_2d(X, "X")
    check_2d(y)
    X, y = _with_lengths(X, y)
    check_rows(X, y)
    X = X.rechunk({0: tuple(n for n in X.chunks[0] if n) or (0,), 1: -1})
    return X, y.rechunk({0: X.chunks[0], 1: -1})


def _with_lengths(*arrays: da.Array) -> list[da.Array]:
    """Return the arrays with known lengths of chunks, all unknown ones from one computation."""
    unknown = [a for a in arrays if np.isnan(a.shape[0])]
    first = [[delayed(len)(block) for block in a.to_delayed()[:, 0]] for a in unknown]
    lengths = dict(zip(map(id, unknown), dask.compute(*first), strict=True))
    return [
        da.Array(a.dask, a.name, (tuple(lengths[id(a)]), *a.chunks[1:]), meta=a._meta)
        if id(a) in lengths
        else a
        for a in arrays
    ]


def map_rows(
    function: Callable[..., Any], X: da.Array, *others: da.Array, n_columns: int, dtype: Any
) -> da.Array:
    """Return a lazy array of what `function` makes of each chunk of rows."""
    kind = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    chunks, meta = (X.chunks[0], (n_columns,)), np.empty((0, 0), kind)
    return da.map_blocks(function, X, *others, dtype=kind, chunks=chunks, meta=meta)


@dataclass(frozen=True)
class LazyPart:
    """A few chunks of rows in a row, as pairs of X and y that have not been computed yet."""

    chunks: list[list[Delayed]]
    first_row: int
    n_rows: int

    def then(self, function: Callable[..., Any], n_parts: int, key: str) -> Delayed:
        """Return the lazy ``function(chunks, first_row, n_parts)``."""
        make = delayed(function, pure=False, traverse=False)
        return make(self.chunks, self.first_row, n_parts, dask_key_name=key)


class ChunkedRows:
    """Rows in chunks of any kind, of Dask arrays or frames; either X or y may be in memory.

    y is None if the rows are to be predicted.
    """

    X: Any
    y: Any
    in_memory = False

    def __init__(self, X: Any, y: Any = None):
        self.label_names = label_names(y)
        self.X, self.y = (as_array(X).rechunk({1: -1}), None) if y is None else aligned(X, y)

    @cached_property
    def parts(self) -> list[LazyPart]:
        """The rows in parts of whole chunks, at most `PARTS` of them."""
        lengths = self.X.chunks[0]
        both = dask.optimize(self.X, self.y)  # together, so that what they share is done once
        X, y = (a.to_delayed(optimize_graph=False)[:, 0] for a in both)
        found, first_row = [], 0
        for part in in_pieces(range(len(lengths)), -(-len(lengths) // PARTS)):
            n_rows = sum(lengths[j] for j in part)
            found.append(LazyPart([[X[j], y[j]] for j in part], first_row, n_rows))
            first_row += n_rows
        return found

    def compute(self, function: Callable[..., Any], n_threads: int) -> list[Any]:
        """Return ``function(chunks, first_row, n_parts)`` of each part, by threads."""
        keys = [f"load-part-{i}-{uuid.uuid4()}" for i in range(len(self.parts))]
        lazy = [
            part.then(function, len(keys), key) for part, key in zip(self.parts, keys, strict=True)
        ]
        return dask.compute(*lazy, scheduler="threads", num_workers=n_threads)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> da.Array:
        """Return the lazy array of what `function` makes of each chunk."""
        apply = partial(map_unchecked, function)
        return map_rows(apply, self.X, n_columns=n_columns, dtype=self.X.dtype)

    def engine(self, n_threads: int, name: str) -> Engine:
        """Return the engine of the active Dask client, or of this machine if there is none."""
        from inldl._engines.dask import DaskEngine
        from inldl._engines.scratch import ScratchEngine

        client = _active_client()
        if client is not None:
            return DaskEngine(client, name)
        return ChunkEngine(n_threads) if self._fits_into_memory() else ScratchEngine(n_threads)

    def _fits_into_memory(self) -> bool:
        (n, k), C = self.X.shape, self.y.shape[1]
        limit = dask.utils.parse_bytes(dask.config.get("inldl.memory-limit", MEMORY_LIMIT))
        size = 4 if self.X.dtype == np.float32 else 8  # whole numbers become double precision
        return n * (k + 5 * C) * size < MEMORY_SHARE * limit


def _active_client() -> Any:
    try:
        return Client.current()
    except ValueError:
        return None


def start_chunks(
    start: Callable[..., Any], chunks: Sequence[Any], first_row: int, n_parts: int
) -> tuple[list[Any], Sums, list[Survey]]:
    """Check the chunks of one of several parts and start its blocks; y itself is not kept.

    Returns the runs of blocks, the total of their sums, and what y looks like.
    """
    sources, surveys = [], []
    for X, y in chunks:
        X, y = validate_chunk(X, y)
        surveys.append(survey(y, first_row))
        first_row += len(y)
        sources += row_blocks(X, y)
    runs, sums = fold(partial(fold, lambda source: start(*source)), in_runs(sources, n_parts))
    return runs, sums, surveys


class ChunkEngine(LocalEngine):
    """The local engine, for chunks that the threads of this machine load into its memory."""

    def load(self, problem: Problem, rows: Any, start: Start = start_block) -> Sums:
        self._problem = problem
        loaded = rows.compute(partial(start_chunks, partial(start, problem)), self.n_threads)
        self._parts = [runs for runs, _, _ in loaded]
        judge([found for _, _, surveys in loaded for found in surveys], rows.label_names)
        return total(sums for _, sums, _ in loaded)
