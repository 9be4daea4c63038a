"""The file formats of tables: which ones there are, and which one a file has; compressed files.

A format is a `formats.base.TableFormat` in a module of its own, and a line in `FORMATS`. Its
module is imported when a file is opened, so that help texts are quick.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from inldl.files.replacing import goes_with, temporary_copy

if TYPE_CHECKING:
    from inldl.tables.formats.base import TableFormat


class Listing(NamedTuple):
    """What is known of a format before a file is opened."""

    home: str  # the module and the class in it
    suffixes: tuple[str, ...]
    start: bytes = b""  # of its files, if that tells them from those of other formats
    extra: str = ""  # of inldl, with the packages that it needs


FORMATS = (
    Listing(
        "inldl.tables.formats.delimited.DelimitedText", (".csv", ".tsv", ".tab", ".txt", ".dat")
    ),
    Listing("inldl.tables.formats.parquet.Parquet", (".parquet",), b"PAR1", "parquet"),
    Listing("inldl.tables.formats.parquet.Feather", (".feather", ".arrow"), b"ARROW1", "parquet"),
    Listing("inldl.tables.formats.excel.Excel", (".xlsx",), b"PK\x03\x04", "parquet"),
    Listing("inldl.tables.formats.excel.Ods", (".ods",), b"", "ods"),
    Listing("inldl.tables.formats.labelled.Spss", (".sav", ".zsav"), b"$FL", "spss"),
    Listing("inldl.tables.formats.labelled.Stata", (".dta",), b"<stata_dta>", "spss"),
    Listing(
        "inldl.tables.formats.databases.Database",
        (".db", ".sqlite", ".sqlite3", ".duckdb"),
        b"SQLite format 3",
    ),
)
MOST_UNPACKED = 2**30, 100  # bytes, and times the size of the packed file: the larger of both
PACKED = (".gz", ".bz2", ".xz", ".zip")
STARTS = {b"\x1f\x8b": ".gz", b"\xfd7zX": ".xz"}  # of files, as no text starts
_STREAMS = {".bz2": bz2.open, ".xz": lzma.open}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, OSError)


def suffixes() -> list[str]:
    """Return the endings of all files that can hold a table."""
    return [suffix for listing in FORMATS for suffix in listing.suffixes]


def find_format(path) -> Listing:
    """Return the listing of the format that the name of a file stands for."""
    for listing in FORMATS:
        if plain_name(path).suffix.lower() in listing.suffixes:
            return listing
    ending = path.name.removeprefix(plain_name(path).stem)
    if "::" in ending:
        raise ValueError(f"{path} is to be a whole file; leave out what follows the colons.")
    raise ValueError(
        f"{path} ends in {ending!r}, which is not a known kind of table; known kinds "
        f"are {', '.join(suffixes())}, also compressed ({', '.join(PACKED)})."
    )


def load_format(path: Path) -> type[TableFormat]:
    """Return the class of the format that the name of a file stands for."""
    listing = find_format(path)
    module, _, name = listing.home.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        package = str(error.name).partition(".")[0]
        raise ImportError(
            f"{plain_name(path).suffix} files need {package}: pip install 'inldl[{listing.extra}]'"
        ) from None


def readable_twice(path, owner) -> Path:
    """Return a file that can be read twice, or refuse a path that holds none.

    Of a pipe and of standard input ("-") it is a copy, which goes when `owner` does. The name of
    the copy ends as that of the pipe, or as its content calls for.
    """
    if str(path) in ("-", "/dev/stdin"):
        if sys.stdin is None or sys.stdin.isatty():
            raise OSError(
                "Standard input holds no table; name a file, or send a table into a pipe."
            )
        return _copied(sys.stdin.buffer, "stdin", owner)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}; check its name and its folder.")
    if path.is_file():
        return path
    if not stat.S_ISFIFO(path.stat().st_mode):
        raise OSError(f"{path} is a device or a socket; name a file or a pipe.")
    with path.open("rb") as pipe:
        return _copied(pipe, path.name, owner)


def _copied(source, name, owner):
    start = source.read(max(len(listing.start) for listing in FORMATS))
    if Path(name).suffix.lower() not in suffixes():
        fitting = [each for each in FORMATS if each.start and start.startswith(each.start)]
        name += (fitting or FORMATS)[0].suffixes[0]
        name += next((suffix for first, suffix in STARTS.items() if start.startswith(first)), "")
    with temporary_copy(name, "a pipe", "to a file") as copy:
        copy.write(start)
        shutil.copyfileobj(source, copy)
    return goes_with(owner, Path(copy.name))


def is_packed(path) -> bool:
    """Return whether the name of a file says that it is compressed."""
    return path.suffix.lower() in PACKED


def plain_name(path) -> Path:
    """Return the path without the ending of a compression: survey.csv for survey.csv.gz."""
    return path.with_suffix("") if is_packed(path) else path


def unpacked(path, owner) -> Path:
    """Return a plain copy of a compressed file, which goes when `owner` does; or the file."""
    if not is_packed(path):
        if zipfile.is_zipfile(path):  # a sheet; one that is damaged is refused where it is opened
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                _check_unpacked(path, sum(member.file_size for member in archive.infolist()))
        return path
    with temporary_copy(plain_name(path).name, path, "uncompressed") as copy:
        try:
            with _stream(path, path, "r") as source:
                while block := source.read(2**20):
                    _check_unpacked(path, copy.tell() + len(block))
                    copy.write(block)
        except _DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{path} cannot be unpacked as {path.suffix} ({error}); pack it again."
            ) from None
    return goes_with(owner, Path(copy.name))


def _check_unpacked(path, size):
    """Refuse a file with so many bytes inside that it could be made to fill the disk."""
    most, times = MOST_UNPACKED
    if size > max(most, times * path.stat().st_size):
        raise ValueError(
            f"{path} has more inside than {size / 2**30:.3g} GB, far more than its own size; "
            "unpack it, and name what was inside, if that is a table."
        )


@contextmanager
def packing(path, part) -> Iterator[Path]:
    """Give a file to write, which is packed into `part` as the name of `path` asks for."""
    if not is_packed(path):
        yield part
        return
    with temporary_copy(plain_name(path).name, path, "uncompressed") as copy:
        plain = Path(copy.name)
    try:
        yield plain
        with plain.open("rb") as source, _stream(path, part, "w") as target:
            shutil.copyfileobj(source, target)
    finally:
        shutil.rmtree(plain.parent, ignore_errors=True)


@contextmanager
def _stream(path, file, mode):
    """Open a `file` that is compressed as the name of `path` says, to read or to write it.

    Without a name and a time in it, the same table gives the same bytes.
    """
    kind = path.suffix.lower()
    with ExitStack() as stack:
        if kind == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(file, mode, zipfile.ZIP_DEFLATED))
            member = _only_member(path, archive) if mode == "r" else _new_member(path)
            yield stack.enter_context(archive.open(member, mode, force_zip64=mode == "w"))
        elif kind == ".gz":
            plain = stack.enter_context(file.open(f"{mode}b"))
            yield stack.enter_context(gzip.GzipFile("", f"{mode}b", 6, plain, mtime=0))
        else:
            yield stack.enter_context(_STREAMS[kind](file, f"{mode}b"))


def _only_member(path, archive):
    names = [each for each in archive.namelist() if not each.endswith("/")]
    if len(names) != 1:
        raise ValueError(
            f"{path} holds {len(names)} files; put the table alone into it, or unpack it."
        )
    return names[0]


def _new_member(path):
    member = zipfile.ZipInfo(plain_name(path).name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
