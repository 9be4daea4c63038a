"""Options of completing on the page: sums of labels, draws, units, ratios, prices and others."""

import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from inldl import hide
from inldl_studio.grid import Grid

pytestmark = pytest.mark.usefixtures("without_figures", "without_trees")
NAMES = LABELS.split(",")


def file_of(result, folder, key):
    return folder / result["files"][key]["path"]


@pytest.fixture
def same_as(monkeypatch):
    """Return a function that runs a command, and returns what it writes."""
    from inldl.cli import main

    def run(out, *command):
        monkeypatch.setattr(sys, "argv", ["inldl", *map(str, command), "-o", str(out)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return out.read_bytes()

    return run


def test_sums_of_labels(work, survey, roles, same_as):
    frame = budget_survey(40)
    pair = frame["food"].fillna(0.2) + frame["fuel"].fillna(0.1)
    known = frame[["food", "fuel"]].notna().all(axis=1)
    frame["both"] = pair.where(known | (frame.index % 2 == 0))
    frame["both"] = frame["both"].where(frame[NAMES].sum(axis=1) + 0.3 < 1)
    frame.to_csv(survey, index=False)
    settings = {"roles": {**roles, "both": "ignored"}, "method": "winldl"}
    state, result, folder = work("complete", survey, {**settings, "sums": "both = food,fuel\n"})
    assert state["status"] == "done", state
    how = ("--labels", LABELS, "--id", "key", "--method", "winldl", "--sum", "both=food,fuel")
    out = same_as(survey.with_name("out.csv"), "complete", survey, *how)
    assert file_of(result, folder, "table").read_bytes() == out
    state, _, _ = work("complete", survey, {**settings, "sums": "both=food,nothing"})
    assert "nothing" in state["error"]


@pytest.fixture
def countries(survey):
    """Write a table of countries and years, of which two labels begin late; return its roles."""
    rng, names = np.random.default_rng(0), ["country", "year"]
    index = pd.MultiIndex.from_product([list("pqrstuvw"), range(2001, 2011)], names=names)
    frame = index.to_frame(index=False)
    levels = np.repeat(rng.normal(size=(8, 4)), 10, axis=0) + rng.normal(0, 0.05, (80, 4))
    shares = np.exp(levels) / np.exp(levels).sum(axis=1, keepdims=True)
    frame[list("abcd")] = shares.round(4)
    frame.loc[frame["year"] < 2004, ["a", "b"]] = np.nan
    frame.to_csv(survey, index=False)
    return {**dict.fromkeys("abcd", "label"), "country": "unit", "year": "time"}


@pytest.mark.parametrize("off", [False, True])
def test_units_and_times(work, survey, countries, same_as, off):
    roles = {**countries, **dict.fromkeys(["country", "year"], "feature")} if off else countries
    settings = {"roles": roles, "method": "ridge"}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    how = ["--unit", "none", "--time", "none"] if off else ["--unit", "country", "--time", "year"]
    command = ["complete", survey, "--labels", "a,b,c,d", "--method", "ridge", *how]
    out = same_as(survey.with_name("out.csv"), *command)
    assert file_of(result, folder, "table").read_bytes() == out
    assert ("a series over 'year'" in str(result["document"]["notes"])) != off
    assert Grid(folder).facts["ids"] == ([] if off else ["country", "year"])
    more = {"model": str(file_of(result, folder, "model")), "scale": result["scale"]}
    state, asked, _ = work("ask", survey, settings, **more, budget=5.0)
    assert state["status"] == "done", state
    assert asked["ids"] == ([] if off else ["country", "year"])
    state, compared, _ = work("compare", survey, settings, methods=["ridge"])
    assert state["status"] == "done", state
    assert ("a series over 'year'" in str(compared["document"]["notes"])) != off
    state, looked, _ = work("inspect", survey, settings)
    blocks = [block for part in looked["document"]["sections"] for block in part["blocks"]]
    assert ("places" in [block.get("name") for block in blocks]) != off


def test_draws_come_in_one_file(work, survey, roles, same_as):
    settings = {"roles": roles, "method": "winldl", "n_draws": 2}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    out = survey.with_name("survey-completed.csv")
    how = ("--labels", LABELS, "--id", "key", "--method", "winldl", "--draws", "2")
    same_as(out, "complete", survey, *how)
    with zipfile.ZipFile(file_of(result, folder, "draws")) as packed:
        assert packed.namelist() == ["survey-completed-draw1.csv", "survey-completed-draw2.csv"]
        for name in packed.namelist():
            assert packed.read(name) == out.with_name(name).read_bytes()
    assert len(list((folder / "files").iterdir())) == len(result["files"])


def test_whole_numbers(work, survey, roles):
    counts = budget_survey(40)
    counts[NAMES] = (counts[NAMES] * 200).round()
    sums = counts[NAMES].sum(axis=1)
    counts["persons"] = sums.where(counts[NAMES].notna().all(axis=1), np.maximum(sums, 200) + 10)
    counts.to_csv(survey, index=False)
    settings = {"roles": {**roles, "persons": "total"}, "method": "winldl", "whole": True}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    found = pd.read_csv(file_of(result, folder, "table"))
    holes = counts[NAMES].isna().any(axis=1)
    assert (found[NAMES] % 1 == 0).all(axis=None)
    assert (found[NAMES].sum(axis=1) == found["persons"])[holes].all()
    state, _, _ = work("complete", survey, {**settings, "roles": roles, "scale": "fraction"})
    assert state["status"] == "failed"
    assert "“Fill in whole numbers”" in state["error"]


def test_signs_are_asked_about_until_a_mark_says_what_they_stand_for(work, survey, roles, same_as):
    counts = budget_survey(60)
    whole = (counts[NAMES].fillna(0.05) * 80).round().astype(int)
    counts[NAMES] = whole.astype(str).mask(whole < 5, "*").mask(whole == 0, "-")
    counts.assign(persons=whole.sum(axis=1)).to_csv(survey, index=False)
    settings = {"roles": {**roles, "persons": "total"}, "method": "winldl"}
    for kind in ("inspect", "complete"):
        state, result, _ = work(kind, survey, settings)
        assert state["status"] == "done", state
        notes = " ".join(result["document"]["notes"])
        assert 'if it stands for 1-4, say “Signs that stand for something” "*=1-4"' in notes
        assert 'if it stands for 0, say “Signs that stand for something” "-=0"' in notes
    state, result, folder = work("complete", survey, {**settings, "mark": "*=1-4, -=0"})
    assert state["status"] == "done", state
    assert "if it stands for" not in " ".join(result["document"]["notes"])
    how = ("--labels", LABELS, "--id", "key", "--method", "winldl", "--total", "persons")
    out = survey.with_name("out.csv")
    out = same_as(out, "complete", survey, *how, "--mark", "*=1-4,-=0")
    assert file_of(result, folder, "table").read_bytes() == out
    state, _, _ = work("look", survey, {**settings, "mark": "*"})
    assert "'*' in mark (“Signs that stand for something”) has no meaning" in state["error"]


@pytest.fixture
def ratios(survey):
    """Write a table whose missing labels were dropped, and the others rescaled."""
    frame = budget_survey(40)
    shares = frame[NAMES].fillna(0.1)
    shares = shares.div(shares.sum(axis=1), axis=0)
    frame[NAMES] = hide(shares, 0.3, renormalise=True, random_state=0)
    frame.to_csv(survey, index=False)
    return frame


def test_ratios(work, survey, roles, ratios, same_as):
    settings = {"roles": roles, "method": "winldl", "ratios": True}
    state, result, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    how = ("--labels", LABELS, "--id", "key", "--method", "winldl", "--ratios")
    out = same_as(survey.with_name("out.csv"), "complete", survey, *how)
    assert file_of(result, folder, "table").read_bytes() == out
    assert list(result["files"]) == ["table", "filled", "model", "report"]
    assert "food_filled" in pd.read_csv(file_of(result, folder, "filled"))
    assert "Questions need a table of shares" in result["unasked"]
    grid = Grid(folder)
    written = pd.read_csv(file_of(result, folder, "table"))[NAMES]
    assert np.allclose(grid.after, written, atol=1e-6)
    assert not grid.doubtful(grid.order())
    assert all(len(cell) == 3 for cell in grid.row(0, {})["cells"])
    model = str(file_of(result, folder, "model"))
    state, predicted, _ = work("predict", survey, settings, model=model, other=str(survey))
    assert state["status"] == "done", state
    assert predicted["files"]["predicted"]["name"] == "survey-predicted.csv"


@pytest.mark.parametrize(
    ("kind", "more", "problem"),
    [
        ("complete", {"n_draws": 2}, "no intervals and no draws"),
        (
            "complete",
            {"votes": True},
            "“Weigh rows by their votes” and “Only ratios are known”",
        ),
        (
            "complete",
            {"sums": "age=food,fuel"},
            "hold sums of labels” and “Only ratios are known” exclude",
        ),
        ("complete", {"method": "ridge"}, "ridge cannot learn from ratios alone"),
        ("compare", {}, "takes more than ratios"),
    ],
)
def test_what_does_not_go_with_ratios(work, survey, roles, ratios, kind, more, problem):
    settings = {"roles": roles, "method": "winldl", "ratios": True, **more}
    state, _, _ = work(kind, survey, settings, methods=["ridge"])
    assert state["status"] == "failed"
    assert problem in state["error"]


def test_prices_and_answers(work, survey, roles):
    frame = budget_survey(40).assign(price=np.arange(1, 41))
    frame.to_csv(survey, index=False)
    settings = {"roles": {**roles, "price": "price"}, "method": "winldl"}
    state, completed, folder = work("complete", survey, settings)
    assert state["status"] == "done", state
    more = {"model": str(file_of(completed, folder, "model")), "scale": completed["scale"]}
    wanted = {"budget": 20.0, "by": "row", "cell_cost": 0.5}
    state, asked, place = work("ask", survey, settings, **more, **wanted)
    assert state["status"] == "done", state
    path = file_of(asked, place, "questions")
    listed = pd.read_csv(path)
    first = listed.drop_duplicates("row")
    assert (first["cost"] == first["row"]).all()
    assert listed["cost"].sum() <= 20
    listed["answer"] = listed["answer"].astype(float)
    listed.loc[0, "answer"] = 0.01
    listed.to_csv(path, index=False)
    state, found, _ = work("answers", survey, settings, **more, other=str(path))
    assert state["status"] == "done", state
    assert found["answers"] == [[int(listed["row"][0]) - 1, listed["label"][0], 0.01]]
    listed.loc[0, "answer"] = 3
    listed.to_csv(path, index=False)
    state, _, _ = work("answers", survey, settings, **more, other=str(path))
    assert state["error"].startswith(f"{path.name}, line 2: the answers in row")
    state, _, _ = work("answers", survey, settings, **more, other=str(survey))
    assert "survey.csv has no column 'row'" in state["error"]
