"""What a user says about a table on the page, and the options that it stands for.

The options are those of `inldl.tables.options` that have a place on the page; roles of columns
stand for the others.
"""

import math
from dataclasses import Field, fields
from typing import Any, TypeVar

from inldl.methods.registry import METHODS
from inldl.tables.option_groups import Options, flag_of, names, type_of
from inldl.tables.options import (
    ColumnOptions,
    FileOptions,
    FillOptions,
    GroupOptions,
    LearnOptions,
    PanelOptions,
)

ROLES = {
    "label": "holds shares; missing ones are filled in",
    "feature": "helps to predict the shares",
    "unit": "names what has several rows, such as a country; several columns name it together",
    "time": "says when: a year or a date, or a year and a month together",
    "id": "names the rows",
    "ignored": "is not used",
    "weight": "says how much each row counts",
    "group": "says which rows belong together when errors are measured",
    "total": "holds the total of each row, for counts",
    "price": "holds what it costs to ask about a row",
}
ONCE = ("weight", "group", "total", "price")  # roles of one column at most
READING = [*names(FileOptions), "long"]  # how the file is read
ROWS = ["delimiter", "skip_rows", "skip_last", "sheet", "long"]  # which lines are rows
LONGEST_TEXT = 500  # characters of a text
T = TypeVar("T", bound=Options)
_KINDS: dict[Any, str] = {bool: "flag", int: "number", int | None: "number"}
_KINDS[list[str] | None] = "lines"


def _control(each: Field[Any]) -> dict[str, Any]:
    """Return what the page needs to know about an option."""
    about = each.metadata
    section, title = about["page"]
    kind = "choice" if "choices" in about else _KINDS.get(type_of(each), "text")
    choices = list(about.get("choices", {}).items())
    if each.default is None:
        choices.insert(0, ("", "Detect it"))
    hint = f"{about.get('hint', about['help']).removesuffix('.')} ({flag_of(each)})."
    return {
        "name": each.name,
        "kind": kind,
        "section": section,
        "title": title,
        "hint": "" if kind == "choice" else hint,
        "example": about.get("example", ""),
        "choices": choices,
        "range": (about.get("least", 0), about.get("page_most")),
        "default": {"number": None, "flag": False, "choice": each.default or ""}.get(kind, ""),
    }


FORM = [
    _control(each)
    for group in (FillOptions, LearnOptions, ColumnOptions)
    for each in fields(group)
    if "page" in each.metadata
]
DEFAULTS = {"roles": {}, "method": "auto"} | {each["name"]: each["default"] for each in FORM}
# What results depend on; those of other tasks depend on everything.
_USED = {
    "look": READING,
    "inspect": ["roles", "edits", *names(ColumnOptions, PanelOptions)],
    "compare": ["roles", "edits", "ratios", *names(ColumnOptions, GroupOptions)],
}


def checked(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings from a page, or refuse what no page of ours would send."""
    settings = {**DEFAULTS, **settings}
    good = set(settings) == set(DEFAULTS) and isinstance(settings["roles"], dict)
    good = good and all(
        isinstance(role, str) and role in ROLES for role in settings["roles"].values()
    )
    method = settings["method"]
    good = good and isinstance(method, str) and method in METHODS  # no class from elsewhere
    if not good or not all(_is_possible(each, settings[each["name"]]) for each in FORM):
        raise ValueError("These settings are not possible; load the page again.")
    roles = list(settings["roles"].values())
    for role in ONCE:
        if roles.count(role) > 1:
            raise ValueError(f"Only one column can have the role {role!r}; change the others.")
    return settings


def _is_possible(control: dict[str, Any], value: Any) -> bool:
    """Return whether a control of the page can have a value."""
    if control["kind"] == "choice":
        return any(value == each for each, _ in control["choices"])
    if control["kind"] == "flag":
        return isinstance(value, bool)
    if control["kind"] == "number":
        least, most = control["range"]
        return value is None or (type(value) is int and least <= value <= (most or math.inf))
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def named(settings: dict[str, Any], *roles: str) -> list[str]:
    """Return the columns with a role, or one of several."""
    return [name for name, each in settings["roles"].items() if each in roles]


def one(settings: dict[str, Any], role: str) -> str | None:
    """Return the column with a role, or None."""
    return next(iter(named(settings, role)), None)


def chosen(kind: type[T], settings: dict[str, Any], **more: Any) -> T:
    """Return a group of options as the page says; what is empty there has its default."""
    there = {name: settings[name] for name in names(kind) if name in DEFAULTS}
    return kind(**{name: value for name, value in there.items() if value not in ("", None)} | more)


def labels(settings: dict[str, Any]) -> list[str] | None:
    """Return the columns with shares; None stands for all labels of a long table."""
    found = named(settings, "label")
    if not found and not settings["long"]:
        raise ValueError("No column is marked as a label; say which columns hold the shares.")
    return found or None


def columns(settings: dict[str, Any]) -> ColumnOptions:
    """Return how a file is written, and which columns are used."""
    sums = [line.strip() for line in settings["sums"].splitlines() if line.strip()]
    used = {text.partition("=")[0].strip() for text in sums}
    ids, ignored, prices = (
        [name for name in named(settings, role) if name not in used]
        for role in ("id", "ignored", "price")
    )
    which = {"id": ids, "ignore": [*ignored, *prices], "total": one(settings, "total")}
    return chosen(ColumnOptions, settings, **which, sums=sums or None)


def learning(settings: dict[str, Any]) -> LearnOptions:
    """Return how a model is fitted; units and times are those on the page, and never found."""
    roles = {role: one(settings, role) for role in ("weight", "group")}
    panel = {role: named(settings, role) or "none" for role in ("unit", "time")}
    return chosen(LearnOptions, settings, **roles, **panel)


def is_stale(run: dict[str, Any], table: dict[str, Any]) -> bool:
    """Return whether a table was changed since a run, as far as the run depends on it."""
    now, then = ({**each["settings"], "edits": each["edits"]} for each in (table, run))
    used = _USED.get(run["kind"], list(now))
    return any(now[name] != then[name] for name in used if name in now)
