"""Rows that arrive in chunks: Dask arrays and frames, and the engine that loads them into memory.

The unit of work is a *part*: a few chunks of rows in a row, cut into blocks. Parts follow from
the chunks alone, and sums are added part by part, so that threads and workers of any number give
the same result to the bit.
"""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client
from distributed.system import MEMORY_LIMIT

from inldl._engines.blocks import in_runs, row_blocks
from inldl._engines.local import LocalEngine, fold
from inldl._engines.sums import Sums, total
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


class ChunkedRows:
    """Training rows in parts of whole chunks, at most `PARTS` of them.

    Parameters
    ----------
    X, y : Dask array or frame, or array in memory
        The rows, chunked in any way.
    """

    def __init__(self, X: Any, y: Any):
        self.names = label_names(y)
        self.X, self.y = aligned(X, y)
        self.shape = self.X.shape
        lengths = self.X.chunks[0]
        size = -(-len(lengths) // PARTS)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        self._parts = [range(i, min(i + size, len(lengths))) for i in range(0, len(lengths), size)]
        self._first_rows = [int(starts[part[0]]) for part in self._parts]
        self.n_rows = [int(starts[part[-1] + 1] - starts[part[0]]) for part in self._parts]
        both = dask.optimize(self.X, self.y)  # together, so that what they share is done once
        self._X, self._y = (a.to_delayed(optimize_graph=False)[:, 0] for a in both)

    def __len__(self) -> int:
        return len(self._parts)

    def part(self, i: int, function: Callable[..., Any], key: str) -> Delayed:
        """Return the lazy ``function(sources, first row, number of parts)`` of a part."""
        chunks = [[self._X[j], self._y[j]] for j in self._parts[i]]
        make = delayed(function, pure=False, traverse=False)
        return make(chunks, self._first_rows[i], len(self), dask_key_name=key)

    def keys(self, i: int) -> list[Any]:
        """Return the keys of the chunks of X in a part."""
        return [self._X[j].key for j in self._parts[i]]

    def engine(self, n_jobs: int | None, name: str) -> Any:
        """Return the engine of the active Dask client, or of this machine if there is none."""
        from inldl._engines.dask import DaskEngine
        from inldl._engines.scratch import ScratchEngine

        client = _active_client()
        if client is not None:
            return DaskEngine(client, name)
        return ChunkEngine(n_jobs) if self._fits_into_memory() else ScratchEngine(n_jobs)

    def _fits_into_memory(self) -> bool:
        (n, k), C = self.shape, self.y.shape[1]
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

    def load(self, start: Callable[..., Any], rows: Any) -> Sums:
        """Keep the blocks of all parts; return the total of their sums."""
        load = partial(start_chunks, start)
        lazy = [rows.part(i, load, f"load-part-{i}-{uuid.uuid4()}") for i in range(len(rows))]
        loaded = dask.compute(*lazy, scheduler="threads", num_workers=self.n_threads)
        self.parts = [runs for runs, _, _ in loaded]
        judge([found for _, _, surveys in loaded for found in surveys], rows.names)
        return total(sums for _, sums, _ in loaded)
