"""How one column of a table becomes columns of numbers: fitted, with no table kept."""

from dataclasses import dataclass

import numpy as np

from inldl.tables._cells import (
    as_number,
    as_written_number,
    has_numbers,
    level_name,
    read_levels,
    stored_numbers,
)
from inldl.tables._refusals import refuse_dates, refuse_text


@dataclass(frozen=True)
class NumberColumn:
    """Encode numbers as ``(x - center) / scale``.

    Attributes
    ----------
    name : str
        The column of the table.
    center, scale : float
        Mean and standard deviation of the observed cells of the fit.
    fill : float
        What a hole is taken as: the median.
    indicator : bool
        Whether a second column says where the holes are: there were some in the fit.
    low, high : float
        The smallest and the largest cell of the fit; model files of old lack them.
    """

    name: str
    center: float
    scale: float
    fill: float
    indicator: bool
    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of(cls, name, observed, indicator):
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
    def outputs(self):
        """Return the names of the encoded columns."""
        return [self.name, f"{self.name} missing"] if self.indicator else [self.name]

    def read(self, series):
        """Return the cells as an array of numbers, NaN for holes."""
        if has_numbers(series):
            return stored_numbers(series)
        levels = read_levels(self.name, series)
        if levels.dates:
            refuse_dates(self.name)
        values = [as_number(value) for value in levels.values]
        for code in np.flatnonzero([value is None for value in values]):
            if (levels.codes == code).any():
                refuse_text(self.name, levels.first_row(code), levels.values[code])
        return np.array([*values, np.nan], dtype=np.float64)[levels.codes]

    def unfamiliar(self, series):
        """Return which cells lie outside the range of the fit."""
        cells = self.read(series)
        return (cells < self.low) | (cells > self.high)

    def write(self, cells, out):
        """Put the numbers of some rows, as they are, and where they lack into an array of zeros.

        They are brought to their scale with all other columns at once, see `Scaling`.
        """
        out[:, 0] = cells
        if self.indicator:
            out[:, 1] = np.isnan(cells)


@dataclass(frozen=True)
class CategoryColumn:
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
        Whether the last column says where the holes are: there were some in the fit.
    """

    name: str
    levels: tuple[str, ...]
    other: bool
    missing: bool

    @classmethod
    def of(cls, name, counts, missing, max_levels):
        """Fit the column to the number of cells of each level."""
        ordered = sorted(counts, key=lambda level: (-counts[level], level))
        kept = tuple(ordered[:max_levels])
        return cls(name, kept, len(ordered) > len(kept), bool(missing))

    @property
    def outputs(self):
        """Return the names of the encoded columns."""
        names = [f"{self.name}={level}" for level in self.levels]
        names += [f"{self.name}=(other)"] * self.other
        return names + [f"{self.name} missing"] * self.missing

    def read(self, series):
        """Return for each cell which encoded column is 1, or -1."""
        levels = read_levels(self.name, series)
        if levels.dates:
            refuse_dates(self.name)
        place = self._places()
        places = [place(value) for value in levels.values]
        hole = len(self.levels) + self.other if self.missing else -1
        return np.array([*places, hole], dtype=np.int32)[levels.codes]

    def unfamiliar(self, series):
        """Return which cells are no level of the fit: none, if not all levels were kept."""
        if self.other:
            return np.zeros(len(series), bool)
        levels, place = read_levels(self.name, series), self._places()
        return np.array([*(place(value) < 0 for value in levels.values), False])[levels.codes]

    def _places(self):
        """Return a function from a value to its encoded column."""
        texts, readings = {}, {}
        for place, level in enumerate(self.levels):
            texts[level] = place
            readings.setdefault(as_written_number(level), place)
        otherwise = len(self.levels) if self.other else -1

        def place(value):
            found = texts.get(level_name(value))
            if found is None and isinstance(value, float):
                found = readings.get(value)
            return otherwise if found is None else found

        return place

    def write(self, cells, out):
        """Put a 1 into each row of an array of zeros, where the row has one."""
        rows = np.flatnonzero(cells >= 0)
        out[rows, cells[rows]] = 1.0
