"""Cut the rows of a problem into blocks, by its shape alone, never by the number of workers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

# A block of X and a block of products should stay in the second cache between their two uses.
ENTRIES = 1 << 17
MOST_ROWS, FEWEST_ROWS = 1024, 64


def rows_per_block(n_columns: int) -> int:
    """Return how many rows of `n_columns` entries make a block: a multiple of 64."""
    rows = ENTRIES // max(n_columns, 1) // FEWEST_ROWS * FEWEST_ROWS
    return min(max(rows, FEWEST_ROWS), MOST_ROWS)


def row_blocks(X: Any, *others: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Yield the blocks of X and of the arrays beside it, in order, as views."""
    n, k = X.shape
    size = rows_per_block(max([k, *(a.shape[1] for a in others)]))
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        yield _rows(X, rows), *(a[rows] for a in others)


def _rows(X: Any, rows: slice) -> Any:
    """Return a block of rows that shares the memory of X, also where X is CSR."""
    if not sparse.issparse(X):
        return X[rows]
    pointer = X.indptr[rows.start : rows.stop + 1]
    data = slice(pointer[0], pointer[-1])
    parts = (X.data[data], X.indices[data], pointer - pointer[0])
    return sparse.csr_array(parts, shape=(len(pointer) - 1, X.shape[1]), copy=False)
