"""What people do with the cells of a table: edits, answers, undo, and the list of all that."""

import csv
import io
from collections import defaultdict
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from inldl.text import inert
from inldl_studio.answering import agreement, as_lines, by_whom, combined, newest
from inldl_studio.changing import MISUNDERSTOOD, Change, checked_cells, share_of
from inldl_studio.choosing import Area, cells_of
from inldl_studio.workspace import Json, NotFound

SHOWN_CHANGES, SHOWN_CELLS = 200, 20  # of the list of changes on the page


class CellDesk:
    """Answers what the page asks about cells; see `Desk`."""

    workspace: Any

    def table(self, given) -> Json:
        """Return a table, and what is going on with it."""
        raise NotImplementedError

    def set_edits(self, given) -> Json:
        """Keep what a user has put into cells, or take it back; or keep answers."""
        body, table = given["body"], self.workspace.table(given["table"])
        if "answers" in body or body.get("answer") is True:
            changed = self._answer(given)
        else:
            change = self._change(given)
            self.workspace.change_cells(table["id"], change)
            changed = len(change.made)
        return self.table(given) | {"changed": changed, "off": self._off(given, table["runs"])}

    def _change(self, given):
        """Return a change of single cells, or of a rectangle of them."""
        body, grid = given["body"], self._grid({**given, "run": given["body"].get("run")})
        if "area" in body:
            cells = cells_of(self._area(given, grid), body)
        else:
            cells = checked_cells(body.get("cells"), grid)
        return Change(given.get("who", ""), body, cells, grid)

    def _area(self, given, grid):
        body, edits = given["body"], self._edits(given)
        query = as_dict(body.get("query", {}))
        return Area(grid, self._order(grid, query, edits), body.get("area"), edits)

    def _answer(self, given):
        """Keep answers with the names of who gave them, and put them into the table.

        They come from a file, or from a field beside a question. Where several people have
        answered, the table has the mean, and all their answers are kept. Returns how many there
        are.
        """
        body, table = given["body"], given["table"]
        by = given.get("who") or " ".join(str(body.get("by") or "").split())[:60]
        if "answers" in body:
            found = self.workspace.result(table, body["answers"]).get("answers", [])
            new = [[row, label, value, *(who or [by])] for row, label, value, *who in found]
            grid = None
        else:
            grid = self._grid({**given, "run": body.get("run")})
            cells = checked_cells(body.get("cells"), grid)
            texts = [(row, label, str(text).strip()) for row, label, text in cells]
            new = [[*at, share_of(text, grid.facts) if text else None, by] for *at, text in texts]
        told = [dict(zip(("row", "label", "value", "who"), each, strict=True)) for each in new]
        known = newest(self.workspace.answers(table))
        after = newest([*as_lines(known), *told])
        cells, authors = [], {}
        for row, label in dict.fromkeys((each["row"], each["label"]) for each in told):
            given_here = after.get((row, label), {})
            cells.append([row, label, combined(given_here) if given_here else ""])
            authors[row, label] = by_whom(given_here)
        answered = known.keys() >= authors.keys()  # so nobody's edit is overwritten
        how = {**body, "over": answered or body.get("over")}
        change = Change(given.get("who", ""), how, cells, grid)
        change.authors = authors
        self.workspace.change_cells(table, change)
        self.workspace.add_answers(table, told)
        return len(told)

    def answers(self, given) -> Json:
        """Return who has answered how much, and how far people agree."""
        table = self.workspace.table(given["table"])
        whole = None
        if "complete" in table["runs"]:
            whole = self._grid({**given, "run": table["runs"]["complete"]}).facts["whole"]
        return agreement(newest(self.workspace.answers(table["id"])), whole)

    def copied(self, given) -> Json:
        """Return the cells of a rectangle as a spreadsheet copies them."""
        grid = self._grid({**given, "run": given["body"].get("run")})
        return {"text": self._area(given, grid).text()}

    def _off(self, given, runs):
        """Return, and keep, which complete rows do not sum to the whole with the edits in them."""
        run = next((runs[kind] for kind in ("complete", "inspect") if kind in runs), None)
        if run is None:
            return {}
        grid, off = self._grid({**given, "run": run}), {}
        for row, edits in self._edits(given).items():
            total = grid.off(row, {label: value for label, (value, _) in edits.items()})
            if total is not None:
                off[str(row)] = total
        self.workspace.keep_off(given["table"], off)
        return off

    def undo_edits(self, given) -> Json:
        """Take back all edits, as one change."""
        find = partial(take_back_all, what="Took back all", who=given.get("who", ""))
        self.workspace.change_cells(given["table"], find)
        return self.table(given) | {"off": self._off(given, {})}

    def step(self, given) -> Json:
        """Undo the last change of cells that somebody did, or do the next one again."""
        body = given["body"]
        how = {"who": given.get("who", ""), "over": body.get("over") is True}
        table = self.workspace.step(given["table"], body.get("step") == "undo", **how)
        return self.table(given) | {"off": self._off(given, table["runs"])}

    def changes(self, given) -> Json:
        """Return the changes of cells, the newest first."""
        changes = self.workspace.changes(given["table"])[::-1]
        shown = [
            {**each, "cells": each["cells"][:SHOWN_CELLS], "size": len(each["cells"])}
            for each in changes[:SHOWN_CHANGES]
        ]
        return {"changes": shown}

    def list_of_changes(self, given) -> tuple[Json, str]:
        """Return a table, and all changes of its cells as the text of a file."""
        table, out = self.workspace.table(given["table"]), io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["when", "who", "what", "row", "label", "before", "after", "undone"])
        for change in self.workspace.changes(table["id"]):
            when = datetime.fromtimestamp(change["when"], UTC).isoformat(timespec="seconds")
            for cell in change["cells"]:
                told = [_told(cell[side]) for side in ("before", "after")]
                place = [cell["row"] + 1, cell["label"]]
                line = [when, change["who"], change["what"], *place, *told]
                lines.writerow([*map(inert, line), "yes" if change["undone"] else ""])
        return table, out.getvalue()

    def _order(self, grid, given, edits):
        only, down = str(given.get("only", "")), given.get("down") == "1"
        order = grid.order(str(given.get("sort", "")), down, str(given.get("find", "")), only)
        return [row for row in order.tolist() if row in edits] if only == "edited" else order

    def _edits(self, given):
        return by_row(self.workspace.table(given["table"])["edits"])

    def _grid(self, given):
        folder = self.workspace.run_folder(given["table"], given["run"])
        if not (folder / "grid.json").is_file():
            raise NotFound("This result has no rows to show.")
        return _opened(folder)


def by_row(edits: list[list[Any]]) -> dict[int, dict[str, tuple[Any, str]]]:
    """Return edits by row and label: a number and who has written it."""
    found: dict[int, dict[str, tuple[Any, str]]] = defaultdict(dict)
    for row, label, value, *who in edits:
        found[row][label] = value, "".join(who)
    return found


@lru_cache(maxsize=8)
def _opened(folder):
    from inldl_studio.grid import Grid  # needs NumPy, which the first page does not wait for

    return Grid(folder)


def take_back_all(table: Json, changes: list[Json], what: str, who: str) -> Json:
    """Return the change that takes all edits back."""
    return {"what": what, "who": who, "cells": [
        {"row": row, "label": label, "before": edit, "after": None}
        for row, label, *edit in table["edits"]
    ]}  # fmt: skip


def _told(edit):
    """Return an edit in words: a number, or that the cell was as in the file, or made missing."""
    if edit is None:
        return "as in the file"
    return "missing" if edit[0] is None else f"{edit[0]:.10g}"


def as_dict(value: Any) -> Json:
    """Return what is a dict, or refuse the request."""
    if not isinstance(value, dict):
        raise ValueError(MISUNDERSTOOD)
    return value
