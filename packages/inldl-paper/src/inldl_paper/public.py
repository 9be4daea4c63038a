"""Load public datasets, found here or downloaded and verified, and the user's own files."""

import hashlib
import os
import tempfile
import tomllib
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from inldl.progress import report
from inldl_paper.stored import read

_COMMIT = "082937638e075b35d349a2e69e36219d52512dc8"
#: Address of the folder with the files.
BASE_URL = f"https://raw.githubusercontent.com/SpriteMisaka/PyLDL/{_COMMIT}/datasets"
TIMEOUT = 30  # seconds without one byte
LARGEST_FILE = 100 * 2**20  # bytes; GitHub, which hosts the files, accepts no larger ones
GIT = "git blob sha1"


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
    licence: str = "not stated"  # what its publishers say of its use
    note: str | None = None  # what was done to its degrees
    any_sum: bool = False  # rows are divided by their sums, whatever these are
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
    def hashes(self) -> dict[str, tuple[str, str]]:
        """Kinds and values of the hashes by file name, the public file first."""
        own = ("sha256", self.sha256) if self.sha256 else (GIT, self.git_blob)
        return {self.file: own, **{name: ("sha256", each) for name, each in self.copies.items()}}


def catalogue() -> list[Record]:
    """List the public datasets, without reading or downloading any.

    Returns
    -------
    list of Record
        In alphabetical order, ignoring case, with the attributes

        name, alias : str, and str or None
            Its name, and its name in the paper's tables if that differs.
        shape : tuple of int (n, k, C) or None
            Rows, features and labels, where known.
        source : str
            What the rows and the degrees are.
        citation : str or None
            Publication to cite.
        licence, note : str, and str or None
            What its publishers say of its use, and what `load` does to its degrees.
        path : Path or None
            Its file on this machine, not verified; None if it has to be downloaded.

    Examples
    --------
    >>> from inldl.datasets import catalogue
    >>> [entry.name for entry in catalogue() if entry.alias == "Scene"]
    ['Natural_Scene']
    """
    ordered = sorted(records().values(), key=lambda record: record.name.lower())
    return [replace(record, path=present(record)) for record in ordered]


def load(name: str | os.PathLike[str], *, return_X_y: bool = False, download: bool = True) -> Any:
    """Load a public label distribution dataset, or your own file.

    A public dataset is searched for in the folder named by the environment variable ``INLDL_DATA``
    (or in its subfolder ``datasets``, so it may be a clone of the public repository), then in the
    user's cache. Otherwise it is downloaded into that cache. Its file is verified each time.

    Parameters
    ----------
    name : str or path
        A name listed by `catalogue`, or the name in the paper; case, ``_`` and ``-`` do not
        matter. Or the path of a ``.mat`` or ``.npz`` file with the features as "features" or "X",
        and the degrees as "label_distribution", "labels" or "y", with NaN for missing degrees.
    return_X_y : bool, default=False
        Return only `(X, y)`.
    download : bool, default=True
        Whether a file that is not on this machine may be downloaded.

    Returns
    -------
    Bunch or tuple
        With the attributes

        X : ndarray of shape (n, k)
            Features; float32 or float64, as in the file. A CSR matrix if they are sparse there.
        y : ndarray of shape (n, C)
            Degrees, float64. Complete rows are divided by their sum, which must be 1 up to
            rounding (0.02), but for public datasets with a note. If the file has ranges
            ("lower" and "upper" in the names of its variables) instead of degrees, NaN where
            they leave a choice.
        lower, upper : ndarray of shape (n, C)
            Only of a file with ranges: what the degrees lie between, for ``fit``.
        label_names : list of str or None
            Names of the labels, if known for certain.
        name, source, citation, note : str, str, and str or None
            Its name, where it comes from, what to cite, and what was done to its degrees.
        path : Path
            The file.

    Examples
    --------
    >>> from inldl.datasets import load
    >>> X, y = load("SJAFFE", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, y.shape  # doctest: +SKIP
    ((213, 243), (213, 6))
    """
    data = describe(name, download)
    parts = read(data.path, any_sum=data.pop("any_sum", False))
    if return_X_y:
        return parts["X"], parts["y"]
    return Bunch(**parts, **data)


def describe(name, download=True) -> Bunch:
    """Return what is known of a dataset, and the path of its file, which is verified."""
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be the name of a dataset or a path, got {name!r}.")
    if isinstance(name, str) and not name.lower().endswith((".mat", ".npz")):
        record = find(name)
        return Bunch(
            label_names=list(record.label_names) if record.label_names else None,
            name=record.name,
            source=record.source,
            citation=record.citation,
            note=record.note,
            any_sum=record.any_sum,
            path=obtain(record, download=download),
        )
    path = Path(name).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {str(path)!r}; to load a public dataset, give its name only, as "
            "in load('SJAFFE')."
        )
    named = {"name": path.stem, "source": str(path), "path": path}
    return Bunch(label_names=None, citation=None, note=None, **named)


@cache
def records() -> dict[str, Record]:
    """Return every dataset by its name."""
    text = (files("inldl_paper") / "public.toml").read_text(encoding="utf-8")
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
    known = {_folded(r.alias): r for r in records().values() if r.alias}
    known |= {_folded(r.name): r for r in records().values()}
    if _folded(name) in known:
        return known[_folded(name)]
    near = dict.fromkeys(known[key].name for key in get_close_matches(_folded(name), known))
    guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    raise ValueError(
        f"No dataset is called {name!r}{guess} inldl.datasets.catalogue() lists all names; for "
        "your own file, give a path that ends in .mat or .npz."
    )


def _folded(name):
    return name.lower().replace("_", "").replace("-", "")


def obtain(record: Record, *, download: bool = True) -> Path:
    """Return the path of a dataset's verified file; download it if necessary."""
    path = present(record)
    if path is None and download:
        return _download(record)
    if path is None:
        raise FileNotFoundError(f"{record.name} is not on this machine: {_by_hand(record)}")
    if wrong := _mismatch(path, *record.hashes[path.name]):
        raise ValueError(
            f"{path} is not the public file: {wrong}; remove it to download the public file, or "
            "load it as your own file by giving its path."
        )
    return path


def present(record: Record) -> Path | None:
    """Return the path of a dataset's file on this machine, or None; the file is not opened."""
    places = (folder / name for folder in _folders() for name in record.hashes)
    return next((path for path in places if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder of downloaded files, the usual cache folder of the platform."""
    from pooch import os_cache  # time that a file which is there need not pay

    folder = Path()
    with suppress(RuntimeError):  # of a user whom the system does not know
        folder = Path(os_cache("inldl"))
    return folder if folder.is_absolute() else Path(tempfile.gettempdir(), ".cache", "inldl")


def _folders():
    """Return the folders to search: INLDL_DATA (possibly a clone of the repository), the cache."""
    folders, named = [], os.environ.get("INLDL_DATA")
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise FileNotFoundError(
                f"The environment variable INLDL_DATA is {named!r}, which is not a folder: "
                "correct it, or unset it."
            )
        folders = [folder, folder / "datasets"]
    return [*folders, cache_folder()]


def _mismatch(path, kind, expected):
    """Say which hash a file has instead of the expected one, or return an empty text."""
    content = path.read_bytes()
    if kind == GIT:
        content = b"blob %d\0" % len(content) + content
        found = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    else:
        found = hashlib.sha256(content).hexdigest()
    return "" if found == expected else f"its {kind} is {found}, not {expected}"


def _download(record, largest=LARGEST_FILE):
    """Download to the cache; the file appears there complete and verified, or not at all."""
    folder = cache_folder()
    import pooch

    pooch.get_logger().setLevel("WARNING")
    transfer = partial(_transfer, record=record, limit=record.n_bytes or largest)
    try:
        path = pooch.retrieve(record.url, record.sha256, record.file, folder, downloader=transfer)
    except OSError as error:
        raise OSError(
            f"{record.name} could not be downloaded ({error}): {_by_hand(record)}"
        ) from None
    return Path(path)


def _transfer(url, path, _, record, limit):
    """Write what a server sends, but at most `limit` bytes; refuse another file."""
    import requests

    left = limit
    with requests.get(url, timeout=TIMEOUT, stream=True) as response, open(path, "wb") as file:
        response.raise_for_status()
        for block in response.iter_content(2**16):
            left -= len(block)
            if left < 0:
                raise ValueError(
                    f"{url} did not send the public file: the response is longer than {limit} "
                    "bytes. Nothing was kept; try again."
                )
            file.write(block)
            report(f"Downloading {record.file}", 1 - left / limit if record.n_bytes else None)
    if wrong := _mismatch(Path(path), *record.hashes[record.file]):
        raise ValueError(
            f"{url} sent a damaged or different file ({limit - left} bytes): {wrong}. Nothing was "
            "kept; try again."
        )


def _by_hand(record):
    return (
        f"download {record.url} and put it into {cache_folder()}, or into the folder named "
        "by the environment variable INLDL_DATA."
    )
