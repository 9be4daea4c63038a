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
    """What an array in a file can be; without a word about it, it is a vector of finite numbers.

    Parameters
    ----------
    ndim : int, default=1
        Its dimensions at most. What a prediction makes of it must not outgrow the memory.
    finite : bool, default=True
        Whether NaN and infinity are refused, as they would end up in predictions.
    rows : bool, default=True
        Whether its rows are kept. Those of training rows are not.
    """

    ndim: int = 1
    finite: bool = True
    rows: bool = True


@dataclass(frozen=True)
class FileState:
    """What a file may and must hold of a class.

    Parameters
    ----------
    arrays : mapping of str to Array
        Attributes that are not plain vectors.
    parts : sequence of classes and str
        Classes of its attributes; a list may grow later. A str is the path
        ``package.module:Class`` of one that is imported only if a file has it.
    needed : tuple of str
        Attributes without which it is of no use.
    """

    arrays: Mapping[str, Array] = field(default_factory=dict)
    parts: Sequence[type | str] = ()
    needed: tuple[str, ...] = ()

    def __or__(self, other: FileState) -> FileState:
        return FileState(
            {**self.arrays, **other.arrays},
            (*self.parts, *other.parts),
            self.needed + other.needed,
        )


def file_state(kind: type) -> FileState | None:
    """Return what a class and its bases say, or None if they say nothing."""
    found = [vars(base)["_in_file"] for base in kind.__mro__ if "_in_file" in vars(base)]
    return reduce(or_, found) if found else None
