"""What the formats have in common whose files are read as frames."""

from dataclasses import replace

import numpy as np
import pandas as pd

from inldl._text import shortened
from inldl.io._numbers import ADVICE, SignEvidence, find_signs, numbers
from inldl.io._tokenizer import Block
from inldl.io.table import Format, Piece


class FrameFormat:
    """A table in a file that is read as frames; see `inldl.io.table.TableFormat`.

    A format has `kind`, its name in `Format`; `open(path)`, which sets `names` and `n_rows` and
    may set `text_names` and `notes`; `frames(names=None)`, which yields the frames that make up
    the table, of some columns at least, and the raw rows of each; and `writer`.
    """

    text_names = None  # the columns that can hold text; all by default

    def __init__(self, path, *, delimiter=None, encoding=None):
        self.path, self.format, self.notes = path, Format(self.kind), []
        self._written = set()  # columns of numbers that are written as text
        try:
            self.open(path)
        except Exception as error:  # each package has errors of its own
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{path} cannot be read as {path.suffix}: {error}") from None

    def find_signs(self, labels, decimal, thousands):
        """Find out the signs of numbers that are written as text.

        A text column is one of numbers if it has signs that numbers of a file have not: text
        such as 007 or 1.2 is text on purpose.
        """
        found, row = SignEvidence(labels), 0
        names = self.names if self.text_names is None else self.text_names
        for frame, _ in self.frames(names) if names else ():
            for name in names:
                if (block := _block(frame[name])) is not None:
                    found.add(name, block, 0, row)
            row += len(frame)
        self._written = set(found.unusual()) - set(labels)
        places = found.places({*labels, *self._written})
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=False)
        self.format, self.notes = replace(self.format, **signs), self.notes + notes

    def _cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        at = row
        for frame, _ in self.frames([name]):
            if at < len(frame):
                return f"{self.where(row)}, column {name!r}", str(frame[name].iloc[at]).strip()
            at -= len(frame)
        raise IndexError("the table has no such row")

    def where(self, row):
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def most_rows(self):
        """Return the number of rows."""
        return self.n_rows

    def pieces(self, labels, features, text=()):
        """Yield pieces with the label columns and the feature columns."""
        row = 0
        for frame, raw in self.frames():
            values = np.empty((len(frame), len(labels)))
            for j, name in enumerate(labels):
                values[:, j] = self._degrees(frame[name], name, row)
            part = frame[list(features)].set_axis(range(row, row + len(frame)), axis=0)
            for name in self._written & set(features):
                found, bad = _numbers(part[name], self.format)
                part = part if bad is not None else part.assign(**{name: found})
            yield Piece(row, len(frame), values, part, raw)
            row += len(frame)

    def texts(self, names, rows):
        """Return nothing: the pieces have all columns."""
        return {}

    def check_name(self, name):
        """Take any name."""

    def _degrees(self, cells, name, first):
        values, row = _numbers(cells, self.format)
        if row is not None:
            cell = str(cells.iloc[row])
            advice = "write it without the sign." if cell.rstrip().endswith("%") else ADVICE
            raise ValueError(
                f"{self.where(first + row)}, column {name!r}: {shortened(cell)!r} is not a "
                f"number; {advice}"
            )
        return values


def _block(cells):
    """Return a column as a block, with nothing where a cell is no text; None if none is."""
    texts = [cell.encode() if isinstance(cell, str) else b"" for cell in cells]
    ends = np.cumsum([len(text) for text in texts])
    if not len(ends) or not ends[-1]:
        return None
    data, starts = np.frombuffer(b"".join(texts), np.uint8), np.concatenate([[0], ends[:-1]])
    return Block(data, 0, starts[:, None], ends[:, None])


def _numbers(cells, signs):
    """Return the numbers of a column of a frame, and the first row that is none, or None."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.to_numpy("float64", na_value=np.nan), None
    cells = cells.astype(object)
    words = np.array([isinstance(cell, str) for cell in cells], bool)
    values = pd.to_numeric(cells.mask(words), errors="coerce").to_numpy("float64", na_value=np.nan)
    bad = np.flatnonzero(np.isnan(values) & cells.notna().to_numpy() & ~words).tolist()
    block = _block(cells)
    if block is not None:
        found, row = numbers(block, 0, signs)
        bad += [] if row is None else [row]
        values = values if bad else np.where(words, found, values)
    return values, min(bad, default=None)
