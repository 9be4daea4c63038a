"""What stands above and below a table: titles before its header, notes behind its last row.

Only what is clear is found. A row of the table has a cell for each column; a title has a few words
in at most half as many cells, and a header below it; a note is a sentence, or says what it is.
"""

import re
from collections import Counter

import numpy as np
from pandas.api.types import is_numeric_dtype

from inldl.rows.checks import check_number
from inldl.tables.formats.text import EncodedText, split_row, unquoted
from inldl.tables.numbers import is_hole
from inldl.text import listed

_MARKED = re.compile(
    r"(?i)\W*(sources?|notes?|quelle|anmerkung|fuente|nota|fonte|remarks?)\b|[*†‡§]"
)
_NUMBER = re.compile(r"[-+]?[\d.,' \u00a0\u202f]*\d[\d.,%\u00a0 ]*")
_YEAR = re.compile(r"(1[89]|20)\d\d")
_MOST_IDS = 8  # columns that are tried as ids of a long table
_WORDS, _MANY_WORDS = 3, 8  # of a note with too few cells, and of one with the cells of a row


def check_skipped(skip_rows, skip_last) -> None:
    """Refuse numbers of rows that cannot be skipped."""
    for name, value in {"skip_rows": skip_rows, "skip_last": skip_last}.items():
        if value is not None:
            check_number(name, value, low=0, integer=True)


def n_title_rows(rows, spread=()) -> int:
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


def n_note_rows(rows, width) -> int:
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


def last_rows(rows, number) -> int:
    """Return how many rows, empty ones included, the last `number` rows with content take."""
    behind = [i for i, row in enumerate(reversed(rows), 1) if _filled(row)]
    return behind[number - 1] if 0 < number <= len(behind) else len(rows) if number else 0


def title_note(number, what) -> str:
    """Return a note on rows above the header."""
    if number == 1:
        return f"The first {what} is above the header and was skipped."
    return f"The first {number} {what}s are above the header and were skipped."


def footnote_note(number, what) -> str:
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
    return [unquoted(cell) for cell in split_row(text, delimiter)] if text else []


def column_groups(ranges, content) -> dict[int, dict[int, str]]:
    """Return the names of groups of columns above a header, by row and by column.

    They are in cells that reach over some of the columns; a title reaches over all.
    """
    columns = {j for _, j in content}
    found: dict[int, dict[int, str]] = {}
    for each in ranges:
        over = set(range(each.min_col, each.max_col + 1))
        top = each.min_row, each.min_col
        if len(over) > 1 and top in content and not columns <= over:
            named = dict.fromkeys(over, str(content[top]).strip())
            found.setdefault(each.min_row, {}).update(named)
    rows = sorted(found)
    return {row: found[row] for k, row in enumerate(rows) if row == rows[0] + k}


def with_group_names(content, groups) -> tuple[dict, int | None, str]:
    """Return cells with names of columns that differ, the row of these, and a note on them.

    Names that several columns have follow those of their groups, if that makes them differ.
    """
    header = min({i for i, _ in content if groups and i > max(groups)}, default=None)
    names = {j: str(value).strip() for (i, j), value in content.items() if i == header}
    joined, above = names, sorted(groups, reverse=True)
    while above and len(set(joined.values())) < len(joined):
        of = groups[above.pop(0)]
        joined = {j: f"{of[j]} {name}" if j in of else name for j, name in joined.items()}
    if joined == names or len(set(joined.values())) < len(joined):
        left_out = dict.fromkeys(name for of in groups.values() for name in of.values())
        return content, header, f"Names of groups of columns are left out: {listed(left_out)}."
    example = next(name for j, name in joined.items() if name != names[j])
    note = f"Names of columns begin with those of their groups, such as {example!r}."
    return {**content, **{(header, j): name for j, name in joined.items()}}, header, note


def long_table_hint(source, labels) -> str:
    """Return how to read a table that seems to have a row per thing and label, or nothing."""
    value = next((name for name in source.names if name == labels), None)
    first = next(source.pieces([], source.names), None)
    if first is None or first.size < 4:
        return ""
    frame = first.features.iloc[:1000]
    counts = {name: frame[name].nunique() for name in source.names if name != value}
    numeric = [name for name in source.names if is_numeric_dtype(frame[name])]
    most = min(30, len(frame) // 2)  # each label has several rows
    levels = [n for n, count in counts.items() if 2 <= count <= most and n not in numeric]
    values = [value] if value else [n for n in reversed(numeric) if counts[n] > 1]
    found = []
    for label in sorted(levels, key=lambda name: (counts[name] == 2, counts[name])):
        for things in _possible_ids(frame, counts, numeric):
            wanted = [name for name in values if name not in (label, *things)]
            several = 2 * len(frame[[*things]].value_counts()) <= len(frame)
            unique = label not in things and not frame.duplicated([*things, label]).any()
            if wanted and several and unique:
                found.append((things, label, wanted[0]))
    if not found:
        return ""
    things, label, value = max(found, key=lambda keys: _have_sums(frame, *keys))  # the first
    option = f'"id={"+".join(things)},label={label},value={value}"'
    return f"If it has a row per label, read it with --long {option}."


def _have_sums(frame, ids, label, value):
    """Return whether the values of most things sum to 1 or 100, of those without a hole."""
    if not is_numeric_dtype(frame[value]):
        return False
    sums = frame.groupby(list(ids))[value].agg(lambda cells: cells.sum(skipna=False))
    sums = sums.dropna().to_numpy()
    return any(2 * np.sum(np.abs(sums / whole - 1) < 0.01) > len(sums) for whole in (1, 100))


def _possible_ids(frame, counts, numeric):
    """Return columns that may be ids, the likeliest first: text, text and a number, a number."""
    names = [name for name in counts if not frame[name].isna().any()]
    names = sorted(names, key=lambda name: -counts[name])[:_MOST_IDS]
    texts = [name for name in names if name not in numeric]
    numbers = [name for name in names if name in numeric]
    pairs = [
        (text, number)
        for text in texts
        for number in numbers
        if counts[number] < len(frame[[text, number]].value_counts())  # both tell things apart
    ]
    return [*((text,) for text in texts), *pairs, *((number,) for number in numbers)]
