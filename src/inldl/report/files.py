"""Write files whole or not at all."""

import os
from pathlib import Path


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Replace a file, or create it, only when its new content is complete on the disk."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {str(path.parent)!r} does not exist: create it first."
        )
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def write_text(path: str | Path, text: str) -> Path:
    """Do the same for text, in UTF-8 with a newline at the end."""
    return write_bytes(path, (text.rstrip("\n") + "\n").encode("utf-8", "replace"))
