"""Chunks of Dask arrays that do not fit into the memory of this machine.

Each chunk is computed once. Its features go to a file without a name, as plain numbers, from which
they are read in each sweep; decoding Parquet again would take longer than everything else. Parts,
runs and blocks are those of chunks in memory, and so are the results, to the bit.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Self

import dask
import numpy as np

from inldl.engines.base import Problem, Sums, total
from inldl.engines.chunks import start_chunks
from inldl.engines.disk import DiskEngine, Run
from inldl.rows.checks import DegreeFacts, check_degrees


class ScratchFile:
    """Numbers in rows, in a file that goes with the process, however that ends."""

    def __init__(self, folder: str | None, shape: tuple[int, int], dtype: Any):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._row = shape[1] * self.dtype.itemsize
        _check_room(folder or tempfile.gettempdir(), shape[0] * self._row)
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, first_row: int, X: np.ndarray) -> None:
        """Write rows from `first_row` on."""
        left = np.ascontiguousarray(X, self.dtype).data.cast("B")
        with self._lock:
            self._file.seek(first_row * self._row)
            while left:
                left = left[self._file.write(left) :]

    def read(self, rows: slice, buffer: np.ndarray) -> np.ndarray:
        """Read rows into the first bytes of `buffer`."""
        room = buffer[: (rows.stop - rows.start) * self._row]
        self._fill(room.data, rows.start * self._row)
        return room.view(self.dtype).reshape(-1, self.shape[1])

    def _fill(self, left: memoryview, at: int) -> None:
        while left:
            if hasattr(os, "preadv"):  # several threads can read at once
                got = os.preadv(self._file.fileno(), [left], at)
            else:
                with self._lock:
                    self._file.seek(at)
                    got = self._file.readinto(left)
            left, at = left[got:], at + got


def _check_room(folder: str, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ValueError(
            f"X has {size / 1e9:.1f} GB, too much for the memory of this machine and for the "
            f"{free / 1e9:.1f} GB that are free in {folder}; name a folder with more room, "
            "dask.config.set({'temporary-directory': ...}), or fit on a cluster."
        )


class ScratchEngine(DiskEngine):
    """The local engine, for chunks that go through a file."""

    def load(self, problem: Problem, rows: Any) -> Sums:
        self._problem = problem
        kind = np.float32 if rows.X.dtype == np.float32 else np.float64
        folder = dask.config.get("temporary-directory", None)
        file = self._stack.enter_context(ScratchFile(folder, rows.X.shape, kind))
        loaded = rows.compute(partial(_start_and_store, file, problem), self.n_threads)
        check_degrees([found for *_, facts in loaded for found in facts], rows.label_names)
        self._parts = [runs for runs, *_ in loaded]
        blocks = [at for part in self._parts for run in part for at in run.rows]
        self._read_from(file.read, file, max(at.stop - at.start for at in blocks))
        return total(sums for _, sums, _ in loaded)


def _start_and_store(
    file: ScratchFile, problem: Problem, chunks: Sequence[Any], first_row: int, n: int
) -> tuple[list[Run], Sums, list[DegreeFacts]]:
    """Start the blocks of a part and move their features into the file.

    Returns the runs, the total of their sums, and what y looks like.
    """
    runs, sums, facts = start_chunks(problem, chunks, first_row, n)
    at, stored = first_row, []
    for run in runs:
        ends = np.cumsum([at, *(block.X.shape[0] for block in run)]).tolist()
        stored.append(Run(run, [slice(*pair) for pair in pairwise(ends)]))
        for block, rows in zip(*stored[-1], strict=True):
            file.write(rows.start, block.X)
            block.X = None
        at = ends[-1]
    return stored, sums, facts
