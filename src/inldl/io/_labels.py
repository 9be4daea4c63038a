"""Find the label columns by name, prefix or pattern."""

import re
from collections import Counter
from difflib import get_close_matches
from fnmatch import fnmatchcase

_SHOWN = 20


def shortened(text):
    """Return a text that fits into a sentence: the wrong encoding can make a cell of a file."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def check_columns(columns):
    """Refuse column names that stand more than once in the header."""
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        places = [i + 1 for i, name in enumerate(columns) if name == twice[0]]
        raise ValueError(
            f"The column name {_shown(twice[0])} stands more than once in the header (columns "
            f"{', '.join(map(str, places))}); give each column a name of its own."
        )


def select_labels(columns, labels):
    """Return the label columns that `labels` names: names, globs, or "re:" and an expression."""
    if isinstance(labels, str):
        labels = [labels] if labels.startswith("re:") else labels.split(",")
    wanted = [str(label).strip() for label in labels]
    found = list(dict.fromkeys(name for label in wanted for name in _matches(columns, label)))
    if len(found) < 2:
        which = f"only {_shown(found[0])}" if found else "none"
        raise ValueError(
            f"No label columns found: a distribution needs at least two, and {which} is named; "
            f"{_known(columns)}"
        )
    if len(found) == len(columns):
        raise ValueError(
            "No feature columns are left: every column is a label; name fewer labels, or add "
            "columns that describe the rows."
        )
    return found


def _matches(columns, label):
    if label in columns:
        return [label]
    if label.startswith("re:"):
        found = [name for name in columns if _expression(label[3:]).fullmatch(name)]
    else:
        found = [name for name in columns if fnmatchcase(name, label)]
    if not found:
        raise ValueError(f"No label columns found for {label!r}{_near(columns, label)}")
    return found


def _expression(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}.") from None


def _near(columns, label):
    by_lower = {name.lower(): name for name in columns}
    near = [by_lower[name] for name in get_close_matches(label.lower(), by_lower, cutoff=0.6)]
    hint = f" (did you mean {' or '.join(map(_shown, near))}?)" if near else ""
    return f"{hint}; {_known(columns)}"


def _known(columns):
    names = ", ".join(map(_shown, columns[:_SHOWN]))
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    return f"the columns are {names}{more}."


def _shown(name):
    return repr(shortened(name))
