"""Delimited text: its cells are read where they stand, and all but the filled ones copied."""

import re
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import pandas as pd

from inldl.rows.checks import check_choice
from inldl.tables.bounded_cells import BoundedCells, what_is_wrong
from inldl.tables.formats.encoding import from_utf8, open_text
from inldl.tables.formats.hints import Surroundings
from inldl.tables.formats.tokenizer import DELIMITERS, Cells, find_delimiter
from inldl.tables.numbers import (
    SignEvidence,
    all_written,
    find_signs,
    is_plain,
    read_numbers,
)
from inldl.tables.table import Format, Piece
from inldl.text import shortened

_FIRST = 1000  # rows that tell whether degrees have percent signs
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_FORMULA = re.compile(r"=|[+@\t\r-].*[(|!]", re.DOTALL)  # "-1" and "@home" are harmless


class DelimitedText:
    """A table in a delimited text, such as a CSV file; see `inldl.tables.table.TableFormat`."""

    def __init__(self, path, opening):
        delimiter = opening.delimiter
        if delimiter is not None:
            check_choice("delimiter", delimiter, DELIMITERS)
        opening.refuse_sheet(path)
        content, encoding, mark, note = open_text(path, opening.encoding)
        if all(piece.isspace() for piece in content.pieces()):
            raise ValueError(f"{path} is empty; it needs a header and rows.")
        self.path, self.notes = path, [note] if note else []
        around = Surroundings(content, opening.skip_rows, opening.skip_last)
        if delimiter is None:
            tabs = path.suffix.lower() in (".tsv", ".tab")
            delimiter = "\t" if tabs else find_delimiter(content, around.start)
            self.notes += [f"The delimiter is {_NAMES[delimiter]}."] if delimiter != "," else []
        start, stop, notes = around.bounds(delimiter)
        self.cells = Cells(content, delimiter, start=start, stop=stop)
        self.names, self.notes = _named(self.cells), self.notes + notes
        newline = self.cells.newline.decode()
        if newline == "\n" and b"\r\n" in content.read(0, 1 << 16):
            newline = "\r\n"
        self.format = Format("text", delimiter, ".", encoding, newline, mark, na=opening.na)

    def find_signs(self, labels, decimal, thousands):
        """Find out the signs of the numbers that are not given."""
        # Where commas separate cells, a number such as 1.234 has a decimal point.
        points = self.cells.delimiter == ","
        plain = decimal != "," and (points or self._evidence(labels, labels, 1).shows_points())
        places = {}
        if not (plain and is_plain(self.cells.content, self.cells.delimiter)):
            places = self._evidence(labels, self.names).places()
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=points)
        self.notes += notes
        self.format = replace(self.format, percent=self._have_percent_signs(labels), **signs)

    def _have_percent_signs(self, labels):
        """Return whether a degree of the first rows has a percent sign."""
        first = next(self.cells.blocks(), None)
        if first is None or not (first.data == ord("%")).any():
            return False
        rows, columns = first.rows(slice(_FIRST)), map(self.names.index, labels)
        cells = (cell for column in columns for cell in rows.text(column))
        return any(cell.rstrip().endswith("%") for cell in cells)

    def _evidence(self, labels, names, n_blocks=None):
        """Return how the numbers of some columns are written, in all blocks or the first ones."""
        found, row = SignEvidence(labels, self.format.na), 0
        for block in islice(self.cells.blocks(), n_blocks):
            for name in names:
                found.add(name, block, self.names.index(name), row)
            row += len(block.starts)
        return found

    def _cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        text = self.cells.row(row).text(self.names.index(name))[0]
        return f"{self.where(row)}, column {name!r}", text.strip()

    def where(self, row):
        """Return the line of a row in words."""
        return f"Line {self.cells.line(row)}"

    def most_rows(self):
        """Return the number of lines."""
        return self._n_lines

    @cached_property
    def _n_lines(self):
        return self.cells.content.count(self.cells.newline) + 1

    def pieces(self, labels, features, text=()):
        """Yield pieces; a column has numbers in a piece if all its cells there are numbers."""
        row = 0
        for block in self.cells.blocks():
            size = len(block.starts)
            values, bounds = self._degrees(block, labels, row)
            frame = self._features(block, features, text, range(row, row + size))
            yield Piece(row, size, values, frame, block, bounds)
            row += size

    def _degrees(self, block, labels, first):
        """Return the numbers of the label columns, and the bounds that their other cells give."""
        columns = self._places(labels)
        found, texts = read_numbers(block, columns, self.format, percent=self.format.percent)
        values = np.ascontiguousarray(found.T)
        bounded = BoundedCells(values.shape, self.format)
        for j, rows in enumerate(texts):
            cells = block.rows(rows).text(columns[j]) if len(rows) else []
            bad = bounded.add(j, rows, cells)
            if bad is not None:
                cell = cells[rows.tolist().index(bad[0])]
                raise ValueError(
                    f"{self.where(first + bad[0])}, column {labels[j]!r}: {shortened(cell)!r} "
                    f"{bad[1] or what_is_wrong(cell, self.format)}"
                )
        return values, bounded.found

    def _features(self, block, names, text, index):
        """Return a frame of columns: numbers, which may all have percent signs, or text."""
        tried = [name for name in names if text is None or name not in text]
        values, texts = read_numbers(block, self._places(tried), self.format)
        if len(tried) == len(names) and not any(map(len, texts)):
            return pd.DataFrame(values.T, index, tried, copy=False)  # in one block: quicker
        found = dict(zip(tried, values, strict=True))
        for name, rows in zip(tried, texts, strict=True):
            if len(rows):
                found[name] = self._percentages(block, name)
        columns = {name: found.get(name) for name in names}
        for name, cells in columns.items():
            if cells is None and text is not None:
                columns[name] = self._text(block.text(self.names.index(name))).to_numpy()
        columns = {name: cells for name, cells in columns.items() if cells is not None}
        return pd.DataFrame(columns, index=index, copy=False)

    def _percentages(self, block, name):
        """Return a column as numbers with percent signs, or None if it has other text."""
        (values,), (text,) = read_numbers(block, self._places([name]), self.format, percent=True)
        return None if len(text) else values

    def _places(self, names):
        return [self.names.index(name) for name in names]

    def texts(self, names, rows):
        """Return columns as text, of each piece the chosen rows."""
        cells = {name: [] for name in names}
        for block, chosen in zip(self.cells.blocks(), rows, strict=True):
            for name, found in cells.items():
                found += block.rows(chosen).text(self.names.index(name))
        return {name: self._text(found) for name, found in cells.items()}

    def _text(self, cells):
        """Return a column of text, in which cells that are empty or in `na` are missing."""
        words = {"", *(word.lower() for word in self.format.na)}
        found = pd.Series(cells, dtype="str")
        if len(words) == 1:
            return found.replace("", np.nan)
        return found.mask(found.str.strip().str.lower().isin(words), np.nan)

    def check_name(self, name):
        """Refuse a name for a new column that the encoding of the file does not have."""
        try:
            name.encode(self.format.encoding)
        except UnicodeEncodeError:
            raise ValueError(
                f"The column {name!r} cannot be written in {self.format.encoding}, the encoding "
                f"of {self.path}; save the table as UTF-8."
            ) from None

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()):
        """Give a function that writes pieces of the text to `part`."""
        with part.open("wb") as out:
            writer = _Writer(self, labels, out)
            writer.start(extra)
            yield writer.write
            writer.copy(self.cells.stop)
            writer.add(added, [*self.names, *extra], labels)
            writer.copy(self.cells.content.size)


class _Writer:
    """Copy a text, with fills in place of holes and cells added to the rows."""

    def __init__(self, source, labels, out):
        self._form, self._cells, self._out, self._position = source.format, source.cells, out, 0
        self._columns = np.array([source.names.index(name) for name in labels], int)
        self._quotes = self._form.decimal == self._form.delimiter

    def start(self, extra):
        """Write the header."""
        self._out.write(self._form.bom)
        self.copy(self._cells.header_end)
        self._put("".join(self._form.delimiter + _header(name) for name in extra).encode())

    def write(self, block, fills, extra):
        """Write the rows of a block."""
        self.copy(block.offset)  # empty lines that make up a block
        done = self._position - block.offset
        content, pieces = block.data.tobytes(), []
        for start, end, cell in zip(*self._changes(block, fills, extra), strict=True):
            pieces += (content[done:start], cell)
            done = end
        self._put(b"".join([*pieces, content[done:]]))
        self._position = block.offset + len(content)

    def add(self, rows, names, labels):
        """Write rows below the last one, each a dict from names to cells."""
        content, stop, newline = self._cells.content, self._cells.stop, self._form.newline
        ends = content.read(stop - 1, stop) in (b"\n", b"\r")
        for row in rows:
            cells = [self._cell(row.get(name, ""), name in labels) for name in names]
            line = self._form.delimiter.join(cells)
            self._put((line + newline if ends else newline + line).encode())

    def _cell(self, value, percent):
        """Return a cell of a new row; percent signs stand behind degrees."""
        if isinstance(value, str):
            return _quoted(value)
        if not isinstance(value, float):  # a truth value, or a date
            return _quoted(str(value))
        sign = "%" * (percent and self._form.percent)
        return self._numbers([value], [self._quotes], sign)[0].decode()

    def _changes(self, block, fills, extra):
        """Return where to put which bytes, in the order of the text."""
        order = np.argsort(self._columns)
        columns, fills = self._columns[order], fills[:, order]
        at, quote = ~np.isnan(fills), np.full(fills.shape, self._quotes)
        if not self._quotes and len(columns):
            quote = np.column_stack([block.quoted(column) for column in columns])
        cells, sign = np.empty(at.shape, object), "%" if self._form.percent else ""
        cells[at] = self._numbers(fills[at].tolist(), quote[at].tolist(), sign)
        starts, ends = block.starts[:, columns], block.ends[:, columns]
        if extra is not None:
            last, every = block.ends[:, -1:], np.ones((len(at), 1), bool)
            starts, ends, at = (np.hstack(x) for x in ([starts, last], [ends, last], [at, every]))
            cells = np.column_stack([cells, self._added(extra)])
        return starts[at].tolist(), ends[at].tolist(), cells[at].tolist()

    def _added(self, extra):
        """Return the cells that are added to each row, as one object each."""
        delimiter, rows = self._form.delimiter.encode(), np.empty(len(extra), object)
        cells, at = np.full(extra.shape, b"", object), ~np.isnan(extra)
        cells[at] = self._numbers(extra[at].tolist(), [self._quotes] * at.sum())
        for i, row in enumerate(cells.tolist()):
            rows[i] = delimiter + delimiter.join(row)
        return rows

    def _numbers(self, values, quoted, sign=""):
        """Return the bytes of numbers, in quotation marks where they are `quoted`."""
        texts = all_written(values, self._form.decimal)
        if sign or any(quoted):
            pairs = zip(texts, quoted, strict=True)
            texts = [f'"{text}{sign}"' if marks else text + sign for text, marks in pairs]
        return "\n".join(texts).encode().split(b"\n") if texts else []

    def copy(self, stop):
        """Write what stands in the text up to `stop`."""
        for piece in self._cells.content.pieces(self._position, stop):
            self._put(piece)
        self._position = max(self._position, stop)

    def _put(self, content):
        self._out.write(from_utf8(content, self._form.encoding))


def _header(name):
    """Return the header of an added column; a spreadsheet must not take it for a formula."""
    return _quoted(f"'{name}" if _FORMULA.match(name) else name)


def _quoted(text):
    """Return the text of a cell, in quotation marks where it needs them."""
    special = any(sign in text for sign in '",;\t|\r\n')
    return '"' + text.replace('"', '""') + '"' if special else text


def _named(cells):
    """Return the names of columns; those without a name and without content are numbered."""
    names, first = list(cells.names), next(cells.blocks(), None)
    for j in range(len(names)) if names.count("") > 1 and first is not None else ():
        if not names[j] and not any(text.strip() for text in first.text(j)):
            names[j] = f"column {j + 1}"
    return names
