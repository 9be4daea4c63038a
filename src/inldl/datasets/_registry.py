"""The public label distribution datasets, and the hashes that identify their files."""

import tomllib
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
