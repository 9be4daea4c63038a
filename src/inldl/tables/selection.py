"""Which columns of a table are labels, features, ids, totals or sums, as a user names them."""

import fnmatch
import re
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from inldl.rows.checks import rounding_gap
from inldl.tables.table import WHOLE, Piece
from inldl.text import listed, shortened

_EXAMPLE = '"alcohol=beer,wine"'
NONE = "none"  # what a user says instead of the name of a total that is not known
_TOTAL = re.compile(r"(?i)(.*[\W_])?(total|totals|sum|all|overall|gesamt|summe|totale?)([\W_].*)?")
_FEW, _FEWEST = 10, 2  # rows that prove a total, and those that do if its name says so
_COARSE = 0.002  # of the whole: a label may well be a half everywhere if it is rounded to more


def check_columns(columns) -> None:
    """Refuse column names that stand more than once in the header."""
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        places = [str(i + 1) for i, name in enumerate(columns) if name == twice[0]]
        title = "" if twice[0] else ", or skip what is above the header with --skip-rows"
        raise ValueError(
            f"The column name {_shown(twice[0])} appears more than once in the header (columns "
            f"{', '.join(places)}); give each column a name of its own{title}."
        )


def named_by(columns, wanted, what="label columns") -> list[str]:
    """Return the columns that a user names: names, globs, or "re:" and an expression."""
    wanted = split_names(wanted)
    return list(dict.fromkeys(name for each in wanted for name in _matches(columns, each, what)))


def split_names(wanted) -> list[str]:
    """Return what a user names as a list: a list, a text with commas, or "re:" and all of it."""
    if isinstance(wanted, str):
        wanted = [wanted] if wanted.startswith("re:") else wanted.split(",")
    return [str(each).strip() for each in wanted or ()]


def select_labels(columns, labels, others=(), least=2) -> list[str]:
    """Return the label columns that `labels` names, without the `others`."""
    found = [name for name in named_by(columns, labels) if name not in others]
    if len(found) < least:
        which = f"only {_shown(found[0])}" if found else "none"
        raise ValueError(
            f"No label columns found: a distribution needs at least two, and {which} is named; "
            f"{_known(columns)}"
        )
    return found


def check_named_once(named, role, others, other_role) -> None:
    """Refuse a column that a user names for two roles; one of a pattern may have another."""
    if twice := [name for name in split_names(named) if name in others]:
        raise ValueError(
            f"The column {_shown(twice[0])} is named as {role} and also as {other_role}; name it "
            "once."
        )


def select_features(columns, labels, features, others) -> list[str]:
    """Return the feature columns: those that `features` names, or all but the `others`."""
    taken = {*labels, *others}
    chosen = columns if features is None else named_by(columns, features, "feature columns")
    check_named_once(features, "a feature", taken, "a label, an id or a column to ignore")
    return [name for name in chosen if name not in taken]


def _matches(columns, label, what):
    if label in columns:
        return [label]
    expression = label[3:] if label.startswith("re:") else fnmatch.translate(label)
    try:
        found = [name for name in columns if re.fullmatch(expression, name)]
    except re.error as error:
        raise ValueError(f"{expression!r} is not a regular expression: {error}.") from None
    if not found:
        by_lower = {name.lower(): name for name in columns}
        near = [_shown(by_lower[name]) for name in get_close_matches(label.lower(), by_lower)]
        hint = f" (did you mean {' or '.join(near)}?)" if near else ""
        if ";" in label:
            hint = " (put commas between names)"
        elif commas := [name for name in columns if "," in name and name.startswith(label)]:
            hint = f" (write {_shown(commas[0])} as {_shown(commas[0].replace(',', '?'))})"
        raise ValueError(f"No {what} found for {label!r}{hint}; {_known(columns)}")
    return found


def _known(columns):
    return f"the columns are {listed(map(_shown, columns), 20)}."


def _shown(name):
    return repr(shortened(name))


class TotalColumns:
    """The label columns, and those with their totals and with sums of some of them.

    `total` is the column with the total of each row, or None; `each` is the total of all rows, if
    they have one; `unknown` says that nobody knows any; `sums` has the labels of each column with
    a sum, such as "alcohol=beer,wine".
    """

    def __init__(self, columns, total=None, sums=None):
        self.unknown = total == NONE and NONE not in columns
        self.each = None if str(total) in columns or self.unknown else _number(total)
        named = total is not None and self.each is None and not self.unknown
        self.total = _one(columns, total, "the total") if named else None
        parted = _parted(sums)
        self._names, self.labels = columns, []
        self.sums = {_one(columns, name, "a sum"): split_names(each) for name, each in parted}
        if len(self.sums) < len(parted) or self.total in self.sums:
            raise ValueError(
                "A column is named for more than one sum (--sum) or total (--total); name each "
                "column once."
            )

    @property
    def given(self) -> bool:
        """Whether the totals of rows are given."""
        return self.total is not None or self.each is not None

    @property
    def named(self) -> str | float | None:
        """The column or the number that is the total, if any."""
        return self.each if self.total is None else self.total

    @property
    def columns(self) -> list[str]:
        """Return all these columns."""
        return [*([] if self.total is None else [self.total]), *self.sums]

    def check(self, labels) -> None:
        """Take the labels; refuse sums of columns that are no labels, or that share one."""
        self.labels = labels
        seen: dict[str, str] = {}
        for name, wanted in self.sums.items():
            members = tuple(named_by(self._names, wanted, f"labels of the sum {name!r}"))
            strange = [each for each in members if each not in labels]
            if strange or len(members) < 2:
                problem = f"{strange[0]!r} is not a label" if strange else "it needs at least two"
                raise ValueError(
                    f"The sum in column {shortened(name)!r} (--sum) is one of labels, but "
                    f"{problem}; name its labels, such as {_EXAMPLE}."
                )
            twice = [each for each in members if each in seen]
            if twice:
                raise ValueError(
                    f"The label {twice[0]!r} is part of two sums (--sum), {seen[twice[0]]!r} and "
                    f"{name!r}; a label can be part of one."
                )
            seen |= dict.fromkeys(members, name)
            self.sums[name] = tuple(each for each in labels if each in members)

    def column_of(self, members) -> str:
        """Return the column with the sum of some labels."""
        return next(name for name, labels in self.sums.items() if labels == members)

    def check_scale(self, scale, normalize, percent) -> None:
        """Refuse a total where the shares are no counts, or are to be divided by their sums."""
        other = "percent signs" if percent else f"scale={scale!r} (--scale {scale})"
        other = "normalize=True (--normalize)" if normalize else other
        if self.given and (normalize or scale not in ("auto", "count")):
            raise ValueError(
                f"A total (--total) is for counts, which are shares of it, but there are {other}; "
                "leave out one of them."
            )

    def notes(self) -> list[str]:
        """Return sentences that say what is shares of what."""
        if not self.given:
            return []
        of = f"{self.each:.10g}" if self.total is None else f"in column {self.total!r}"
        return [f"The shares are read as counts: shares of the total {of}."]

    def apart(self, piece, where) -> Piece:
        """Return a piece with these columns, which are its last, apart from the labels."""
        n_labels = piece.values.shape[1] - len(self.columns)
        columns = dict(zip(self.columns, piece.values[:, n_labels:].T, strict=True))
        bounds = piece.bounds
        if bounds is not None:
            for row, column in np.argwhere(bounds.given()[:, n_labels:]).tolist():
                raise ValueError(
                    f"{where(row)}, column {self.columns[column]!r}: only shares can have bounds, "
                    "not their total or their sum; write a number, or leave the cell empty."
                )
            bounds = bounds.at(slice(None), slice(n_labels))
        totals = columns.get(self.total)
        if self.each is not None:
            totals = np.full(len(piece.values), self.each)
        return replace(
            piece,
            values=np.ascontiguousarray(piece.values[:, :n_labels]),
            bounds=bounds,
            totals=totals,
            sums={members: columns[name] for name, members in self.sums.items()},
        )


def are_whole(pieces) -> bool:
    """Return whether all numbers of label columns and all totals are whole."""
    parts = (each for piece in pieces for each in (piece.values, piece.totals))
    known = (each[np.isfinite(each)] for each in parts if each is not None)
    return all((each == np.rint(each)).all() for each in known)


def _one(columns, wanted, what):
    """Return the one column that a user names."""
    found = named_by(columns, [wanted], f"column for {what}")
    if len(found) > 1:
        raise ValueError(f"{wanted!r} fits {len(found)} columns; name one for {what}.")
    return found[0]


def _number(total):
    """Return a total that is given as a number, None for all else."""
    try:
        number = float(str(total))
    except ValueError:
        return None
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"The total (--total) is {number:g}; give a number above 0, or a column.")
    return number


def _parted(sums):
    """Return the columns of sums, and the labels of each, from a text, a list or a dict."""
    if sums is None:
        return []
    if isinstance(sums, dict):
        return list(sums.items())
    parts = [str(each).partition("=") for each in ([sums] if isinstance(sums, str) else sums)]
    if not all(sign for _, sign, _ in parts):
        raise ValueError(
            f"A sum (--sum) needs a column and the labels that it sums, such as {_EXAMPLE}."
        )
    return [(name.strip(), labels) for name, _, labels in parts]


def refused_total(labels, values) -> str | None:
    """Return a sentence about a label that is the sum of all others in each complete row, or None.

    `values` are the numbers of the labels as they stand in the file. In a table of two labels, the
    two would be equal, which proves nothing.
    """
    complete = values[~np.isnan(values).any(axis=1)]
    sums = complete.sum(axis=1)
    complete, sums = complete[sums > 0], sums[sums > 0]
    if len(labels) < 3 or len(complete) < _FEWEST:
        return None
    # Each number may be off by half a unit of its last decimal.
    largest = np.abs(complete).max()
    gap = rounding_gap(complete, largest) * largest
    totals = (np.abs(2 * complete - sums[:, None]) <= gap).all(axis=0)
    others_vary = np.ptp(complete / sums[:, None], axis=0).max() > 0
    shares = any(np.abs(sums / whole - 1).max() <= _COARSE for whole in WHOLE.values())
    proved = len(complete) >= _FEW and others_vary and not (shares and gap > _COARSE * sums.min())
    for j in np.flatnonzero(totals):
        if proved or _TOTAL.fullmatch(labels[j]):
            return (
                f"The label {labels[j]!r} is the sum of the other labels in each of the "
                f"{len(complete):,} complete rows, so it is their total, not a share of its own; "
                f"leave it out of the labels (--ignore {_quoted(labels[j])})."
            )
    return None


def _quoted(name):
    return f'"{name}"' if re.search(r"[^\w.-]", name) else name
