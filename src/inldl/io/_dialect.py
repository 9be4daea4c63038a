"""Find out the delimiter of a text table, and whether it has percent signs."""

import numpy as np

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16  # bytes
_ROWS = 1000


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


def has_percent_signs(cells, columns):
    """Return whether a cell among the first of the label columns ends in a percent sign."""
    return any(cell.rstrip().endswith("%") for cell in _first_cells(cells, columns))


def _first_cells(cells, columns):
    block = next((block for block in cells.blocks() if len(block.starts)), None)
    if block is None:
        return []
    block = block.rows(0, _ROWS)
    return [cell for column in columns for cell in block.text(column)]
