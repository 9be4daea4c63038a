"""Tables of counts, with and without totals, from the command line."""

import re

import numpy as np
import pandas as pd
import pytest

NAMES = ["young", "old", "very_old", "unknown"]


@pytest.fixture
def counts():
    """Return whole counts with a column of totals; the last label is nearly always 0."""
    rng = np.random.default_rng(0)
    totals, size = rng.integers(5, 60, 40), rng.normal(size=40).round(2)
    shares = rng.dirichlet([5, 3, 1, 0.2], 40)
    found = [rng.multinomial(n, p) for n, p in zip(totals, shares, strict=True)]
    frame = pd.DataFrame(found, columns=NAMES).astype(float)
    frame.insert(0, "area", [f"A{i:02}" for i in range(40)])
    return frame.assign(size=size, persons=totals)


def holed(frame, share=0.3):
    hidden = np.random.default_rng(1).random((len(frame), len(NAMES))) < share
    hidden[:5] = False
    return frame.assign(**frame[NAMES].mask(hidden))


def test_whole_numbers_have_no_minus_in_front_of_0(inldl, tmp_path, counts):
    holed(counts).to_csv(tmp_path / "c.csv", index=False)
    options = ("-l", ",".join(NAMES), "--total", "persons", "-m", "winldl")
    assert inldl("complete", "c.csv", *options, "-o", "w.csv", "--whole")[0] == 0
    written = pd.read_csv(tmp_path / "w.csv", dtype=str)[NAMES]
    assert not written.apply(lambda column: column.str.startswith("-")).any(axis=None)
    assert (written == "0").any(axis=None)  # filled in; those of the file are 0.0


def test_counts_are_predicted_where_new_rows_have_totals(inldl, tmp_path, counts):
    counts.to_csv(tmp_path / "c.csv", index=False)
    new = counts.drop(columns=NAMES).astype({"persons": float})
    new.loc[3, "persons"] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    new.drop(columns="persons").to_csv(tmp_path / "bare.csv", index=False)
    options = ("-l", ",".join(NAMES), "--total", "persons", "-m", "winldl")
    assert inldl("fit", "c.csv", *options, "-o", "m.inldl")[0] == 0
    code, out, _ = inldl("predict", "m.inldl", "new.csv", "-o", "p.csv", "--uncertainty", "0.9")
    assert code == 0
    assert "Predicted counts are shares of the total in column 'persons'." in out
    found = pd.read_csv(tmp_path / "p.csv")
    known = found["persons"].notna()
    np.testing.assert_allclose(found[NAMES].sum(axis=1)[known], found["persons"][known])
    assert (found["old_high"] <= found["persons"])[known].all()
    assert found.loc[3, NAMES].isna().all()
    _, out, _ = inldl("predict", "m.inldl", "bare.csv", "-o", "b.csv")
    assert "There is no column 'persons', so the shares are fractions of the total." in out
    shares = pd.read_csv(tmp_path / "b.csv")[NAMES]
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-8)
    np.testing.assert_allclose(found[NAMES].iloc[0] / found["persons"][0], shares.iloc[0])


def test_the_total_of_a_new_row_must_be_a_number(inldl, tmp_path, counts):
    counts.to_csv(tmp_path / "c.csv", index=False)
    options = ("-l", ",".join(NAMES), "--total", "persons", "-m", "winldl", "-o", "m.inldl")
    assert inldl("fit", "c.csv", *options)[0] == 0
    text = (tmp_path / "c.csv").read_text().splitlines()
    text[2] = text[2].rpartition(",")[0] + ",many"
    (tmp_path / "bad.csv").write_text("\n".join(text))
    code, _, err = inldl("predict", "m.inldl", "bad.csv", "-o", "p.csv")
    assert code == 1
    assert err == (
        "inldl: Column 'persons' has 'many' in line 3, which is not a total; give a number of 0 "
        "or more, or leave it empty.\n"
    )


def test_a_comparison_says_how_long_it_took(inldl, tmp_path, counts):
    counts.to_csv(tmp_path / "c.csv", index=False)
    options = ("-l", ",".join(NAMES), "--total", "persons", "--methods", "ridge")
    _, _, err = inldl("compare", "c.csv", *options)
    assert re.search(r"Seconds are of one fit; all 16 fits .* took \d+ seconds\.", err)


def test_help_begins_with_five_examples_and_the_columns(inldl):
    _, out, _ = inldl("complete", "--help")
    parts = ["Examples", "Arguments", "--out", "Which columns are used", "The shares, and how"]
    parts += ["What is written", "How the file is written", "More"]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)
    assert out[: places[1]].count("inldl complete ") == 6  # one is the usage


def without_totals(tmp_path, counts, share=0.3):
    """Write counts with holes and without their totals; return where they are."""
    given = holed(counts, share).drop(columns="persons")
    some = given[NAMES].notna().any(axis=1)
    given[some].to_csv(tmp_path / "c.csv", index=False)
    return given[some], counts[some]


RUN = ("complete", "c.csv", "-l", ",".join(NAMES), "-o", "w.csv", "-m", "winldl")


def test_a_count_without_a_total_is_refused_with_the_ways_out(inldl, tmp_path, counts):
    without_totals(tmp_path, counts)
    code, _, err = inldl(*RUN)
    assert code == 1
    for way in ("--total COLUMN", "--total none", "--scale", "--other NAME"):
        assert way in err


def test_counts_without_totals_follow_from_the_others_of_their_row(inldl, tmp_path, counts):
    given, truth = without_totals(tmp_path, counts)
    code, out, err = inldl(*RUN, "--total", "none", "--whole", "--uncertainty", "0.9")
    assert code == 0, err
    n_rows = given[NAMES].isna().any(axis=1).sum()
    assert f"Rows in which a count is missing: {n_rows}. Their totals are not known" in out
    assert re.search(
        r"Expected error: [\d.]+ counts \(using column means: [\d.]+\), the mean", out
    )
    found = pd.read_csv(tmp_path / "w.csv")
    holes = given[NAMES].isna().to_numpy()
    values = found[NAMES].to_numpy()
    np.testing.assert_array_equal(values[~holes], truth[NAMES].to_numpy()[~holes])
    assert (values == np.rint(values)).all()
    assert (values >= 0).all()
    low, high = (found[[f"{name}_{end}" for name in NAMES]].to_numpy() for end in ("low", "high"))
    inside = (low <= truth[NAMES].to_numpy()) & (truth[NAMES].to_numpy() <= high)
    assert inside[holes].mean() > 0.75  # of about fifty
    assert np.isnan(low[~holes]).all()


def test_a_model_of_counts_without_totals_completes_other_rows(inldl, tmp_path, counts):
    without_totals(tmp_path, counts)
    options = ("-l", ",".join(NAMES), "--total", "none", "-m", "winldl", "-o", "m.inldl")
    assert inldl("fit", "c.csv", *options)[0] == 0
    assert inldl(*RUN, "--total", "none")[0] == 0
    again = ("complete", "c.csv", "--model", "m.inldl", "-o", "w2.csv", "--total", "none")
    code, _, err = inldl(*again)
    assert code == 0, err
    columns = pd.read_csv(tmp_path / "w.csv")[NAMES], pd.read_csv(tmp_path / "w2.csv")[NAMES]
    np.testing.assert_allclose(*columns, rtol=1e-5)


REFUSED = {
    "draws": (
        ("--draws", "2"),
        r"With --total none there are no draws, .* leave out --joint, --r",
    ),
    "sums": (("--sum", "persons=young,old"), "--sum and --total none exclude each other"),
    "ratios": (("--ratios",), "--ratios and --total none exclude each other"),
    "method": (("-m", "ridge"), "ridge cannot learn from ratios alone; use one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_needs_totals_is_refused_without(inldl, tmp_path, counts, case):
    holed(counts).to_csv(tmp_path / "c.csv", index=False)
    options, problem = REFUSED[case]
    code, _, err = inldl(*RUN, "--total", "none", *options)
    assert code == 1
    assert re.search(problem, err)


def test_a_row_without_a_known_count_is_refused(inldl, tmp_path, counts):
    given, _ = without_totals(tmp_path, counts)
    given.iloc[7, given.columns.get_indexer(NAMES)] = np.nan
    given.to_csv(tmp_path / "c.csv", index=False)
    code, _, err = inldl(*RUN, "--total", "none")
    assert code == 1
    assert "Line 9: no count (columns 'young' to 'unknown') is known, so nothing says how" in err


def test_numbers_that_are_not_whole_are_no_counts_without_totals(inldl, tmp_path, counts):
    given, _ = without_totals(tmp_path, counts)
    given.assign(**given[NAMES] / 8).to_csv(tmp_path / "c.csv", index=False)
    code, _, err = inldl(*RUN, "--total", "none")
    assert code == 1
    assert "--total none is for whole counts, but some numbers are not whole;" in err


def test_methods_are_not_compared_on_counts_without_totals(inldl, tmp_path, counts):
    without_totals(tmp_path, counts)
    code, _, err = inldl("compare", "c.csv", "-l", ",".join(NAMES), "--total", "none")
    assert code == 1
    assert "which takes more than ratios" in err


def test_what_labels_leave_of_their_total_is_a_label(inldl, tmp_path, counts):
    counts.drop(columns="old").to_csv(tmp_path / "c.csv", index=False)
    frame = pd.read_csv(tmp_path / "c.csv")
    frame.loc[3:6, "young"] = np.nan
    frame.to_csv(tmp_path / "c.csv", index=False)
    labels = ("-l", "young,very_old,unknown", "--total", "persons", "--other", "old")
    run = ("complete", "c.csv", *labels, "-o", "w.csv", "-m", "ridge", "--whole")
    code, out, err = inldl(*run)
    assert code == 0, err
    assert "The label 'old' is what the other labels leave of the total of its row." in out
    found = pd.read_csv(tmp_path / "w.csv")
    assert list(found) == [*frame, "old"]
    rest = np.delete(np.arange(len(frame)), range(3, 7))
    np.testing.assert_array_equal(found["old"][rest], counts["old"][rest])
    np.testing.assert_array_equal(found[NAMES].sum(axis=1), found["persons"])


def test_what_labels_leave_of_100_is_a_label(inldl, tmp_path, counts):
    shares = (100 * counts[NAMES].div(counts["persons"], axis=0)).round(2)
    frame = shares[["young", "very_old"]].assign(size=counts["size"])
    frame.loc[5, "young"] = np.nan
    frame.to_csv(tmp_path / "c.csv", index=False)
    labels = ("-l", "young,very_old", "--other", "rest", "-m", "ridge")
    more = ("--uncertainty", "0.9", "--filled-columns")
    code, out, err = inldl("complete", "c.csv", *labels, "-o", "w.csv", *more)
    assert code == 0, err
    assert "is what the other labels leave of 100. If they are counts, name their total" in out
    found = pd.read_csv(tmp_path / "w.csv")
    np.testing.assert_allclose(found[["young", "very_old", "rest"]].sum(axis=1), 100)
    assert found["rest_filled"].tolist() == [int(i == 5) for i in range(len(frame))]
    assert found["rest_low"][5] <= found["rest"][5] <= found["rest_high"][5]
    assert inldl("fit", "c.csv", *labels, "-o", "m.inldl")[0] == 0
    again = ("complete", "c.csv", "--model", "m.inldl", "-o", "w2.csv", "--other", "rest")
    code, _, err = inldl(*again)
    assert code == 0, err
    np.testing.assert_allclose(pd.read_csv(tmp_path / "w2.csv")["rest"], found["rest"], atol=1e-5)


OTHERS = {
    "taken": (("--other", "size"), "There is a column 'size' already; give --other another name."),
    "unknown": (("--other", "rest", "--total", "none"), "What the labels leave is not known"),
    "counts": (("--other", "rest"), r"since rows sum to up to \d+; name the column of their tot"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_labels_leave_must_be_known_and_have_a_name(inldl, tmp_path, counts, case):
    counts.assign(young=1000 + counts["young"]).to_csv(tmp_path / "c.csv", index=False)
    options, problem = OTHERS[case]
    code, _, err = inldl(*RUN, *options)
    assert code == 1
    assert re.search(problem, err)
