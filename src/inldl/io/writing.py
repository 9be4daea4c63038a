"""Write a completed table: the holes are filled, all else stays as it was in the file."""

import os
import secrets
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from inldl._validation import as_degrees, sum_tolerance
from inldl.io._encoding import from_utf8
from inldl.io._scale import WHOLE
from inldl.io.reading import kind_of

_DECIMALS = 6  # of a filled degree
_REST_DECIMALS = 10  # of the one that takes the rest, so that the row sums to the whole
_UNIT = 10.0**_DECIMALS


def write_table(table, completed, path, *, overwrite=False):
    """Write a table with its holes filled.

    Observed degrees and all other columns stay as they are, byte for byte in a text. The filled
    degrees are written in the table's scale with up to six decimals; the largest one of a row
    takes the rest, with as many as the sum of the row needs. The file appears whole or not at all.

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
    path = Path(path)
    _check_target(table, path, overwrite)
    completed = _checked(table, completed)
    with _replacing(path) as part:
        if table.format.kind == "text":
            with part.open("xb") as file:
                _write_text(table, completed, file)
        else:
            _write_frame(table, completed, part)


def _check_target(table, path, overwrite):
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write.")
    if kind_of(path) != table.format.kind:
        raise ValueError(
            f"{path} is another kind of file than {table.path}; end its name in "
            f"{table.path.suffix!r}."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}; make it first.")
    if path.exists() and not overwrite:
        same = table.path.exists() and path.samefile(table.path)
        what = "is the table that was read" if same else "exists already"
        raise FileExistsError(
            f"{path} {what}; write to another file, or give overwrite=True to replace it."
        )


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


def _write_text(table, completed, file):
    form, cells = table.format, table.source.cells
    columns = [cells.names.index(name) for name in table.labels]
    file.write(form.bom)
    position = row = 0
    for block in cells.blocks():
        rows = slice(row, row + len(block.starts))
        fills = _fills(table.y[rows], completed[rows], WHOLE.get(table.scale, 1.0))
        stop = block.offset + len(block.data)
        head = cells.content[position : block.offset]  # empty lines that make up a block
        filled = head + _filled(block, np.asarray(columns), fills, form)
        file.write(from_utf8(filled, form.encoding))
        position, row = stop, rows.stop
    file.write(from_utf8(cells.content[position:], form.encoding))


def _filled(block, columns, fills, form):
    """Return the bytes of a block with the fills in place of the holes."""
    order = np.argsort(columns)  # the holes of a row are filled from left to right
    columns, fills = columns[order], fills[:, order]
    at = np.nonzero(~np.isnan(fills))
    quote = np.ones(fills.shape, bool)
    if form.decimal != form.delimiter:
        quote = np.column_stack([block.quoted(column) for column in columns])
    bounds = (block.starts[:, columns][at], block.ends[:, columns][at], fills[at], quote[at])
    content, pieces, done = block.data.tobytes(), [], 0
    for start, end, value, quoted in zip(*(bound.tolist() for bound in bounds), strict=True):
        pieces += (content[done:start], _number(value, form.decimal, quoted))
        done = end
    return b"".join([*pieces, content[done:]])


def _number(value, decimal, quoted):
    text = f"{value:.{_REST_DECIMALS}f}".rstrip("0").rstrip(".")
    if decimal != ".":
        text = text.replace(".", decimal)
    return (f'"{text}"' if quoted else text).encode()


def _write_frame(table, completed, part):
    whole = WHOLE.get(table.scale, 1.0)
    fills = _fills(table.y, completed, whole)
    frame = table.frame.copy()
    for j, name in enumerate(table.labels):
        holes = ~np.isnan(fills[:, j])
        if holes.any():
            values = np.where(holes, fills[:, j], table.y[:, j] * whole)
            frame.isetitem(table.source.names.index(name), values)
    if table.format.kind == "parquet":
        frame.to_parquet(part)
    else:
        frame.to_excel(part, index=False)


@contextmanager
def _replacing(path):
    """Give a new file next to `path` and put it in its place; remove it if anything fails."""
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode)
        os.replace(part, target)
    except OSError as error:
        raise OSError(
            f"{path} could not be written ({error.strerror or error}); what was there before is "
            "as it was."
        ) from None
    finally:
        part.unlink(missing_ok=True)
