"""Write a completed table: the holes are filled, all else stays as it was in the file."""

import re
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from inldl._validation import as_degrees, sum_tolerance
from inldl.io._encoding import from_utf8
from inldl.io._frames import frame_writer
from inldl.io._replacing import check_free, replacing
from inldl.io._scale import WHOLE
from inldl.io.reading import kind_of

_DECIMALS = 6  # of a filled degree
_REST_DECIMALS = 10  # of the one that takes the rest, so that the row sums to the whole
_UNIT = 10.0**_DECIMALS
_FORMULA = re.compile(r"=|[+@\t\r-].*[(|!]", re.DOTALL)


def write_table(table, completed, path, *, overwrite=False):
    """Write a table with its holes filled.

    Observed degrees and all other columns stay as they are, byte for byte in a text; so do other
    sheets, formulas and styles of an Excel file. The filled degrees are written in the table's
    scale with up to six decimals; the largest one of a row takes the rest, with as many as the
    sum of the row needs. The file appears whole or not at all.

    Parameters
    ----------
    table : Table
        What `read_table` has returned.
    completed : array of shape (n, C)
        Fractions; only those at the holes of `table.y` are used.
    path : str or path
        The file to write, of the same kind as the one that was read.
    overwrite : bool, default=False
        Replace the file if there is one, also if it is the one that was read.

    Raises
    ------
    FileExistsError
        If there is such a file and `overwrite` is False.
    OSError
        If the file cannot be written; an old one is then as it was.
    """
    completed = _checked(table, completed)
    holes = np.isnan(table.y).any(axis=0)
    filled = [name for name, hole in zip(table.labels, holes, strict=True) if hole]
    with TableWriter(table.file, path, filled=filled, overwrite=overwrite) as writer:
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
    overwrite : bool
        Replace the file if there is one, also if it is the one that is read.
    """

    def __init__(self, file, path, *, filled=(), extra=(), overwrite=False):
        self.path, self._overwrite = Path(path), overwrite
        self._file, self._filled, self._extra = file, list(filled), list(extra)
        check_target(file, self.path, overwrite=overwrite)
        check_added(file, self._extra)

    def __enter__(self):
        self._file.check_unchanged()
        self._stack = ExitStack()
        try:
            part = self._stack.enter_context(replacing(self.path, overwrite=self._overwrite))
            if self._file.format.kind == "text":
                self._text = _TextWriter(self._file, self._stack.enter_context(part.open("wb")))
                self._text.start(self._extra)
            else:
                parts = (self._file, part, self._filled, self._extra)
                self._write_frame = self._stack.enter_context(frame_writer(*parts))
        except BaseException as error:
            if not self._stack.__exit__(type(error), error, error.__traceback__):
                raise
        return self

    def __exit__(self, *error):
        if error[0] is None and self._file.format.kind == "text":
            with self._stack:
                self._text.finish()
            return None
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
        self.check_finite(piece, np.where(np.isnan(y), completed, 0))
        fills = _fills(y, completed, WHOLE.get(scale, 1.0))
        if self._file.format.kind == "text":
            self._text.write(piece.raw, fills, extra)
            return
        columns = [self._file.labels.index(name) for name in self._filled]
        values = {name: extra[:, j] for j, name in enumerate(self._extra)}
        self._write_frame(
            piece.raw, dict(zip(self._filled, fills[:, columns].T, strict=True)), values
        )

    def check_finite(self, piece, degrees):
        """Refuse degrees of a piece that are no numbers: their cells would stay empty."""
        bad = ~np.isfinite(degrees).all(axis=1)
        if bad.any():
            place = self._file.place_of(first=piece.first)(int(np.argmax(bad)))
            raise ValueError(
                f"{place}: the model gives no number for a degree of this row; check the numbers "
                "of the row, and fit the model again if they are right."
            )


def check_target(file, path, *, overwrite=False):
    """Refuse a path to which a table that is read from `file` cannot be written."""
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        check_free(path)
    if kind_of(path) != file.format.kind:
        raise ValueError(
            f"{path} is another kind of file than {file.path}; end its name in "
            f"{file.path.suffix!r}."
        )
    if not overwrite and path.exists() and path.samefile(file.path):
        raise FileExistsError(
            f"{path} is the table that was read; write to another file, or give overwrite=True "
            "(--overwrite on the command line) to replace it."
        )
    check_free(path, overwrite=overwrite)


def check_added(file, names):
    """Refuse names of columns that cannot be added on the right of a file."""
    seen = set()
    for name in names:
        if name in file.source.names:
            raise ValueError(
                f"{file.path} has a column {name!r} already, which is to be added; rename it."
            )
        if name in seen:
            raise ValueError(
                f"Two columns {name!r} are to be added, because of how the labels are named; "
                "rename the labels."
            )
        seen.add(name)
        try:
            name.encode(file.format.encoding or "utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"The column {name!r} cannot be written in {file.format.encoding}, the encoding "
                f"of {file.path}; save the table as UTF-8."
            ) from None


def _checked(table, completed):
    """Return `completed` as an array that fits the table."""
    completed = as_degrees(completed, "completed")
    if completed.shape != table.y.shape:
        raise ValueError(
            f"completed has the shape {completed.shape} but the table's degrees have "
            f"{table.y.shape}; give one row per row and one column per label of the table."
        )
    _check_completed(table.y, completed, np.isnan(table.y))
    return completed


def _check_completed(y, completed, holes):
    tolerance = 2 * sum_tolerance(completed.dtype)
    bad = holes & ~((completed >= -tolerance) & (completed <= 1 + tolerance))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"completed[{row}, {column}] is {completed[row, column]:g}, but it is to fill a hole; "
            "give a fraction from 0 to 1."
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


def _fills(y, completed, whole):
    """Return what to write at each hole, NaN elsewhere: each row then sums to the whole."""
    holes = np.isnan(y)
    if not holes.any():
        return np.full(y.shape, np.nan)
    wanted = np.where(holes, np.clip(completed, 0, 1), 0).astype(np.float64) * whole
    rows = np.arange(len(y))
    largest = np.argmax(np.where(holes, wanted, -1), axis=1)
    left = whole - np.nansum(y, axis=1) * whole
    fills = np.rint(wanted * _UNIT) / _UNIT
    fills[rows, largest] = 0
    rest = left - fills.sum(axis=1)
    # Many holes rounded up can take more than is left; rounded down they cannot.
    short = rest < 0
    fills[short] = np.floor(wanted[short] * _UNIT) / _UNIT
    fills[rows, largest] = 0
    rest = np.round(left - fills.sum(axis=1), _REST_DECIMALS)
    fills[rows, largest] = np.maximum(rest, 0)
    return np.where(holes, fills, np.nan)


class _TextWriter:
    """Copy a text, with fills in place of holes and cells added to the rows."""

    def __init__(self, source, out):
        self._form, self._cells, self._out = source.format, source.source.cells, out
        self._columns = np.array([self._cells.names.index(name) for name in source.labels], int)
        self._position = 0

    def start(self, extra):
        """Write the header."""
        self._out.write(self._form.bom)
        self._copy(self._cells.header_end)
        names = "".join(self._form.delimiter + _header(name) for name in extra)
        self._put(names.encode())

    def write(self, block, fills, extra):
        """Write the rows of a block."""
        self._copy(block.offset)  # empty lines that make up a block
        done = self._position - block.offset
        content, pieces = block.data.tobytes(), []
        for start, end, cell in zip(*self._changes(block, fills, extra), strict=True):
            pieces += (content[done:start], cell)
            done = end
        self._put(b"".join([*pieces, content[done:]]))
        self._position = block.offset + len(content)

    def finish(self):
        """Write what is below the last row."""
        self._copy(self._cells.content.size)

    def _changes(self, block, fills, extra):
        """Return where to put which bytes, in the order of the text."""
        order = np.argsort(self._columns)
        columns, fills = self._columns[order], fills[:, order]
        at = ~np.isnan(fills)
        quote = np.ones(fills.shape, bool)
        if self._form.decimal != self._form.delimiter and len(columns):
            quote = np.column_stack([block.quoted(column) for column in columns])
        cells = np.empty(at.shape, object)
        pairs = zip(fills[at].tolist(), quote[at].tolist(), strict=True)
        sign = "%" if self._form.percent else ""
        cells[at] = [self._number(value, quoted, sign) for value, quoted in pairs]
        starts, ends = block.starts[:, columns], block.ends[:, columns]
        if extra is not None:
            last = block.ends[:, -1:]
            starts, ends, at = np.hstack([starts, last]), np.hstack([ends, last]), _and_last(at)
            cells = np.column_stack([cells, self._added(extra)])
        return starts[at].tolist(), ends[at].tolist(), cells[at].tolist()

    def _added(self, extra):
        """Return the cells that are added to each row, as one object each."""
        delimiter = self._form.delimiter.encode()
        quoted = self._form.decimal == self._form.delimiter
        rows = np.empty(len(extra), object)
        for i, row in enumerate(extra.tolist()):
            cells = [b"" if x != x else self._number(x, quoted) for x in row]
            rows[i] = delimiter + delimiter.join(cells)
        return rows

    def _number(self, value, quoted, sign=""):
        text = f"{value:.{_REST_DECIMALS}f}".rstrip("0").rstrip(".")
        if self._form.decimal != ".":
            text = text.replace(".", self._form.decimal)
        text += sign
        return (f'"{text}"' if quoted else text).encode()

    def _copy(self, stop):
        while self._position < stop:
            piece = self._cells.content.read(self._position, min(stop, self._position + (1 << 22)))
            self._put(piece)
            self._position += len(piece)

    def _put(self, content):
        self._out.write(from_utf8(content, self._form.encoding))


def _and_last(at):
    return np.column_stack([at, np.ones(len(at), bool)])


def _header(name):
    """Return the header of an added column; a spreadsheet must not take it for a formula.

    Names come from model files, too. "-1" and "@home" are harmless, and stay as they are.
    """
    name = f"'{name}" if _FORMULA.match(name) else name
    special = any(sign in name for sign in '",;\t|\r\n')
    return '"' + name.replace('"', '""') + '"' if special else name
