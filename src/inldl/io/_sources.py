"""The rows of a file behind one set of questions, whatever its kind."""

from itertools import islice

import numpy as np
import pandas as pd

from inldl.io._cells import Block, Cells
from inldl.io._labels import shortened
from inldl.io._numbers import Evidence, Signs, find_signs, is_plain, numbers
from inldl.io.table import Piece

_ADVICE = "correct it, or leave the cell empty if the degree is unknown."
_SIGNS = "write all degrees with the sign, or all without it."


class TextSource:
    """Answer for a delimited text."""

    def __init__(self, content, delimiter):
        self.cells = Cells(content, delimiter)
        self.names = self.cells.names
        self.signs, self.percent = Signs(), False

    def find_signs(self, labels, decimal, thousands):
        """Find out the signs of the numbers that are not given; return notes."""
        # Where commas separate cells, a number such as 1.234 has a decimal point.
        points = self.cells.delimiter == ","
        plain = decimal != "," and (points or self._evidence(labels, labels, 1).shows_points())
        places = {}
        if not (plain and is_plain(self.cells.content, self.cells.delimiter)):
            places = self._evidence(labels, self.names).places()
        self.signs, notes = find_signs(places, self.cell, decimal, thousands, points=points)
        return notes

    def _evidence(self, labels, names, n_blocks=None):
        """Return how the numbers of some columns are written, in all blocks or the first ones."""
        found, row = Evidence(labels), 0
        for block in islice(self.cells.blocks(), n_blocks):
            for name in names:
                found.add(name, block, self.names.index(name), row)
            row += len(block.starts)
        return found

    def cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        block, row_in_block = self.cells.find(row)
        text = block.rows(row_in_block, row_in_block + 1).text(self.names.index(name))[0]
        return f"{self.where(row)}, column {name!r}", text.strip()

    def where(self, row):
        """Return the place of a row in words."""
        return f"Line {self.cells.line(row)}"

    def most_rows(self):
        """Return a number of rows that is not exceeded."""
        return self.cells.content.count(self.cells.newline) + 1

    def pieces(self, labels, features, text=()):
        """Yield pieces with the label columns, and the feature columns, those of `text` as such.

        Any other column of a piece is one of numbers if all its cells in the piece are.
        """
        label_columns = [self.names.index(name) for name in labels]
        row = 0
        for block in self.cells.blocks():
            size = len(block.starts)
            if size:
                values = np.empty((size, len(labels)))
                for j, column in enumerate(label_columns):
                    values[:, j] = self._degrees(block, column, row)
                columns = {name: self._feature(block, name, name in text) for name in features}
                frame = pd.DataFrame(columns, index=range(row, row + size), copy=False)
                yield Piece(row, size, values, frame, block)
                row += size

    def read(self, labels, features, most, keep=None):
        """Return the label columns, the feature columns as a frame, and the rows that were kept.

        `keep(piece)` chooses among the rows of a piece, at most `most` in all.
        """
        columns = [self.names.index(name) for name in features]
        values, found = np.empty((most, len(labels))), np.empty((len(features), most))
        rows, text, done = [], set(), 0
        for piece in self.pieces(labels, ()):
            chosen = None if keep is None else keep(piece)
            size = piece.size if chosen is None else int(chosen.sum())
            place = slice(done, done + size)
            values[place] = piece.values if chosen is None else piece.values[chosen]
            text |= self._fill_numbers(found[:, place], piece.raw, columns, text, chosen)
            rows.append(chosen)
            done = place.stop
        frame = self._frame(found[:, :done], features, sorted(text), rows)
        return values[:done], frame, _numbers_of(rows)

    def _fill_numbers(self, out, block, columns, text, chosen):
        """Put the numbers of the columns that are not `text` in place; return those without."""
        fresh = set()
        for j in set(range(len(columns))) - text:
            found, bad = numbers(block, columns[j], self.signs)
            if bad is None:
                out[j] = found if chosen is None else found[chosen]
            else:
                fresh.add(j)
        return fresh

    def _frame(self, numeric, names, text, rows):
        """Return a frame of the rows of `numeric`, with those in `text` as text."""
        if not text:
            return pd.DataFrame(numeric.T, columns=names, copy=False)
        cells = {names[j]: [] for j in text}
        blocks = (block for block in self.cells.blocks() if len(block.starts))
        for block, chosen in zip(blocks, rows, strict=True):
            for name, found in cells.items():
                texts = block.text(self.names.index(name))
                found.extend(
                    texts if chosen is None else [texts[i] for i in np.flatnonzero(chosen)]
                )
        columns = {name: cells.get(name, row) for name, row in zip(names, numeric, strict=True)}
        return pd.DataFrame(
            {k: _text(v) if isinstance(v, list) else v for k, v in columns.items()}
        )

    def _feature(self, block, name, as_text):
        column = self.names.index(name)
        if not as_text:
            found, bad = numbers(block, column, self.signs)
            if bad is None:
                return found
        return _text(block.text(column)).to_numpy()

    def _degrees(self, block, column, row):
        found, bad = numbers(block, column, self.signs, percent=self.percent)
        if bad is not None:
            cell = block.text(column)[bad]
            problem = f"is not a number with the decimal sign {self.signs.decimal!r}; {_ADVICE}"
            if self.percent and numbers(block.rows(bad, bad + 1), column, self.signs)[1] is None:
                problem = f"has no percent sign, but other degrees have one; {_SIGNS}"
            elif not self.percent and cell.rstrip().endswith("%"):
                problem = f"has a percent sign, but the degrees before it have none; {_SIGNS}"
            raise ValueError(
                f"{self.where(row + bad)}, column {self.names[column]!r}: {shortened(cell)!r} "
                f"{problem}"
            )
        return found


class FrameSource:
    """Answer for frames: a whole one, or batches of a Parquet file.

    Parameters
    ----------
    names : list of str
        Names of the columns that can be labels or features.
    batches : callable
        Returns an iterator over the frames that make up the table, and the raw rows of each; with
        some names, frames with these columns may be enough.
    n_rows : int
        Number of rows.
    text : list of str, optional
        Names of the columns that can hold text; all by default.
    """

    notes = ()

    def __init__(self, names, batches, n_rows, text=None):
        self.names, self._batches, self._n_rows = names, batches, n_rows
        self._text = names if text is None else text
        self.signs, self._written = Signs(), set()

    def find_signs(self, labels, decimal, thousands):
        """Find out the signs of numbers that are written as text; return notes.

        A text column is one of numbers if it has signs that numbers of a file have not: text
        such as 007 or 1.2 is text on purpose.
        """
        found, row = Evidence(labels), 0
        for frame, _ in self._batches(self._text) if self._text else ():
            for name in self._text:
                if (block := _block(frame[name])) is not None:
                    found.add(name, block, 0, row)
            row += len(frame)
        self._written = set(found.unusual()) - set(labels)
        places = found.places({*labels, *self._written})
        self.signs, notes = find_signs(places, self.cell, decimal, thousands, points=False)
        return notes

    def cell(self, row, name):
        """Return the place of a cell in words, and its text."""
        at = row
        for frame, _ in self._batches([name]):
            if at < len(frame):
                return f"{self.where(row)}, column {name!r}", str(frame[name].iloc[at]).strip()
            at -= len(frame)
        raise IndexError("the table has no such row")

    def where(self, row):
        """Return the place of a row in words."""
        return f"Row {row + 1} below the header"

    def most_rows(self):
        """Return the number of rows."""
        return self._n_rows

    def pieces(self, labels, features, text=()):
        """Yield pieces with the label columns and the feature columns."""
        row = 0
        for frame, raw in self._batches():
            values = [self._degrees(frame[name], name, row) for name in labels]
            values = np.column_stack(values) if values else np.empty((len(frame), 0))
            part = frame[list(features)].set_axis(range(row, row + len(frame)), axis=0)
            for name in self._written & set(features):
                found, bad = _numbers(part[name], self.signs)
                part = part if bad is not None else part.assign(**{name: found})
            yield Piece(row, len(frame), values, part, raw)
            row += len(frame)

    def read(self, labels, features, most, keep=None):
        """Return the label columns, the feature columns as a frame, and the rows that were kept.

        `keep(piece)` chooses among the rows of a piece, at most `most` in all.
        """
        values, frames, rows = [np.empty((0, len(labels)))], [], []
        for piece in self.pieces(labels, features):
            chosen = None if keep is None else keep(piece)
            rows.append(chosen)
            values.append(piece.values if chosen is None else piece.values[chosen])
            frames.append(piece.features if chosen is None else piece.features[chosen])
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=features)
        return np.concatenate(values), frame, _numbers_of(rows)

    def _degrees(self, cells, name, first):
        values, row = _numbers(cells, self.signs)
        if row is not None:
            cell = str(cells.iloc[row])
            advice = "write it without the sign." if cell.rstrip().endswith("%") else _ADVICE
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
    starts = ends - [len(text) for text in texts]
    data = np.frombuffer(b"".join(texts), np.uint8)
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
        written, row = numbers(block, 0, signs)
        bad += [] if row is None else [row]
        values = values if bad else np.where(words, written, values)
    return values, min(bad, default=None)


def _numbers_of(rows):
    """Return the numbers of the rows that were kept, or None if all were."""
    if all(chosen is None for chosen in rows):
        return None
    return np.flatnonzero(np.concatenate(rows))


def _text(cells):
    return pd.Series(cells, dtype="str").replace("", np.nan)
