"""Change cells of a table: what may be written into them, and what happens if two people do."""

import math
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

from inldl_studio.workspace import Changed, Json

MOST_CHANGED = 10_000  # of one change
MISUNDERSTOOD = "This request is not understood; load the page again."
MISSING = {"", "na", "n/a", "-", "missing"}  # what a cell may hold that is pasted
_OTHER = {",": ".", ".": ","}  # signs in numbers
_RATIOS = (
    "Only ratios of the shares in this row are known, so a single share cannot be put into it; "
    "correct the row in your file, or switch off the setting that shares are ratios."
)


class Conflict(Changed):
    """Two people have written different numbers into a cell."""


def checked_cells(cells: Any, grid: Any) -> list[list[Any]]:
    """Return cells from a page as row, label and text; refuse those that no table of ours has."""
    if not isinstance(cells, list) or len(cells) > MOST_CHANGED:
        raise ValueError(f"Change at most {MOST_CHANGED:,} cells at once.")
    labels = set(grid.labels)
    for cell in cells:
        if not isinstance(cell, list) or len(cell) != 3:
            raise ValueError(MISUNDERSTOOD)
        row, label, _ = cell
        if type(row) is not int or not 0 <= row < grid.facts["n_rows"]:
            raise ValueError("The table has no such row; load the page again.")
        if not isinstance(label, str) or label not in labels:
            raise ValueError("The table has no such label; load the page again.")
    return cells


class Change:
    """What somebody does to some cells.

    `body` is what the page has sent: `what` was done, the `revision` that it had seen, and whether
    it knows that somebody else has written something else meanwhile (`over`). Each of the `cells`
    has a row, a label and a text: a number; nothing, to take an edit back; or None, to have the
    share be missing. `grid` shows the table; without it, shares are not compared with their rows.
    """

    def __init__(self, who: str, body: Json, cells: list[list[Any]], grid: Any = None) -> None:
        self._who, self._body, self._cells, self._grid = who, body, cells, grid
        self.authors: dict[tuple[int, str], str] = {}  # of numbers that others have handed in
        self.made: list[Json] = []

    def __call__(self, table: Json, changes: list[Json]) -> Json:
        """Return the change of the cells of a table, as `Workspace.change_cells` asks for it."""
        now = {(row, label): edit for row, label, *edit in table["edits"]}
        wanted = {(row, label): self._edit(text, (row, label)) for row, label, text in self._cells}
        others = self._meanwhile(changes)
        made = self.made = []
        for at, edit in wanted.items():
            before = now.get(at)
            if (before and before[0]) == (edit and edit[0]) and bool(before) == bool(edit):
                continue
            if at in others and not self._body.get("over"):
                raise Conflict(_conflict(at, before, others[at]))
            made.append({"row": at[0], "label": at[1], "before": before, "after": edit})
        if self._grid is not None:
            self._check_rows(table, now | wanted, {at[0] for at in wanted})
        what = self._body.get("what")
        what = what if isinstance(what, str) and len(what) < 80 else "Edited"
        return {"what": what, "who": self._who, "cells": made}

    def _edit(self, text, at):
        """Return a number with who wrote it, or None to take an edit back."""
        author = self.authors.get(at, self._who)
        by = [author] * bool(author)
        if text is not None and str(text).strip() == "":
            return None
        if text is None or str(text).strip().lower() in MISSING:
            return [None, *by]
        facts = {} if self._grid is None else self._grid.facts
        return [text if isinstance(text, float) else share_of(str(text), facts), *by]

    def _meanwhile(self, changes):
        """Return who has changed which cells since the page has looked."""
        seen = self._body.get("revision")
        seen = seen if type(seen) is int else 0
        return {
            (cell["row"], cell["label"]): change["who"]
            for change in changes
            if change["revision"] > seen
            for cell in change["cells"]
        }

    def _check_rows(self, table, edits, rows):
        """Refuse shares that are too much for their row, with all changes of it together."""
        by_row: dict[int, dict[str, Any]] = defaultdict(dict)
        for (row, label), edit in edits.items():
            if edit is not None and row in rows:
                by_row[row][label] = edit[0]
        last = {row: label for row, label, _ in self._cells if label in by_row[row]}
        for row in sorted(rows):
            if table["settings"]["ratios"] and by_row[row] and self._grid.has_holes(row):
                raise ValueError(_RATIOS)
            if row in last:
                self._check_share(row, last[row], by_row[row])

    def _check_share(self, row, label, edits):
        left, value = self._grid.left(row, label, edits), edits[label]
        if value is None or left is None or value <= left * 1.0001 + 1e-9:
            return
        whole = self._grid.facts["whole"]
        if value <= whole and left + (self._grid.known(row, label) or 0) >= whole * 0.9999:
            return  # the row was complete, and other cells of it have to change as well
        raise ValueError(
            f"{value:g} is too much for {label!r}: the other known shares of the row leave "
            f"{max(left, 0):.6g}."
        )


def _conflict(at, before, who):
    row, label = at
    there = "nothing" if before is None or before[0] is None else f"{before[0]:.6g}"
    return (
        f"{who or 'Another tab'} has changed {label!r} of row {row + 1} meanwhile; there is "
        f"{there} now."
    )


def share_of(text: str, facts: Json | None = None) -> float:
    """Return a number that a user has typed or pasted, in the unit of the table.

    `facts` are those of the grid: the decimal sign of the file, its sign between thousands, and
    the whole of a row. Another sign is understood where it can mean one thing only; counts have
    no decimals, so that three digits behind a sign are thousands there.
    """
    facts = {"decimal": ".", "thousands": "", "whole": None, **(facts or {})}
    plain, percent = text.strip().replace("\u00a0", " ").strip(), text.strip().endswith("%")
    plain = plain.removesuffix("%").strip()
    value = _number(plain, facts)
    if value is None or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{text!r} is not a share; write a number of 0 or more, or nothing.")
    if percent and facts["whole"] is None:
        raise ValueError(f"{text!r} is not a count; write a number without a percent sign.")
    return value / 100 if percent and facts["whole"] == 1 else value


def _number(text, facts):
    """Return the number in a text, or None; refuse one that can mean two."""
    from inldl.tables.numbers import kinds_of_signs, parse_number  # not for the first page

    def read(decimal, thousands):
        signs = SimpleNamespace(decimal=decimal, thousands=thousands, na=())
        return parse_number(text, signs)

    own = read(facts["decimal"], facts["thousands"])
    kinds = dict(kinds_of_signs(text) or ())
    if own is not None or not kinds:
        return own
    if either := kinds.get("either"):
        if facts["whole"] is None:
            return read(_OTHER[either], either)
        numbers = [f"{read(*signs):.10g}" for signs in ((_OTHER[either], either), (either, ""))]
        raise ValueError(
            f"{text!r} could mean {' or '.join(numbers)}; write it without a sign between "
            f"thousands, and with the decimal sign {facts['decimal']!r}."
        )
    groups = kinds.get("groups", "")
    return read(kinds.get("decimal", _OTHER.get(groups, ".")), groups)
