"""Replace a file whole or not at all."""

import os
import secrets
from contextlib import contextmanager
from pathlib import Path


def check_free(path, *, overwrite=False):
    """Refuse a path at which no file can be written, or at which one stands that must stay."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}; make it first.")
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
        raise OSError(
            f"{path} could not be written ({error.strerror or error}); what was there before is "
            "as it was."
        ) from None
    finally:
        part.unlink(missing_ok=True)
