"""Write tables: one that was read with its holes filled or some cells edited; or a new one."""

import math
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.files.replacing import check_free, replacing
from inldl.rows.checks import as_degrees, sum_tolerance
from inldl.tables.fills import Fills
from inldl.tables.formats.registry import find_format, packing, plain_name
from inldl.tables.scale import WHOLE


def write_table(table, completed, path, *, whole=False, overwrite=False):
    """Write a table with its holes filled.

    Observed degrees and all other columns stay as they are, byte for byte in a text; so do other
    sheets, formulas and styles of an Excel file. The filled degrees are written in the table's
    scale with up to six decimals; the largest one of a row takes the rest, with as many as the
    sum of the row needs. Counts sum to the total of their row. What is filled stays within the
    bounds of its cell, and keeps sums of labels. The file appears whole or not at all.

    Parameters
    ----------
    table : Table
        What `read_table` has returned.
    completed : array of shape (n, C)
        Fractions; only those at the holes of `table.y` are used.
    path : str or path
        The file to write, of the same kind as the one that was read.
    whole : bool, default=False
        Fill in whole numbers only, by the largest remainders; for counts with a total.
    overwrite : bool, default=False
        Replace the file if there is one, also if it is the one that was read.

    Raises
    ------
    FileExistsError
        If there is such a file and `overwrite` is False.
    OSError
        If the file cannot be written; an old one is left unchanged.
    """
    completed = _checked(table.known, completed)
    holes = np.isnan(table.y).any(axis=0)
    filled = [name for name, hole in zip(table.labels, holes, strict=True) if hole]
    how = {"filled": filled, "whole": whole, "overwrite": overwrite}
    with TableWriter(table.file, path, **how) as writer:
        for piece in table.file.pieces():
            writer.write(piece, table.y[piece.rows], completed[piece.rows], table.scale)


class TableWriter:
    """Write a table a piece at a time; the file appears when all pieces are there.

    Parameters
    ----------
    file : TableFile
        What is read.
    path : str or path
        The file to write, of the same kind.
    filled : sequence of str
        The labels that may have holes.
    extra : sequence of str
        Names of columns that are added on the right. In a text, one that a spreadsheet would take
        for a formula gets an apostrophe in front.
    whole : bool
        Fill in whole numbers only.
    overwrite : bool
        Replace the file if there is one, also if it is the one that is read.
    """

    def __init__(self, file, path, *, filled=(), extra=(), whole=False, overwrite=False):
        self.path, self._overwrite, self._whole = Path(path), overwrite, whole
        self._file, self._filled, self._extra = file, list(filled), list(extra)
        check_writable(file, self.path, extra=self._extra, whole=whole, overwrite=overwrite)

    def __enter__(self):
        self._file.check_unchanged()
        with ExitStack() as stack:
            part = stack.enter_context(replacing(self.path, overwrite=self._overwrite))
            part = stack.enter_context(packing(self.path, part))
            columns = self._file.labels, self._filled, self._extra
            self._write = stack.enter_context(self._file.source.writer(part, *columns))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    def write(self, piece, y, completed, scale, extra=None):
        """Write a piece.

        Parameters
        ----------
        piece : Piece
            Its rows, the next ones of the file.
        y : ndarray of shape (size, C)
            Degrees as fractions, NaN where there is a hole.
        completed : ndarray of shape (size, C)
            Fractions; only those at the holes are used.
        scale : {"fraction", "percent", "count"}
            How the degrees stand in the file.
        extra : ndarray of shape (size, E), optional
            Values of the columns that are added; NaN leaves a cell empty.
        """
        where = self._file.place_of(first=piece.first)
        bad = (np.isnan(y) & ~np.isfinite(completed)).any(axis=1)
        if bad.any():  # their cells would stay empty
            raise ValueError(
                f"{where(int(np.argmax(bad)))}: the model gives no number for a degree of this "
                "row; check the numbers of the row, and fit the model again if they are right."
            )
        limits = None
        if piece.bounds is not None or piece.sums:
            limits = self._file.written_limits(piece, scale)
        fills = Fills(y, completed, row_wholes(piece, scale), limits)
        self._write(piece.raw, fills.whole(where) if self._whole else fills.rounded(), extra)


def row_wholes(piece, scale):
    """Return what the degrees of rows sum to in the file: a number, or one for each row."""
    return WHOLE.get(scale, 1.0) if piece.totals is None else piece.totals


def check_writable(file, path, *, extra=(), whole=False, overwrite=False):
    """Refuse a path, or names of columns to add, to which a `TableWriter` could not write."""
    path = Path(path)
    if whole and not file.beside.totals:
        raise ValueError(
            "Whole numbers (--whole) are filled in where counts have a total; name its column "
            "(--total, total='...' in Python)."
        )
    check_free(path, overwrite=True)
    if find_format(path) != find_format(file.path):
        raise ValueError(
            f"{path} is another kind of file than {file.path}; end its name in "
            f"{plain_name(file.path).suffix!r}."
        )
    check_free(path, overwrite=overwrite, source=file.path)
    for i, name in enumerate(extra):
        if name in file.source.names:
            raise ValueError(
                f"{file.path} has a column {name!r} already, which is to be added; rename it."
            )
        if name in extra[:i]:
            raise ValueError(
                f"Two columns {name!r} are to be added, because of how the labels are named; "
                "rename the labels."
            )
        file.source.check_name(name)


def _checked(known, completed):
    """Return `completed` as an array that can fill the holes of the degrees that are known."""
    y, completed = known.y, as_degrees(completed, "completed")
    holes = np.isnan(y)
    if completed.shape != y.shape:
        raise ValueError(
            f"completed has the shape {completed.shape} but the table's degrees have "
            f"{y.shape}; give one row per row and one column per label of the table."
        )
    tolerance = 2 * sum_tolerance(completed.dtype)
    bad = holes & ~((completed >= -tolerance) & (completed <= 1 + tolerance))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"completed[{row}, {column}] is {completed[row, column]:g}, but it must fill a hole; "
            "give a fraction from 0 to 1."
        )
    for bound, side in ((known.lower, -1), (known.upper, 1)):
        if bound is not None and (out := side * (completed - bound) > tolerance).any():
            row, column = np.argwhere(out)[0]
            raise ValueError(
                f"completed[{row}, {column}] is {completed[row, column]:g}, but its cell in the "
                f"table gives the bound {bound[row, column]:g}; stay within it."
            )
    given = np.where(holes, completed, 0).sum(axis=1, dtype=np.float64)
    left = np.maximum(0, 1 - np.nansum(y, axis=1))
    off = holes.any(axis=1) & (np.abs(given - left) > tolerance)
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"Row {row} of completed puts {given[row]:.6g} into the holes, but the observed "
            f"degrees leave {left[row]:.6g}; give rows that sum to 1 with the observed degrees."
        )
    return completed


def write_cells(file, path, named, cells_of, ids=()):
    """Write a copy of a file with other numbers in some cells of the label columns `named`.

    `cells_of` returns what to write into the label columns of a `Piece`, NaN where nothing
    changes. It finds the columns `ids` in the piece, as text.
    """
    path = Path(path)
    with ExitStack() as stack:
        plain = stack.enter_context(packing(path, path))
        write = stack.enter_context(file.source.writer(plain, file.labels, named, ()))
        for piece in file.pieces(ids, set(ids)):
            write(piece.raw, cells_of(piece), None)


def write_edited(file, path, edits):
    """Write a copy of a file with the cells that a user has edited.

    Each of the `edits` is the number of a row, from 0, a label, and a number in the units of the
    file.
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


def write_frame(frame, path, *, like=None, overwrite=False):
    """Write a frame to a new file; its index is left out, and NaN are empty cells.

    The file ends in .csv, .tsv, .tab, .txt, .xlsx or .parquet, also compressed. `like` is the
    `Format` of a text that it goes with, whose delimiter and decimal sign it gets.
    """
    path = Path(path)
    write = _WRITERS[check_new(path, overwrite=overwrite).suffixes[0]]
    with replacing(path, overwrite=overwrite) as part, packing(path, part) as whole:
        write(frame, whole, path, like)


def check_new(path, *, overwrite=False):
    """Refuse a path to which a table cannot be written; return the listing of its format."""
    listing = find_format(Path(path))
    check_free(path, overwrite=overwrite)
    if listing.suffixes[0] == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError(
                ".parquet files need pyarrow: pip install 'inldl[parquet]'"
            ) from None
    return listing


def _write_text(frame, part, path, like):
    tabs = plain_name(path).suffix.lower() in (".tsv", ".tab")
    known = like is not None and like.delimiter is not None
    delimiter, decimal = (like.delimiter, like.decimal) if known else (",", ".")
    delimiter = "\t" if tabs else delimiter
    encoding = "utf-8-sig" if known and like.bom else "utf-8"
    how = {"sep": delimiter, "decimal": decimal, "encoding": encoding, "index": False}
    frame.to_csv(part, **how, lineterminator="\n", compression=None)


def _write_parquet(frame, part, path, like):
    frame.to_parquet(part, index=False)


def _write_excel(frame, part, path, like):
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    for i, row in enumerate([frame.columns, *frame.itertuples(index=False, name=None)], 1):
        for j, value in enumerate(row, 1):
            cell = sheet.cell(i, j, None if pd.isna(value) else value)
            if isinstance(value, str):
                cell.data_type = "s"  # a name such as =A1 is no formula
    book.save(part)


_WRITERS = {".csv": _write_text, ".parquet": _write_parquet, ".xlsx": _write_excel}
