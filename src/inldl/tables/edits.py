"""Write a copy of a table in which a user has put numbers into some cells."""

import math
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from inldl.io._compression import packing


def write_cells(file, path, named, cells_of, ids=()):
    """Write a file again with other numbers in some cells of its label columns.

    Parameters
    ----------
    file : TableFile
        The file; it stays as it is.
    path : str or path
        The copy, of the same kind.
    named : list of str
        The labels that change.
    cells_of : callable
        Returns what to write into the label columns of a `Piece`, NaN where nothing changes.
    ids : sequence of str
        Columns that these pieces need, as text.
    """
    path = Path(path)
    with ExitStack() as stack:
        plain = stack.enter_context(packing(path, path))
        write = stack.enter_context(file.source.writer(plain, file.labels, named, ()))
        for piece in file.pieces(ids, set(ids)):
            write(piece.raw, cells_of(piece), None)


def write_edited(file, path, edits):
    """Write a file again with the cells that a user has edited.

    Parameters
    ----------
    file : TableFile
        The file, with its labels; it stays as it is.
    path : str or path
        The copy, of the same kind.
    edits : iterable of (int, str, float)
        The number of a row, from 0, a label, and a number in the units of the file.
    """
    by_row = defaultdict(dict)
    for row, label, value in edits:
        if label not in file.labels:
            raise ValueError(f"There is no label {label!r}; undo the edit of row {row + 1}.")
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{value:g} is not a share; give a number of 0 or more.")
        by_row[row][file.labels.index(label)] = value
    seen = set()

    def cells_of(piece):
        cells = np.full(piece.values.shape, np.nan)
        for row in by_row:
            if piece.first <= row < piece.first + piece.size:
                seen.add(row)
                for column, value in by_row[row].items():
                    cells[row - piece.first, column] = value
        return cells

    columns = {column for cells in by_row.values() for column in cells}
    write_cells(file, path, [file.labels[column] for column in sorted(columns)], cells_of)
    for row in set(by_row) - seen:
        raise ValueError(f"The table has no row {row + 1}; undo its edit.")
