"""Run a function over blocks of rows and add up what it returns; no mathematics here."""

from inldl._engines.blas import one_blas_thread
from inldl._engines.blocks import row_blocks
from inldl._engines.checkpoint import Checkpoint, digest
from inldl._engines.disk import DiskRows, is_on_disk, pieces_of, read_rows
from inldl._engines.local import LocalEngine
from inldl._engines.sums import Sums

__all__ = [
    "Checkpoint",
    "DiskRows",
    "LocalEngine",
    "Sums",
    "digest",
    "is_on_disk",
    "one_blas_thread",
    "pieces_of",
    "read_rows",
    "row_blocks",
]
