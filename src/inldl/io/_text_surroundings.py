"""Where a table starts and ends in a delimited text that has titles above it or notes below."""

import csv

from inldl.io._surroundings import (
    last_rows,
    n_note_rows,
    n_title_rows,
    told_notes,
    told_titles,
)

_SAMPLE = 1 << 16  # bytes at both ends


class Surroundings:
    """Find the first and the last byte of the table in a text.

    Parameters
    ----------
    content : Content
        The text, as UTF-8.
    skip_rows, skip_last : int or None
        Lines above the header, and lines with content below the table; None to find them.
    """

    def __init__(self, content, skip_rows, skip_last):
        self._content, self._skip, self._last = content, skip_rows, skip_last
        sample = content.read(0, _SAMPLE)
        self._newline = b"\n" if b"\n" in sample or b"\r" not in sample else b"\r"
        self.start = self._end_of(skip_rows) if skip_rows else 0

    def _end_of(self, lines):
        """Return the byte behind some lines."""
        position = 0
        for piece in self._content.pieces():
            if (count := piece.count(self._newline)) < lines:
                lines, position = lines - count, position + len(piece)
                continue
            at = -1
            for _ in range(lines):
                at = piece.index(self._newline, at + 1)
            return position + at + 1
        raise ValueError(
            f"skip_rows={self._skip} (--skip-rows) leaves no header; skip fewer lines."
        )

    def bounds(self, delimiter):
        """Return the first byte and the end of the table, and notes on what was left out."""
        start, titles = self._first(delimiter)
        stop, below = self._end(start, delimiter)
        return start, stop, titles + below

    def _first(self, delimiter):
        if self._skip is not None:
            return self.start, []
        lines = self._content.read(0, _SAMPLE).split(self._newline)
        rows = _rows(lines[:-1] if self._content.size > _SAMPLE else lines, delimiter)
        rows = rows[: rows.index(None)] if None in rows else rows
        number = n_title_rows(rows)
        start = sum(len(line) + 1 for line in lines[:number])
        n_lines = sum(1 for row in rows[:number] if row)
        return start, [told_titles(n_lines, "line")] if number else []

    def _end(self, start, delimiter):
        size = self._content.size
        lines = self._content.read(max(start, size - _SAMPLE), size).split(self._newline)
        rows = _rows(lines, delimiter)
        if self._last is not None:
            number = last_rows([row or ["-"] * (row is None) for row in rows], self._last)
        else:
            rows = rows[len(rows) - rows[::-1].index(None) :] if None in rows else rows
            number = n_note_rows(rows, self._width(start, delimiter))
        stop = size - sum(len(line) + 1 for line in lines[len(lines) - number :]) + (number > 0)
        found = number and self._last is None
        n_lines = sum(1 for row in rows[len(rows) - number :] if row)
        return stop, [told_notes(n_lines, "line")] if found else []

    def _width(self, start, delimiter):
        """Return the number of cells of the header."""
        lines = self._content.read(start, start + _SAMPLE).split(self._newline)
        return next((len(row) for row in _rows(lines, delimiter) if row), 0)


def _rows(lines, delimiter):
    """Return the cells of each line, of an empty one none; None if a cell goes on beyond it."""
    return [_row(line.decode("utf-8", "replace").strip("\r"), delimiter) for line in lines]


def _row(text, delimiter):
    if text.count('"') % 2 or "\r" in text:
        return None
    return next(csv.reader([text], delimiter=delimiter), [])
