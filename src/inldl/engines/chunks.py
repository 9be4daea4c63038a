"""Rows that arrive in chunks: Dask arrays and frames.

The unit of work is a *part*: a few consecutive chunks of rows, cut into blocks. Parts follow from
the chunks alone, and sums are added part by part, so that threads and workers of any number give
the same result to the bit.

Without a cluster each chunk is computed once, and the rows are kept in memory. They are refused
if they do not fit: decoding Parquet again in each sweep would take longer than everything else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client
from distributed.system import MEMORY_LIMIT

from inldl.engines.base import BlockProblem, Engine, Sums, in_pieces
from inldl.engines.dask import DaskEngine, start_chunks
from inldl.engines.local import LocalEngine, MemoryRows, Parts, check_rows_read, map_unchecked
from inldl.rows.checks import check_2d, check_degrees, label_names
from inldl.rows.inputs import check_rows

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
    known = {
        id(a): da.Array(a.dask, a.name, (tuple(lengths), *a.chunks[1:]), meta=a._meta)
        for a, lengths in zip(unknown, dask.compute(*first), strict=True)
    }
    return [known.get(id(a), a) for a in arrays]


def map_chunks(function: Callable[..., Any], *arrays: da.Array, n_columns: int) -> da.Array:
    """Return a lazy array of ``function(*chunks, first_row)`` in the precision of the first array.

    The function may hold a large model. It is a task of its own, so that a worker gets it once.
    """
    kind = np.dtype(np.float32 if arrays[0].dtype == np.float32 else np.float64)
    chunks = arrays[0].chunks[0], (n_columns,)
    about = {"chunks": chunks, "meta": np.empty((0, 0), kind), "dtype": kind}
    once = delayed(function, pure=False, traverse=False)
    return da.map_blocks(_apply, *arrays, function=once, **about)


def _apply(*chunks: Any, function: Callable[..., Any], block_info: Any = None) -> Any:
    return function(*chunks, first_row=block_info[0]["array-location"][0][0])


@dataclass(frozen=True)
class LazyPart:
    """A few chunks of rows in a row: X, y and the arrays that go with them, not computed yet."""

    chunks: list[tuple[Delayed, Delayed, dict[str, Delayed]]]
    first_row: int
    n_rows: int

    def then(self, function: Callable[..., Any], n_parts: int, key: str | None = None) -> Delayed:
        """Return the lazy ``function(chunks, first_row, n_parts)``."""
        make = delayed(function, pure=False, traverse=False)
        return make(self.chunks, self.first_row, n_parts, dask_key_name=key)


class ChunkedRows:
    """Rows in chunks of any kind, of Dask arrays or frames; either X or y may be in memory.

    y is None if the rows are to be predicted.
    """

    X: Any
    y: Any
    arrays: dict[str, da.Array]
    in_memory = False

    def __init__(self, X: Any, y: Any = None, arrays: Mapping[str, Any] | None = None):
        self.label_names, self.arrays = label_names(y), {}
        if y is None:
            self.X, self.y = as_array(X).rechunk({1: -1}), None
        else:
            self.X, self.arrays = aligned(X, y=y, **(arrays or {}))
            self.y = self.arrays.pop("y")

    @cached_property
    def parts(self) -> list[LazyPart]:
        """The rows in parts of whole chunks, at most `PARTS` of them."""
        lengths = self.X.chunks[0]
        # together, so that what they share is done once
        optimized = dask.optimize(self.X, self.y, *self.arrays.values())
        X, y, *others = (a.to_delayed(optimize_graph=False)[:, 0] for a in optimized)
        arrays = dict(zip(self.arrays, others, strict=True))
        parts, first_row = [], 0
        for part in in_pieces(range(len(lengths)), -(-len(lengths) // PARTS)):
            n_rows = sum(lengths[j] for j in part)
            chunks = [(X[j], y[j], {name: a[j] for name, a in arrays.items()}) for j in part]
            parts.append(LazyPart(chunks, first_row, n_rows))
            first_row += n_rows
        return parts

    def take(self, rows: np.ndarray) -> MemoryRows:
        """Return some of the rows, given in order, in memory; no others come to this process."""
        X, y, *others = dask.compute(*(a[rows] for a in (self.X, self.y, *self.arrays.values())))
        X, y, arrays, _ = check_rows_read(X, y, dict(zip(self.arrays, others, strict=True)))
        return MemoryRows(X, y, self.label_names, arrays)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> da.Array:
        return map_chunks(partial(map_unchecked, function), self.X, n_columns=n_columns)

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> da.Array:
        chunked = self.y, self.X, *self.arrays.values()
        return map_chunks(function, *chunked, n_columns=n_columns)

    def map_degrees(self, function: Callable[..., Any]) -> list[Any]:
        """Return what `function` makes of the degrees of each chunk, where they are."""
        starts = np.cumsum([0, *self.y.chunks[0]]).tolist()
        apply, chunks = delayed(function, pure=False), self.y.to_delayed()[:, 0]
        found = [apply(y, first_row=first) for y, first in zip(chunks, starts, strict=False)]
        return list(dask.compute(*found))

    def engine(self, n_threads: int, name: str) -> Engine:
        """Return the engine of the active Dask client, or of this machine if there is none."""
        try:
            return DaskEngine(Client.current(), name)
        except ValueError:
            return LocalEngine(n_threads)

    def start_blocks(self, problem: BlockProblem, engine: LocalEngine) -> tuple[Parts, list[Sums]]:
        self._check_memory()
        start = partial(start_chunks, problem)
        lazy = [part.then(start, len(self.parts)) for part in self.parts]
        loaded = dask.compute(*lazy, scheduler="threads", num_workers=engine.n_threads)
        check_degrees([one for *_, facts in loaded for one in facts], self.label_names)
        return [runs for runs, *_ in loaded], [sums for _, sums, _ in loaded]

    def _check_memory(self) -> None:
        """Refuse rows that need more memory than there is, before any of them is loaded."""
        (n, k), C = self.X.shape, self.y.shape[1]
        limit = dask.utils.parse_bytes(dask.config.get("inldl.memory-limit", MEMORY_LIMIT))
        size = 4 if self.X.dtype == np.float32 else 8  # whole numbers become double precision
        others = sum(a.shape[1] for a in self.arrays.values())
        needed, allowed = n * (k + 5 * C + others) * size, MEMORY_SHARE * limit
        if needed > allowed:
            raise ValueError(
                f"A fit to these {n} rows needs {needed / 1e9:.2g} GB, but may use "
                f"{allowed / 1e9:.2g} GB of the memory of this machine; write X to disk "
                "(X.to_zarr('X.zarr')) and fit to zarr.open('X.zarr') and y.compute(), or start "
                "a dask.distributed.Client of workers with more memory and fit again."
            )
