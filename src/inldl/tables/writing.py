"""Write tables: one that was read with its holes filled or some cells edited; or a new one."""

import math
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np

from inldl.files.replacing import check_free, replacing
from inldl.rows.checks import as_degrees, sum_tolerance
from inldl.rows.partial import PartialRows
from inldl.tables.formats import find_format, load_format, packing, plain_name
from inldl.tables.formats.base import TableFormat
from inldl.tables.numbers import DECIMALS
from inldl.tables.table import whole_of

_UNIT = 10.0**6  # of a filled degree; the largest of a row takes the rest, with more decimals
_FINE = 10.0**9  # of a filled count if sums over rows are known: all of them keep theirs
_NEAR = 1e-6  # of a whole number


def write_table(table, completed, path, *, whole=False, overwrite=False) -> None:
    """Write a table with its holes filled.

    Observed degrees and all other columns stay as they are, byte for byte in a text; so do rows
    that the table leaves out, and other sheets, formulas and styles of an Excel file. The filled
    degrees are written in the table's scale with up to six decimals; the largest one of a row
    takes the rest, with as many as the sum of the row needs. Counts sum to the total of their row.
    What is filled stays within the bounds of its cell, and keeps sums of labels. The file appears
    whole or not at all.

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
    filled_in = _checked(table.known, completed)
    holes = np.isnan(table.y).any(axis=0) | (table.file.zeros.limits is not None)
    filled = [name for name, hole in zip(table.labels, holes, strict=True) if hole]
    how = {"filled": filled, "whole": whole, "overwrite": overwrite}
    y, completed = table.y, filled_in
    if table.rows is not None:
        y, completed = np.full((2, table.file.source.most_rows(), y.shape[1]), -1.0)
        y[table.rows], completed[table.rows] = table.y, filled_in
    with TableWriter(table.file, path, **how) as writer:
        for piece in table.file.pieces():
            some = completed[piece.rows]
            holes = np.isnan(piece.values) & (some >= 0)  # rounded zeros are among them
            writer.write(piece, np.where(holes, np.nan, y[piece.rows]), some, table.scale)


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
            rest = [] if self._file.rest is None else [self._file.rest.name]
            filled = [name for name in self._filled if name not in rest]
            columns = self._file.columns, filled, [*rest, *self._extra]
            source, suffix = self._file.source, plain_name(self.path).suffix.lower()
            inner = getattr(source, "inner", source)  # of a long table
            same = find_format(self.path) == find_format(self._file.path)
            write_new = None if same else load_format(self.path).write_new
            inner.convert = write_new and partial(write_new, suffix=suffix, like=None)
            self._write = stack.enter_context(source.writer(part, *columns))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    def write(self, piece, y, completed, scale, extra=None) -> np.ndarray:
        """Write a piece, and return what was filled in: NaN where a cell stays as it is.

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
        limits = self._file.written_limits(piece, scale) if piece.constrained else None
        unit = _UNIT if self._file.over_rows is None else _FINE
        fills = HoleFilling(y, completed, row_wholes(piece, scale), limits, unit)
        filled = fills.whole(where) if self._whole else fills.rounded()
        cells = filled[:, : len(self._file.columns)]
        if self._file.rest is not None:
            rest = np.where(np.isnan(filled), piece.values, filled)[:, -1:]
            extra = rest if extra is None else np.hstack([rest, extra])
        self._write(piece.raw, cells, extra)
        return filled


class HoleFilling:
    """What to write at the holes of some rows, NaN elsewhere.

    Each row then sums to the whole, or to the sum of the completed one if that is another. `y` and
    `completed` are fractions; the `whole` of each row, and limits, are in the units of the file.
    """

    def __init__(self, y, completed, whole, limits=None, unit=_UNIT):
        self._unit = unit
        self._holes, whole = np.isnan(y), np.broadcast_to(whole, len(y))[:, None]
        filled = np.where(self._holes, np.clip(completed, 0, 1), y)
        totals = filled.sum(axis=1)
        totals = np.where(np.abs(totals - 1) <= 2 * sum_tolerance(completed.dtype), 1, totals)
        self._wanted = np.where(self._holes, filled, 0).astype(np.float64) * whole
        self._left = (totals - np.nansum(y, axis=1)) * whole[:, 0]
        self._known = np.where(self._holes, 0, y) * whole
        self._limits = limits or PartialRows(y, np.zeros(y.shape), np.full(y.shape, np.inf))

    def rounded(self) -> np.ndarray:
        """Return degrees of up to six decimals; the largest one takes the rest."""
        return self._in_parts(partial(_rounded, self._unit))

    def whole(self, where) -> np.ndarray:
        """Return whole numbers, those with the largest remainders rounded up.

        Rows in which this cannot be are refused; `where` turns a row into words.
        """
        fills = self._in_parts(_largest_remainders)
        sums, holes = np.nansum(fills, axis=1), self._holes.any(axis=1)
        bad = holes & (np.abs(sums - self._left) > _NEAR * np.maximum(1, self._left))
        if bad.any():
            raise ValueError(
                f"{where(int(np.argmax(bad)))}: no whole numbers fit the total, the known counts "
                "and the bounds of this row; correct them, or leave out whole=True (--whole)."
            )
        return fills

    def _in_parts(self, fill):
        """Fill the holes of each group of labels whose sum is known, then the others."""
        out, left = np.full(self._holes.shape, np.nan), self._left.copy()
        if not self._holes.any():
            return out
        *groups, (others, *_) = self._limits.parts
        for cells, *_, total in groups:
            part = self._holes & cells
            lacking = total - np.where(cells, self._known, 0).sum(axis=1)
            self._put(fill, part, lacking, out)
            left -= np.where(part.any(axis=1), lacking, 0)
        self._put(fill, self._holes & others, left, out)
        return out

    def _put(self, fill, part, left, out):
        """Fill the holes `part`, which have `left` together, into `out`."""
        rows = np.flatnonzero(part.any(axis=1))
        if len(rows):
            ends = (end[rows] for end in self._limits.box)
            found = fill(self._wanted[rows], part[rows], np.maximum(left[rows], 0), *ends)
            out[rows] = np.where(part[rows], found, out[rows])


def _rounded(unit, wanted, holes, left, lower, upper):
    """Return rounded numbers within their bounds that have the sum `left` in each row.

    The one with the most room on both sides takes the rest; without bounds that is the largest.
    """
    rows = np.arange(len(wanted))
    wanted = np.clip(wanted, lower, upper)
    room = np.where(holes, np.minimum(wanted - lower, upper - wanted), -1)
    taker = np.argmax(room, axis=1)
    fills = np.where(holes, np.clip(np.rint(wanted * unit) / unit, lower, upper), 0)
    fills[rows, taker] = 0
    # Many holes rounded up can take more than is left; rounded down they cannot.
    short = left - fills.sum(axis=1) < lower[rows, taker]
    down = np.clip(np.floor(wanted[short] * unit) / unit, lower[short], upper[short])
    fills[short] = np.where(holes[short], down, 0)
    fills[rows, taker] = 0
    rest = np.round(left - fills.sum(axis=1), DECIMALS)
    fills[rows, taker] = np.clip(rest, lower[rows, taker], upper[rows, taker])
    return fills


def _largest_remainders(wanted, holes, left, lower, upper):
    """Return whole numbers near the `wanted` ones, within bounds and with the sum `left`."""
    lower, upper = np.ceil(lower - _NEAR) + 0.0, np.floor(upper + _NEAR)  # no -0
    fills = np.where(holes, np.clip(np.floor(wanted + _NEAR), lower, upper), 0)
    rows = np.arange(len(wanted))
    while True:
        lacking = np.rint(left - fills.sum(axis=1))
        up = np.where(holes & (fills < upper), wanted - fills, -np.inf)
        down = np.where(holes & (fills > lower), wanted - fills, np.inf)
        best, worst = up.argmax(axis=1), down.argmin(axis=1)
        more = (lacking > 0) & np.isfinite(up[rows, best])
        less = (lacking < 0) & np.isfinite(down[rows, worst])
        if not (more | less).any():
            return fills
        fills[rows[more], best[more]] += 1
        fills[rows[less], worst[less]] -= 1


def row_wholes(piece, scale) -> float | np.ndarray:
    """Return what the degrees of rows sum to in the file: a number, or one for each row."""
    return whole_of(scale) if piece.totals is None else piece.totals


def check_writable(file, path, *, extra=(), whole=False, overwrite=False) -> None:
    """Refuse a path, or names of columns to add, to which a `TableWriter` could not write."""
    path = Path(path)
    if whole and not (file.totals.given or file.totals.unknown):
        raise ValueError(
            "Whole numbers (--whole) are filled in where counts have a total; name its column "
            "(--total, total='...' in Python)."
        )
    check_free(path, overwrite=overwrite, source=file.path)
    same = find_format(path) == find_format(file.path)
    if not (same or getattr(file.source, "inner", file.source).converts):
        raise ValueError(
            f"{path} is another kind of file than {file.path}; end its name in "
            f"{plain_name(file.path).suffix!r}."
        )
    refuse_taken(file, extra)
    for i, name in enumerate(extra):
        if name in extra[:i]:
            raise ValueError(
                f"Two columns {name!r} are to be added, because of how the labels are named; "
                "rename the labels."
            )
        if same:
            file.source.check_name(name)


def notes_on_format(file, path) -> list[str]:
    """Return a sentence on a file of another format than the one that was read."""
    if find_format(path := Path(path)) == find_format(file.path):
        return []
    return [f"{path} has the columns of {file.path} as they were read, and nothing else of it."]


def refuse_taken(file, names) -> None:
    """Refuse names of new columns that a file has already."""
    for name in names:
        if name in file.source.names:
            raise ValueError(
                f"{file.path} has a column {name!r} already, which is to be added; rename it."
            )


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
    lower, upper = known.box
    bad = holes & ~((completed >= lower - tolerance) & (completed <= upper + tolerance))
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise ValueError(
            f"completed[{at[0]}, {at[1]}] is {completed[at]:g}, but it must fill a hole; give a "
            f"fraction from {lower[at]:g} to {upper[at]:g}, the bounds of its cell."
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


def write_edited(file, path, edits) -> None:
    """Write a copy of a file with the cells that a user has edited.

    Each of the `edits` is the number of a row, from 0, a label, and a number in the units of the
    file; None empties the cell.
    """
    left: dict[tuple[int, int], float] = {}
    for row, label, value in edits:
        if label not in file.columns:
            raise ValueError(f"There is no label {label!r}; undo the edit of row {row + 1}.")
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{value:g} is not a share; give a number of 0 or more.")
        left[row, file.labels.index(label)] = np.inf if value is None else value

    path, named = Path(path), [file.labels[j] for j in sorted({column for _, column in left})]
    with (
        packing(path, path) as plain,
        file.source.writer(plain, file.columns, named, ()) as write,
    ):
        for piece in file.pieces():
            cells = np.full(piece.values.shape, np.nan)
            rows = range(piece.first, piece.first + piece.size)
            for row, column in [at for at in left if at[0] in rows]:
                cells[row - piece.first, column] = left.pop((row, column))
            write(piece.raw, cells[:, : len(file.columns)], None)
    for row, _ in left:
        raise ValueError(f"The table has no row {row + 1}; undo its edit.")


def write_frame(frame, path, *, like=None, overwrite=False) -> None:
    """Write a frame to a new file; its index is left out, and NaN are empty cells.

    The file has any of the listed formats, also compressed. `like` is the `Format` of a text that
    it goes with, whose delimiter and decimal sign it gets.
    """
    path = Path(path)
    kind = check_new(path, overwrite=overwrite)
    with replacing(path, overwrite=overwrite) as part, packing(path, part) as whole:
        kind.write_new(frame, whole, plain_name(path).suffix.lower(), like)


def check_new(path, *, overwrite=False) -> type[TableFormat]:
    """Refuse a path to which a table cannot be written; return the class of its format."""
    kind = load_format(Path(path))
    check_free(path, overwrite=overwrite)
    return kind
