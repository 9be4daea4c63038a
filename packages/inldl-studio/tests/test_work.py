"""What is done with a table is what the commands do."""

import sys
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from inldl.files import load_model

pytestmark = pytest.mark.usefixtures("without_figures")
NAMES = LABELS.split(",")


def file_of(result, folder, key):
    return folder / result["files"][key]["path"]


def told(result):
    return [*result["document"]["summary"], *result["document"]["notes"]]


def test_looking_suggests_the_roles(work, survey):
    state, result, _ = work("look", survey)
    assert state == {"status": "done", "error": "", "about": {}}
    found = {each["column"]: each["role"] for each in result["columns"]}
    assert [name for name, role in found.items() if role == "label"] == NAMES
    assert found["key"] == "id"
    assert found["income"] == "feature"
    assert result["n_rows"] == 40


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "survey.csv is empty"),
        (b"a,b\n", "survey.csv has a header but no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not a table of text"),
        (b"a,b\n1,2,3,4\n", "Line 2"),
        (b"a,a\n1,2\n3,4\n", "appears more than once"),
    ],
)
def test_a_bad_file_is_one_sentence(work, survey, content, problem):
    survey.write_bytes(content)
    state, result, _ = work("look", survey)
    assert state["status"] == "failed"
    assert problem in state["error"]
    assert str(survey.parent) not in state["error"]
    assert result is None


def test_mistakes_in_the_roles_are_one_sentence(work, survey, roles):
    for settings, problem in (
        ({}, "No column is marked as a label"),
        ({"roles": {"food": "label"}}, "a distribution needs at least two"),
        ({"roles": {"food": "label", "region": "label"}}, "column 'region'"),
        ({"roles": {"age": "label", "income": "label"}, "scale": "fraction"}, "Row 1"),
        ({"roles": {**roles, "region": "weight"}}, "region"),
        ({"roles": roles, "method": "nonsense"}, "nonsense"),
    ):
        state, _, _ = work("complete", survey, settings)
        assert state["status"] == "failed"
        assert problem in state["error"]
        assert "bug in inldl" not in state["error"]


def test_completing_writes_what_the_command_writes(work, survey, roles, monkeypatch, capsys):
    from inldl.cli import main

    state, result, folder = work("complete", survey, {"roles": roles, "method": "winldl"})
    assert state["status"] == "done", state
    command = ["complete", survey, "--labels", LABELS, "--id", "key", "--method", "winldl"]
    out = survey.with_name("out.csv")
    monkeypatch.setattr(sys, "argv", ["inldl", *map(str, command), "-o", str(out)])
    with pytest.raises(SystemExit):
        main()
    assert file_of(result, folder, "table").read_bytes() == out.read_bytes()
    printed = capsys.readouterr().out
    assert all(text in printed for text in told(result))
    detailed = pd.read_csv(file_of(result, folder, "detailed"))
    assert {"food_low", "food_high", "food_filled"} <= set(detailed)
    assert list(load_model(file_of(result, folder, "model")).label_names_) == NAMES
    assert file_of(result, folder, "report").read_text().startswith("<!doctype html>")


def test_the_rows_of_the_page_are_those_of_the_file(work, survey, roles):
    from inldl_studio.grid import Grid

    frame = budget_survey(40).rename(columns={"food": "=A1()", "fuel": "<script>"})
    frame.to_csv(survey, index=False)
    names = ["=A1()", "<script>", *NAMES[2:]]
    settings = {"roles": {**dict.fromkeys(names, "label"), "key": "id"}, "method": "winldl"}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    grid, read = Grid(folder), pd.read_csv(file_of(result, folder, "detailed"))
    assert np.allclose(grid.after, read[names], atol=1e-6)
    low = [f"{name}_low" if name != "=A1()" else "'=A1()_low" for name in names]
    assert np.allclose(grid.low, read[low], atol=1e-6, equal_nan=True)
    assert grid.texts(3)[0] == "k3"


def test_a_long_table_is_completed_too(work, survey):
    from inldl_studio.grid import Grid

    wide = budget_survey(40)[["key", "age", *NAMES]]
    wide.melt(["key", "age"], var_name="what", value_name="share").to_csv(survey, index=False)
    settings = {"long": "id=key,label=what,value=share", "method": "winldl"}
    state, result, _ = work("look", survey, settings)
    assert state["status"] == "done", state
    assert {each["column"] for each in result["columns"] if each["role"] == "label"} == {*NAMES}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    assert not np.isnan(Grid(folder).after).any()


def test_edits_are_completed_with_and_the_file_stays(work, survey, roles):
    before = survey.read_bytes()
    holes = budget_survey(40)["food"].isna().to_numpy()
    row = int(np.flatnonzero(holes)[0])
    settings = {"roles": roles, "method": "winldl"}
    state, result, folder = work("complete", survey, settings, [[row, "food", 0.123]])
    assert state["status"] == "done", state
    assert pd.read_csv(file_of(result, folder, "table"))["food"][row] == 0.123
    assert survey.read_bytes() == before
    state, _, _ = work("complete", survey, settings, [[row, "food", 5.0]])
    assert state["status"] == "failed"
    assert "Row 4" in state["error"]


def test_asking_and_predicting_use_the_model(work, survey, roles):
    settings = {"roles": roles, "method": "winldl"}
    _, completed, folder = work("complete", survey, settings)
    more = {"model": str(file_of(completed, folder, "model")), "scale": completed["scale"]}
    state, asked, place = work("ask", survey, settings, **more, budget=5.0, by="cell")
    assert state["status"] == "done", state
    assert len(asked["questions"]) == 5
    assert asked["ids"] == ["key"]
    listed = pd.read_csv(file_of(asked, place, "questions"))
    assert [each["row"] for each in asked["questions"]] == listed["row"].tolist()
    # Two people, who are asked two of the questions both; their lists carry their names.
    people = {"people": ["Ada", "Emmy"], "twice": 2}
    _, asked, place = work("ask", survey, settings, **more, budget=5.0, by="cell", **people)
    assert [len(each["asked"]) for each in asked["questions"]] == [2, 2, 1, 1, 1]
    lists = [pd.read_csv(file_of(asked, place, f"questions-{i}")) for i in (0, 1)]
    assert [set(each["who"]) for each in lists] == [{"Ada"}, {"Emmy"}]
    assert sum(map(len, lists)) == 7
    filled = survey.with_name("answers.csv")
    lists[1].assign(answer=lists[1]["estimate"] / 2).to_csv(filled, index=False)
    _, told, _ = work("answers", survey, settings, **more, other=str(filled))
    assert [each[3] for each in told["answers"]] == ["Emmy"] * len(lists[1])
    state, predicted, place = work("predict", survey, settings, **more, other=str(survey))
    assert state["status"] == "done", state
    table = pd.read_csv(file_of(predicted, place, "predicted"))
    assert np.allclose(table[[f"{name}_predicted" for name in NAMES]].sum(axis=1), 1)
    other = survey.with_name("other.csv")
    other.write_text("a,b\n1,2\n")
    state, _, _ = work("predict", survey, settings, **more, other=str(other))
    assert state["status"] == "failed"
    assert "totexpend" in state["error"]


def test_exporting_keeps_the_cells(work, survey, roles):
    pytest.importorskip("openpyxl")
    state, result, folder = work("export", survey, {"roles": roles}, suffix=".xlsx", run=".")
    assert state["status"] == "done", state
    content = BytesIO(file_of(result, folder, "table").read_bytes())
    pd.testing.assert_frame_equal(pd.read_excel(content), pd.read_csv(survey), check_dtype=False)


def test_comparing_recommends_a_method(work, survey, roles):
    methods = ["constant-mean", "ridge"]
    state, result, _ = work("compare", survey, {"roles": roles}, methods=methods)
    assert state["status"] == "done", state
    assert result["recommended"] in methods


def test_an_error_of_ours_is_told_apart(work, survey, monkeypatch, capsys):
    from inldl_studio import work as module

    def broken(*arguments):
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(module.TASKS, "look", broken)
    state, _, _ = work("look", survey)
    assert (
        state["error"]
        == "This is a bug in inldl, not a problem with your table: ZeroDivisionError: by zero."
    )
    assert "ZeroDivisionError" in capsys.readouterr().err
