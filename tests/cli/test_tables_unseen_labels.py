"""A label of which no share is known is completed from the sums of the rows."""

import numpy as np
import pandas as pd
import pytest

LABELS = list("abcde")
RUN = ("-l", "a,b,c,d,e", "-o", "w.csv", "-m", "ridge", "--uncertainty", "0.9")


@pytest.fixture
def shares():
    """Return complete shares, of which the last one is small."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=150)
    scores = np.array([1.2, 1, 0.8, 0.9, -1.5]) + np.outer(x, [0.5, -0.4, 0, 0.1, 0.2])
    y = np.exp(scores + rng.normal(size=(150, 5)) * 0.35)
    y = np.round(y / y.sum(axis=1, keepdims=True), 4)
    y[:, 0] = np.round(1 - y[:, 1:].sum(axis=1), 4)
    return pd.DataFrame(y, columns=LABELS).assign(x=x.round(3))


def complete(inldl, tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = inldl("complete", "t.csv", *RUN)
    assert code == 0, err
    return out, pd.read_csv(tmp_path / "w.csv")


def inside(found, truth, label, rows):
    low, high = (found[f"{label}_{end}"][rows] for end in ("low", "high"))
    return ((low - 1e-6 <= truth[label][rows]) & (truth[label][rows] <= high + 1e-6)).mean()


def test_only_the_two_largest_are_given(inldl, tmp_path, shares):
    ranks = shares[LABELS].rank(axis=1, ascending=False, method="first")
    given = shares.assign(**shares[LABELS].where(ranks <= 2))
    assert given["e"].isna().all()
    out, found = complete(inldl, tmp_path, given)
    assert (
        "No share of 'e' is known. It gets a part of what the known shares of its row leave; "
        "where others are missing, too, that is a guess between the ends of --range."
    ) in out
    assert "The error cannot be estimated" in out
    np.testing.assert_allclose(found[LABELS].sum(axis=1), 1, atol=1e-9)
    smallest = given[LABELS].min(axis=1)
    assert (found["e"] <= smallest + 1e-6).all()
    for label in LABELS:
        assert inside(found, shares, label, given[label].isna()) >= 0.9
    assert (found["e_low"] == 0).all()


def test_sums_of_rows_with_other_holes_tell_its_size(inldl, tmp_path, shares):
    hidden = np.random.default_rng(0).random((150, 5)) < [0.3, 0.3, 0.3, 0.3, 1]
    given = shares.assign(**shares[LABELS].mask(hidden))
    _, found = complete(inldl, tmp_path, given)
    assert found["e"].mean() == pytest.approx(shares["e"].mean(), abs=0.01)
    unsure = given[LABELS].isna().sum(axis=1) > 1
    assert inside(found, shares, "e", unsure) >= 0.75
    assert (found["e"] - shares["e"])[unsure].abs().mean() < 0.008  # a single guess has 0.013


def test_a_label_that_alone_is_missing_is_the_rest(inldl, tmp_path, shares):
    out, found = complete(inldl, tmp_path, shares.assign(e=np.nan))
    assert "It gets what the known shares of its row leave to it." in out
    np.testing.assert_allclose(found["e"], shares["e"], atol=1e-9)


@pytest.mark.parametrize("method", ["ridge", "winldl"])
def test_of_two_labels_without_any_share_only_the_sum_is_known(inldl, tmp_path, shares, method):
    shares.assign(d=np.nan, e=np.nan).to_csv(tmp_path / "t.csv", index=False)
    code, out, err = inldl("complete", "t.csv", *RUN[:4], "-m", method, "--uncertainty", "0.9")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "w.csv")
    assert (
        "No share of 'd', 'e' is known. Only their sum in a row is: the parts of each are guesses "
        "between the ends of --range."
    ) in out
    assert (
        "The error cannot be estimated: no share of 'd', 'e' is known, so none can be hidden to "
        "try it."
    ) in out
    rest = 1 - shares[["a", "b", "c"]].sum(axis=1)
    for label in "de":
        np.testing.assert_allclose(found[f"{label}_low"], 0)
        np.testing.assert_allclose(found[f"{label}_high"], rest, atol=1e-6)
        np.testing.assert_allclose(found[label], rest / 2, atol=1e-6)


def test_guesses_are_learned_for_a_panel_no_more_than_for_other_rows(inldl, tmp_path, shares):
    panel = shares.assign(unit=np.arange(150) // 10, year=np.arange(150) % 10, d=np.nan, e=np.nan)
    panel.drop(columns="x").to_csv(tmp_path / "t.csv", index=False)
    where = "--unit", "unit", "--time", "year"
    code, out, err = inldl("complete", "t.csv", *RUN[:4], "--uncertainty", "0.9", *where)
    assert code == 0, err
    assert "The error cannot be estimated: no share of 'd', 'e' is known" in out
    found = pd.read_csv(tmp_path / "w.csv")
    np.testing.assert_allclose(found["e_high"], 1 - shares[["a", "b", "c"]].sum(axis=1), atol=1e-6)


def test_commands_agree_on_a_label_without_any_share(inldl, tmp_path, shares):
    shares.assign(d=np.nan, e=np.nan).to_csv(tmp_path / "t.csv", index=False)
    labels = RUN[:2]
    assert inldl("fit", "t.csv", *labels, "-o", "m.inldl", "-m", "winldl")[0] == 0
    code, out, err = inldl("predict", "m.inldl", "t.csv", "-o", "p.csv")
    assert code == 0, err
    assert "No share of 'd', 'e' was known in the fit: its predictions are guesses." in out
    found = pd.read_csv(tmp_path / "p.csv")
    means = found[["d_predicted", "e_predicted"]].mean()
    rest = 1 - shares[["a", "b", "c"]].sum(axis=1).mean()
    np.testing.assert_allclose(means, rest / 2, atol=0.02)
    _, out, _ = inldl("inspect", "t.csv", *labels)
    assert "No share of 'd' is known: inldl complete can only guess it" in out
    _, _, err = inldl("compare", "t.csv", *labels)
    assert "No share of 'd' is known, so no method can be judged by it; leave it out" in err


@pytest.mark.parametrize("option", [("--total", "none"), ("--ratios",)])
def test_without_totals_nothing_says_how_large_a_label_is(inldl, tmp_path, shares, option):
    counts = (shares[LABELS] * 100).round().assign(x=shares["x"], a=np.nan)
    counts.loc[3, "b"] = np.nan
    if option == ("--ratios",):
        counts[LABELS] = counts[LABELS].div(counts[LABELS].sum(axis=1), axis=0)
    counts.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = inldl("complete", "t.csv", *RUN[:4], *option)
    assert code == 1
    assert (
        "No number of 'a' is known, and totals of rows are not known, so nothing says how large "
        "it is; drop it, or name a total (--total)."
    ) in err
