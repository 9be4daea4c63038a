"""What is said about questions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from inldl.report import questions_page
from inldl.tables import Suggestion
from inldl.tables.questions import Asked

MODEL = SimpleNamespace(method="winldl")


def questions(n, n_missing=30, cost=1.0):
    """Return n questions in percent, with names that could be code."""
    rows = np.arange(n)
    shares = {"rank": rows + 1, "row": rows, "label": "a", "rmse": 0.05 - rows / 1000}
    table = pd.DataFrame(shares)
    found = Suggestion(table, 0.06 if n_missing else 0.0, n_missing)
    shown = pd.DataFrame(
        {
            "rank": rows + 1, "row": rows + 1, "town": "<b>Rome</b>", "label": "a", "left": 50.0,
            "estimate": 20.0, "low": 10.0, "high": 30.0, "gain": 1.0,
            "expected_error": 100 * table["rmse"], "cost": cost, "answer": np.nan,
        }
    )  # fmt: skip
    return Asked(shown, found, 40, 100.0)


def test_questions():
    page = questions_page(questions(12), MODEL, "t.csv", "ask.csv", ["A note."])
    assert page.summary[0] == "The list has 12 missing shares in 12 rows, of 30 that are missing."
    assert "from 6.00 percentage points to 3.90 percentage points" in page.summary[1]
    [table] = page.blocks()
    assert [column.name for column in table.columns] == [
        "rank", "row", "town", "label", "estimate", "from", "to", "error then", "cost",
    ]  # fmt: skip
    assert len(table.rows) == 10
    [longer] = questions_page(questions(12), MODEL, "t.csv", "ask.csv", most=100).blocks()
    assert len(longer.rows) == 12
    assert page.notes == ["A note."]
    assert "&lt;b&gt;Rome" in page.html()


@pytest.mark.parametrize(("estimate", "text"), [(904.5517, "904.55"), (0.25, "0.2500")])
def test_counts_have_fewer_decimals_than_fractions(estimate, text):
    found = questions(2)
    found = replace(found, table=found.table.assign(estimate=estimate), whole=1.0)
    [table] = questions_page(found, MODEL, "t.csv", "ask.csv").blocks()
    assert table.cells(table.rows)[0][4].text == text


def test_prices_are_summed():
    page = questions_page(questions(4, cost=2.5), MODEL, "t.csv", "ask.csv")
    assert page.summary[0].startswith("The list has 4 missing shares in 4 rows, for 10 in all, of")


@pytest.mark.parametrize(
    ("n_missing", "words"), [(0, "No share is missing in 40 rows"), (3, "Nothing to ask for: the")]
)
def test_nothing_to_ask(n_missing, words):
    page = questions_page(questions(0, n_missing), MODEL, "t.csv", "ask.csv")
    assert page.summary[0].startswith(words)
    assert page.blocks() == []
