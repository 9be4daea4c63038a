"""Delimited text: its numbers are read by pandas, and only the cells that are filled change."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from inldl.rows.checks import check_choice
from inldl.tables.formats.frames import (
    BlockFormat,
    footnote_note,
    n_note_rows,
    n_title_rows,
    title_note,
)
from inldl.tables.formats.text import (
    DELIMITERS,
    Block,
    Rows,
    find_delimiter,
    open_text,
    split_row,
    unquoted,
)
from inldl.tables.numbers import (
    format_numbers,
    hole_words,
    is_plain,
    parse_column,
    shape_of,
    without_numbers,
)
from inldl.tables.table import Format

_TABBED = (".tsv", ".tab")
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_FORMULA = re.compile(r"=|[+@\t\r-].*[(|!]", re.DOTALL)  # "-1" and "@home" are harmless
# Older versions of pandas read the last bit of a number correctly only if they are asked to.
_VERSION = tuple(map(int, pd.__version__.split(".")[:2]))
_EXACT = {} if _VERSION >= (3, 1) else {"float_precision": "round_trip"}


class DelimitedText(BlockFormat):
    """A table in a delimited text, such as a CSV file; see `inldl.tables.table.TableFormat`."""

    def __init__(self, path, opening):
        if opening.delimiter is not None:
            check_choice("delimiter", opening.delimiter, DELIMITERS)
        opening.refuse_sheet(path)
        self.path, (text, self.notes) = path, open_text(path, opening.encoding)
        start = _end_of_lines(text, opening.skip_rows or 0)
        delimiter = opening.delimiter
        if delimiter is None:
            tabs = path.suffix.lower() in _TABBED
            delimiter = "\t" if tabs else find_delimiter(text.lines_from(start))
            self.notes += [f"The delimiter is {_NAMES[delimiter]}."] if delimiter != "," else []
        if opening.skip_rows is None:
            start, notes = _find_header(text, delimiter)
            self.notes += notes
        stop, notes = _find_end(text, delimiter, start, opening.skip_last)
        self.rows = Rows(text, delimiter, start, stop)
        self.points = delimiter == ","  # a number such as 1.234 then has a decimal point
        self.names, self.notes = _named(self.rows), self.notes + notes
        newline = "\r\n" if "\r\n" in text.head else text.newline
        self.format = Format(
            "text", delimiter, ".", text.encoding, newline, text.mark, na=opening.na
        )

    def blocks(self, names=None) -> Iterator[Block]:
        """Yield the blocks of rows below the header."""
        return self.rows.blocks()

    def _sign_places(self, labels, decimal):
        """Return where signs of numbers are, nowhere if all numbers have a decimal point."""
        points = self.points or ("decimal", ".") in self._evidence(labels, labels, 1).places()
        if decimal != "," and points and all(is_plain(b.text, b.delimiter) for b in self.blocks()):
            return {}
        return self._evidence(labels, self.names).places()

    def where(self, row) -> str:
        """Return the line of a row in words."""
        return f"Line {self.rows.line(*self._find(row))}"

    def most_rows(self) -> int:
        """Return the number of lines."""
        return self.rows.text.n_lines

    def _shapes(self, block, names):
        """Return cells with 1 in place of most digits, which repeat more often."""
        if any(re.search("[0-9]", word) for word in self.format.na):
            return self._cells(block, names)
        return self._cells(replace(block, text=shape_of(block.text)), names)

    def _cells(self, block, names):
        return dict(zip(names, block.texts(self._places(names)), strict=True))

    def _numbers(self, block, names):
        """Return the columns in which pandas finds nothing but numbers."""
        places, form = self._places(names), self.format
        words = _in_capitals_too(hole_words(form.na))
        found = block.frame(places, decimal=form.decimal, na_values=words, **_EXACT)
        found = {n: found[j] for n, j in zip(names, places, strict=True)}
        found = {n: c.to_numpy(float) for n, c in found.items() if c.dtype.kind in "iuf"}
        # A number can be infinite, as 1e999 is, but pandas takes "inf" for one, too.
        return {n: without_numbers(x, form.na) for n, x in found.items() if not np.isinf(x).any()}

    def _features(self, block, names, text, numbers, index):
        """Return a frame of columns: numbers, which may all have percent signs, or text."""
        if all(name in numbers for name in names):
            columns = np.array([numbers[name] for name in names])  # one array is quicker
            columns = columns.reshape(len(names), len(index)).T
            return pd.DataFrame(columns, index, names, copy=False)
        columns = {name: numbers.get(name) for name in names}
        others = self._cells(block, [name for name in names if name not in numbers])
        for name, cells in others.items():
            if text is None or name not in text:
                plain = parse_column(cells, self.format)
                percent = parse_column(cells, self.format, percent=True) if plain is None else None
                columns[name] = percent if plain is None else plain
            if columns[name] is None and text is not None:
                columns[name] = self._text(cells).to_numpy()
        columns = {name: cells for name, cells in columns.items() if cells is not None}
        return pd.DataFrame(columns, index)

    def _places(self, names):
        return [self.names.index(name) for name in names]

    def _text(self, cells):
        """Return a column of text, in which cells that are empty or in `na` are missing."""
        words = {"", *(word.lower() for word in self.format.na)}
        found = pd.Series(cells, dtype="str")
        if len(words) == 1:
            return found.replace("", np.nan)
        return found.mask(found.str.strip().str.lower().isin(words), np.nan)

    def check_name(self, name) -> None:
        """Refuse a name for a new column that the encoding of the file does not have."""
        try:
            name.encode(self.format.encoding)
        except UnicodeEncodeError:
            raise ValueError(
                f"The column {name!r} cannot be written in {self.format.encoding}, the encoding "
                f"of {self.path}; save the table as UTF-8."
            ) from None

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame, with the signs of another text if that is one."""
        known = like is not None and like.delimiter is not None
        delimiter, decimal = (like.delimiter, like.decimal) if known else (",", ".")
        how = {"encoding": "utf-8-sig" if known and like.bom else "utf-8", "decimal": decimal}
        how |= {"sep": "\t" if suffix in _TABBED else delimiter, "lineterminator": "\n"}
        frame.to_csv(part, index=False, compression=None, **how)

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()) -> Iterator[Callable]:
        """Give a function that writes pieces of the text to `part`."""
        with part.open("wb") as out:
            out.write(self.format.bom)
            with io.TextIOWrapper(out, self.format.encoding, newline="") as text:
                writer = _Writer(self.rows, self.format, self._places(labels), text)
                writer.start(extra)
                yield writer.write
                writer.copy(self.rows.stop)
                writer.add(added, [*self.names, *extra], labels)
                writer.copy(self.rows.text.size)


class _Writer:
    """Copy a text, with numbers in place of some cells and cells added to its rows.

    A cell that is replaced keeps its quotation marks; new cells have some if all others have.
    """

    def __init__(self, rows, form, columns, out):
        self._rows, self._form, self._columns, self._out = rows, form, columns, out
        self._position, self._needs_quotes = 0, form.decimal == form.delimiter
        self._always = rows.quotes_all()

    def start(self, extra):
        """Write the header, and the names of columns that are added."""
        self.copy(self._rows.header_end)
        names = (f"'{name}" if _FORMULA.match(name) else name for name in extra)
        self._out.write("".join(self._form.delimiter + self._quoted(name) for name in names))

    def copy(self, stop):
        """Write what stands in the text up to `stop`."""
        if stop > self._position:
            self._out.writelines(self._rows.text.pieces(self._position, stop))
            self._position = stop

    def write(self, block, fills, extra):
        """Write the rows of a block."""
        self.copy(block.start)
        lines, rows = list(block.lines), list(block.rows)
        for row, columns, texts in self._changes(fills):
            cells = split_row(rows[row], block.delimiter)
            for column, text in zip(columns, texts, strict=True):
                quotes = self._needs_quotes or cells[column][:1] == '"'
                cells[column] = f'"{text}"' if quotes else text
            rows[row] = block.delimiter.join(cells)
        if extra is not None:
            rows = [row + cells for row, cells in zip(rows, self._added(extra), strict=True)]
        for place, row in zip(block.row_lines, rows, strict=True):
            lines[place] = row + "\r" if lines[place][-1] == "\r" else row
        self._out.write(block.newline.join(lines))
        self._position += len(block.text)

    def _changes(self, fills):
        """Yield the rows that change, with the columns of cells and what to write into them."""
        rows, columns = np.nonzero(~np.isnan(fills))
        values = fills[rows, columns].tolist()
        texts = format_numbers(values, self._form, percent=self._form.percent)
        columns = np.array(self._columns, int)[columns].tolist()
        changed, starts = np.unique(rows, return_index=True)
        stops = np.append(starts, len(rows))[1:].tolist()
        for row, start, stop in zip(changed.tolist(), starts.tolist(), stops, strict=True):
            yield row, columns[start:stop], texts[start:stop]

    def _added(self, extra):
        """Return the cells that are added to each row, as one text."""
        delimiter = self._form.delimiter
        rows = ([self._cell(x if x == x else "") for x in row] for row in extra.tolist())
        return [delimiter + delimiter.join(row) for row in rows]

    def add(self, rows, names, labels):
        """Write rows below the last one, each a dict from names to cells."""
        end, newline = self._rows.stop, self._form.newline
        ended = "".join(self._rows.text.pieces(end - 1, end)) in ("\n", "\r") if rows else True
        for row in rows:
            cells = [self._cell(row.get(name, ""), percent=name in labels) for name in names]
            line = self._form.delimiter.join(cells)
            self._out.write(line + newline if ended else newline + line)

    def _cell(self, value, *, percent=False):
        """Return a new cell; percent signs stand behind degrees."""
        if not isinstance(value, float):  # text, a truth value, or a date
            return self._quoted(str(value))
        [text] = format_numbers([value], self._form, percent=percent and self._form.percent)
        return f'"{text}"' if self._needs_quotes or self._always else text

    def _quoted(self, text):
        """Return the text of a new cell, in quotation marks where it needs them."""
        if not self._always and not any(sign in text for sign in '",;\t|\r\n'):
            return text
        return '"' + text.replace('"', '""') + '"'


@lru_cache
def _in_capitals_too(words):
    """Return words as they are usually written."""
    return [form(word) for word in words for form in (str, str.upper, str.capitalize)]


def _named(rows):
    """Return the names of columns; those without a name and without content are numbered."""
    names, first = list(rows.names), next(rows.blocks(), None)
    for j in range(len(names)) if names.count("") > 1 and first is not None else ():
        if not names[j] and not any(text.strip() for text in first.texts([j])[0]):
            names[j] = f"column {j + 1}"
    return names


def _end_of_lines(text, number):
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


def _find_header(text, delimiter):
    """Return the character at which the header starts, and a note on lines above it."""
    lines = text.lines_from(0)
    rows = _rows(lines, delimiter)
    rows = rows[: rows.index(None)] if None in rows else rows
    number = n_title_rows(rows)
    n_lines = sum(1 for row in rows[:number] if row)
    note = [title_note(n_lines, "line")] if number else []
    return sum(len(line) + 1 for line in lines[:number]), note


def _find_end(text, delimiter, start, skip_last):
    """Return the character behind the last row of a table, and a note on lines below it.

    The header starts at the character `start`. `skip_last` are lines with content to leave out;
    None has them found.
    """
    lines = text.lines_to_end(start)
    rows = _rows(lines, delimiter)
    if skip_last is not None:
        filled = [row is None or any(map(str.strip, row)) for row in reversed(rows)]
        ends = np.flatnonzero([False, *filled])[:skip_last]  # counted from the last line
        number = 0 if not skip_last else int(ends[-1]) if len(ends) == skip_last else len(rows)
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
