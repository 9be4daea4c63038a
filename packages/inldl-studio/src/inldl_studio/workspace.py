"""Tables and what became of them, in a folder of the user; everything is known by an id.

    tables/<id>/table.json            what the user said about it; it is replaced, never changed
    tables/<id>/changes.jsonl         each change of cells: who, when, and what was there before
    tables/<id>/answers.jsonl         each answer to a question: who, when, and what
    tables/<id>/file/<name>           the table, a copy
    tables/<id>/others/<id>/<name>    tables to predict
    tables/<id>/runs/<id>/run.json    one piece of work, and how it ended
    tables/<id>/runs/<id>/...         what it wrote

A name or an id from a page never becomes a path before it was found here.
"""

import json
import os
import re
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from inldl.files.replacing import make_folder, write_text
from inldl_studio.settings import DEFAULTS
from inldl_studio.undoing import changed_since, steps_after

Json = dict[str, Any]
_ID = re.compile(r"[0-9a-f]{16}")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # on Windows
LONGEST_FILE_NAME = 80
MOST_EDITS = 10_000
_NEW: Json = {"revision": 1, "settings_revision": 1, "edits": [], "runs": {}, "off": {}}
_NEW |= {"changes": 0, "answers": 0, "undo": {}, "redo": {}}
_NUMBER = (int, float)
_TABLE: dict[str, Any] = {"id": str, "name": str, "created": _NUMBER, "size": int, "digest": str}
_TABLE |= {"settings": dict, "edits": list, "runs": dict, "revision": int}
_RUN: dict[str, Any] = {"id": str, "table": str, "kind": str, "settings": dict, "edits": list}
_RUN |= {"status": str, "started": _NUMBER, "error": str}
ROOMS, MARK = ("tables", "incoming"), ".inldl-studio"
TOKENS = "addresses.json"  # of the people who share the studio


class NotFound(LookupError):
    """There is no such table, or no such piece of work."""


class Changed(RuntimeError):
    """A table was changed elsewhere meanwhile."""


def data_folder() -> Path:
    """Return the folder for the work of a user, the usual one of the platform."""
    named = os.environ.get("INLDL_STUDIO")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local, "inldl", "studio")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "inldl" / "studio"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share", "inldl", "studio")


def file_name(name) -> str:
    """Return a name for a file like one from a page, without what a folder or a system reads."""
    name = re.split(r"[/\\]", str(name))[-1]
    name = re.sub(r"[^\w.()+-]+", "_", name)
    stem, dot, ending = name.partition(".")
    if not stem.strip("_"):  # all of it was signs
        name = f"table{dot}{ending}"
    name = name.strip("._")[-LONGEST_FILE_NAME:].lstrip(".")
    return f"_{name}" if _RESERVED.fullmatch(name) else name or "table"


class Workspace:
    """Keeps tables and runs in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder).absolute()
        self._lock = threading.RLock()
        make_folder(self.folder)
        if any(self.folder.iterdir()) and not (self.folder / MARK).exists():
            raise ValueError(f"{self.folder} holds other files; name an empty folder.")
        (self.folder / MARK).touch()
        for name in ROOMS:
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name).chmod(0o700)  # nobody else may look at the tables

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse to work in a folder in which another studio works."""
        with (self.folder / MARK).open("r+b") as file:
            try:
                _lock(file)
            except OSError:
                raise ValueError(
                    f"Another studio works in {self.folder}; use its page, end it, or name "
                    "another folder with --folder."
                ) from None
            for left in (self.folder / "incoming").iterdir():
                shutil.rmtree(left, ignore_errors=True)
            yield

    # Tables ---------------------------------------------------------------------------------

    def tables(self) -> list[Json]:
        """Return all tables, the newest first."""
        found = []
        for path in (self.folder / "tables").iterdir():
            with suppress(NotFound):
                found.append(_table(path))
        return sorted(found, key=lambda table: table["created"], reverse=True)

    def table(self, table_id) -> Json:
        """Return a table by its id."""
        return _table(self._of(table_id))

    def incoming(self) -> Path:
        """Return a new empty folder for a file that is on its way."""
        folder = self.folder / "incoming" / secrets.token_hex(8)
        folder.mkdir()
        return folder

    def add(self, incoming, name, size, digest="") -> Json:
        """Make a table of the file in a folder that `incoming` has returned."""
        table_id = secrets.token_hex(8)
        folder = self.folder / "tables" / table_id
        table = {"id": table_id, "name": name, "created": time.time(), "size": size}
        table |= {"digest": digest, "settings": DEFAULTS, **_NEW}
        folder.mkdir()
        try:
            (folder / "runs").mkdir()
            os.replace(incoming, folder / "file")
            return self._write(table)
        except BaseException:  # such as a full disk
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(incoming, ignore_errors=True)
            raise

    def file_of(self, table_id) -> Path:
        """Return the path of the table itself."""
        return self._of(table_id) / "file" / self.table(table_id)["name"]

    def change(self, table_id, revision, **what) -> Json:
        """Replace settings; refuse if they are not as the page knows them."""
        with self._lock:
            table = self.table(table_id)
            if revision != table["settings_revision"]:
                raise Changed(
                    "The settings of this table were changed elsewhere meanwhile; they are shown "
                    "as they are now."
                )
            return self._write({**_raised(table), **what, "settings_revision": revision + 1})

    # Changes of cells -----------------------------------------------------------------------

    def changes(self, table_id) -> list[Json]:
        """Return all changes of cells, the oldest first; those that were undone are marked."""
        table, path = self.table(table_id), self._of(table_id) / "changes.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        kept = [json.loads(line) for line in lines[: table["changes"]]]
        undone = set()
        for each in kept:
            undone.discard(each.get("redoes"))
            undone.add(each.get("undoes"))
        return [{**each, "undone": at in undone} for at, each in enumerate(kept)]

    def change_cells(self, table_id, find: Callable[[Json, list[Json]], Json]) -> Json:
        """Change cells: `find` returns a change for a table and the changes before; keep it.

        A change has who did it and cells, each with its row, its label, and its edit before and
        after; None is no edit.
        """
        with self._lock:
            table = self.table(table_id)
            change = find(table, self.changes(table_id))
            return self._with_change(table, change) if change["cells"] else table

    def step(self, table_id, back: bool, who="", over=False) -> Json:
        """Undo the last change of cells that somebody did, or do the next one again.

        Cells that somebody else has changed since then stay as they are, if `over` says that this
        is known; else the step is refused.
        """
        with self._lock:
            table, changes = self.table(table_id), self.changes(table_id)
            steps = table["undo" if back else "redo"].get(who, [])
            if not steps:
                raise ValueError(f"There is nothing to {'undo' if back else 'redo'}.")
            at = steps[-1]
            there, then = ("after", "before") if back else ("before", "after")
            now = {(row, label): edit for row, label, *edit in table["edits"]}
            cells = []
            for cell in changes[at]["cells"]:
                place = cell["row"], cell["label"]
                if now.get(place) == cell[there]:
                    new = {"before": cell[there], "after": cell[then]}
                    cells.append({"row": cell["row"], "label": cell["label"], **new})
                elif not over:
                    raise Changed(changed_since(changes, place))
            what = f"{'Undid' if back else 'Did again'}: {changes[at]['what']}"
            step = {"undoes" if back else "redoes": at}
            return self._with_change(table, {"what": what, "who": who, "cells": cells, **step})

    def answers(self, table_id) -> list[Json]:
        """Return all answers to questions, the oldest first."""
        path = self._of(table_id) / "answers.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        return [json.loads(line) for line in lines[: self.table(table_id)["answers"]]]

    def add_answers(self, table_id, answers: list[Json]) -> None:
        """Keep answers, each with its row, its label, its number and who gave it."""
        with self._lock:
            table, when = self.table(table_id), time.time()
            lines = [json.dumps({**each, "when": when}) for each in answers]
            _append(self._of(table_id) / "answers.jsonl", table["answers"], "\n".join(lines))
            self._write({**table, "answers": table["answers"] + len(lines)})

    def keep_off(self, table_id, off) -> None:
        """Keep which rows do not sum to the whole."""
        with self._lock:
            table = self.table(table_id)
            if table["off"] != off:
                self._write({**table, "off": off})

    def _with_change(self, table, change):
        """Keep a change, and the table with the cells as they are after it."""
        changed = {(cell["row"], cell["label"]): cell["after"] for cell in change["cells"]}
        edits = [each for each in table["edits"] if (each[0], each[1]) not in changed]
        edits += [[*at, *edit] for at, edit in changed.items() if edit is not None]
        if len(edits) > MOST_EDITS:
            raise ValueError(
                f"{len(edits):,} cells would be edited then, and no more than {MOST_EDITS:,} can "
                "be; complete the table first, or choose fewer cells."
            )
        after, number = _raised(table), table["changes"]
        change |= {"when": time.time(), "revision": after["revision"]}
        _append(self._of(table["id"]) / "changes.jsonl", number, json.dumps(change))
        after |= {"edits": edits, "changes": number + 1, **steps_after(table, change, number)}
        return self._write(after)

    def remove(self, table_id) -> None:
        """Remove a table and all that became of it."""
        shutil.rmtree(self._of(table_id))

    def remove_all(self) -> None:
        """Remove everything that is ours."""
        for name in ROOMS:
            shutil.rmtree(self.folder / name)
        (self.folder / TOKENS).unlink(missing_ok=True)
        (self.folder / MARK).unlink()
        with suppress(OSError):  # something else is there
            self.folder.rmdir()

    def add_other(self, table_id, incoming, name) -> str:
        """Keep a second file beside a table; return its id."""
        other = secrets.token_hex(8)
        folder = self._of(table_id) / "others"
        folder.mkdir(exist_ok=True)
        os.replace(incoming, folder / other)
        return other

    def other(self, table_id, other) -> Path:
        """Return the path of a second file."""
        gone = "This file is no longer there; choose it again."
        return next(_existing(self._of(table_id) / "others", other, gone).iterdir())

    # Runs -----------------------------------------------------------------------------------

    def new_run(self, table_id, kind, **facts) -> Json:
        """Return a new run, with a folder of its own."""
        with self._lock:
            run = {"id": secrets.token_hex(8), "table": table_id, "kind": kind, **facts}
            last = max((each["started"] for each in self.runs(table_id)), default=0)
            started = max(time.time(), last + 1e-3)  # the clock may have been set back
            run |= {"status": "running", "started": started, "error": ""}
            (self._of(table_id) / "runs" / run["id"]).mkdir()
            return self.write_run(run)

    def write_run(self, run) -> Json:
        """Keep how a run stands; one that has ended well is the newest of its kind."""
        with self._lock:
            path = self.run_folder(run["table"], run["id"]) / "run.json"
            write_text(path, json.dumps(run))
            if run["status"] == "done":
                table = self.table(run["table"])
                self._write({**table, "runs": {**table["runs"], run["kind"]: run["id"]}})
        return run

    def run(self, table_id, run_id) -> Json:
        """Return a run by its id."""
        return _run(self.run_folder(table_id, run_id))

    def runs(self, table_id) -> list[Json]:
        """Return all runs of a table, the newest first."""
        found = []
        for path in (self._of(table_id) / "runs").iterdir():
            with suppress(NotFound):  # one that is damaged is none
                found.append(_run(path))
        return sorted(found, key=lambda run: run["started"], reverse=True)

    def run_folder(self, table_id, run_id) -> Path:
        """Return the folder of a run."""
        return _existing(self._of(table_id) / "runs", run_id, "This result was removed.")

    def result(self, table_id, run_id) -> Json:
        """Return what a run has found."""
        return _read(self.run_folder(table_id, run_id) / "result.json")

    def _of(self, table_id):
        return _existing(self.folder / "tables", table_id, "This table was removed.")

    def _write(self, table):
        path = self.folder / "tables" / table["id"] / "table.json"
        write_text(path, json.dumps(table))
        return table


def _lock(file):
    """Lock a file until it is closed; an OSError if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _existing(folder, name, gone):
    """Return the folder of an id, which is nothing but an id; say `gone` if it is not there."""
    if not _ID.fullmatch(str(name)):
        raise NotFound("There is no such table.")
    if not (folder / name).is_dir():
        raise NotFound(gone)
    return folder / name


def _raised(table):
    """Return a table whose revision is a new one."""
    return {**table, "revision": table["revision"] + 1}


def _append(path, number, line):
    """Add a line behind the first ones; a line that was cut off, or never counted, goes."""
    path.touch()
    with path.open("r+b") as file:
        for _ in range(number):
            file.readline()
        file.truncate(file.tell())
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _table(folder):
    """Return the table in a folder, with what did not exist yet when it was kept."""
    return _kept(folder / "table.json", _TABLE, _NEW)


def _run(folder):
    return _kept(folder / "run.json", _RUN, {})


def _kept(path, kinds, new):
    """Return what was kept of a table or a run, if it is one."""
    kept = _read(path)
    good = isinstance(kept, dict)
    good = good and all(isinstance(kept.get(name), kind) for name, kind in kinds.items())
    if not good:
        raise NotFound("This result is no longer there.")
    return {**new, **kept, "settings": {**DEFAULTS, **kept["settings"]}}


def _read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise NotFound("This result is no longer there.") from None
