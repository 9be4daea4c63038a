"""The units and times of the rows of tables, as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from inldl.rows.panel import Panel
from inldl.tables.columns import Cells, as_frame, as_written_number, level_name
from inldl.tables.columns.dates import ORDERS, DateColumn, calendar, is_date
from inldl.tables.columns.kinds import NumberColumn
from inldl.text import listed

_BETWEEN = "\x1f"  # the parts of the name of a unit
_YEARS = 1500, 2200
_LAST = {"quarter": 4, "month": 12, "day": 31}
_TOGETHER = ({"year", "quarter"}, {"year", "month"}, {"year", "month", "day"})
_NAMES = {
    "year": "year years yr jahr année annee año ano anno",
    "time": "date time times period an t wave round visit season week day decade",
    "quarter": "quarter quarters qtr q quartal trimestre",
    "month": "month months mon mth monat mois mes mese",
    "day": "day days mday tag jour dia giorno",
    "calendar": "weekday dow hour hours minute hourly",
    "age": "age ages agegroup alter altersgruppe âge",
    "id": "id ids code nr no num number key fips",
    "latitude": "lat latitude breite breitengrad",
    "longitude": "lon lng long longitude länge längengrad",
}
_WORDS = {meaning: frozenset(names.split()) for meaning, names in _NAMES.items()}


def says(name, *meanings) -> bool:
    """Return whether a word in the name of a column has a meaning, such as "year"."""
    spaced = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name).lower()
    words = set(re.findall(r"[a-zà-ÿ]+", spaced))
    return any(not words.isdisjoint(_WORDS[meaning]) for meaning in meanings)


def unit_numbers(columns) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the unit of each row, -1 if a cell is empty, and the first rows of all.

    `columns` has the `Cells` of each column that names the unit. Units are numbered as they come.
    """
    numbers = columns[0].codes.astype(np.int64)
    for cells in columns[1:]:
        empty = (numbers < 0) | (cells.codes < 0)
        numbers = pd.factorize(numbers * (len(cells.values) + 1) + cells.codes)[0]
        numbers[empty] = -1
    seen = np.flatnonzero(numbers >= 0)
    numbers[seen] = pd.factorize(numbers[seen])[0]
    return numbers, seen[~pd.Series(numbers[seen]).duplicated().to_numpy()]


def named_units(frame, names, numeric=()) -> tuple[np.ndarray, list[str]]:
    """Return the number of the unit of each row, -1 if a cell is empty, and the names of units.

    Texts of `numeric` columns are read as the numbers that they show: 01 is 1.
    """
    if not names:
        return np.zeros(len(frame), np.int64), [""]
    columns = [Cells(name, frame[name]) for name in names]
    numbers, first = unit_numbers(columns)
    parts = [
        [_level(cells.values[code], cells.name in numeric) for code in cells.codes[first]]
        for cells in columns
    ]
    return numbers, [_BETWEEN.join(each) for each in zip(*parts, strict=True)]


def _level(value, number):
    found = as_written_number(value) if number and isinstance(value, str) else None
    return level_name(value if found is None else found)


def part_of_date(cells) -> str:
    """Return what a column of whole numbers or words is: "year", "quarter", "month", "day", "".

    Numbers are quarters, months or days if the name of their column says so, and so are texts
    such as 2004 years: ids of long tables are texts.
    """
    if cells.numbers is None:
        texts = [level_name(value).strip() for value in cells.seen]
        if texts and says(cells.name, "year", "time") and all(map(_is_year, texts)):
            return "year"
        dates = bool(texts) and all(is_date(f"{text} 2000") for text in texts)
        return "" if not dates else "quarter" if texts[0][0] in "qQ" else "month"
    numbers = cells.numbers[~np.isnan(cells.numbers)]
    if not len(numbers) or (np.rint(numbers) != numbers).any():
        return ""
    low, high = numbers.min(), numbers.max()
    if _YEARS[0] <= low <= high <= _YEARS[1]:
        return "year"
    parts = (part for part, last in _LAST.items() if 1 <= low <= high <= last)
    return next((part for part in parts if says(cells.name, part)), "")


def _is_year(text):
    return text.isdecimal() and len(text) == 4 and _YEARS[0] <= int(text) <= _YEARS[1]


def usual_step(unit, times) -> tuple[float, float]:
    """Return the median step between the times of a unit, and the share of steps like it."""
    seen = np.flatnonzero(~np.isnan(times))
    rows = seen[np.lexsort((times[seen], unit[seen]))]
    steps = np.diff(times[rows])[np.diff(unit[rows]) == 0]
    steps = steps[steps > 0]
    median = float(np.median(steps)) if len(steps) else 1.0
    return median, float((np.abs(steps - median) <= 1e-6 * median).mean()) if len(steps) else 0.0


@dataclass(frozen=True)
class Clock:
    """How times are read: as steps from one of them, of the length that is usual in a unit.

    Attributes
    ----------
    names, parts : tuple of str
        The columns, and what each is if there are several: "year", "quarter", "month" or "day".
    column : NumberColumn
        How dates, also those of several columns together, or numbers such as years are read.
    monthly : bool
        Whether dates are those of months, and counted in months.
    origin, step : float
        What is subtracted from times, in months, days or years, and then divides them.
    period : float or None
        The steps of a year if they are months or quarters, those of a week if they are days.
    """

    names: tuple[str, ...]
    parts: tuple[str, ...]
    column: Any
    monthly: bool
    origin: float = 0.0
    step: float = 1.0
    period: float | None = None

    @classmethod
    def of(cls, frame, names, date_order=None) -> Clock | None:
        """Return how times are read; None if there are none, or all are the same."""
        several = len(names) > 1
        parts = tuple(part_of_date(Cells(n, frame[n])) for n in names) if several else ()
        if several and (len(set(parts)) < len(parts) or set(parts) not in _TOGETHER):
            return None
        cells = Cells(", ".join(names), _written(frame, names, parts), date_order)
        choice = DateColumn.recognise(cells, 0)
        column = _number_column(cells) if choice is None else choice.column
        if column is None or column.low == column.high:
            return None
        return cls(tuple(names), parts, column, _are_months(column, cells))

    @property
    def counted(self) -> bool:
        """Whether times are numbers such as those of waves, and no dates or years."""
        return not isinstance(self.column, DateColumn) and self.column.low < _YEARS[0]

    def fit(self, frame, unit) -> Clock:
        """Return the same with the steps that are usual in a unit, given the units of the rows."""
        times = self.times(frame)
        step, _ = usual_step(unit, times)
        cycle = 12 if self.monthly else 7 * (isinstance(self.column, DateColumn) and step == 1)
        period = cycle / step if cycle > step and cycle % step == 0 else None
        seen = np.sort(times[~np.isnan(times)])
        return replace(self, origin=float(seen[len(seen) // 2]), step=step, period=period)

    def times(self, frame) -> np.ndarray:
        """Return months, days or numbers; NaN where a cell is empty."""
        cells = Cells(self.column.name, _written(frame, self.names, self.parts))
        times = np.array(self.column.read(cells), dtype=np.float64)
        if self.monthly:
            seen = ~np.isnan(times)
            years, months, _ = calendar(times[seen])
            times[seen] = 12 * years + months
        return times

    def read(self, frame) -> np.ndarray:
        """Return times in steps; NaN where a cell is empty."""
        return (self.times(frame) - self.origin) / self.step


def _written(frame, names, parts):
    """Return the column of times, or what several say together, such as "Q1 2003"."""
    if not parts:
        return frame[names[0]]
    numbers, texts = named_units(frame, names)
    dates = [_date(**dict(zip(parts, text.split(_BETWEEN), strict=True))) for text in texts]
    return pd.Series(np.array([*dates, None], dtype=object)[numbers])


def _date(year, quarter="", month="", day=""):
    if quarter:
        return f"Q{quarter.strip('Qq ')} {year}"
    return f"{year}-{month}-{day or 1}" if month.isdigit() else f"{day} {month} {year}".strip()


def _number_column(cells):
    """Return how numbers are read, also those that are levels of text; None for other text."""
    values = [] if cells.stored is not None else cells.seen
    if any(as_written_number(level_name(value)) is None for value in values):
        return None
    numbers = NumberColumn.of(cells.name, np.zeros(1), False).read(cells)
    numbers = numbers[~np.isnan(numbers)]
    return NumberColumn.of(cells.name, numbers, False) if len(numbers) else None


def _are_months(column, cells):
    """Return whether dates are the same days of months, or the last ones."""
    if not isinstance(column, DateColumn):
        return False
    days = column.read(cells)
    dates = np.floor(days[~np.isnan(days)]).astype("datetime64[D]")
    day = 1 + (dates - dates.astype("datetime64[M]")).astype(int)
    return bool((day == day[0]).all() or (day >= 28).all())


@dataclass(frozen=True)
class PanelReader:
    """Turn rows of tables into the `Panel` that they make, numbered as in a fit.

    Attributes
    ----------
    unit : tuple of str
        The columns that name the unit.
    numeric : tuple of str
        Those of them that hold numbers.
    units : tuple of str
        The units of the fit, in the order of their numbers; a table without columns has one.
    clock : Clock or None
        How times are read.
    """

    unit: tuple[str, ...]
    numeric: tuple[str, ...]
    units: tuple[str, ...]
    clock: Clock | None

    @classmethod
    def fit(cls, features, structure, dates="auto") -> PanelReader:
        """Learn the units and times of a table, given its `Structure`."""
        frame = as_frame(features)
        numbers, units = named_units(frame, structure.unit)
        clock = Clock.of(frame, structure.time, ORDERS[dates]) if structure.time else None
        clock = None if clock is None else clock.fit(frame, numbers)
        numeric = tuple(n for n in structure.unit if Cells(n, frame[n]).stored is not None)
        return cls(tuple(structure.unit), numeric, tuple(units), clock)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name the unit and the time."""
        return *self.unit, *(self.clock.names if self.clock else ())

    def read(self, features) -> Panel:
        """Return where rows belong; units that the fit has not seen get further numbers.

        A row without a unit or a time is a unit of its own.
        """
        frame, clock = as_frame(features), self.clock
        self._check_columns(frame)
        numbers, units = named_units(frame, self.unit, self.numeric)
        known = {name: number for number, name in enumerate(self.units)}
        further = count(len(known))
        found = [known[name] if name in known else next(further) for name in units]
        unit = np.array([*found, -1])[numbers]
        time = None if clock is None else clock.read(frame)
        if time is not None:
            unit[np.isnan(time)] = -1
            time = np.nan_to_num(time)
        alone = np.flatnonzero(unit < 0)
        unit[alone] = next(further) + np.arange(len(alone))
        return Panel(unit, time, None if clock is None else clock.period)

    def _check_columns(self, frame):
        if lacking := [name for name in self.columns if name not in frame]:
            raise ValueError(
                f"The table lacks {listed(map(repr, lacking))}, which tells the model to which "
                "unit or time a row belongs; add it."
            )
