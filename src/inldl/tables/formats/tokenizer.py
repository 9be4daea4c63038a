"""Split a delimited text into cells where they stand, without changing or copying them."""

from dataclasses import dataclass, replace

import numpy as np

from inldl import kernels

DELIMITERS = (",", ";", "\t", "|")
_QUOTE = ord('"')
_RETURN = ord("\r")
_BLOCK = 1 << 21  # bytes: small enough to stay near the processor, large enough for numpy
_SAMPLE = 1 << 16  # bytes that tell the delimiter


@dataclass(frozen=True)
class Block:
    """Hold some rows of a table: the bytes and the bounds of each cell, quotes included."""

    data: np.ndarray
    offset: int
    starts: np.ndarray
    ends: np.ndarray
    quotes: bool = True  # whether there may be quotation marks

    def rows(self, chosen):
        """Return some of the rows of the block, chosen by a slice or by truth values."""
        return replace(self, starts=self.starts[chosen], ends=self.ends[chosen])

    def quoted(self, column):
        """Return which cells of a column stand in quotation marks."""
        starts, ends = self.starts[:, column], self.ends[:, column]
        if not self.quotes:
            return np.zeros(len(starts), bool)
        last = len(self.data) - 1
        return (starts < ends) & (self.data[np.minimum(starts, last)] == _QUOTE)

    def bounds(self, column):
        """Return the start and end of each cell of a column without its quotes."""
        quoted = self.quoted(column)
        return self.starts[:, column] + quoted, self.ends[:, column] - quoted

    def text(self, column):
        """Return the text of each cell of a column."""
        content = self.data.tobytes()
        bounds = zip(*(bound.tolist() for bound in self.bounds(column)), strict=True)
        cells = [content[start:end].decode("utf-8") for start, end in bounds]
        if self.quotes:
            quoted = self.quoted(column).tolist()
            cells = [c.replace('""', '"') if q else c for c, q in zip(cells, quoted, strict=True)]
        return cells


def cells_of(texts):
    """Return texts as the cells of a block with one column."""
    content = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in content], dtype=np.int64)
    data, starts = np.frombuffer(b"".join(content), np.uint8), np.append(0, ends)[:-1]
    return Block(data, 0, starts[:, None], ends[:, None])


class Cells:
    """Walk over the rows of a delimited text, a block at a time.

    Quotation marks follow RFC 4180: a cell that holds a delimiter, a line break or a quotation
    mark stands in quotation marks, and those inside it are doubled. Empty lines are no rows. The
    table reaches from byte `start` of the text to byte `stop`.
    """

    def __init__(self, content, delimiter, block=_BLOCK, start=0, stop=None):
        self.content, self.delimiter, self._size = content, delimiter, block
        self.start, self.stop = start, content.size if stop is None else stop
        sample = content.read(0, _BLOCK)
        self.newline = b"\n" if b"\n" in sample or b"\r" not in sample else b"\r"
        self.names, self.header_end, self._n_columns = [], 0, None
        header = next(self._blocks(), None)
        if header is not None:
            self.header_end = header.offset + int(header.ends[0, -1])
            self.names = [header.rows(slice(1)).text(j)[0].strip() for j in range(self._n_columns)]

    def blocks(self):
        """Yield the blocks of rows below the header."""
        blocks = self._blocks()
        header = next(blocks, None)
        if header is not None and len(header.starts) > 1:
            yield header.rows(slice(1, None))
        yield from blocks

    def line(self, row):
        """Return the line of the file in which a row starts; the first line is 1."""
        block = self.row(row)
        return self._line(block.offset + int(block.starts[0, 0]))

    def row(self, row):
        """Return a block that holds only the row of a number."""
        for block in self.blocks():
            if row < len(block.starts):
                return block.rows(slice(row, row + 1))
            row -= len(block.starts)
        raise IndexError("the table has no such row")

    def _line(self, position):
        return self.content.count(self.newline, position) + 1

    def _blocks(self):
        start = self.start
        while start < self.stop:
            data, inside = self._whole_rows(start)
            block = self._split(data, start, inside)
            start += len(data)
            if len(block.starts):
                yield block

    def _whole_rows(self, start):
        """Return the bytes of the next whole rows, and which of them are inside quotes."""
        size = self._size
        while True:
            stop = min(start + size, self.stop)
            text = self.content.read(start, stop)
            data, inside = np.frombuffer(text, np.uint8), None
            if b'"' in text:
                inside = self._inside_quotes(start, data)
            if stop == self.stop:
                return data, inside
            length = text.rfind(self.newline) + 1
            while length and inside is not None and inside[length - 1]:
                length = text.rfind(self.newline, 0, length - 1) + 1
            if length:
                return data[:length], None if inside is None else inside[:length]
            size *= 2

    def _inside_quotes(self, start, data):
        """Return which bytes are inside quotes.

        Quotes that open inside a cell, close inside one, or do not close are refused.
        """
        marks = data == _QUOTE
        inside, quotes = np.logical_xor.accumulate(marks), np.flatnonzero(marks)
        opens = inside[quotes]
        bad = np.where(opens, self._is_text(data, quotes - 1), self._is_text(data, quotes + 1))
        returns = ~opens & bad & (data[np.minimum(quotes + 1, len(data) - 1)] == _RETURN)
        bad[returns] = self._is_text(data, quotes[returns] + 2)  # "\r\n" ends a row too
        if bad.any():
            self._refuse_quotes(
                start + int(quotes[np.argmax(bad)]), "has a quotation mark inside a cell"
            )
        if inside[-1] and start + len(data) >= self.stop:
            self._refuse_quotes(
                start + int(quotes[opens][-1]), "opens a quotation mark that is never closed"
            )
        return inside

    def _is_text(self, data, positions):
        """Return which positions are in the data and hold neither a quote nor a separator."""
        known = (positions >= 0) & (positions < len(data))
        separators = [_QUOTE, self.newline[0], ord(self.delimiter)]
        return known & ~np.isin(data[np.where(known, positions, 0)], separators)

    def _refuse_quotes(self, position, problem):
        before = self.content.read(max(0, position - _BLOCK), position)
        before = before[before.rfind(self.newline) + 1 :]
        column = before.count(self.delimiter.encode()) + 1
        raise ValueError(
            f"Line {self._line(position)} {problem}, near column {column}; put the whole cell "
            "into quotation marks and double those inside it."
        )

    def _split(self, data, start, inside):
        signs = ord(self.delimiter), self.newline[0]
        most = sum(np.count_nonzero(data == sign) for sign in signs)  # few, where cells are long
        ends = np.empty(most + 1, np.int64)
        ends = ends[: kernels.find_bytes(data, *signs, ends)]
        if inside is not None:
            ends = ends[~inside[ends]]
        closes = data[ends] == self.newline[0]
        if not len(ends) or not closes[-1] or ends[-1] != len(data) - 1:
            ends, closes = np.append(ends, len(data)), np.append(closes, True)
        starts = np.concatenate([[0], ends[:-1] + 1])
        last = np.flatnonzero(closes)
        # A row ends before "\r\n", not only before "\n".
        ends[last] -= (ends[last] > starts[last]) & (data[ends[last] - 1] == _RETURN)
        return self._rows(Block(data, start, starts, ends, inside is not None), last)

    def _rows(self, cells, last):
        """Arrange the cells, of which those at `last` end a row, in rows and columns."""
        counts = np.diff(last, prepend=-1)
        first = last - counts + 1
        keep = (counts > 1) | (cells.starts[first] < cells.ends[first])
        if self._n_columns is None and keep.any():
            self._n_columns = int(counts[np.argmax(keep)])
        bad = keep & (counts != self._n_columns)
        if bad.any():
            row = int(np.argmax(bad))
            line = self._line(cells.offset + int(cells.starts[first[row]]))
            raise ValueError(
                f"Line {line} has {counts[row]} cells but the header has {self._n_columns} "
                f"(delimiter {self.delimiter!r}); give it a cell for each column, put cells with "
                "a delimiter in them into quotation marks, or leave out lines around the table "
                "with skip_rows and skip_last (--skip-rows, --skip-last)."
            )
        starts, ends = cells.starts, cells.ends
        if not keep.all():
            chosen = np.repeat(keep, counts)
            starts, ends = starts[chosen], ends[chosen]
        shape = (-1, self._n_columns or 1)
        return replace(cells, starts=starts.reshape(shape), ends=ends.reshape(shape))


def find_delimiter(content, start=0):
    """Return the delimiter with which most rows have as many cells as the header.

    If the first row is a title, that is the one with which most rows have equally many.
    """
    sample = content.read(start, start + _SAMPLE)
    if content.size > start + _SAMPLE:  # the last line is likely to be cut
        sample = sample[: max(sample.rfind(b"\n"), sample.rfind(b"\r")) + 1] or sample
    counts = {delimiter: _counts(sample, delimiter) for delimiter in DELIMITERS}
    found = {d: _agreement(each, each[:1].sum()) for d, each in counts.items()}
    if max(found.values()) < (0.9, 0):
        found = {d: _agreement(each, _most_frequent(each)) for d, each in counts.items()}
    return max(DELIMITERS, key=lambda delimiter: found[delimiter])


def _counts(sample, delimiter):
    """Return the number of cells of each row."""
    data = np.frombuffer(sample, np.uint8)
    outside = ~np.logical_xor.accumulate(data == _QUOTE)
    newline = b"\n" if b"\n" in sample else b"\r"
    breaks = np.flatnonzero(outside & (data == newline[0]))
    edges = np.unique(np.concatenate([[-1], breaks, [len(data)]]))
    marks = np.concatenate([[0], np.cumsum(outside & (data == ord(delimiter)))])
    counts = np.diff(marks[np.minimum(edges + 1, len(data))]) + 1
    return counts[np.diff(edges) > 2]  # longer than "\r": no empty line


def _agreement(counts, expected):
    """Return the share of rows with as many cells as expected, and how many these are."""
    if expected < 2:
        return 0.0, 0
    return float(np.mean(counts == expected)), int(expected)


def _most_frequent(counts):
    return np.argmax(np.bincount(counts)) if len(counts) else 0
