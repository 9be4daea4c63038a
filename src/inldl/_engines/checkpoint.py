"""A file from which a fit goes on after its process has died."""

import json
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np

from inldl._engines.sums import Sums

SHARE = 0.1  # of the time of a fit that may go into writing


class Checkpoint:
    """An engine that notes the sums of every sweep of another engine in a file.

    A fit is decided by its sums: while noted ones are left, `sweep` returns those, and the loop
    arrives where it was without any work on the rows. The rows then catch up in one pass, and the
    fit goes on, to the same result to the bit. The file goes when the fit has ended.

    Parameters
    ----------
    engine : engine
        Where the rows are.
    path : str or path
        The file.
    about : dict
        Anything that JSON can say about the fit; a file with other words is refused.
    """

    def __init__(self, engine: Any, path: str | os.PathLike[str], about: dict[str, Any]):
        self._engine, self._path = engine, Path(path)
        self._about = json.dumps(about, sort_keys=True, default=_describe)
        if not self._path.parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is in a folder that does not exist.")

    def __enter__(self) -> Self:
        self._noted = self._read() if self._path.exists() else []
        self._at, self._due = 0, 0.0
        self._missed: list[tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = []
        return self

    def __exit__(self, kind: type | None, *error: object) -> None:
        if kind is None:
            self._path.unlink(missing_ok=True)

    def load(self, start: Callable[..., Any], sources: Any) -> Sums:
        """Load the blocks; refuse a file that was written for other rows."""
        sums = self._engine.load(start, sources)
        if self._noted and not _same(sums, self._noted[0]):
            raise ValueError(self._refusal("other data, or for the same rows in other chunks"))
        self._noted[:1] = [sums]
        self._at = 1
        return sums

    def sweep(self, step: Callable[..., Any], *message: np.ndarray) -> Sums:
        """Return the sums that were noted, or sweep and note them."""
        self._at += 1
        if self._at <= len(self._noted):
            self._missed.append((step, message))
            return self._noted[self._at - 1]
        if self._missed:
            self._engine.replay(self._missed)
            self._missed = []
        self._noted.append(self._engine.sweep(step, *message))
        if time.monotonic() >= self._due:
            self._write()
        return self._noted[-1]

    def _write(self) -> None:
        begun = time.monotonic()
        arrays: dict[str, Any] = {"about": np.array(self._about)}
        for i, sums in enumerate(self._noted):
            arrays |= {f"{i} added {j}": np.asarray(a) for j, a in enumerate(sums.added)}
            arrays |= {f"{i} largest {j}": np.asarray(a) for j, a in enumerate(sums.largest)}
        beside = self._path.with_name(self._path.name + ".part")
        with beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
        now = time.monotonic()
        self._due = now + (now - begun) / SHARE

    def _read(self) -> list[Sums]:
        try:
            with np.load(self._path, allow_pickle=False) as file:
                arrays = dict(file)
            about = str(arrays.pop("about"))
        except Exception as error:
            raise ValueError(self._refusal("something else")) from error
        if about != self._about:
            raise ValueError(self._refusal("another method, other parameters or another shape"))
        found: dict[int, dict[str, list[Any]]] = {}
        for name, array in arrays.items():  # in the order they were written
            i, kind, _ = name.split()
            found.setdefault(int(i), {"added": [], "largest": []})[kind].append(array[()])
        return [Sums(tuple(each["added"]), tuple(each["largest"])) for each in found.values()]

    def _refusal(self, reason: str) -> str:
        return (
            f"The checkpoint {str(self._path)!r} was written for {reason}; delete it to fit from "
            "the start, or give another path."
        )


def digest(array: np.ndarray) -> str:
    """Return a few letters that tell one array from another."""
    return sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def _same(one: Sums, other: Sums) -> bool:
    pairs = zip(one.added + one.largest, other.added + other.largest, strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def _describe(value: Any) -> Any:
    """Return words for a parameter that is neither a number nor a string."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    kind = type(value)
    return [f"{kind.__module__}.{kind.__qualname__}", getattr(value, "__dict__", repr(value))]
