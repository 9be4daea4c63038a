"""A table and its pieces: features and degrees, how these are written, and what they sum to."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.rows.partial import PartialRows
from inldl.tables.numbers import parse_number, written_bounds
from inldl.text import counted

WHOLE = {"fraction": 1.0, "percent": 100.0}  # what the degrees of a row sum to in the file
SCALE_NAMES = {"fraction": "fractions", "percent": "percentages", "count": "counts"}
SEVERAL_ROWS = 3  # that show a pattern
_MONTH = "(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
_DAY = re.compile(
    rf"\s*(?:[0-9]{{1,2}}[-. ]+{_MONTH}|{_MONTH}[-. ]+[0-9]{{1,2}})\s*", re.IGNORECASE
)
_MADE_DATE = (
    "a date, which spreadsheets make of cells such as 1-9; format the column as text, and write "
    "the cell again."
)
_SIGNS = "write all shares with the sign, or all without it."
_ADVICE = (
    "correct it, say with --na that it means missing or with --mark what it stands for (na=[...] "
    "and mark={...} in Python), or leave the cell empty if the share is unknown."
)


@dataclass(frozen=True)
class Format:
    """How a table is written down in its file.

    `bom` is the mark that a Unicode file starts with, `thousands` are the signs that separate
    thousands, if any, `percent` says whether the degrees have percent signs, and `na` are words
    and numbers that a user calls missing.
    """

    kind: str
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    newline: str | None = None
    bom: bytes = b""
    percent: bool = False
    thousands: str = ""
    na: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Bounds:
    """What bounded cells of some rows say, in the units of the file."""

    # (3, size, C): lower and upper bounds, and 1 where the number itself is excluded, as in <5, or
    # -1 where a known one gives way to rounded zeros; an open end and all without bounds are NaN.
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
        if not whole:
            return lower, upper
        up = np.where(strict, np.floor(lower) + 1, np.ceil(lower))
        return up, np.where(strict, np.ceil(upper) - 1, np.floor(upper))

    def note(self, most, whole) -> str:
        """Return a sentence on these cells; `most` is what a degree can be, NaN if it varies."""
        assert self.example is not None
        text, *limits = self.example
        low, high = Bounds(np.array(limits, float)).closed(whole)
        low, high = np.nan_to_num(low), most if np.isnan(high) else high
        between = f"at least {low:g}" if np.isnan(high) else f"between {low:g} and {high:g}"
        number = int((self.limits[2] >= 0).sum())
        cells = f"{counted(number, 'cell')} such as {text!r} are read as bounds"
        if number == 1:
            cells = f"1 cell, {text!r}, is read as bounds"
        return f"{cells}: {between}."


@lru_cache(maxsize=4096)
def read_bounds(cell, signs) -> tuple[float, float, bool] | str:
    """Return the lower and the upper bound in a cell, NaN if open, and whether it is strict.

    If a cell holds no bounds, the problem is returned as a text that follows the cell, or "" if it
    is not even like one.
    """
    if len(cell) < 64 and _DAY.fullmatch(cell):
        return f"looks like {_MADE_DATE}"
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
        return f"is not a number; it is {_MADE_DATE}"
    text, plain = str(cell), replace(signs, percent=False)
    known = parse_number(text, plain) is not None or read_bounds(text, plain)
    if signs.percent and known:
        return f"has no percent sign, but other shares have one; {_SIGNS}"
    if not signs.percent and text.rstrip().endswith("%"):
        return f"has a percent sign, but other shares have none; {_SIGNS}"
    return f"is not a number with the decimal sign {signs.decimal!r}; {_ADVICE}"


@dataclass(frozen=True, eq=False)
class Piece:
    """Hold some rows of a file.

    Attributes
    ----------
    first : int
        Number of the first row.
    size : int
        Number of rows.
    values : ndarray of shape (size, C)
        The numbers of the label columns as they stand in the file, NaN where empty.
    features : DataFrame
        The feature columns that were asked for.
    raw : object
        The rows as they stand in the file.
    bounds : Bounds or None
        What cells such as <5 say about label columns; None if there are none.
    totals : ndarray of shape (size,) or None
        The total of each row, if a column holds it; NaN where that is empty.
    sums : dict of tuple to ndarray of shape (size,)
        Sums of labels, by their names, that columns hold; NaN where these are empty.
    """

    first: int
    size: int
    values: np.ndarray
    features: pd.DataFrame
    raw: Any
    bounds: Bounds | None = None
    totals: np.ndarray | None = None
    sums: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict)

    @property
    def rows(self) -> slice:
        """The place of the rows in the table."""
        return slice(self.first, self.first + self.size)

    @property
    def constrained(self) -> bool:
        """Whether bounds or sums of labels say something about missing degrees."""
        return self.bounds is not None or bool(self.sums)

    def take(self, rows: np.ndarray) -> "Piece":
        """Return some of the rows."""
        return Piece(
            self.first,
            len(rows),
            self.values[rows],
            self.features.iloc[rows],
            None,
            None if self.bounds is None else self.bounds.at(rows),
            None if self.totals is None else self.totals[rows],
            {members: sums[rows] for members, sums in self.sums.items()},
        )

    @classmethod
    def joined(cls, parts: "Sequence[Piece]") -> "Piece":
        """Return the rows of several pieces as one."""
        features = [part.features for part in parts]
        values = np.concatenate([part.values for part in parts])
        totals = [part.totals for part in parts if part.totals is not None]
        return cls(
            0,
            len(values),
            values,
            pd.concat(features, ignore_index=True),
            None,
            Bounds.joined([(part.values.shape, part.bounds) for part in parts]),
            np.concatenate(totals) if totals else None,
            {
                members: np.concatenate([part.sums[members] for part in parts])
                for members in parts[0].sums
            },
        )

    def grouped_values(self, labels: Sequence[str]) -> np.ndarray:
        """Return the values with known sums in place of labels of which one is missing.

        The first label of a group gets the sum, the others 0.
        """
        values = self.values.copy() if self.sums else self.values
        for members, sums in self.sums.items():
            columns = [labels.index(name) for name in members]
            rows = np.isnan(values[:, columns]).any(axis=1) & ~np.isnan(sums)
            values[np.ix_(rows, columns)] = 0
            values[rows, columns[0]] = sums[rows]
        return values

    def votes(self, labels: Sequence[str]) -> np.ndarray:
        """Return the totals of rows of counts: those that are given, else the sums."""
        sums = np.nansum(self.grouped_values(labels), axis=1)
        return sums if self.totals is None else np.where(np.isnan(self.totals), sums, self.totals)

    def limits(self, labels: Sequence[str], whole_numbers: bool) -> PartialRows:
        """Return bounds and sums of labels in the units of the file.

        Bounds are 0 and infinite where there are none, and the value itself where there is one.
        Among `whole_numbers`, <5 is at most 4; among others, at most 5.
        """
        bounds = self.bounds or Bounds.none(self.values.shape)
        lower, upper = bounds.closed(whole_numbers)
        holes = np.isnan(self.values)
        lower = np.where(holes, np.fmax(lower, 0), self.values)
        upper = np.where(holes, np.fmin(upper, np.inf), self.values)
        groups = tuple(np.array([labels.index(name) for name in members]) for members in self.sums)
        sums = np.column_stack(list(self.sums.values())) if groups else None
        return PartialRows(self.values, lower, upper, groups, sums, names=tuple(labels))


def join_pieces(read, text=frozenset()) -> Piece | None:
    """Return all rows as one piece, or None. `read(text)` yields them, with some columns as text.

    A column with text in some pieces and numbers in others is text, such as one with 007 and A5.
    """
    parts = [replace(piece, raw=None) for piece in read(text)]
    kinds = [{n: is_numeric_dtype(kind) for n, kind in p.features.dtypes.items()} for p in parts]
    mixed = {name for kind in kinds for name in kind if kind[name] != kinds[0][name]}
    if not mixed <= text:
        return join_pieces(read, text | mixed)
    return Piece.joined(parts) if parts else None


@dataclass(frozen=True, eq=False)
class Table:
    """Hold the degrees and the features of a table, and the file that they came from.

    Attributes
    ----------
    labels : list of str
        Names of the label columns.
    known : PartialRows
        What is known of the degrees, as fractions: degrees, bounds of missing ones that cells such
        as <5 and 1-9 give, and sums of labels. ``known.arguments()`` is what a `fit` takes.
    features : DataFrame of shape (n, k)
        The other columns: numbers as float64 with NaN for holes, all else as text.
    scale : {"fraction", "percent", "count"}
        How the degrees stand in the file.
    notes : list of str
        Sentences that tell what was detected about the file.
    file : TableFile
        The file.
    rows : ndarray of int or None
        Which rows of the file these are, if they are not all.
    sums : ndarray of shape (n,) or None
        What rows were divided by, if some sums are not those of rounded numbers.
    votes : ndarray of shape (n,) or None
        The sums of rows of counts.
    totals : ndarray of shape (n,) or None
        The total of each row, if a column holds it; NaN where that is empty.
    ids : DataFrame
        The columns that name the rows (`id`), which nothing is learned from.
    sampled : bool
        Whether the rows are a sample.
    doubts : tuple of str
        Sentences for which numbers are refused if they are checked.
    """

    labels: list[str]
    known: PartialRows
    features: pd.DataFrame
    scale: str
    notes: list[str]
    file: Any
    rows: np.ndarray | None = None
    sums: np.ndarray | None = None
    votes: np.ndarray | None = None
    totals: np.ndarray | None = None
    ids: pd.DataFrame = field(default_factory=pd.DataFrame)
    sampled: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def y(self) -> np.ndarray:
        """Degrees as fractions, NaN where the cell is empty or holds bounds."""
        return self.known.y

    @property
    def degrees(self) -> pd.DataFrame:
        """The same as a frame with the names of the labels."""
        return pd.DataFrame(self.y, columns=self.labels, copy=False)


def whole_of(scale) -> float:
    """Return what shares in a table sum to; counts are shown as fractions."""
    return WHOLE.get(scale, 1.0)


def span(numbers) -> str:
    """Return "99 to 101", or "99" if all numbers look the same."""
    return " to ".join(dict.fromkeys(f"{end:.6g}" for end in (numbers.min(), numbers.max())))
