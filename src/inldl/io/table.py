"""What a file of features and degrees holds, once it is read."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Format:
    """How a table is written down in its file; `bom` is the mark that a Unicode file starts with.

    The quotation marks are not part of it: the writer leaves every cell that it does not fill as
    it stands in the file.
    """

    kind: str
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    newline: str | None = None
    bom: bytes = b""


@dataclass(frozen=True, eq=False)
class Table:
    """Hold the degrees and the features of a table, and what is needed to write it back.

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
    format : Format
        How the file is written.
    path : Path
        The file.
    source : object
        The cells of the file, as they stand in it.
    """

    labels: list[str]
    y: np.ndarray
    features: pd.DataFrame
    scale: str
    notes: list[str]
    format: Format
    path: Path
    source: Any

    @cached_property
    def frame(self):
        """Return the whole table; each cell of a text file is the text that stands there.

        It is made when it is first asked for: a text object per cell takes many times the memory
        of the file.
        """
        return self.source.frame()
