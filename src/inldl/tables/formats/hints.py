"""What stands above and below a table: titles before its header, notes behind its last row.

Only what is clear is found. A row of the table has a cell for each column; a title has a few words
in at most half as many cells, and a header below it; a note is a sentence, or says what it is.
"""

import csv
import re
from collections import Counter

from inldl.rows.checks import check_number
from inldl.tables.formats.encoding import EncodedText
from inldl.tables.numbers import is_hole

_MARKED = re.compile(
    r"(?i)\W*(sources?|notes?|quelle|anmerkung|fuente|nota|fonte|remarks?)\b|[*†‡§]"
)
_NUMBER = re.compile(r"[-+]?[\d.,' \u00a0\u202f]*\d[\d.,%\u00a0 ]*")
_YEAR = re.compile(r"(1[89]|20)\d\d")
_WORDS, _MANY_WORDS = 3, 8  # of a note with too few cells, and of one with the cells of a row


def check_skipped(skip_rows, skip_last):
    """Refuse numbers of rows that cannot be skipped."""
    for name, value in {"skip_rows": skip_rows, "skip_last": skip_last}.items():
        if value is not None:
            check_number(name, value, low=0, integer=True)


def n_title_rows(rows, spread=()):
    """Return how many of the first rows are no part of the table; 0 if that is not clear.

    A row is a list of texts; an empty line is an empty list. The rows numbered `spread` have cells
    that reach over several columns.
    """
    width = _width(rows)
    for i, row in enumerate(rows):
        if not _filled(row):
            continue
        if i not in spread and _is_header(row, width):
            return i if any(map(_filled, rows[:i])) else 0
        if i not in spread and not _is_title(row, width):
            return 0
    return 0


def n_note_rows(rows, width):
    """Return how many of the last rows are notes below a table of so many columns.

    Rows with a single cell are notes, too, if an empty row is between them and the table.
    """
    found, clear = 0, True
    for behind, row in enumerate(reversed(rows), 1):
        if not _filled(row):
            found, clear = behind - 1, True
        elif clear and _is_note(row, width):
            found = behind
        elif width > 2 and len(words := _filled(row)) == 1 and not _NUMBER.fullmatch(words[0]):
            clear = False
        else:
            break
    return found


def last_rows(rows, number):
    """Return how many rows, empty ones included, the last `number` rows with content take."""
    behind = [i for i, row in enumerate(reversed(rows), 1) if _filled(row)]
    return behind[number - 1] if 0 < number <= len(behind) else len(rows) if number else 0


def title_note(number, what):
    """Return a note on rows above the header."""
    if number == 1:
        return f"The first {what} is above the header and was skipped."
    return f"The first {number} {what}s are above the header and were skipped."


def footnote_note(number, what):
    """Return a note on rows below the table."""
    if number == 1:
        return f"The last {what} is a note below the table and was skipped."
    return f"The last {number} {what}s are notes below the table and were skipped."


def _width(rows):
    counts = Counter(len(row) for row in rows if _filled(row))
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _filled(row):
    return [cell for cell in row if cell.strip()]


def _is_header(row, width):
    names = _filled(row)
    numbers = [name for name in names if _NUMBER.fullmatch(name) and not _YEAR.fullmatch(name)]
    several = len(names) >= max(2, width - 1) and len(set(names)) == len(names)
    return len(row) == width and several and 2 * len(numbers) < len(names)


def _is_title(row, width):
    """Return whether a row is a title: one cell, or a sentence that commas have split."""
    words = _filled(row)
    if len(words) == 1:
        return len(row) != width or width > 2
    wordy = len(" ".join(words).split()) >= _WORDS
    return len(row) != width and len(words) <= width // 2 and wordy


def _is_note(row, width):
    """Return whether a row is a note. One with all cells may be a row of which little is known."""
    words = _filled(row)
    marked = not is_hole(words[0]) and _MARKED.match(words[0])
    n_words = len(" ".join(words).split())
    if len(row) != width:
        return bool(marked) or (len(words) == 1 and n_words >= _WORDS)
    return width > 2 and len(words) == 1 and bool(marked or n_words >= _MANY_WORDS)


def end_of_lines(text: EncodedText, number: int) -> int:
    """Return the character at which a text goes on below its first lines."""
    position, left = 0, number
    for piece in text.pieces() if number else ():
        if (count := piece.count(text.newline)) >= left:
            first = piece.split(text.newline, left)[:left]
            return position + sum(len(line) + 1 for line in first)
        left, position = left - count, position + len(piece)
    if number:
        raise ValueError(f"skip_rows={number} (--skip-rows) leaves no header; skip fewer lines.")
    return 0


def find_header(text: EncodedText, delimiter: str) -> tuple[int, list[str]]:
    """Return the character at which the header starts, and a note on lines above it."""
    lines = text.lines_from(0)
    rows = _rows(lines, delimiter)
    rows = rows[: rows.index(None)] if None in rows else rows
    number = n_title_rows(rows)
    n_lines = sum(1 for row in rows[:number] if row)
    note = [title_note(n_lines, "line")] if number else []
    return sum(len(line) + 1 for line in lines[:number]), note


def find_end(
    text: EncodedText, delimiter: str, start: int, skip_last: int | None
) -> tuple[int, list[str]]:
    """Return the character behind the last row of a table, and a note on lines below it.

    The header starts at the character `start`. `skip_last` are lines with content to leave out;
    None has them found.
    """
    lines = text.lines_to_end(start)
    rows = _rows(lines, delimiter)
    if skip_last is not None:
        number = last_rows([row or ["-"] * (row is None) for row in rows], skip_last)
    else:
        rows = rows[len(rows) - rows[::-1].index(None) :] if None in rows else rows
        below = (row for row in _rows(text.lines_from(start), delimiter) if row)
        number = n_note_rows(rows, len(next(below, ())))
    if not number:
        return text.size, []
    stop = text.size + 1 - sum(len(line) + 1 for line in lines[len(lines) - number :])
    n_lines = sum(1 for row in rows[len(rows) - number :] if row)
    return stop, [footnote_note(n_lines, "line")] if skip_last is None else []


def _rows(lines, delimiter):
    """Return the cells of each line, of an empty one none; None if a cell goes on beyond it."""
    return [_row(line.strip("\r"), delimiter) for line in lines]


def _row(text, delimiter):
    if text.count('"') % 2 or "\r" in text:
        return None
    return next(csv.reader([text], delimiter=delimiter), [])
