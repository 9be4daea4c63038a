"""What formats have in common whose files are read a block of rows at a time, as frames or not."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from inldl.tables.bounded_cells import Bounds, read_bounds, what_is_wrong
from inldl.tables.numbers import (
    Kind,
    Place,
    SignEvidence,
    find_signs,
    parse_cells,
    parse_column,
    without_numbers,
)
from inldl.tables.options import FileOptions
from inldl.tables.table import Format, Piece
from inldl.text import shortened

NOTHING_SAID = FileOptions(na=())
_FIRST = 1000  # rows that tell whether degrees have percent signs


class BlockFormat:
    """A table in a file that is read in blocks; see `inldl.tables.table.TableFormat`.

    A format has `names`, `notes` and `format`; `blocks(names=None)`, which yields blocks of rows,
    with some columns at least, that have a `size` and `raw` rows; `_cells(block, names)` and
    `_numbers(block, names)`, the cells of columns, and the columns that have nothing but numbers;
    `_sign_places(labels, decimal)`, and `_features`.
    """

    names: list[str]
    notes: list[str]
    format: Format
    points = False  # whether 1.234 has a decimal point if nothing else shows it
    blocks: Callable[..., Iterator[Any]]
    where: Callable[[int], str]
    _cells: Callable[[Any, Sequence[str]], dict[str, list]]
    _numbers: Callable[[Any, Sequence[str]], dict[str, np.ndarray]]
    _features: Callable[..., pd.DataFrame]
    _sign_places: Callable[[Sequence[str], str | None], dict[Kind, Place]]

    def find_signs(self, labels, decimal, thousands) -> None:
        """Find out the signs of the numbers that are not given."""
        places = self._sign_places(labels, decimal)
        signs, notes = find_signs(places, self._cell, decimal, thousands, points=self.points)
        self.notes = self.notes + notes
        self.format = replace(self.format, percent=self._have_percent_signs(labels), **signs)

    def _evidence(self, labels, names, n_blocks=None):
        """Return how the numbers of some columns are written, in all blocks or the first ones."""
        evidence, row = SignEvidence(labels, self.format.na), 0
        for block in islice(self.blocks(names), n_blocks) if names else ():
            for name, cells in self._shapes(block, names).items():
                evidence.add(name, cells, row)
            row += block.size
        return evidence

    def _shapes(self, block, names):
        """Return cells in which numbers have the signs of those in the file."""
        return self._cells(block, names)

    def _have_percent_signs(self, labels):
        """Return whether a degree of the first rows has a percent sign, and none is a number."""
        first = next(self.blocks(labels), None) if labels else None
        columns = {} if first is None else self._cells(first, labels)
        cells = [cell for column in columns.values() for cell in column[:_FIRST]]
        texts = [cell for cell in cells if isinstance(cell, str)]
        signed = any(text.rstrip().endswith("%") for text in texts)
        return signed and len(texts) + sum(map(pd.isna, cells)) == len(cells)

    def _cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        block, at = self._find(row, [name])
        cell = self._cells(block, [name])[name][at]
        return f"{self.where(row)}, column {name!r}", str(cell).strip()

    def _find(self, row, names=None):
        """Return the block that holds a row, and the number of the row in it."""
        for block in self.blocks(names):
            if row < block.size:
                return block, row
            row -= block.size
        raise IndexError("the table has no such row")

    def pieces(self, labels, features, text=()) -> Iterator[Piece]:
        """Yield pieces with the label columns and the feature columns."""
        row, plain = 0, [] if self.format.percent else labels
        tried = [name for name in features if text is None or name not in text]
        for block in self.blocks():
            numbers = self._numbers(block, [*plain, *tried])
            values, bounds = self._degrees(block, labels, numbers, row)
            index = range(row, row + block.size)
            frame = self._features(block, features, text, numbers, index)
            yield Piece(row, block.size, values, frame, block.raw, bounds)
            row += block.size

    def _degrees(self, block, labels, numbers, first) -> tuple[np.ndarray, Bounds | None]:
        """Return the numbers of the label columns, and the bounds that their other cells give."""
        values, form = np.empty((block.size, len(labels))), self.format
        bounds = None
        other = self._cells(block, [n for n in labels if form.percent or n not in numbers])
        for j, name in enumerate(labels):
            if name not in other:
                values[:, j] = numbers[name]
                continue
            values[:, j], rows = parse_cells(other[name], form, percent=form.percent)
            for row in rows.tolist():
                cell = other[name][row]
                read = read_bounds(str(cell), form)
                if isinstance(read, str):
                    raise ValueError(
                        f"{self.where(first + row)}, column {name!r}: {shortened(str(cell))!r} "
                        f"{read or what_is_wrong(cell, form)}"
                    )
                bounds = bounds or Bounds.none(values.shape, (str(cell).strip(), *read))
                bounds.limits[:, row, j] = read
        return values, bounds


class FrameBlock(NamedTuple):
    """Some rows as a frame, and as the format writes them."""

    frame: pd.DataFrame
    raw: Any

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return len(self.frame)


class FrameFormat(BlockFormat):
    """A table in a file that is read as frames; see `inldl.tables.table.TableFormat`.

    A format has `kind`, its name in `Format`; `open(path)`, which sets `names` and `n_rows` and
    may set `text_names` and `notes` (one with `sheets` looks at the sheet and the rows to skip in
    `opening`); `frames(names=None)`, which yields the frames that make up the table, of some
    columns at least, and the raw rows of each; `write_new` and `writer`.
    """

    kind: str
    n_rows: int
    text_names: list[str] | None = None  # the columns that can hold text; all by default
    sheets = False  # whether a file has sheets, with room around their tables
    open: Callable[[Path], None]
    frames: Callable[..., Iterator[tuple[pd.DataFrame, Any]]]

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

    def blocks(self, names=None) -> Iterator[FrameBlock]:
        """Yield the frames."""
        return (FrameBlock(*each) for each in self.frames(names))

    def _cells(self, block, names):
        return {name: block.frame[name].tolist() for name in names}

    def _numbers(self, block, names):
        columns = {n: block.frame[n] for n in names}
        columns = {n: c for n, c in columns.items() if pd.api.types.is_numeric_dtype(c)}
        return {n: without_numbers(_floats(c), self.format.na) for n, c in columns.items()}

    def _sign_places(self, labels, decimal):
        """Return where signs of numbers in cells of text are.

        A text column is one of numbers if it has signs that numbers of a file have not: text
        such as 007 or 1.2 is text on purpose.
        """
        names = self.names if self.text_names is None else self.text_names
        evidence = self._evidence(labels, names)
        self._written = set(evidence.unusual()) - set(labels)
        return evidence.places({*labels, *self._written})

    def where(self, row) -> str:
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def most_rows(self) -> int:
        """Return the number of rows."""
        return self.n_rows

    def check_name(self, name) -> None:
        """Take any name."""

    def _features(self, block, names, text, numbers, index):
        part = block.frame[list(names)].set_axis(index, axis=0)
        for name, cells in self._cells(block, self._written & set(names)).items():
            found = parse_column(cells, self.format)
            part = part if found is None else part.assign(**{name: found})
        return part.apply(_without, na=self.format.na) if self.format.na else part


def _floats(column):
    return column.to_numpy("float64", na_value=np.nan)


def _without(cells: pd.Series, na: Collection[str]) -> pd.Series:
    """Return a column of a frame without the words and numbers that mean missing."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.mask(np.isnan(without_numbers(_floats(cells), na)))
    words = {word.lower() for word in na}
    missing = [isinstance(cell, str) and cell.strip().lower() in words for cell in cells]
    return cells.mask(np.array(missing, bool)) if any(missing) else cells
