"""Dates: which day a text is, whether the day or the month comes first, and the calendar."""

import datetime
import re

import numpy as np

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
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CENTURY = 69  # two digits from here on are of the last century, as in C and Python
DAY_FIRST, MONTH_FIRST = "day first", "month first"
ORDERS = {"auto": None, "day-first": DAY_FIRST, "month-first": MONTH_FIRST}  # as users name them


def found_order(texts):
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


def day_number(text, order):
    """Return the days from 1970 to a date with its time of day; None if it is no date.

    A month or a quarter is its first day.
    """
    parts = _match(text)
    if parts is None:
        return None
    first, second = parts.get("first"), parts.get("second")
    day, month = (second, first) if order == MONTH_FIRST else (first, second)
    if "name" in parts:
        month = 1 + _MONTHS.index(parts["name"].lower())
    if "quarter" in parts:
        month = 3 * int(parts["quarter"]) - 2
    try:
        date = datetime.date(
            _year(parts["year"]), int(parts.get("month", month)), int(parts.get("day", day or 1))
        )
        return date.toordinal() - _EPOCH + _time(parts)
    except ValueError:  # such as February 30
        return None


def calendar(days):
    """Return the years, the months from 1 and the weekdays from 0, which is Monday."""
    dates = np.floor(days).astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(int)
    return months // 12 + 1970, months % 12 + 1, (np.floor(days).astype(int) + 3) % 7


def days_of_month(days):
    """Return the days of the month, from 1."""
    dates = np.floor(days).astype("datetime64[D]")
    return (dates - dates.astype("datetime64[M]")).astype(int) + 1


def is_date(text):
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


def _year(text):
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year >= _CENTURY else 2000)


def _time(parts):
    """Return the time of day as a part of a day; the zone does not matter."""
    hour = int(parts.get("hour", 0))
    if "half" in parts:
        hour = hour % 12 + 12 * (parts["half"] in "pP")
    time = datetime.time(hour, int(parts.get("minute", 0)), int(parts.get("seconds", 0)))
    return (time.hour * 3600 + time.minute * 60 + time.second) / 86400


class _Days:
    """A tensor of numbers in an ONNX graph, with the operators of Python."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def _with(self, operator, other):
        other = other.name if isinstance(other, _Days) else np.array([[float(other)]])
        return _Days(self.graph, self.graph.add(operator, self.name, other))

    def __add__(self, other):
        return self._with("Add", other)

    def __sub__(self, other):
        return self._with("Sub", other)

    def __mul__(self, other):
        return self._with("Mul", other)

    def __floordiv__(self, other):
        return self._with("Div", other).floor()

    def floor(self):
        """Return the next whole numbers below."""
        return _Days(self.graph, self.graph.add("Floor", self.name))

    def is_above(self, number):
        """Return ones and zeros."""
        return _Days(self.graph, self.graph.add_flags("Greater", self.name, np.array([[number]])))


def calendar_nodes(graph, days):
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
