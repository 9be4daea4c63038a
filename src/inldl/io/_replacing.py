"""Replace a file whole or not at all."""

import os
import secrets
from contextlib import contextmanager
from pathlib import Path


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
