"""Decode the text of a file a piece at a time, and detect its encoding."""

import codecs
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# The marks of UTF-32 come first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
PIECE = 1 << 21  # bytes: small enough to stay near the processor, large enough for pandas
SAMPLE = 1 << 16  # characters at both ends of a text that show how it is written


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
            self.head += piece[: SAMPLE - len(self.head)]
            self.n_lines += piece.count(self.newline)
            self.tail = (self.tail + piece[-SAMPLE:])[-SAMPLE:]
        if blank:
            raise ValueError(f"{self.path} is empty; it needs a header and rows.")

    @property
    def newline(self) -> str:
        """Return the character that ends a line; there may be a return before a line feed."""
        return "\n" if "\n" in self.head or "\r" not in self.head else "\r"

    def pieces(self, start: int = 0, stop: int | None = None, size: int = PIECE) -> Iterator[str]:
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
        stop = start + SAMPLE
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
