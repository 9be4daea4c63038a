"""What a file of features and degrees holds, once it is read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Format:
    """How a table is written down in its file; `bom` is the mark that a Unicode file starts with.

    `thousands` are the signs that separate thousands, if any; `percent` says whether the degrees
    have percent signs.

    The quotation marks are not part of it: the writer leaves every cell that it does not fill as
    it stands in the file.
    """

    kind: str
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    newline: str | None = None
    bom: bytes = b""
    percent: bool = False
    thousands: str = ""


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
    """

    first: int
    size: int
    values: np.ndarray
    features: pd.DataFrame
    raw: Any

    @property
    def rows(self):
        """Return the place of the rows in the table."""
        return slice(self.first, self.first + self.size)


@dataclass(frozen=True, eq=False)
class Table:
    """Hold the degrees and the features of a table, and the file that they came from.

    Attributes
    ----------
    labels : list of str
        Names of the label columns.
    y : ndarray of shape (n, C)
        Degrees as fractions; NaN where the cell is empty.
    features : DataFrame of shape (n, k)
        The other columns: numbers as float64 with NaN for holes, all else as text.
    scale : {"fraction", "percent", "count"}
        How the degrees stand in the file.
    notes : list of str
        Sentences that tell what was found out about the file.
    file : TableFile
        The file.
    rows : ndarray of int or None
        Which rows of the file these are, if they are not all.
    """

    labels: list[str]
    y: np.ndarray
    features: pd.DataFrame
    scale: str
    notes: list[str]
    file: Any
    rows: np.ndarray | None = None

    @property
    def degrees(self):
        """Return `y` as a frame with the names of the labels."""
        return pd.DataFrame(self.y, columns=self.labels, copy=False)
