"""Tables with one row for each thing and label, read and written as if they had one per thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.tables.formats.base import FrameFormat
from inldl.tables.marks import meanings_of
from inldl.tables.selection import named_by
from inldl.tables.table import join_pieces
from inldl.text import listed, shortened

_PARTS = ("id", "label", "value", "absent")
_EXAMPLE = '"id=county,label=party,value=votes"'
_MOST_IDS = 8  # columns that are tried as ids of a long table
_SUFFIXES = ("_low", "_high", "_filled")  # of columns that are added to a completed table


@dataclass(frozen=True)
class Keys:
    """The columns of a long table."""

    id: tuple[str, ...]  # the columns that tell which thing a row is about
    label: str  # the one with the names of the labels
    value: str  # the one with their degrees
    absent: float = np.nan  # the degree of a thing and label without a row; NaN if it is missing

    @classmethod
    def of(cls, given, columns) -> Keys:
        """Return the keys that a user gives, as a text such as "id=a+b,label=c,value=d"."""
        if isinstance(given, str):
            pairs = [part.partition("=") for part in given.split(",")]
            given = {name.strip(): value.strip() for name, _, value in pairs}
        parts = dict(given)
        unknown = [name for name in parts if name not in _PARTS]
        lacking = [name for name in _PARTS[:3] if name not in parts]
        if unknown or lacking:
            problem = f"has {unknown[0]!r}" if unknown else f"lacks {lacking[0]!r}"
            raise ValueError(
                f"long (--long) {problem}; give id, label and value, such as {_EXAMPLE}, and "
                'several columns of an id with a plus, such as "id=state+year".'
            )
        ids = parts["id"].split("+") if isinstance(parts["id"], str) else parts["id"]
        given = [*ids, parts["label"], parts["value"]]
        found = [named_by(columns, [name], "column") for name in given]
        names = [name for [name, *_] in found]
        if any(len(each) > 1 for each in found) or len(set(names)) < len(names):
            raise ValueError(
                "long (--long) needs one column each for id, label and value, and several only "
                'for id, such as "id=state+year".'
            )
        if str(parts.get("absent", "0")) != "0":
            raise ValueError("absent in long (--long) can only be 0; leave it out otherwise.")
        *ids, label, value = names
        return cls(tuple(ids), label, value, 0.0 if "absent" in parts else np.nan)


class LongTable(FrameFormat):
    """A table in another one, `inner`, with a row per thing and label.

    A thing is a row, a label a column. Columns that are the same in all rows of a thing are
    features; others cannot be used. All rows are held in memory.
    """

    def __init__(self, inner, keys):
        self.inner, self.keys, self.path, self.format = inner, keys, inner.path, inner.format
        self.marks, self.meanings, self.seen = inner.marks, {}, {}
        self.ids = keys.id if len(keys.id) == 1 else ()  # a state or a year alone is a feature
        frame = self._read()
        values = frame.pop(keys.value)
        self._check_filled(frame)
        things = frame.groupby(list(keys.id), sort=False).ngroup().to_numpy()
        codes, self.categories = pd.factorize(frame[keys.label])
        self.categories = list(self.categories)
        self.n_rows = int(things.max(initial=-1)) + 1
        self._rows = np.full((self.n_rows, len(self.categories)), -1)
        self._rows[things, codes] = np.arange(len(frame))
        self._check_unique(frame, things, codes)
        self._first = np.unique(things, return_index=True)[1]
        varying = self._varying(frame, things)
        self._features = frame.drop(columns=[keys.label, *varying]).iloc[self._first]
        self._features = self._features.reset_index(drop=True)
        self._written = set(self.categories)
        self._labels = pd.DataFrame(dict(enumerate(self._wide(values))))
        self.names = [*self._features, *self.categories]
        self.notes = [*inner.notes, *self._notes(varying)]

    def _read(self):
        """Return the columns of all rows; keys are text, and so are values with percent signs."""
        keys, names = self.keys, self.inner.names
        text = frozenset([*keys.id, keys.label, *([keys.value] if self.format.percent else [])])
        rows = join_pieces(lambda text: self.inner.pieces((), names, text), text)
        if rows is None:
            raise ValueError(f"{self.path} has a header but no rows; add rows.")
        frame = rows.features
        frame[keys.label] = [_name(cell) for cell in frame[keys.label]]
        frame[keys.label] = frame[keys.label].str.strip()
        return frame

    def _wide(self, values):
        """Yield a column of cells for each label."""
        values = values if is_numeric_dtype(values) else values.astype(object)
        absent = "0%" if self.format.percent else 0.0
        for rows in self._rows.T:
            cells = values.reindex(rows).set_axis(range(self.n_rows))
            yield cells.mask(rows < 0, absent) if self.keys.absent == 0 else cells

    def frames(self, names=None) -> Iterator[tuple[pd.DataFrame, None]]:
        """Yield all things as one frame."""
        labels = self._labels.set_axis(self.categories, axis=1)
        yield pd.concat([self._features, labels], axis=1), None

    def place(self, row, name) -> str:
        """Return the place of a cell in words: that of the row of a label, if there is one."""
        at = self._rows[row, self.categories.index(name)] if name in self.categories else -1
        return super().place(row, name) if at < 0 else self.inner.place(at, self.keys.value)

    def _check_filled(self, frame):
        for name in (*self.keys.id, self.keys.label):
            empty = frame[name].isna().to_numpy()
            if empty.any():
                raise ValueError(
                    f"{self.inner.where(int(np.argmax(empty)))}, column {name!r}: the cell is "
                    "empty, but each row of a long table needs its id and its label; fill it in."
                )

    def _check_unique(self, frame, things, codes):
        again = self._rows[things, codes] != np.arange(len(frame))
        if again.any():
            row = int(np.argmax(again))
            other = int(self._rows[things[row], codes[row]])
            raise ValueError(
                f"{self.inner.where(other)}: {self._thing(frame, other)} has a second row for "
                f"{shortened(frame[self.keys.label][other])!r}; keep one of them, or name more "
                'columns as id, such as "id=county+year".'
            )

    def _thing(self, frame, row):
        return " and ".join(
            f"{name} {shortened(_name(frame[name][row]))!r}" for name in self.keys.id
        )

    def _varying(self, frame, things):
        """Return the columns that differ between rows of a thing."""
        others = frame.drop(columns=[*self.keys.id, self.keys.label])
        codes = {name: pd.factorize(column)[0] for name, column in others.items()}
        return [n for n, each in codes.items() if (each != each[self._first][things]).any()]

    def _notes(self, varying):
        """Return sentences on how the table is read."""
        keys, thing = self.keys, " and ".join(self.keys.id)
        notes = [
            f"The table is long: each {thing} is a row ({len(self._rows):,}), and each "
            f"{keys.label} a label ({len(self.categories):,})."
        ]
        if varying:
            names = listed(map(repr, varying))
            notes.append(f"Left out, because they differ within a {thing}: {names}.")
        if absent := int((self._rows < 0).sum()):
            means = "are missing, and what is filled in is written below the last row (add "
            means += "absent=0 to --long if they mean 0)"
            means = "are 0" if keys.absent == 0 else means
            pairs = f"Combinations of {thing} and {keys.label} without a row: {absent:,}"
            notes.append(f"{pairs}; they {means}.")
        return notes

    def find_signs(self, labels, decimal, thousands, totals=()) -> None:
        """Find out what signs stand for; those of numbers were needed to read the table."""
        self.meanings = meanings_of(self.marks, labels, totals)

    def where(self, row) -> str:
        """Return the place of the rows of a thing in words."""
        place = self.inner.where(int(self._first[row]))
        words = f"from {place[0].lower()}{place[1:]}"
        absent = np.flatnonzero(self._rows[row] < 0)
        if absent.size and self.keys.absent != 0:
            name = shortened(self.categories[absent[0]])
            words += f"; none is for {name!r}: add absent=0 to --long if that means 0"
        return f"The rows of {self._thing(self._features, row)} ({words})"

    def check_name(self, name) -> None:
        """Refuse a column to add that the table has, or that no row of a label can have."""
        _, suffix = self._label_of(name)
        added = self.keys.value + suffix
        if added in self.inner.names:
            raise ValueError(
                f"{self.path} has a column {added!r} already, which is to be added; rename it."
            )
        self.inner.check_name(added)

    def _label_of(self, name):
        for suffix in _SUFFIXES:
            if name.endswith(suffix) and (label := name.removesuffix(suffix)) in self.categories:
                return label, suffix
        raise ValueError(
            f"The column {name!r} cannot be added to a long table; give one with a row per "
            f"{' and '.join(self.keys.id)}."
        )

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()) -> Iterator[Callable]:
        """Give a function that writes the long table to `part`."""

        def write(raw, fills, values):
            value, n_rows = self.keys.value, int(self._rows.max(initial=-1)) + 1
            beside = {}
            for j, name in enumerate(extra):
                label, suffix = self._label_of(name)
                column = beside.setdefault(value + suffix, np.full(self._rows.shape, np.nan))
                column[:, self.categories.index(label)] = values[:, j]
            wide = np.full(self._rows.shape, np.nan)
            wide[:, [self.categories.index(name) for name in labels]] = fills
            below = [*self._new_rows(wide, beside), *added]
            columns = [self._long(each, n_rows) for each in (wide, *beside.values())]
            names = [value] if filled else []
            with self.inner.writer(part, [value], names, list(beside), below) as put:
                for piece in self.inner.pieces([value], ()):
                    fill, *more = (column[piece.rows, None] for column in columns)
                    put(piece.raw, fill, np.hstack(more) if more else None)

        yield write

    def _long(self, wide, n_rows):
        """Return what is in the rows of the file, of a value for each thing and label."""
        out, present = np.full(n_rows, np.nan), self._rows >= 0
        out[self._rows[present]] = wide[present]
        return out

    def _new_rows(self, fills, added):
        """Return the rows that the file lacks, as dicts from names of columns to cells."""
        rows = []
        for thing, column in np.argwhere((self._rows < 0) & ~np.isnan(fills)):
            cells = self._features.iloc[thing].dropna().to_dict()
            cells |= {self.keys.label: self.categories[column]}
            cells |= {self.keys.value: float(fills[thing, column])}
            cells |= {name: float(each[thing, column]) for name, each in added.items()}
            rows.append({name: cell for name, cell in cells.items() if cell == cell})
        return rows


def _name(cell):
    """Return a cell as text, a whole number without a fraction."""
    if isinstance(cell, float) and cell == cell and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) or pd.isna(cell) else str(cell)


def long_table_hint(source, labels) -> str:
    """Return how to read a table that seems to have a row per thing and label, or nothing."""
    value = next((name for name in source.names if name == labels), None)
    first = next(source.pieces([], source.names), None)
    if first is None or first.size < 4:
        return ""
    frame = first.features.iloc[:1000]
    counts = {name: frame[name].nunique() for name in source.names if name != value}
    numeric = [name for name in source.names if is_numeric_dtype(frame[name])]
    most = min(30, len(frame) // 2)  # each label has several rows
    levels = [n for n, count in counts.items() if 2 <= count <= most and n not in numeric]
    values = [value] if value else [n for n in reversed(numeric) if counts[n] > 1]
    found = []
    for label in sorted(levels, key=lambda name: (counts[name] == 2, counts[name])):
        for things in _possible_ids(frame, counts, numeric):
            wanted = [name for name in values if name not in (label, *things)]
            several = 2 * len(frame[[*things]].value_counts()) <= len(frame)
            unique = label not in things and not frame.duplicated([*things, label]).any()
            if wanted and several and unique:
                found.append((things, label, wanted[0]))
    if not found:
        return ""
    things, label, value = max(found, key=lambda keys: _have_sums(frame, *keys))  # the first
    option = f'"id={"+".join(things)},label={label},value={value}"'
    return f"If it has a row per label, read it with --long {option}."


def _have_sums(frame, ids, label, value):
    """Return whether the values of most things sum to 1 or 100, of those without a hole."""
    if not is_numeric_dtype(frame[value]):
        return False
    sums = frame.groupby(list(ids))[value].agg(lambda cells: cells.sum(skipna=False))
    sums = sums.dropna().to_numpy()
    return any(2 * np.sum(np.abs(sums / whole - 1) < 0.01) > len(sums) for whole in (1, 100))


def _possible_ids(frame, counts, numeric):
    """Return columns that may be ids, the likeliest first: text, text and a number, a number."""
    names = [name for name in counts if not frame[name].isna().any()]
    names = sorted(names, key=lambda name: -counts[name])[:_MOST_IDS]
    texts = [name for name in names if name not in numeric]
    numbers = [name for name in names if name in numeric]
    pairs = [
        (text, number)
        for text in texts
        for number in numbers
        if counts[number] < len(frame[[text, number]].value_counts())  # both tell things apart
    ]
    return [*((text,) for text in texts), *pairs, *((number,) for number in numbers)]
