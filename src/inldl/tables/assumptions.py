"""What a user assumes about cells: what a 0 is, and how missing shares differ from known ones."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inldl.rows.missingness import rounded_zeros, shift_filled, smallest_positive
from inldl.tables.selection import named_by
from inldl.tables.table import WHOLE, Bounds, Piece, span
from inldl.text import counted, listed

_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_ZEROS = re.compile(
    rf"(?:(true|never)|rounded(?:\s*<\s*(?=[0-9.]*[1-9]){_NUMBER})?)\s*(?::(.*))?", re.DOTALL
)
_CHANGE = re.compile(rf"([+-]?){_NUMBER}%|[*]{_NUMBER}")
WITHOUT_TOTALS = (
    "Rows in which a count is missing: {:,}. Their totals are not known, so missing counts are "
    "filled in from the known ones of their row and what other rows say of their ratios."
)
NOTHING_KNOWN = (
    "{place}: no count ({columns}) is known, so nothing says how large they are; fill one in, or "
    "remove the row."
)
BOUNDS_OF_COUNTS = (
    "{place}: a count has bounds, such as <5, which need the totals of rows; name their column "
    'in place of --total none (--total COLUMN), or take such cells as missing: --na "<5".'
)
_RATIOS = (
    "Or say --total none (total='none') to fill it in from the ratios of the known counts. If the "
    "numbers are shares of a whole, say so with --scale fraction or percent (scale= in Python)"
)
FORGOTTEN = "is a label missing from --labels? Else "
SEVERAL_ZEROS = 5  # of a label, that can look rounded; as many shares must lie just above them
FROM_VOTES = 0.9  # of the shares of a label: if these are multiples of the smallest, so is a 0
ROUNDED, REST_DECIMALS = 1.05, 9  # what rounded sums can be; of what they leave
AS_FILLED = "as filled in"
_GIVES_WAY = (
    "In {} with such zeros the other shares sum to the whole; the largest of them gives way, so "
    "that the row keeps its sum."
)


@dataclass(frozen=True, eq=False)
class Zeros:
    """What zeros are, as the option `zeros` says."""

    limits: np.ndarray | None = None  # (C,) what rounded ones are below, in units of the file

    @classmethod
    def of(cls, text, labels, pieces) -> "Zeros":
        """Return what a text says of the zeros of labels; `pieces()` are all rows of the file."""
        found = _ZEROS.fullmatch(str(text).strip())
        if found is None:
            raise ValueError(
                f"Zeros (--zeros) are true, never or rounded, not {text!r}; rounded ones may have "
                'a limit above 0 and labels, such as "rounded<0.5:wine,beer".'
            )
        kind, limit, names = found.groups()
        chosen = labels if names is None else named_by(labels, names, "label (--zeros)")
        if kind:
            return cls()
        limits = np.full(len(labels), float(limit or np.nan))
        for piece in () if limit else pieces():
            limits = np.fmin(limits, smallest_positive(piece.values))
        return cls(np.where(np.isin(labels, chosen), limits, np.nan))

    def open(self, piece) -> Piece:
        """Return a piece in which rounded zeros are holes with bounds."""
        if self.limits is None:
            return piece
        whole = piece.totals
        if whole is None:  # rows of shares with zeros sum to about 1 or 100
            whole = np.where(piece.values.sum(axis=1) < 10, *WHOLE.values())
        values, lower, upper = rounded_zeros(piece.values, self.limits, whole)
        bounds, new, largest = piece.bounds, ~np.isnan(upper), ~np.isnan(lower)
        if not new.any():
            return piece
        example = "0", np.nan, float(upper[~largest & new].max()), True
        bounds = bounds or Bounds.none(values.shape, example)
        limits = np.where(new, [lower, upper, np.where(largest, -1, 1)], bounds.limits)
        return replace(piece, values=values, bounds=Bounds(limits, bounds.example))


def giving_way(piece) -> np.ndarray:
    """Return which cells have a number in the file, but give way to rounded zeros."""
    return (piece.bounds or Bounds.none(piece.values.shape)).limits[2] < 0


@dataclass(frozen=True)
class Rest:
    """A label that no column holds: what the others of a row leave to its whole."""

    name: str
    whole: float | None  # of all rows; None if each has a total

    @classmethod
    def of(cls, name, file) -> "Rest":
        """Return the label of a file in which it is not yet one."""
        if name in file.source.names:
            raise ValueError(f"There is a column {name!r} already; give --other another name.")
        if file.things or file.options.column_totals or file.options.parent:
            raise ValueError(
                "--other is for tables with a column for each label and no totals of columns; "
                "leave out --long, --column-totals and --parent."
            )
        if file.totals.given:
            return cls(name, None)
        sums = [np.nansum(piece.values, axis=1).max(initial=0) for piece in file._pieces()]
        wholes = [whole for whole in WHOLE.values() if max(sums, default=0) <= ROUNDED * whole]
        if file.totals.unknown or not wholes:
            raise ValueError(
                f"What the labels leave is not known, since rows sum to up to {max(sums):.6g}; "
                "name the column of their totals (--total), or leave out --other."
            )
        return cls(name, WHOLE["percent"] if file.format.percent else wholes[0])

    def add(self, piece) -> Piece:
        """Return a piece with the label as its last, which is missing where another one is."""
        whole = piece.totals if self.whole is None else self.whole
        rest = np.round(np.maximum(whole - piece.values.sum(axis=1), 0), REST_DECIMALS)
        bounds, none = piece.bounds, np.full((3, piece.size, 1), np.nan)
        if bounds is not None:
            bounds = replace(bounds, limits=np.concatenate([bounds.limits, none], axis=2))
        return replace(piece, values=np.column_stack([piece.values, rest]), bounds=bounds)

    def note(self) -> str:
        """Return a sentence on the label."""
        whole = "the total of its row" if self.whole is None else f"{self.whole:g}"
        counts = " If they are counts, name their total (--total)." if self.whole == 100 else ""
        return f"The label {self.name!r} is what the other labels leave of {whole}.{counts}"


def notes_on_unseen(labels, y) -> list[str]:
    """Return a sentence on labels of which no share is known, if there are some."""
    if not labels:
        return []
    start = f"No share of {listed(map(repr, labels))} is known."
    if len(labels) > 1:
        return [f"{start} Only their sum in a row is: the parts of each are guesses between the "
                "ends of --range."]  # fmt: skip
    if (np.isnan(y).sum(axis=1) > 1).any():
        return [f"{start} It gets a part of what the known shares of its row leave; where others "
                "are missing, too, that is a guess between the ends of --range."]  # fmt: skip
    return [f"{start} It gets what the known shares of its row leave to it."]


def notes_on_largest(piece) -> list[str]:
    """Return a note on known shares that give way to rounded zeros, if there are some."""
    number = int(giving_way(piece).sum())
    return [_GIVES_WAY.format(counted(number, "row"))] if number else []


def sentences_on_zeros(y, labels, whole=1.0) -> list[str]:
    """Return a sentence on labels whose zeros look like shares that were too small to record.

    Many other shares lie just above the smallest then. Where shares are multiples of the smallest,
    and rows sum to the whole, they come from votes, and a 0 is a share of 0.
    """
    found = [j for j in range(len(labels)) if _look_rounded(y[:, j])]
    if not found:
        return []
    below = span(np.array([float(f"{end:.2g}") for end in whole * smallest_positive(y[:, found])]))
    below += "%" * (whole > 1)
    return [
        f"Zeros of {listed(repr(labels[j]) for j in found)} look rounded: many other shares lie "
        f"just above the smallest, {below}. If a 0 is a share too small to be recorded, say "
        "--zeros rounded (zeros='rounded' in Python), and it is filled in below that."
    ]


def _look_rounded(shares):
    zeros, positive = int((shares == 0).sum()), shares[shares > 0]
    if zeros < SEVERAL_ZEROS or not len(positive):
        return False
    times = positive / positive.min()
    voted = np.isclose(times, np.rint(times), rtol=0, atol=1e-6).mean() > FROM_VOTES
    return (times < 2).sum() >= max(SEVERAL_ZEROS, zeros / 3) and not voted


class Departures:
    """What becomes of filled-in shares if those of some labels are larger or smaller.

    `delta` is a text such as "wine=+10%,beer=*0.8", with semicolons between several cases, or a
    dict of labels and factors. The first case is the one that is written.
    """

    def __init__(self, delta, labels):
        if isinstance(delta, dict):
            delta = ",".join(f"{label}=*{factor}" for label, factor in delta.items())
        self._labels, self._filled = list(labels), np.zeros(len(labels), int)
        self._cases = dict(self._case(case) for case in delta.split(";")) if delta else {}
        self._sums = np.zeros((1 + len(self._cases), len(labels)))

    def _case(self, case):
        """Return the name of a case, and the factor of each label."""
        factors, parts = np.ones(len(self._labels)), []
        for part in case.split(","):
            label, _, change = (each.strip() for each in part.rpartition("="))
            found = _CHANGE.fullmatch(change)
            sign, percent, times = found.groups() if found else ("", "", "-1")
            factor = float(times) if times else 1 + float(f"{sign}{percent}") / 100
            if not label or factor < 0:
                raise ValueError(
                    f"{part.strip()!r} in --delta is no label with a change; write, for example, "
                    '"wine=+10%", "wine=*1.5" or "wine=-20%", and take away 100% at most.'
                )
            named = named_by(self._labels, [label], "label (--delta)")
            factors[np.isin(self._labels, named)] = factor
            parts.append(f"{label} {change}")
        return ", ".join(parts), factors

    def apply(self, rows, completed, ends) -> tuple:
        """Return the rows, their filled degrees and the ends of intervals in the first case.

        All cases are counted.
        """
        if not self._cases:
            return rows, completed, ends
        tables = [shift_filled(rows.rows, completed, each) for each in self._cases.values()]
        self._sums += [table.sum(axis=0) for table in (completed, *tables)]
        self._filled += rows.rows.holes.sum(axis=0)
        new, possible = tables[0], rows.rows.possible
        ends = [np.clip(end + (new - completed), *possible) for end in ends]  # as wide as before
        ends = ends and [np.minimum(ends[0], new), np.maximum(ends[1], new)]
        return replace(rows, factors=next(iter(self._cases.values()))), new, ends

    def results(self, whole, n_rows) -> dict:
        """Return the means of labels in each case, and notes, by the names in `WriteResult`."""
        if not self._cases:
            return {}
        means = whole * self._sums.T / n_rows
        frame = pd.DataFrame(means, self._labels, [AS_FILLED, *self._cases])
        named = np.any([factors != 1 for factors in self._cases.values()], axis=0)
        known = [self._labels[j] for j in np.flatnonzero(named & (self._filled == 0))]
        notes = [f"No share of {label!r} is missing, so --delta changes none." for label in known]
        return {"moved": frame, "notes": notes}


def missing_count(evidence) -> str:
    """Return why a row of counts needs all of them, and how it came to be one."""
    if evidence is None:
        return (
            "{place}: a count is missing, so the total of the row is unknown; name the column "
            f"that holds the total (--total COLUMN, total='...' in Python). {_RATIOS}."
        )
    start = f"{evidence.why_counts()}, and a row with a missing count has no total ({{place}}): "
    if evidence.alike is not None:
        number = f"{evidence.alike:.10g}"
        return f"{start}if all rows sum to {number}, give total={number} (--total {number})."
    return (
        f"{start}{FORGOTTEN}name the column that holds the total (--total COLUMN, total='...' in "
        f"Python). {_RATIOS}; --other NAME then makes what they leave a label."
    )


def normalized_notes(complete, holed, whole) -> list[str]:
    """Return notes on the rows that a user wants to have divided."""
    kinds = {
        f"Complete rows that do not sum to {whole}": complete,
        f"Rows with missing shares whose known ones sum to more than {whole}": holed,
    }
    return [
        f"{which}: {rows.sum():,}. They are divided by their sums for learning; the written file "
        "keeps them as they are."
        for which, rows in kinds.items()
        if rows.any()
    ]


def rounded_notes(sums, complete, holed) -> list[str]:
    """Return notes on rows whose sums miss the whole because their numbers are rounded."""
    divided = (
        "they are divided by their sums" if complete.sum() > 1 else "it is divided by its sum"
    )
    zero = "the missing shares become 0"
    kinds = (complete, "", f"{divided} for learning"), (holed, " with missing shares", zero)
    notes = []
    for rows, which, what in kinds:
        if rows.any():
            count = int(rows.sum())
            who = f"1 row{which} sums" if count == 1 else f"{count:,} rows{which} sum"
            notes.append(f"{who} to {span(sums[rows])}, as rounded numbers do; {what}.")
    return notes
