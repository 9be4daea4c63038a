"""Choose how a column is encoded, or say why it is left out."""

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inldl.tables._cells import (
    are_numbers,
    as_number,
    as_written_number,
    has_numbers,
    level_name,
    read_levels,
    stored_numbers,
)
from inldl.tables._columns import CategoryColumn, NumberColumn
from inldl.tables._refusals import refuse_dates, refuse_infinite, shortened

EMPTY = "it has no observed cell"
CONSTANT = "every cell is the same"
ID = "every cell is different, like an id"
NEARLY_ID = "nearly every cell is different, like an id or free text"
RUNNING = "it is a running number"

_FEW_ROWS = 20  # fewer may well differ, or go up by one, by chance
_NEARLY_ALL = 0.9
_ID_NAME = re.compile(
    r"(?i:|id|.*[_ .-]id|index|row([_ .-]?(number|num|nr|no|index))?|unnamed: 0)|.*[a-z](Id|ID)"
)
_INFINITE = re.compile(r"\s*[+-]?(?:inf|infinity|∞)\s*", re.IGNORECASE)
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = "|".join(
    [
        r"\d{4}([-/.])\d{1,2}\1\d{1,2}",
        r"\d{1,2}([-/.])\d{1,2}\2\d{4}",
        r"\d{1,2}/\d{1,2}/\d{2}|\d{2}([-.])\d{2}\3\d{2}",
        rf"\d{{1,2}}\.?[ -]?{_MONTH}\.?[ ,-]+\d{{2,4}}",
        rf"{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}",
    ]
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)? ?(?:[ap]\.?m\.?)? ?(?:z|utc|gmt|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"\s*(?:{_DAY})(?:(?:t|,? +){_TIME})?\s*", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Choice:
    """Hold how a column is encoded, or why it is left out.

    Attributes
    ----------
    column : NumberColumn, CategoryColumn or None
        None if the column is left out.
    reason : str
        Why it is left out.
    n_levels : int
        How many levels its text has.
    stray : str
        The first cell that is no number, if nearly all others are.
    """

    column: NumberColumn | CategoryColumn | None
    reason: str = ""
    n_levels: int = 0
    stray: str = ""


def choose(name, series, max_levels):
    """Return the `Choice` for a column; dates and infinite numbers are refused."""
    if has_numbers(series):
        return _choose_number(name, stored_numbers(series).astype(np.float64, copy=False))
    levels = read_levels(name, series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        levels = replace(levels, values=[level_name(value) for value in levels.values])
    seen = [levels.values[code] for code in np.flatnonzero(levels.counts)]
    if seen and are_numbers(seen):
        numbers = [as_number(value) for value in levels.values]
        return _choose_number(name, np.array([*numbers, np.nan], dtype=float)[levels.codes])
    _refuse_infinite_text(name, levels, seen)
    return _choose_levels(name, levels, max_levels)


def _refuse_infinite_text(name, levels, seen):
    """Refuse a column that is text only because of "inf" among its numbers."""
    words = [value for value in seen if isinstance(value, str) and _INFINITE.fullmatch(value)]
    if not words:
        return
    others = [as_number(str(value).replace(",", ".")) for value in seen if value not in words]
    if None not in others and any(other == other for other in others):
        refuse_infinite(name, levels.first_row(levels.values.index(words[0])))


def _choose_number(name, cells):
    observed = cells[~np.isnan(cells)]
    if not len(observed):
        return Choice(None, EMPTY)
    low, high = observed.min(), observed.max()
    if np.isinf(low) or np.isinf(high):
        refuse_infinite(name, int(np.argmax(np.isinf(cells))))
    holes = len(observed) < len(cells)
    if low == high and not holes:
        return Choice(None, CONSTANT)
    reason = _number_id(name, observed, holes)
    return Choice(None if reason else NumberColumn.of(name, observed, holes), reason)


def _number_id(name, observed, holes):
    """Return why whole numbers are an id and no measurement, or nothing."""
    if (np.rint(observed) != observed).any():
        return ""
    years = observed.min() >= 1800 and observed.max() <= 2100
    running = len(observed) > _FEW_ROWS and not holes and (np.diff(observed) == 1).all()
    if running and not years:
        return RUNNING
    named = _ID_NAME.fullmatch(name) and len(np.unique(observed)) == len(observed) > 1
    return ID if named else ""


def _choose_levels(name, levels, max_levels):
    sizes = Counter()
    for value, count in zip(levels.values, levels.counts.tolist(), strict=True):
        sizes[level_name(value)] += count
    sizes = +sizes  # categories without a cell are no levels
    total = sizes.total()
    holes = total < len(levels.codes)
    if not sizes:
        return Choice(None, EMPTY)
    if len(sizes) == 1 and not holes:
        return Choice(None, CONSTANT)
    if levels.dates or _share(sizes, _DATE.fullmatch) >= _NEARLY_ALL:
        refuse_dates(name)
    reason = _text_id(name, len(sizes), total)
    column = None if reason else CategoryColumn.of(name, sizes, holes, max_levels)
    return Choice(column, reason, len(sizes), _stray(levels, sizes))


def _text_id(name, n_levels, total):
    """Return why text tells rows apart and no groups of rows, or nothing."""
    if n_levels == total > 1 and (total > _FEW_ROWS or _ID_NAME.fullmatch(name)):
        return ID
    nearly = total > _FEW_ROWS and n_levels > _NEARLY_ALL * total
    return NEARLY_ID if nearly else ""


def _share(sizes, holds):
    """Return the share of the cells for which `holds` is true."""
    return sum(size for text, size in sizes.items() if holds(text)) / sizes.total()


def _stray(levels, sizes):
    """Return the first cell that is no number, if nearly all others are, or nothing."""
    if not _NEARLY_ALL <= _share(sizes, _is_number) < 1:
        return ""
    stray = [not _is_number(level_name(value)) for value in levels.values]
    row = int(np.argmax(np.append(stray, False)[levels.codes]))
    return f"{shortened(levels.values[levels.codes[row]])!r} in row {row}"


def _is_number(text):
    return as_written_number(text) is not None
