"""Rows of this machine, in memory or on disk, and blocks on its threads.

Features on disk are read in each sweep, the rest of a block stays in memory. Blocks and the order
of adding are the same in both cases, and so are the results, to the bit.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from inldl.engines import base
from inldl.rows import checks, inputs

LARGE_MAP = 1 << 28  # bytes from which on a mapped file is read in pieces instead
BYTES_AT_ONCE = 1 << 22  # of X: several in a run, so that reading overlaps
STORES = ("zarr", "h5py")

Parts = list[list[Any]]
"""Runs of blocks, part by part."""


@dataclass
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
        self, problem: base.BlockProblem, engine: "LocalEngine"
    ) -> tuple[Parts, list[base.Sums]]:
        parts = [base.in_runs(base.row_blocks(self.X, self.y, *self.arrays.values()))]
        return engine.map_parts(partial(base.start_block, problem, list(self.arrays)), parts)

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        return function(self.X)

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> np.ndarray:
        return function(self.y, self.X, *self.arrays.values(), first_row=0)

    def map_degrees(self, function: Callable[..., Any]) -> list[Any]:
        return [function(self.y, first_row=0)]


class LocalEngine(base.Engine):
    """Run steps over blocks on the threads of this machine, one BLAS thread each.

    Blocks lie in runs, and runs in parts. The sums of a run are added by its thread, then those
    of the runs of a part, then those of the parts. Features that are not in memory come from the
    `reader` that the row source has set.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self.reader: FeatureReader | None = None
        self._parts: Parts = []

    def __enter__(self) -> Self:
        super().__enter__()
        if self.n_threads > 1:
            pool = ThreadPoolExecutor(self.n_threads, initializer=base.OF_THREAD.__enter__)
            self._pool = self.closing.enter_context(pool)
        return self

    def __exit__(self, *error: object) -> None:
        self._parts, self.reader = [], None
        super().__exit__(*error)

    def load(self, problem: base.BlockProblem, rows: base.RowSource) -> base.Sums:
        self._problem = problem
        self._parts, sums = rows.start_blocks(problem, self)
        return base.total(sums)

    def sweep(self, step: str, *message: np.ndarray) -> base.Sums:
        take = partial(base.take_step, self._problem, step, contiguous(message))
        self._parts, sums = self.map_parts(take, self._parts)
        return base.total(sums)

    def map_parts(
        self, function: Callable[[Any], Any], parts: Sequence[Sequence[Any]]
    ) -> tuple[Parts, list[base.Sums]]:
        """Return what `function` makes of each block, and the sums of each part."""
        map_run = fold if self.reader is None else self.reader.map_run
        done = self._map(partial(map_run, function), [run for part in parts for run in part])
        by_part = [fold(lambda _: next(done), part) for part in parts]
        return [runs for runs, _ in by_part], [sums for _, sums in by_part]

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


def contiguous(message: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return arrays as they are after a journey, so that every engine multiplies the same."""
    return tuple(np.ascontiguousarray(array) for array in message)


def fold(function: Callable[[Any], Any], items: Iterable[Any]) -> tuple[list[Any], base.Sums]:
    """Return what the items become and the total of their sums, added in order."""
    kept: list[Any] = []

    def sums_in_order() -> Iterator[base.Sums]:
        for item in items:
            new, sums = function(item)
            kept.append(new)
            yield sums

    added = base.total(sums_in_order())
    return kept, added


def check_rows_read(
    X: Any, y: Any, arrays: Mapping[str, Any], first_row: int = 0
) -> tuple[Any, np.ndarray, dict[str, np.ndarray], checks.DegreeFacts]:
    """Return rows that were not in memory before, checked, and what y looks like."""
    X, y = inputs.validate_chunk(X, y)
    checked = {name: inputs.validate_row_array(name, a, first_row) for name, a in arrays.items()}
    return X, y, checked, checks.degree_facts(y, first_row, checked.get("sample_weight"))


def map_unchecked(function: Callable[[Any], np.ndarray], X: Any, first_row: int = 0) -> np.ndarray:
    """Apply a function, with one BLAS thread, to features that have not been checked yet."""
    X = inputs.validate_chunk_features(X)
    with base.one_blas_thread():
        return function(X)


def is_on_disk(a: Any) -> bool:
    """Say whether `a` is a large mapped file, or an array of a store that is read by slices."""
    if isinstance(a, np.memmap):
        return a.ndim == 2 and a.nbytes >= LARGE_MAP
    return type(a).__module__.partition(".")[0] in STORES and len(getattr(a, "shape", ())) == 2


class DiskRows:
    """Rows of which X is on disk, and the rest perhaps; y is None if they are to be predicted."""

    in_memory = False

    def __init__(self, X: Any, y: Any = None, arrays: Mapping[str, Any] | None = None):
        self.X, self.y, self.label_names = X, y, checks.label_names(y)
        self.arrays = {
            name: a if is_on_disk(a) else np.asarray(a) for name, a in (arrays or {}).items()
        }
        if y is not None:
            self.y = y if is_on_disk(y) else checks.as_degrees(y)
        for name, a in {"y": self.y, **self.arrays}.items():
            if a is not None:
                checks.check_2d(a, name)
                inputs.check_rows(X, a, name)

    def take(self, rows: np.ndarray) -> MemoryRows:
        picked = {name: _picked(a, rows) for name, a in self.arrays.items()}
        X, y, arrays, _ = check_rows_read(_picked(self.X, rows), _picked(self.y, rows), picked)
        return MemoryRows(X, y, self.label_names, arrays)

    def engine(self, n_threads: int, name: str) -> LocalEngine:
        return LocalEngine(n_threads)

    def start_blocks(
        self, problem: base.BlockProblem, engine: LocalEngine
    ) -> tuple[Parts, list[base.Sums]]:
        widths = [a.shape[1] for a in (self.X, self.y, *self.arrays.values())]
        size, facts = base.rows_per_block(max(widths)), dict[int, checks.DegreeFacts]()
        engine.reader = FeatureReader(self.X, size, engine)

        def begin(block: Any) -> tuple[Any, base.Sums]:
            y, first = read_rows(self.y, block.rows), block.rows.start
            arrays = {name: read_rows(a, block.rows) for name, a in self.arrays.items()}
            X, y, arrays, facts[first] = check_rows_read(block.X, y, arrays, first)
            return problem.start(X, y, **arrays)

        runs = base.in_runs(base.row_slices(self.X.shape[0], size))
        unstarted = [Run([SimpleNamespace(rows=at, X=None) for at in run], run) for run in runs]
        parts, sums = engine.map_parts(begin, [unstarted])
        checks.check_degrees([facts[first] for first in sorted(facts)], self.label_names)
        return parts, sums

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> np.ndarray:
        return np.concatenate(self._map_pieces(partial(map_unchecked, function), n_columns))

    def map_with_degrees(self, function: Callable[..., np.ndarray], n_columns: int) -> np.ndarray:
        given = self.y, self.X, *self.arrays.values()
        return np.concatenate(self._map_pieces(function, n_columns, given))

    def map_degrees(self, function: Callable[..., Any]) -> list[Any]:
        return self._map_pieces(function, 1, [self.y])

    def _map_pieces(
        self, function: Callable[..., Any], n_columns: int, given: Sequence[Any] = ()
    ) -> list[Any]:
        """Return what a function makes of pieces of X, or of the `given` arrays.

        Pieces have whole blocks, and are read at once.
        """
        size = base.rows_per_block(max(self.X.shape[1], n_columns))
        size *= max(1, _rows_per_piece(self.X) // size)
        return [
            function(*(read_rows(a, piece) for a in given or [self.X]), first_row=piece.start)
            for piece in base.row_slices(self.X.shape[0], size)
        ]


def _rows_per_piece(a: Any) -> int:
    """Return how many rows of an array are read at once."""
    return max(1, BYTES_AT_ONCE // (a.shape[1] * np.dtype(a.dtype).itemsize))


def _picked(a: Any, rows: np.ndarray) -> np.ndarray:
    """Return rows of an array; a file is read once, piece by piece.

    Parts of a store are compressed, and single rows of a map would fill memory with all others.
    """
    if isinstance(a, np.ndarray) and not is_on_disk(a):
        return np.asarray(a[rows])
    pieces = base.row_slices(a.shape[0], _rows_per_piece(a))
    ends = np.searchsorted(rows, [piece.stop for piece in pieces])
    pairs = zip(pieces, np.split(rows, ends[:-1]), strict=True)
    parts = [read_rows(a, piece)[own - piece.start] for piece, own in pairs if own.size]
    return np.concatenate(parts) if parts else read_rows(a, slice(0, 0))


def read_rows(a: Any, rows: slice) -> np.ndarray:
    """Return rows of an array; those of a mapped file are read, which fills no memory for long."""
    root = _mapped(a)
    if root is None:
        return np.ascontiguousarray(a[rows])
    start, stop, _ = rows.indices(a.shape[0])
    first = a[start:].__array_interface__["data"][0] - root.__array_interface__["data"][0]
    size = (stop - start) * a.shape[1]
    found = np.fromfile(root.filename, a.dtype, size, offset=root.offset + first)
    if found.size < size:
        raise OSError(f"{root.filename} became shorter during the fit; fit again.")
    return found.reshape(-1, a.shape[1])


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


class Run(NamedTuple):
    """Blocks without their features, and the rows that these have on disk."""

    blocks: Sequence[Any]
    rows: Sequence[slice]


class FeatureReader:
    """Reads the features of blocks again in each sweep, one piece ahead of the work on them.

    A block has `size` rows at most.
    """

    def __init__(self, X: Any, size: int, engine: LocalEngine):
        self._X, self._together = X, max(1, _rows_per_piece(X) // size)
        self._pool = engine.closing.enter_context(ThreadPoolExecutor(engine.n_threads))

    def map_run(self, function: Callable[[Any], Any], run: Run) -> tuple[Run, base.Sums]:
        def without_features(block: Any) -> tuple[Any, base.Sums]:
            new, sums = function(block)
            block.X = new.X = None
            return new, sums

        blocks, sums = fold(without_features, self._with_features(run))
        return Run(blocks, run.rows), sums

    def _with_features(self, run: Run) -> Iterator[Any]:
        """Yield the blocks of a run, each with its features; the next piece is on its way."""
        pieces, blocks = base.in_pieces(run.rows, self._together), iter(run.blocks)
        coming = self._pool.submit(self._read, pieces[0])
        for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
            X = coming.result()
            if following is not None:
                coming = self._pool.submit(self._read, following)
            for at, block in zip(piece, blocks, strict=False):
                first = at.start - piece[0].start
                block.X = X[first : first + at.stop - at.start]
                yield block

    def _read(self, piece: Sequence[slice]) -> np.ndarray:
        X = read_rows(self._X, slice(piece[0].start, piece[-1].stop))
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return np.require(X.astype(kind, copy=False), requirements=["C", "ALIGNED"])
