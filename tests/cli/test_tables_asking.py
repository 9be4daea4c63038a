"""`inldl ask`, and `inldl complete --answers`."""

from pathlib import Path

import pandas as pd
import pytest

LABELS = "food,fuel,clothes,alcohol,transport,other"
COMMON = ("survey.csv", "-l", LABELS, "-m", "winldl")


def test_questions_are_written_answered_and_put_in(inldl, survey):
    code, out, err = inldl("ask", *COMMON, "--budget", "5", "-o", "ask.csv", "--page", "ask.html")
    assert code == 0, err
    assert "The list has 5 missing shares in" in out
    assert "the expected error of the completed table falls from 0." in out
    assert "Wrote ask.csv" in out
    assert "What to ask about survey.csv" in Path("ask.html").read_text()
    questions = pd.read_csv("ask.csv")
    questions.loc[:1, "answer"] = questions["estimate"].round(3)
    questions.to_csv("ask.csv", index=False)
    how = ("complete", *COMMON, "--answers", "ask.csv", "-o", "whole.csv", "--filled-columns")
    code, out, err = inldl(*how)
    assert code == 0, err
    assert "Put 2 answers from ask.csv into the table." in out
    whole = pd.read_csv("whole.csv")
    for each in questions.iloc[:2].itertuples():
        assert pd.isna(survey.loc[each.row - 1, each.label])
        assert whole.loc[each.row - 1, each.label] == each.answer
        assert whole.loc[each.row - 1, f"{each.label}_filled"] == 0
    missing = survey[LABELS.split(",")].isna().sum().sum()
    assert f"Filled in {missing - 2} missing shares" in out
    questions.loc[0, "answer"] = 2
    questions.to_csv("ask.csv", index=False)
    code, _, err = inldl(*how, "--overwrite")
    assert code == 1
    assert "ask.csv, line 2: the answers in row" in err


def test_rows_prices_and_a_model_file(inldl, survey):
    assert inldl("fit", *COMMON, "-o", "m.inldl")[0] == 0
    how = ("ask", "survey.csv", "--model", "m.inldl", "--by", "row", "--row-cost", "3")
    code, out, err = inldl(*how, "--cell-cost", "1", "--budget", "20", "-o", "ask.xlsx")
    assert code == 0, err
    assert ", for " in out
    questions = pd.read_excel("ask.xlsx")
    assert questions["cost"].sum() <= 20
    assert set(questions["cost"]) == {1, 3}
    assert questions.groupby("rank")["row"].nunique().max() == 1


def test_a_column_of_prices_is_not_learned_from(inldl, survey):
    survey.assign(price=2).to_csv("survey.csv", index=False)
    code, _, err = inldl("ask", *COMMON, "--cost", "price", "-b", "5", "-o", "ask.csv")
    assert code == 0, err
    assert pd.read_csv("ask.csv")["cost"].tolist() == [2, 2]


def whole(survey):
    """Return the survey without holes."""
    shares = survey[LABELS.split(",")].fillna(0.1)
    return survey.assign(**shares.div(shares.sum(axis=1), axis=0))


def test_nothing_is_missing(inldl, survey):
    whole(survey).to_csv("survey.csv", index=False)
    code, out, err = inldl("ask", *COMMON, "-o", "ask.csv")
    assert code == 0, err
    assert "No share is missing in 59 rows: nothing to ask for." in out
    assert len(pd.read_csv("ask.csv")) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "ask.doc"), "not a known kind of table"),
        (("-o", "ask.csv", "--by", "column"), "by must be"),
        (("-o", "ask.csv", "--budget", "0"), "budget must be"),
        (("-o", "ask.csv", "--row-cost", "0"), "row_cost is 0, which is not a price"),
        (("-o", "ask.csv", "--cost", "nothing"), "No column 'nothing' to price by"),
        (("-o", "survey.csv"), "is given both as the table and as --out"),
    ],
)
def test_what_cannot_be_asked_for(inldl, survey, arguments, words):
    code, _, err = inldl("ask", *COMMON, *arguments)
    assert code == 1
    assert words in err
    assert err.count("\n") == 1
