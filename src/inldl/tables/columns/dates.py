"""Columns of dates: which days texts are, and their encoding by the calendar."""

import re
from dataclasses import dataclass
from functools import partialmethod

import numpy as np
import pandas as pd

from inldl.tables.columns import NEARLY_ALL, column_error, level_name
from inldl.tables.columns.kinds import CONSTANT, Choice, NumberColumn
from inldl.tables.numbers import is_hole
from inldl.text import shortened

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = f"(?P<name>{'|'.join(_MONTHS)})[a-z]*"
_DAYS = [
    r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})",
    r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})",
    rf"(?P<day>\d{{1,2}})\.?[ -]?{_MONTH}\.?[ ,-]+(?P<year>\d{{4}}|\d{{2}})",
    rf"{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
]
_MONTH_ALONE = f"(?P<name>{'|'.join(_MONTHS)})(?:r?uary|ch|il|e|y|ust|t|(?:t?em|o)?ber)?"
_PERIODS = [  # months and quarters; the year has four digits, since Jan-06 may be a day
    r"(?P<year>\d{4})(?:-| ?m)(?P<month>0[1-9]|1[0-2])",
    rf"{_MONTH_ALONE}\.?(?:[ /-]|, )(?P<year>\d{{4}})",
    rf"(?P<year>\d{{4}})[ /-]{_MONTH_ALONE}\.?",
    r"(?P<year>\d{4})[ /-]?q(?P<quarter>[1-4])",
    r"q(?P<quarter>[1-4])[ /-]?(?P<year>\d{4})",
]
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?:[.,]\d+)?)? ?"
    r"(?:(?P<half>[ap])\.?m\.?)? ?(?:z|utc|gmt|[+-]\d{2}:?\d{2})?"
)
_FORMS = [
    re.compile(rf"\s*{form}\s*", re.IGNORECASE | re.ASCII)
    for form in [*(f"{day}(?:(?:t|,? +){_TIME})?" for day in _DAYS), *_PERIODS]
]
_CENTURY = 69  # two digits from here on are of the last century, as in C and Python
DAY_FIRST, MONTH_FIRST = "day first", "month first"
ORDERS = {"auto": None, "day-first": DAY_FIRST, "month-first": MONTH_FIRST}  # as users name them


_ENDS_OF_MONTHS = 4  # days of the month that monthly dates can have: the 28th to the 31st
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class DateColumn(NumberColumn):
    """Encode dates as their trend, and as year, month and weekday where these vary.

    The trend is the number of days since 1970, scaled as numbers are; the year is scaled, too.
    Months and weekdays have a column of zeros and ones each.

    Attributes
    ----------
    name, center, scale, fill, indicator, low, high
        As for numbers, of the days.
    order : str
        Whether the day or the month comes first in dates such as 5/1/2024; "" if there are none.
    year : tuple of float
        Median, mean and standard deviation of the years; empty if they are not used: there is one
        year only, or one date in each.
    months, weekdays : tuple of int
        Those that have a column: months from 1, weekdays from 0, which is Monday. There are none
        if all are the same. Weekdays are not used if the dates are those of months.
    """

    kind = "date"
    as_text = True

    order: str
    year: tuple[float, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]

    @classmethod
    def recognise(cls, cells, max_levels) -> Choice | None:
        """Take dates by their type, and text that is dates in nearly all cells."""
        if cells.stored is not None:
            return None
        typed = cells.series.dtype.kind == "M" or cells.dates
        if not typed and not _read_like_dates(cells):
            return None
        order = "" if typed else _settled_order(cells)
        days = _days(cells, order, "holds dates, but {row} holds {cell}")
        observed = days[~np.isnan(days)]
        if not len(observed):
            return None
        if observed.min() == observed.max() and len(observed) == len(days):
            return CONSTANT
        days = NumberColumn.of(cells.name, observed, len(observed) < len(days))
        return Choice(cls(**vars(days), order=order, **_varying_parts(observed)), cls.kind)

    @property
    def outputs(self) -> list[str]:
        """Return the names of the encoded columns."""
        names = [self.name] + [f"{self.name} year"] * bool(self.year)
        names += [f"{self.name} month={month}" for month in self.months]
        names += [f"{self.name} weekday={_WEEKDAYS[day]}" for day in self.weekdays]
        return names + [f"{self.name} missing"] * self.indicator

    @property
    def scaling(self) -> list:
        """Return fill, center and scale of the days and years; zeros and ones stay."""
        scaled = [(self.fill, self.center, self.scale)] + [self.year] * bool(self.year)
        return scaled + [(0.0, 0.0, 1.0)] * (len(self.outputs) - len(scaled))

    def read(self, cells) -> np.ndarray:
        """Return the days since 1970, NaN where a cell is missing."""
        return _days(cells, self.order, "held dates when the model was fitted, but {row} holds "
                     "{cell}")  # fmt: skip

    def write(self, read, out) -> None:
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
        if self.indicator:
            out[:, -1] = np.isnan(read)

    def add_to(self, graph) -> list[str]:
        """Add the days since 1970 as an input of numbers, and the calendar."""
        days = graph.add_input(self.name, 1)
        years, months, weekdays = calendar_nodes(graph, days)
        parts = [days, years] if self.year else [days]
        for found, known in ((months, self.months), (weekdays, self.weekdays)):
            if known:
                parts.append(graph.add_flags("Equal", found, np.array([known], np.float64)))
        return [*parts, graph.add_flags("IsNaN", days)] if self.indicator else parts


def _read_like_dates(cells):
    """Return whether nearly all cells are dates, of those that do not mean missing."""
    sizes = {text: size for text, size in cells.sizes().items() if not is_hole(text)}
    dates = sum(size for text, size in sizes.items() if is_date(text))
    return 0 < dates >= NEARLY_ALL * sum(sizes.values())


def _settled_order(cells):
    """Return whether days or months come first, or refuse dates that leave it open."""
    texts = [value for value in cells.seen if isinstance(value, str)]
    order = _order_of(texts)
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
        return _since_1970(cells.series.dt.tz_localize(None) if zoned else cells.series)
    written = [_in_digits(value, order) for value in cells.values]
    form = {"format": "%Y-%m-%d %H:%M:%S", "errors": "coerce"}
    days = _since_1970(pd.to_datetime(pd.Series(written, dtype=object), **form))
    known = dict(zip(cells.values, days.tolist(), strict=True))
    for value in cells.seen if np.isnan(days).any() else ():
        text = value if isinstance(value, str) else ""
        if np.isnan(known[value]) and not (text and is_hole(text)):
            if cells.dates and text and not is_date(text):
                problem = (
                    "holds times of day or durations; replace it by numbers, such as hours or "
                    "days, or leave it out (--ignore)"
                )
                raise column_error(cells.name, "date", problem)
            raise column_error(
                cells.name,
                "date",
                f"{problem}; give a date or leave the cell empty",
                row=cells.first_row(value),
                cell=repr(shortened(level_name(value))),
            )
    return np.append(days, np.nan)[cells.codes]


def _since_1970(series):
    """Return times as days since 1970, NaN where one is missing."""
    times = series.to_numpy("datetime64[us]")
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 86_400e6)


def _varying_parts(days):
    """Return how years are scaled, and which months and weekdays there are, where these vary."""
    years, months, weekdays = calendar(days)
    scaled = NumberColumn.of("", years.astype(float), False)
    several = 1 < len(np.unique(years)) < len(np.unique(np.floor(days)))
    dates = np.floor(days).astype("datetime64[D]")
    daily = len(np.unique((dates - dates.astype("datetime64[M]")).astype(int))) > _ENDS_OF_MONTHS
    months, weekdays = (np.unique(part).tolist() for part in (months, weekdays))
    return {
        "year": (scaled.fill, scaled.center, scaled.scale) if several else (),
        "months": tuple(months) if len(months) > 1 else (),
        "weekdays": tuple(weekdays) if len(weekdays) > 1 and daily else (),
    }


def _order_of(texts):
    """Return what comes first in dates such as 5/1/2024: a constant above, "" or None.

    It is "" if there are no such dates, and None if they can be read in both ways.
    """
    parts = [found for found in map(_match, texts) if found and "first" in found]
    if not parts:
        return ""
    if any(int(part["first"]) > 12 for part in parts):
        return DAY_FIRST
    if any(int(part["second"]) > 12 for part in parts):
        return MONTH_FIRST
    if all(part["sign"] == "." for part in parts):
        return DAY_FIRST
    # Months of several years are often given by their first days.
    first, second, years = ({int(part[n]) for part in parts} for n in ("first", "second", "year"))
    if len(years) > 1 and (first == {1}) != (second == {1}):
        return DAY_FIRST if first == {1} else MONTH_FIRST
    return None


def _in_digits(text, order):
    """Return a date as year, month, day and time, whatever the form, or None if it has none.

    A month or a quarter is its first day, and the zone of a time does not matter.
    """
    parts = _match(text) if isinstance(text, str) else None
    if parts is None:
        return None
    day, month = parts.get("day", parts.get("first", 1)), parts.get("month", parts.get("second"))
    if order == MONTH_FIRST and "first" in parts:
        day, month = month, day
    if "name" in parts:
        month = 1 + _MONTHS.index(parts["name"].lower())
    if "quarter" in parts:
        month = 3 * int(parts["quarter"]) - 2
    year, hour = int(parts["year"]), int(parts.get("hour", 0))
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    if "half" in parts:
        hour = hour % 12 + 12 * (parts["half"] in "pP")
    time = f"{hour}:{parts.get('minute', 0)}:{parts.get('seconds', 0)}"
    return f"{year:04}-{month}-{day} {time}"


def is_date(text) -> bool:
    """Return whether a text is a day, a month or a quarter, with or without a time.

    1.2.34 may be something else, and 2001-02 a season.
    """
    parts = _match(text)
    if parts is None:
        return False
    if parts.keys() == {"year", "month"}:
        return (int(parts["year"]) + 1) % 100 != int(parts["month"])
    short = len(parts["year"]) == 2 and parts.get("sign", "/") != "/"
    return not short or len(parts["first"]) == len(parts["second"]) == 2


def _match(text):
    found = next((found for form in _FORMS if (found := form.fullmatch(text))), None)
    return found and {name: part for name, part in found.groupdict().items() if part is not None}


def calendar(days) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the years, the months from 1 and the weekdays from 0, which is Monday."""
    dates = np.floor(days).astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(int)
    return months // 12 + 1970, months % 12 + 1, (np.floor(days).astype(int) + 3) % 7


class _Days:
    """A tensor of numbers in an ONNX graph, with the operators of Python."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def _with(self, operator, other):
        other = other.name if isinstance(other, _Days) else np.array([[float(other)]])
        return _Days(self.graph, self.graph.add(operator, self.name, other))

    __add__ = partialmethod(_with, "Add")
    __sub__ = partialmethod(_with, "Sub")
    __mul__ = partialmethod(_with, "Mul")

    def __floordiv__(self, other):
        return self._with("Div", other).floor()

    def floor(self) -> "_Days":
        """Return the next whole numbers below."""
        return _Days(self.graph, self.graph.add("Floor", self.name))

    def is_above(self, number) -> "_Days":
        """Return ones and zeros."""
        return _Days(self.graph, self.graph.add_flags("Greater", self.name, np.array([[number]])))


def calendar_nodes(graph, days) -> tuple[str, str, str]:
    """Return the tensors of what `calendar` returns, of whole numbers of days: ONNX has no dates.

    The year of the calculation starts in March, so that a leap day is its last; 146097 days are
    400 years. All numbers are whole and small, so that divisions in double precision are exact
    enough.
    """
    whole = _Days(graph, days).floor()
    shifted = whole + 719468  # days since March 1 of the year 0
    era = shifted // 146097
    day = shifted - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day_of_year = day - (year * 365 + year // 4 - year // 100)
    march_based = (day_of_year * 5 + 2) // 153
    new_year = march_based.is_above(9.5)  # January and February
    months = march_based + 3 - new_year * 12
    years = year + era * 400 + new_year
    weekdays = whole + 3 - ((whole + 3) // 7) * 7
    return years.name, months.name, weekdays.name
