"""Run the steps of a problem over blocks of rows and add up what they return; no mathematics.

`base` says what engines, row sources and problems promise each other.
"""

from inldl.engines.base import Engine, Problem, RowSource, Sums, open_rows
from inldl.engines.blas import one_blas_thread
from inldl.engines.blocks import row_blocks
from inldl.engines.local import LocalEngine, MemoryRows

__all__ = [
    "Engine",
    "LocalEngine",
    "MemoryRows",
    "Problem",
    "RowSource",
    "Sums",
    "one_blas_thread",
    "open_rows",
    "row_blocks",
]
