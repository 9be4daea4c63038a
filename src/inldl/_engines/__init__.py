"""Run the steps of a problem over blocks of rows and add up what they return; no mathematics.

`base` says what engines, row sources and problems promise each other.
"""

from inldl._engines.base import Engine, Problem, RowSource, Sums, open_rows
from inldl._engines.blas import one_blas_thread
from inldl._engines.blocks import row_blocks
from inldl._engines.checkpoint import Checkpoint, digest
from inldl._engines.local import LocalEngine, MemoryRows

__all__ = [
    "Checkpoint",
    "Engine",
    "LocalEngine",
    "MemoryRows",
    "Problem",
    "RowSource",
    "Sums",
    "digest",
    "one_blas_thread",
    "open_rows",
    "row_blocks",
]
