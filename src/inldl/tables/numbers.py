"""How numbers are written in a text: detect their signs, and read them.

A comma with three digits behind it, as in 47,300, can be both a decimal sign and one between
thousands. Any other number of digits makes it a decimal sign (0,5 or 0,123); several such commas,
or a decimal point behind it, one between thousands (1,234,000 or 47,300.5). The same is true of
dots; spaces and apostrophes can only separate thousands. A file has one decimal sign.

Bounds are written <5, 1-9, or >=50: a sign in front of one number, or a dash or "to" between two.
All else is no bound: a number with a sign of its own (-5), with an exponent, or with a zero in
front as days and months have it (05-10).

Flags are what offices put behind a number, or behind a sign in its place: 2.5 e, 12.3*, 4.5¹, : c,
or around it: (1.3). Only letters that offices use are flags: 5 k may be 5000.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from inldl.rows.checks import check_choice
from inldl.text import shortened

if TYPE_CHECKING:
    from inldl.tables.table import Format

DASH_SIGNS = ("-", "--", "–", "—")
SIGNS = {*DASH_SIGNS, "?", "*", "**", ".", "..", "...", "…", ":", "(s)", "(x)", "(d)"}
MISSING = ("", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "<na>", "(na)", "nan", "null", "none",
           *SIGNS, "#div/0!", "#value!", "#ref!", "#null!", "#num!")  # fmt: skip
FLAGS = {
    "b": "break in series", "c": "confidential", "d": "definition differs", "e": "estimated",
    "f": "forecast", "n": "not significant", "p": "provisional", "r": "revised",
    "s": "estimated", "u": "unreliable", "z": "does not apply",
}  # fmt: skip
NOT_APPLICABLE = "z"
_LETTERS = f"[{''.join(FLAGS)}]"
_FLAG = re.compile(
    rf"(.*[\d.%:…–—-]) ?({_LETTERS}{{1,2}}|[*†‡§#¹²³⁰⁴-⁹⁽⁾]+\)?|(?<= )\d\d?\)"
    rf"|\((?:\w|\d\d)\)|\[\w{{1,4}}(?: \d\d?)?\])|()(\[{_LETTERS}\])|[(\[](.*\d%?)([)\]])",
    re.IGNORECASE,
)
DECIMALS = 10  # of the numbers that are written, at most
_FORM = f"%.{DECIMALS}f"
THOUSANDS = (",", ".", " ", "'")
_WIDEST = 64  # characters: no number and no bounds that people write are wider
SPACES = "\u00a0\u202f\u2009"
_SAME_SIGNS = str.maketrans(dict.fromkeys(SPACES, " ") | {"\u2019": "'"})
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_UNGROUPED = re.compile(rf"[+-]?(?:[0-9]+(?:([.,])[0-9]*)?|([.,])[0-9]+){_EXPONENT}")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([,. '])[0-9]{3}((?:\1[0-9]{3})*)(?:([.,])[0-9]*)?")
_OTHER = {",": ".", ".": ","}
_NAMES = {",": "Commas", ".": "Dots", " ": "Spaces", "'": "Apostrophes"}

Kind = tuple[str, str]  # a sign, and its role: "decimal", "groups", or "either" of both
Place = tuple[int, str]  # a row and a column
_WORDS = {
    ("decimal", ","): "a decimal comma",
    ("either", ","): "a comma",
    ("groups", ","): "commas between thousands",
    ("decimal", "."): "a decimal point",
    ("either", "."): "a dot",
    ("groups", "."): "dots between thousands",
}


def parse_number(cell: Any, signs: Format, *, percent: bool = False) -> float | None:
    """Return the number in a cell, NaN if it is missing, and None if the cell is none.

    Missing are the words of `MISSING` and what `signs.na` names. With `percent` each number must
    have a percent sign. Cells that are no text may be numbers or missing, too.
    """
    if not isinstance(cell, str):
        return np.nan if pd.isna(cell) is True else None if percent else _as_float(cell)
    word = cell.strip()
    number = None
    if not percent:
        number = _parse(word, signs)
    elif word.endswith("%"):
        return _parse(word[:-1].rstrip(), signs)
    return np.nan if number is None and is_hole(word, signs.na) else number


def _parse(text: str, signs: Format) -> float | None:
    """Return the number that a text is, None if it is none."""
    if len(text) > _WIDEST:
        return None
    if found := _UNGROUPED.fullmatch(text):
        decimal = found[1] or found[2]
        if decimal in (None, signs.decimal):
            return float(text.replace(",", "."))
    if signs.thousands and (found := _GROUPED.fullmatch(text := text.translate(_SAME_SIGNS))):
        group, _, decimal = found.groups()
        if group in signs.thousands and decimal in (None, signs.decimal):
            return float(text.replace(group, "").replace(",", "."))
    return None


def parse_cells(cells, signs, percent=False, marks=None) -> tuple[np.ndarray, np.ndarray, Counter]:
    """Return the numbers of cells, NaN where one is missing or text, and which rows hold text.

    `marks` has the `Meaning` of signs; one that stands for bounds is text. Without it, cells have
    no flags. Last comes how many cells hold each sign, by the sign and its meaning. Where no mark
    tells that, it is None, or what is read in place of a flag: "number", "missing" or "0".
    """
    codes, words = pd.factorize(pd.Series(cells, dtype=object), use_na_sentinel=False)
    found = [parse_number(word, signs, percent=percent) for word in words]
    seen, sizes = Counter[tuple[str, Any]](), np.bincount(codes).tolist()
    for code in np.flatnonzero(np.isnan(np.array(found, float))):
        sign = words[code].strip() if isinstance(words[code], str) else ""
        meaning = None if marks is None else marks.get(sign.lower())
        if marks is not None and found[code] is None and not meaning:
            found[code], sign, meaning = _read_flag(sign, signs, percent, marks)
        found[code] = getattr(meaning, "number", found[code])
        if meaning or sign.lower() in SIGNS:
            seen[sign, meaning] += sizes[code]
    values = np.array(found, float)[codes]  # None becomes NaN
    text = np.array([number is None for number in found], bool)[codes]
    return without_numbers(pd.Series(values), signs.na).to_numpy(), np.flatnonzero(text), seen


def _read_flag(cell, signs, percent, marks):
    """Return the number of a cell with a flag, the flag and its meaning; (None, "", None) else."""
    rest, flag, meaning = flag_of(cell, marks)
    hole = flag and is_hole(rest)
    number = np.nan if hole else parse_number(rest, signs, percent=percent) if flag else None
    if number is None:
        return None, "", None
    what = "number" if not hole else "0" if flag.strip("[]") == NOT_APPLICABLE else "missing"
    return 0.0 if what == "0" else number, flag, meaning or what


def flag_of(cell, marks) -> tuple[str, str, Any]:
    """Return a cell without its flag, the flag, which may be one of the marks, and its meaning."""
    rest, flag = split_flag(cell)
    if not flag and (flag := next(filter(cell.strip().lower().endswith, marks), "")):
        rest = cell.strip()[: -len(flag)].rstrip()
    return rest, flag, marks.get(flag) or marks.get(flag.strip("()[]"))


def split_flag(cell: str) -> tuple[str, str]:
    """Return a cell without its flag, and the flag in small letters, "" if there is none."""
    found = _FLAG.fullmatch(cell.strip().translate(_SAME_SIGNS)) if len(cell) <= _WIDEST else None
    if found is None:
        return cell, ""
    rest, flag = (part for part in found.groups() if part is not None)
    return rest.rstrip(), {")": "()", "]": "[]"}.get(flag, flag.lower())


def parse_column(cells, signs, *, percent=False, seen=None) -> np.ndarray | None:
    """Return the numbers of cells, NaN where one is missing; None if a cell is text.

    If flags are to be `seen`, cells may have some, which are counted there.
    """
    for some in (cells[:100], cells):
        values, text, found = parse_cells(some, signs, percent, None if seen is None else {})
        if len(text):
            return None
    if seen is not None:
        seen.update(found)
    return values


def read_flagged(cells, signs) -> tuple[np.ndarray | None, Counter]:
    """Return the numbers of cells of which some, but less than half, have flags, and these."""
    values = parse_column(cells, signs, seen=(seen := Counter[tuple[str, Any]]()))
    flags = Counter({sign: n for sign, n in seen.items() if sign[1] in ("number", "missing")})
    known = 0 if values is None else (~np.isnan(values)).sum()
    few = 0 < 2 * flags.total() < known and "0" not in {meaning for _, meaning in seen}
    return (values, flags) if few else (None, Counter())


def as_words(na: str | Iterable | None) -> tuple[str, ...]:
    """Return what a user calls missing as words: a list, or a text with commas between them."""
    if na is None:
        return ()
    words = na.split(",") if isinstance(na, str) else na
    return tuple(dict.fromkeys(str(word).strip() for word in words))


def is_hole(cell: object, na: Sequence[str] = ()) -> bool:
    """Return whether a cell is empty or a word that means missing."""
    return cell.strip().lower() in hole_words(tuple(na)) if isinstance(cell, str) else cell is None


@lru_cache
def hole_words(na: tuple[str, ...]) -> frozenset[str]:
    """Return the words that mean missing, in small letters."""
    return frozenset([*MISSING, *(word.lower() for word in na)])


def without_numbers(column: pd.Series, na: Iterable[str]) -> pd.Series:
    """Return a column of numbers without those that mean missing, such as -99."""
    found = (_as_float(word.replace(",", ".")) for word in na)
    missing = [number for number in found if number is not None]
    return column.mask(column.isin(missing)) if missing else column


def _as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def format_numbers(values: Iterable[float], signs: Format, *, percent: bool = False) -> list[str]:
    """Return numbers as they are written into a text, with percent signs if asked for."""
    texts = [(_FORM % value).rstrip("0").rstrip(".") for value in values]
    texts = [text.replace(".", ",") for text in texts] if signs.decimal == "," else texts
    return [f"{text}%" for text in texts] if percent else texts


class SignEvidence:
    """Gather how the numbers of a table are written, some cells of a column at a time.

    A column with text in it tells nothing, unless it is one of the `labels`.
    """

    def __init__(self, labels: Collection[str] = (), na: Sequence[str] = ()) -> None:
        self._labels, self._na = set(labels), na
        self._first: dict[str, dict[Kind, int]] = {}
        self._text: set[str] = set()  # columns with text

    def add(self, name: str, cells: list, first_row: int = 0) -> None:
        """Look at the text cells of a column, the first cell of which is in `first_row`."""
        known = self._first.setdefault(name, {})
        label = name in self._labels
        for cell in dict.fromkeys(cells) if label or name not in self._text else ():
            kinds = kinds_of_signs(cell) if isinstance(cell, str) else ()
            if kinds is None and not is_hole(cell, self._na):
                self._text.add(name)
                numbers = (written_bounds(cell)[1:] or split_flag(cell)[:1]) if label else ()
                kinds = tuple(kind for text in numbers for kind in kinds_of_signs(text) or ())
            for kind in set(kinds or ()) - known.keys():
                known[kind] = first_row + cells.index(cell)

    def places(self, names: Collection[str] | None = None) -> dict[Kind, Place]:
        """Return the first row and column of each kind of sign, in some columns or in all."""
        found: dict[Kind, Place] = {}
        for name, first in self._first.items():
            tells = name in self._labels or name not in self._text
            for kind, row in first.items() if tells and (names is None or name in names) else ():
                if kind not in found or row < found[kind][0]:
                    found[kind] = row, name
        return found

    def unusual(self) -> list[str]:
        """Return the columns without text that have other signs than a decimal point."""
        usual = {("decimal", "."), ("either", ".")}
        numbers = (name for name in self._first if name not in self._text)
        return [name for name in numbers if self._first[name].keys() - usual]


@lru_cache(1 << 14)
def kinds_of_signs(cell: str) -> tuple[Kind, ...] | None:
    """Return the kinds of signs that the number in a cell has, None if it is no number."""
    text = cell.strip().removesuffix("%").rstrip().translate(_SAME_SIGNS)
    if not text:
        return ()
    if found := _GROUPED.fullmatch(text):
        group, more, decimal = found.groups()
        if decimal is None:
            return (("groups" if more or group in " '" else "either", group),)
        return (("groups", group), ("decimal", decimal)) if decimal != group else None
    if found := _UNGROUPED.fullmatch(text):
        decimal = found[1] or found[2]
        return () if decimal is None else (("decimal", decimal),)
    return None


def check_signs(decimal: str | None, thousands: str | None) -> None:
    """Refuse signs that cannot be those of a number."""
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    if thousands is not None:
        check_choice("thousands", thousands, ("", *THOUSANDS))
        if thousands == decimal:
            problem = "cannot be the decimal sign and separate thousands at once."
            raise ValueError(f"{decimal!r} {problem}")


def find_signs(
    places: dict[Kind, Place],
    cell: Callable[[int, str], tuple[str, str]],
    decimal: str | None = None,
    thousands: str | None = None,
    *,
    points: bool = True,
) -> tuple[dict[str, Any], list[str]]:
    """Return the signs of a table as parts of its format, and notes on what was detected.

    `places` are those of `SignEvidence`; `cell(row, column)` returns the place of a cell in words
    and its text; `points` tells whether 1.234 has a decimal point if nothing shows it.
    """
    found = _decimal(places, cell, thousands, points) if decimal is None else decimal
    notes = ["The decimal sign is a comma."] if decimal is None and found == "," else []
    if thousands is None:
        thousands = ""
        for sign in THOUSANDS:
            kinds = ("groups", sign), ("either", sign)
            at = [places[kind] for kind in kinds if kind in places]
            if at and sign != found:
                thousands += sign
                notes.append(f"{_NAMES[sign]} separate thousands (as in {cell(*min(at))[1]}).")
    return {"decimal": found, "thousands": thousands}, notes


def _decimal(places, cell, thousands, points):
    """Return the decimal sign that the cells tell, or refuse to guess."""
    if thousands in _OTHER:
        return _OTHER[thousands]
    proofs = {s: places.keys() & {("decimal", s), ("groups", _OTHER[s])} for s in _OTHER}
    groups = places.keys() & {("groups", " "), ("groups", "'")}
    if thousands is not None or (groups and not any(proofs.values())):
        # Neither commas nor dots separate thousands.
        proofs = {s: places.keys() & {("decimal", s), ("either", s)} for s in _OTHER}
    if all(proofs.values()):
        firsts = (min((places[kind], kind) for kind in kinds) for kinds in proofs.values())
        _refuse_both(cell, *sorted(firsts))
    proved = [sign for sign, kinds in proofs.items() if kinds]
    if proved:
        return proved[0]
    either = [(places[kind], kind[1]) for kind in places if kind[0] == "either"]
    if ("either", ",") in places or (either and not points):
        _refuse_either(cell, *min(either))
    return "."


def _refuse_both(cell, first, second):
    (where, text), (place, known) = cell(*second[0]), cell(*first[0])
    place = place[0].lower() + place[1:]
    raise ValueError(
        f"{where}: {shortened(text)!r} has {_WORDS[second[1]]}, but {shortened(known)!r} "
        f"({place}) has {_WORDS[first[1]]}; write all numbers in one way, or give decimal='.' or "
        "',' (--decimal on the command line)."
    )


def _refuse_either(cell, at, sign):
    where, text = cell(*at)
    whole, decimal = (shortened(text.replace(sign, other)) for other in ("", "."))
    raise ValueError(
        f"{where}: {shortened(text)!r} could mean {whole} or {decimal}, and "
        f"no other number in the file settles it; give --thousands {sign} or --decimal {sign} "
        f"(in Python, thousands={sign!r} or decimal={sign!r})."
    )


_BLANK = r"[ \t\u00a0\u202f\u2009]*"
_DIGITS = r"(?!0[0-9])(?:[0-9][0-9.,'\u2019 \u00a0\u202f\u2009]*)?[.,]?[0-9]"
_SIGNED = rf"({_DIGITS}(?:{_BLANK}%)?)"
_BETWEEN = rf"(?:{_BLANK}[-\u2010-\u2015\u2212]{_BLANK}|[ \t\u00a0]+to[ \t\u00a0]+)"
_BOUND = re.compile(rf"{_BLANK}(<=?|>=?|[≤⩽≥⩾]){_BLANK}{_SIGNED}{_BLANK}")
_RANGE = re.compile(rf"{_BLANK}{_SIGNED}{_BETWEEN}{_SIGNED}{_BLANK}", re.IGNORECASE)
_PLAIN_SIGNS = {"≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">="}


def written_bounds(cell: str) -> tuple[str, ...]:
    """Return the sign of bounds (<, <=, >, >=, or - for a range) and their numbers as written.

    It is empty if a cell holds no bounds.
    """
    if len(cell) > _WIDEST:
        return ()
    if one := _BOUND.fullmatch(cell):
        return _PLAIN_SIGNS.get(one[1], one[1]), one[2]
    two = _RANGE.fullmatch(cell)
    return ("-", *two.groups()) if two else ()
