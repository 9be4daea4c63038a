"""The cells of a file, as text or as a frame, behind one set of questions."""

import numpy as np
import pandas as pd

from inldl.io._cells import Cells
from inldl.io._numbers import MISSING, numbers


class TextSource:
    """Answer for a delimited text, whose bytes are kept as UTF-8."""

    def __init__(self, content, delimiter):
        self.cells = Cells(content, delimiter)
        self.names = self.cells.names
        self.decimal = "."

    def where(self, row):
        """Return the place of a row in words."""
        return f"Line {self.cells.line(row)}"

    def n_rows(self, enough=None):
        """Return the number of rows; stop counting at `enough`."""
        count = 0
        for block in self.cells.blocks():
            count += len(block.starts)
            if enough is not None and count >= enough:
                break
        return count

    def frame(self):
        """Return the whole table as text."""
        columns = self._texts(range(len(self.names)))
        return pd.DataFrame(dict(zip(self.names, columns, strict=True)), dtype="str")

    def read(self, labels):
        """Return the numbers of the label columns, and the other columns as a frame."""
        label_columns = [self.names.index(name) for name in labels]
        others = [j for j in range(len(self.names)) if j not in set(label_columns)]
        most = self.cells.content.count(self.cells.newline) + 1
        values, features = np.empty((most, len(labels))), np.empty((len(others), most))
        text, row = set(), 0
        for block in self.cells.blocks():
            rows = slice(row, row + len(block.starts))
            for j, column in enumerate(label_columns):
                values[rows, j] = self._degrees(block, column, row)
            text |= self._fill_numbers(features[:, rows], block, others, text)
            row = rows.stop
        return values[:row], self._features(features[:, :row], others, sorted(text))

    def _fill_numbers(self, features, block, others, text):
        """Put the numbers of the columns that are not `text` in place; return those without."""
        fresh = set()
        for j in set(range(len(others))) - text:
            found, bad = numbers(block, others[j], self.decimal)
            if bad is None:
                features[j] = found
            else:
                fresh.add(j)
        return fresh

    def _degrees(self, block, column, row):
        found, bad = numbers(block, column, self.decimal)
        if bad is not None:
            raise ValueError(
                f"{self.where(row + bad)}, column {self.names[column]!r}: "
                f"{_shortened(block.text(column)[bad])!r} is not a number with the decimal sign "
                f"{self.decimal!r}; {_ADVICE}"
            )
        return found

    def _features(self, numeric, others, text):
        """Return a frame of the numeric rows of `numeric`, with those in `text` as text."""
        names = [self.names[j] for j in others]
        if not text:
            return pd.DataFrame(numeric.T, columns=names, copy=False)
        columns = dict(zip(names, numeric, strict=True))
        for j, cells in zip(text, self._texts([others[j] for j in text]), strict=True):
            columns[names[j]] = pd.Series(cells, dtype="str").replace("", np.nan)
        return pd.DataFrame(columns)

    def _texts(self, columns):
        """Return the text of columns, a list for each."""
        found = [[] for _ in columns]
        for block in self.cells.blocks():
            for texts, column in zip(found, columns, strict=True):
                texts.extend(block.text(column))
        return found


class FrameSource:
    """Answer for a frame that pandas has read."""

    def __init__(self, frame):
        self._frame = frame
        self.names = [str(name) for name in frame.columns]

    def where(self, row):
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def n_rows(self, enough=None):
        """Return the number of rows."""
        return len(self._frame)

    def frame(self):
        """Return the whole table."""
        return self._frame

    def read(self, labels):
        """Return the numbers of the label columns, and the other columns as a frame."""
        columns = [self._degrees(self.names.index(name), name) for name in labels]
        others = [j for j, name in enumerate(self.names) if name not in labels]
        features = self._frame.iloc[:, others].set_axis([self.names[j] for j in others], axis=1)
        return np.column_stack(columns), features

    def _degrees(self, column, name):
        cells = self._frame.iloc[:, column]
        words = cells.map(lambda cell: isinstance(cell, str) and cell.strip().lower() in MISSING)
        cells = cells.mask(words.astype(bool))
        values = pd.to_numeric(cells, errors="coerce").astype("float64")
        bad = (values.isna() & cells.notna()).to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{self.where(row)}, column {name!r}: {_shortened(str(cells.iloc[row]))!r} is not "
                f"a number; {_ADVICE}"
            )
        return values.to_numpy()


_ADVICE = "correct it, or leave the cell empty if the degree is unknown."


def _shortened(text):
    return text if len(text) <= 40 else f"{text[:37]}..."
