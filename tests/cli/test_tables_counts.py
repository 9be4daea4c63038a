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
    _, out, _ = inldl("compare", "c.csv", *options)
    assert re.search(r"Seconds are those of one fit; the 16 fits of .* took \d+ seconds\.", out)


def test_help_begins_with_five_examples_and_the_columns(inldl):
    _, out, _ = inldl("complete", "--help")
    parts = ["Examples", "Arguments", "--out", "Which columns are used", "The shares, and how"]
    parts += ["What is written", "How the file is written", "More"]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)
    assert out[: places[1]].count("inldl complete ") == 6  # one is the usage
