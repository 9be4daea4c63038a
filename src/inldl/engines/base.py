"""What engines, row sources and problems promise each other, and how a user's rows are opened.

A fit takes its rows through steps. A *problem* (`inldl.solvers`) says what happens to a block of
rows, a *row source* says where the rows are, and an *engine* runs the problem over the blocks and
adds up what comes back. No engine knows any mathematics, and no problem knows where its rows are.

`tests/engines/test_base.py` holds every engine to what is promised here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from inldl.engines.blas import one_blas_thread
from inldl.rows.checks import (
    FLOATS,
    check_rows,
    is_chunked,
    note_columns,
    validate_beside,
    validate_chunk_features,
    validate_features,
    validate_fit,
)

Message = tuple[np.ndarray, ...]
"""The arrays that a step needs; the same for all blocks."""

Steps = Sequence[tuple[str, Message]]
"""Steps in the order in which every block takes them, each a method of the problem by its name.

They go by name because the problem may have been sent to another machine.
"""


@dataclass(frozen=True)
class Sums:
    """What blocks return: arrays or numbers to add up, and numbers of which the largest counts.

    Nothing else travels from the rows to the loop.
    """

    added: tuple[Any, ...]
    largest: tuple[float, ...] = ()

    def __add__(self, other: Sums) -> Sums:
        with np.errstate(invalid="ignore", over="ignore"):  # whoever uses sums looks at them
            added = tuple(a + b for a, b in zip(self.added, other.added, strict=True))
        return Sums(added, tuple(map(max, self.largest, other.largest)))


def total(sums: Iterable[Sums]) -> Sums:
    """Add up in order, from the first to the last."""
    found = None
    for each in sums:
        found = each if found is None else found + each
    if found is None:
        raise ValueError("There are no rows to add up.")
    return found


class Block(Protocol):
    """The state of a few rows, kept from one step to the next.

    It belongs to the problem, except for `X`, the features of the rows. An engine that does not
    hold the features in memory sets `X` to None between two steps.
    """

    X: Any


class Problem(Protocol):
    """What an engine needs of a problem: how to start a block. Its other methods are steps.

    A step is called as ``step(block, *message)`` and returns the new block and its sums. It may
    reuse the arrays of the old block. It must not depend on other blocks, on the number of
    threads, or on anything that changes between calls: a block that was lost is started again and
    repeats its steps. A problem can be pickled.
    """

    start: Callable[..., tuple[Any, Sums]]
    """Make a block of some rows, ``start(X, y, **beside)``; return it and its first sums.

    What is beside features and degrees comes by its name, the same rows of it.
    """


def start_block(problem: Problem, names: Iterable[str], source: Sequence[Any]) -> Any:
    """Start a block of X, y and what is beside them under `names`, in this order."""
    X, y, *others = source
    return problem.start(X, y, **dict(zip(names, others, strict=True)))


def take_steps(problem: Problem, steps: Steps, block: Any) -> tuple[Any, Sums]:
    """Take a block through steps; return it and the sums of the last one."""
    for step, message in steps:
        block, sums = getattr(problem, step)(block, *message)
    return block, sums


class Engine(Protocol):
    """Keeps the blocks of one fit and takes them through steps.

    It is a context: inside, BLAS has one thread; afterwards nothing of the fit is left in memory,
    in files or on other machines, also after an error or Ctrl-C. Errors of a problem come back as
    they are. Sums are added in the order of the rows, in groups that depend on the shape of the
    rows or their chunks alone, so that results are the same to the bit for any number of threads
    and workers.
    """

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def load(self, problem: Problem, rows: Any) -> Sums:
        """Start a block for each few rows of a source of this engine; return the total."""

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        """Take every block through one step; return the total of the sums."""


class RowSource(Protocol):
    """Rows of features, with their degrees in a fit, wherever they are.

    Rows in memory have been checked. Others are checked when they are read.
    """

    @property
    def X(self) -> Any:
        """The features: something with a shape and a dtype."""

    @property
    def y(self) -> Any:
        """The degrees, or None."""

    @property
    def beside(self) -> dict[str, Any]:
        """What else a fit knows of the rows: 2-D arrays with a row for each, by name."""

    @property
    def label_names(self) -> Any:
        """The names of the columns of y, or None."""

    @property
    def in_memory(self) -> bool:
        """Whether X, y and what is beside them are arrays in the memory of this process."""

    def take(self, rows: np.ndarray) -> RowSource:
        """Return some rows of a fit, by their numbers in order, as rows in memory."""

    def engine(self, n_threads: int, name: str) -> Engine:
        """Return an engine that can load these rows; `name` is what a dashboard calls the fit."""

    def map(self, function: Callable[[Any], np.ndarray], n_columns: int) -> Any:
        """Return what `function` makes of the features, `n_columns` numbers for each row."""

    def each_degrees(self, function: Callable[[np.ndarray, int], Any]) -> list[Any]:
        """Return ``function(y, first_row)`` of all degrees of a fit, a part of them at a time."""


def open_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    fitting: bool = False,
    beside: Mapping[str, Any] | None = None,
) -> RowSource:
    """Check what a user gave, and return it as rows that know where they are.

    It may be arrays and frames in memory, CSR, mapped files, arrays of Zarr or HDF5, and Dask
    collections. The estimator notes the columns of X if it is `fitting`; else they must be those
    of its fit. `beside` are further 2-D arrays with a row for each of X, which the problem of the
    fit gets by name. They may be in memory wherever X is; Dask arrays only if X or y is one.
    """
    beside = beside or {}
    if is_chunked(X) or is_chunked(y):
        from inldl.engines.chunks import ChunkedRows, header  # Dask need not be installed

        note_columns(estimator, header(X), reset=fitting)
        return ChunkedRows(X, y, beside)
    from inldl.engines.disk import DiskRows, is_on_disk  # these modules build on this one
    from inldl.engines.local import MemoryRows

    if is_on_disk(X):
        note_columns(estimator, X, reset=fitting)
        return DiskRows(X, y, beside)
    if fitting:
        checked = {name: validate_beside(name, a) for name, a in beside.items()}
        X, y, names = validate_fit(estimator, X, y, sample_weight=checked.get("sample_weight"))
        for name, a in checked.items():
            check_rows(X, a, name)
        return MemoryRows(X, y, names, checked)
    return MemoryRows(validate_features(estimator, X, accept_sparse="csr", dtype=FLOATS), y)


def map_unchecked(function: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """Apply a function, with one BLAS thread, to features that have not been checked yet."""
    X = validate_chunk_features(X)
    with one_blas_thread():
        return function(X)
