"""How numbers are written in a text: detect their signs, and read them.

A comma with three digits behind it, as in 47,300, can be both a decimal sign and one between
thousands. Any other number of digits makes it a decimal sign (0,5 or 0,123); several such commas,
or a decimal point behind it, one between thousands (1,234,000 or 47,300.5). The same is true of
dots; spaces and apostrophes can only separate thousands. A file has one decimal sign.

Bounds are written <5, 1-9, or >=50: a sign in front of one number, or a dash or "to" between two.
All else is no bound: a number with a sign of its own (-5), with an exponent, or with a zero in
front as days and months have it (05-10).
"""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from inldl import kernels
from inldl.rows.checks import check_choice
from inldl.tables.formats.tokenizer import cells_of
from inldl.text import shortened

MISSING = ("", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "<na>", "(na)", "nan", "null", "none",
           "?", "-", "--", "–", "—", "*", "**", ".", "..", "...", "…", ":", "(s)", "(x)", "(d)",
           "#div/0!", "#value!", "#ref!", "#null!", "#num!")  # fmt: skip
DECIMALS = 10  # of the numbers that are written, at most
_FORM = f"%.{DECIMALS}f"
THOUSANDS = (",", ".", " ", "'")
_AROUND_DIGITS = ",. '\u00a0\u202f\u2009\u2019\t\n\v\f\r%"
_LONG = 1  # a number that the kernel cannot read to the last bit; it counts text as more
_TEXT, _WAYS = 0, 9  # the ways to write a number, as the kernel counts them
_DECIMAL, _EITHER, _GROUPS = {",": 1, ".": 4}, {",": 2, ".": 5}, {",": 3, ".": 6, " ": 7, "'": 8}
_USUAL = [_DECIMAL["."], _EITHER["."]]
_OTHER = {",": ".", ".": ","}
_NAMES = {",": "Commas", ".": "Dots", " ": "Spaces", "'": "Apostrophes"}
_WORDS = {1: "a decimal comma", 2: "a comma", 3: "commas between thousands",
          4: "a decimal point", 5: "a dot", 6: "dots between thousands"}  # fmt: skip
_NO_ROWS = np.empty(0, int)
_PIECE = 1 << 18  # bytes: what is computed of them stays near the processor


def read_numbers(block, columns, signs, *, percent=False):
    """Return the numbers of some columns, and for each column the rows that hold text.

    The numbers have a row for each column, and NaN where a cell is missing or text. Missing are
    the words of `MISSING` and what `signs.na` names. With `percent` each number must have a
    percent sign.
    """
    values, columns = np.empty((len(columns), len(block.starts))), np.array(columns, np.int64)
    used = np.array([ord(signs.decimal), *(sign in signs.thousands for sign in THOUSANDS)])
    cells, holes = (block.data, block.starts, block.ends, columns), _holes(signs.na)
    kinds = kernels.read_numbers(*cells, used, holes, percent, values)
    text = [_NO_ROWS] * len(columns)
    for j in np.flatnonzero(kinds.any(axis=1)):
        long, text[j] = kinds[j] == _LONG, np.flatnonzero(kinds[j] > _LONG)
        values[j, text[j]] = np.nan
        if long.any():
            values[j, long] = _long_numbers(block.rows(long).text(columns[j]), signs.decimal)
    return without_numbers(values, signs.na), text


def as_words(na):
    """Return what a user calls missing as words: a list, or a text with commas between them."""
    if na is None:
        return ()
    words = na.split(",") if isinstance(na, str) else na
    return tuple(dict.fromkeys(str(word).strip() for word in words))


def is_hole(cell, na=()):
    """Return whether a cell is empty or a word that means missing."""
    if not isinstance(cell, str):
        return cell is None
    word = cell.strip().lower()
    return word in MISSING or word in {each.lower() for each in na}


def without_numbers(values, na):
    """Return numbers with NaN for those that mean missing, such as -99."""
    found = [number for number in map(_number, na) if number is not None]
    return np.where(np.isin(values, found), np.nan, values) if found else values


def _number(word):
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return None


@lru_cache
def _holes(na):
    """Return the words for missing cells as the kernel reads them."""
    return kernels.packed_words([*MISSING, *na, *(word.lower() for word in na)])


def _long_numbers(cells, decimal):
    """Return numbers with many digits, of which the kernel has told that they are numbers."""
    plain = str.maketrans(",", ".", _AROUND_DIGITS.replace(decimal, ""))
    return [float(cell.translate(plain)) for cell in cells]


def written(value, decimal):
    """Return a number as it is written into a text."""
    return all_written([value], decimal)[0]


def all_written(values, decimal):
    """Do the same for many numbers, which is quicker than one by one."""
    texts = [(_FORM % value).rstrip("0").rstrip(".") for value in values]
    return texts if decimal == "." else [text.replace(".", decimal) for text in texts]


class SignEvidence:
    """Gather how the numbers of a table are written, some cells of a column at a time.

    A column with text in it tells nothing, unless it is one of the `labels`.
    """

    def __init__(self, labels=(), na=()):
        self._labels, self._na, self._first = set(labels), na, {}

    def add(self, name, block, column, first_row=0):
        """Look at a column of a block."""
        first = self._first.setdefault(name, np.full(_WAYS, -1))
        if first[_TEXT] >= 0 and name not in self._labels:
            return
        holes = _holes(self._na)
        cells = block.data, block.starts, block.ends
        kernels.note_signs(*cells, column, holes, first_row, first)
        if first[_TEXT] >= 0 and name in self._labels:
            for row, text in _in_bounds(block.text(column)):
                part = cells_of([text])
                cells = part.data, part.starts, part.ends
                kernels.note_signs(*cells, 0, holes, first_row + row, first)

    def places(self, names=None):
        """Return the first row and column of each kind of sign, in some columns or in all."""
        found = {}
        for name, first in self._first.items():
            text = first[_TEXT] >= 0 and name not in self._labels
            if not text and (names is None or name in names):
                for kind in np.flatnonzero(first >= 0).tolist():
                    if kind not in found or first[kind] < found[kind][0]:
                        found[kind] = int(first[kind]), name
        return found

    def shows_points(self):
        """Return whether a number can only have a decimal point."""
        return _DECIMAL["."] in self.places()

    def unusual(self):
        """Return the columns without text that have other signs than a decimal point."""
        first = {name: np.delete(each, _USUAL) for name, each in self._first.items()}
        return [name for name, each in first.items() if each[_TEXT] < 0 and each.max() >= 0]


def _in_bounds(cells):
    """Yield the numbers of cells with bounds, such as <1,000, and the first rows they are in."""
    first = {cell: row for row, cell in reversed(list(enumerate(cells)))}
    for cell, row in first.items():
        found = written_bounds(cell)
        yield from ((row, text) for text in (found.numbers if found else ()))


def check_signs(decimal, thousands):
    """Refuse signs that cannot be those of a number."""
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    if thousands is not None:
        check_choice("thousands", thousands, ("", *THOUSANDS))
        if thousands == decimal:
            problem = "cannot be the decimal sign and separate thousands at once."
            raise ValueError(f"{decimal!r} {problem}")


def is_plain(content, delimiter):
    """Return whether no number in a text has another sign than one decimal point."""
    inside = False
    for start in range(0, content.size, _PIECE):
        text = content.read(max(0, start - 1), start + _PIECE + 4)  # one byte before, four behind
        text = b"\n" * (start == 0) + text + b"\n" * max(0, start + _PIECE + 4 - content.size)
        if _has_unusual_signs(text, delimiter, inside):
            return False
        inside ^= text[1:-4].count(b'"') % 2 == 1
    return True


def _has_unusual_signs(text, delimiter, inside):
    """Return whether there are digits beside a comma, a space or an apostrophe, or as in .234."""
    data = np.frombuffer(text, np.uint8)
    for sign in (b" ", b"'", b"\xc2", b"\xe2"):
        if sign in text and _beside_digits(data, data[1:-4] == sign[0], both=sign in b" '"):
            return True
    if b"," in text and (delimiter != "," or inside or b'"' in text):
        commas = data[1:-4] == ord(",")
        if delimiter == ",":
            commas &= np.logical_xor.accumulate(data[1:-4] == ord('"')) ^ inside
        if _beside_digits(data, commas):
            return True
    dots = data == ord(".")
    pairs = np.flatnonzero(dots[:-4] & dots[4:])
    return bool((data[pairs + 2] >= ord("0")).any())  # not as in 0.5,0.5


def _beside_digits(data, signs, *, both=False):
    at = np.flatnonzero(signs) + 1
    left, right = ((data[at + step] - np.uint8(48)) < 10 for step in (-1, 1))
    return bool((left & right if both else left | right).any())


def find_signs(places, cell, decimal=None, thousands=None, *, points=True):
    """Return the signs of a table as parts of its format, and notes on what was detected.

    `places` are those of `SignEvidence`; `cell(row, column)` returns the place of a cell in words
    and its text; `points` tells whether 1.234 has a decimal point if nothing shows it.
    """
    found = _decimal(places, cell, thousands, points) if decimal is None else decimal
    notes = ["The decimal sign is a comma."] if decimal is None and found == "," else []
    if thousands is None:
        thousands = ""
        for sign in THOUSANDS:
            at = [places[kind] for kind in (_GROUPS[sign], _EITHER.get(sign)) if kind in places]
            if at and sign != found:
                thousands += sign
                notes.append(f"{_NAMES[sign]} separate thousands (as in {cell(*min(at))[1]}).")
    return {"decimal": found, "thousands": thousands}, notes


def _decimal(places, cell, thousands, points):
    """Return the decimal sign that the cells tell, or refuse to guess."""
    if thousands in _OTHER:
        return _OTHER[thousands]
    proofs = {s: places.keys() & {_DECIMAL[s], _GROUPS[_OTHER[s]]} for s in _OTHER}
    groups = places.keys() & {_GROUPS[" "], _GROUPS["'"]}
    if thousands is not None or (groups and not any(proofs.values())):
        # Neither commas nor dots separate thousands.
        proofs = {s: places.keys() & {_DECIMAL[s], _EITHER[s]} for s in _OTHER}
    if all(proofs.values()):
        firsts = (min((places[kind], kind) for kind in kinds) for kinds in proofs.values())
        _refuse_both(cell, *sorted(firsts))
    proved = [sign for sign, kinds in proofs.items() if kinds]
    if proved:
        return proved[0]
    if _EITHER[","] in places or (_EITHER["."] in places and not points):
        _refuse_either(cell, *min((places[k], s) for s, k in _EITHER.items() if k in places))
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


_WIDEST = 64  # characters: no bounds that people write are wider
_BLANK = r"[ \t\u00a0\u202f\u2009]*"
_DIGITS = r"(?!0[0-9])(?:[0-9][0-9.,'\u2019 \u00a0\u202f\u2009]*)?[.,]?[0-9]"
_PERCENT = rf"(?:{_BLANK}(%))?"
_BETWEEN = rf"(?:{_BLANK}[-\u2010-\u2015\u2212]{_BLANK}|[ \t\u00a0]+to[ \t\u00a0]+)"
_BOUND = re.compile(rf"{_BLANK}(<=?|>=?|[≤⩽≥⩾]){_BLANK}({_DIGITS}){_PERCENT}{_BLANK}")
_RANGE = re.compile(
    rf"{_BLANK}({_DIGITS}){_PERCENT}{_BETWEEN}({_DIGITS}){_PERCENT}{_BLANK}", re.IGNORECASE
)
_MONTH = "(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
_DAY = re.compile(
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
    if one := _BOUND.fullmatch(cell):
        return Written(_PLAIN_SIGNS.get(one[1], one[1]), (one[2],), (bool(one[3]),))
    if two := _RANGE.fullmatch(cell):
        return Written("-", (two[1], two[3]), (bool(two[2]), bool(two[4])))
    return None


def looks_like_date(cell):
    """Return whether a cell is a day and a month, which may once have been 1-9."""
    return len(cell) <= _WIDEST and _DAY.fullmatch(cell) is not None
