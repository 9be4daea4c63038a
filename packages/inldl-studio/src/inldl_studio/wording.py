"""What the commands say, in the words of the page: its controls and roles, and its rows."""

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from inldl.errors import DataError
from inldl.tables.option_groups import flag_of
from inldl.tables.options import AskOptions, ColumnOptions, FillOptions, LearnOptions
from inldl_studio.settings import FORM

_ROLES = {"--labels": "label", "--ignore": "ignored", "--id": "id", "--features": "feature"}
_ROLES |= {"--unit": "unit", "--time": "time", "--weight": "weight", "--group": "group"}
_ROLES |= {"--total": "total", "--cost": "price"}
_TITLES = {each["name"]: each["title"] for each in FORM}
_CHOICES = {each["name"]: dict(each["choices"]) for each in FORM}
_GROUPS = (LearnOptions, ColumnOptions, FillOptions, AskOptions)
_NAMES = {flag_of(each): each.name for group in _GROUPS for each in fields(group)}
_KNOWN = sorted((*_ROLES, *(flag for flag, name in _NAMES.items() if name in _TITLES)))
_FLAG = "|".join(map(re.escape, sorted(_KNOWN, key=len, reverse=True)))
_PYTHON = r"[a-z_]+=(?:'[^']*'|True|\[[^\]]*\]|\{[^}]*\})"  # such as scale='count'
_VALUE = r"(?: (?!or\b|and\b|to\b|of\b)(?:none|[a-z-]+(?=[),.;])|COLUMN|[.,'](?= |$|\))))?"
_SAID = re.compile(
    rf"(?:{_PYTHON} )?\(((?:{_FLAG})\b){_VALUE}(?:,? [^()]*)?\)|((?:{_FLAG})\b)({_VALUE})"
)
_IN_PYTHON = re.compile(
    rf",? ?\((?:in Python, )?{_PYTHON}(?: (?:and|or) {_PYTHON})*(?: in Python)?\)"
    rf"|,? in Python,? {_PYTHON}"
)


def page_words(text: str) -> str:
    """Return a message of a command with the controls of the page in place of options."""
    return _IN_PYTHON.sub("", _SAID.sub(_control, text))


def _control(found):
    """Return how the page has what an option says."""
    flag = found[1] or found[2]
    value = re.search(rf"{re.escape(flag)} ([a-z-]+)", found[0])
    word = value[1] if value else ""
    if flag in _ROLES:
        said = f"the role “{'feature' if word == 'none' else _ROLES[flag]}”"
    else:
        choice = _CHOICES[_NAMES[flag]].get(word) if word else None
        said = f"“{_TITLES[_NAMES[flag]]}{f': {choice}' if choice else ''}”"
    return f"({said})" if found[0].startswith("(") else said


def explained(error: Exception, where: Callable[[int], str], n_rows: int) -> dict[str, Any]:
    """Return a message and its facts, with the row as the page counts it.

    `where` says where a row stands in the file, such as "Line 7".
    """
    if not isinstance(error, DataError):
        return {"error": page_words(str(error)), "about": {}}
    facts: dict[str, Any] = {}
    if isinstance(error.column or error.label, str):
        facts["label"] = error.column or error.label
    place = error.facts.get("at", error.facts.get("place", error.row))
    row = error.row if isinstance(error.row, int) else _row_at(place, where, n_rows)
    if row is not None:
        facts["row"], name = row, f"Row {row + 1}"
        in_column = f", column {error.column!r}" if error.column is not None else ""
        named = {"place": f"{name}{in_column}"} if "place" in error.facts else {"row": name}
        error = error.with_facts(**named)
    if "word" in error.facts:
        facts["word"] = error.facts["word"]
    return {"error": page_words(str(error)), "about": facts}


def _row_at(place, where, n_rows):
    """Return the row that stands in a place, found by halves, or None."""
    number = _number(place)
    low, high = 0, n_rows - 1
    while number is not None and low <= high:
        row = (low + high) // 2
        try:
            there = where(row)
        except (IndexError, ValueError):  # behind the last row
            high = row - 1
            continue
        if there.lower() == str(place).lower():
            return row
        if (_number(there) or 0) < number:
            low = row + 1
        else:
            high = row - 1
    return None


def _number(place):
    found = re.search(r"\d[\d,]*", str(place))
    return int(found[0].replace(",", "")) if found else None
