"""What a class says about itself for model files.

A class that a file may hold has a class attribute ``_in_file``, a `FileState`. What its bases say
holds for it too. A file holds the estimators that ``inldl`` exports and, inside of them, the parts
that they name; no other class is ever imported for a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_


@dataclass(frozen=True)
class Array:
    """What an array in a file can be; if nothing is said, it is a vector of finite numbers."""

    ndim: int = 1  # at most: what a prediction makes of it must not outgrow the memory
    finite: bool = True  # whether NaN and infinity, which would end up in predictions, are refused
    rows: bool = True  # whether its rows are kept; those of training rows are not


@dataclass(frozen=True)
class FileState:
    """What a file may and must hold of a class.

    `arrays` are attributes that are not plain vectors. `parts` are classes of its attributes, in a
    list that may grow later, or the paths ``package.module:Class`` of those that are imported only
    if a file has them. Without the attributes `needed` it is of no use. Files leave out what is
    `omitted`, which can be computed from the rest.
    """

    arrays: Mapping[str, Array] = field(default_factory=dict)
    parts: Sequence[type | str] = ()
    needed: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()

    def __or__(self, other: FileState) -> FileState:
        arrays, needed = {**self.arrays, **other.arrays}, self.needed + other.needed
        omitted = self.omitted + other.omitted
        return FileState(arrays, (*self.parts, *other.parts), needed, omitted)


def file_state(kind: type) -> FileState | None:
    """Return what a class and its bases say, or None if they say nothing."""
    found = [vars(base)["_in_file"] for base in kind.__mro__ if "_in_file" in vars(base)]
    return reduce(or_, found) if found else None
