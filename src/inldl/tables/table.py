"""A table, pieces of it as they stand in a file, and all its rows as one piece."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.rows.partial import PartialRows
from inldl.tables.degrees import Bounds

RARE_LABEL_ROWS = 20  # observed degrees of a label in a sample of rows, where there are as many


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
        sums = self.grouped_values(labels).sum(axis=1)
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

    @property
    def y(self) -> np.ndarray:
        """Degrees as fractions, NaN where the cell is empty or holds bounds."""
        return self.known.y

    @property
    def degrees(self) -> pd.DataFrame:
        """The same as a frame with the names of the labels."""
        return pd.DataFrame(self.y, columns=self.labels, copy=False)


def gather(file, most_rows=None) -> tuple[Piece, np.ndarray | None]:
    """Return the rows of a file as one piece, and their numbers if only some are kept.

    About `most_rows` are drawn, or all are taken.
    """
    most = file.source.most_rows()
    some = most_rows is not None and most_rows < most
    numbers: list[np.ndarray] = []

    def read(text):
        draw = _Draw(most_rows / most, len(file.labels)) if some else None
        numbers.clear()
        for piece in file._pieces(file.features, text):
            if draw is not None:
                rows = draw(piece)
                numbers.append(piece.first + rows)
                piece = piece.take(rows)
            yield piece

    piece = join_pieces(read)
    if piece is None:
        nothing = np.empty((0, len(file.labels)))
        piece = Piece(0, 0, nothing, pd.DataFrame(columns=file.features), None)
    return piece, np.concatenate(numbers) if numbers else None


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


class _Draw:
    """Draw a share of the rows of each piece, the same ones each time.

    The first rows in which a label is observed are taken as well, so that rare labels are seen.
    """

    def __init__(self, share, n_labels):
        self._share, self._lacking = share, [RARE_LABEL_ROWS] * n_labels

    def __call__(self, piece):
        chosen = np.random.default_rng([0, piece.first]).random(piece.size) < self._share
        for j, lacking in enumerate(self._lacking):
            rows = np.flatnonzero(~np.isnan(piece.values[:, j]))[:lacking]
            chosen[rows] = True
            self._lacking[j] -= len(rows)
        return np.flatnonzero(chosen)
