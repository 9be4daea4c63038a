"""`--ratios`: tables whose missing labels were dropped and the others rescaled to the whole."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.datasets import make_distributions
from inldl.files import load_model

LABELS = ["a", "b", "c"]
FIT = ("-l", "a,b,c", "-m", "winldl")


@pytest.fixture
def tables(tmp_path):
    X, truth = make_distributions(55, random_state=0)
    given = hide(truth, 0.4, renormalise=True, random_state=1).round(6)
    table = pd.DataFrame(np.column_stack([X[:, 0], given]), columns=["x", *LABELS])
    table.to_csv(tmp_path / "ratios.csv", index=False)
    return tmp_path / "ratios.csv", given, truth


def test_inspect_names_the_option(tables, inldl):
    code, words, _ = inldl("inspect", tables[0], "-l", "a,b,c")
    assert code == 0
    assert "complete it with --ratios" in words
    assert "without that every missing share becomes 0" in words


def test_complete_without_it_says_what_that_means(tables, inldl):
    code, words, _ = inldl("complete", tables[0], "-o", "whole.csv", *FIT)
    assert code == 0
    assert "complete it with --ratios" in words


def test_complete(tables, inldl):
    path, given, truth = tables
    code, words, errors = inldl(
        "complete", path, "-o", "whole.csv", *FIT, "--ratios", "--filled-columns"
    )
    assert code == 0, errors
    assert "their ratios stay as they are" in words
    assert "The error cannot be estimated: only ratios of known shares are given." in words
    assert "Error of ratios: " in words
    found = pd.read_csv("whole.csv")
    shares, holes = found[LABELS].to_numpy(), np.isnan(given)
    whole = ~holes.any(axis=1)
    np.testing.assert_allclose(shares[~whole].sum(axis=1), 1, atol=1e-9)
    np.testing.assert_array_equal(shares[whole], given[whole])
    known = np.where(holes, 0, shares)
    np.testing.assert_allclose(
        known, np.nan_to_num(given) * known.sum(axis=1, keepdims=True), atol=2e-6
    )
    np.testing.assert_array_equal(found[[f"{name}_filled" for name in LABELS]], holes)
    assert np.abs(shares - truth)[holes].mean() < 0.12


def test_a_model_remembers_it(tables, inldl):
    code, words, errors = inldl("fit", tables[0], "-o", "m.inldl", *FIT, "--ratios")
    assert code == 0, errors
    assert "Error of ratios" in words
    assert load_model("m.inldl").known == "ratios"
    assert inldl("complete", tables[0], "-o", "one.csv", "--model", "m.inldl")[0] == 0
    assert inldl("complete", tables[0], "-o", "two.csv", *FIT, "--ratios")[0] == 0
    one, two = (pd.read_csv(path)[LABELS] for path in ("one.csv", "two.csv"))
    assert np.abs(one - two).to_numpy().max() < 0.05  # files keep no predictions of their rows
    code, words, _ = inldl("evaluate", "m.inldl", tables[0])
    assert code == 0
    assert "cosine" in words
    code, _, errors = inldl("complete", tables[0], "-o", "x.csv", "--model", "m.inldl",
                            "--uncertainty", "0.9")  # fmt: skip
    assert code == 1
    assert "there are no intervals and no draws" in errors


def test_without_features(tables, inldl):
    frame = pd.read_csv(tables[0])[LABELS]
    frame.to_csv("labels.csv", index=False)
    code, _, errors = inldl("complete", "labels.csv", "-o", "whole.csv", "-l", "a,b,c", "--ratios")
    assert code == 0, errors
    np.testing.assert_allclose(pd.read_csv("whole.csv").sum(axis=1), 1, atol=2e-6)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-m", "ridge"), "ridge cannot learn from ratios alone; use one of winldl, "),
        (("--uncertainty", "0.9"), "leave out --uncertainty and --draws"),
        (("--draws", "3"), "leave out --uncertainty and --draws"),
        (("--total", "x"), "--total and --ratios exclude each other"),
    ],
)
def test_what_does_not_go_together(tables, inldl, options, why):
    how = ("complete", tables[0], "-o", "whole.csv", "-l", "a,b,c", "--ratios")
    code, _, errors = inldl(*how, *options)
    assert code == 1
    assert why in errors


def test_shares_that_are_no_ratios(tables, inldl, tmp_path):
    frame = pd.read_csv(tables[0])
    frame.loc[3, LABELS] = [0.2, 0.3, np.nan]
    frame.to_csv(tmp_path / "wrong.csv", index=False)
    code, _, errors = inldl("complete", tmp_path / "wrong.csv", "-o", "w.csv", *FIT, "--ratios")
    assert code == 1
    assert "The known degrees of line 5 sum to 0.5, but ratios sum to 1" in errors


@pytest.mark.parametrize("how", [("--ratios",), ("--model", "m.inldl")])
def test_nothing_is_asked_about_ratios(tables, inldl, how):
    assert inldl("fit", tables[0], "-o", "m.inldl", *FIT, "--ratios")[0] == 0
    code, _, errors = inldl("ask", tables[0], "-o", "ask.csv", "-l", "a,b,c", *how)
    assert code == 1
    assert "Questions need a table of shares." in errors
