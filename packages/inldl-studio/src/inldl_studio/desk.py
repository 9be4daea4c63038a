"""What a page asks for and gets: tables, what users say about them, and what became of them.

Each method takes what a request holds as a dict: parts of the path, the query, and the body.
"""

import math
import shutil
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from inldl.methods.registry import METHODS
from inldl.tables.formats import suffixes
from inldl_studio import settings as options
from inldl_studio.workspace import Json, NotFound

MOST_EDITS = 10_000
KINDS = ("look", "inspect", "complete", "ask", "answers", "compare", "predict", "export")
_FIRST = "Complete the table first."
_RATIOS = (
    "Only ratios of the shares in this row are known, so a single share cannot be put into it; "
    "correct the row in your file, or switch off the setting that shares are ratios."
)


class Desk:
    """Answers the page; `limit` is the size of the largest file, in bytes."""

    def __init__(self, workspace, jobs, limit):
        self.workspace, self.limit, self._jobs = workspace, limit, jobs

    def state(self, given) -> Json:
        """Return what the first page needs."""
        names = [each for each in METHODS.values() if not each.published]
        return {
            "tables": self.workspace.tables(),
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
            newest.setdefault(run["kind"], {**_brief(run), "stale": stale})
        running = [_brief(run) for run in self._jobs.running(table["id"])]
        return {**table, "running": running, "newest": newest}

    def remove(self, given) -> Json:
        """Remove a table and all that became of it."""
        self._jobs.stop(given["table"])
        self.workspace.remove(given["table"])
        return {}

    def set_settings(self, given) -> Json:
        """Keep what a user says about a table."""
        body, table = given["body"], self.workspace.table(given["table"])
        settings = options.checked({**table["settings"], **body.get("settings", {})})
        what: Json = {"settings": settings}
        if any(settings[name] != table["settings"][name] for name in options.READING):
            what["edits"] = []  # their rows may be others now
        self.workspace.change(table["id"], body.get("revision"), **what)
        return self.table(given)

    def set_edit(self, given) -> Json:
        """Keep a number that a user has put into a cell, or take it back; or keep answers."""
        body, table = given["body"], self.workspace.table(given["table"])
        if "answers" in body:
            return self._set_answers(given, table)
        grid = self._grid({**given, "run": body.get("run")})
        row, label = body.get("row"), body.get("label")
        if not isinstance(row, int) or not 0 <= row < grid.facts["n_rows"]:
            raise ValueError("The table has no such row; load the page again.")
        if label not in grid.labels:
            raise ValueError("The table has no such label; load the page again.")
        edits = [each for each in table["edits"] if each[:2] != [row, label]]
        text = str(body.get("value", "")).strip()
        if text:
            if table["settings"]["ratios"] and grid.has_holes(row):
                raise ValueError(_RATIOS)
            others = dict(each[1:] for each in edits if each[0] == row)
            edits.append([row, label, _share(text, grid.left(row, label, others), label)])
        return self._keep_edits(given, edits)

    def _set_answers(self, given, table):
        """Keep the answers that a run has read from a file."""
        result = self.workspace.result(table["id"], given["body"]["answers"])
        answers = {(row, label): value for row, label, value in result.get("answers", [])}
        edits = [each for each in table["edits"] if tuple(each[:2]) not in answers]
        return self._keep_edits(given, edits + [[*cell, x] for cell, x in answers.items()])

    def _keep_edits(self, given, edits):
        if len(edits) > MOST_EDITS:
            raise ValueError(f"No more than {MOST_EDITS:,} cells can be edited; complete first.")
        self.workspace.change(given["table"], given["body"].get("revision"), edits=edits)
        return self.table(given)

    def undo_edits(self, given) -> Json:
        """Forget all edits."""
        self.workspace.change(given["table"], int(given.get("revision", 0)), edits=[])
        return self.table(given)

    # Work -----------------------------------------------------------------------------------

    def start(self, given) -> Json:
        """Start a piece of work."""
        body, table = given["body"], self.workspace.table(given["table"])
        kind = body.get("kind")
        if kind not in KINDS:
            raise ValueError("There is no such task; load the page again.")
        task = {"file": str(self.workspace.file_of(table["id"])), "settings": table["settings"]}
        task["edits"] = table["edits"]
        if kind in ("inspect", "complete", "compare"):
            options.labels(table["settings"])  # refuses a table without labels at once
        if kind in ("ask", "answers", "predict"):
            task |= self._completed(table)
        if kind == "ask":
            task |= _asked(body)
        if kind in ("answers", "predict"):
            task["other"] = str(self.workspace.other(table["id"], body.get("other")))
        if kind == "compare":
            task["methods"] = [name for name in body.get("methods", []) if name in METHODS]
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
        if body.get("suffix") not in (".csv", ".xlsx"):
            raise ValueError("Tables can be downloaded as .csv and .xlsx.")
        run = self.workspace.run(table["id"], body["run"])
        return {"file": str(path), "suffix": body["suffix"], "settings": run["settings"]}

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
        grid, edits = self._grid(given), self._edits(given)
        order = self._order(grid, given, edits)
        first, count = int(given.get("first", 0)), int(given.get("count", 100))
        rows = grid.window(order, first, count, edits)
        return {"total": len(order), "first": first, "rows": rows, "facts": grid.facts}

    def doubtful(self, given) -> Json:
        """Return where the widest intervals are."""
        grid = self._grid(given)
        return {"cells": grid.doubtful(self._order(grid, given, self._edits(given)))}

    def _order(self, grid, given, edits):
        only, down = given.get("only", ""), given.get("down") == "1"
        order = grid.order(given.get("sort", ""), down, given.get("find", ""), only)
        return [row for row in order.tolist() if row in edits] if only == "edited" else order

    def _edits(self, given):
        """Return the edits of a table by row and label."""
        found = defaultdict(dict)
        for row, label, value in self.workspace.table(given["table"])["edits"]:
            found[row][label] = value
        return found

    def _grid(self, given):
        folder = self.workspace.run_folder(given["table"], given["run"])
        if not (folder / "grid.json").is_file():
            raise NotFound("This result has no rows to show.")
        return _opened(folder)


def _brief(run):
    """Return a run without what went into it."""
    return {name: value for name, value in run.items() if name not in ("settings", "edits")}


@lru_cache(maxsize=8)
def _opened(folder):
    from inldl_studio.grid import Grid  # needs NumPy, which the first page does not wait for

    return Grid(folder)


def _share(text, left, label):
    """Return a number that a user has typed; refuse one that cannot be a share of its row."""
    value = _number(text.replace(",", ".") if "." not in text else text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{text!r} is not a share; write a number of 0 or more, or nothing.")
    if left is not None and value > left * 1.0001 + 1e-9:
        raise ValueError(
            f"{value:g} is too much for {label!r}: the other known shares of the row leave "
            f"{max(left, 0):.6g}."
        )
    return value


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


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan
