"""Delimited text: its numbers are read by pandas, and only the cells that are filled change."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter

import numpy as np
import pandas as pd

from inldl.rows.checks import check_choice
from inldl.tables.formats.base import (
    TableFormat,
    n_note_rows,
    n_title_rows,
    skipped_notes,
    usual_width,
)
from inldl.tables.formats.text import (
    DELIMITERS,
    PIECE,
    Block,
    end_of_quotes,
    find_delimiter,
    is_plain,
    open_text,
    shape_of,
    split_row,
    unquoted,
)
from inldl.tables.numbers import (
    SIGNS,
    format_numbers,
    hole_words,
    without_numbers,
)
from inldl.text import inert

_TABBED = (".tsv", ".tab")
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space"}
_ROW_NAMES = "row names"
# Older versions of pandas read the last bit of a number correctly only if they are asked to.
_VERSION = tuple(map(int, pd.__version__.split(".")[:2]))
_EXACT = {} if _VERSION >= (3, 1) else {"float_precision": "round_trip"}


class DelimitedText(TableFormat):
    """A table in a delimited text, such as a CSV file."""

    kind = "text"
    layout = ("skip_rows", "skip_last")
    block_size = PIECE  # bytes, about

    def open(self) -> None:
        """Find out how the text is written, where the table is in it, and read the header."""
        options, delimiter = self.options, self.options.delimiter
        if delimiter is not None:
            check_choice("delimiter", delimiter, (*DELIMITERS, " "))
        self.text, self.notes = text, notes = open_text(self.path, options.encoding)
        lines, above = text.head.split(text.newline), options.skip_rows or 0
        if above >= len(lines):
            raise ValueError(
                f"skip_rows={above} (--skip-rows) leaves no header; skip fewer lines."
            )
        start = _length(lines[:above])
        if delimiter is None:
            tabs = self.path.suffix.lower() in _TABBED
            delimiter = "\t" if tabs else find_delimiter(text.first_lines(start))
            notes += [f"The delimiter is {_NAMES[delimiter]}."] if delimiter != "," else []
        if options.skip_rows is None:
            rows = _rows(text.first_lines(0), delimiter)
            above = n_title_rows(rows[: rows.index(None)] if None in rows else rows)
            start = _length(lines[:above])
            notes += skipped_notes(sum(map(bool, rows[:above])), "line", "above the header")
        self.points = delimiter == ","  # a number such as 1.234 then has a decimal point
        newline = "\r\n" if "\r\n" in text.head else text.newline
        self.format = replace(
            self.format,
            delimiter=delimiter,
            encoding=text.encoding,
            newline=newline,
            bom=text.mark,
        )
        self.stop = self._find_end(start)
        self._sizes: dict[tuple[int, int], tuple[int, bool]] = {}  # of blocks, by their place
        self._read_header(start)

    def _find_end(self, start):
        """Return the character behind the last row of the table, whose header is at `start`."""
        text, delimiter, skip_last = self.text, self.format.delimiter, self.options.skip_last
        lines = text.last_lines(start)
        rows = _rows(lines, delimiter)
        if skip_last is not None:
            filled = [row is None or any(map(str.strip, row)) for row in reversed(rows)]
            ends = np.flatnonzero([False, *filled])[:skip_last]  # counted from the last line
            below = 0 if not skip_last else int(ends[-1]) if len(ends) == skip_last else len(rows)
        else:
            rows = rows[len(rows) - rows[::-1].index(None) :] if None in rows else rows
            below = n_note_rows(rows, usual_width(_rows(text.first_lines(start), delimiter)))
            number = sum(any(map(str.strip, row)) for row in rows[len(rows) - below :])
            self.notes += skipped_notes(number, "line", "below the table")
        return text.size + 1 - _length(lines[len(lines) - below :]) if below else text.size

    def _read_header(self, start):
        """Read the names of columns; those without a name and without content are numbered."""
        self.names, self._header = [], []  # with quotation marks
        self.header_end = self._body = start
        block = next(self._blocks(start), None)
        if block is None:
            return
        start, line = block.start_of(0), block.lines[block.row_lines[0]]
        self._check_quotes(replace(block, text=line, start=start))
        self.header_end = start + len(block.rows[0])
        self._body = min(self.stop, start + len(line) + 1)
        self._header = split_row(block.rows[0], block.delimiter)
        if self._rows_have_names(block):
            self._header.insert(0, f'"{_ROW_NAMES}"')
            self.notes.append(
                "The header has one name less than the rows have cells, as R writes it; the first "
                f"column is called {_ROW_NAMES!r}."
            )
        self.names = [unquoted(cell).strip() for cell in self._header]
        if len(self.names) == 1 and "  " in self.names[0]:
            self.other_sheets = "Several spaces stand between cells; save the table as CSV."
        first = next(self.blocks(), None) if self.names.count("") > 1 else None
        for j, name in enumerate(self.names if first is not None else ()):
            if not name and not first.texts([j])[j].str.strip().any():
                self.names[j] = f"column {j + 1}"

    def _rows_have_names(self, block):
        """Return whether rows begin with names that differ, above which the header has none."""
        counts = block.counts[block.counts > 0]
        if len(counts) < 2 or (counts[1:] != len(self._header) + 1).any():
            return False
        cells = [split_row(row, block.delimiter) for row in block.rows[1:]]
        return len({row[0] for row in cells}) == len(cells) and any(row[-1] for row in cells)

    def blocks(self, names=None) -> Iterator[Block]:
        """Yield the blocks of rows below the header, each of which has a row."""
        for block in self._blocks(self._body):
            key = block.start, len(block.text)
            if key not in self._sizes:
                self._check(block)
                self._sizes[key] = block.size, block.has_empty_lines
            block.size, block.has_empty_lines = self._sizes[key]
            yield block

    def _blocks(self, start):
        """Yield blocks of whole rows from a character on."""
        rest, newline = "", self.text.newline
        for piece in chain(self.text.pieces(start, self.stop, self.block_size), [""]):
            rest += piece
            end = len(rest)
            if piece:  # its last row may go on in the next one
                end = rest.rfind(newline) + 1
                while end and rest.count('"', 0, end) % 2:
                    end = rest.rfind(newline, 0, rest.rfind('"', 0, end)) + 1
            block = Block(rest[: end or None], start, self.format.delimiter, newline)
            if not end:
                self._check_quotes(block)
            elif block.text.strip("\r\n"):
                yield block
                start, rest = start + end, rest[end:]

    def _check(self, block):
        """Refuse quotation marks in cells, and rows that lack cells or have too many."""
        self._check_quotes(block)
        counts = block.counts[block.counts > 0]
        wrong = counts != len(self._header)
        if wrong.any():
            row = int(np.argmax(wrong))
            line = self.text.line_at(block.start_of(row))
            raise ValueError(
                f"Line {line} has {counts[row]} cells but the header has "
                f"{len(self._header)} (delimiter {block.delimiter!r}); give it a cell for each "
                "column, put cells with a delimiter in them into quotation marks, or leave out "
                "lines around the table with skip_rows and skip_last (--skip-rows, --skip-last)."
            )

    def _check_quotes(self, block):
        """Refuse a quotation mark inside a cell, or one that is never closed."""
        text, sign, newline = block.text, block.delimiter, block.newline
        if '"' not in text or (at := end_of_quotes(text, sign, newline)) == len(text):
            return
        problem = "has a quotation mark inside a cell"
        if text[at - 1 : at] in ("", sign, newline) and text.count('"', at) % 2:
            if block.start + len(text) < self.stop:
                return  # it may be closed in the next block
            problem = "opens a quotation mark that is never closed"
        line = self.text.line_at(block.start + at)
        column = text.count(sign, text.rfind(newline, 0, at) + 1, at) + 1
        raise ValueError(
            f"Line {line} {problem}, near column {column}; put the whole cell into quotation "
            "marks and double those inside it."
        )

    def _sign_places(self, labels, decimal):
        """Return where signs of numbers are, nowhere if all numbers have a decimal point."""
        points = self.points or ("decimal", ".") in self._evidence(labels, labels, 1).places()
        if decimal != "," and points and all(is_plain(b.text, b.delimiter) for b in self.blocks()):
            return {}
        return super()._sign_places(labels, decimal)

    def _shapes(self, block, names):
        """Return cells with 1 in place of most digits, which repeat more often."""
        if any(re.search("[0-9]", word) for word in self.format.na):
            return self.cells(block, names)
        return self.cells(replace(block, text=shape_of(block.text)), names)

    def where(self, row) -> str:
        """Return the line of a row in words."""
        block, at = self._find(row)
        return f"Line {self.text.line_at(block.start_of(at))}"

    def most_rows(self) -> int:
        """Return the number of lines."""
        return self.text.n_lines

    def cells(self, block, names) -> dict[str, pd.Series]:
        """Return columns of text."""
        places = {name: self.names.index(name) for name in names}
        frame = block.texts(list(places.values()))
        return {name: frame[place] for name, place in places.items()}

    def numbers(self, block, names) -> dict[str, pd.Series]:
        """Return the columns in which pandas finds nothing but numbers."""
        holes, how = hole_words(self.format.na), {"decimal": self.format.decimal, **_EXACT}
        apart, words = map(_in_capitals_too, (holes.difference(SIGNS, self.marks), holes))
        frame = block.frame([self.names.index(name) for name in names], na_values=apart, **how)
        others = (self.names.index(name) for name in names if name not in self.meanings)
        again = [j for j in others if frame[j].dtype.kind == "O" and frame[j].isin(words).any()]
        frame[again] = block.frame(again, na_values=words, **how)
        found = {}
        for name in names:
            column = frame[self.names.index(name)]
            # A number can be infinite, as 1e999 is, but pandas takes "inf" for one, too.
            if column.dtype.kind in "iuf" and not np.isinf(column.to_numpy()).any():
                found[name] = without_numbers(column.astype("float64"), self.format.na)
        return found

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
                writer = _Writer(self, [self.names.index(name) for name in labels], text)
                writer.start(extra)
                yield writer.write
                writer.copy(self.stop)
                writer.add(added, [*self.names, *extra], labels)
                writer.copy(self.text.size)

    def quotes_all(self) -> bool:
        """Return whether all cells of the header and of the first row have quotation marks."""
        first = next(self.blocks(), None)
        cells = [] if first is None else split_row(first.rows[0], first.delimiter)
        return all(cell.startswith('"') for cell in [*self._header, *cells])


class _Writer:
    """Copy a text, with numbers in place of some cells and cells added to its rows.

    A cell that is replaced keeps its quotation marks; new cells have some if all others have.
    """

    def __init__(self, source, columns, out):
        self._source, self._columns, self._out = source, columns, out
        self._form = form = source.format
        self._position, self._needs_quotes = 0, form.decimal == form.delimiter
        self._always = source.quotes_all()

    def start(self, extra):
        """Write the header, and the names of columns that are added."""
        self.copy(self._source.header_end)
        names = map(self._quoted, map(inert, extra))
        self._out.write("".join(self._form.delimiter + name for name in names))

    def copy(self, stop):
        """Write what stands in the text up to `stop`."""
        if stop > self._position:
            self._out.writelines(self._source.text.pieces(self._position, stop))
            self._position = stop

    def write(self, block, fills, extra):
        """Write the rows of a block."""
        self.copy(block.start)
        lines, rows = list(block.lines), list(block.rows)
        for row, changes in self._changes(fills):
            cells = split_row(rows[row], block.delimiter)
            for _, column, text in changes:
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
        """Return the rows that change, with the columns of cells and what to write into them."""
        rows, columns = np.nonzero(~np.isnan(fills))
        values = fills[rows, columns].tolist()
        texts = format_numbers(values, self._form, percent=self._form.percent)
        texts = [text if x < np.inf else "" for x, text in zip(values, texts, strict=True)]
        columns = np.array(self._columns, int)[columns].tolist()
        cells = zip(rows.tolist(), columns, texts, strict=True)
        return groupby(cells, key=itemgetter(0))

    def _added(self, extra):
        """Return the cells that are added to each row, as one text."""
        delimiter = self._form.delimiter
        rows = ([self._cell(x if x == x else "") for x in row] for row in extra.tolist())
        return [delimiter + delimiter.join(row) for row in rows]

    def add(self, rows, names, labels):
        """Write rows below the last one, each a dict from names to cells."""
        end, newline = self._source.stop, self._form.newline
        ended = "".join(self._source.text.pieces(end - 1, end)) in ("\n", "\r") if rows else True
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
        if not self._always and not any(
            sign in text for sign in {*'",;\t|\r\n', self._form.delimiter}
        ):
            return text
        return '"' + text.replace('"', '""') + '"'


@lru_cache
def _in_capitals_too(words):
    """Return words as they are usually written."""
    return [form(word) for word in words for form in (str, str.upper, str.capitalize)]


def _length(lines):
    """Return the number of characters of lines with their breaks."""
    return sum(len(line) + 1 for line in lines)


def _rows(lines, delimiter):
    """Return the cells of each line, of an empty one none; None if a cell goes on beyond it."""
    return [_row(line.strip("\r"), delimiter) for line in lines]


def _row(text, delimiter):
    if text.count('"') % 2 or "\r" in text:
        return None
    return [unquoted(cell) for cell in split_row(text, delimiter)] if text else []
