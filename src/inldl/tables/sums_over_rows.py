"""Sums over rows: the total of each label, and rows that are the sums of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from inldl.rows.aggregates import Aggregates, CountGraph, Counts
from inldl.rows.checks import rounding_gap
from inldl.rows.counts import FilledCounts
from inldl.tables.selection import named_by
from inldl.tables.table import Bounds, Piece, read_bounds
from inldl.tables.table_rows import id_texts
from inldl.tables.total_rows import find_total_rows
from inldl.text import counted

Array = np.ndarray
LAST_ROW, FOUND, NO_TOTALS = "last-row", "rows", "none"
_TOTALS = (
    "{}; give 'last-row' or 'rows' if rows of the table hold the totals, a file that has them "
    "under the names of the labels, or a dict from labels to totals."
)


@dataclass(frozen=True, eq=False)
class SumsOverRows:
    """Which rows of a file are sums of others, and what is known of all sums over rows."""

    rows: Array  # numbers of these rows, ascending
    others: Array  # numbers of the others
    aggregates: Aggregates  # of the others; the first ones are `rows`
    where: Callable[[int], str]  # a row of the file stands
    totals: Array  # (n_aggregates,) what their counts sum to
    missing: Array  # (n_rows, n_labels) which counts of these rows are not known

    @classmethod
    def find(cls, file: Any) -> SumsOverRows:
        """Read what a file says of sums over rows; refuse what contradicts itself."""
        wanted, parent = file.options.column_totals, file.options.parent
        if parent is not None:
            parent, *_ = named_by(file.source.names, [parent], "column (--parent)")
        columns = file.features if parent is None else [parent]
        piece = file.whole_piece(list(dict.fromkeys([*file.ids, *columns])))
        up = find_total_rows(piece).up if parent is None else _parents(piece, file, parent)
        if wanted == FOUND and parent is None and (up < 0).all():
            raise ValueError(_TOTALS.format("No row of the table is the sum of others"))
        if wanted == LAST_ROW:
            up[:-1] = np.where(up[:-1] < 0, piece.size - 1, up[:-1])
        rows = np.unique(up[up >= 0])
        others = np.setdiff1d(np.arange(piece.size), rows)
        number = np.full(piece.size + 1, -1)
        number[rows] = np.arange(len(rows))
        of, within = number[up[others]], number[up[rows]]
        lower, upper = (end[rows] for end in piece.limits(file.labels, file.whole_numbers).box)
        names = [""] * len(rows)
        if parent is not None:
            names = [repr(name) for name in id_texts(piece.features.iloc[rows], file.ids)]
        if wanted not in (None, LAST_ROW, FOUND, NO_TOTALS):
            given = _given_totals(wanted, file)
            of, within = (np.where(a < 0, len(rows), a) for a in (of, within))
            lower, upper = np.vstack([lower, given[0]]), np.vstack([upper, given[1]])
            within, names = np.append(within, -1), [*names, ""]
        sums = Aggregates(of, lower, upper, within, tuple(names))
        totals = _sums_of(_own_totals(piece)[others], sums)
        found = cls(rows, others, sums, file.place_of(), totals, np.isnan(piece.values[rows]))
        gap = np.zeros(len(totals)) if file.whole_numbers else _rounding(piece, sums)
        found._check_totals(piece, gap)
        lower, upper = np.maximum(lower - gap[:, None], 0), upper + gap[:, None]
        return replace(found, aggregates=replace(sums, lower=lower, upper=upper))

    def _check_totals(self, piece: Piece, gap: Array) -> None:
        """Refuse totals that the rows of a sum do not have, but for what rounding explains."""
        sums, found = self.aggregates, self.totals
        given = np.full(len(found), np.nan)
        given[: len(self.rows)] = _own_totals(piece)[self.rows]
        near = gap * (1 + sums.lower.shape[1]) + 1e-9 * np.abs(found)
        for k in np.flatnonzero(np.abs(given - found) > near).tolist():
            raise ValueError(
                f"{self.where(int(self.rows[k]))}: its total is {given[k]:.10g}, but those of its "
                f"rows sum to {found[k]:.10g}; correct one of them."
            )
        known = (sums.lower == sums.upper).all(axis=1)
        for k in np.flatnonzero(known & (np.abs(sums.lower.sum(axis=1) - found) > near)).tolist():
            raise ValueError(
                f"The totals of the columns sum to {sums.lower[k].sum():.10g}, but those of the "
                f"rows to {found[k]:.10g}; correct one of them."
            )

    def with_totals(self, piece: Piece) -> Piece:
        """Return a piece in which rows that are sums have totals."""
        at = np.flatnonzero((self.rows >= piece.first) & (self.rows < piece.first + piece.size))
        if piece.totals is None or not len(at):
            return piece
        totals, rows = piece.totals.copy(), self.rows[at] - piece.first
        totals[rows] = np.where(np.isnan(totals[rows]), self.totals[at], totals[rows])
        return replace(piece, totals=totals)

    def counts(self, known: Counts) -> Counts:
        """Return that the rows which are no sums are counts with known sums over rows."""
        places = lambda k: _small(self.where(int(self.others[k])))  # noqa: E731
        return replace(known, aggregates=self.aggregates, where=places)

    def summed(self, degrees: Array, totals: Array) -> Array:
        """Return the rows that are sums, as fractions, given all other rows and their totals."""
        sums = _sums_of(degrees * totals[:, None], self.aggregates)[: len(self.rows)]
        return sums / np.maximum(self.totals[: len(self.rows), None], 1e-300)

    def edges(self, graph: CountGraph) -> tuple[Array, Array, Array]:
        """Return the edges of unknown sums that are rows of the file; their rows and labels."""
        number, label = np.nonzero(self.aggregates.lower != self.aggregates.upper)
        some = np.flatnonzero(number < len(self.rows))
        some = some[self.missing[number[some], label[some]]]
        return graph.n_holes + some, number[some], label[some]

    def unknown(self, found: FilledCounts) -> tuple[Array, Array, Array]:
        """Return what unknown sums can be, as fractions, and whether they can be one number only.

        Of shape (n_rows, n_labels); what is known is NaN, and not unknown.
        """
        edges, row, label = self.edges(found.graph)
        low, high = np.full((2, *self.missing.shape), np.nan)
        certain = np.zeros(self.missing.shape, bool)
        least, most = found.graph.ranges(found.flow, edges)
        low[row, label], high[row, label] = least / self.totals[row], most / self.totals[row]
        certain[row, label] = found.certain[edges]
        return low, high, certain

    def notes(self) -> list[str]:
        """Return sentences that say what is known of sums over rows."""
        if not len(self.rows):
            return ["The filled-in counts of each label have its total."]
        which = f"{counted(len(self.rows), 'row')} hold sums of others"
        if len(self.rows) == 1:
            which = f"The row of {_small(self.where(int(self.rows[0])))} holds sums of others"
        return [f"{which}: what is filled in agrees with them, and nothing is learned from them."]


def _small(text):
    return text[:1].lower() + text[1:]


def _own_totals(piece):
    """Return the totals of rows, which are the sums of those that lack one."""
    sums = piece.values.sum(axis=1)
    return sums if piece.totals is None else np.where(np.isnan(piece.totals), sums, piece.totals)


def _rounding(piece, sums):
    """Return by how much rounded numbers may miss their sums: half a unit for each number."""
    largest = max(float(np.nanmax(piece.values, initial=1)), 1.0)
    half = rounding_gap(piece.values, largest) * largest / piece.values.shape[1]
    members = np.bincount(np.append(sums.of, sums.within) + 1, minlength=len(sums.within) + 1)
    return half * (members[1:] + 1)


def _sums_of(numbers, sums):
    """Return the sums of rows of numbers, and of sums that are part of others."""
    out = np.zeros((len(sums.within), *numbers.shape[1:]))
    np.add.at(out, sums.of[sums.of >= 0], numbers[sums.of >= 0])
    own, inside = out.copy(), sums.within >= 0
    for _ in range(len(sums.within)):
        more = own.copy()
        np.add.at(more, sums.within[inside], out[inside])
        if np.array_equal(more, out, equal_nan=True):
            break
        out = more
    return out


def _parents(piece, file, column):
    """Return the number of the row that each row is part of, -1 if of none."""
    where = file.place_of()
    if not file.ids:
        raise ValueError(
            f"The column {column!r} (--parent) names rows of the table; say which column holds "
            "their names (--id)."
        )
    names, wanted = (id_texts(piece.features, each) for each in (file.ids, [column]))
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    up = np.full(piece.size, -1)
    for row, name in enumerate(wanted):
        if not name or name == names[row]:
            continue
        found = rows.get(name, [])
        if len(found) != 1:
            problem = "no row of that name" if not found else f"{len(found)} rows of that name"
            raise ValueError(
                f"{where(row)}: it is part of {name!r} (column {column!r}), but the table has "
                f"{problem}; give it one, or leave the cell empty."
            )
        up[row] = found[0]
    above = up.copy()
    for _ in range(piece.size):
        if (above < 0).all():
            return up
        above = np.where(above >= 0, up[above], -1)
        if (loops := np.flatnonzero(above == np.arange(piece.size))).size:
            raise ValueError(
                f"{where(int(loops[0]))}: it is a part of itself (column {column!r}); correct it."
            )
    return up


def _given_totals(totals, file):
    """Return the bounds of given totals, of shape (2, n_labels)."""
    out = np.repeat([[0.0], [np.inf]], len(file.labels), axis=1)
    if not isinstance(totals, Mapping):
        other = file.like(totals)
        piece = None if other is None else other.whole_piece()
        if piece is None or piece.size != 1:
            few = "no two columns named as labels"
            problem = few if piece is None else counted(piece.size, "row")
            problem = f"{totals} has {problem}, and needs one row of totals"
            raise ValueError(_TOTALS.format(problem))
        at = [file.labels.index(name) for name in other.labels]
        out[:, at] = np.vstack(piece.limits(other.labels, file.whole_numbers).box)
        return out
    strange = [name for name in totals if name not in file.labels]
    if strange:
        raise ValueError(_TOTALS.format(f"{strange[0]!r} has a total, but is no label"))
    for name, value in totals.items():
        exact = isinstance(value, Real)
        found = (value, value, 0) if exact else read_bounds(value, file.format)
        if isinstance(found, str):
            raise ValueError(_TOTALS.format(f"The total {value!r} of {name!r} is no number"))
        ends = Bounds(np.array(found, float)).closed(file.whole_numbers)
        np.copyto(out[:, file.labels.index(name)], ends, where=~np.isnan(ends))
    return out
