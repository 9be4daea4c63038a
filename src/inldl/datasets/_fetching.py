"""The public datasets: which there are, and their files, found here or downloaded and verified."""

import hashlib
import os
import sys
import tempfile
import tomllib
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

_COMMIT = "082937638e075b35d349a2e69e36219d52512dc8"
#: Address of the folder with the files.
BASE_URL = f"https://raw.githubusercontent.com/SpriteMisaka/PyLDL/{_COMMIT}/datasets"


class Fingerprint(NamedTuple):
    """The expected hash of a file; `kind` is "sha256" or "git blob sha1"."""

    kind: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """One public dataset; `catalogue` says what users find in it."""

    name: str  # also of its file, without ".mat"
    source: str  # what the rows and the degrees are
    git_blob: str  # git's hash of the file
    alias: str | None = None  # name in the paper's tables, if that differs
    sha256: str | None = None  # hash and size of the file, where known
    n_bytes: int | None = None
    shape: tuple[int, int, int] | None = None  # n, k, C; as published if the file was not there
    label_names: tuple[str, ...] | None = None  # if their order in the file is certain
    citation: str | None = None  # the publication to cite
    copies: dict[str, str]  # names of other files with the same data, and their sha256
    path: Path | None = None  # the file on this machine, not verified; filled in by `catalogue`

    @property
    def file(self) -> str:
        """Name of the public file."""
        return f"{self.name}.mat"

    @property
    def url(self) -> str:
        """Address of the public file."""
        return f"{BASE_URL}/{self.file}"

    @property
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprints by file name, the public file first."""
        known = {**self.copies, self.file: self.sha256} if self.sha256 else self.copies
        strong = {name: Fingerprint("sha256", digest) for name, digest in known.items()}
        return {self.file: Fingerprint("git blob sha1", self.git_blob), **strong}

    @property
    def fingerprint(self) -> Fingerprint:
        """The strongest known fingerprint of the public file."""
        return self.fingerprints[self.file]


@cache
def records() -> dict[str, Record]:
    """Return every dataset by its name."""
    text = (files("inldl.datasets") / "data" / "public.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {
        name: _record(name, fields, table["citations"])
        for name, fields in table["datasets"].items()
    }


def _record(name, fields, citations):
    lists = {key: tuple(fields[key]) for key in ("shape", "label_names") if key in fields}
    citation = citations[fields["citation"]] if "citation" in fields else None
    return Record(**{"copies": {}, **fields, **lists, "name": name, "citation": citation})


def find(name: str) -> Record:
    """Return the record of a dataset, by its name or its name in the paper.

    Case, ``_`` and ``-`` do not matter.
    """
    known = {_key(r.alias): r for r in records().values() if r.alias}
    known |= {_key(r.name): r for r in records().values()}
    if _key(name) in known:
        return known[_key(name)]
    near = dict.fromkeys(known[key].name for key in get_close_matches(_key(name), known))
    guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise ValueError(
        f"No dataset is called {name!r}{guess} inldl.datasets.catalogue() lists all names; for "
        "your own file, give a path that ends in .mat or .npz."
    )


def _key(name):
    return name.lower().replace("_", "").replace("-", "")


_TIMEOUT = 30  # seconds without one byte
_LARGEST = 100 * 2**20  # bytes; GitHub, which hosts the files, accepts no larger ones


def obtain(record: Record, *, download: bool = True) -> Path:
    """Return the path of a dataset's verified file; download it if necessary."""
    path = present(record)
    if path is None and download:
        return _download(record)
    if path is None:
        raise FileNotFoundError(f"{record.name} is not on this machine: {_by_hand(record)}")
    if wrong := _mismatch(path, record.fingerprints[path.name]):
        raise ValueError(
            f"{path} is not the public file: {wrong}; remove it to download the public file, or "
            "load it as your own file by giving its path."
        )
    return path


def present(record: Record) -> Path | None:
    """Return the path of a dataset's file on this machine, or None; the file is not opened."""
    places = (folder / name for folder in _folders() for name in record.fingerprints)
    return next((path for path in places if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder of downloaded files, the usual cache folder of the platform."""
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


def _folders():
    """Return the folders to search: INLDL_DATA (possibly a clone of the repository), the cache."""
    named = os.environ.get("INLDL_DATA")
    if not named:
        return [cache_folder()]
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"The environment variable INLDL_DATA is {named!r}, which is not a folder: correct "
            "it, or unset it."
        )
    return [folder, folder / "datasets", cache_folder()]


def _mismatch(path, expected):
    """Say which hash a file has instead of the expected one, or return an empty text."""
    start = hashlib.sha256
    if expected.kind == "git blob sha1":
        header = b"blob %d\0" % path.stat().st_size
        start = lambda: hashlib.sha1(header, usedforsecurity=False)  # noqa: E731
    with path.open("rb") as content:
        found = hashlib.file_digest(content, start).hexdigest()
    if found == expected.digest:
        return ""
    return f"its {expected.kind} is {found}, not {expected.digest}"


def _download(record):
    """Download to the cache; the file appears there complete and verified, or not at all."""
    from http.client import HTTPException

    target = cache_folder() / record.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # A private folder in the same file system: processes do not collide, and it is removed.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as folder:
            part = Path(folder, record.file)
            _transfer(record, part)
            if wrong := _mismatch(part, record.fingerprint):
                raise ValueError(
                    f"{record.url} sent a damaged or different file ({part.stat().st_size} "
                    f"bytes): {wrong}. Nothing was kept; try again."
                )
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
    """Copy the response, but no more than the file can have, so that a disk is not filled."""
    left = limit = record.n_bytes or _LARGEST
    while block := source.read(2**16):
        left -= len(block)
        if left < 0:
            raise ValueError(
                f"{record.url} did not send the public file: the response is longer than {limit} "
                "bytes. Nothing was kept; try again."
            )
        target.write(block)


def _by_hand(record):
    return (
        f"download {record.url} and put it into {cache_folder()}, or into the folder named "
        "by the environment variable INLDL_DATA."
    )
