"""What blocks of rows return to be added up: the only thing that travels from rows to the loop."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sums:
    """Arrays or numbers that are added, and numbers of which the largest counts."""

    added: tuple[Any, ...]
    largest: tuple[float, ...] = ()

    def __add__(self, other: "Sums") -> "Sums":
        with np.errstate(invalid="ignore", over="ignore"):  # whoever uses sums looks at them
            added = tuple(a + b for a, b in zip(self.added, other.added, strict=True))
        return Sums(added, tuple(map(max, self.largest, other.largest)))


def total(sums: Iterable[Sums]) -> Sums:
    """Add up in order, from the first to the last."""
    found = None
    for each in sums:
        found = each if found is None else found + each
    if found is None:
        raise ValueError("There are no rows to add up.")
    return found
