"""Tables from pipes and from standard input, which can be read only once."""

import shutil
import stat
import sys
import tempfile
import weakref
from pathlib import Path

_STANDARD_INPUT = ("-", "/dev/stdin")
_STARTS = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}


def spooled(path, suffixes, owner):
    """Return a file that can be read twice.

    Of a pipe and of standard input ("-") it is a copy, which goes when `owner` does. Its name
    ends in one of `suffixes`: that of the pipe, or the one that its content calls for.
    """
    if str(path) in _STANDARD_INPUT:
        return _copied(_standard_input(), "stdin", suffixes, owner)
    if not path.exists() or path.is_file() or path.is_dir():
        return path
    if not stat.S_ISFIFO(path.stat().st_mode):
        raise OSError(f"{path} is a device or a socket; name a file or a pipe.")
    with path.open("rb") as pipe:
        return _copied(pipe, path.name, suffixes, owner)


def _standard_input():
    if sys.stdin is None or sys.stdin.isatty():
        raise OSError("Standard input holds no table; name a file, or send a table into a pipe.")
    return sys.stdin.buffer


def _copied(source, name, suffixes, owner):
    folder = tempfile.mkdtemp(prefix="inldl-")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    start = source.read(4)
    if Path(name).suffix.lower() not in suffixes:
        name += _STARTS.get(start, ".csv")
    path = Path(folder, name)
    try:
        with path.open("wb") as copy:
            copy.write(start)
            shutil.copyfileobj(source, copy)
    except OSError as error:
        raise OSError(
            f"The copy of a pipe, {path}, could not be written ({error.strerror or error}); make "
            "room there, or save the table to a file."
        ) from None
    return path
