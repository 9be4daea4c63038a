"""Commands with --zeros and --delta."""

import numpy as np
import pandas as pd
import pytest

import budget_survey
from parsed_page import Document

LABELS = ["a", "b", "c", "d"]


@pytest.fixture
def shares(tmp_path):
    """Write percentages of which those below 3 are recorded as 0; return these."""
    rng = np.random.default_rng(0)
    whole = 100 * rng.dirichlet([6, 4, 2, 1], 59)
    table = pd.DataFrame(whole.round(1), columns=LABELS)
    table = table.mask(table < 3, 0).assign(x=rng.normal(size=59).round(2))
    table.loc[::4, "a"] = np.nan
    table["b"] = (100 - table[["a", "c", "d"]].sum(axis=1)).round(1).where(table["a"].notna())
    table["b"] = table["b"].fillna(20)
    table.to_csv(tmp_path / "shares.csv", index=False)
    return table


def complete(inldl, *more, table="shares.csv", out="out.csv"):
    asked = ("complete", table, "-l", ",".join(LABELS), "-m", "winldl", "-o", out)
    code, told, error = inldl(*asked, *more)
    assert code == 0, error
    return told


def test_rounded_zeros_are_filled_in_below_their_limit(inldl, shares, tmp_path):
    more = ("--zeros", "rounded<3", "--filled-columns", "--uncertainty", "0.9", "--draws", "2")
    told = complete(inldl, *more)
    zeros = (shares[LABELS] == 0).to_numpy()
    assert zeros.sum() > 10
    assert f"{zeros.sum()} cells such as '0' are read as bounds: between 0 and 3." in told
    full = zeros.any(axis=1) & shares["a"].notna().to_numpy()
    assert f"In {full.sum()} rows with such zeros the other shares sum to the whole" in told
    n_filled = zeros.sum() + shares["a"].isna().sum()
    assert f"Filled in {n_filled} missing shares" in told
    tables = [pd.read_csv(tmp_path / f"out{end}.csv") for end in ("", "-draw1", "-draw2")]
    for table in tables:
        np.testing.assert_allclose(table[LABELS].sum(axis=1), 100, atol=1e-8)
        assert table[LABELS].to_numpy()[zeros].max() <= 3
    out = tables[0]
    filled = out[LABELS].to_numpy()[zeros]
    assert (filled > 0).all()
    low, high = (out[[f"{n}_{end}" for n in LABELS]].to_numpy()[zeros] for end in ("low", "high"))
    assert ((low <= filled + 1e-6) & (filled <= high + 1e-6)).all()
    assert (high - low)[full[np.argwhere(zeros)[:, 0]]].min() > 0.5  # the sum gives none of them
    marks = out[[f"{n}_filled" for n in LABELS]].to_numpy()
    assert (marks[zeros] == 2).all()
    changed = (
        ~zeros & (out[LABELS].to_numpy() != shares[LABELS].to_numpy()) & shares[LABELS].notna()
    )
    assert changed.to_numpy().sum() == full.sum()  # the largest of each such row
    assert (marks[changed] == 2).all()
    assert not np.allclose(
        tables[1][LABELS].to_numpy()[zeros], tables[2][LABELS].to_numpy()[zeros]
    )


def test_true_zeros_stay(inldl, shares, tmp_path):
    for kind in ("true", "never", "rounded:a"):
        complete(inldl, "--zeros", kind, "--overwrite")
        out = pd.read_csv(tmp_path / "out.csv")
        assert (out[LABELS].to_numpy()[(shares[LABELS] == 0).to_numpy()] == 0).all()


def test_inspect_says_that_zeros_look_rounded(inldl, shares):
    asked = ("inspect", "shares.csv", "-l", ",".join(LABELS))
    _, told, _ = inldl(*asked)
    assert "Zeros of 'd' look rounded: " in told
    for kind in ("never", "rounded"):
        _, told, _ = inldl(*asked, "--zeros", kind)
        assert "look rounded" not in told
    code, _, error = inldl(*asked, "--zeros", "small")
    assert code == 1
    assert "Zeros (--zeros) are true, never or rounded, not 'small'" in error


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_other_commands_read_zeros_too(inldl, shares, command):
    more = ("--methods", "winldl") if command == "compare" else ("-m", "winldl", "-o", "m.inldl")
    asked = (command, "shares.csv", "-l", ",".join(LABELS), "--zeros", "rounded", *more)
    code, told, error = inldl(*asked)
    assert code == 0, error
    assert command == "compare" or "cells such as '0' are read as bounds" in told


@pytest.fixture
def holes(survey):
    """Return the labels of the survey, and which of its shares are missing."""
    labels = budget_survey.LABELS.split(",")
    return labels, survey[labels].isna().to_numpy()


def test_filled_shares_depart_as_stated(inldl, holes, tmp_path):
    labels, missing = holes
    asked = ("complete", "survey.csv", "-l", ",".join(labels), "-m", "winldl")
    asked += ("--uncertainty", "0.9", "--draws", "1", "-o")
    assert inldl(*asked, "plain.csv")[0] == 0
    name = labels[0]
    code, told, error = inldl(*asked, "moved.csv", "--delta", f"{name}=+20%;{name}=+40%")
    assert code == 0, error
    assert f"The file is that of '{name} +20%'" in " ".join(told.split())
    for end in ("", "-draw1"):
        plain, moved = (pd.read_csv(tmp_path / f"{n}{end}.csv") for n in ("plain", "moved"))
        whole = plain[labels].sum(axis=1)
        np.testing.assert_allclose(moved[labels].sum(axis=1), whole, atol=1e-6)
        same = plain[labels].to_numpy()[~missing]
        np.testing.assert_array_equal(moved[labels].to_numpy()[~missing], same)
        free = missing[:, 0] & (missing.sum(axis=1) > 1)
        room = plain[labels].where(missing).sum(axis=1) > 1.2 * plain[name]
        rows = free & room.to_numpy()
        assert rows.sum() > 5
        np.testing.assert_allclose(moved[name][rows], 1.2 * plain[name][rows], rtol=1e-3)
    plain, moved = (pd.read_csv(tmp_path / f"{n}.csv") for n in ("plain", "moved"))
    assert (moved[f"{name}_high"][rows] > plain[f"{name}_high"][rows] - 1e-9).all()
    assert (moved[f"{name}_low"] <= moved[name] + 1e-5)[missing[:, 0]].all()
    line = next(line for line in told.splitlines() if line.startswith(f"{name} "))
    first, second, third = (float(number) for number in line.split()[1:])
    assert first < second < third
    np.testing.assert_allclose(first, plain[name].mean(), rtol=0.01)
    np.testing.assert_allclose(second, moved[name].mean(), rtol=0.01)


def test_the_page_shows_how_means_move(inldl, holes, tmp_path):
    labels, _ = holes
    asked = ("complete", "survey.csv", "-l", ",".join(labels), "-m", "winldl", "-o", "o.csv")
    code, _, error = inldl(*asked, "--delta", f"{labels[0]}=-50%", "--page", "page.html")
    assert code == 0, error
    page = Document((tmp_path / "page.html").read_text())
    assert "If missing shares differ" in page.text
    assert "The known shares of each label (grey)" in page.text
    case = f"{labels[0]} -50%"
    [table] = [table for table in page.tables if case in table[0]]
    assert table[0] == ["label", "as filled in", case]
    before, after = zip(*(map(float, row[1:]) for row in table[1:]), strict=True)
    assert after[0] < before[0]
    assert np.isclose(sum(before), sum(after), atol=0.01)
    assert any("cannot be drawn" in text for text in page.texts) is False


def test_a_label_without_holes_changes_nothing(inldl, shares, tmp_path):
    told = complete(inldl, "--delta", "c=+50%")
    assert "No share of 'c' is missing, so --delta changes none." in told
    moved = pd.read_csv(tmp_path / "out.csv")
    complete(inldl, out="plain.csv")
    pd.testing.assert_frame_equal(moved, pd.read_csv(tmp_path / "plain.csv"))


def test_departures_are_checked_before_anything_is_fitted(inldl, shares, tmp_path):
    asked = ("complete", "shares.csv", "-l", ",".join(LABELS), "-o", "out.csv", "--delta")
    for delta, problem in (("z=+1%", "No label"), ("a=-150%", "take away 100% at most")):
        code, told, error = inldl(*asked, delta)
        assert code == 1
        assert problem in error
        assert told == ""
    assert not (tmp_path / "out.csv").exists()


def test_joint_intervals_are_wider_and_said_so(tmp_path, inldl):
    rng = np.random.default_rng(0)
    y = pd.DataFrame(rng.dirichlet([3, 2, 1, 1], 50).round(4), columns=list("abcd"))
    y.iloc[:, -1] = (1 - y.iloc[:, :-1].sum(axis=1)).round(4)
    y.mask(rng.random(y.shape) < 0.4).to_csv("t.csv", index=False)
    how = ("complete", "t.csv", "-l", "a,b,c,d", "-m", "winldl", "--uncertainty", "0.8")
    assert inldl(*how, "-o", "single.csv")[0] == 0
    assert inldl(*how, "-o", "joint.csv", "--joint", "--page", "page.html")[0] == 0
    widths = [
        (table["a_high"] - table["a_low"]).sum()
        for table in map(pd.read_csv, ("joint.csv", "single.csv"))
    ]
    assert widths[0] > 1.05 * widths[1]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "in about 80% of the rows all contain the true shares" in page
    code, _, words = inldl("complete", "t.csv", "-l", "a,b,c,d", "-o", "x.csv", "--joint")
    assert code != 0
    assert "--joint makes intervals wider; ask for some with --uncertainty 0.9." in words


def test_a_share_that_a_departure_takes_away_is_not_exact(tmp_path, inldl):
    """A small share gives way to a large one; its interval is as wide as it was, down to 0."""
    rng = np.random.default_rng(0)
    y = pd.DataFrame(rng.dirichlet([80, 1, 15], 60).round(4), columns=list("abc"))
    y["c"] = (1 - y["a"] - y["b"]).round(4)
    y.loc[:20, ["a", "b"]] = np.nan
    y.to_csv("t.csv", index=False)
    how = ("complete", "t.csv", "-l", "a,b,c", "-m", "winldl", "--uncertainty", "0.9")
    assert inldl(*how, "-o", "d.csv", "--delta", "a=+10%")[0] == 0
    found = pd.read_csv("d.csv")[:21]
    assert (found["b"] == 0).all()
    assert (found["b_high"] > found["b_low"]).all()
