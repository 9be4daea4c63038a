"""Find out the delimiter and the decimal sign of a text table."""

import re

import numpy as np

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16  # bytes
_ROWS = 1000
_NUMBER = r"\s*[+-]?\d*{}\d+([eE][+-]?\d+)?\s*"


def find_delimiter(content):
    """Return the delimiter with which most rows have as many cells as the header."""
    sample = content.read(0, _SAMPLE)
    if content.size > _SAMPLE:  # the last line is likely to be cut
        sample = sample[: max(sample.rfind(b"\n"), sample.rfind(b"\r")) + 1] or sample
    return max(DELIMITERS, key=lambda delimiter: _agreement(sample, delimiter))


def _agreement(sample, delimiter):
    counts = _cells_per_row(sample, delimiter)
    if not len(counts) or counts[0] < 2:
        return 0.0, 0
    return float(np.mean(counts == counts[0])), int(counts[0])


def _cells_per_row(sample, delimiter):
    data = np.frombuffer(sample, np.uint8)
    outside = ~np.logical_xor.accumulate(data == ord('"'))
    newline = b"\n" if b"\n" in sample else b"\r"
    breaks = np.flatnonzero(outside & (data == newline[0]))
    edges = np.unique(np.concatenate([[-1], breaks, [len(data)]]))
    marks = np.concatenate([[0], np.cumsum(outside & (data == ord(delimiter)))])
    counts = np.diff(marks[np.minimum(edges + 1, len(data))]) + 1
    return counts[np.diff(edges) > 2]  # longer than "\r": no empty line


def find_decimal(cells, columns):
    """Return the decimal sign of the label columns, or of all columns if those show none."""
    block = next((block for block in cells.blocks() if len(block.starts)), None)
    if block is None:
        return "."
    block = block.rows(0, _ROWS)
    for chosen in (columns, range(len(cells.names))):
        text = [cell for column in chosen for cell in block.text(column)]
        commas, points = (_count(text, sign) for sign in (",", r"\."))
        if commas or points:
            return "," if commas > points else "."
    return "."


def _count(text, sign):
    number = re.compile(_NUMBER.format(sign))
    return sum(number.fullmatch(cell) is not None for cell in text)
