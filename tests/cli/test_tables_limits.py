"""Tables with cells such as <5, with a column of totals, and with sums of labels."""

import numpy as np
import pandas as pd
import pytest

LABELS = ["a", "b", "c", "d"]


def counts_of(n=59):
    """Return a feature, four counts that depend on it, and their total."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    shares = np.exp(np.outer(x, [0.5, -0.5, 0, 0.2]) + np.array([0, 0.5, -1.5, -2]))
    shares /= shares.sum(axis=1, keepdims=True)
    total = rng.integers(40, 120, n)
    counts = np.array([rng.multinomial(*each) for each in zip(total, shares, strict=True)])
    return pd.DataFrame({"x": x.round(3)} | dict(zip(LABELS, counts.T, strict=True))), total


@pytest.fixture
def counts(tmp_path):
    """Write counts of which those below 5 are suppressed, and return the whole ones."""
    whole, total = counts_of()
    told = whole.astype(dict.fromkeys(LABELS, object))
    for name in LABELS:
        told[name] = whole[name].astype(str).where(whole[name] >= 5, "<5")
    told.assign(n=total).to_csv(tmp_path / "counts.csv", index=False)
    return whole.assign(n=total)


@pytest.fixture
def holes(tmp_path):
    """Write counts of which some are missing, and return the whole ones."""
    whole, total = counts_of()
    missing = np.random.default_rng(0).random((len(whole), 4)) < 0.3
    table = whole.assign(n=total)
    table[LABELS] = whole[LABELS].astype("Int64").mask(missing)
    table.to_csv(tmp_path / "holes.csv", index=False)
    return whole.assign(n=total), missing


def test_counts_with_holes_are_completed_to_their_total(inldl, holes, tmp_path):
    whole, missing = holes
    asked = ("holes.csv", "-l", "a,b,c,d", "--total", "n", "-m", "winldl")
    code, told, error = inldl(
        "complete", *asked, "-o", "out.csv", "--filled-columns", "--uncertainty", "0.8"
    )
    assert code == 0, error
    assert "The shares are read as counts: shares of the total in column 'n'." in told
    out = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(out[LABELS].sum(axis=1), out["n"], atol=1e-8)
    np.testing.assert_array_equal(
        out[LABELS].to_numpy()[~missing], whole[LABELS].to_numpy()[~missing]
    )
    np.testing.assert_array_equal(out[[f"{name}_filled" for name in LABELS]], missing)
    low, high = (out[f"a_{end}"][missing[:, 0]] for end in ("low", "high"))
    assert (low <= out["a"][missing[:, 0]] + 1e-6).all()
    assert (high >= out["a"][missing[:, 0]] - 1e-6).all()
    assert high.max() > 1  # in counts
    code, _, error = inldl("complete", *asked, "-o", "whole.csv", "--whole", "--draws", "2")
    assert code == 0, error
    for name in ("whole.csv", "whole-draw1.csv", "whole-draw2.csv"):
        out = pd.read_csv(tmp_path / name)
        assert (out.dtypes[LABELS] == "int64").all()
        np.testing.assert_array_equal(out[LABELS].sum(axis=1), out["n"])


def test_a_model_of_counts_completes_other_counts(inldl, holes):
    asked = ("holes.csv", "--total", "n")
    code, told, error = inldl("fit", *asked, "-l", "a,b,c,d", "-o", "m.inldl", "-m", "winldl")
    assert code == 0, error
    assert "'n' " not in told
    code, told, error = inldl("complete", *asked, "--model", "m.inldl", "-o", "out.csv")
    assert code == 0, error
    assert "shares of the total in column 'n'" in told
    code, told, error = inldl("evaluate", "m.inldl", *asked)
    assert code == 0, error
    code, _, error = inldl("complete", "holes.csv", "--model", "m.inldl", "-o", "other.csv")
    assert code == 1
    assert "--total COLUMN" in error or "--scale" in error


def test_whole_numbers_need_a_total(inldl, holes):
    code, _, error = inldl("complete", "holes.csv", "-l", "a,b,c,d", "-o", "o.csv", "--whole")
    assert code == 1
    assert "name its column (--total" in error


def test_suppressed_counts_are_completed_within_their_bounds(inldl, counts, tmp_path):
    asked = ("counts.csv", "-l", "a,b,c,d", "--total", "n", "-m", "winldl")
    code, told, error = inldl("complete", *asked, "-o", "out.csv", "--filled-columns", "--whole")
    assert code == 0, error
    hidden = (counts[LABELS] < 5).to_numpy()
    number = hidden.sum()
    assert f"{number} cells such as '<5' are read as bounds: between 0 and 4." in told
    assert "All of them had bounds, and lie within these." in told
    out = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_array_equal(out[LABELS].sum(axis=1), counts["n"])
    assert out[LABELS].to_numpy()[hidden].max() <= 4
    np.testing.assert_array_equal(
        out[LABELS].to_numpy()[~hidden], counts[LABELS].to_numpy()[~hidden]
    )
    np.testing.assert_array_equal(out[[f"{name}_filled" for name in LABELS]], 2 * hidden)


def test_draws_and_intervals_stay_within_bounds(inldl, counts, tmp_path):
    asked = ("counts.csv", "-l", "a,b,c,d", "--total", "n", "-m", "winldl", "--uncertainty", "0.9")
    code, _, error = inldl("complete", *asked, "-o", "out.csv", "--draws", "3")
    assert code == 0, error
    hidden = (counts[LABELS] < 5).to_numpy()
    for name in ("out.csv", "out-draw1.csv", "out-draw2.csv", "out-draw3.csv"):
        out = pd.read_csv(tmp_path / name)[LABELS].to_numpy()
        assert out[hidden].max() <= 4
        assert out[hidden].min() >= 0
        np.testing.assert_allclose(out.sum(axis=1), counts["n"], atol=1e-8)
    ends = pd.read_csv(tmp_path / "out.csv")[[f"{name}_high" for name in LABELS]].to_numpy()
    assert np.nanmax(ends[hidden]) <= 4 + 1e-6


def test_sums_of_labels_are_kept(inldl, tmp_path):
    whole, total = counts_of()
    table = whole.copy()
    table[LABELS] = (100 * whole[LABELS].div(total, axis=0)).round(3)
    table["b"] = (100 - table[["a", "c", "d"]].sum(axis=1)).round(3)
    table["cd"] = (table["c"] + table["d"]).round(3)
    together = np.random.default_rng(1).random(len(table)) < 0.5
    table.loc[together, ["c", "d"]] = np.nan
    table.to_csv(tmp_path / "sums.csv", index=False)
    asked = ("sums.csv", "-l", "a,b,c,d", "--sum", "cd=c,d", "-m", "winldl", "-o", "out.csv")
    code, told, error = inldl("complete", *asked, "--draws", "1")
    assert code == 0, error
    for name in ("out.csv", "out-draw1.csv"):
        out = pd.read_csv(tmp_path / name)
        np.testing.assert_allclose(out["c"] + out["d"], out["cd"], atol=1e-8)
    assert "'cd'" not in told
    code, _, error = inldl(*("complete", *asked[:-1], "o.csv"), "--sum", "x=d,b")
    assert code == 1
    assert "The label 'd' is part of two sums" in error


def test_contradictions_are_told_with_their_line(inldl, tmp_path):
    (tmp_path / "t.csv").write_text("x,a,b,c\n1,50,40,10\n2,80,<5,5\n3,20,30,50\n")
    for command in ("fit", "complete"):
        code, _, error = inldl(command, "t.csv", "-l", "a,b,c", "-o", f"o.{command}.csv")
        assert code == 1
        assert "Line 3: the cells of the row" in error
        assert "Traceback" not in error


def test_inspect_counts_bounded_cells(inldl, counts, tmp_path):
    asked = ("counts.csv", "-l", "a,b,c,d", "--total", "n")
    code, told, error = inldl("inspect", *asked, "--page", "page.html")
    assert code == 0, error
    number = (counts[LABELS] < 5).to_numpy().sum()
    assert f"{number} of these cells have bounds" in told
    assert "bounded" in told
    assert f"Missing shares with bounds, such as <5: {number} ('a', 'c', 'd')." in told
    assert "Shares are fractions of the total of their row." in told
    assert "bounds" in (tmp_path / "page.html").read_text()


def test_inspect_names_rows_that_their_bounds_forbid(inldl, tmp_path):
    rows = ["50,40,10", "80,<5,5", "60,>60,", "90,<5,", "30,20,50"]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *rows, ""]))
    code, told, error = inldl("inspect", "t.csv", "-l", "a,b,c")
    assert code == 0, error
    problem = "Rows with bounds that do not let them sum to 100 (1 of 5):"
    assert f"{problem} Line 3 (sum 90); correct the bounds or the known shares." in told
    assert f"{problem} Line 4 (sum 120);" in told


def test_compare_and_evaluate_use_bounds(inldl, counts):
    asked = ("counts.csv", "--total", "n")
    code, told, error = inldl("compare", *asked, "-l", "a,b,c,d", "--methods", "winldl")
    assert code == 0, error
    assert "without the bounds" not in told
    code, _, error = inldl("fit", *asked, "-l", "a,b,c,d", "-o", "m.inldl", "-m", "winldl")
    assert code == 0, error
    code, told, error = inldl("evaluate", "m.inldl", *asked)
    assert code == 0, error
    number = (counts[LABELS] < 5).to_numpy().sum()
    assert f"{number} cells with bounds, such as <5, did not count." in told
    assert "of their predictions lie within the bounds." in told


def test_compare_says_that_it_leaves_bounds_out_where_sums_vary(inldl, tmp_path):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([4, 3, 2], 30) * rng.uniform(90, 100, (30, 1))
    rows = [f"{a + b:.2f},{a:.1f},{b:.1f},{c:.1f}" for a, b, c in shares]
    rows[3] = "70.5,60.0,<20,<20"
    (tmp_path / "t.csv").write_text("\n".join(["x,a,b,c", *rows, ""]))
    asked = ("t.csv", "-l", "a,b,c", "--normalize", "--methods", "winldl")
    code, told, error = inldl("compare", *asked)
    assert code == 0, error
    assert "Methods are compared without the bounds of missing shares" in told


def test_rows_of_no_weight_take_their_bounds_along(inldl, counts, tmp_path):
    table = pd.read_csv(tmp_path / "counts.csv", dtype=str)
    weight = np.where(np.arange(len(table)) % 7 == 0, 0, 1)
    table.assign(w=weight).to_csv(tmp_path / "weighted.csv", index=False)
    table[weight > 0].to_csv(tmp_path / "fewer.csv", index=False)
    asked = ("-l", "a,b,c,d", "--total", "n", "-m", "winldl", "-o")
    code, _, error = inldl("complete", "weighted.csv", *asked, "a.csv", "--weight", "w")
    assert code == 0, error
    code, _, error = inldl("complete", "fewer.csv", *asked, "b.csv")
    assert code == 0, error
    found, expected = (pd.read_csv(tmp_path / name)[LABELS] for name in ("a.csv", "b.csv"))
    np.testing.assert_allclose(found[weight > 0], expected, atol=1e-5)
    assert len(counts) == len(found)


def test_votes_are_totals(inldl, counts):
    asked = ("counts.csv", "-l", "a,b,c,d", "--total", "n", "-m", "winldl", "--votes")
    code, _, error = inldl("complete", *asked, "-o", "out.csv")
    assert code == 0, error


@pytest.fixture
def stars(tmp_path):
    """Write counts with a star for 1 to 4 and a dash for 0, and return the whole ones."""
    whole, total = counts_of(90)
    counts = whole[LABELS]
    told = counts.astype(str).mask(counts < 5, "*").mask(counts == 0, "-")
    whole[["x"]].join(told).assign(n=total).to_csv(tmp_path / "stars.csv", index=False)
    return whole.assign(n=total)


def test_every_command_knows_what_signs_stand_for(inldl, stars, tmp_path):
    counts = stars[LABELS].to_numpy()
    hidden, zero = (counts > 0) & (counts < 5), counts == 0
    marked = ("stars.csv", "--total", "n", "--mark", "*=1-4,-=0")
    bounds = f"{hidden.sum()} cells such as '*' are read as bounds: between 1 and 4."
    zeros = f"'-' is read as 0 in {zero.sum()} cells."
    new = ("-l", "a,b,c,d", "-m", "winldl")
    told = {}
    for command, *more in (
        ("inspect", *marked, *new[:2]),
        ("fit", *marked, *new, "-o", "m.inldl"),
        ("complete", *marked, *new, "-o", "out.csv", "--filled-columns", "--whole"),
        ("ask", *marked, *new, "-o", "ask.csv"),
        ("compare", *marked, *new[:2], "--methods", "winldl,ridge"),
        ("evaluate", "m.inldl", *marked),
        ("complete", *marked, "--model", "m.inldl", "-o", "other.csv"),
    ):
        code, told[command], error = inldl(command, *more)
        assert code == 0, error
        assert zeros in told[command]
        assert "if it stands for" not in told[command]
        assert bounds in told[command] or command in ("compare", "evaluate", "complete")
    cells = pd.read_csv(tmp_path / "out.csv", dtype=str)
    filled = cells[LABELS].to_numpy()
    assert (filled[zero] == "-").all()
    assert set(filled[hidden]) <= set("1234")
    np.testing.assert_array_equal(
        cells[[f"{name}_filled" for name in LABELS]].astype(float), 2 * hidden
    )


def test_open_signs_are_asked_about_once(inldl, stars):
    plain = ("stars.csv", "--total", "n")
    new = ("-l", "a,b,c,d", "-m", "winldl")
    dash, star = 'if it stands for 0, say --mark "-=0"', 'if it stands for 1-4, say --mark "*=1-4"'
    assert inldl("fit", *plain, *new, "-o", "m.inldl")[1].count(star) == 1
    for command in (
        ("inspect", *plain, *new[:2]),
        ("complete", *plain, *new, "-o", "out.csv"),
        ("compare", *plain, *new[:2], "--methods", "winldl,ridge"),
        ("evaluate", "m.inldl", *plain),
        ("complete", *plain, "--model", "m.inldl", "-o", "other.csv"),
        ("ask", *plain, *new, "-o", "ask.csv"),
    ):
        code, told, error = inldl(*command)
        assert code == 0, error
        assert (told.count(dash), told.count(star)) == (1, 1), command


def test_a_mark_without_a_meaning_is_refused(inldl, stars):
    code, _, error = inldl("inspect", "stars.csv", "-l", "a,b,c,d", "--mark", "*")
    assert code == 1
    assert "'*' in mark (--mark) has no meaning; write " in error
