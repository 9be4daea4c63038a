"""Cells that say between which numbers a degree lies, such as <5 or 1-9.

Their numbers have the signs of the table, and percent signs where its degrees have them.
"""

import datetime
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from inldl.tables.numbers import MADE_DATE, looks_like_date, parse_number, written_bounds
from inldl.text import counted

_SIGNS = "write all degrees with the sign, or all without it."
_ADVICE = (
    "correct it, say with --na that it means missing (na=[...] in Python), or leave the cell "
    "empty if the degree is unknown."
)


@dataclass(frozen=True, eq=False)
class Bounds:
    """What bounded cells of some rows say, in the units of the file."""

    # (3, size, C): lower bounds, upper bounds, and 1 where the number itself is excluded, as in
    # <5; an open end is NaN, and so is all of a cell without bounds.
    limits: np.ndarray
    # The text of one of these cells, and the same of it
    example: tuple[str, float, float, bool] | None = None

    @classmethod
    def none(cls, shape, example=None) -> "Bounds":
        """Return bounds of which none is known yet."""
        return cls(np.full((3, *shape), np.nan), example)

    @classmethod
    def joined(cls, parts) -> "Bounds | None":
        """Return the bounds of several pieces, given their shapes and bounds; None if all are."""
        known = [bounds for _, bounds in parts if bounds is not None]
        if not known:
            return None
        limits = [(bounds or cls.none(shape)).limits for shape, bounds in parts]
        return cls(np.concatenate(limits, axis=1), known[0].example)

    def at(self, *index) -> "Bounds | None":
        """Return some of the rows or columns; None if none of their cells is bounded."""
        found = Bounds(self.limits[(slice(None), *index)], self.example)
        return found if found.given().any() else None

    def given(self) -> np.ndarray:
        """Return where a cell is bounded."""
        return ~np.isnan(self.limits[2])

    def closed(self, whole) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper bounds that a degree may equal; whole numbers where these count.

        Among whole numbers, <5 is at most 4; among others, at most 5.
        """
        lower, upper, strict = self.limits
        return _whole(lower, upper, strict) if whole else (lower, upper)

    def note(self, most, whole) -> str:
        """Return a sentence on these cells; `most` is what a degree can be, NaN if it varies."""
        assert self.example is not None
        text, low, high, strict = self.example
        if whole:
            low, high = _whole(low, high, strict)
        low, high = np.nan_to_num(low), most if np.isnan(high) else high
        between = f"at least {low:g}" if np.isnan(high) else f"between {low:g} and {high:g}"
        number = int(self.given().sum())
        cells = f"{counted(number, 'cell')} such as {text!r} are read as bounds"
        if number == 1:
            cells = f"1 cell, {text!r}, is read as bounds"
        return f"{cells}: {between}."


def _whole(lower, upper, strict):
    """Return the smallest and the largest whole number between bounds."""
    up = np.where(strict, np.floor(lower) + 1, np.ceil(lower))
    return up, np.where(strict, np.ceil(upper) - 1, np.floor(upper))


@lru_cache(maxsize=4096)
def read_bounds(cell, signs) -> tuple[float, float, bool] | str:
    """Return the lower and the upper bound in a cell, NaN if open, and whether it is strict.

    If a cell holds no bounds, the problem is returned as a text that follows the cell, or "" if it
    is not even like one.
    """
    if looks_like_date(cell):
        return f"looks like {MADE_DATE}"
    written = written_bounds(cell)
    # One percent sign is enough for both numbers of 5-10%.
    signed = written is not None and written.percent[-1]
    if written is None or signed != signs.percent or written.percent[0] > signed:
        return ""
    found = [_number(text, signs) for text in written.numbers]
    if None in found:
        return ""
    if written.sign == "-":
        low, high = found
        problem = f"runs from {low:g} down to {high:g}; write the smaller number first."
        return problem if low > high else (low, high, False)
    [number] = found
    if written.sign == "<" and number == 0:
        return "leaves nothing, since no share is below 0; correct it."
    strict = written.sign in ("<", ">")
    return (np.nan, number, strict) if written.sign[0] == "<" else (number, np.nan, strict)


def what_is_wrong(cell, signs) -> str:
    """Return what to say of a cell among degrees that holds neither a number nor bounds."""
    if isinstance(cell, datetime.date):
        return f"is not a number; it is {MADE_DATE}"
    text, plain = str(cell), replace(signs, percent=False)
    known = parse_number(text, plain) is not None or read_bounds(text, plain)
    if signs.percent and known:
        return f"has no percent sign, but other degrees have one; {_SIGNS}"
    if not signs.percent and text.rstrip().endswith("%"):
        return f"has a percent sign, but other degrees have none; {_SIGNS}"
    return f"is not a number with the decimal sign {signs.decimal!r}; {_ADVICE}"


def _number(text, signs):
    """Return a number as the cells of the table have it, or None."""
    plain = replace(signs, na=())  # what means missing by itself does not inside of a bound
    number = parse_number(text, plain)
    return None if number is None or not np.isfinite(number) else number
