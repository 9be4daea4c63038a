"""Run the steps of a problem over blocks of rows and add up what they return; no mathematics.

`base` says what engines, row sources and problems promise each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inldl.engines.base import RowSource
from inldl.engines.local import DiskRows, MemoryRows, is_on_disk
from inldl.rows import inputs
from inldl.rows.checks import FLOATS


def open_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    fitting: bool = False,
    arrays: Mapping[str, Any] | None = None,
) -> RowSource:
    """Check what a user gave, and return it as rows that know where they are.

    It may be arrays and frames in memory, CSR, mapped files, arrays of Zarr or HDF5, and Dask
    collections. The estimator notes the columns of X if it is `fitting`; else they must be those
    of its fit. `arrays` are further 2-D arrays with a row for each of X, which the problem of the
    fit gets by name. They may be in memory wherever X is; Dask arrays only if X or y is one.
    """
    arrays = arrays or {}
    if is_lazy(X, y):
        from inldl.engines.chunks import ChunkedRows, header  # Dask need not be installed

        inputs.note_columns(estimator, header(X), reset=fitting)
        return ChunkedRows(X, y, arrays)
    if is_on_disk(X):
        inputs.note_columns(estimator, X, reset=fitting)
        return DiskRows(X, y, arrays)
    if fitting:
        checked = {name: inputs.validate_row_array(name, a) for name, a in arrays.items()}
        weight = checked.get("sample_weight")
        X, y, names = inputs.validate_fit(estimator, X, y, sample_weight=weight)
        for name, a in checked.items():
            inputs.check_rows(X, a, name)
        return MemoryRows(X, y, names, checked)
    return MemoryRows(inputs.validate_features(estimator, X, accept_sparse="csr", dtype=FLOATS), y)


def is_lazy(X: Any, y: Any = None) -> bool:
    """Return whether what rows of X and y are mapped to is computed when it is asked for."""
    return inputs.is_chunked(X) or inputs.is_chunked(y)


def is_outside_memory(X: Any, y: Any = None) -> bool:
    """Return whether `open_rows` leaves X or y where they are, on disk or in Dask's chunks."""
    return is_lazy(X, y) or is_on_disk(X)
