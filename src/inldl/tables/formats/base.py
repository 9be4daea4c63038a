"""What all file formats of tables have in common, and what stands around tables in files.

Only clear titles above a header and notes below the last row are found: a title has a few words in
at most half as many cells as the table has columns, and a note is a sentence or says what it is.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.errors import DataError
from inldl.tables.marks import Meaning, meanings_of
from inldl.tables.numbers import (
    SignEvidence,
    find_signs,
    flag_of,
    is_hole,
    parse_cells,
    parse_column,
    read_flagged,
    without_numbers,
)
from inldl.tables.options import FileOptions
from inldl.tables.table import Bounds, Format, Piece, read_bounds, what_is_wrong
from inldl.text import shortened

_FIRST = 1000  # rows that tell whether degrees have percent signs
_MARKED = re.compile(
    r"(?i)\W*(sources?|notes?|quellen?|anmerkung(en)?|fuentes?|notas?|fonti|fontes?|bron|kilde|"
    r"källa|źródło|lähde|remarks?)\b|[*†‡§©]|_{3,}$|-{3,}$|"
    r"(stand|champ|lecture|l[ée]gende?|leyenda|legenda|(last |zuletzt )?(updated?|aktualisiert)|"
    r"licen[cs]e|lizenz|copyright|footnotes?|fußnoten?)[^:]{0,9}:|"
    r"(datenlizenz|abgerufen|retrieved|accessed|downloaded|extracted|heruntergeladen)\b.|"
    r"\S{1,3} ?= ?[^\W\d]"
)
_NUMBER = re.compile(r"[-+]?[\d.,' \u00a0\u202f]*\d[\d.,%\u00a0 ]*")
_YEAR = re.compile(r"(1[89]|20)\d\d")
_WORDS, _MANY_WORDS = 3, 8  # of a note with too few cells, and of one with the cells of a row


class TableFormat:
    """A table in an open file. A file format is such a class, listed in `tables.formats`.

    One whose files are read as frames is a `FrameFormat`. Any other has `open`, which sets `names`
    and may add to `notes` and `format`; `blocks(names=None)`, which yields blocks of rows, with
    some columns at least, that have a `size`; `cells(block, names)` and `numbers(block, names)`,
    the columns of a block, and those of them that have nothing but numbers; and the methods below
    that have no body. Errors are a ValueError or an OSError in one sentence that says where in the
    file and what to do.
    """

    kind: str  # its name in `Format`
    layout: tuple[str, ...] = ()  # the options on sheets and on lines to skip that it takes
    converts = False  # whether its tables can be written to files of other formats
    convert: Callable[[pd.DataFrame, Path], None] | None = None  # what writes to such a one
    points = False  # whether 1.234 has a decimal point if nothing else shows it
    names: list[str]  # of the columns that can be labels or features
    open: Callable[[], None]
    blocks: Callable[..., Iterator[Any]]
    cells: Callable[[Any, Collection[str]], dict[str, pd.Series]]
    numbers: Callable[[Any, Collection[str]], dict[str, pd.Series]]

    def __init__(self, path: Path, options: FileOptions) -> None:
        self.path, self.options = path, options
        self.format = Format(self.kind, na=tuple(options.na or ()))
        self.marks: dict[str, Meaning] = dict(options.mark or {})  # type: ignore[arg-type]
        self.meanings: dict[str, dict[str, Meaning]] = {}  # of signs, by column
        self.seen: dict[tuple[int, Any], Counter] = {}  # by first row and column
        self.notes: list[str] = []  # sentences about what was detected
        self.asked: list[str] = []  # those of them on numbers that may mean missing
        if options.sheet is not None and "sheet" not in self.layout:
            raise ValueError(
                f"{path} has no sheets; leave out sheet (--sheet), or name an .xlsx file."
            )
        if (options.skip_rows or options.skip_last) and "skip_rows" not in self.layout:
            raise ValueError(
                f"{path} has nothing above its header or below its rows; leave out skip_rows and "
                "skip_last (--skip-rows and --skip-last)."
            )
        self.open()

    def where(self, row: int) -> str:
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def place(self, row: int, name: str) -> str:
        """Return the place of a cell in words."""
        return f"{self.where(row)}, column {name!r}"

    def most_rows(self) -> int:
        """Return a number of rows that is not exceeded."""
        raise NotImplementedError

    def check_name(self, name: str) -> None:
        """Refuse a name for a new column that cannot be written to such a file."""

    @staticmethod
    def write_new(frame: pd.DataFrame, part: Path, suffix: str, like: Format | None) -> None:
        """Write a frame to a new file; its name is to end in `suffix`.

        `like` is the format of a text that it goes with, if there is one.
        """
        raise NotImplementedError

    def writer(
        self,
        part: Path,
        labels: Sequence[str],
        filled: Sequence[str],
        extra: Sequence[str],
        added: Sequence[dict[str, Any]] = (),
    ) -> AbstractContextManager[Callable[[Any, np.ndarray, np.ndarray | None], None]]:
        """Give a function that writes the file to `part` again, a piece at a time.

        It takes the raw rows of the next piece, what to write into its label columns (NaN where
        nothing changes, inf empties a cell; only columns in `filled` change at all), and the
        values of the columns `extra` that are added on the right (NaN leaves a cell empty). Below
        the last row come rows that are `added`, from names of columns to cells; a column that has
        none stays empty.
        """
        raise NotImplementedError

    def find_signs(self, labels, decimal, thousands, totals=()) -> None:
        """Find out the signs of numbers that are not given; put them into `format` and `notes`."""
        self.meanings = meanings_of(self.marks, labels, totals)
        places = self._sign_places(labels, decimal)
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=self.points)
        self.notes = self.notes + notes
        self.format = replace(self.format, percent=self._have_percent_signs(labels), **signs)

    def _sign_places(self, labels, decimal):
        """Return the first place of each kind of sign."""
        return self._evidence(labels, self.names).places()

    def _evidence(self, labels, names, n_blocks=None):
        """Return how the numbers of some columns are written, in all blocks or the first ones."""
        evidence, row = SignEvidence(labels, (*self.format.na, *self.marks)), 0
        for block in islice(self.blocks(names), n_blocks) if names else ():
            for name, cells in self._shapes(block, names).items():
                evidence.add(name, cells.tolist(), row)
            row += block.size
        return evidence

    def _shapes(self, block, names):
        """Return cells in which numbers have the signs of those in the file."""
        return self.cells(block, names)

    def _have_percent_signs(self, labels):
        """Return whether a degree of the first rows has a percent sign, and none is a number."""
        first = next(self.blocks(labels), None) if labels else None
        columns = {} if first is None else self.cells(first, labels)
        cells = [cell for column in columns.values() for cell in column[:_FIRST]]
        texts = [cell for cell in cells if isinstance(cell, str)]
        signed = any(text.rstrip().endswith("%") for text in texts)
        return signed and len(texts) + sum(map(pd.isna, cells)) == len(cells)

    def _cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        block, at = self._find(row, [name])
        cell = self.cells(block, [name])[name].iloc[at]
        return self.place(row, name), str(cell).strip()

    def _find(self, row, names=None):
        """Return the block that holds a row, and the number of the row in it."""
        for block in self.blocks(names):
            if row < block.size:
                return block, row
            row -= block.size
        raise IndexError("the table has no such row")

    def pieces(
        self, labels: Sequence[str], features: Sequence[str], text: Collection[str] = ()
    ) -> Iterator[Piece]:
        """Yield the rows a piece at a time, with the columns in `text` as text."""
        row, tried = 0, [name for name in features if name not in text]
        tried += [] if self.format.percent else labels
        text = {*text, *self.meanings.keys() - {*labels}}  # a long table reads its values itself
        for block in self.blocks():
            numbers = self.numbers(block, tried)
            cells = self.cells(block, {*labels, *features} - numbers.keys())
            values, bounds = self._degrees(labels, {**numbers, **cells}, row, block.size)
            columns = {
                name: self._feature(name, cells[name], text, row)
                if name in cells
                else numbers[name]
                for name in features
            }
            frame = pd.DataFrame(columns, range(block.size))
            frame.index = pd.RangeIndex(row, row + block.size)
            yield Piece(row, block.size, values, frame, block, bounds)
            row += block.size

    def _degrees(self, labels, columns, first, size) -> tuple[np.ndarray, Bounds | None]:
        """Return the numbers of the label columns, and the bounds that their other cells give."""
        values, bounds, form = np.empty((size, len(labels))), None, self.format
        for j, name in enumerate(labels):
            if is_numeric_dtype(columns[name]) and not form.percent:
                values[:, j] = columns[name].to_numpy("float64", na_value=np.nan)
                continue
            cells, marks = columns[name], self.meanings.get(name, {})
            values[:, j], rows, self.seen[first, j] = parse_cells(cells, form, form.percent, marks)
            for row in rows.tolist():
                cell = cells.iloc[row]
                text = str(cell)
                meaning = marks.get(text.strip().lower()) or flag_of(text, marks)[2]
                read = meaning.bounds if meaning else read_bounds(text, form)
                if isinstance(read, str):
                    place, said = self.place(first + row, name), shortened(text)
                    what = {"at": self.where(first + row), "column": name, "word": said}
                    problem = f"{said!r} {read or what_is_wrong(cell, form)}"
                    raise DataError("{place}: {problem}", place=place, problem=problem, **what)
                bounds = bounds or Bounds.none(values.shape, (text.strip(), *read))
                bounds.limits[:, row, j] = read
        return values, bounds

    def _feature(self, name, cells, text, first):
        """Return a column: numbers, which may all have percent signs, or what else it holds."""
        if name not in text:
            written = self._may_be_numbers(name)
            for percent in (False, True) if written else ():
                if (found := parse_column(cells, self.format, percent=percent)) is not None:
                    return found
            if written or any(type(cell) in (int, float) and cell == cell for cell in cells[:100]):
                found, self.seen[first, name] = read_flagged(cells, self.format)
                if found is not None:
                    return found
        words = {"", *(word.lower() for word in self.format.na)}
        missing = [isinstance(cell, str) and cell.strip().lower() in words for cell in cells]
        cells = cells.infer_objects()
        return cells.mask(np.array(missing)) if any(missing) else cells

    def _may_be_numbers(self, name):
        """Return whether the text of a column is taken for numbers if it can be."""
        return True


class FrameBlock(NamedTuple):
    """Some rows as a frame, and as the format writes them."""

    frame: pd.DataFrame
    raw: Any

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return len(self.frame)


class FrameFormat(TableFormat):
    """A table in a file that is read as frames.

    A format has `kind`; `load()`, which sets `names` and `n_rows` and may set `text_names` and
    `notes`; `frames(names=None)`, which yields the frames that make up the table, of some columns
    at least, and the raw rows of each; `write_new` and `writer`.
    """

    n_rows: int
    text_names: list[str] | None = None  # the columns that can hold text; all by default
    load: Callable[[], None]
    frames: Callable[..., Iterator[tuple[pd.DataFrame, Any]]]

    def open(self) -> None:
        """Load the table, or what is known of it; each package has errors of its own."""
        self._written: set[str] = set()  # columns of numbers that are written as text
        try:
            self.load()
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{self.path} cannot be read as {self.path.suffix}: {error}"
            ) from None

    def most_rows(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def blocks(self, names=None) -> Iterator[FrameBlock]:
        """Yield the frames."""
        for frame, raw in self.frames(names):
            yield FrameBlock(frame.set_axis(range(len(frame)), axis=0), raw)

    def cells(self, block, names) -> dict[str, pd.Series]:
        """Return columns."""
        return {name: block.frame[name] for name in names}

    def numbers(self, block, names) -> dict[str, pd.Series]:
        """Return the columns of numbers, without those that mean missing."""
        columns = self.cells(block, names)
        return {n: without_numbers(c, self.format.na) for n, c in columns.items()
                if is_numeric_dtype(c)}  # fmt: skip

    def _sign_places(self, labels, decimal):
        """Return where signs of numbers in cells of text are.

        A text column is one of numbers if it has signs that numbers of a file have not: text
        such as 007 or 1.2 is text on purpose.
        """
        names = self.names if self.text_names is None else self.text_names
        evidence = self._evidence(labels, names)
        self._written = {*evidence.unusual(), *self.meanings} - {*labels}
        return evidence.places({*labels, *self._written})

    def _may_be_numbers(self, name):
        return name in self._written


def n_title_rows(rows, spread=()) -> int:
    """Return how many of the first rows are no part of the table; 0 if that is not clear.

    A row is a list of texts; an empty line is an empty list. The rows numbered `spread` have cells
    that reach over several columns.
    """
    width = usual_width(rows)
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
        marked = _filled(row) and _MARKED.match(_filled(row)[0])
        if not _filled(row) or ((clear or marked) and _is_note(row, width)):
            found, clear = behind, True
        elif width > 2 and _may_be_note(row, width):
            clear = False
        else:
            break
    return found


def skipped_notes(number, what, where) -> list[str]:
    """Return a note on rows "above the header" or "below the table", if there are some."""
    one = number == 1
    which, kind = ("last", "a note " if one else "notes ") if "below" in where else ("first", "")
    rows, are, were = (what, "is", "was") if one else (f"{number} {what}s", "are", "were")
    return [f"The {which} {rows} {are} {kind}{where} and {were} skipped."] if number else []


def usual_width(rows) -> int:
    """Return how many cells most rows have; a row that goes on beyond its line is None."""
    counts = Counter(len(row) for row in rows if row and _filled(row))
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


def _may_be_note(row, width):
    """Return whether a row is one if an empty row or a clear note is above it."""
    words = _filled(row)
    few = len(words) == 1 or (len(row) != width and len(words) <= width // 2)
    return few and not any(map(_NUMBER.fullmatch, words))


def _is_note(row, width):
    """Return whether a row is a note. One with all cells may be a row of which little is known."""
    words = _filled(row)
    marked = not is_hole(words[0]) and _MARKED.match(words[0])
    n_words = len(" ".join(words).split())
    if len(row) != width:
        return bool(marked) or (len(words) == 1 and n_words >= _WORDS)
    return width > 2 and len(words) == 1 and bool(marked or n_words >= _MANY_WORDS)
