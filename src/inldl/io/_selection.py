"""Which columns of a table are labels, features, ids, or of no use, as a user names them."""

import re
from collections import Counter
from difflib import get_close_matches
from fnmatch import fnmatchcase

from inldl._text import listed, shortened


def check_columns(columns):
    """Refuse column names that stand more than once in the header."""
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        places = [str(i + 1) for i, name in enumerate(columns) if name == twice[0]]
        title = "" if twice[0] else ", or skip what is above the header with --skip-rows"
        raise ValueError(
            f"The column name {_shown(twice[0])} stands more than once in the header (columns "
            f"{', '.join(places)}); give each column a name of its own{title}."
        )


def named_by(columns, wanted, what="label columns"):
    """Return the columns that a user names: names, globs, or "re:" and an expression."""
    wanted = split_names(wanted)
    return list(dict.fromkeys(name for each in wanted for name in _matches(columns, each, what)))


def split_names(wanted):
    """Return what a user names as a list: a list, a text with commas, or "re:" and all of it."""
    if isinstance(wanted, str):
        wanted = [wanted] if wanted.startswith("re:") else wanted.split(",")
    return [str(each).strip() for each in wanted or ()]


def select_labels(columns, labels, others=()):
    """Return the label columns that `labels` names, without the `others`."""
    found = [name for name in named_by(columns, labels) if name not in others]
    if len(found) < 2:
        which = f"only {_shown(found[0])}" if found else "none"
        raise ValueError(
            f"No label columns found: a distribution needs at least two, and {which} is named; "
            f"{_known(columns)}"
        )
    return found


def select_features(columns, labels, features, others):
    """Return the feature columns: those that `features` names, or all but the `others`."""
    taken = {*labels, *others}
    chosen = columns if features is None else named_by(columns, features, "feature columns")
    named = features.split(",") if isinstance(features, str) else features or ()
    twice = [name for each in named if (name := str(each).strip()) in taken]
    if twice:
        raise ValueError(
            f"The column {_shown(twice[0])} is named as a feature and also as a label, an id or a "
            "column to ignore; name it once."
        )
    return [name for name in chosen if name not in taken]


def _matches(columns, label, what):
    if label in columns:
        return [label]
    if label.startswith("re:"):
        try:
            expression = re.compile(label[3:])
        except re.error as error:
            raise ValueError(f"{label[3:]!r} is not a regular expression: {error}.") from None
        found = [name for name in columns if expression.fullmatch(name)]
    else:
        found = [name for name in columns if fnmatchcase(name, label)]
    if not found:
        by_lower = {name.lower(): name for name in columns}
        near = [_shown(by_lower[name]) for name in get_close_matches(label.lower(), by_lower)]
        hint = f" (did you mean {' or '.join(near)}?)" if near else ""
        raise ValueError(f"No {what} found for {label!r}{hint}; {_known(columns)}")
    return found


def _known(columns):
    return f"the columns are {listed(map(_shown, columns), 20)}."


def _shown(name):
    return repr(shortened(name))
