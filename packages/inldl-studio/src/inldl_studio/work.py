"""What is done with a table: the functions that the commands call, and files for the page."""

import json
import math
import os
import shutil
import tempfile
import traceback
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from inldl.files.model_file import load_model, save_model
from inldl.files.replacing import write_text
from inldl.progress import listening
from inldl.report.pages.advice import comparison_page, inspection_page, questions_page
from inldl.report.pages.table import completion_page, prediction_page
from inldl.report.renderers import pictures, table_data
from inldl.tables import TableFile
from inldl.tables.ask import ASKING
from inldl.tables.comparison import COMPARING, DEFAULT, compare_file
from inldl.tables.completing import check_completion, complete_table
from inldl.tables.formats import plain_name
from inldl.tables.inspect import inspect_file
from inldl.tables.option_groups import names
from inldl.tables.options import (
    AskOptions,
    FileOptions,
    FillOptions,
    GroupOptions,
    PanelOptions,
)
from inldl.tables.questions import ask_table, read_answers
from inldl.tables.results import draw_paths
from inldl.tables.table_rows import gather
from inldl.tables.tasks import fit_table, method_for, predict_table
from inldl.tables.writing import write_edited, write_frame
from inldl.text import inert
from inldl_studio import settings as options
from inldl_studio.answering import WHO, divided, list_name
from inldl_studio.grid import Grid, cell_form, completed_cells, write_grid
from inldl_studio.handing_on import style_sheet
from inldl_studio.jobs import ProgressLines
from inldl_studio.pictures import pictures_of
from inldl_studio.roles import signs_in, suggest_roles
from inldl_studio.wording import explained, page_words

COVERAGE = 0.9  # of the intervals on the page
MOST_SHEET_ROWS = 1_048_575  # that fit into an Excel sheet below a header
QUESTIONS = 100  # that the page of a list shows
ENDS = ["estimate", "low", "high"]
_MEMORY = "There is not enough memory for this table; use fewer rows, or a larger machine."


def document_data(document: Any, folder: Path) -> dict[str, Any]:
    """Return a document as plain data; its pictures become files in the folder."""
    drawn = pictures(document, document.most_bytes)
    data = {name: getattr(document, name) for name in ("title", "summary", "facts", "notes")}
    for name in ("summary", "notes"):
        data[name] = list(map(page_words, data[name]))
    data["sections"] = []
    for section in document.sections:
        blocks = [_block(block, drawn, folder) for block in section.blocks]
        data["sections"].append({"title": section.title, "blocks": blocks})
    return data


def _block(block, drawn, folder):
    """Return a block; `drawn` has the pictures of figures."""
    data = {"kind": block.kind}
    if block.kind == "table":
        return data | table_data(block)
    if block.kind == "figure":
        return data | _figure(block, drawn[block], folder)
    names = ("text", "texts", "pairs")
    data |= {name: getattr(block, name) for name in names if hasattr(block, name)}
    if block.kind in ("paragraph", "note"):
        data["text"] = page_words(data["text"])
    return data


def _figure(block, picture, folder):
    data = {"caption": block.caption, "name": block.name, "problem": picture.problem}
    if not picture.svg:
        return {**data, "number": None}
    folder = folder / "figures"
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("*-wide.svg")))
    for width, drawing in (("wide", picture.svg), ("narrow", picture.narrow)):
        if drawing:
            write_text(folder / f"{number}-{width}.svg", drawing)
    return {**data, "number": number, "narrow": bool(picture.narrow)}


def _plain(value):
    """Return data that JSON has: numbers of NumPy become plain ones, NaN becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Task:
    """A piece of work on a table: what the page asks for, its files, and how far it is.

    `lines` are the `ProgressLines` to the process that waits for it, `warned` gets warnings.
    """

    def __init__(self, given: dict[str, Any], lines: ProgressLines, warned: list[str]) -> None:
        self.given, self.step, self._warned = given, lines.step, warned
        self.settings, self.folder = given["settings"], Path(given["folder"])
        self.path = Path(given["file"])
        self.name = self.path.name
        self.opened: TableFile | None = None

    def open(self) -> TableFile:
        """Return the table, with the cells that the user has edited."""
        labels, columns = options.labels(self.settings), options.columns(self.settings)
        file = self.opened = TableFile(self.path, labels, columns)
        if not self.given["edits"]:
            return file
        copy = self.folder / "file" / self.name
        copy.parent.mkdir()
        edits = [each[:3] for each in self.given["edits"]]
        write_edited(file, copy, edits)
        self.opened = TableFile(copy, labels, columns)
        return self.opened

    def explained(self, error: Exception) -> dict[str, Any]:
        """Return what went wrong in the words of the page, and where in the table."""
        if self.opened is None:
            return explained(error, str, 0)
        return explained(error, self.opened.source.where, self.opened.source.most_rows())

    def out(self, word: str, suffix: str | None = None) -> Path:
        """Return a path for a file to write, named after the table."""
        plain = plain_name(Path(self.name))
        ending = self.name.removeprefix(plain.stem) if suffix is None else suffix
        path = self.folder / "files" / f"{plain.stem}-{word}{ending}"
        path.parent.mkdir(exist_ok=True)
        return path

    def edited(self) -> dict[str, Path]:
        """Keep the table with the edits of the user, on which commands give the same."""
        if not self.given["edits"]:
            return {}
        path = self.out("edited")
        shutil.copyfile(self.folder / "file" / self.name, path)
        return {"edited": path}

    def finish(self, document: Any = None, files: Any = None, **more: Any) -> None:
        """Keep what was found in the folder of the run.

        The `document` is what is said about it, `files` are paths of what can be downloaded, and
        `more` is plain data that the page needs.
        """
        result = {"files": {}, "document": None, "warned": self._warned, **more}
        for key, path in (files or {}).items():
            place, size = str(path.relative_to(self.folder)), path.stat().st_size
            result["files"][key] = {"name": path.name, "path": place, "size": size}
        if document is not None:
            result["document"] = document_data(document, self.folder)
        write_text(self.folder / "result.json", json.dumps(_plain(result)))


def look(task: Task) -> None:
    """Suggest what the columns of a table are."""
    task.step("Reading", 1)
    long = task.settings["long"] or None
    how = options.chosen(FileOptions, task.settings)
    file = TableFile(task.path, None, how, long=long)
    found, n_rows, notes = suggest_roles(file, task.settings["dates"])
    labels = found["column"][found["role"] == "label"].tolist()
    signs = [] if long or not labels else signs_in(task.path, labels, how)
    columns = found.astype(object).to_dict("records")
    task.finish(columns=columns, n_rows=n_rows, notes=list(map(page_words, notes)), signs=signs)


def inspect(task: Task) -> None:
    """Look at the shares of a table."""
    task.step("Reading", 3)
    file = task.open()
    found, read, notes = inspect_file(file, PanelOptions.of(options.learning(task.settings)))
    task.step("Preparing the rows")
    write_grid(task.folder, file, read.scale, options.named(task.settings, "unit", "time"))
    task.step("Drawing")
    known = read.degrees.notna().to_numpy()
    task.finish(inspection_page(found, known, f"A look at {task.name}", notes), scale=read.scale)


def complete(task: Task) -> None:
    """Fill in the missing shares, and keep all that comes of it."""
    task.step("Reading", 5)
    file, settings = task.open(), task.settings
    learning, filling = options.learning(settings), options.chosen(FillOptions, settings)
    method = method_for(settings["method"], learning, file.options, filling)
    coverage = None if settings["ratios"] else COVERAGE
    plain = task.out("completed")
    detailed = task.out("completed-with-intervals" if coverage else "completed-with-filled-cells")
    check_completion(file, plain, filling)
    filling = replace(filling, coverage=coverage, filled_columns=True)
    check_completion(file, detailed, filling)
    task.step(f"Learning with {settings['method']}")
    learned = fit_table(file, method, learning)
    how = {"scale": learned.scale, "holes": learned.holes, "normalize": learning.normalize}
    task.step("Filling in")
    with completed_cells(task.folder, rescaled=settings["ratios"]) as add:
        written = complete_table(
            file, learned.model, detailed, filling, **how, plain=plain, on_piece=add
        )
    files = {"table": plain} | _draws(plain, filling.n_draws)
    task.step("Preparing the rows")
    shown = {"completed": True, "intervals": bool(coverage)}
    write_grid(task.folder, file, learned.scale, options.named(settings, "unit", "time"), **shown)
    task.step("Drawing the report")
    files |= {"detailed" if coverage else "filled": detailed}
    files |= {"model": task.out("model", ".inldl"), "report": task.out("report", ".html")}
    save_model(learned.model, files["model"], info=learned.info(task.name))
    files |= task.edited()
    document = completion_page(
        written, learned, learned.model, task.name, plain.name, learned.influence()
    )
    document.write(files["report"])
    held_out = None if learned.completion.unknown else learned.completion
    seen = document_data(pictures_of(Grid(task.folder), held_out), task.folder)
    unasked = ASKING if settings["ratios"] else ""
    task.finish(document, files, scale=learned.scale, unasked=unasked, seen=seen)


def _draws(plain, n_draws):
    """Pack the draws of a completed table into one file, by its name in the result."""
    if not n_draws:
        return {}
    packed = plain.with_name(f"{plain_name(plain).stem}-draws.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for path in draw_paths(plain, n_draws):
            file.write(path, path.name)
            path.unlink()
    return {"draws": packed}


def ask(task: Task) -> None:
    """List which missing shares to ask for, with the model of a completed table."""
    task.step("Reading", 1)
    file, model = task.open(), load_model(task.given["model"])
    out, cost = task.out("questions", ".csv"), options.one(task.settings, "price")
    wanted = {name: task.given[name] for name in names(AskOptions) if name in task.given}
    how = {"scale": task.given["scale"], "normalize": task.settings["normalize"]}
    asking = AskOptions(**wanted, cost=cost)
    found = ask_table(file, model, out, asking, **how)
    people = divided(len(found.table), task.given.get("people", []), task.given.get("twice", 0))
    files = {"questions": out} | _lists(task, out, people)
    document = questions_page(found, model, task.name, out.name, most=QUESTIONS)
    listed = _questions(found.table, task.given["scale"], people)
    task.finish(document, files, **listed, people=task.given.get("people", []))


def _lists(task, out, people):
    """Write the questions of each person to a file of their own, by its name in the result."""
    listed = TableFile(out, None)
    frame = gather(listed)[0].features[listed.source.names]
    files = {}
    for number, name in enumerate(task.given.get("people", [])):
        mine = frame[[name in who for who in people]]
        path = out.with_name(f"{out.stem}-{list_name(name)}.csv")
        path = path if path not in files.values() else out.with_name(f"{out.stem}-{number}.csv")
        write_frame(mine.assign(**{WHO: inert(name)}), path, like=listed.format)
        files[f"questions-{number}"] = path
    return files


def _questions(table, scale, people):
    """Return the questions as the page shows them."""
    ids = list(table.columns[2 : table.columns.get_loc("label")])
    ends = {name: table[name].map(f"{{:{cell_form(scale)}}}".format) for name in ENDS}
    shown = table[["row", *ids, "label"]].assign(**ends, asked=people)
    return {"questions": shown.astype(object).to_dict("records"), "ids": ids}


def answers(task: Task) -> None:
    """Read the answers in a list of questions that was filled in elsewhere."""
    task.step("Reading", 1)
    other = Path(task.given["other"])
    found = read_answers(other, task.open(), task.given["scale"])
    listed = TableFile(other, None)
    by: dict[tuple[int, str], str] = {}
    if WHO in listed.source.names:
        frame = gather(listed)[0].features
        names = frame[WHO].map(lambda cell: "" if pd.isna(cell) else str(cell).strip("' "))
        cells = zip(frame["row"], frame["label"].astype(str).str.lstrip("'"), strict=True)
        by = {(int(row) - 1, label): name for (row, label), name in zip(cells, names, strict=True)}
    told = [[*each, by[each[:2]]] if by.get(each[:2]) else [*each] for each in found]
    task.finish(answers=told)


def compare(task: Task) -> None:
    """Find the method that suits the table."""
    if task.settings["ratios"]:
        raise ValueError(COMPARING)
    file, wanted = task.open(), task.given["methods"] or list(DEFAULT)
    task.step("Comparing methods", 1)
    found, notes = compare_file(file, wanted, GroupOptions.of(options.learning(task.settings)))
    document = comparison_page(found, f"Methods for {task.name}", notes)
    task.finish(document, recommended=str(found.recommended))


def predict(task: Task) -> None:
    """Predict the rows of another table."""
    task.step("Predicting", 2)
    model, path = load_model(task.given["model"]), Path(task.given["other"])
    task.name = path.name
    file = TableFile(path, None, options.chosen(FileOptions, task.settings))
    out = task.out("predicted")
    coverage = None if model.known == "ratios" else COVERAGE
    written = predict_table(file, model, out, coverage=coverage)
    task.step("Drawing the report")
    files = {"predicted": out, "report": task.out("report", ".html")}
    document = prediction_page(written, model, file.path.name, out.name, file.notes)
    document.write(files["report"])
    task.finish(document, files)


def export(task: Task) -> None:
    """Write a finished table as another kind of file."""
    task.step("Reading", 2)
    source = Path(task.given["file"])
    file = TableFile(source, None, options.chosen(FileOptions, task.settings))
    frame = gather(file)[0].features
    if task.given["suffix"] == ".xlsx" and len(frame) > MOST_SHEET_ROWS:
        raise ValueError(
            f"An Excel sheet holds {MOST_SHEET_ROWS:,} rows, and the table has {len(frame):,}; "
            "download the CSV file."
        )
    task.step("Writing")
    out = task.folder / "files" / f"{plain_name(source).stem}{task.given['suffix']}"
    out.parent.mkdir()
    write_frame(frame[file.source.names], out)
    run = Path(task.given["run"])
    if task.given["suffix"] == ".xlsx" and (run / "grid.json").is_file():
        document = json.loads((run / "result.json").read_text(encoding="utf-8"))["document"]
        style_sheet(out, run, document)
    task.finish(files={"table": out})


_TASKS = (look, inspect, complete, ask, answers, compare, predict, export)
TASKS = {task.__name__: task for task in _TASKS}


def do(given: dict[str, Any], lines: ProgressLines) -> None:
    """Do a piece of work, and tell how it ended; an error is one sentence."""
    warned: list[str] = []
    own = Path(given["folder"], "temporary")  # goes with the run, also if this process is killed
    own.mkdir()
    tempfile.tempdir = str(own)
    task = Task(given, lines, warned)
    warnings.showwarning = lambda message, *_, **__: warned.append(str(message))
    try:
        with listening(lines.detail):
            TASKS[given["kind"]](task)
    except (ValueError, OSError, ImportError) as error:
        told = task.explained(error)
        lines.end("failed", _with_short_names(told["error"], given), told["about"])
    except MemoryError:
        lines.end("failed", _MEMORY)
    except Exception as error:
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        lines.end("failed", f"This is a bug in inldl, not a problem with your table: {what}.")
    else:
        lines.end("done")
    finally:
        tempfile.tempdir = None
        shutil.rmtree(own, ignore_errors=True)


def _with_short_names(text: str, given: dict[str, Any]) -> str:
    """Return a message with the names of files alone; users do not know their folders."""
    for path in (given["file"], given.get("other"), f"{given['folder']}/file/table"):
        text = text if path is None else text.replace(f"{Path(path).parent}{os.sep}", "")
    return text
