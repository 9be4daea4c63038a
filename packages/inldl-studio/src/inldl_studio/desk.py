"""What a page asks for and gets: tables, what users say about them, and what became of them.

Each method takes what a request holds as a dict: parts of the path, the query, and the body.
"""

import csv
import io
import math
import shutil
from collections import defaultdict
from datetime import UTC, datetime
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from inldl.methods.registry import METHODS
from inldl.tables.formats import suffixes
from inldl.text import inert
from inldl_studio import settings as options
from inldl_studio.changing import MISUNDERSTOOD, Change, checked_cells
from inldl_studio.choosing import Area, cells_of
from inldl_studio.workspace import Json, NotFound

EXAMPLE = "households.csv"
SHOWN_CHANGES, SHOWN_CELLS = 200, 20  # of the list of changes on the page
KINDS = ("look", "inspect", "complete", "ask", "answers", "compare", "predict", "export")
_FIRST = "Complete the table first."


class Desk:
    """Answers the page; `limit` is the size of the largest file, in bytes."""

    def __init__(self, workspace, jobs, limit):
        self.workspace, self.limit, self._jobs = workspace, limit, jobs

    def state(self, given) -> Json:
        """Return what the first page needs."""
        names = [each for each in METHODS.values() if not each.published]
        return {
            "tables": self.workspace.tables(),
            "person": given["who"],
            "limit": self.limit,
            "suffixes": suffixes(),
            "roles": options.ROLES,
            "reading": options.READING,
            "form": options.FORM,
            "methods": [{"name": each.name, "about": each.about} for each in names],
            "folder": str(self.workspace.folder),
        }

    # Tables ---------------------------------------------------------------------------------

    async def add(self, given, receive) -> Json:
        """Keep a new table."""
        return self.workspace.add(*await receive(given.get("name", "")))

    def add_example(self, given) -> Json:
        """Keep a table to try the studio with."""
        content = (files("inldl_studio") / "assets" / EXAMPLE).read_bytes()
        folder = self.workspace.incoming()
        (folder / EXAMPLE).write_bytes(content)
        return self.workspace.add(folder, EXAMPLE, len(content))

    async def add_other(self, given, receive) -> Json:
        """Keep a second file beside a table."""
        self.workspace.table(given["table"])
        folder, name, _, _ = await receive(given.get("name", ""))
        return {"id": self.workspace.add_other(given["table"], folder, name), "name": name}

    def table(self, given) -> Json:
        """Return a table, what is going on with it, and how its newest runs ended."""
        table = self.workspace.table(given["table"])
        newest: Json = {}
        for run in self.workspace.runs(table["id"]):
            stale = options.is_stale(run, table)
            newest.setdefault(run["kind"], {**_brief(self._jobs.known(run)), "stale": stale})
        running = [_brief(run) for run in self._jobs.running(table["id"])]
        undo, redo = table.pop("undo"), table.pop("redo")
        steps = {"done": len(undo.get(given.get("who", ""), ()))}
        steps["undone"] = len(redo.get(given.get("who", ""), ()))
        return {**table, **steps, "running": running, "newest": newest}

    def remove(self, given) -> Json:
        """Remove a table and all that became of it."""
        self._jobs.stop(given["table"])
        self.workspace.remove(given["table"])
        return {}

    def set_settings(self, given) -> Json:
        """Keep what a user says about a table.

        Cells that were edited are other ones if other lines are rows then; these edits are taken
        back, as a change that can be undone.
        """
        body, table = given["body"], self.workspace.table(given["table"])
        new = _dict(body.get("settings", {}))
        settings = options.checked({**table["settings"], **new})
        moved = any(settings[name] != table["settings"][name] for name in options.ROWS)
        if moved and table["edits"]:
            what = "How the file is read was changed"
            find = partial(_take_back_all, what=what, who=given.get("who", ""))
            self.workspace.change_cells(table["id"], find)
        self.workspace.change(table["id"], body.get("settings_revision"), settings=settings)
        return self.table(given)

    def set_edits(self, given) -> Json:
        """Keep what a user has put into cells, or take it back; or keep answers."""
        body, table = given["body"], self.workspace.table(given["table"])
        change = self._answers(given) if "answers" in body else self._change(given)
        self.workspace.change_cells(table["id"], change)
        changed = {"changed": len(change.made)}
        return self.table(given) | changed | {"off": self._off(given, table["runs"])}

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
        query = _dict(body.get("query", {}))
        return Area(grid, self._order(grid, query, edits), body.get("area"), edits)

    def _answers(self, given):
        """Return the change that puts answers from a file into the table."""
        body = given["body"]
        found = self.workspace.result(given["table"], body["answers"])
        cells = [[row, label, str(value)] for row, label, value in found.get("answers", [])]
        change = Change(given.get("who", ""), body, cells)
        change.author = str(found.get("who", "")) or given.get("who", "")
        return change

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
        find = partial(_take_back_all, what="Took back all", who=given.get("who", ""))
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

    # Work -----------------------------------------------------------------------------------

    def start(self, given) -> Json:
        """Start a piece of work."""
        body, table = given["body"], self.workspace.table(given["table"])
        kind = body.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError("There is no such task; load the page again.")
        task = {"file": str(self.workspace.file_of(table["id"])), "settings": table["settings"]}
        task["edits"] = table["edits"]
        if kind == "complete" and table["off"] and not table["settings"]["normalize"]:
            row, total = next(iter(table["off"].items()))
            raise ValueError(
                f"With what was edited, row {int(row) + 1} sums to {total:.6g}; change one of its "
                "shares, or undo the change."
            )
        if kind in ("inspect", "complete", "compare"):
            options.labels(table["settings"])  # refuses a table without labels at once
        if kind in ("ask", "answers", "predict"):
            task |= self._completed(table)
        if kind == "ask":
            task |= _asked(body)
        if kind in ("answers", "predict"):
            task["other"] = str(self.workspace.other(table["id"], body.get("other")))
        if kind == "compare":
            names = body.get("methods", [])
            names = names if isinstance(names, list) else []
            task["methods"] = [name for name in names if isinstance(name, str) and name in METHODS]
        if kind == "export":
            task |= self._exported(table, body)
        self._forget_old(table, kind)
        return _brief(self._jobs.start(table["id"], kind, task))

    def _completed(self, table):
        """Return the model of the completed table, and how that was read."""
        if "complete" not in table["runs"]:
            raise ValueError(_FIRST)
        where = {"table": table["id"], "run": table["runs"]["complete"]}
        run, result = self.workspace.run(*where.values()), self.workspace.result(*where.values())
        labels = options.named(run["settings"], "label")
        edits = [each for each in table["edits"] if each[1] in labels or not labels]
        settings = {"settings": run["settings"], "edits": edits, "scale": result["scale"]}
        return {**settings, "model": str(self.file({**where, "key": "model"}))}

    def _exported(self, table, body):
        path = self.file({"table": table["id"], "run": body.get("run"), "key": body.get("key")})
        if str(body.get("suffix")) not in (".csv", ".xlsx"):
            raise ValueError("Tables can be downloaded as .csv and .xlsx.")
        run = self.workspace.run(table["id"], body["run"])
        folder = str(self.workspace.run_folder(table["id"], run["id"]))
        exported = {"file": str(path), "suffix": body["suffix"], "run": folder}
        return {**exported, "settings": run["settings"]}

    def _forget_old(self, table, kind):
        """Remove old runs, but the newest ones and the one that is shown."""
        same = [run for run in self.workspace.runs(table["id"]) if run["kind"] == kind]
        for run in same[3:]:
            if run["id"] != table["runs"].get(kind) and run["status"] != "running":
                folder = self.workspace.run_folder(table["id"], run["id"])
                shutil.rmtree(folder, ignore_errors=True)

    def run(self, given) -> Json:
        """Return how a piece of work stands."""
        return _brief(self._jobs.state(given["table"], given["run"]))

    def stop(self, given) -> Json:
        """Stop a piece of work."""
        self._jobs.stop(given["table"], given["run"])
        return self.run(given)

    def result(self, given) -> Json:
        """Return what a piece of work has found."""
        return self.workspace.result(given["table"], given["run"])

    def file(self, given) -> Path:
        """Return the path of a file that a run has written."""
        files = self.result(given)["files"]
        if given["key"] not in files:
            raise NotFound("There is no such file.")
        folder = self.workspace.run_folder(given["table"], given["run"])
        return folder / files[given["key"]]["path"]

    def figure(self, given) -> Path:
        """Return the path of a picture."""
        folder = self.workspace.run_folder(given["table"], given["run"])
        width = "narrow" if given["width"] == "narrow" else "wide"
        path = folder / "figures" / f"{int(given['number'])}-{width}.svg"
        if not path.is_file():
            raise NotFound("There is no such picture.")
        return path

    # Rows -----------------------------------------------------------------------------------

    def rows(self, given) -> Json:
        """Return a window of the table."""
        table = self.workspace.table(given["table"])
        grid, edits = self._grid(given), _by_row(table["edits"])
        order = self._order(grid, given, edits)
        first, count = int(given.get("first", 0)), int(given.get("count", 100))
        old = self._older(given, edits) if grid.after is not None else ()
        rows = grid.window(order, first, count, edits, old)
        facts = {**grid.facts, "histograms": grid.histograms if first == 0 else None}
        about = {"total": len(order), "first": first, "revision": table["revision"]}
        return {**about, "rows": rows, "facts": facts}

    def _older(self, given, edits):
        """Return the rows in which cells were edited since a run."""
        then = _by_row(self.workspace.run(given["table"], given["run"])["edits"])
        numbers = [
            {row: {name: edit[0] for name, edit in cells.items()} for row, cells in each.items()}
            for each in (then, edits)
        ]
        rows = numbers[0].keys() | numbers[1].keys()
        return {row for row in rows if numbers[0].get(row, {}) != numbers[1].get(row, {})}

    def doubtful(self, given) -> Json:
        """Return where the widest intervals are."""
        grid = self._grid(given)
        return {"cells": grid.doubtful(self._order(grid, given, self._edits(given)))}

    def _order(self, grid, given, edits):
        only, down = str(given.get("only", "")), given.get("down") == "1"
        order = grid.order(str(given.get("sort", "")), down, str(given.get("find", "")), only)
        return [row for row in order.tolist() if row in edits] if only == "edited" else order

    def _edits(self, given):
        return _by_row(self.workspace.table(given["table"])["edits"])

    def _grid(self, given):
        folder = self.workspace.run_folder(given["table"], given["run"])
        if not (folder / "grid.json").is_file():
            raise NotFound("This result has no rows to show.")
        return _opened(folder)


def _by_row(edits):
    """Return edits by row and label: a number and who has written it."""
    found: dict[int, dict[str, tuple[Any, str]]] = defaultdict(dict)
    for row, label, value, *who in edits:
        found[row][label] = value, "".join(who)
    return found


def _brief(run):
    """Return a run without what went into it."""
    return {name: value for name, value in run.items() if name not in ("settings", "edits")}


@lru_cache(maxsize=8)
def _opened(folder):
    from inldl_studio.grid import Grid  # needs NumPy, which the first page does not wait for

    return Grid(folder)


def _asked(body):
    """Return what questions a user wants, as options of `ask_table`."""
    how = {"budget": _number(body.get("budget"))}
    if not 1 <= how["budget"] <= 10_000:
        raise ValueError("Ask for 1 to 10,000 cells.")
    how["by"] = "row" if body.get("by") == "row" else "cell"
    for name in ("row_cost", "cell_cost"):
        if body.get(name) not in (None, ""):
            how[name] = _number(body[name])
            if not 0 < how[name] < math.inf:
                raise ValueError(f"{body[name]!r} is not a price; give a number above 0.")
    return how


def _take_back_all(table, changes, what, who):
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


def _dict(value):
    if not isinstance(value, dict):
        raise ValueError(MISUNDERSTOOD)
    return value


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan
