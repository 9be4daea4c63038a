"""Rows of a table that are sums or means of others: subtotals, and totals below or above a table.

Counts show them by arithmetic: the numbers of such a row are the sums of those above it, or below,
since the last such row or since one before. A name such as "Total" is enough if the numbers of the
row can be sums of others, or means. Such rows stay in the file, but nothing is learned from them.
"""

import re
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.tables.table import Piece
from inldl.text import listed, shortened

Array = np.ndarray
_SUM = (
    r"(grand|sub|sous|over)?[ -]?tot(al|als|ale|ales|aux|ali|ais|aal|alt)|overall|sums?|sumas?|"
    r"summa|soma|((ins)?gesamt|(zwischen)?summe|zusammen)|ensemble|razem|og[oó][lł]em|i alt|"
    r"yhteens[aä]|celkem|spolu|[oö]sszesen|toplam|итого|всего|σύνολο|合计|总计|合計|総数|小計|小计|"
    r"합계|소계|delsumma|sammanlagt|ukupno|skupaj|kokku|kop[aā]|i[sš] viso|общо|разом|jumlah"
)
_MEAN = (
    "averages?|means?|moyenne|mittelwert|durchschnitt|promedio|gemiddelde|średnia|genomsnitt|"
    "gennemsnit|gjennomsnitt|keskiarvo"
)
# The last ones are believed if sums prove it: a firm may be called "Total Solutions"
_NAMES = {
    "sum": re.compile(rf"(?i)({_SUM})\s*([:(,].*)?"),
    "mean": re.compile(rf"(?i)({_MEAN})\s*([:(,].*)?"),
    "likely": re.compile(rf"(?i)({_SUM})\b.*|.*\b({_SUM})"),
    "perhaps": re.compile(r"(?i)(all|both|alle|beide|tous|todos|tutti)\b.*"),
}
_FEW = 4  # rows: in fewer, nothing is looked for
_MOST, _ENDS = 5000, 1000  # rows in which unnamed totals are looked for, and names, at both ends
_SHOWN = 6  # of these rows, in a note
_MOST_NAMED = 0.5  # of the rows: a name that more of them have is no name of totals
_PROOF, _PROOF_OF_NAME = 4, 1  # powers of ten: sums that agree by accident are rarer by these
_ALIKE = 0.05  # how far sums of rows of shares lie apart at most


class TotalRows(NamedTuple):
    """Which rows are sums or means of others."""

    rows: Array  # their numbers, ascending
    up: Array  # (n,) the number of the row that a row is summed in, -1 if in none that is known
    names: dict[int, str]  # of these rows
    unlike: tuple[int, ...] = ()  # rows that are named so, but have other numbers

    def apart(self, piece: Piece, numbers: Array | None) -> tuple[Piece, Array | None]:
        """Return a piece and the numbers of its rows without these rows."""
        if not len(self.rows):
            return piece, numbers
        kept = np.setdiff1d(np.arange(piece.size), self.rows)
        return piece.take(kept), kept if numbers is None else numbers[kept]

    def notes(self, where, usable) -> list[str]:
        """Return sentences on these rows, which `where` places; `usable`: rows have totals."""
        notes = []
        if self.unlike:
            notes.append(
                f"Rows named as totals whose numbers do not prove it ({len(self.unlike)}): "
                f"{self._places(self.unlike, where)}. They are taken for rows like the others; if "
                "they are totals, remove them."
            )
        if len(self.rows):
            use = "; to fill in counts that agree with them, say --column-totals rows"
            use *= bool(usable and (self.up >= 0).any())
            notes.append(
                f"Rows taken for totals or means of others ({len(self.rows)}): "
                f"{self._places(self.rows.tolist(), where)}. Nothing is learned from them, and "
                f"the file keeps them; if they are rows like the others, say --column-totals "
                f"none{use}."
            )
        return notes

    def _places(self, rows, where):
        """Return the places of the first of some rows, and their names."""
        places = [where(row) for row in rows[:_SHOWN]]
        texts = [repr(shortened(self.names[row])) for row in rows[:_SHOWN]]
        pairs = zip(places, texts, strict=True)
        shown = [p[0].lower() + p[1:] + (f" ({t})" if t not in p else "") for p, t in pairs]
        return listed(shown + [""] * (len(rows) - len(shown)), _SHOWN)


def find_total_rows(piece) -> TotalRows:
    """Return which rows of a piece are totals; its features are columns that may name them."""
    if piece.size < _FEW or not piece.values.shape[1]:
        return TotalRows(np.empty(0, int), np.full(piece.size, -1), {})
    search, cells = _Search(piece), piece.features
    named = {column: _named(cells[column]) for column in cells}
    if piece.size <= _MOST and not search.shares:
        search.find_runs({row: kind for rows in named.values() for row, kind in rows.items()})
    unlike: list[int] = []
    for column, kind in product(named, _NAMES):
        left = [r for r, k in named[column].items() if k == kind and r not in search.rows]
        if left and not search.find_named(np.array(left), kind, cells.drop(columns=column)):
            unlike += left if kind == "sum" or (kind == "likely" and search.shares) else []
    rows, names = sorted(search.rows), {}
    unlike = sorted({*unlike} - search.rows)
    for row in [*rows[:_SHOWN], *unlike[:_SHOWN]]:
        texts = [cells[column].iloc[row] for column in named if row in named[column]]
        texts += [cell for cell in cells.iloc[row] if isinstance(cell, str)]
        names[row] = next(iter(texts), "no name").strip()
    return TotalRows(np.array(rows, int), search.up, names, tuple(unlike))


def _named(column):
    """Return which rows of a column are named as totals are, and how."""
    some = pd.concat([column[:_ENDS], column[-_ENDS:]])
    words = [] if is_numeric_dtype(column) else [w for w in some.unique() if isinstance(w, str)]
    kinds = {word: kind for kind, names in reversed(_NAMES.items()) for word in words
             if names.fullmatch(word.strip())}  # fmt: skip
    rows = np.flatnonzero(column.isin(list(kinds))) if kinds else np.empty(0, int)
    few = len(rows) <= _MOST_NAMED * len(column)
    return {row: kinds[column.iloc[row]] for row in rows.tolist()} if few else {}


class _Search:
    """A search for rows that are sums or means of others."""

    def __init__(self, piece):
        given = piece.totals is not None
        self.counts = np.column_stack([piece.values, piece.totals]) if given else piece.values
        self.totals, self.rows = given, set[int]()
        self.up = np.full(piece.size, -1)
        sums = piece.values.sum(axis=1)
        sums = sums[~np.isnan(sums)]
        small = not np.fmax.reduce(piece.values, axis=None) > 100  # if no row is complete
        alike = np.ptp(sums) <= _ALIKE * sums.max() if len(sums) else small
        self.shares = not given and alike

    @cached_property
    def unit(self):
        """The power of ten that all numbers are multiples of."""
        known = self.counts[:_MOST][~np.isnan(self.counts[:_MOST])]
        units = (10.0**k for k in range(3, -7, -1))
        whole = lambda each: (np.abs(each - np.rint(each)) <= 1e-6).all()  # noqa: E731
        return next((unit for unit in units if whole(known / unit)), 1e-9)

    @cached_property
    def most_proof(self):
        """What a column proves at most: little where few numbers come again and again."""
        sizes = [np.unique(column[~np.isnan(column)]).size for column in self.counts.T]
        known = (~np.isnan(self.counts)).sum(axis=0)
        return np.where(2 * np.array(sizes) < known, np.log10(np.maximum(sizes, 1)), np.inf)

    def find_runs(self, named):
        """Find rows that are sums of those above them, or below."""
        ways, tiled = [], []
        for step in (1, -1):
            numbers, order = self.counts[::step], np.arange(len(self.up))[::step].tolist()
            before = np.fmax(numbers[1:-1], numbers[:-2])
            large = (numbers[2:] >= before).any(axis=1) & ~(numbers[2:] < before).any(axis=1)
            large = np.append([False, False], large)[::step]
            ways.append(self._runs(order, large, named))
            tiled.append(self._tiles(order, large))
        found = max(ways, key=lambda up: len(np.unique(up)))
        self.up = found if (found >= 0).any() else max(tiled, key=lambda each: each[0])[1]
        self.rows.update(self.up[self.up >= 0].tolist())

    def _runs(self, order, large, named):
        """Return in which row each is summed, by sums that prove it each by itself."""
        up, stack = np.full(len(order), -1), []
        for row in order:
            tried = len(stack) > 1 and (large[row] or row in named)
            group = self._summed(stack[::-1], row, named.get(row)) if tried else []
            up[group] = row
            stack[len(stack) - len(group) :] = [row]
        return up

    def _tiles(self, order, large):
        """Return how far sums of all rows since the last one prove it together, and as `_runs`."""
        up, parts, proved = np.full(len(order), -1), ([], []), 0.0
        chance = np.log10(len(order))
        for row in order:
            rows = parts[0] or parts[1]  # all totals so far, if no other row is left
            proof = self._proof(rows, row, self.unit / 100)[-1] if rows and large[row] else 0
            if proof > chance + _PROOF_OF_NAME:
                up[rows], proved = row, proved + proof - chance
                rows.clear()
                parts[1].append(row)
            else:
                parts[0].append(row)
        return (proved, up) if proved >= _PROOF else (0.0, np.full(len(up), -1))

    def _proof(self, last, row, gap, step=None):
        """Return how far the sums of the first of some rows prove a row, -inf if they differ.

        Sums that agree by accident do so in one of the steps of a size that they are made of.
        """
        numbers, sums = self.counts[row], np.cumsum(self.counts[last], axis=0)
        known = ~np.isnan(sums) & ~np.isnan(numbers)
        wrong = (known & (np.abs(sums - numbers) > gap)).any(axis=1)
        several = sums > np.maximum.accumulate(self.counts[last], axis=0)  # above 0
        proof = np.log10(
            np.where(known & several, sums / (self.unit if step is None else step), 1).clip(1)
        )
        proof = np.minimum(proof, self.most_proof)
        own = proof.max(axis=1) * (known.all(axis=1) & self.totals)  # totals of rows say no more
        return np.where(wrong | (len(last) < 2), -np.inf, proof.sum(axis=1) - own)

    def _summed(self, last, row, name):
        """Return the first of the rows `last`, as many as another is the sum of; or none."""
        size = np.arange(1, len(last) + 1)
        rounding = self._rounding(size[:, None])
        proof = self._proof(last, row, rounding if name else self.unit / 100)
        if not name:  # or they are large, and rounded
            rounded = self._proof(last, row, rounding, 2 * rounding) - _PROOF
            proof = np.maximum(proof, rounded)
        enough = _PROOF_OF_NAME if name else _PROOF + 2 * np.log10(len(self.up))
        fits = (proof >= enough) & (size > 1)
        if fits.any():
            return last[: np.argmax(fits) + 1]
        return last if name == "sum" and self._kind(row, last) == "sum" else []

    def _rounding(self, n):
        """Return what the sum of n rounded numbers may be off."""
        return self.unit * (1 + n) / 2

    def find_named(self, rows, kind, cells):
        """Take rows of one kind of name for totals if no number contradicts; return whether so.

        Each is compared with rows that are equal in all columns whose cells come again; or with
        all others.
        """
        others = np.setdiff1d(np.arange(len(self.up)), [*rows.tolist(), *self.rows])
        again = [n for n in cells if cells[n].iloc[rows].isin(cells[n].iloc[others]).all()]
        for keys in (again, []):
            group = np.zeros(len(self.up))
            if keys:
                group = cells.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
            if len(np.unique(group[rows])) < len(rows):  # a level such as "average"
                continue
            parts = [others[group[others] == group[row]] for row in rows.tolist()]
            kinds = list(map(self._kind, rows.tolist(), parts))
            wanted = {"mean"} if kind == "mean" or (kind == "sum" and self.shares) else {"sum"}
            if {*kinds} <= wanted | ({"more"} if kind == "sum" else set()):
                self.rows.update(rows.tolist())
                for row, part in zip(rows.tolist(), parts, strict=True):
                    self.up[part[(self.up[part] < 0) & (self._kind(row, part) == "sum")]] = row
                return True
        return False

    def _kind(self, row, others):
        """Return what a row can be: the "sum" of others, or of "more", their "mean", or ""."""
        numbers, some = self.counts[row], self.counts[others]
        known = ~np.isnan(numbers)
        if len(others) < 2 or not known.any():
            return ""
        sums, full = np.nansum(some, axis=0), ~np.isnan(some).any(axis=0)
        gap = self._rounding(len(some))
        if (numbers >= sums - gap)[known].all() and numbers[known].any():
            return "more" if (full & (numbers > sums + gap)).any() else "sum"
        low, high = np.fmin.reduce(some), np.fmax.reduce(some)
        return "mean" if ((low <= numbers) & (numbers <= high))[known].all() else ""
