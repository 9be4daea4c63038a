"""Files that come from a page: written to disk as they come, up to a limit."""

import hashlib
import shutil
from pathlib import Path

from starlette.requests import ClientDisconnect

from inldl.io.formats import find_format
from inldl.studio.workspace import file_name

LARGEST = 2**30  # bytes


class TooLarge(ValueError):
    """A file is larger than the studio takes."""


def size_text(size):
    """Return a size as people say it."""
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def check_size(name, size, limit):
    """Refuse a file that is too large."""
    if size > limit:
        raise TooLarge(
            f"{name} is larger than {size_text(limit)}; start the studio with a higher "
            "--largest, or use inldl complete."
        )


async def receive(request, workspace, limit, name):
    """Write the body of a request to a new folder; return folder, name, size and digest."""
    name = file_name(name)
    find_format(Path(name))  # refuses other kinds of files before they are sent
    check_size(name, int(request.headers.get("content-length") or 0), limit)
    folder = workspace.incoming()
    try:
        size, digest = 0, hashlib.sha256()
        with (folder / name).open("xb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                check_size(name, size, limit)
                digest.update(chunk)
                file.write(chunk)
        if not size:
            raise ValueError(f"{name} is empty; it needs a header and rows.")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, ClientDisconnect):
            raise ValueError(f"{name} was not sent to its end; send it again.") from None
        raise
    return folder, name, size, digest.hexdigest()


def copied(path, workspace, limit):
    """Copy a file of this machine to a new folder; return the same."""
    path = Path(path)
    find_format(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; check its name and its folder.")
    check_size(path, path.stat().st_size, limit)
    folder, name = workspace.incoming(), file_name(path.name)
    digest = hashlib.sha256()
    with path.open("rb") as source, (folder / name).open("xb") as file:
        while chunk := source.read(2**20):
            digest.update(chunk)
            file.write(chunk)
    return folder, name, path.stat().st_size, digest.hexdigest()
