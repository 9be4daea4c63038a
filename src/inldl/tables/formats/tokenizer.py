"""Split a delimited text into blocks of whole rows, and rows into cells.

Quotation marks follow RFC 4180: a cell that holds a delimiter, a line break or a quotation mark
stands in quotation marks, and those inside it are doubled. Empty lines are no rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from inldl.tables.formats.encoding import PIECE, EncodedText

DELIMITERS = (",", ";", "\t", "|")
_QUOTE, _RETURN = ord('"'), ord("\r")


@dataclass
class Block:
    """Hold some rows of a delimited text as they stand in the file, and empty lines."""

    text: str
    start: int  # the number of characters before it
    delimiter: str
    newline: str

    @cached_property
    def content(self) -> bytes:
        """Return the text in UTF-8, as numpy and pandas read it."""
        return self.text.encode()

    @cached_property
    def lines(self) -> list[str]:
        """Return rows and empty lines, without the line breaks between them."""
        lines = self.text.split(self.newline)
        if '"' not in self.text:
            return lines
        joined: list[str] = []
        quoted = False
        for line in lines:
            if quoted:
                joined[-1] += self.newline + line
            else:
                joined.append(line)
            quoted ^= line.count('"') % 2 == 1
        return joined

    @cached_property
    def row_lines(self) -> list[int]:
        """Return which of the lines are rows."""
        return [place for place, line in enumerate(self.lines) if line not in ("", "\r")]

    @cached_property
    def rows(self) -> list[str]:
        """Return the rows, without a return before the line break."""
        return [self.lines[place].removesuffix("\r") for place in self.row_lines]

    @cached_property
    def counts(self) -> np.ndarray:
        """Return the number of cells of each line, 0 of an empty one."""
        data = np.frombuffer(self.content, np.uint8)
        delimiters, breaks = data == ord(self.delimiter), data == ord(self.newline)
        if '"' in self.text:
            outside = ~np.logical_xor.accumulate(data == _QUOTE)
            delimiters, breaks = delimiters & outside, breaks & outside
        ends = np.flatnonzero(breaks)
        starts = np.append(0, ends + 1)
        starts = starts[starts < len(data)]
        lengths = np.append(ends, len(data))[: len(starts)] - starts
        empty = (lengths == 0) | ((lengths == 1) & (data[starts] == _RETURN))
        cells = np.add.reduceat(delimiters.view(np.uint8), starts, dtype=np.int32) + 1
        return np.where(empty, 0, cells)

    @cached_property
    def size(self) -> int:
        """Return the number of rows."""
        return int(np.count_nonzero(self.counts))

    def has_quotes_in_cells(self) -> bool:
        """Return whether a quotation mark neither starts nor ends a cell, nor is doubled."""
        if '"' not in self.text:
            return False
        ends = self.newline.encode()
        data = np.frombuffer(ends + self.content + ends * 2, np.uint8)
        quotes = np.flatnonzero(data == _QUOTE)
        around = data[quotes - 1], data[quotes + 1]
        # Each second mark closes a cell, or is followed by the one that it doubles.
        returns = (around[1] == _RETURN) & (data[quotes + 2] == ends[0])
        bad = [~np.isin(each, [_QUOTE, ord(self.delimiter), ends[0]]) for each in around]
        return bool(len(quotes) % 2 or bad[0][::2].any() or (bad[1] & ~returns)[1::2].any())

    def frame(self, columns: Sequence[int], **how: Any) -> pd.DataFrame:
        """Return some columns, by number, as pandas reads them."""
        if not columns:
            return pd.DataFrame(index=range(self.size))
        content = self.content
        if '"' in self.text or "\r" in self.text or self.size < len(self.counts):
            content = self.newline.join(self.rows).encode()
        return pd.read_csv(
            BytesIO(content),
            header=None,
            sep=self.delimiter,
            lineterminator=self.newline,
            usecols=columns,
            skip_blank_lines=False,
            keep_default_na=False,
            low_memory=False,
            **how,
        )

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """Return the text of each cell of some columns."""
        frame = self.frame(columns, dtype=object, na_filter=False)
        return [frame[column].tolist() for column in columns]


class Rows:
    """Read the rows of a delimited text a block at a time.

    The table reaches from character `start` of the text to character `stop`. A block has about
    `block_size` bytes.
    """

    def __init__(
        self, text: EncodedText, delimiter: str, start: int = 0, stop: int | None = None
    ) -> None:
        self.text, self.delimiter, self.newline = text, delimiter, text.newline
        self.stop = text.size if stop is None else stop
        self.block_size, self.header_end, self._body = PIECE, start, start
        self.names: list[str] = []
        self._quoted_names = False
        self._counts: dict[tuple[int, int], np.ndarray] = {}  # of blocks that were checked
        first = next(self._blocks(start), None)
        if first is not None:
            self._read_header(first)

    def _read_header(self, block: Block) -> None:
        place = block.row_lines[0]
        start = block.start + sum(len(line) + 1 for line in block.lines[:place])
        self.header_end = start + len(block.rows[0])
        self._body = min(self.stop, start + len(block.lines[place]) + 1)
        self._check_quotes(replace(block, text=block.lines[place], start=start))
        cells = split_row(block.rows[0], self.delimiter)
        self.names = [unquoted(cell).strip() for cell in cells]
        self._quoted_names = all(cell.startswith('"') for cell in cells)

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of rows below the header, each of which has a row."""
        for block in self._blocks(self._body):
            key = block.start, len(block.text)
            if key in self._counts:
                block.counts = self._counts[key]
            else:
                self._check(block)
                self._counts[key] = block.counts
            yield block

    def quotes_all(self) -> bool:
        """Return whether all cells of the header and of the first row have quotation marks."""
        first = next(self.blocks(), None)
        cells = [] if first is None else split_row(first.rows[0], self.delimiter)
        return self._quoted_names and all(cell.startswith('"') for cell in cells)

    def find(self, row: int) -> tuple[Block, int]:
        """Return the block that holds a row, and the number of the row in it."""
        for block in self.blocks():
            if row < block.size:
                return block, row
            row -= block.size
        raise IndexError("the table has no such row")

    def line(self, block: Block, row: int) -> int:
        """Return the line of the file in which a row of a block starts; the first line is 1."""
        above = block.lines[: block.row_lines[row]]
        n_lines = len(above) + sum(line.count(self.newline) for line in above)
        return self.text.count_lines(block.start) + n_lines + 1

    def _blocks(self, start: int) -> Iterator[Block]:
        rest = ""
        for piece in chain(self.text.pieces(start, self.stop, self.block_size), [""]):
            rest += piece
            end = self._end_of_rows(rest) if piece else len(rest)
            if not end:
                self._check_quotes(Block(rest, start, self.delimiter, self.newline))
            block = Block(rest[:end], start, self.delimiter, self.newline)
            if block.text.strip("\r\n"):
                yield block
                start, rest = start + end, rest[end:]

    def _end_of_rows(self, text: str) -> int:
        """Return the end of the last whole row."""
        end = text.rfind(self.newline) + 1
        while end and text.count('"', 0, end) % 2:
            end = text.rfind(self.newline, 0, text.rfind('"', 0, end)) + 1
        return end

    def _check(self, block: Block) -> None:
        """Refuse quotation marks in cells, and rows that lack cells or have too many."""
        if block.has_quotes_in_cells():
            self._check_quotes(block)
        counts = block.counts[block.counts > 0]
        bad = counts != len(self.names)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"Line {self.line(block, row)} has {counts[row]} cells but the header has "
                f"{len(self.names)} (delimiter {self.delimiter!r}); give it a cell for each "
                "column, put cells with a delimiter in them into quotation marks, or leave out "
                "lines around the table with skip_rows and skip_last (--skip-rows, --skip-last)."
            )

    def _check_quotes(self, block: Block) -> None:
        """Refuse the first quotation mark inside a cell, or one that is never closed."""
        at, cell, column = 0, _cell_pattern(self.delimiter, self.newline), 1
        while at < len(block.text) and (found := cell.match(block.text, at)):
            at, column = found.end(), column + 1 if found[1] == self.delimiter else 1
        if at == len(block.text):
            return
        problem = "has a quotation mark inside a cell"
        if re.match('(?:"[^"]*")*"[^"]*$', block.text[at:]):
            if block.start + len(block.text) < self.stop:
                return  # it may be closed in the next block
            problem = "opens a quotation mark that is never closed"
        n_line = self.text.count_lines(block.start) + block.text.count(self.newline, 0, at) + 1
        raise ValueError(
            f"Line {n_line} {problem}, near column {column}; put the whole cell into quotation "
            "marks and double those inside it."
        )


@lru_cache
def _cell_pattern(delimiter: str, newline: str) -> re.Pattern[str]:
    """Return a pattern of a cell and what ends it."""
    sign = re.escape(delimiter)
    return re.compile(rf'(?:(?:"[^"]*")+|[^"{sign}{newline}]*)({sign}|\r?{newline}|\r?\Z)')


def split_row(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row as they are written, with their quotation marks."""
    if '"' not in row:
        return row.split(delimiter)
    cells = [""]
    for number, part in enumerate(row.split('"')):
        if number % 2:
            cells[-1] += f'"{part}"'
        else:
            first, *others = part.split(delimiter)
            cells[-1] += first
            cells += others
    return cells


def unquoted(cell: str) -> str:
    """Return the text of a cell without its quotation marks."""
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell


def find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter with which most rows have as many cells as the header.

    If the first row is a title, that is the one with which most rows have equally many.
    """
    lines = re.sub('"[^"]*"?', '""', "\n".join(lines)).split("\n")
    lines = [line for line in lines if len(line) > 1]  # "\r" is an empty line
    counts = {sign: [line.count(sign) + 1 for line in lines] for sign in DELIMITERS}
    found = {sign: _agreement(each, each[0] if each else 0) for sign, each in counts.items()}
    if max(found.values()) < (0.9, 0):
        usual = {sign: max(each, key=each.count, default=0) for sign, each in counts.items()}
        found = {sign: _agreement(each, usual[sign]) for sign, each in counts.items()}
    return max(DELIMITERS, key=lambda sign: found[sign])


def _agreement(counts: list[int], expected: int) -> tuple[float, int]:
    """Return the share of rows with as many cells as expected, and how many these are."""
    return (counts.count(expected) / len(counts), expected) if expected > 1 else (0.0, 0)
