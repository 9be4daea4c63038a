"""Columns of dates."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inldl.tables.columns.dates import (
    calendar,
    calendar_nodes,
    day_number,
    days_of_month,
    found_order,
    is_date,
)
from inldl.tables.columns.kinds import CONSTANT, Choice, Column, NumberColumn
from inldl.tables.columns.values import column_error, holds_times, level_name
from inldl.tables.numbers import is_hole
from inldl.text import shortened

_NEARLY_ALL = 0.9
_ENDS_OF_MONTHS = 4  # days of the month that monthly dates can have: the 28th to the 31st
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class DateColumn(Column):
    """Encode dates as their trend, and as year, month and weekday where these vary.

    The trend is the number of days, scaled as numbers are; the year is scaled, too. Months and
    weekdays have a column of zeros and ones each.

    Attributes
    ----------
    name : str
        The column of the table.
    order : str
        Whether the day or the month comes first in dates such as 5/1/2024; "" if there are none.
    center, scale : float
        Mean and standard deviation of the days since 1970 in the fit.
    fill : float
        What a missing date is taken as: the median.
    low, high : float
        The first and the last day of the fit.
    year : tuple of float
        Median, mean and standard deviation of the years; empty if they are not used: there is one
        year only, or one date in each.
    months, weekdays : tuple of int
        Those that have a column: months from 1, weekdays from 0, which is Monday. There are none
        if all are the same. Weekdays are not used if the dates are those of months.
    missing : bool
        Whether the last column says where cells are missing: some were in the fit.
    """

    kind = "date"
    ordered = True

    name: str
    order: str
    center: float
    scale: float
    fill: float
    low: float
    high: float
    year: tuple[float, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    missing: bool

    @classmethod
    def recognise(cls, cells, max_levels):
        """Take dates by their type, and text that is dates in nearly all cells."""
        if cells.stored is not None or not (_are_dates(cells) or _read_like_dates(cells)):
            return None
        order = "" if _are_dates(cells) else _settled_order(cells)
        days = _days(cells, order, "holds dates, but {row} holds {cell}")
        observed = days[~np.isnan(days)]
        if not len(observed):
            return None
        if observed.min() == observed.max() and len(observed) == len(days):
            return CONSTANT
        return Choice(cls.of(cells.name, order, observed, len(observed) < len(days)), cls.kind)

    @classmethod
    def of(cls, name, order, observed, missing):
        """Fit the column to the days of its observed cells."""
        trend = NumberColumn.of(name, observed, missing)
        years, months, weekdays = calendar(observed)
        scaled = NumberColumn.of(name, years.astype(float), missing)
        several = 1 < len(np.unique(years)) < len(np.unique(np.floor(observed)))
        daily = len(np.unique(days_of_month(observed))) > _ENDS_OF_MONTHS
        return cls(
            name,
            order,
            trend.center,
            trend.scale,
            trend.fill,
            trend.low,
            trend.high,
            (scaled.fill, scaled.center, scaled.scale) if several else (),
            _varying(months),
            _varying(weekdays) if daily else (),
            bool(missing),
        )

    @property
    def outputs(self):
        """Return the names of the encoded columns."""
        names = [self.name] + [f"{self.name} year"] * bool(self.year)
        names += [f"{self.name} month={month}" for month in self.months]
        names += [f"{self.name} weekday={_WEEKDAYS[day]}" for day in self.weekdays]
        return names + [f"{self.name} missing"] * self.missing

    @property
    def scaling(self):
        """Return fill, center and scale of the days and years; zeros and ones stay."""
        scaled = [(self.fill, self.center, self.scale)] + [self.year] * bool(self.year)
        return scaled + [(0.0, 0.0, 1.0)] * (len(self.outputs) - len(scaled))

    def read(self, cells):
        """Return the days since 1970, NaN where a cell is missing."""
        return _days(cells, self.order, "held dates when the model was fitted, but {row} holds "
                     "{cell}")  # fmt: skip

    def write(self, read, out):
        """Put days and years, and a 1 for the month and the weekday, into an array of zeros."""
        rows = np.flatnonzero(~np.isnan(read))
        years, months, weekdays = calendar(read[rows])
        out[:, 0] = read
        if self.year:
            out[:, 1] = np.nan
            out[rows, 1] = years
        start = 1 + bool(self.year)
        for found, known in ((months, self.months), (weekdays, self.weekdays)):
            out[rows, start : start + len(known)] = found[:, None] == np.array(known, int)
            start += len(known)
        if self.missing:
            out[:, -1] = np.isnan(read)

    def add_to(self, graph):
        """Add the days since 1970 as an input of numbers, and the calendar."""
        days = graph.add_input(self.name, 1)
        years, months, weekdays = calendar_nodes(graph, days)
        parts = [days, years] if self.year else [days]
        for found, known in ((months, self.months), (weekdays, self.weekdays)):
            if known:
                parts.append(graph.add_flags("Equal", found, np.array([known], np.float64)))
        return [*parts, graph.add_flags("IsNaN", days)] if self.missing else parts


def _are_dates(cells):
    return cells.series.dtype.kind == "M" or cells.dates


def _read_like_dates(cells):
    """Return whether nearly all cells are dates, of those that do not mean missing."""
    sizes = {text: size for text, size in cells.sizes().items() if not is_hole(text)}
    dates = sum(size for text, size in sizes.items() if is_date(text))
    return 0 < dates >= _NEARLY_ALL * sum(sizes.values())


def _settled_order(cells):
    """Return whether days or months come first, or refuse dates that leave it open."""
    texts = [value for value in cells.seen if isinstance(value, str)]
    order = found_order(texts)
    if order is not None:
        return order
    if cells.date_order is not None:
        return cells.date_order
    raise column_error(
        cells.name,
        "date",
        "holds dates such as {cell}, and nothing tells whether the day or the month comes first; "
        "say --dates day-first or --dates month-first, write them as 2024-12-31, or leave the "
        "column out with --ignore {column}",
        cell=repr(shortened(texts[0])),
    )


def _days(cells, order, problem):
    """Return the days since 1970, NaN where a cell is missing; refuse what is no date."""
    dtype = cells.series.dtype
    if dtype.kind == "M" and isinstance(dtype, np.dtype | pd.DatetimeTZDtype):  # quicker
        zoned = not isinstance(dtype, np.dtype)
        series = cells.series.dt.tz_localize(None) if zoned else cells.series
        times = series.to_numpy("datetime64[us]")
        return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 86_400e6)
    found = [_day(value, order) for value in cells.values]
    for value in cells.seen if None in found else ():
        if _day(value, order) is None:
            if cells.dates and isinstance(value, str) and not is_date(value):
                raise holds_times(cells.name)
            raise column_error(
                cells.name,
                "date",
                f"{problem}; give a date or leave the cell empty",
                row=cells.first_row(value),
                cell=repr(shortened(level_name(value))),
            )
    return np.array([*found, np.nan], dtype=np.float64)[cells.codes]


def _day(value, order):
    """Return the day of a value, NaN for a word that means missing, None for all else."""
    if not isinstance(value, str):
        return None
    return np.nan if is_hole(value) else day_number(value, order)


def _varying(values):
    found = np.unique(values)
    return tuple(found.tolist()) if len(found) > 1 else ()
