"""What is handed on: a sheet with styles and notes, and the commands that give the same result."""

import shlex
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from openpyxl import load_workbook
from openpyxl.styles import Font, PatternFill

from inldl.tables.option_groups import Options, flag_of, names
from inldl.tables.options import (
    AskOptions,
    ColumnOptions,
    FillOptions,
    GroupOptions,
    LearnOptions,
)
from inldl.text import inert
from inldl_studio import settings as options
from inldl_studio.grid import Grid

STYLE = {"font": Font(bold=True), "fill": PatternFill("solid", fgColor="FFD9E8F6")}
Runs = Sequence[tuple[str, dict[str, Any]]]
MOST_STYLED = 500_000  # cells; more take minutes


def style_sheet(path: Path, folder: Path, document: dict[str, Any] | None) -> None:
    """Mark the cells of a sheet that were filled in, and add a sheet of notes.

    `folder` has the rows as `write_grid` and `completed_cells` wrote them.
    """
    book = load_workbook(path)
    sheet, grid = book.active, Grid(folder)
    sheet.title, sheet.freeze_panes = "Table", "A2"
    header = [cell.value for cell in sheet[1]]
    rows, columns = np.nonzero(np.isnan(grid.before))
    same = sheet.max_row - 1 == len(grid.before) and {*grid.labels} <= {*header}
    marked = bool(same and len(rows) <= MOST_STYLED and grid.after is not None)
    if marked:
        places = [header.index(label) + 1 for label in grid.labels]
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            cell = sheet.cell(row + 2, places[column])
            cell.font, cell.fill = STYLE["font"], STYLE["fill"]
    notes = book.create_sheet("Notes")
    for line in _notes(document, marked):
        notes.append([inert(text) for text in line])
    notes.column_dimensions["A"].width, notes.column_dimensions["B"].width = 24, 90
    if marked:
        notes.cell(1, 1).font, notes.cell(1, 1).fill = STYLE["font"], STYLE["fill"]
    book.save(path)


def _notes(document, marked):
    """Yield lines on what the sheet holds."""
    if marked:
        yield "Cells like this", "were missing, and were filled in by inldl."
    for text in (document or {}).get("summary", ()):
        yield "Result", text
    for name, text in (document or {}).get("facts", ()):
        yield name, text
    for text in (document or {}).get("notes", ()):
        yield "Note", text


def commands(settings: dict[str, Any], table: str, edited: bool, runs: Runs = ()) -> str:
    """Return a script with the commands that were done with a table on the page.

    `table` is the name of its file; `edited` says whether cells of it were edited, so that it is
    the one that can be downloaded with these edits. `runs` are further pieces of work: the kind of
    each, and what it was asked for.
    """
    told = list(_arguments(settings))
    stem, method = Path(table).stem.partition(".")[0], ["--method", settings["method"]]
    ending = table.removeprefix(stem)
    lines = ["#!/bin/sh", f"# The same as on the page of inldl studio: sh {stem}-commands.txt"]
    if edited:
        lines.append(f"# {table} is the table with the edits; download it next to this script.")
    lines += ["set -e", _line("inspect", table, *_only(told, _LOOKING))]
    out = ["-o", f"{stem}-completed{ending}", "--page", f"{stem}-report.html"]
    lines.append(_line("complete", table, *chain(*told), *method, *out))
    lines += [_further(kind, asked, table, told, method) for kind, asked in runs]
    return "\n".join(lines) + "\n"


def _further(kind, asked, table, told, method):
    """Return the lines of a piece of work beside completing."""
    stem, learned = Path(table).stem.partition(".")[0], _only(told, _LEARNING)
    if kind == "compare":
        methods = ["--methods", ",".join(asked["methods"])] if asked["methods"] else []
        page = ["--page", f"{stem}-comparison.html"]
        return _line("compare", table, *_only(told, _COMPARING), *methods, *page)
    if kind == "ask":
        how = {name: asked[name] for name in names(AskOptions) if asked.get(name) is not None}
        wanted = ([f"--{name.replace('_', '-')}", f"{x}"] for name, x in how.items())
        out = ["-o", f"{stem}-questions.csv"]
        return _line("ask", table, *learned, *method, *chain(*wanted), *out)
    name, _, suffix = str(asked["other"]).partition(".")
    model = f"{stem}-model.inldl"
    fit = _line("fit", table, *learned, *method, "-o", model, "--overwrite")
    out = ["-o", f"{name}-predicted.{suffix}", "--page", f"{name}-predicted.html"]
    return f"{fit}\n{_line('predict', model, asked['other'], '--uncertainty', 0.9, *out)}"


def _flags(*groups):
    return {"--labels", *(flag_of(each) for group in groups for each in fields(group))}


_LOOKING = {"--labels", "--unit", "--time", "--weight"}
_COMPARING = _flags(ColumnOptions, GroupOptions)
_LEARNING = _flags(ColumnOptions, LearnOptions)


def _only(told, flags):
    return [*chain(*(each for each in told if each[0] in flags))]


def _line(command, *arguments):
    return shlex.join(["inldl", command, *map(str, arguments)])


def _arguments(settings):
    """Yield each option with its value, as lists of words."""
    labels = options.labels(settings)
    if labels:
        yield ["--labels", ",".join(name.replace(",", "?") for name in labels)]
    learning, columns = options.learning(settings), options.columns(settings)
    for group in (columns, learning, options.chosen(FillOptions, settings)):
        yield from _of_group(group)


def _of_group(group: Options):
    """Yield the options of a group that are not at their defaults."""
    for each in fields(group):  # type: ignore[arg-type]
        value, flag = getattr(group, each.name), flag_of(each)
        words = {there: word for word, there in each.metadata.get("words", {}).items()}
        if value == each.default or (value in ([], "") and not words):
            continue
        if value is True:
            yield [flag]
        elif each.name == "sums":
            yield [word for line in value for word in (flag, "".join(line.split(" ")))]
        elif isinstance(value, list | tuple):
            yield [flag, ",".join(str(name).replace(",", "?") for name in value)]
        else:
            yield [flag, str(words.get(value, value))]
