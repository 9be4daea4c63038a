"""Rows that arrive in chunks: Dask arrays and frames, and the engine that loads them into memory.

The unit of work is a *part*: a few chunks of rows in a row, cut into blocks. Parts follow from
the chunks alone, and sums are added part by part, so that threads and workers of any number give
the same result to the bit.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client
from distributed.system import MEMORY_LIMIT

from inldl.engines.base import (
    Engine,
    Problem,
    Sums,
    map_unchecked,
    start_block,
    total,
)
from inldl.engines.blocks import in_pieces, in_runs, row_blocks
from inldl.engines.local import LocalEngine, MemoryRows, fold
from inldl.rows.checks import (
    DegreeFacts,
    check_2d,
    check_degrees,
    check_rows,
    degree_facts,
    label_names,
    validate_beside,
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


def aligned(X: Any, **others: Any) -> tuple[da.Array, dict[str, da.Array]]:
    """Return X and others as arrays of the same chunks of rows, all columns in each of them."""
    named = {name: as_array(a) for name, a in {"X": X, **others}.items()}
    for name, a in named.items():
        check_2d(a, name)
    X, *known = _with_lengths(*named.values())
    for name, a in zip(others, known, strict=True):
        check_rows(X, a, name)
    X = X.rechunk({0: tuple(n for n in X.chunks[0] if n) or (0,), 1: -1})
    rows = {0: X.chunks[0], 1: -1}
    return X, {name: a.rechunk(rows) for name, a in zip(others, known, strict=True)}


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
    """Return a lazy array of ``function(*chunks, first_row)``, chunk by chunk.

    The function may hold a large model. It is a task of its own, so that a worker gets it once.
    """
    kind = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    about = {"chunks": (X.chunks[0], (n_columns,)), "meta": np.empty((0, 0), kind), "dtype": kind}
    once = delayed(function, pure=False, traverse=False)
    return da.map_blocks(_apply, X, *others, function=once, **about)


def _apply(*chunks: Any, function: Callable[..., Any], block_info: Any = None) -> Any:
    return function(*chunks, first_row=block_info[0]["array-location"][0][0])


@dataclass(frozen=True)
class LazyPart:
    """A few chunks of rows in a row: X, y and what is beside them, not computed yet."""

    chunks: list[tuple[Delayed, Delayed, dict[str, Delayed]]]
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
    beside: dict[str, da.Array]
    in_memory = False

    def __init__(self, X: Any, y: Any = None, beside: Mapping[str, Any] | None = None):
        self.label_names, self.beside = label_names(y), {}
        if y is None:
            self.X, self.y = as_array(X).rechunk({1: -1}), None
        else:
            self.X, self.beside = aligned(X, y=y, **(beside or {}))
            self.y = self.beside.pop("y")

    @cached_property
    def parts(self) -> list[LazyPart]:
        """The rows in parts of whole chunks, at most `PARTS` of them."""
        lengths = self.X.chunks[0]
        # together, so that what they share is done once
        arrays = dask.optimize(self.X, self.y, *self.beside.values())
        X, y, *others = (a.to_delayed(optimize_graph=False)[:, 0] for a in arrays)
        beside = dict(zip(self.beside, others, strict=True))
        found, first_row = [], 0
        for part in in_pieces(range(len(lengths)), -(-len(lengths) // PARTS)):
            n_rows = sum(lengths[j] for j in part)
            chunks = [(X[j], y[j], {name: a[j] for name, a in beside.items()}) for j in part]
            found.append(LazyPart(chunks, first_row, n_rows))
            first_row += n_rows
        return found

    def compute(self, function: Callable[..., Any], n_threads: int) -> list[Any]:
        """Return ``function(chunks, first_row, n_parts)`` of each part, by threads."""
        keys = [f"load-part-{i}-{uuid.uuid4()}" for i in range(len(self.parts))]
        lazy = [
            part.then(function, len(keys), key) for part, key in zip(self.parts, keys, strict=True)
        ]
        return dask.compute(*lazy, scheduler="threads", num_workers=n_threads)

    def take(self, rows: np.ndarray) -> MemoryRows:
        """Return some of the rows, given in order, in memory; no others come to this process."""
        X, y, *others = dask.compute(*(a[rows] for a in (self.X, self.y, *self.beside.values())))
        X, y = validate_chunk(X, y)
        named = zip(self.beside, others, strict=True)
        beside = {name: validate_beside(name, a) for name, a in named}
        return MemoryRows(X, y, self.label_names, beside)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> da.Array:
        """Return the lazy array of what `function` makes of each chunk."""
        apply = partial(_map_chunk, function)
        return map_rows(apply, self.X, n_columns=n_columns, dtype=self.X.dtype)

    def each_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        """Return what `function` makes of the degrees of each chunk, where they are."""
        starts = np.cumsum([0, *self.X.chunks[0]])
        chunks = [chunk for part in self.parts for chunk in part.chunks]
        apply = delayed(function, pure=False)
        pairs = zip(chunks, starts[:-1], strict=True)
        return list(dask.compute(*(apply(y, int(first)) for (_, y, _), first in pairs)))

    def engine(self, n_threads: int, name: str) -> Engine:
        """Return the engine of the active Dask client, or of this machine if there is none."""
        from inldl.engines.dask import DaskEngine
        from inldl.engines.scratch import ScratchEngine

        client = _active_client()
        if client is not None:
            return DaskEngine(client, name)
        return ChunkEngine(n_threads) if self._fits_into_memory() else ScratchEngine(n_threads)

    def _fits_into_memory(self) -> bool:
        (n, k), C = self.X.shape, self.y.shape[1]
        limit = dask.utils.parse_bytes(dask.config.get("inldl.memory-limit", MEMORY_LIMIT))
        size = 4 if self.X.dtype == np.float32 else 8  # whole numbers become double precision
        others = sum(a.shape[1] for a in self.beside.values())
        return n * (k + 5 * C + others) * size < MEMORY_SHARE * limit


def _map_chunk(function: Callable[[Any], np.ndarray], X: Any, first_row: int) -> np.ndarray:
    return map_unchecked(function, X)


def _active_client() -> Any:
    try:
        return Client.current()
    except ValueError:
        return None


def start_chunks(
    problem: Problem, chunks: Sequence[Any], first_row: int, n_parts: int
) -> tuple[list[Any], Sums, list[DegreeFacts]]:
    """Check the chunks of one of several parts and start its blocks; y itself is not kept.

    Returns the runs of blocks, the total of their sums, and what y looks like.
    """
    sources, facts = [], []
    for X, y, beside in chunks:
        X, y = validate_chunk(X, y)
        checked = {name: validate_beside(name, a, first_row) for name, a in beside.items()}
        facts.append(degree_facts(y, first_row, checked.get("sample_weight")))
        first_row += len(y)
        sources += row_blocks(X, y, *checked.values())
    begin = partial(start_block, problem, list(chunks[0][2]))
    runs, sums = fold(partial(fold, begin), in_runs(sources, n_parts))
    return runs, sums, facts


class ChunkEngine(LocalEngine):
    """The local engine, for chunks that the threads of this machine load into its memory."""

    def load(self, problem: Problem, rows: Any) -> Sums:
        self._problem = problem
        loaded = rows.compute(partial(start_chunks, problem), self.n_threads)
        self._parts = [runs for runs, _, _ in loaded]
        check_degrees([found for _, _, facts in loaded for found in facts], rows.label_names)
        return total(sums for _, sums, _ in loaded)
