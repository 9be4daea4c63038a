"""What the formats have in common whose files are read as frames."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from inldl.tables.bounded_cells import BoundedCells, what_is_wrong
from inldl.tables.numbers import (
    SignEvidence,
    find_signs,
    is_hole,
    parse_cells,
    without_numbers,
)
from inldl.tables.options import FileOptions
from inldl.tables.table import Format, Piece
from inldl.text import shortened

NOTHING_SAID = FileOptions(na=())
_FIRST = 1000  # rows that tell whether degrees have percent signs


class FrameFormat:
    """A table in a file that is read as frames; see `inldl.tables.table.TableFormat`.

    A format has `kind`, its name in `Format`; `open(path)`, which sets `names` and `n_rows` and
    may set `text_names` and `notes` (one with `sheets` looks at the sheet and the rows to skip in
    `opening`); `frames(names=None)`, which yields the frames that make up the table, of some
    columns at least, and the raw rows of each; and `writer`.
    """

    text_names = None  # the columns that can hold text; all by default
    sheets = False  # whether a file has sheets, with room around their tables

    def __init__(self, path, opening=NOTHING_SAID):
        self.path, self.format, self.notes = path, Format(self.kind, na=opening.na), []
        self.opening = opening
        if not self.sheets:
            opening.refuse_sheet(path)
            opening.refuse_skipping(path)
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
                found.add(name, _texts(frame[name]), row)
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
            bounded = BoundedCells(values.shape, self.format)
            for j, name in enumerate(labels):
                values[:, j] = self._degrees(frame[name], name, row, partial(bounded.add, j))
            part = frame[list(features)].set_axis(range(row, row + len(frame)), axis=0)
            for name in self._written & set(features):
                found, *bad = _numbers(part[name], self.format)
                part = part if any(bad) else part.assign(**{name: found})
            if self.format.na:
                part = part.apply(_without, na=self.format.na)
            yield Piece(row, len(frame), values, part, raw, bounded.found)
            row += len(frame)

    def check_name(self, name):
        """Take any name."""

    def _degrees(self, cells, name, first, add_bounds):
        """Return the numbers of a label column; what its other cells say goes to `add_bounds`."""
        percent = self.format.percent
        values, refused, text = _numbers(cells, self.format, percent=percent)
        bad = add_bounds(text, [cells.iloc[row] for row in text])
        problems = [*((row, "") for row in refused), *([] if bad is None else [bad])]
        if problems:
            row, problem = min(problems)
            cell = cells.iloc[row]
            raise ValueError(
                f"{self.where(first + row)}, column {name!r}: {shortened(str(cell))!r} "
                f"{problem or what_is_wrong(cell, self.format)}"
            )
        return values


def _texts(cells):
    """Return the cells of a column, with nothing where one is no text."""
    return [cell if isinstance(cell, str) else "" for cell in cells]


def _numbers(cells, signs, *, percent=False):
    """Return the numbers of a column of a frame, the rows that hold none, and those of text.

    With `percent` they must be text with percent signs.
    """
    if pd.api.types.is_numeric_dtype(cells) and not (percent and cells.notna().any()):
        return without_numbers(cells.to_numpy("float64", na_value=np.nan), signs.na), [], []
    cells = cells.astype(object)
    words = np.array([isinstance(cell, str) for cell in cells], bool)
    values = pd.to_numeric(cells.mask(words), errors="coerce").to_numpy("float64", na_value=np.nan)
    refused = np.flatnonzero(~words & cells.notna().to_numpy() & (np.isnan(values) | percent))
    found, text = parse_cells(_texts(cells), signs, percent=percent)
    values, text = np.where(words, found, values), text.tolist()
    return without_numbers(values, signs.na), refused.tolist(), text


def _without(cells, na):
    """Return a column of a frame without the words and numbers that mean missing."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.mask(
            np.isnan(without_numbers(cells.to_numpy("float64", na_value=np.nan), na))
        )
    words = {word.lower() for word in na}
    missing = [isinstance(cell, str) and cell.strip().lower() in words for cell in cells]
    return cells.mask(np.array(missing, bool)) if any(missing) else cells
