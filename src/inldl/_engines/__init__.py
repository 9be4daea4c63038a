"""Run a function over blocks of rows and add up what it returns; no mathematics here."""

from inldl._engines.blocks import row_blocks
from inldl._engines.local import LocalEngine, one_blas_thread

__all__ = ["LocalEngine", "one_blas_thread", "row_blocks"]
