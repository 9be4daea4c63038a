"""Rows that stay on disk: features are read in each sweep, the state of the rows is in memory.

Blocks and the order of adding are those of arrays in memory, and so are the results, to the bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from inldl.engines.base import Problem, Sums, map_unchecked, total
from inldl.engines.blocks import in_pieces, in_runs, row_slices, rows_per_block
from inldl.engines.local import LocalEngine, MemoryRows, fold
from inldl.rows.checks import (
    DegreeFacts,
    as_degrees,
    check_2d,
    check_degrees,
    check_rows,
    degree_facts,
    label_names,
    validate_beside,
    validate_chunk,
)

LARGE = 1 << 28  # bytes from which on a mapped file is read in pieces instead
PIECE = 1 << 22  # bytes of X that are read at once: several in a run, so that reading overlaps
STORES = ("zarr", "h5py")


def is_on_disk(a: Any) -> bool:
    """Say whether `a` is a large mapped file, or an array of a store that is read by slices."""
    if isinstance(a, np.memmap):
        return a.ndim == 2 and a.nbytes >= LARGE
    return type(a).__module__.partition(".")[0] in STORES and len(getattr(a, "shape", ())) == 2


def read_rows(a: Any, rows: slice, buffer: np.ndarray | None = None) -> np.ndarray:
    """Return rows of an array; those of a mapped file are read, which fills no memory for long.

    They are read into `buffer`, if there is one; it must have enough bytes.
    """
    root = _mapped(a)
    if root is None:
        return np.ascontiguousarray(a[rows])
    start, stop, _ = rows.indices(a.shape[0])
    where = a.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    size = (stop - start) * a.strides[0]
    room: Any = np.empty(size, np.uint8) if buffer is None else buffer[:size]
    with Path(root.filename).open("rb", buffering=0) as file:
        file.seek(root.offset + where + start * a.strides[0])
        done = 0
        while done < size:
            got = file.readinto(memoryview(room)[done:])
            if not got:
                raise OSError(f"{root.filename} became shorter during the fit; fit again.")
            done += got
    return room.view(a.dtype).reshape(-1, a.shape[1])


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

    def __init__(self, X: Any, y: Any = None, beside: Mapping[str, Any] | None = None):
        self.X, self.y, self.label_names = X, y, label_names(y)
        self.beside = {
            name: a if is_on_disk(a) else np.asarray(a) for name, a in (beside or {}).items()
        }
        if y is not None:
            self.y = y if is_on_disk(y) else as_degrees(y)
        for name, a in {"y": self.y, **self.beside}.items():
            if a is not None:
                check_2d(a, name)
                check_rows(X, a, name)

    def take(self, rows: np.ndarray) -> MemoryRows:
        """Return some of the rows, given in order, in memory."""
        X, y = validate_chunk(_picked(self.X, rows), _picked(self.y, rows))
        beside = {name: validate_beside(name, _picked(a, rows)) for name, a in self.beside.items()}
        return MemoryRows(X, y, self.label_names, beside)

    def engine(self, n_threads: int, name: str) -> "DiskEngine":
        return DiskEngine(n_threads)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        """Return what `function` makes of the features, read piece by piece."""
        pieces = self._pieces(n_columns)
        return np.concatenate([map_unchecked(function, read_rows(self.X, p)) for p in pieces])

    def each_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        pieces = self._pieces(self.y.shape[1])
        return [function(read_rows(self.y, piece), piece.start) for piece in pieces]

    def _pieces(self, n_columns: int) -> list[slice]:
        """Return the rows in pieces of whole blocks that are read at once."""
        size = rows_per_block(max(self.X.shape[1], n_columns))
        return row_slices(self.X.shape[0], size * _blocks_per_piece(size, self.X))


def _picked(a: Any, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array; a file is read once, piece by piece.

    Parts of a store are compressed, and single rows of a map would fill memory with all others.
    """
    if isinstance(a, np.ndarray) and not is_on_disk(a):
        return np.asarray(a[rows])
    pieces = row_slices(a.shape[0], max(1, PIECE // (a.shape[1] * np.dtype(a.dtype).itemsize)))
    ends = np.searchsorted(rows, [piece.stop for piece in pieces])
    inside = np.split(rows, ends[:-1])
    parts = [
        read_rows(a, piece)[own - piece.start]
        for piece, own in zip(pieces, inside, strict=True)
        if own.size
    ]
    return np.concatenate(parts) if parts else read_rows(a, slice(0, 0))


def _blocks_per_piece(size: int, X: Any) -> int:
    """Return how many blocks of `size` rows of X are read at once."""
    return max(1, PIECE // (size * X.shape[1] * np.dtype(X.dtype).itemsize))


class Run(NamedTuple):
    """Blocks without their features, and the rows that these have on disk."""

    blocks: Sequence[Any]
    rows: Sequence[slice]


@dataclass
class _Unstarted:
    """What stands for a block before it is started."""

    rows: slice
    X: Any = None


class DiskEngine(LocalEngine):
    """The local engine, for rows whose features are read again in each sweep, one piece ahead."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._readers = self._stack.enter_context(ThreadPoolExecutor(self.n_threads))
        return self

    def load(self, problem: Problem, rows: Any) -> Sums:
        self._problem = problem
        size = rows_per_block(max(a.shape[1] for a in (rows.X, rows.y, *rows.beside.values())))
        self._read_from(partial(read_rows, rows.X), rows.X, size)
        runs = in_runs(row_slices(rows.X.shape[0], size))
        facts: dict[int, DegreeFacts] = {}

        def begin(block: _Unstarted) -> tuple[Any, Sums]:
            X, y = validate_chunk(block.X, read_rows(rows.y, block.rows))
            first = block.rows.start
            beside = {
                name: validate_beside(name, read_rows(a, block.rows), first)
                for name, a in rows.beside.items()
            }
            facts[first] = degree_facts(y, first, beside.get("sample_weight"))
            return problem.start(X, y, **beside)

        parts = [[Run([_Unstarted(at) for at in run], run) for run in runs]]
        self._parts, sums = self.map_parts(begin, parts)
        check_degrees([facts[first] for first in sorted(facts)], rows.label_names)
        return total(sums)

    def _read_from(
        self, read: Callable[[slice, np.ndarray], np.ndarray], X: Any, size: int
    ) -> None:
        """Have features read by `read`, of which X has the shape, in blocks of `size` rows."""
        self._read_rows, self._together = read, _blocks_per_piece(size, X)
        self._room = self._together * size * X.shape[1] * np.dtype(X.dtype).itemsize
        self._free: list[np.ndarray] = []

    def _map_run(self, function: Callable[[Any], Any], run: Run) -> tuple[Run, Sums]:
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
        coming = self._readers.submit(self._read, pieces[0], buffers[0])
        blocks = iter(run.blocks)
        for number, piece in enumerate(pieces, 1):
            X = coming.result()
            if number < len(pieces):
                coming = self._readers.submit(self._read, pieces[number], buffers[number % 2])
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
