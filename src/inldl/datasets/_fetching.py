"""Find the file of a public dataset on this machine, or download it; never take a wrong one."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from inldl.datasets._registry import Fingerprint, Record

_TIMEOUT = 30  # seconds without one byte
_LARGEST = 100 * 2**20  # bytes; GitHub, where the files are, takes none that is larger


def obtain(record: Record, *, download: bool = True) -> Path:
    """Return the path of a dataset's file, verified; download it if this machine has none."""
    for path, expected in _places(record):
        if path.is_file():
            _refuse_other_content(path, expected)
            return path
    if not download:
        raise FileNotFoundError(f"{record.name} is not on this machine: {_by_hand(record)}")
    return _download(record)


def present(record: Record) -> Path | None:
    """Return the path of a dataset's file on this machine, or None; the file is not opened."""
    return next((path for path, _ in _places(record) if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder of downloaded files: the place that the platform has for caches."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local"
        return Path(local, "inldl", "inldl", "Cache")
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "inldl"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache", "inldl")


def _home():
    try:
        return Path.home()
    except RuntimeError:  # a user whom the system does not know, as in some containers
        return Path(tempfile.gettempdir())


def _places(record) -> Iterator[tuple[Path, Fingerprint]]:
    for folder in _folders():
        for name, fingerprint in record.fingerprints.items():
            yield folder / name, fingerprint


def _folders():
    """Return the folders to look in: those of INLDL_DATA, which may be a clone, and the cache."""
    named = os.environ.get("INLDL_DATA")
    if not named:
        return [cache_folder()]
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"The environment variable INLDL_DATA names {named!r}, which is not a folder: correct "
            "it, or unset it."
        )
    return [folder, folder / "datasets", cache_folder()]


def _digest(path, kind):
    start = hashlib.sha256
    if kind == "git blob sha1":
        header = b"blob %d\0" % path.stat().st_size
        start = lambda: hashlib.sha1(header, usedforsecurity=False)  # noqa: E731
    with path.open("rb") as content:
        return hashlib.file_digest(content, start).hexdigest()


def _refuse_other_content(path, expected):
    found = _digest(path, expected.kind)
    if found != expected.digest:
        raise ValueError(
            f"{path} is not the public file: its {expected.kind} is {found}, not "
            f"{expected.digest}; remove it to have the public file downloaded, or load it as a "
            "file of your own by giving its path."
        )


def _download(record):
    """Download to the cache; the file appears there complete and verified, or not at all."""
    from http.client import HTTPException

    target = cache_folder() / record.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # A folder of its own in the same file system: processes do not meet, and all of it goes.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as folder:
            part = Path(folder, record.file)
            _transfer(record, part)
            _refuse_damaged(record, part)
            os.replace(part, target)
    except (OSError, HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise OSError(
            f"{record.name} could not be downloaded ({reason}): {_by_hand(record)}"
        ) from None
    return target


def _transfer(record, path):
    from urllib.request import urlopen

    from rich.console import Console
    from rich.progress import wrap_file

    console = Console(stderr=True)
    with urlopen(record.url, timeout=_TIMEOUT) as response, path.open("wb") as file:
        body = wrap_file(
            response,
            total=response.length or record.n_bytes or 0,
            description=record.file,
            console=console,
            transient=True,
        )
        # Before version 15, rich ends a bar that it does not show with an empty line.
        with body if console.is_terminal else nullcontext(response) as blocks:
            _copy(blocks, file, record)


def _copy(source, target, record):
    """Copy what is sent, but no more than the file can have: a disk is not filled."""
    left = limit = record.n_bytes or _LARGEST
    while block := source.read(2**16):
        left -= len(block)
        if left < 0:
            raise ValueError(
                f"What {record.url} sends is not the public file, since it is longer than {limit} "
                "bytes; nothing was kept, try again."
            )
        target.write(block)


def _refuse_damaged(record, path):
    expected = record.fingerprint
    found = _digest(path, expected.kind)
    if found != expected.digest:
        raise ValueError(
            f"What {record.url} sent ({path.stat().st_size} bytes) is damaged or another file: "
            f"its {expected.kind} is {found}, not {expected.digest}; nothing was kept, try again."
        )


def _by_hand(record):
    return (
        f"get {record.url} and put it into {cache_folder()}, or into a folder that the "
        "environment variable INLDL_DATA names."
    )
