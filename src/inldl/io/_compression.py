"""Compressed files: a plain copy to read, and one to write that is packed at the end."""

import bz2
import gzip
import lzma
import shutil
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from inldl.io._replacing import goes_with, temporary_copy

SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
STARTS = {b"\x1f\x8b": ".gz", b"\xfd7zX": ".xz"}  # of files, as no text starts
_STREAMS = {".bz2": bz2.open, ".xz": lzma.open}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, OSError)


def is_packed(path):
    """Return whether the name of a file says that it is compressed."""
    return path.suffix.lower() in SUFFIXES


def plain_name(path):
    """Return the path without the ending of a compression: survey.csv for survey.csv.gz."""
    return path.with_suffix("") if is_packed(path) else path


def unpacked(path, owner):
    """Return a plain copy of a compressed file, which goes when `owner` does; or the file."""
    if not is_packed(path):
        return path
    with temporary_copy(plain_name(path).name, path, "uncompressed") as copy:
        try:
            with _opened(path) as source:
                shutil.copyfileobj(source, copy)
        except _DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{path} cannot be unpacked as {path.suffix} ({error}); pack it again."
            ) from None
    return goes_with(owner, Path(copy.name))


@contextmanager
def packing(path, part):
    """Give a file to write, which is packed into `part` as the name of `path` asks for."""
    if not is_packed(path):
        yield part
        return
    with temporary_copy(plain_name(path).name, path, "uncompressed") as copy:
        plain = Path(copy.name)
    try:
        yield plain
        with plain.open("rb") as source, _packed(path, part) as target:
            shutil.copyfileobj(source, target)
    finally:
        shutil.rmtree(plain.parent, ignore_errors=True)


@contextmanager
def _opened(path):
    kind = path.suffix.lower()
    if kind != ".zip":
        with (gzip.open if kind == ".gz" else _STREAMS[kind])(path, "rb") as source:
            yield source
        return
    with zipfile.ZipFile(path) as archive:
        names = [each for each in archive.namelist() if not each.endswith("/")]
        if len(names) != 1:
            raise ValueError(
                f"{path} holds {len(names)} files; put the table alone into it, or unpack it."
            )
        with archive.open(names[0]) as source:
            yield source


@contextmanager
def _packed(path, part):
    kind = path.suffix.lower()
    if kind == ".zip":
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            # Without a time of its own, the same table gives the same bytes.
            member = zipfile.ZipInfo(plain_name(path).name)
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as target:
                yield target
    elif kind == ".gz":
        with part.open("wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=0) as target:
            yield target
    else:
        with _STREAMS[kind](part, "wb") as target:
            yield target
