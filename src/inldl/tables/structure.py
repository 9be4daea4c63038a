"""Which columns of a table name the unit, the time and the place of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.errors import DataError
from inldl.rows.checks import check_choice
from inldl.tables.columns import Cells, as_frame, column_error
from inldl.tables.columns.dates import ORDERS, is_date
from inldl.tables.positions import Clock, part_of_date, says, unit_numbers, usual_step
from inldl.tables.selection import named_by, split_names
from inldl.text import listed

Named = str | Sequence[str] | None
NONE = "none"  # what turns a part of the structure off
NEARLY_UNIQUE = 0.95  # distinct pairs of a unit and a time per row
FEWEST_TIMES = 3  # of the typical unit
FEWEST_IN_SERIES = 10  # times of a table that is one series
REGULAR = 0.6  # share of the steps between times that are alike
MOST_EMPTY = 0.01  # share of the cells of a column that is found
MOST_UNIT_COLUMNS, MOST_TRIED = 3, 8  # columns that name a unit together, and those among them
FEWEST_BY_CHANCE = 5  # pairs of rows that would share unit and time if these were unrelated
TIMES_FEWER = 4  # pairs that do, than these
DATES_TRIED = 100  # cells that tell whether a column may hold dates
NO_UNIT = ("year", "time", "quarter", "month", "day", "calendar")  # meanings of names


@dataclass(frozen=True)
class Structure:
    """The columns that say where the rows of a table belong; a part without columns is empty.

    Attributes
    ----------
    unit : tuple of str
        The columns that name what is seen again and again, such as a country; several name it
        together, such as a state and an industry.
    time : tuple of str
        The column with times, or those with years and months or quarters.
    place : tuple of str
        The columns with latitudes and longitudes.
    """

    unit: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    place: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.unit or self.time or self.place)

    @property
    def notes(self) -> list[str]:
        """Sentences that say it, and how to turn it off."""
        unit, time, place = (
            " and ".join(map(repr, names)) for names in (self.unit, self.time, self.place)
        )
        notes = []
        if unit and time:
            notes = [
                f"Rows are taken as a series over {time} for each {unit}; --unit none takes these "
                "columns as plain features."
            ]
        elif unit:
            notes = [
                f"Rows with the same {unit} are taken to be alike; --unit none takes it as a "
                "plain feature."
            ]
        elif time:
            notes = [
                f"Rows are taken as one series over {time}; --time none takes it as a plain "
                "feature."
            ]
        if place:
            notes.append(f"{place} say where rows are; --place none leaves these columns out.")
        return notes


def find_structure(
    features, unit: Named = None, time: Named = None, place: Named = None, dates="auto"
) -> Structure:
    """Return the columns of a table that name the unit, the time and the place of its rows.

    What is not named is looked for, and taken if little speaks against it: a time is a column of
    dates or years, or one of years and one of months or quarters. A unit is what tells nearly all
    rows of a time apart, far better than chance would; it may take up to three columns. If rows
    have one time each, mostly at equal steps, they are one series. No unit is taken without a
    time. Places are found by names such as lat and lon.

    Parameters
    ----------
    features : frame or array of shape (n_samples, n_columns)
        The features of the table.
    unit, time, place : str or list of str, default=None
        The columns, as a list or a text such as "state,industry"; "none" for no such columns; None
        to find them.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        How to read dates such as 5/1/2024 in columns that leave it open.

    Returns
    -------
    Structure

    Examples
    --------
    >>> import pandas as pd
    >>> years = pd.DataFrame({"country": list("abcd") * 5, "year": sorted([1, 2, 3, 4, 5] * 4)})
    >>> find_structure(years)
    Structure(unit=('country',), time=('year',), place=())
    >>> find_structure(years, time="none")
    Structure(unit=(), time=(), place=())
    """
    check_choice("dates", dates, ORDERS)
    frame, order = as_frame(features), ORDERS[dates]
    given = {"unit": unit, "time": time, "place": place}
    named = {role: _named(frame, role, wanted) for role, wanted in given.items()}
    _check_named(frame, named, order)
    taken = {name for names in named.values() for name in names or ()}
    free = {name: Cells(name, cells) for name, cells in frame.items() if name not in taken}
    if named["place"] is None:
        named["place"] = _find_place(free)
    if named["time"] is None or (named["time"] and named["unit"] is None):
        named["unit"], named["time"] = _find_panel(frame, free, named, order)
    return Structure(**{role: names or () for role, names in named.items()})


def _named(frame, role, wanted):
    """Return the columns that a user names, () for none, or None if they are to be found."""
    if wanted is None:
        return None
    if isinstance(wanted, str) and wanted.strip().lower() == NONE:
        return ()
    what = f"--{role} columns"
    return tuple(n for each in split_names(wanted) for n in named_by(frame.columns, [each], what))


def _check_named(frame, named, order):
    """Refuse columns that cannot be what a user says that they are."""
    place, time = named["place"], named["time"]
    names = [name for each in named.values() for name in each or ()]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"The column {name!r} is named twice in --unit, --time and --place; name it once."
            )
        empty = Cells(name, frame[name]).codes < 0
        if empty.any():
            problem = "names the units, times or places of rows, but is empty in {row}; fill the "
            problem += "cell in, or remove the row"
            raise column_error(name, "text", problem, row=int(np.argmax(empty)))
    two = zip(place or (), (90, 180), strict=False)
    if place and (len(place) != 2 or not all(_are_degrees(Cells(n, frame[n]), m) for n, m in two)):
        raise ValueError(
            "--place takes a column of latitudes from -90 to 90 and one of longitudes from -180 "
            f"to 180, such as lat,lon, but {listed(map(repr, place))} cannot be these."
        )
    if time and Clock.of(frame, time, order) is None:
        raise ValueError(
            "--time takes a column of dates or numbers that differ, or one of years and one of "
            f"months or quarters, but {listed(map(repr, time))} cannot be these."
        )


def _are_degrees(cells, most):
    numbers = cells.numbers
    return numbers is not None and bool((np.abs(numbers) <= most).all())


def _find_place(columns):
    """Return a column of latitudes and one of longitudes, or ()."""
    found = [
        [n for n, cells in columns.items() if says(n, what) and _are_degrees(cells, most)][:1]
        for what, most in (("latitude", 90), ("longitude", 180))
    ]
    varied = all(names and np.ptp(columns[names[0]].numbers) > 0 for names in found)
    return tuple(names[0] for names in found) if varied else ()


def _find_panel(frame, columns, named, order):
    """Return the columns of the unit and those of the time; what a user names is kept."""
    unit, time = named["unit"], named["time"]
    clocks = _clocks(frame, columns, order) if time is None else [Clock.of(frame, time, order)]
    times = [(clock.names, clock.times(frame)) for clock in clocks]
    if not unit:
        for clock, (names, when) in zip(clocks, times, strict=True):
            if not clock.counted and _is_series(when):
                return (), names
    for groups in _groups(columns, clocks) if unit is None else [[unit]] * bool(unit and times):
        fits = []
        for group in groups:
            cells = [columns.get(name) or Cells(name, frame[name]) for name in group]
            numbers = unit_numbers(cells)[0]
            rank = (numbers < 0).any(), numbers.max()  # the fewest units have the longest series
            fits += [(rank, group, n) for n, when in times if _is_panel(numbers, when, not unit)]
        if fits:
            return min(fits, key=lambda fit: fit[0])[1:]
    return unit, time


def _clocks(frame, columns, order):
    """Return the times that rows may have: years, dates, years with months or quarters, waves."""
    parts = {}
    for name, cells in columns.items():
        if frame[name].isna().mean() <= MOST_EMPTY:
            parts.setdefault(_kind_of_time(cells), []).append(name)
    kinds = ["year"], ["date"], ["year", "quarter"], ["year", "month"], ["year", "month", "day"]
    found = (
        (name, *(parts[kind][0] for kind in rest))
        for first, *rest in (*kinds, ["wave"])
        if all(kind in parts for kind in rest)
        for name in parts.get(first, ())
    )
    clocks = []
    for names in found:
        try:
            clocks.append(Clock.of(frame, names, order))
        except DataError:  # which is what the encoder says about the column
            continue
    return [clock for clock in clocks if clock is not None]


def _kind_of_time(cells):
    """Return "year", "quarter", "month", "day", "date", or "wave" for other counted times; ""."""
    if cells.stored is None:
        some = cells.series.dropna().iloc[:DATES_TRIED]
        dates = cells.series.dtype.kind == "M" or any(map(is_date, map(str, some)))
        return "date" if dates else part_of_date(cells)
    numbers = np.unique(cells.stored[~np.isnan(cells.stored)])
    kind, name = part_of_date(cells), cells.name
    if not len(numbers) or (np.rint(numbers) != numbers).any():
        return ""
    low, high, several = numbers[0], numbers[-1], len(numbers) >= FEWEST_TIMES
    if kind == "year":
        dense = several and len(numbers) >= REGULAR * (high - low)
        usual = dense and 1800 <= low <= high <= 2100
        return "year" if usual or says(name, "year", "time") else ""
    steady = several and says(name, "time") and len(np.unique(np.diff(numbers))) == 1
    counted = 0 <= low <= high < 100 and (says(name, "year") or steady)
    return kind or ("wave" if counted else "")


def _groups(columns, clocks):
    """Yield the columns that may name a unit: single ones, then pairs, then three together."""
    times = {name for clock in clocks for name in clock.names}
    names = [n for n, cells in columns.items() if n not in times and _may_be_unit(cells)]
    if clocks:
        yield [(name,) for name in names if not says(name, "age")]
        for size in range(2, 1 + MOST_UNIT_COLUMNS):
            yield combinations(names[:MOST_TRIED], size)


def _may_be_unit(cells):
    """Return whether a column holds texts that come again, or numbers in the place of these.

    Such numbers are called ids or codes, or equal ones stand together.
    """
    series, numbers = cells.series, cells.stored
    if says(cells.name, *NO_UNIT) or series.isna().mean() > MOST_EMPTY:
        return False
    if numbers is not None and (np.rint(numbers) != numbers)[~np.isnan(numbers)].any():
        return False
    n_units = series.nunique()
    if not 2 <= n_units <= len(series) / 2:
        return False
    named = cells.name.lower().endswith(("id", "code")) or says(cells.name, "id")
    return numbers is None or named or 1 + np.count_nonzero(np.diff(numbers)) == n_units > 2


def _is_series(times):
    """Return whether rows have one time each, most of them at equal steps or without gaps."""
    one = np.zeros(len(times), np.int64)
    n_times = _times_of(one, times)
    if n_times < FEWEST_IN_SERIES:
        return False
    seen = times[~np.isnan(times)]
    dense = (np.rint(seen) == seen).all() and n_times > REGULAR * np.ptp(seen)
    return dense or usual_step(one, times)[1] >= REGULAR


def _is_panel(unit, times, found):
    """Return whether rows are units at several times; what is `found` must not be so by chance.

    If units and times were unrelated, more pairs of rows would share both.
    """
    several = 2 <= unit.max() + 1 <= len(unit) / 2 and _times_of(unit, times) >= FEWEST_TIMES
    if not found or not several:
        return several
    time = pd.factorize(times)[0]
    both = np.where((unit < 0) | (time < 0), -1, unit * (time.max() + 1) + time)
    same_unit, same_time, same = map(_equal_pairs, (unit, time, both))
    by_chance = same_unit * same_time / (len(unit) * (len(unit) - 1) / 2)
    return by_chance >= max(FEWEST_BY_CHANCE, TIMES_FEWER * same)


def _times_of(unit, times):
    """Return how many times the typical unit has, 0 if they do not tell its rows apart."""
    rows = pd.DataFrame({"unit": unit, "time": times})[(unit >= 0) & ~np.isnan(times)]
    distinct = rows.drop_duplicates()
    if not len(rows) or len(distinct) < NEARLY_UNIQUE * len(rows):
        return 0
    return np.median(np.bincount(distinct["unit"]))


def _equal_pairs(numbers):
    """Return how many pairs of rows have the same number."""
    sizes = np.unique(numbers[numbers >= 0], return_counts=True)[1].astype(float)
    return (sizes * (sizes - 1)).sum() / 2


def unit_of_holes(features, holes) -> tuple[str, ...]:
    """Return a column of text whose values tell where a label is missing as a whole, or ().

    Nearly all holes of the label are in rows with some of its values, in which it is never known,
    and there are other values in which it always is.
    """
    for name, cells in as_frame(features).items():
        codes = Cells(name, cells).codes
        counts = np.bincount(codes[codes >= 0])
        if (codes < 0).any() or is_numeric_dtype(cells) or not 3 <= len(counts) <= len(codes) / 2:
            continue
        for missing in holes.T[holes.any(axis=0)]:
            lost = np.bincount(codes, missing)
            all_of_it = (lost == counts) & (counts >= FEWEST_TIMES)
            nearly_all = NEARLY_UNIQUE * max(missing.sum(), FEWEST_IN_SERIES)
            if lost[all_of_it].sum() >= nearly_all and (lost == 0).sum() >= 2:
                return (name,)
    return ()
