"""The bytes of a text file: a piece at a time, as UTF-8, and back in their encoding."""

import codecs
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path

from inldl.files.replacing import goes_with, temporary_copy

# The marks of UTF-32 come first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PIECE = 1 << 22  # bytes


class Content:
    """Read parts of a file, but for the bytes to `skip` at its start, when they are needed."""

    def __init__(self, path, skip=0):
        self.path, self._skip = path, skip
        self.size = path.stat().st_size - skip

    def read(self, start, stop):
        """Return the bytes from `start` to `stop`, or to the end."""
        length = max(0, min(stop, self.size) - start)
        with self.path.open("rb") as file:
            file.seek(self._skip + start)
            found = file.read(length)
        if len(found) < length:
            raise OSError(f"{self.path} became shorter while it was read; try again.")
        return found

    def pieces(self, start=0, stop=None):
        """Yield the bytes from `start` to `stop`, some millions at a time."""
        stop = self.size if stop is None else stop
        for at in range(start, stop, _PIECE):
            yield self.read(at, min(at + _PIECE, stop))

    def count(self, byte, stop=None):
        """Return how often a byte occurs before `stop`."""
        return sum(piece.count(byte) for piece in self.pieces(stop=stop))


def open_text(path, encoding=None):
    """Return the content as UTF-8 without its mark, the encoding, the mark and a note or None."""
    with path.open("rb") as file:
        start = file.read(4)
    mark, marked = next(((m, e) for m, e in _MARKS if start.startswith(m)), (b"", None))
    if encoding is None:
        content, found, note = _detect(path, mark, marked)
    else:
        found, mark = _named(encoding, mark, marked)
        content, note = _as_utf8(Content(path, len(mark)), found), None
    if any(b"\0" in piece for piece in content.pieces()):
        raise ValueError(
            "The file is not a table of text: it has zero bytes in it; if it is UTF-16, give "
            "encoding='utf-16' (--encoding utf-16)."
        )
    return content, found, mark, note


def from_utf8(content, encoding):
    """Return UTF-8 bytes in another encoding."""
    return content if encoding == "utf-8" else content.decode("utf-8").encode(encoding)


def _detect(path, mark, marked):
    raw = Content(path, len(mark))
    if marked is not None:
        note = f"The encoding is {marked}, by the mark at the start of the file."
        return _as_utf8(raw, marked), marked, note
    for encoding in ("utf-8", "cp1252", "latin-1"):  # the last one takes every byte
        with suppress(ValueError):
            content = _as_utf8(raw, encoding)
            break
    note = f"The file is not UTF-8; it is read as {encoding}."
    return content, encoding, None if encoding == "utf-8" else note


def _named(encoding, mark, marked):
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


def _as_utf8(raw, encoding):
    """Return the text as UTF-8, if it can be turned back into the same bytes.

    A file in UTF-8 is itself the content; of any other a copy is made, which goes with it.
    """
    if encoding == "utf-8":
        for _ in _decoded(raw, encoding):
            pass
        return raw
    with temporary_copy("table.csv", f"{raw.path} in UTF-8", "as UTF-8") as copy:
        if not _copy(raw, encoding, copy):
            raise ValueError(
                f"The file cannot be written back in {encoding} as it was; save it as UTF-8."
            )
    content = Content(Path(copy.name))
    goes_with(content, content.path)
    return content


def _copy(raw, encoding, copy):
    """Write a text as UTF-8; return whether it gives the same bytes when it is encoded again."""
    encoder = codecs.getincrementalencoder(encoding)()
    before, after = blake2b(), blake2b()
    for piece, text in _decoded(raw, encoding):
        copy.write(text.encode("utf-8"))
        before.update(piece)
        after.update(encoder.encode(text, final=not piece))
    return before.digest() == after.digest()


def _decoded(raw, encoding):
    """Yield pieces of bytes with their text, at last an empty one, or say which line is bad."""
    decoder, position = codecs.getincrementaldecoder(encoding)(), 0
    try:
        for piece in chain(raw.pieces(), [b""]):
            position += len(piece)
            yield piece, decoder.decode(piece, final=not piece)
    except UnicodeError as error:
        start = position - len(getattr(error, "object", b"")) + getattr(error, "start", 0)
        line = raw.count(b"\n", max(0, start)) + 1
        raise ValueError(
            f"Line {line} of the file is not {encoding} (byte {start}); give the encoding that "
            "the file was written in, or none to have it detected."
        ) from None
