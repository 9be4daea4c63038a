"""Replace a file whole or not at all."""

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path


def check_free(path, *, overwrite=False):
    """Refuse a path at which no file can be written, or at which one stands that must stay."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a device or a pipe; name a file to write.")
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"Nothing can be written to the folder {folder}; choose another.")
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already; write to another file, or give overwrite=True (--overwrite "
            "on the command line) to replace it."
        )


@contextmanager
def replacing(path):
    """Give a new file next to `path` and put it in its place; remove it if anything fails."""
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode)
        os.replace(part, target)
    except OSError as error:
        if error.errno is None or part.name not in str(error.filename or part):
            raise  # what was read has failed, and says so itself
        raise OSError(
            f"{path} could not be written ({error.strerror or error}); what was there before is "
            "as it was."
        ) from None
    finally:
        with suppress(OSError):  # it would hide why the file could not be written
            part.unlink()


def write_bytes(path, content):
    """Write a file, in place of one that is there; return its path."""
    check_free(path, overwrite=True)
    with replacing(path) as part:
        part.write_bytes(content)
    return Path(path)


def write_text(path, text):
    """Do the same for text, in UTF-8 with a newline at the end."""
    return write_bytes(path, (text.rstrip("\n") + "\n").encode("utf-8", "replace"))
