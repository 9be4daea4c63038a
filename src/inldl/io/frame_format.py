"""What the formats have in common whose files are read as frames."""

from dataclasses import replace

import numpy as np
import pandas as pd

from inldl._text import shortened
from inldl.io._numbers import (
    ADVICE,
    SignEvidence,
    find_signs,
    is_hole,
    numbers,
    without_numbers,
)
from inldl.io._tokenizer import Block
from inldl.io.table import Format, Piece, refuse_sheet, refuse_skipping

_FIRST = 1000  # rows that tell whether degrees have percent signs


class FrameFormat:
    """A table in a file that is read as frames; see `inldl.io.table.TableFormat`.

    A format has `kind`, its name in `Format`; `open(path)`, which sets `names` and `n_rows` and
    may set `text_names` and `notes` (one with `sheets` looks at `sheet`, `skip_rows` and
    `skip_last`); `frames(names=None)`, which yields the frames that make up
    the table, of some columns at least, and the raw rows of each; and `writer`.
    """

    text_names = None  # the columns that can hold text; all by default
    sheets = False  # whether a file has sheets, with room around their tables

    def __init__(
        self,
        path,
        *,
        delimiter=None,
        encoding=None,
        na=(),
        skip_rows=None,
        skip_last=None,
        sheet=None,
    ):
        self.path, self.format, self.notes = path, Format(self.kind, na=na), []
        self.sheet, self.skip_rows, self.skip_last = sheet, skip_rows, skip_last
        if not self.sheets:
            refuse_sheet(path, sheet)
            refuse_skipping(path, skip_rows, skip_last)
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
        found, row = SignEvidence(labels, self.format.na), 0
        names = self.names if self.text_names is None else self.text_names
        for frame, _ in self.frames(names) if names else ():
            for name in names:
                if (block := _block(frame[name])) is not None:
                    found.add(name, block, 0, row)
            row += len(frame)
        self._written = set(found.unusual()) - set(labels)
        places = found.places({*labels, *self._written})
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=False)
        signs["percent"] = self._have_percent_signs(labels)
        self.format, self.notes = replace(self.format, **signs), self.notes + notes

    def _have_percent_signs(self, labels):
        """Return whether the degrees of the first rows are text with percent signs."""
        frame = next((frame for frame, _ in self.frames(labels)), None) if labels else None
        if frame is None:
            return False
        cells = [cell for name in labels for cell in frame[name][:_FIRST].dropna()]
        cells = [cell for cell in cells if not is_hole(cell, self.format.na)]
        signed = [isinstance(cell, str) and cell.rstrip().endswith("%") for cell in cells]
        return bool(signed) and all(signed)

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
            if self.format.na:
                part = part.apply(_without, na=self.format.na)
            yield Piece(row, len(frame), values, part, raw)
            row += len(frame)

    def texts(self, names, rows):
        """Return nothing: the pieces have all columns."""
        return {}

    def check_name(self, name):
        """Take any name."""

    def _degrees(self, cells, name, first):
        values, row = _numbers(cells, self.format, percent=self.format.percent)
        if row is not None:
            cell = str(cells.iloc[row])
            advice = "write it without the sign." if cell.rstrip().endswith("%") else ADVICE
            if self.format.percent and not cell.rstrip().endswith("%"):
                advice = "write all degrees with a percent sign, or all without it."
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


def _numbers(cells, signs, *, percent=False):
    """Return the numbers of a column of a frame, and the first row that is none, or None.

    With `percent` they must be text with percent signs.
    """
    if pd.api.types.is_numeric_dtype(cells) and not (percent and cells.notna().any()):
        return without_numbers(cells.to_numpy("float64", na_value=np.nan), signs.na), None
    cells = cells.astype(object)
    words = np.array([isinstance(cell, str) for cell in cells], bool)
    values = pd.to_numeric(cells.mask(words), errors="coerce").to_numpy("float64", na_value=np.nan)
    refused = ~words & cells.notna().to_numpy() & (np.isnan(values) | percent)
    bad = np.flatnonzero(refused).tolist()
    block = _block(cells)
    if block is not None:
        found, row = numbers(block, 0, signs, percent=percent)
        bad += [] if row is None else [row]
        values = values if bad else np.where(words, found, values)
    return without_numbers(values, signs.na), min(bad, default=None)


def _without(cells, na):
    """Return a column of a frame without the words and numbers that mean missing."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.mask(
            np.isnan(without_numbers(cells.to_numpy("float64", na_value=np.nan), na))
        )
    words = {word.lower() for word in na}
    missing = [isinstance(cell, str) and cell.strip().lower() in words for cell in cells]
    return cells.mask(np.array(missing, bool)) if any(missing) else cells
