"""Cut the rows of a problem into blocks, by its shape alone, never by the number of workers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

# A block of X should stay in a cache between its two uses, and be worth waking a thread for.
ENTRIES = 1 << 18
MOST_ROWS, FEWEST_ROWS = 2048, 64
STEP = 16  # rows: as many as the lanes of the longest vector

# Blocks are handed to the threads in about this many runs: waking a thread takes as long as half
# a block, and the sums of a run are added by its thread.
RUNS = 64


def rows_per_block(n_columns: int) -> int:
    """Return how many dense rows of `n_columns` entries make a block: an odd multiple of 16.

    Products are held as labels x rows. Were the rows a power of two, the same row of all labels
    would have to share a few places of the cache.
    """
    rows = min(max(ENTRIES // max(n_columns, 1), FEWEST_ROWS), MOST_ROWS)
    return (rows // STEP - 1 | 1) * STEP


def row_blocks(X: Any, *others: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the blocks of X and of the arrays beside it, in order, as views."""
    n, k = X.shape
    if sparse.issparse(X):  # each block costs dense sums, so let them be few
        size = max(MOST_ROWS, -(-n // 64))
    else:
        size = rows_per_block(max([k, *(a.shape[1] for a in others)]))
    return [(_rows(X, rows), *(a[rows] for a in others)) for rows in row_slices(n, size)]


def row_slices(n: int, size: int) -> list[slice]:
    """Return n rows as slices of `size` rows, the last one of fewer perhaps."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def in_runs(blocks: Sequence[Any], n_parts: int = 1) -> list[Sequence[Any]]:
    """Return the blocks of one of `n_parts` parts as two runs or more, `RUNS` in all parts."""
    return in_pieces(blocks, max(-(-len(blocks) // max(-(-RUNS // n_parts), 2)), 1))


def in_pieces(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return the items in order, `size` at a time."""
    return [items[i : i + size] for i in range(0, len(items), size)]


def _rows(X: Any, rows: slice) -> Any:
    """Return a block of rows that shares the memory of X, also where X is CSR."""
    if not sparse.issparse(X):
        return X[rows]
    pointer = X.indptr[rows.start : rows.stop + 1]
    data = slice(pointer[0], pointer[-1])
    parts = (X.data[data], X.indices[data], pointer - pointer[0])
    return sparse.csr_array(parts, shape=(len(pointer) - 1, X.shape[1]), copy=False)
