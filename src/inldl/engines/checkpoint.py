"""A file from which a fit goes on after its process has died."""

import io
import json
import os
import tempfile
import time
import uuid
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from inldl._version import __version__
from inldl.engines.base import Engine, Message, Problem, Start, Steps, Sums, start_block
from inldl.errors import warn_user

SHARE = 0.1  # of the time of a fit that may go into writing
VERSIONS = {"format": 2, "inldl": __version__}
OTHER_DATA = "was written for other data, or for the same rows in other chunks"
OTHER_SUMS = "holds sums that these rows do not have on this machine"


class Checkpoint(Engine):
    """An engine that notes the sums of every sweep of another engine in a file.

    A fit is decided by its sums: while noted ones are left, `sweep` returns those, and the loop
    arrives where it was without any work on the rows. The rows then catch up in one pass, which
    must end with the last sums that were noted, and the fit goes on, to the same result to the
    bit. The file is deleted when the fit has ended.

    Whoever opened the other engine closes it. `about` is anything that JSON can say about the
    fit; a file of another fit is refused.
    """

    def __init__(self, engine: Engine, path: str | os.PathLike[str], about: dict[str, Any]):
        self._engine = engine
        self._file = _File(Path(path), json.dumps(about, sort_keys=True, default=_describe))

    def __enter__(self) -> Self:
        self._data, self._noted = self._file.read()
        self._at, self._due = 0, 0.0
        self._missed: list[tuple[str, Message]] = []
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._catch_up()
            self._file.delete()

    def load(self, problem: Problem, rows: Any, start: Start = start_block) -> Sums:
        """Load the blocks; refuse a file that was written for other rows."""
        sums = self._engine.load(problem, rows, partial(_start_with_digest, start))
        blocks, *added = sums.added
        data, sums = sha256(blocks.encode()).hexdigest(), Sums(tuple(added), sums.largest)
        if self._noted and data != self._data:
            raise ValueError(self._file.refusal(OTHER_DATA))
        if self._noted and not _same(sums, self._noted[0]):
            raise ValueError(self._file.refusal(OTHER_SUMS))
        self._data, self._noted[:1] = data, [sums]
        self._at = 1
        return sums

    def replay(self, steps: Steps) -> Sums:
        """Take the steps one by one, since each has sums to note; return the last ones."""
        return [self.sweep(step, *message) for step, message in steps][-1]

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        """Return the sums that were noted, or sweep and note them."""
        self._at += 1
        if self._at <= len(self._noted):
            self._missed.append((step, message))
            return self._noted[self._at - 1]
        self._catch_up()
        self._noted.append(self._engine.sweep(step, *message))
        begun = time.monotonic()
        if begun >= self._due:
            self._file.write(self._data, self._noted)
            self._due = time.monotonic() + (time.monotonic() - begun) / SHARE
        return self._noted[-1]

    def _catch_up(self) -> None:
        """Take the rows through all that was noted; they must arrive at the sums noted last."""
        if self._missed and not _same(self._engine.replay(self._missed), self._noted[-1]):
            raise ValueError(self._file.refusal(OTHER_SUMS))
        self._missed = []


class _File:
    """The file of one fit: written whole or not at all, read only if it is all right.

    Two fits may be given the same path. Their sums never mix, since each write replaces the whole
    file. The file also names the fit that wrote it: another fit leaves it alone and goes on
    without a checkpoint. A lock could do no more, would not hold on every network drive, or
    would be left behind by a process that is killed.
    """

    def __init__(self, path: Path, about: str):
        if not path.parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is in a folder that does not exist.")
        self._path, self._about, self._fit = path, about, uuid.uuid4().hex
        self._warned = False

    def read(self) -> tuple[str, list[Sums]]:
        """Return the digest of the data and all sums; refuse what was not written by this fit."""
        if not os.path.lexists(self._path):
            return "", []
        try:
            with self._path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = dict(file)
            header = dict(json.loads(str(arrays.pop("about"))))
        except Exception as error:
            reason = getattr(error, "strerror", None) or "it is something else, or damaged"
            raise ValueError(
                f"{str(self._path)!r} cannot be read as a checkpoint: {reason}; give another path."
            ) from error
        self._check(header, arrays)
        self._fit = header["fit"]  # which goes on
        found: dict[int, dict[str, list[Any]]] = {}
        for name, array in arrays.items():  # in the order they were written
            i, kind, _ = name.split()
            found.setdefault(int(i), {"added": [], "largest": []})[kind].append(array[()])
        sums = [Sums(tuple(each["added"]), tuple(each["largest"])) for each in found.values()]
        return header["data"], sums

    def _check(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        reason = None
        if any(header.get(name) != version for name, version in VERSIONS.items()):
            other = header.get("inldl", "of an early version")
            reason = f"was written by inldl {other}, and inldl {__version__} cannot go on from it"
        elif header.pop("checksum", None) != _checksum(header, arrays) or not _finite(arrays):
            reason = "is damaged"
        elif header["about"] != self._about:
            reason = "was written for another method, other parameters or another shape"
        if reason:
            raise ValueError(self.refusal(reason))

    def write(self, data: str, noted: list[Sums]) -> None:
        """Write the file; where that fails, warn and let the fit go on."""
        arrays: dict[str, Any] = {}
        for i, sums in enumerate(noted):
            arrays |= {f"{i} added {j}": np.asarray(a) for j, a in enumerate(sums.added)}
            arrays |= {f"{i} largest {j}": np.asarray(a) for j, a in enumerate(sums.largest)}
        header = {**VERSIONS, "fit": self._fit, "about": self._about, "data": data}
        header["checksum"] = _checksum(header, arrays)
        try:
            if self._is_own():
                self._replace({"about": np.array(json.dumps(header)), **arrays})
            else:
                self._warn("is also written by another fit; give each fit a path of its own.")
        except OSError as error:
            self._warn(f"cannot be written: {error.strerror or error}; it will be tried again.")

    def _replace(self, arrays: dict[str, Any]) -> None:
        """Write a new file beside the old one and put it in its place."""
        content = io.BytesIO()
        np.savez(content, **arrays)
        opened, beside = tempfile.mkstemp(".part", f".{self._path.name}.", self._path.parent)
        try:
            with open(opened, "wb") as file:
                file.write(content.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self._path)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise

    def delete(self) -> None:
        """Delete the file, unless it is that of another fit."""
        try:
            if self._is_own():
                self._path.unlink(missing_ok=True)
        except OSError as error:
            self._warn(f"cannot be deleted: {error.strerror or error}; delete it yourself.")

    def _is_own(self) -> bool:
        """Say whether the file is that of this fit, or there is none."""
        try:
            with self._path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                return json.loads(str(file["about"]))["fit"] == self._fit
        except FileNotFoundError:
            return True
        except OSError:
            raise
        except Exception:
            return False

    def refusal(self, reason: str) -> str:
        """Return why the file is not used, and what to do."""
        return (
            f"The checkpoint {str(self._path)!r} {reason}; delete it to fit from the start, or "
            "give another path."
        )

    def _warn(self, problem: str) -> None:
        if not self._warned:
            warn_user(f"The fit itself is fine, but its checkpoint {str(self._path)!r} {problem}")
        self._warned = True


def _start_with_digest(
    start: Start, problem: Problem, X: Any, y: np.ndarray, **beside: np.ndarray
) -> tuple[Any, Sums]:
    """Start a block, and add to its sums what tells its rows from others.

    Digests are strings, and adding them up in order joins them in the order of the rows.
    """
    features = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    others = [part for name, a in sorted(beside.items()) for part in (np.array(name), a)]
    found = digest(*features, y, *others)
    block, sums = start(problem, X, y, **beside)
    return block, Sums((found, *sums.added), sums.largest)


def digest(*arrays: np.ndarray) -> str:
    """Return some letters that tell arrays from others."""
    found = sha256()  # most processors have instructions for it
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()[:32]


def _checksum(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    return digest(np.array(json.dumps([header, list(arrays)])), *arrays.values())


def _finite(arrays: dict[str, Any]) -> bool:
    return all(np.isfinite(array).all() for array in arrays.values())


def _same(one: Sums, other: Sums) -> bool:
    ours, theirs = one.added + one.largest, other.added + other.largest
    return len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))


def _describe(value: Any) -> Any:
    """Return words for a parameter that is neither a number nor a string."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    kind = type(value)
    return [f"{kind.__module__}.{kind.__qualname__}", getattr(value, "__dict__", repr(value))]
