"""What is said of tables whose rows have units and times."""

import numpy as np
import pandas as pd
import pytest

from inldl.report import completion_page, model_page
from inldl.tables import TableFile, complete_table, fit_table, predict_table
from inldl.tables.questions import ask_table
from inldl.tables.tasks import evaluate_table

LABELS = ["bread", "milk", "wool"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table of five states in eight years, with a run of holes in each."""
    rng = np.random.default_rng(0)
    places = [(state, 2000 + t) for state in "ABCDE" for t in range(8)]
    rows = pd.DataFrame(places, columns=["state", "year"])
    size = rng.uniform(1, 5, (5, 3)).repeat(8, axis=0) * np.exp(rng.normal(0, 0.05, (40, 3)))
    shares = pd.DataFrame(size / size.sum(axis=1, keepdims=True), columns=LABELS)
    path = tmp_path_factory.mktemp("panel")
    rows.join(shares).to_csv(path / "whole.csv", index=False)
    shares[(rows["year"] - 2000 - rows.index // 8).isin([1, 2])] = np.nan
    rows.join(shares).to_csv(path / "table.csv", index=False)
    return path


@pytest.fixture(scope="module")
def learned(folder):
    return fit_table(TableFile(folder / "table.csv", LABELS))


def predicted(learned, folder, text):
    (folder / "new.csv").write_text(text)
    out = folder / "predicted.csv"
    return predict_table(TableFile(folder / "new.csv", None), learned.model, out, overwrite=True)


def test_a_file_without_the_time_of_rows_is_refused(learned, folder):
    with pytest.raises(ValueError, match="The table lacks column 'year'"):
        predicted(learned, folder, "state\nA\n")


def test_rows_of_units_that_the_fit_has_not_seen_are_counted(learned, folder):
    assert predicted(learned, folder, "state,year\nA,2008\nB,2008\n").notes == []
    found = predicted(learned, folder, "state,year\nA,2008\nF,2008\nB,\n")
    assert found.notes == [
        "Rows unlike those of the fit: 2 with a unit new to it, or without unit or time; their "
        "shares are less certain."
    ]


def test_a_fit_can_be_repeated(learned, folder):
    file = TableFile(folder / "table.csv", LABELS)
    table = pd.read_csv(folder / "table.csv")
    again = fit_table(file).model.complete(table[["state", "year"]], table[LABELS])
    first = learned.model.complete(table[["state", "year"]], table[LABELS])
    np.testing.assert_array_equal(again, first)


def test_rows_far_ahead_are_counted(learned, folder):
    found = predicted(learned, folder, "state,year\nA,2008\nA,2009\nB,1998\nB,1999\n")
    assert found.notes == [
        "Rows unlike those of the fit: 2 with a time more than a step before or after all known "
        "ones of their unit; their shares are less certain."
    ]


def test_rows_are_named_by_unit_and_time(learned, folder):
    file = TableFile(folder / "table.csv", LABELS)
    done = complete_table(file, learned.model, folder / "done.csv", scale="fraction")
    assert done.after.index[0] == "A, 2000"
    asked = ask_table(file, learned.model, None, scale="fraction", budget=2)
    assert {"state", "year"} <= {*asked.table}
    page = completion_page(done, learned, learned.model, "table.csv", "done.csv")
    assert "from other rows of its unit and time" in str(page)


def test_the_page_of_a_model_says_which_rows_were_predicted(learned):
    text = " ".join(map(str, model_page(learned, "table.csv").summary))
    assert "of the last rows of units, each predicted from the rows before it" in text


def test_rows_of_the_fit_are_counted_where_a_model_is_tested(learned, folder):
    known = evaluate_table(TableFile(folder / "table.csv", LABELS), learned.model)
    whole = evaluate_table(TableFile(folder / "whole.csv", LABELS), learned.model)
    assert (known.n_learned, whole.n_learned) == (40, 30)
