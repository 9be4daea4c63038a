"""Write files whole or not at all, and copies that go with what they are for."""

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO


def check_free(path, *, overwrite=False, source=None) -> None:
    """Refuse a path at which no file can be written, or at which one stands that must stay.

    `source` is the table that is read, if there is one.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a device or a pipe; name a file to write.")
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}; create it first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"Nothing can be written to the folder {folder}; choose another.")
    if path.exists() and not overwrite:
        is_read = source is not None and path.samefile(source)
        raise FileExistsError(
            f"{path} {'is the table that was read' if is_read else 'exists already'}; write to "
            "another file, or give overwrite=True (--overwrite on the command line) to replace it."
        )


def make_folder(path) -> None:
    """Make a folder if it is not there; refuse one to which nothing can be written."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(f"The folder {path} cannot be created ({reason}); choose another.") from None
    check_free(path / "file", overwrite=True)


@contextmanager
def replacing(path, *, overwrite) -> Iterator[Path]:
    """Give a new empty file next to `path` and put it in its place; remove it if anything fails.

    Without `overwrite` a file that has appeared at `path` meanwhile stays as it is, and the new
    one gets another name. Until it is whole, nobody else may read it, and no pattern for tables
    or pages fits its name.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.touch(exist_ok=False)
        mode = part.stat().st_mode  # what others may do with it, once it is whole
        part.chmod(0o600)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.chmod(target.stat().st_mode if target.exists() else mode)
        if overwrite:
            os.replace(part, target)
        else:
            _put(part, target, path)
    except OSError as error:
        if error.errno is None or part.name not in str(error.filename or part):
            raise  # what was read has failed, and says so itself
        raise OSError(
            f"{path} could not be written ({error.strerror or error}); what was there before is "
            "unchanged."
        ) from None
    finally:
        with suppress(OSError):  # it would hide why the file could not be written
            part.unlink()


def _put(part, target, path):
    """Put a file at `target` if nothing is there; else next to it, and say so."""
    if _moved(part, target):
        return
    names = (target.with_stem(f"{target.stem}-{number}") for number in count(2))
    other = next(name for name in names if _moved(part, name))
    raise FileExistsError(
        f"{path} was created by something else meanwhile, and is left unchanged; the result is in "
        f"{Path(path).with_name(other.name)}."
    )


def _moved(part, target):
    """Move a file to a free place; return whether it was free."""
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: take the name first
        try:
            target.touch(exist_ok=False)
        except FileExistsError:
            return False
        os.replace(part, target)
    return True


def write_bytes(path, content, *, overwrite=True) -> Path:
    """Write a file, in place of one that is there; return its path."""
    check_free(path, overwrite=overwrite)
    with replacing(path, overwrite=overwrite) as part:
        part.write_bytes(content)
    return Path(path)


def write_text(path, text, *, overwrite=True) -> Path:
    """Do the same for text, in UTF-8 with a newline at the end."""
    content = (text.rstrip("\n") + "\n").encode("utf-8", "replace")
    return write_bytes(path, content, overwrite=overwrite)


def goes_with(owner, path) -> Path:
    """Return the path of a temporary copy, whose folder is removed when `owner` is."""
    weakref.finalize(owner, shutil.rmtree, path.parent, ignore_errors=True)
    return path


@contextmanager
def temporary_copy(name, of, advice) -> Iterator[BinaryIO]:
    """Give a new file in a folder of its own; remove both if anything fails."""
    path = Path(tempfile.mkdtemp(prefix="inldl-"), name)
    try:
        with path.open("wb") as copy:
            yield copy
    except BaseException as error:
        shutil.rmtree(path.parent, ignore_errors=True)
        if not isinstance(error, OSError) or error.errno is None or error.filename is not None:
            raise  # what was read has failed, and says so itself
        raise OSError(
            f"The copy of {of}, {path}, could not be written ({error.strerror}); make room there, "
            f"or save the table {advice}."
        ) from None
