"""Rows whose features stay on disk: they are read in each sweep, the rest of a block in memory.

Blocks and the order of adding are those of arrays in memory, and so are the results, to the bit.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from inldl.engines.base import (
    BlockProblem,
    Sums,
    in_pieces,
    in_runs,
    row_slices,
    rows_per_block,
)
from inldl.engines.local import (
    LocalEngine,
    MemoryRows,
    Parts,
    check_rows_read,
    fold,
    map_unchecked,
)
from inldl.rows.checks import DegreeFacts, as_degrees, check_2d, check_degrees, label_names
from inldl.rows.inputs import check_rows

LARGE_MAP = 1 << 28  # bytes from which on a mapped file is read in pieces instead
BYTES_AT_ONCE = 1 << 22  # of X: several in a run, so that reading overlaps
STORES = ("zarr", "h5py")


def is_on_disk(a: Any) -> bool:
    """Say whether `a` is a large mapped file, or an array of a store that is read by slices."""
    if isinstance(a, np.memmap):
        return a.ndim == 2 and a.nbytes >= LARGE_MAP
    return type(a).__module__.partition(".")[0] in STORES and len(getattr(a, "shape", ())) == 2


class RowFile:
    """Rows of numbers in a binary file, from which several threads can read at once."""

    def __init__(self, file: Any, shape: tuple[int, int], dtype: Any, offset: int = 0):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._row = shape[1] * self.dtype.itemsize
        self._file, self._offset, self._lock = file, offset, threading.Lock()

    @classmethod
    def temporary(cls, folder: str | None, shape: tuple[int, int], dtype: Any) -> Self:
        """Return rows of a new file that goes with the process, however that ends."""
        folder, size = folder or tempfile.gettempdir(), np.dtype(dtype).itemsize * np.prod(shape)
        free = shutil.disk_usage(folder).free
        if size > free:
            raise ValueError(
                f"X has {size / 1e9:.1f} GB, too much for the memory of this machine and for the "
                f"{free / 1e9:.1f} GB that are free in {folder}; name a folder with more room, "
                "dask.config.set({'temporary-directory': ...}), or fit on a cluster."
            )
        return cls(tempfile.TemporaryFile(dir=folder, buffering=0), shape, dtype)

    def close(self) -> None:
        self._file.close()

    def write(self, first_row: int, X: np.ndarray) -> None:
        """Write rows from `first_row` on."""
        left = np.ascontiguousarray(X, self.dtype).data.cast("B")
        with self._lock:
            self._file.seek(self._offset + first_row * self._row)
            while left:
                left = left[self._file.write(left) :]

    def read(self, rows: slice, buffer: np.ndarray | None = None) -> np.ndarray:
        """Read rows into the first bytes of `buffer`, if there is one, or into new memory."""
        size = (rows.stop - rows.start) * self._row
        room = np.empty(size, np.uint8) if buffer is None else buffer[:size]
        left, at = room.data, self._offset + rows.start * self._row
        while left:
            got = self._read_some(left, at)
            if not got:
                raise OSError(f"{self._file.name} became shorter during the fit; fit again.")
            left, at = left[got:], at + got
        return room.view(self.dtype).reshape(-1, self.shape[1])

    def _read_some(self, left: memoryview, at: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [left], at)
        with self._lock:
            self._file.seek(at)
            return self._file.readinto(left)


def read_rows(a: Any, rows: slice, buffer: np.ndarray | None = None) -> np.ndarray:
    """Return rows of an array; those of a mapped file are read, which fills no memory for long.

    They are read into `buffer`, if there is one; it must have enough bytes.
    """
    root = _mapped(a)
    if root is None:
        return np.ascontiguousarray(a[rows])
    start, stop, _ = rows.indices(a.shape[0])
    where = a.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    with Path(root.filename).open("rb", buffering=0) as file:
        stored = RowFile(file, a.shape, a.dtype, root.offset + where)
        return stored.read(slice(start, stop), buffer)


def _mapped(a: Any) -> Any:
    """Return the whole map of which `a` is a part in one piece, if what its file has is the same.

    Changes to a map of mode "c" are in memory only.
    """
    root = a
    while isinstance(getattr(root, "base", None), np.memmap):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None or root.mode == "c":
        return None
    same = a.flags.c_contiguous and Path(root.filename).exists()
    return root if same else None


class DiskRows:
    """Rows of which X is on disk, and the rest perhaps; y is None if they are to be predicted."""

    in_memory = False

    def __init__(self, X: Any, y: Any = None, arrays: Mapping[str, Any] | None = None):
        self.X, self.y, self.label_names = X, y, label_names(y)
        self.arrays = {
            name: a if is_on_disk(a) else np.asarray(a) for name, a in (arrays or {}).items()
        }
        if y is not None:
            self.y = y if is_on_disk(y) else as_degrees(y)
        for name, a in {"y": self.y, **self.arrays}.items():
            if a is not None:
                check_2d(a, name)
                check_rows(X, a, name)

    def take(self, rows: np.ndarray) -> MemoryRows:
        picked = {name: _picked(a, rows) for name, a in self.arrays.items()}
        X, y, arrays, _ = check_rows_read(_picked(self.X, rows), _picked(self.y, rows), picked)
        return MemoryRows(X, y, self.label_names, arrays)

    def engine(self, n_threads: int, name: str) -> LocalEngine:
        return LocalEngine(n_threads)

    def start_blocks(self, problem: BlockProblem, engine: LocalEngine) -> tuple[Parts, list[Sums]]:
        widths = [a.shape[1] for a in (self.X, self.y, *self.arrays.values())]
        size, facts = rows_per_block(max(widths)), dict[int, DegreeFacts]()
        engine.reader = FeatureReader(partial(read_rows, self.X), self.X, size, engine)

        def begin(block: Any) -> tuple[Any, Sums]:
            y, first = read_rows(self.y, block.rows), block.rows.start
            arrays = {name: read_rows(a, block.rows) for name, a in self.arrays.items()}
            X, y, arrays, facts[first] = check_rows_read(block.X, y, arrays, first)
            return problem.start(X, y, **arrays)

        runs = in_runs(row_slices(self.X.shape[0], size))
        unstarted = [Run([SimpleNamespace(rows=at, X=None) for at in run], run) for run in runs]
        parts, sums = engine.map_parts(begin, [unstarted])
        check_degrees([facts[first] for first in sorted(facts)], self.label_names)
        return parts, sums

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        pieces = self._pieces(n_columns)
        return np.concatenate([map_unchecked(function, read_rows(self.X, p)) for p in pieces])

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> np.ndarray:
        stored, pieces = (self.y, self.X, *self.arrays.values()), self._pieces(n_columns)
        return np.concatenate(
            [function(*(read_rows(a, p) for a in stored), first_row=p.start) for p in pieces]
        )

    def map_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        pieces = self._pieces(self.y.shape[1])
        return [function(read_rows(self.y, piece), piece.start) for piece in pieces]

    def _pieces(self, n_columns: int) -> list[slice]:
        """Return the rows in pieces of whole blocks that are read at once."""
        size = rows_per_block(max(self.X.shape[1], n_columns))
        return row_slices(self.X.shape[0], size * max(1, _rows_per_piece(self.X) // size))


def _rows_per_piece(a: Any) -> int:
    """Return how many rows of an array are read at once."""
    return max(1, BYTES_AT_ONCE // (a.shape[1] * np.dtype(a.dtype).itemsize))


def _picked(a: Any, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array; a file is read once, piece by piece.

    Parts of a store are compressed, and single rows of a map would fill memory with all others.
    """
    if isinstance(a, np.ndarray) and not is_on_disk(a):
        return np.asarray(a[rows])
    pieces = row_slices(a.shape[0], _rows_per_piece(a))
    ends = np.searchsorted(rows, [piece.stop for piece in pieces])
    parts = [
        read_rows(a, piece)[own - piece.start]
        for piece, own in zip(pieces, np.split(rows, ends[:-1]), strict=True)
        if own.size
    ]
    return np.concatenate(parts) if parts else read_rows(a, slice(0, 0))


class Run(NamedTuple):
    """Blocks without their features, and the rows that these have on disk."""

    blocks: Sequence[Any]
    rows: Sequence[slice]


class FeatureReader:
    """Reads the features of blocks again in each sweep, one piece ahead of the work on them.

    ``read(rows, buffer)`` returns features, which have the columns and the type of X. A block has
    `size` rows at most.
    """

    def __init__(self, read: Callable[..., np.ndarray], X: Any, size: int, engine: LocalEngine):
        self._read_rows, self._together = read, max(1, _rows_per_piece(X) // size)
        self._room = self._together * size * X.shape[1] * np.dtype(X.dtype).itemsize
        self._free: list[np.ndarray] = []
        self._pool = engine.closing.enter_context(ThreadPoolExecutor(engine.n_threads))

    def map_run(self, function: Callable[[Any], Any], run: Run) -> tuple[Run, Sums]:
        def without_features(block: Any) -> tuple[Any, Sums]:
            new, sums = function(block)
            block.X = new.X = None
            return new, sums

        blocks, sums = fold(without_features, self._with_features(run))
        return Run(blocks, run.rows), sums

    def _with_features(self, run: Run) -> Iterator[Any]:
        """Yield the blocks of a run, each with its features; the next piece is on its way.

        Nothing of a piece is held when the one after the next is asked for.
        """
        pieces = in_pieces(run.rows, self._together)
        buffers = [self._buffer(), self._buffer()]  # memory that is new costs as much as reading
        coming = self._pool.submit(self._read, pieces[0], buffers[0])
        blocks = iter(run.blocks)
        for number, piece in enumerate(pieces, 1):
            X = coming.result()
            if number < len(pieces):
                coming = self._pool.submit(self._read, pieces[number], buffers[number % 2])
            for at, block in zip(piece, blocks, strict=False):
                first = at.start - piece[0].start
                block.X = X[first : first + at.stop - at.start]
                yield block
        self._free += buffers

    def _buffer(self) -> np.ndarray:
        try:
            return self._free.pop()
        except IndexError:
            return np.empty(self._room, np.uint8)

    def _read(self, piece: Sequence[slice], buffer: np.ndarray) -> np.ndarray:
        X = self._read_rows(slice(piece[0].start, piece[-1].stop), buffer)
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return np.require(X.astype(kind, copy=False), requirements=["C", "ALIGNED"])
