"""A table and its parts, and what the format of a file must be able to do."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from inldl.rows.partial import PartialRows
from inldl.tables.degrees import Bounds
from inldl.tables.options import FileOptions

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

    def without_features(self, rows: Any = slice(None)) -> "Piece":
        """Return what some of the rows say about degrees."""
        values = self.values[rows]
        return Piece(
            self.first,
            len(values),
            values,
            pd.DataFrame(),
            None,
            None if self.bounds is None else self.bounds.at(rows),
            None if self.totals is None else self.totals[rows],
            {members: sums[rows] for members, sums in self.sums.items()},
        )

    @classmethod
    def joined(
        cls, parts: "Sequence[Piece]", values: np.ndarray, features: pd.DataFrame
    ) -> "Piece":
        """Return the rows of several pieces as one; values and features are joined."""
        totals = [part.totals for part in parts if part.totals is not None]
        return cls(
            0,
            len(values),
            values,
            features,
            None,
            Bounds.joined([(part.values.shape, part.bounds) for part in parts]),
            np.concatenate(totals) if totals else None,
            {
                members: np.concatenate([part.sums[members] for part in parts])
                for members in (parts[0].sums if parts else ())
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


class TableFormat(Protocol):
    """A table in an open file. A file format is one class that can do this.

    The class is listed in `tables.formats`. One whose files are read as frames takes most of it
    from `formats.frames.FrameFormat`. Errors are a ValueError or an OSError in one sentence
    that says where in the file and what to do.
    """

    names: list[str]  # of the columns that can be labels or features
    notes: list[str]  # sentences about what was detected
    format: Format

    def __init__(self, path: Path, options: FileOptions) -> None:
        """Open a file; a format without delimiter and encoding ignores what is given."""

    def find_signs(
        self, labels: Sequence[str], decimal: str | None, thousands: str | None
    ) -> None:
        """Find out the signs of numbers that are not given; put them into `format` and `notes`."""

    def where(self, row: int) -> str:
        """Return the place of a row in words, such as "Line 7"."""

    def most_rows(self) -> int:
        """Return a number of rows that is not exceeded."""

    def pieces(
        self, labels: Sequence[str], features: Sequence[str], text: Sequence[str] | None = ()
    ) -> Iterator[Piece]:
        """Yield the rows a piece at a time, with the columns in `text` as text.

        If `text` is None, columns with text may be left out of a piece.
        """

    def check_name(self, name: str) -> None:
        """Refuse a name for a new column that cannot be written to such a file."""

    @staticmethod
    def write_new(frame: pd.DataFrame, part: Path, suffix: str, like: Format | None) -> None:
        """Write a frame to a new file; its name is to end in `suffix`.

        `like` is the format of a text that it goes with, if there is one.
        """

    def writer(
        self,
        part: Path,
        labels: Sequence[str],
        filled: Sequence[str],
        extra: Sequence[str],
        added: Sequence[dict[str, Any]] = (),
    ) -> AbstractContextManager[Callable[[Any, np.ndarray, np.ndarray | None], None]]:
        """Give a function that writes the file to `part` again, a piece at a time.

        It takes the raw rows of the next piece, what to write into its label columns (NaN where
        nothing changes; only columns in `filled` change at all), and the values of the columns
        `extra` that are added on the right (NaN leaves a cell empty). Below the last row come rows
        that are `added`, from names of columns to cells; a column that has none stays empty.
        """


def gather(file, most_rows=None) -> tuple[Piece, np.ndarray | None]:
    """Return the rows of a file as one piece, and their numbers if only some are kept.

    About `most_rows` are drawn, or all are taken. Memory is taken once: floats go to their place,
    columns of another kind are joined later.
    """
    most, keep = file.source.most_rows(), None
    if most_rows is not None and most_rows < most:
        keep = _Draw(most_rows / most, len(file.labels))
        most = int(most_rows + 10 * most_rows**0.5 + 100)  # more are never drawn by chance
        most += RARE_LABEL_ROWS * len(file.labels)
    values, floats = np.empty((most, len(file.labels))), np.empty((len(file.features), most))
    columns = dict(zip(file.features, floats, strict=True))
    others: dict[str, list] = {}
    text: dict[str, None] = {}
    rows: list[Any] = []
    done, parts = 0, []
    for piece in file._pieces(file.features, None):
        rows.append(slice(None) if keep is None else keep(piece))
        part = piece.without_features(rows[-1])
        place = slice(done, done + part.size)
        values[place] = part.values
        parts.append(replace(part, values=values[place]))
        text |= dict.fromkeys(name for name in file.features if name not in piece.features)
        if not (others or text) and (piece.features.dtypes == np.float64).all():  # all at once
            floats[:, place], done = piece.features.to_numpy()[rows[-1]].T, place.stop
            continue
        for name, cells in piece.features.items():
            column = columns[name]
            if name in others or cells.dtype != np.float64:
                before = [pd.Series(column[:done])] if done else []
                others.setdefault(name, before).append(cells[rows[-1]])
            else:
                column[place] = cells.to_numpy()[rows[-1]]
        done = place.stop
    numbered = np.flatnonzero(np.concatenate(rows)) if keep and rows else None
    if not (others or text):
        features = pd.DataFrame(floats[:, :done].T, columns=file.features, copy=False)
        return Piece.joined(parts, values[:done], features), numbered
    columns = {name: column[:done] for name, column in columns.items()}
    columns |= {name: pd.concat(cells, ignore_index=True) for name, cells in others.items()}
    columns |= _texts(file.source, list(text), rows)
    return Piece.joined(parts, values[:done], pd.DataFrame(columns)), numbered


def _texts(source, names, rows):
    """Return columns of text, of each piece the rows that are kept."""
    pieces = zip(source.pieces((), names, names), rows, strict=True) if names else ()
    parts = [piece.features[kept] for piece, kept in pieces]
    return dict(pd.concat(parts, ignore_index=True)) if parts else {}


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
        return chosen
