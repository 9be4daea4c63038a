"""Rows that stay on disk: features are read in each sweep, the state of the rows is in memory.

Blocks and the order of adding are those of arrays in memory, and so are the results, to the bit.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from inldl._engines.blocks import in_runs, rows_per_block
from inldl._engines.local import LocalEngine, fold
from inldl._engines.sums import Sums, total
from inldl._validation import Survey, judge, survey, validate_chunk

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

    They are read into `buffer`, bytes of which there are enough, if there is one.
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
                raise OSError(f"{root.filename} has become shorter than it was; fit again.")
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


@dataclass(frozen=True)
class DiskRows:
    """Training rows of which X, and y perhaps, are on disk."""

    X: Any
    y: Any
    names: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of X."""
        return self.X.shape

    def engine(self, n_jobs: int | None, name: str) -> "DiskEngine":
        """Return the engine that reads these rows."""
        return DiskEngine(n_jobs)

    def runs(self) -> list[list[list[slice]]]:
        """Return the runs of these rows, as pieces that are read at once, as blocks of rows."""
        size, _ = _sizes(self.X, self.y.shape[1])
        blocks = _slices(self.X.shape[0], size)
        return [in_pieces(run, size, self.X) for run in in_runs(blocks)]


def in_pieces(run: Sequence[slice], size: int, X: Any) -> list[list[slice]]:
    """Return blocks of `size` rows or fewer as pieces that are read at once."""
    together = _together(size, X)
    return [list(run[i : i + together]) for i in range(0, len(run), together)]


def pieces_of(X: Any, n_labels: int) -> list[slice]:
    """Return rows to be read at once: whole blocks."""
    size, together = _sizes(X, n_labels)
    return _slices(X.shape[0], size * together)


def _sizes(X: Any, n_labels: int) -> tuple[int, int]:
    """Return how many rows make a block, and how many blocks a piece."""
    size = rows_per_block(max(X.shape[1], n_labels))
    return size, _together(size, X)


def _together(size: int, X: Any) -> int:
    """Return how many blocks of `size` rows make a piece."""
    return max(1, PIECE // (size * X.shape[1] * np.dtype(X.dtype).itemsize))


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


class DiskEngine(LocalEngine):
    """The local engine, for rows whose features are read again in each sweep, one piece ahead."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._readers = self._stack.enter_context(ThreadPoolExecutor(self.n_threads))
        return self

    def load(self, start: Callable[..., Any], rows: Any) -> Sums:
        """Keep the state of the block that `start` makes of each source; return the total."""
        self._lie(rows.runs(), rows.X, partial(read_rows, rows.X))
        surveys: dict[int, Survey] = {}

        def begin(source: tuple[slice, np.ndarray]) -> Any:
            X, y = validate_chunk(source[1], read_rows(rows.y, source[0]))
            surveys[source[0].start] = survey(y, source[0].start)
            return start(X, y)

        sums = total(self._part_sums(begin, self._sources))
        judge([surveys[first] for first in sorted(surveys)], rows.names)
        return sums

    def _lie(
        self,
        runs: list[list[list[slice]]],
        X: Any,
        read: Callable[[slice, np.ndarray], np.ndarray],
        n_runs: Sequence[int] = (),
    ) -> None:
        """Note where the blocks of each run are in X, how to read them, and the runs of parts."""
        self._runs, self._read_rows, self._n_runs = runs, read, n_runs or [len(runs)]
        self._blocks: list[list[Any]] = [[] for _ in runs]
        self._free: list[np.ndarray] = []
        longest = max((p[-1].stop - p[0].start for run in runs for p in run), default=0)
        self._room = longest * X.shape[1] * np.dtype(X.dtype).itemsize

    def part_sums(self, function: Callable[[Any], Any]) -> list[Sums]:
        """Replace each block by what `function` makes of it; return the sums of each part."""
        return self._part_sums(function, self._walk)

    def _part_sums(
        self, function: Callable[[Any], Any], walk: Callable[[int], Iterator[Any]]
    ) -> list[Sums]:
        """Keep what `function` makes of the items of each run; return the sums of each part."""
        done = self._map(partial(self._fold_run, function, walk), range(len(self._runs)))

        def each() -> Iterator[Sums]:
            for i, (blocks, sums) in enumerate(done):
                self._blocks[i] = blocks
                yield sums

        sums = each()
        return [total(islice(sums, n)) for n in self._n_runs]

    def _fold_run(
        self, function: Callable[[Any], Any], walk: Callable[[int], Iterator[Any]], i: int
    ) -> tuple[list[Any], Sums]:
        def without_features(item: Any) -> Any:
            block, sums = function(item)
            block.X = None
            return block, sums

        return fold(without_features, walk(i))

    def _walk(self, i: int) -> Iterator[Any]:
        """Yield the blocks of a run, each with its features."""
        for block, (_, X) in zip(self._blocks[i], self._sources(i), strict=True):
            block.X = X
            yield block

    def _sources(self, i: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the rows of each block of a run and their features; the next piece is on its way.

        Nothing of a piece is held when the one after the next is asked for.
        """
        pieces = self._runs[i]
        buffers = [self._buffer(), self._buffer()]  # memory that is new costs as much as reading
        coming = self._readers.submit(self._read, pieces[0], buffers[0])
        for number, (piece, after) in enumerate(zip(pieces, [*pieces[1:], None], strict=True), 1):
            X = coming.result()
            if after is not None:
                coming = self._readers.submit(self._read, after, buffers[number % 2])
            for at in piece:
                first = at.start - piece[0].start
                yield at, X[first : first + at.stop - at.start]
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
