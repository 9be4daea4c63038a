"""Decode the text of a table a piece at a time, and split it into rows and cells.

Quotation marks follow RFC 4180: a cell that holds a delimiter, a line break or a quotation mark
stands in quotation marks, and those inside it are doubled. Empty lines are no rows.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from inldl.tables.numbers import SPACES

DELIMITERS = (",", ";", "\t", "|")  # besides a space
PIECE = 1 << 21  # bytes: small enough to stay near the processor, large enough for pandas
_SAMPLE = 1 << 16  # characters at both ends of a text that show how it is written
# The marks of UTF-32 come first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class EncodedText:
    """The text of a file, decoded when it is needed. A byte order mark is no part of it."""

    def __init__(self, path: Path, encoding: str, mark: bytes = b"") -> None:
        self.path, self.encoding, self.mark = path, encoding, mark
        self.size, self.n_lines, blank = 0, 1, True
        self.head = next(self.pieces(), "")
        # The character that ends a line; there may be a return before a line feed.
        self.newline = "\n" if "\n" in self.head or "\r" not in self.head else "\r"
        self.tail = ""  # the last characters
        for piece in self.pieces():
            if "\0" in piece:
                raise ValueError(
                    "The file is not a table of text: it has zero bytes in it; if it is UTF-16, "
                    "give encoding='utf-16' (--encoding utf-16)."
                )
            blank = blank and piece.isspace()
            self.size += len(piece)
            self.n_lines += piece.count(self.newline)
            self.tail = (self.tail + piece[-_SAMPLE:])[-_SAMPLE:]
        if blank:
            raise ValueError(f"{path} is empty; it needs a header and rows.")

    def pieces(self, start: int = 0, stop: int | None = None, size: int = PIECE) -> Iterator[str]:
        """Yield the characters from `start` to `stop`, those of `size` bytes at a time."""
        at = 0
        with self.path.open("rb") as file:
            file.seek(len(self.mark))
            try:
                for piece in codecs.iterdecode(iter(partial(file.read, size), b""), self.encoding):
                    wanted = piece[max(0, start - at) : None if stop is None else stop - at]
                    if wanted:
                        yield wanted
                    at += len(piece)
                    if stop is not None and at >= stop:
                        return
            except UnicodeError as error:
                problem = getattr(error, "object", b""), getattr(error, "start", 0)
                raise self._wrong_encoding(file, *problem) from None

    def _wrong_encoding(self, file: BinaryIO, content: bytes, place: int) -> ValueError:
        """Return an error that says in which line a byte cannot be decoded."""
        start = max(0, file.tell() - len(self.mark) - len(content) + place)
        file.seek(len(self.mark))
        line = file.read(start).count(b"\n") + 1
        return WrongEncodingError(
            f"Line {line} of the file is not {self.encoding} (byte {start}); give the encoding "
            "that the file was written in, or none to have it detected."
        )

    def line_at(self, position: int) -> int:
        """Return the number of the line of a character, from 1."""
        return 1 + sum(piece.count(self.newline) for piece in self.pieces(stop=position))

    def first_lines(self, start: int) -> list[str]:
        """Return the first lines from a character on, without one that may be cut."""
        stop = start + _SAMPLE
        lines = self.head[start:stop].split(self.newline)
        return lines[:-1] or lines if min(stop, len(self.head)) < self.size else lines

    def last_lines(self, start: int) -> list[str]:
        """Return the last lines behind a character, the first of which may be cut."""
        return self.tail[max(0, start - self.size + len(self.tail)) :].split(self.newline)


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
        text = re.sub('"[^"]*"', '""', self.text) if '"' in self.text else self.text
        text = text.removesuffix(self.newline) + self.newline
        data = np.frombuffer(text.encode(), np.uint8)
        ends = np.flatnonzero(data == ord(self.newline))
        starts = np.append(0, ends[:-1] + 1)
        delimiters = (data == ord(self.delimiter)).view(np.uint8)
        cells = np.add.reduceat(delimiters, starts, dtype=np.int32) + 1
        empty = (ends == starts) | ((ends == starts + 1) & (data[starts] == ord("\r")))
        return np.where(empty, 0, cells)

    @cached_property
    def size(self) -> int:
        """Return the number of rows."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def has_empty_lines(self) -> bool:
        """Return whether lines are empty."""
        return self.size < len(self.counts)

    def start_of(self, row: int) -> int:
        """Return the number of characters before a row."""
        return self.start + sum(len(line) + 1 for line in self.lines[: self.row_lines[row]])

    def frame(self, columns: Sequence[int], **how: Any) -> pd.DataFrame:
        """Return some columns, by number, as pandas reads them."""
        if not columns:
            return pd.DataFrame(index=range(self.size))
        text = self.text
        if '"' in text or "\r" in text or self.has_empty_lines:
            text = self.newline.join(self.rows)
        if text.startswith("\ufeff"):  # pandas would leave it out, even if there is nothing else
            text = " " + text[1:]
        return pd.read_csv(
            BytesIO(text.encode()),
            header=None,
            sep=self.delimiter,
            lineterminator=self.newline,
            usecols=columns,
            skip_blank_lines=False,
            keep_default_na=False,
            low_memory=False,
            **how,
        )

    def texts(self, columns: Sequence[int]) -> pd.DataFrame:
        """Return the text of each cell of some columns."""
        return self.frame(columns, dtype=object, na_filter=False)


def end_of_quotes(text: str, delimiter: str, newline: str) -> int:
    """Return where a quotation mark of a text is that is not where it may be, or its length."""
    pattern, at = _pattern_of_quotes(delimiter, newline), 0
    while (end := pattern.match(text, at).end()) > at:
        at = end
    return at


@lru_cache
def _pattern_of_quotes(delimiter, newline):
    """Return a pattern that matches some hundred cells whose quotation marks are right."""
    sign, cell = re.escape(delimiter) + newline, '"[^"]*+(?:""[^"]*+)*"'
    # Groups are not possessive, because those of Python 3.11.2 go wrong; limits save memory.
    return re.compile(rf'(?:[^"]++|(?<![^{sign}]){cell} *(?=[{sign}]|\r{newline}|\r?\Z)){{0,999}}')


def split_row(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row as they are written, with their quotation marks."""
    return _pattern_of_cells(delimiter).findall(row) if '"' in row else row.split(delimiter)


@lru_cache
def _pattern_of_cells(delimiter: str) -> re.Pattern[str]:
    """Return a pattern that matches a cell and the delimiter in front of it."""
    sign, blanks = re.escape(delimiter), "" if delimiter == " " else " *"
    return re.compile(rf'(?:^|{sign})((?:"[^"]*")+{blanks}|[^{sign}"]*)')


def unquoted(cell: str) -> str:
    """Return the text of a cell without its quotation marks."""
    return cell.rstrip(" ")[1:-1].replace('""', '"') if cell.startswith('"') else cell


def find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter with which most rows have as many cells as the header.

    If the first row is a title, or has no name for the names of rows, that is the one with which
    most rows have equally many. A space is one where no other is.
    """
    lines = re.sub('"[^"]*"?', '""', "\n".join(lines)).split("\n")
    lines = [line for line in lines if len(line) > 1]  # "\r" is an empty line
    counts = {sign: [line.count(sign) + 1 for line in lines] for sign in DELIMITERS}
    found = {sign: _agreement(each, each[0] if each else 0) for sign, each in counts.items()}
    if max(found.values()) < (0.9, 0):
        usual = {sign: max(each, key=each.count, default=0) for sign, each in counts.items()}
        found = {sign: _agreement(each, usual[sign]) for sign, each in counts.items()}
        header, *rows = [line.rstrip("\r").count(" ") + 1 for line in lines] or [0]
        spaced = rows and _agreement(rows, rows[0]) == (1, rows[0]) and 0 <= rows[0] - header <= 1
        if spaced and rows[0] > 2 and max(found.values()) < (0.9, 0):
            return " "
    return max(DELIMITERS, key=lambda sign: found[sign])


def _agreement(counts: list[int], expected: int) -> tuple[float, int]:
    """Return the share of rows with as many cells as expected, and how many these are."""
    return (counts.count(expected) / len(counts), expected) if expected > 1 else (0.0, 0)


_ONES = str.maketrans("23456789", "11111111")


def shape_of(text: str) -> str:
    """Return a text with 1 in place of all digits but 0: its numbers have the same signs."""
    return text.translate(_ONES)


def is_plain(text: str, delimiter: str) -> bool:
    """Return whether no number in some rows has another sign than one decimal point."""
    groups = [sign for sign in (" ", "'", "\u2019", *SPACES) if sign in text]
    commas = "," in text and (delimiter != "," or '"' in text)
    if not groups and not commas and not _has_near_dots(text):
        return True
    shape = text.translate(_ONES).replace("0", "1")
    if ".111." in shape or any(f"1{sign}1" in shape for sign in groups):
        return False
    if commas and delimiter == "," and ("1," in shape or ",1" in shape):
        shape = "".join(re.findall('"[^"]*"', shape))
    return not (commas and ("1," in shape or ",1" in shape))


def _has_near_dots(text: str) -> bool:
    """Return whether two dots have three characters between them, as in 1.234.567."""
    dots = np.frombuffer(text.encode("utf-8", "replace"), np.uint8) == ord(".")
    return bool((dots[:-4] & dots[4:]).any())
