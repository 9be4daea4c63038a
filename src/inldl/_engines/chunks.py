"""Start the blocks of rows that arrive in chunks."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from inldl._engines.blocks import in_runs, row_blocks
from inldl._engines.local import fold
from inldl._engines.sums import Sums
from inldl._validation import Survey, survey, validate_chunk


def start_chunks(
    start: Callable[..., Any], chunks: Sequence[Any], first_row: int, n_parts: int
) -> tuple[list[Any], Sums, list[Survey]]:
    """Check the chunks of one of several parts and start its blocks; y itself is not kept.

    Returns the runs of blocks, the total of their sums, and what y looks like.
    """
    sources, surveys = [], []
    for X, y in chunks:
        X, y = validate_chunk(X, y)
        surveys.append(survey(y, first_row))
        first_row += len(y)
        sources += row_blocks(X, y)
    runs, sums = fold(partial(fold, lambda source: start(*source)), in_runs(sources, n_parts))
    return runs, sums, surveys
