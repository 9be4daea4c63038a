"""From the bytes of a text file to UTF-8, and back."""

import codecs

# The marks of UTF-32 come first: the one of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def to_utf8(raw, encoding=None):
    """Return the content as UTF-8 without its mark, the encoding, the mark and a note or None."""
    mark, marked = next(((m, e) for m, e in _MARKS if raw.startswith(m)), (b"", None))
    if encoding is None:
        content, found, note = _detect(raw, mark, marked)
    else:
        found, mark = _named(encoding, mark, marked)
        content, note = _transcode(raw[len(mark) :], found), None
    if b"\0" in content:
        raise ValueError(
            "The file is not a table of text: it has zero bytes in it; if it is UTF-16, give "
            "encoding='utf-16'."
        )
    return content, found, mark, note


def from_utf8(content, encoding):
    """Return UTF-8 bytes in another encoding."""
    return content if encoding == "utf-8" else content.decode("utf-8").encode(encoding)


def _detect(raw, mark, marked):
    if marked is not None:
        content = _transcode(raw[len(mark) :], marked)
        return content, marked, f"The encoding is {marked}, by the mark at the start of the file."
    try:
        return _transcode(raw, "utf-8"), "utf-8", None
    except ValueError:
        pass
    for encoding in ("cp1252", "latin-1"):
        try:
            content = _transcode(raw, encoding)
        except ValueError:
            continue
        return content, encoding, f"The file is not UTF-8; it is read as {encoding}."
    raise AssertionError("latin-1 takes every byte")


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


def _transcode(raw, encoding):
    """Return the bytes as UTF-8, if they can be turned back into the same bytes."""
    try:
        text = raw.decode(encoding)
        if encoding == "utf-8":
            return raw
        content = text.encode("utf-8")
        same = text.encode(encoding) == raw
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = raw.count(b"\n", 0, start) + 1
        raise ValueError(
            f"Line {line} of the file is not {encoding} (byte {start}); give the encoding that "
            "the file was written in, or none to have it found out."
        ) from None
    if not same:
        raise ValueError(
            f"The file cannot be written back in {encoding} as it was; save it as UTF-8."
        )
    return content
