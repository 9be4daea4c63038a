"""What is handed on: a sheet with styles and notes, and a script that gives the same."""

import shlex
import sys
from itertools import pairwise

import pandas as pd
import pytest
from openpyxl import load_workbook

from budget_survey import LABELS
from inldl_studio.handing_on import commands
from inldl_studio.settings import DEFAULTS

pytestmark = pytest.mark.usefixtures("without_figures", "without_trees")
NAMES = LABELS.split(",")


@pytest.fixture
def completed(work, survey, roles):
    settings = {"roles": roles, "method": "winldl"}
    state, result, folder = work("complete", survey, settings, [[1, "food", 0.1, "Ada"]])
    assert state["status"] == "done", state
    return result, folder


def test_the_sheet_marks_what_was_filled_in(work, survey, completed):
    result, folder = completed
    table = folder / result["files"]["table"]["path"]
    state, made, there = work("export", table, suffix=".xlsx", run=str(folder))
    assert state["status"] == "done", state
    book = load_workbook(there / made["files"]["table"]["path"])
    assert book.sheetnames == ["Table", "Notes"]
    rows, before = list(book["Table"].iter_rows()), pd.read_csv(survey)
    before.loc[1, "food"] = 0.1
    places = {cell.value: at for at, cell in enumerate(rows[0])}
    for name in NAMES:
        bold = [row[places[name]].font.bold for row in rows[1:]]
        assert bold == before[name].isna().tolist()
    notes = [[cell.value for cell in row] for row in book["Notes"].iter_rows()]
    assert notes[0] == ["Cells like this", "were missing, and were filled in by inldl."]
    assert any(text.startswith("Filled in") for _, text in notes)


def test_the_script_gives_the_same_table(completed, roles, tmp_path, monkeypatch):
    from inldl.cli import main

    result, folder = completed
    files = {key: folder / each["path"] for key, each in result["files"].items()}
    assert files["edited"].name == "survey-edited.csv"
    here = tmp_path / "elsewhere"
    here.mkdir()
    (here / "survey-edited.csv").write_bytes(files["edited"].read_bytes())
    monkeypatch.chdir(here)
    further = [("compare", {"methods": ["constant-mean", "ridge"]}), ("ask", {"budget": 3.0})]
    further += [("predict", {"other": "survey-edited.csv"})]
    settings = {**DEFAULTS, "roles": roles, "method": "winldl"}
    lines = commands(settings, "survey-edited.csv", True, further).splitlines()
    for line in lines:
        if line.startswith("inldl"):
            monkeypatch.setattr(sys, "argv", shlex.split(line))
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code
    expected = files["table"].read_bytes()
    assert (here / "survey-edited-predicted.csv").is_file()
    assert len((here / "survey-edited-questions.csv").read_text().splitlines()) == 4
    assert (here / "survey-edited-completed.csv").read_bytes() == expected


def test_every_option_of_the_page_is_in_the_script():
    settings = {**DEFAULTS, "roles": {"a,b": "label", "c": "label", "t": "total", "n": "ignored"}}
    settings |= {"mark": "*=1-4", "na": "s,x", "normalize": True, "n_draws": 3, "ranges": True}
    settings |= {"sums": "n=a,c", "thousands": "none", "skip_rows": 2, "whole": True}
    told = shlex.split(commands(settings, "my table.csv", False).splitlines()[-1])
    pairs = dict(pairwise(told))
    assert told[:3] == ["inldl", "complete", "my table.csv"]
    assert pairs["--labels"] == "a?b,c"
    assert pairs["--mark"] == "*=1-4"
    assert pairs["--total"] == "t"
    assert pairs["--sum"] == "n=a,c"
    assert pairs["--thousands"] == "none"
    assert pairs["--skip-rows"] == "2"
    assert pairs["--draws"] == "3"
    assert {"--normalize", "--range", "--whole"} <= {*told}
    assert pairs["-o"] == "my table-completed.csv"
