"""How degrees are written: bounds such as <5 or 1-9, and fractions, percentages or counts.

The numbers of bounds have the signs of the table, and percent signs where its degrees have them.
"""

import datetime
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from inldl.tables.numbers import MADE_DATE, looks_like_date, parse_number, written_bounds
from inldl.text import counted

WHOLE = {"fraction": 1.0, "percent": 100.0}  # what the degrees of a row sum to in the file
SCALE_NAMES = {"fraction": "fractions", "percent": "percentages", "count": "counts"}
SEVERAL_ROWS = 3  # that show a pattern
# Rows this close to a whole show its scale; whether they are exact is checked later. Whole numbers
# may be counts, of which some rows come near to 100 by chance.
_NEAR, _NEAR_WHOLE = 0.1, 0.02
_ALIKE = 0.01  # how far sums of complete rows may lie apart to be one number
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
    sign, *texts = written_bounds(cell) or ("",)
    signed = [text.endswith("%") for text in texts]
    # One percent sign is enough for both numbers of 5-10%.
    if not texts or signed[-1] != signs.percent or signed[0] > signed[-1]:
        return ""
    plain = replace(signs, na=())  # what means missing by itself does not inside of a bound
    numbers = (parse_number(text.removesuffix("%"), plain) for text in texts)
    found = [number for number in numbers if number is not None and np.isfinite(number)]
    if len(found) < len(texts):
        return ""
    if sign == "-":
        low, high = found
        problem = f"runs from {low:g} down to {high:g}; write the smaller number first."
        return problem if low > high else (low, high, False)
    [number] = found
    if sign == "<" and number == 0:
        return "leaves nothing, since no share is below 0; correct it."
    strict = sign in ("<", ">")
    return (np.nan, number, strict) if sign[0] == "<" else (number, np.nan, strict)


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


def whole_of(scale) -> float:
    """Return what shares in a table sum to; counts are shown as fractions."""
    return WHOLE.get(scale, 1.0)


def span(numbers) -> str:
    """Return "99 to 101", or "99" if all numbers look the same."""
    ends = f"{numbers.min():.6g}", f"{numbers.max():.6g}"
    return " to ".join(dict.fromkeys(ends))


class ScaleEvidence:
    """Gather what tells the scale of degrees, some rows at a time."""

    def __init__(self):
        self._rows, self._largest, self._whole = 0, -np.inf, True
        self._sums = np.empty(0)  # the smallest and the largest of complete rows
        self._near = {(scale, near): 0 for scale in WHOLE for near in (_NEAR, _NEAR_WHOLE)}

    def add(self, values) -> None:
        """Look at some rows."""
        known = values[~np.isnan(values)]
        self._largest = max(self._largest, known.max(initial=-np.inf))
        self._whole = self._whole and bool((known == np.rint(known)).all())
        sums = values.sum(axis=1)
        sums = sums[np.isfinite(sums)]
        self._rows += len(sums)
        if len(sums):
            ends = [*self._sums, sums.min(), sums.max()]
            self._sums = np.array([min(ends), max(ends)])
        for scale, near in self._near:
            self._near[scale, near] += int((np.abs(sums / WHOLE[scale] - 1) <= near).sum())

    def scale(self) -> tuple[str, str]:
        """Return the scale, and a sentence that says why."""
        scale, reason = self._complete() if self._rows else self._incomplete()
        return scale, f"The shares are read as {SCALE_NAMES[scale]}: {reason}."

    def why_counts(self) -> str:
        """Return the start of a sentence that says why the shares were read as counts."""
        reason = f"No row is complete and the largest share is {self._largest:g}"
        if self._rows:
            reason = f"Complete rows sum to {span(self._sums)}, not to 1 or 100"
        return f"{reason}, so the shares were read as counts"

    @property
    def alike(self) -> float | None:
        """Return what all complete rows sum to, but for rounding; None if sums vary."""
        if self._rows < SEVERAL_ROWS or np.ptp(self._sums) > _ALIKE * self._sums.max():
            return None
        mean = float(self._sums.mean())
        return mean if np.ptp(self._sums) == 0 else float(f"{mean:.3g}")

    def _complete(self):
        near = _NEAR_WHOLE if self._whole else _NEAR
        for scale, whole in WHOLE.items():
            if 2 * self._near[scale, near] >= self._rows:
                half = 2 * self._near[scale, near] == self._rows
                which = "half of the" if half else "most"
                return scale, f"{which} complete rows sum to about {whole:g}"
        if self._largest <= 1:
            return "fraction", "none is above 1"
        return "count", "most complete rows sum neither to about 1 nor to about 100"

    def _incomplete(self):
        reason = f"no row is complete and the largest share is {self._largest:g}"
        if self._largest == -np.inf:
            reason = "none is observed"
        fitting = [scale for scale, whole in WHOLE.items() if self._largest <= whole]
        return (fitting or ["count"])[0], reason
