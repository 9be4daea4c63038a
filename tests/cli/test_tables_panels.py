"""Commands on tables with units and times."""

import numpy as np
import pandas as pd
import pytest

from made_panels import LABELS, early, made_panel

FIT = ("fit", "t.csv", "-l", "a,b,c,d", "-m", "winldl", "-o", "m.inldl")
COMPLETE = ("complete", "t.csv", "-l", "a,b,c,d", "-m", "winldl", "-o", "o.csv")


@pytest.fixture
def table(tmp_path):
    """Write shares of states that have numbers, and return them."""
    X, y, panel = made_panel()
    rounded = y.round(4)
    rounded[:, 3] = (1 - rounded[:, :3].sum(axis=1)).round(4)
    shares = pd.DataFrame(early(panel, rounded), columns=LABELS)
    state = [f"{u + 1:02}" for u in panel.unit]
    frame = pd.concat([pd.DataFrame({"state": state, "year": X["year"]}), shares], axis=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def test_a_model_in_a_file_completes_as_the_one_that_was_fitted(table, inldl):
    code, told, _ = inldl(*COMPLETE, "--uncertainty", "0.9", "--draws", "2")
    assert code == 0
    assert "a series over 'year' for each 'state'" in told
    assert "Filled in 24 missing shares in 12 rows." in told
    assert "too few to tell; intervals are wider for it" in told
    assert inldl(*FIT)[0] == 0
    how = ("--model", "m.inldl", "--uncertainty", "0.9", "--draws", "2")
    assert inldl("complete", "t.csv", "-o", "again.csv", *how)[0] == 0
    for one, two in (("o", "again"), ("o-draw1", "again-draw1"), ("o-draw2", "again-draw2")):
        frames = [pd.read_csv(f"{name}.csv", dtype=str) for name in (one, two)]
        assert frames[0].equals(frames[1])
    filled = frames[0][LABELS].astype(float)
    assert filled.sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-6)
    assert (filled[table["a"].notna()] == table.loc[table["a"].notna(), LABELS]).all(axis=None)


def test_the_next_year_is_predicted_from_the_last(table, inldl):
    """Also in a file whose states are read alone; others are new to the model."""
    assert inldl(*FIT)[0] == 0
    last = table[table["year"] == 2011]
    rows = last[["state", "year"]].assign(year=2012)
    pd.concat([rows, rows[:1].assign(state="77")]).to_csv("next.csv", index=False)
    assert inldl("predict", "m.inldl", "next.csv", "-o", "p.csv", "--uncertainty", "0.9")[0] == 0
    found = pd.read_csv("p.csv")
    off = np.abs(found[LABELS][:6].to_numpy() - last[LABELS].to_numpy())
    assert off.mean() < 0.03
    width = (found["c_high"] - found["c_low"]).to_numpy()
    assert width[6] > 1.5 * width[:6].max()
    rows[["year"]].to_csv("lacking.csv", index=False)
    code, _, words = inldl("predict", "m.inldl", "lacking.csv", "-o", "q.csv")
    assert code == 1
    assert "The table lacks column 'state', which the model was fitted to" in words


def test_rows_of_the_fit_are_told_apart_from_new_ones(table, inldl):
    earlier = table[table["year"] < 2010]
    earlier.to_csv("early.csv", index=False)
    table[table["year"] >= 2010].to_csv("late.csv", index=False)
    assert inldl("fit", "early.csv", *FIT[2:])[0] == 0
    code, told, _ = inldl("evaluate", "m.inldl", "early.csv")
    assert code == 0
    assert f"The model was fitted to {len(earlier)} of these rows" in told
    code, told, _ = inldl("evaluate", "m.inldl", "late.csv")
    assert code == 0
    assert "was fitted to" not in told


def test_what_to_ask_for(table, inldl):
    how = ("ask", "t.csv", "-l", "a,b,c,d", "-m", "winldl", "--budget", "3", "-o", "ask.csv")
    code, told, _ = inldl(*how)
    assert code == 0
    assert "The list has 3 missing shares" in told
    asked = pd.read_csv("ask.csv")
    asked["answer"] = 0.1
    asked.to_csv("ask.csv", index=False)
    code, told, problem = inldl(*COMPLETE, "--answers", "ask.csv")
    assert code == 0, problem
    assert "Put 3 answers" in told


def test_rows_whose_sums_are_about_1(table, inldl):
    sums = np.random.default_rng(0).uniform(0.9, 0.98, (len(table), 1))
    loose = table.assign(**(table[LABELS] * sums).round(4))
    for name, frame in (("t", loose), ("whole", loose.fillna(0.05))):
        frame.to_csv(f"{name}.csv", index=False)
        code, _, words = inldl("complete", f"{name}.csv", *COMPLETE[2:-1], f"{name}-o.csv",
                               "--normalize", "--uncertainty", "0.9")  # fmt: skip
        assert code == 0, words
    found = pd.read_csv("t-o.csv")
    assert found.loc[loose["a"].isna(), LABELS].sum(axis=1).between(0.8, 1.0001).all()
    assert (found["a_low"] <= found["a"])[loose["a"].isna()].all()


def test_units_and_ratios_exclude_each_other(table, inldl):
    code, _, words = inldl(*COMPLETE, "--ratios", "--unit", "state")
    assert code == 1
    assert "Units and times cannot be used if only ratios of shares are known (--ratios)" in words


def test_a_panel_is_not_exported(table, inldl):
    assert inldl(*FIT)[0] == 0
    code, _, words = inldl("export", "m.inldl", "m.onnx")
    assert code == 1
    assert 'fit with unit="none", time="none" (--unit none --time none) to export' in words


def test_units_can_be_turned_off_and_be_ids(table, inldl):
    code, told, _ = inldl(*COMPLETE, "--unit", "none", "--time", "none")
    assert code == 0
    assert "a series over" not in told
    assert "the mean absolute error at 264 known shares that were hidden on purpose" in told
    code, told, _ = inldl(*COMPLETE, "--id", "state,year", "--overwrite")
    assert code == 0
    assert "a series over 'year' for each 'state'" in told


def test_the_help_of_commands_has_examples_and_names_the_options(inldl):
    for command in ("complete", "fit"):
        _, told, _ = inldl(command, "--help")
        assert f"inldl {command} survey.csv" in told
        for option in ("--unit", "--time", "--place"):
            assert option in told


def test_long_tables_have_units_and_times_as_well(table, inldl):
    """What a long table is completed with is what the same table with labels beside gives."""
    long = table.melt(["state", "year"], var_name="label", value_name="share").dropna()
    long.to_csv("long.csv", index=False)
    how = ("--long", "id=state+year,label=label,value=share", "-m", "winldl", "-o", "lo.csv")
    code, told, _ = inldl("complete", "long.csv", *how)
    assert code == 0
    assert "a series over 'year' for each 'state'" in told
    assert inldl(*COMPLETE)[0] == 0
    wide = pd.read_csv("lo.csv").pivot(index=["state", "year"], columns="label", values="share")
    expected = pd.read_csv("o.csv").set_index(["state", "year"])[LABELS]
    assert wide[LABELS].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-5)
