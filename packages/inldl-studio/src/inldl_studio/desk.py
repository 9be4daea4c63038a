"""What a page asks for and gets: tables, what users say about them, and what became of them.

Each method takes what a request holds as a dict: parts of the path, the query, and the body.
"""

import math
import shutil
from functools import partial
from importlib.resources import files
from pathlib import Path

from inldl.methods.registry import METHODS
from inldl.tables.formats import suffixes
from inldl_studio import settings as options
from inldl_studio.answering import names_of, newest
from inldl_studio.cells import CellDesk, as_dict, by_row, take_back_all
from inldl_studio.workspace import Json, NotFound

EXAMPLE = "households.csv"
KINDS = ("look", "inspect", "complete", "ask", "answers", "compare", "predict", "export")
_FURTHER = ("compare", "ask", "predict")  # what a script has beside completing
_ASKED = ("methods", "budget", "by", "row_cost", "cell_cost")
_FIRST = "Complete the table first."


class Desk(CellDesk):
    """Answers the page; `limit` is the size of the largest file, in bytes.

    `people` have an address each that works in the local network; without them, nobody has.
    """

    def __init__(self, workspace, jobs, limit, people=()):
        self.workspace, self.limit, self._jobs, self._people = workspace, limit, jobs, [*people]

    def state(self, given) -> Json:
        """Return what the first page needs."""
        names = [each for each in METHODS.values() if not each.published]
        return {
            "tables": self.workspace.tables(),
            "person": given["who"],
            "people": self._people,
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
        new = as_dict(body.get("settings", {}))
        settings = options.checked({**table["settings"], **new})
        moved = any(settings[name] != table["settings"][name] for name in options.ROWS)
        if moved and table["edits"]:
            what = "How the file is read was changed"
            find = partial(take_back_all, what=what, who=given.get("who", ""))
            self.workspace.change_cells(table["id"], find)
        self.workspace.change(table["id"], body.get("settings_revision"), settings=settings)
        return self.table(given)

    # Work -----------------------------------------------------------------------------------

    def start(self, given) -> Json:
        """Start a piece of work."""
        body, table = given["body"], self.workspace.table(given["table"])
        kind = body.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError("There is no such task; load the page again.")
        task = {"file": str(self.workspace.file_of(table["id"])), "settings": table["settings"]}
        task["edits"] = table["edits"]
        if kind == "answers":  # which another person may have answered before
            known = newest(self.workspace.answers(table["id"]))
            task["edits"] = [each for each in table["edits"] if (each[0], each[1]) not in known]
        if kind == "complete" and table["off"] and not table["settings"]["normalize"]:
            row, total = next(iter(table["off"].items()))
            raise ValueError(
                f"With what was edited, row {int(row) + 1} sums to {total:.6g}; change one of its "
                "shares, or undo the change."
            )
        if kind in ("inspect", "complete", "compare"):
            options.labels(table["settings"])  # refuses a table without labels at once
        if kind in ("ask", "answers", "predict"):
            task |= self._completed(table, task)
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
        task["asked"] = {name: task[name] for name in _ASKED if name in task}
        if kind == "predict":
            task["asked"]["other"] = Path(task["other"]).name
        self._forget_old(table, kind)
        return _brief(self._jobs.start(table["id"], kind, task))

    def _completed(self, table, task):
        """Return the model of the completed table, and how that was read."""
        if "complete" not in table["runs"]:
            raise ValueError(_FIRST)
        where = {"table": table["id"], "run": table["runs"]["complete"]}
        run, result = self.workspace.run(*where.values()), self.workspace.result(*where.values())
        labels = options.named(run["settings"], "label")
        edits = [each for each in task["edits"] if each[1] in labels or not labels]
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

    def commands(self, given) -> tuple[Json, str]:
        """Return a table, and a script of what was done with it on the page."""
        from inldl_studio.handing_on import commands  # needs openpyxl, which few do

        table = self.workspace.table(given["table"])
        runs = {kind: self.workspace.run(table["id"], run) for kind, run in table["runs"].items()}
        if "complete" not in runs:
            raise ValueError(_FIRST)
        name, edited = table["name"], bool(runs["complete"]["edits"])
        if edited:
            found = self.workspace.result(table["id"], runs["complete"]["id"])
            name = found["files"]["edited"]["name"]
        further = [(each, runs[each].get("asked", {})) for each in _FURTHER if each in runs]
        return table, commands(runs["complete"]["settings"], name, edited, further)

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
        grid, edits = self._grid(given), by_row(table["edits"])
        order = self._order(grid, given, edits)
        first, count = int(given.get("first", 0)), int(given.get("count", 100))
        old = self._older(given, edits) if grid.after is not None else ()
        rows = grid.window(order, first, count, edits, old)
        facts = {**grid.facts, "histograms": grid.histograms if first == 0 else None}
        about = {"total": len(order), "first": first, "revision": table["revision"]}
        return {**about, "rows": rows, "facts": facts}

    def _older(self, given, edits):
        """Return the rows in which cells were edited since a run."""
        then = by_row(self.workspace.run(given["table"], given["run"])["edits"])
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


def _brief(run):
    """Return a run without what went into it."""
    return {name: value for name, value in run.items() if name not in ("settings", "edits")}


def _asked(body):
    """Return what questions a user wants, as options of `ask_table`."""
    how = {"budget": _number(body.get("budget"))}
    if not 1 <= how["budget"] <= 10_000:
        raise ValueError("Ask for 1 to 10,000 cells.")
    how["people"] = names_of(body.get("people"))
    how["twice"] = max(0, int(_number(body.get("twice") or 0)))
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
