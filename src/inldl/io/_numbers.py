"""From the cells of a text to numbers, a column of a block at a time."""

from typing import NamedTuple

import numpy as np

from inldl import _kernels

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
_MISSING = [word.encode() for word in MISSING]
_BLANKS, _PERCENT = list(b" \t"), ord("%")
_WIDEST = 64  # no number that people write is wider


class Signs(NamedTuple):
    """The decimal sign, and those that separate thousands: any of ``,. '``, or none."""

    decimal: str = "."
    thousands: str = ""


def numbers(block, column, signs):
    """Return the numbers of a column with NaN for missing ones, and the first row that is text.

    The words of `MISSING` are holes, whatever their case. The second value is None if every cell
    is a number or a hole; otherwise the first is of no use.
    """
    return _read(block.data, *block.bounds(column), signs)


def percentages(block, column, signs):
    """Do the same for numbers with a percent sign each; a number without one is text."""
    data, (starts, ends) = block.data, block.bounds(column)
    while (blank := (ends > starts) & np.isin(data[ends - 1], _BLANKS)).any():
        ends = ends - blank
    signed = (ends > starts) & (data[ends - 1] == _PERCENT)
    values, bad = _read(data, starts, ends - signed, signs)
    if bad is not None:
        return None, bad
    wrong = signed == np.isnan(values)  # a sign without a number is wrong as well
    return (None, int(np.argmax(wrong))) if wrong.any() else (values, None)


def first_word(block, column, which):
    """Return the first of the rows `which` that is no word for a hole, or None."""
    starts, ends = (bound[which] for bound in block.bounds(column))
    widths = ends - starts
    known = widths <= _WIDEST
    known[known] = _holes(_gather(block.data, starts[known], widths[known]))
    return None if known.all() else int(np.flatnonzero(which)[np.argmin(known)])


def _read(data, starts, ends, signs):
    values, decimal = np.empty(len(starts)), ord(signs.decimal)
    rest = np.flatnonzero(_kernels.read_numbers(data, starts, ends, decimal, values))
    if not len(rest):
        return values, None
    starts, ends = starts[rest], ends[rest]
    if signs.thousands:
        data, starts, ends = _kernels.ungroup(data, starts, ends, decimal, _marked(signs))
        found = np.empty(len(rest))
        left = _kernels.read_numbers(data, starts, ends, decimal, found)
        values[rest] = found
        rest, starts, ends = rest[left], starts[left], ends[left]
    if len(rest):
        values[rest], bad = _rare(data, starts, ends, signs.decimal)
        if bad is not None:
            return None, int(rest[bad])
    return values, None


def _marked(signs):
    """Return which signs separate thousands, by their numbers in the kernel."""
    return np.array([False, *(sign in signs.thousands for sign in ",. '")])


def _rare(data, starts, ends, decimal):
    """Do the same for words, and for numbers with many digits."""
    widths = ends - starts
    if widths.max() > _WIDEST:
        return np.nan, int(np.argmax(widths > _WIDEST))
    cells = _gather(data, starts, widths)
    holes = _holes(cells)
    shapes = _as_words(_plain(decimal)[cells])
    shapes[holes] = b"0"
    try:
        values = shapes.astype(np.float64)
    except ValueError:
        return np.nan, _first_text(shapes)
    values[holes] = np.nan
    return values, None


def _gather(data, starts, widths):
    """Return the bytes of each cell as a row that is padded with zeros."""
    steps = np.arange(max(1, int(widths.max(initial=0))))
    cells = data[np.minimum(starts[:, None] + steps, len(data) - 1)]
    cells[steps >= widths[:, None]] = 0
    return cells


def _as_words(cells):
    return np.ascontiguousarray(cells).view(f"S{cells.shape[1]}").ravel()


def _holes(cells):
    # A number needs a digit and no word for a hole has one: only few cells are looked at closely.
    holes = ~((cells >= ord("0")) & (cells <= ord("9"))).any(axis=1)
    words = np.char.lower(np.char.strip(_as_words(cells[holes])))
    holes[holes] = np.isin(words, _MISSING)
    return holes


def _plain(decimal):
    """Return a table of bytes that spoils all but plain numbers: numpy takes 1_0 and inf too."""
    table = np.full(256, ord("x"), np.uint8)
    plain = list(b"\x000123456789+-eE \t")
    table[plain] = plain
    table[ord(decimal)] = ord(".")
    return table


def _first_text(words):
    for row, word in enumerate(words.tolist()):
        try:
            float(word)
        except ValueError:
            return row
    raise AssertionError("every cell is a number")
