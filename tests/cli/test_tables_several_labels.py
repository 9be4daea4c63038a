"""`--labels` more than once: groups of shares that each sum to a whole."""

import pandas as pd
import pytest

from two_groups import AGES, VOTES, two_groups

GROUPS = ["-l", "a1,a2,a3", "-l", "b*"]
HOW = ["-m", "winldl", "--unit", "none", "--time", "none"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    two_groups()[0].to_csv(path, index=False)
    return path


def test_each_group_is_completed_with_sentences_of_its_own(table, inldl, without_figures):
    code, out, _ = inldl("complete", table, *GROUPS, "-o", "w.csv", *HOW, "--page", "w.html")
    assert code == 0
    assert pd.read_csv("w.csv")[VOTES + AGES].notna().all(axis=None)
    for name in ("a1, a2, a3", "b1, b2, b3"):
        assert f"{name}: Filled in " in out
    assert out.count("Expected error: ") == 2
    assert out.count("The other groups help: with them, the root mean squared error is 0.0") == 2
    page = (table.parent / "w.html").read_text("utf-8")
    assert page.count("Before and after: a1, a2, a3</h2>") == 1
    assert page.count("Before and after: b1, b2, b3</h2>") == 1


def test_groups_that_tell_nothing_of_each_other(tmp_path, inldl):
    two_groups(related=False)[0].to_csv("t.csv", index=False)
    code, out, _ = inldl("complete", "t.csv", *GROUPS, "-o", "w.csv", *HOW)
    assert code == 0
    assert out.count("The other groups are not used, because they do not clearly help") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "m.inldl"], "--model is for one group of labels; give --labels once."),
        (["--answers", "a.csv"], "--answers is for one group of labels; give --labels once."),
        (["--delta", "a1=+10%"], "--delta is for one group of labels"),
        (["-l", "a1,town"], "The label 'a1' is in two groups of shares; name it in one."),
        (["--page", "w.csv"], "w.csv is given both as --out and as --page"),
    ],
)
def test_what_cannot_be_is_refused(arguments, words, table, inldl):
    code, _, err = inldl("complete", table, *GROUPS, "-o", "w.csv", *HOW, *arguments)
    assert code == 1
    assert words in err
