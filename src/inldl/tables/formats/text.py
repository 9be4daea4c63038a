"""Decode the text of a table a piece at a time, and split it into rows and cells.

Quotation marks follow RFC 4180: a cell that holds a delimiter, a line break or a quotation mark
stands in quotation marks, and those inside it are doubled. Empty lines are no rows.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DELIMITERS = (",", ";", "\t", "|")
_PIECE = 1 << 21  # bytes: small enough to stay near the processor, large enough for pandas
_SAMPLE = 1 << 16  # characters at both ends of a text that show how it is written
# The marks of UTF-32 come first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass
class EncodedText:
    """The text of a file, decoded when it is needed. A byte order mark is no part of it."""

    path: Path
    encoding: str
    mark: bytes = b""
    size: int = field(init=False, default=0)  # characters
    n_lines: int = field(init=False, default=1)
    head: str = field(init=False, default="")  # the first characters
    tail: str = field(init=False, default="")  # the last characters

    def __post_init__(self) -> None:
        """Decode all of it, and keep both ends."""
        blank = True
        for piece in self.pieces():
            if "\0" in piece:
                raise ValueError(
                    "The file is not a table of text: it has zero bytes in it; if it is UTF-16, "
                    "give encoding='utf-16' (--encoding utf-16)."
                )
            blank = blank and piece.isspace()
            self.size += len(piece)
            self.head += piece[: _SAMPLE - len(self.head)]
            self.n_lines += piece.count(self.newline)
            self.tail = (self.tail + piece[-_SAMPLE:])[-_SAMPLE:]
        if blank:
            raise ValueError(f"{self.path} is empty; it needs a header and rows.")

    @property
    def newline(self) -> str:
        """Return the character that ends a line; there may be a return before a line feed."""
        return "\n" if "\n" in self.head or "\r" not in self.head else "\r"

    def pieces(self, start: int = 0, stop: int | None = None, size: int = _PIECE) -> Iterator[str]:
        """Yield the characters from `start` to `stop`, those of `size` bytes at a time."""
        decoder, at, n_bytes = codecs.getincrementaldecoder(self.encoding)(), 0, 0
        while stop is None or at < stop:
            content = self._read(n_bytes, size)
            n_bytes += len(content)
            try:
                piece = decoder.decode(content, final=not content)
            except UnicodeError as error:
                raise self._wrong_encoding(error, n_bytes) from None
            wanted = piece[max(0, start - at) : None if stop is None else stop - at]
            if wanted:
                yield wanted
            if not content:
                return
            at += len(piece)

    def _read(self, start: int, size: int) -> bytes:
        """Return some bytes; no file stays open while a reader of pieces waits."""
        with self.path.open("rb") as file:
            file.seek(len(self.mark) + start)
            return file.read(size)

    def lines_from(self, start: int) -> list[str]:
        """Return the first lines from a character on, without one that may be cut."""
        stop = start + _SAMPLE
        lines = "".join(self.pieces(start, stop)).split(self.newline)
        return lines[:-1] or lines if stop < self.size else lines

    def lines_to_end(self, start: int) -> list[str]:
        """Return the last lines behind a character, the first of which may be cut."""
        return self.tail[max(0, start - self.size + len(self.tail)) :].split(self.newline)

    def count_lines(self, stop: int) -> int:
        """Return how many lines end before the character `stop`."""
        return sum(piece.count(self.newline) for piece in self.pieces(stop=stop))

    def _wrong_encoding(self, error: UnicodeError, n_bytes: int) -> ValueError:
        """Return an error that says in which line a byte cannot be decoded."""
        start = n_bytes - len(getattr(error, "object", b"")) + getattr(error, "start", 0)
        start = max(0, start)
        line = self._read(0, start).count(b"\n") + 1
        return WrongEncodingError(
            f"Line {line} of the file is not {self.encoding} (byte {start}); give the encoding "
            "that the file was written in, or none to have it detected."
        )


class WrongEncodingError(ValueError):
    """Bytes of a file that its encoding does not have."""


def open_text(path: Path, encoding: str | None = None) -> tuple[EncodedText, list[str]]:
    """Return the text of a file, and notes on its encoding if that was detected."""
    with path.open("rb") as file:
        start = file.read(4)
    mark, marked = next(((m, e) for m, e in _MARKS if start.startswith(m)), (b"", None))
    if encoding is not None:
        return EncodedText(path, *_named(encoding, mark, marked)), []
    if marked is not None:
        note = f"The encoding is {marked}, by the mark at the start of the file."
        return EncodedText(path, marked, mark), [note]
    with suppress(WrongEncodingError):
        return EncodedText(path, "utf-8"), []
    try:
        text = EncodedText(path, "cp1252")
    except WrongEncodingError:
        text = EncodedText(path, "latin-1")  # takes every byte
    return text, [f"The file is not UTF-8; it is read as {text.encoding}."]


def _named(encoding: str, mark: bytes, marked: str | None) -> tuple[str, bytes]:
    """Return the encoding that a user named, and the mark if it is one of that encoding."""
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"{encoding!r} is not an encoding of text; try 'utf-8'.") from None
    if marked is not None and marked.startswith(name.removesuffix("-sig")):
        return marked, mark
    without_mark = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
    return without_mark.get(name, name), b""


@dataclass
class Block:
    """Hold some rows of a delimited text as they stand in the file, and empty lines."""

    text: str
    start: int  # the number of characters before it
    delimiter: str
    newline: str

    @property
    def raw(self) -> "Block":
        """Return what is needed to write the rows again."""
        return self

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
        joined = [""]
        for line in lines:
            if joined[-1].count('"') % 2:
                joined[-1] += self.newline + line
            else:
                joined.append(line)
        return joined[1:]

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
            outside = ~np.logical_xor.accumulate(data == ord('"'))
            delimiters, breaks = delimiters & outside, breaks & outside
        ends = np.flatnonzero(breaks)
        starts = np.append(0, ends + 1)
        starts = starts[starts < len(data)]
        lengths = np.append(ends, len(data))[: len(starts)] - starts
        empty = (lengths == 0) | ((lengths == 1) & (data[starts] == ord("\r")))
        cells = np.add.reduceat(delimiters.view(np.uint8), starts, dtype=np.int32) + 1
        return np.where(empty, 0, cells)

    @cached_property
    def size(self) -> int:
        """Return the number of rows."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def has_empty_lines(self) -> bool:
        """Return whether lines are empty."""
        return self.size < len(self.counts)

    def frame(self, columns: Sequence[int], **how: Any) -> pd.DataFrame:
        """Return some columns, by number, as pandas reads them."""
        if not columns:
            return pd.DataFrame(index=range(self.size))
        content = self.content
        if '"' in self.text or "\r" in self.text or self.has_empty_lines:
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
        self.block_size, self.header_end, self._body = _PIECE, start, start
        self._header: list[str] = []  # its cells, with their quotation marks
        self._checked: dict[tuple[int, int], tuple[int, bool]] = {}  # by place in the text
        first = next(self._blocks(start), None)
        if first is not None:
            self._read_header(first)

    def _read_header(self, block: Block) -> None:
        place = block.row_lines[0]
        start = block.start + sum(len(line) + 1 for line in block.lines[:place])
        self.header_end = start + len(block.rows[0])
        self._body = min(self.stop, start + len(block.lines[place]) + 1)
        self._check_quotes(replace(block, text=block.lines[place], start=start))
        self._header = split_row(block.rows[0], self.delimiter)

    @property
    def names(self) -> list[str]:
        """Return the cells of the header."""
        return [unquoted(cell).strip() for cell in self._header]

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of rows below the header, each of which has a row."""
        for block in self._blocks(self._body):
            key = block.start, len(block.text)
            if key not in self._checked:
                self._check(block)
                self._checked[key] = block.size, block.has_empty_lines
            block.size, block.has_empty_lines = self._checked[key]
            yield block

    def quotes_all(self) -> bool:
        """Return whether all cells of the header and of the first row have quotation marks."""
        first = next(self.blocks(), None)
        cells = [] if first is None else split_row(first.rows[0], self.delimiter)
        return all(cell.startswith('"') for cell in [*self._header, *cells])

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
        self._check_quotes(block)
        counts = block.counts[block.counts > 0]
        bad = counts != len(self._header)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"Line {self.line(block, row)} has {counts[row]} cells but the header has "
                f"{len(self._header)} (delimiter {self.delimiter!r}); give it a cell for each "
                "column, put cells with a delimiter in them into quotation marks, or leave out "
                "lines around the table with skip_rows and skip_last (--skip-rows, --skip-last)."
            )

    def _check_quotes(self, block: Block) -> None:
        """Refuse a quotation mark inside a cell, or one that is never closed."""
        text, newline = block.text, self.newline
        found = _pattern_of_quotes(self.delimiter, newline).match(text) if '"' in text else None
        if found is None or (at := found.end()) == len(text):
            return
        problem = "has a quotation mark inside a cell"
        if text[at - 1 : at] in ("", self.delimiter, newline) and text.count('"', at) % 2:
            if block.start + len(text) < self.stop:
                return  # it may be closed in the next block
            problem = "opens a quotation mark that is never closed"
        line = self.text.count_lines(block.start) + text.count(newline, 0, at) + 1
        column = text.count(self.delimiter, text.rfind(newline, 0, at) + 1, at) + 1
        raise ValueError(
            f"Line {line} {problem}, near column {column}; put the whole cell into quotation "
            "marks and double those inside it."
        )


@lru_cache
def _pattern_of_quotes(delimiter: str, newline: str) -> re.Pattern[str]:
    """Return a pattern that matches a text up to a quotation mark that is not where it may be."""
    sign, cell = re.escape(delimiter) + newline, '"[^"]*+(?:""[^"]*+)*+"'
    return re.compile(rf'(?:[^"]++|(?<![^{sign}]){cell}(?=[{sign}]|\r{newline}|\r?\Z))*+')


def split_row(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row as they are written, with their quotation marks."""
    return _pattern_of_cells(delimiter).findall(row) if '"' in row else row.split(delimiter)


@lru_cache
def _pattern_of_cells(delimiter: str) -> re.Pattern[str]:
    """Return a pattern that matches a cell and the delimiter in front of it."""
    sign = re.escape(delimiter)
    return re.compile(rf'(?:^|{sign})((?:"[^"]*")+|[^{sign}"]*)')


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
