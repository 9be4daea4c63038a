"""What a kind of column states; numbers and text: how each is recognised, encoded, exported."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from inldl.tables.columns import (
    NEARLY_ALL,
    as_number,
    as_written_number,
    column_error,
    first_infinity,
    holds_dates,
    holds_infinity,
    level_name,
)
from inldl.text import shortened

_FEW_ROWS = 20  # fewer may well differ, or go up by one, by chance
_UNSEEN, _MISSING = -1, -2  # cells that no encoded column stands for
_ID_NAME = re.compile(
    r"(?i:|id|.*[_ .-]id|index|row([_ .-]?(number|num|nr|no|index))?|unnamed: 0)|.*[a-z](Id|ID)"
)


class Column:
    """A kind of column, fitted to the cells of one. It keeps no table.

    A subclass is a frozen dataclass with the field `name`; a model file holds its fields. It is
    listed in `encoder.KINDS`, or given to `register`. A subclass states

    - ``recognise(cells, max_levels)``, a class method: the `Choice` for a column, or None if it
      is of another kind. `cells` is a `Cells`, with `numbers`, `values` and `codes`;
    - ``outputs``, a property: the names of the encoded columns;
    - ``read(cells)``: the cells of new rows as one array. Missing ones are always possible;
    - ``write(read, out)``: put some of that into an array of zeros, a column per output;

    and those of the following methods that differ.

    Attributes
    ----------
    kind : str
        What people call it, in one word.
    as_text : bool
        Whether a file must keep its cells as text, even where they all look like numbers.
    ordered : bool
        Whether its cells have a range, from `low` to `high`, that new cells can lie outside of.
    """

    name: str
    low: float
    high: float
    kind: ClassVar[str]
    as_text: ClassVar[bool] = True
    ordered: ClassVar[bool] = False

    @classmethod
    def recognise(cls, cells, max_levels) -> "Choice | None":
        """Return the choice for a column, or None if it is of another kind."""
        raise NotImplementedError

    @property
    def outputs(self) -> list[str]:
        """Return the names of the encoded columns."""
        raise NotImplementedError

    @property
    def scaling(self) -> list:
        """Return for each output what NaN is taken as, what is subtracted, and what divides."""
        return [(0.0, 0.0, 1.0)] * len(self.outputs)

    def unfamiliar(self, read) -> np.ndarray:
        """Return which cells hold what the fit has not seen, such as those outside its range."""
        if self.ordered:
            return (read < self.low) | (read > self.high)
        return np.zeros(len(read), bool)

    def add_to(self, graph) -> list[str]:
        """Add an input and nodes to an ONNX graph; return the tensors of what `write` writes."""
        raise ValueError(f"Column {self.name!r} ({self.kind}) cannot be exported to ONNX.")


@dataclass(frozen=True)
class Choice:
    """How a column is encoded, or why it is left out.

    `kind` is what people call such a column, in one word. A column of text has a number of levels,
    and if nearly all its cells are numbers, `stray` is the first that is not, and its row.
    """

    column: Column | None
    kind: str
    reason: str = ""
    n_levels: int = 0
    stray: tuple[str, int] | None = None


EMPTY = Choice(None, "empty", "it has no observed cell")
CONSTANT = Choice(None, "constant", "every cell is the same")
ID = Choice(None, "id", "every cell is different, like an id")
NEARLY_ID = Choice(None, "id", "nearly every cell is different, like an id or free text")
RUNNING = Choice(None, "id", "it is a running number")


@dataclass(frozen=True)
class CategoryColumn(Column):
    """Encode levels as one column of zeros and ones each.

    Attributes
    ----------
    name : str
        The column of the table.
    levels : tuple of str
        Those with a column of their own, the most frequent first.
    other : bool
        Whether a further column stands for all other levels: there were more in the fit.
    missing : bool
        Whether the last column says where cells are missing: some were in the fit.
    """

    kind = "text"

    name: str
    levels: tuple[str, ...]
    other: bool
    missing: bool

    @classmethod
    def recognise(cls, cells, max_levels) -> Choice | None:
        """Take any cells: those that are not numbers are names of levels."""
        infinite = first_infinity(cells)
        if infinite is not None:
            raise holds_infinity(cells.name, infinite, cls.kind)
        sizes = cells.sizes()
        total = sizes.total()
        missing = total < len(cells.codes)
        if not sizes:
            return EMPTY
        if len(sizes) == 1 and not missing:
            return CONSTANT
        choice = _text_id(cells.name, len(sizes), total)
        if choice is None:
            choice = Choice(cls.of(cells.name, sizes, missing, max_levels), cls.kind)
        return replace(choice, n_levels=len(sizes), stray=_stray(cells, sizes))

    @classmethod
    def of(cls, name, counts, missing, max_levels) -> "CategoryColumn":
        """Fit the column to the number of cells of each level."""
        levels = sorted(counts, key=lambda level: (-counts[level], level))
        return cls(name, tuple(levels[:max_levels]), len(levels) > max_levels, bool(missing))

    @property
    def outputs(self) -> list[str]:
        """Return the names of the encoded columns."""
        names = [f"{self.name}={level}" for level in self.levels]
        names += [f"{self.name}=(other)"] * self.other
        return names + [f"{self.name} missing"] * self.missing

    def read(self, cells) -> np.ndarray:
        """Return for each cell which encoded column is 1, or a negative number."""
        if cells.dates:
            raise holds_dates(self.name)
        missing = len(self.levels) + self.other if self.missing else _MISSING
        return np.array([*self._places(cells.values), missing], dtype=np.int32)[cells.codes]

    def _places(self, values):
        """Return the encoded column of each value; a number is the level that reads like it."""
        texts = {level: place for place, level in enumerate(self.levels)}
        readings = {as_written_number(level): texts[level] for level in reversed(self.levels)}
        readings.pop(None, None)  # a level that is no number
        otherwise = len(self.levels) if self.other else _UNSEEN
        numbers = [v if isinstance(v, float) else as_written_number(v) for v in values]
        return [
            texts.get(level_name(value), readings.get(number, otherwise))
            for value, number in zip(values, numbers, strict=True)
        ]

    def write(self, read, out) -> None:
        """Put a 1 into each row of an array of zeros, where the row has one."""
        rows = np.flatnonzero(read >= 0)
        out[rows, read[rows]] = 1.0

    def unfamiliar(self, read) -> np.ndarray:
        """Return which cells are no level of the fit: none, if not all levels were kept."""
        return read == _UNSEEN

    def add_to(self, graph) -> list[str]:
        """Add the zeros and ones: each level is a row of a table that is looked up."""
        n_levels = len(self.levels)
        table = np.eye(n_levels + 2, len(self.outputs))
        table[n_levels:] = 0  # the rows of other levels and of missing cells
        if self.other:
            table[n_levels, n_levels] = 1
        if self.missing:
            table[n_levels + 1, -1] = 1
        return [self._looked_up(graph, table)]

    def _looked_up(self, graph, table):
        """Add the rows of a table by level; the last are of other levels and missing cells."""
        n_levels = len(self.levels)
        code = graph.add(
            "LabelEncoder",
            graph.add_input(self.name, 1, text=True),
            domain="ai.onnx.ml",
            keys_strings=[*self.levels, ""],
            values_int64s=[*range(n_levels), n_levels + 1],
            default_int64=n_levels,
        )
        return graph.add("Gather", table, graph.add("Squeeze", code, np.array([1])), axis=0)


def _text_id(name, n_levels, total):
    """Return the choice for text that tells rows apart and no groups of rows, or None."""
    if n_levels == total > 1 and (total > _FEW_ROWS or _ID_NAME.fullmatch(name)):
        return ID
    nearly = total > _FEW_ROWS and n_levels > NEARLY_ALL * total
    return NEARLY_ID if nearly else None


def _stray(cells, sizes):
    """Return the first cell that is no number and its row, if nearly all others are numbers."""
    stray = [as_written_number(level_name(value)) is None for value in cells.values]
    rows = np.append(stray, False)[cells.codes]
    if not NEARLY_ALL <= (sizes.total() - rows.sum()) / sizes.total() < 1:
        return None
    row = int(np.argmax(rows))
    return shortened(level_name(cells.values[cells.codes[row]])), row


@dataclass(frozen=True)
class NumberColumn(Column):
    """Encode numbers as ``(x - center) / scale``.

    Attributes
    ----------
    name : str
        The column of the table.
    center, scale : float
        Mean and standard deviation of the observed cells of the fit.
    fill : float
        What a missing cell is taken as: the median.
    indicator : bool
        Whether a second column says where cells are missing: some were in the fit.
    low, high : float
        The smallest and the largest cell of the fit.
    """

    kind = "number"
    as_text = False
    ordered = True

    name: str
    center: float
    scale: float
    fill: float
    indicator: bool
    low: float
    high: float

    @classmethod
    def recognise(cls, cells, max_levels) -> Choice | None:
        """Take cells that are all numbers or truth values."""
        if cells.numbers is None:
            return None
        observed = cells.numbers[~np.isnan(cells.numbers)]
        if not len(observed):
            return EMPTY
        low, high = observed.min(), observed.max()
        if np.isinf(low) or np.isinf(high):
            kind = CategoryColumn.kind if cells.stored is None else cls.kind
            raise holds_infinity(cells.name, int(np.argmax(np.isinf(cells.numbers))), kind)
        missing = len(observed) < len(cells.numbers)
        if low == high and not missing:
            return CONSTANT
        left_out = _number_id(cells.name, observed, missing)
        return left_out or Choice(cls.of(cells.name, observed, missing), cls.kind)

    @classmethod
    def of(cls, name, observed, indicator) -> "NumberColumn":
        """Fit the column to its observed cells, which are finite and may be huge or tiny."""
        low, high = float(observed.min()), float(observed.max())
        if low == high:  # a mean would differ from it by rounding
            return cls(name, low, 1.0, low, bool(indicator), low, high)
        # A power of two changes no digit, and no square overflows or vanishes after it.
        exponent = int(np.frexp(max(high, -low))[1])
        unit = 2.0 ** max(min(exponent, 1023), -1000)
        scaled = observed / unit
        median, mean = np.median(scaled), scaled.mean()
        scaled -= mean
        deviation = np.sqrt(np.square(scaled, out=scaled).mean())
        scale = max(float(deviation * unit), float(np.nextafter(0, 1)))
        center, fill = float(mean * unit), float(median * unit)
        return cls(name, center, scale, fill, bool(indicator), low, high)

    @property
    def outputs(self) -> list[str]:
        """Return the names of the encoded columns."""
        return [self.name, f"{self.name} missing"] if self.indicator else [self.name]

    @property
    def scaling(self) -> list:
        """Return fill, center and scale; an indicator stays as it is."""
        own = (self.fill, self.center, self.scale)
        return [own, (0.0, 0.0, 1.0)] if self.indicator else [own]

    def read(self, cells) -> np.ndarray:
        """Return the cells as an array of numbers, NaN where missing."""
        if cells.stored is not None:
            return cells.stored
        if cells.dates:
            raise holds_dates(self.name)
        numbers = [as_number(value) for value in cells.values]
        for value in cells.seen if None in numbers else ():
            if as_number(value) is None:
                raise column_error(
                    self.name,
                    CategoryColumn.kind,
                    "held numbers when the model was fitted, but {row} holds {cell}; give a "
                    "number or leave the cell empty",
                    row=cells.first_row(value),
                    cell=repr(shortened(value)),
                )
        return np.array([*numbers, np.nan], dtype=np.float64)[cells.codes]

    def write(self, read, out) -> None:
        """Put the numbers as they are, and where they are missing, into an array of zeros."""
        out[:, 0] = read
        if self.indicator:
            out[:, 1] = np.isnan(read)

    def add_to(self, graph) -> list[str]:
        """Add the numbers as they are, and where they are missing."""
        cells = graph.add_input(self.name, 1)
        return [cells, graph.add_flags("IsNaN", cells)] if self.indicator else [cells]


def _number_id(name, observed, missing):
    """Return the choice for whole numbers that are an id and no measurement, or None."""
    if (np.rint(observed) != observed).any():
        return None
    years = observed.min() >= 1800 and observed.max() <= 2100
    running = len(observed) > _FEW_ROWS and not missing and (np.diff(observed) == 1).all()
    if running and not years:
        return RUNNING
    named = _ID_NAME.fullmatch(name) and len(np.unique(observed)) == len(observed) > 1
    return ID if named else None
