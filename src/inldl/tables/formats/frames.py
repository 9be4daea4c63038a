"""What formats have in common whose files are read a block of rows at a time, as frames or not.

That is also what stands above and below a table: titles before its header, notes behind its last
row. Only what is clear is found. A row of the table has a cell for each column; a title has a few
words in at most half as many cells, and a header below it; a note is a sentence, or says what it
is.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from inldl.tables.degrees import Bounds, read_bounds, what_is_wrong
from inldl.tables.numbers import (
    Kind,
    Place,
    SignEvidence,
    find_signs,
    is_hole,
    parse_cells,
    parse_column,
    without_numbers,
)
from inldl.tables.table import Format, Piece
from inldl.text import shortened

_FIRST = 1000  # rows that tell whether degrees have percent signs
_MARKED = re.compile(
    r"(?i)\W*(sources?|notes?|quelle|anmerkung|fuente|nota|fonte|remarks?)\b|[*†‡§]"
)
_NUMBER = re.compile(r"[-+]?[\d.,' \u00a0\u202f]*\d[\d.,%\u00a0 ]*")
_YEAR = re.compile(r"(1[89]|20)\d\d")
_WORDS, _MANY_WORDS = 3, 8  # of a note with too few cells, and of one with the cells of a row


class BlockFormat:
    """A table in a file that is read in blocks; see `inldl.tables.table.TableFormat`.

    A format has `names`, `notes` and `format`; `blocks(names=None)`, which yields blocks of rows,
    with some columns at least, that have a `size` and `raw` rows; `_cells(block, names)` and
    `_numbers(block, names)`, the cells of columns, and the columns that have nothing but numbers;
    `_sign_places(labels, decimal)`, and `_features`.
    """

    names: list[str]
    notes: list[str]
    format: Format
    points = False  # whether 1.234 has a decimal point if nothing else shows it
    blocks: Callable[..., Iterator[Any]]
    where: Callable[[int], str]
    _cells: Callable[[Any, Sequence[str]], dict[str, list]]
    _numbers: Callable[[Any, Sequence[str]], dict[str, np.ndarray]]
    _features: Callable[..., pd.DataFrame]
    _sign_places: Callable[[Sequence[str], str | None], dict[Kind, Place]]

    def find_signs(self, labels, decimal, thousands) -> None:
        """Find out the signs of the numbers that are not given."""
        places = self._sign_places(labels, decimal)
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=self.points)
        self.notes = self.notes + notes
        self.format = replace(self.format, percent=self._have_percent_signs(labels), **signs)

    def _evidence(self, labels, names, n_blocks=None):
        """Return how the numbers of some columns are written, in all blocks or the first ones."""
        evidence, row = SignEvidence(labels, self.format.na), 0
        for block in islice(self.blocks(names), n_blocks) if names else ():
            for name, cells in self._shapes(block, names).items():
                evidence.add(name, cells, row)
            row += block.size
        return evidence

    def _shapes(self, block, names):
        """Return cells in which numbers have the signs of those in the file."""
        return self._cells(block, names)

    def _have_percent_signs(self, labels):
        """Return whether a degree of the first rows has a percent sign, and none is a number."""
        first = next(self.blocks(labels), None) if labels else None
        columns = {} if first is None else self._cells(first, labels)
        cells = [cell for column in columns.values() for cell in column[:_FIRST]]
        texts = [cell for cell in cells if isinstance(cell, str)]
        signed = any(text.rstrip().endswith("%") for text in texts)
        return signed and len(texts) + sum(map(pd.isna, cells)) == len(cells)

    def _cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        block, at = self._find(row, [name])
        cell = self._cells(block, [name])[name][at]
        return f"{self.where(row)}, column {name!r}", str(cell).strip()

    def _find(self, row, names=None):
        """Return the block that holds a row, and the number of the row in it."""
        for block in self.blocks(names):
            if row < block.size:
                return block, row
            row -= block.size
        raise IndexError("the table has no such row")

    def pieces(self, labels, features, text=()) -> Iterator[Piece]:
        """Yield pieces with the label columns and the feature columns."""
        row, plain = 0, [] if self.format.percent else labels
        tried = [name for name in features if text is None or name not in text]
        for block in self.blocks():
            numbers = self._numbers(block, [*plain, *tried])
            values, bounds = self._degrees(block, labels, numbers, row)
            index = range(row, row + block.size)
            frame = self._features(block, features, text, numbers, index)
            yield Piece(row, block.size, values, frame, block.raw, bounds)
            row += block.size

    def _degrees(self, block, labels, numbers, first) -> tuple[np.ndarray, Bounds | None]:
        """Return the numbers of the label columns, and the bounds that their other cells give."""
        values, form = np.empty((block.size, len(labels))), self.format
        bounds = None
        other = self._cells(block, [n for n in labels if form.percent or n not in numbers])
        for j, name in enumerate(labels):
            if name not in other:
                values[:, j] = numbers[name]
                continue
            values[:, j], rows = parse_cells(other[name], form, percent=form.percent)
            for row in rows.tolist():
                cell = other[name][row]
                read = read_bounds(str(cell), form)
                if isinstance(read, str):
                    raise ValueError(
                        f"{self.where(first + row)}, column {name!r}: {shortened(str(cell))!r} "
                        f"{read or what_is_wrong(cell, form)}"
                    )
                bounds = bounds or Bounds.none(values.shape, (str(cell).strip(), *read))
                bounds.limits[:, row, j] = read
        return values, bounds


class FrameBlock(NamedTuple):
    """Some rows as a frame, and as the format writes them."""

    frame: pd.DataFrame
    raw: Any

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return len(self.frame)


class FrameFormat(BlockFormat):
    """A table in a file that is read as frames; see `inldl.tables.table.TableFormat`.

    A format has `kind`, its name in `Format`; `open(path)`, which sets `names` and `n_rows` and
    may set `text_names` and `notes` (one with `sheets` looks at the sheet and the rows to skip in
    `opening`); `frames(names=None)`, which yields the frames that make up the table, of some
    columns at least, and the raw rows of each; `write_new` and `writer`.
    """

    kind: str
    n_rows: int
    text_names: list[str] | None = None  # the columns that can hold text; all by default
    sheets = False  # whether a file has sheets, with room around their tables
    open: Callable[[Path], None]
    frames: Callable[..., Iterator[tuple[pd.DataFrame, Any]]]

    def __init__(self, path, opening):
        self.path, self.format, self.notes = path, Format(self.kind, na=opening.na), []
        self.opening = opening
        if not self.sheets:
            opening.refuse_sheet(path)
            opening.refuse_skipping(path)
        self._written = set()  # columns of numbers that are written as text
        try:
            self.open(path)
        except Exception as error:  # each package has errors of its own
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} cannot be read as {path.suffix}: {error}") from None

    def blocks(self, names=None) -> Iterator[FrameBlock]:
        """Yield the frames."""
        return (FrameBlock(*each) for each in self.frames(names))

    def _cells(self, block, names):
        return {name: block.frame[name].tolist() for name in names}

    def _numbers(self, block, names):
        columns = {n: block.frame[n] for n in names}
        columns = {n: c for n, c in columns.items() if pd.api.types.is_numeric_dtype(c)}
        return {n: without_numbers(_floats(c), self.format.na) for n, c in columns.items()}

    def _sign_places(self, labels, decimal):
        """Return where signs of numbers in cells of text are.

        A text column is one of numbers if it has signs that numbers of a file have not: text
        such as 007 or 1.2 is text on purpose.
        """
        names = self.names if self.text_names is None else self.text_names
        evidence = self._evidence(labels, names)
        self._written = set(evidence.unusual()) - set(labels)
        return evidence.places({*labels, *self._written})

    def where(self, row) -> str:
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def most_rows(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def check_name(self, name) -> None:
        """Take any name."""

    def _features(self, block, names, text, numbers, index):
        part = block.frame[list(names)].set_axis(index, axis=0)
        for name, cells in self._cells(block, self._written & set(names)).items():
            found = parse_column(cells, self.format)
            part = part if found is None else part.assign(**{name: found})
        return part.apply(_without, na=self.format.na) if self.format.na else part


def _floats(column):
    return column.to_numpy("float64", na_value=np.nan)


def _without(cells: pd.Series, na: Collection[str]) -> pd.Series:
    """Return a column of a frame without the words and numbers that mean missing."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.mask(np.isnan(without_numbers(_floats(cells), na)))
    words = {word.lower() for word in na}
    missing = [isinstance(cell, str) and cell.strip().lower() in words for cell in cells]
    return cells.mask(np.array(missing, bool)) if any(missing) else cells


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
