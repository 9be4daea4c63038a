"""How bounds are written in a cell: <5, 1-9, at least 50 as in >=50.

A sign stands in front of one number, or a dash or "to" between two. All else is no bound: a number
with a sign of its own (-5), with an exponent, or with a zero in front as days and months have it
(05-10).
"""

import re
from typing import NamedTuple

_WIDEST = 64  # characters: no bounds that people write are wider
_SPACE = r"[ \t\u00a0\u202f\u2009]*"
_NUMBER = r"(?!0[0-9])(?:[0-9][0-9.,'\u2019 \u00a0\u202f\u2009]*)?[.,]?[0-9]"
_PERCENT = rf"(?:{_SPACE}(%))?"
_BETWEEN = rf"(?:{_SPACE}[-\u2010-\u2015\u2212]{_SPACE}|[ \t\u00a0]+to[ \t\u00a0]+)"
_ONE = re.compile(rf"{_SPACE}(<=?|>=?|[≤⩽≥⩾]){_SPACE}({_NUMBER}){_PERCENT}{_SPACE}")
_TWO = re.compile(
    rf"{_SPACE}({_NUMBER}){_PERCENT}{_BETWEEN}({_NUMBER}){_PERCENT}{_SPACE}", re.IGNORECASE
)
_MONTH = "(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
_DATE = re.compile(
    rf"\s*(?:[0-9]{{1,2}}[-. ]+{_MONTH}|{_MONTH}[-. ]+[0-9]{{1,2}})\s*", re.IGNORECASE
)
MADE_DATE = (
    "a date, which spreadsheets make of cells such as 1-9; format the column as text, and write "
    "the cell again."
)
_PLAIN_SIGNS = {"≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">="}


class Written(NamedTuple):
    """Bounds as they are written: a sign (<, <=, >, >=, or - for a range) and its numbers.

    `percent` tells for each number whether a percent sign stands behind it.
    """

    sign: str
    numbers: tuple[str, ...]
    percent: tuple[bool, ...]


def written_bounds(cell):
    """Return the bounds that a cell holds, or None."""
    if len(cell) > _WIDEST:
        return None
    if one := _ONE.fullmatch(cell):
        return Written(_PLAIN_SIGNS.get(one[1], one[1]), (one[2],), (bool(one[3]),))
    if two := _TWO.fullmatch(cell):
        return Written("-", (two[1], two[3]), (bool(two[2]), bool(two[4])))
    return None


def looks_like_date(cell):
    """Return whether a cell is a day and a month, which may once have been 1-9."""
    return len(cell) <= _WIDEST and _DATE.fullmatch(cell) is not None
