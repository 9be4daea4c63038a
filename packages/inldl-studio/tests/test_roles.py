"""What the columns of a table seem to be."""

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from inldl.datasets import hide, load_budget_shares
from inldl.tables import TableFile
from inldl.tables.options import FileOptions
from inldl_studio.roles import signs_in, suggest_roles

NAMES = LABELS.split(",")


def understood(frame, tmp_path, **options):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, **options)
    return suggest_roles(TableFile(path, None))


def labels_of(columns):
    return columns["column"][columns["role"] == "label"].tolist()


def test_columns_that_sum_to_one_are_labels(tmp_path):
    found, n_rows, notes = understood(budget_survey(59), tmp_path)
    assert n_rows == 59
    assert labels_of(found) == NAMES
    roles = found.set_index("column")["role"]
    assert roles["key"] == "id"
    assert set(roles[["totexpend", "income", "age", "kids", "region"]]) == {"feature"}
    assert found.set_index("column")["examples"]["kids"] == ["2", "1"]
    assert "sum to about 1" in notes[-1]


@pytest.mark.parametrize("rate", [0, 0.3, 0.8])
def test_percentages_with_a_comma_are_labels_too(tmp_path, rate):
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    shares = (100 * y[:300]).round(2)
    shares = hide(shares, rate, random_state=0) if rate else shares
    found, _, notes = understood(X[:300].join(shares), tmp_path, sep=";", decimal=",")
    assert labels_of(found) == NAMES
    assert "100" in notes[-1]


def test_without_a_complete_row_the_holes_tell(tmp_path):
    y = np.full((40, 3), np.nan)
    y[np.arange(40), np.arange(40) % 3] = np.linspace(0.1, 0.9, 40)
    frame = pd.DataFrame(y, columns=list("abc")).assign(size=np.arange(40) + 2.5)
    found, _, notes = understood(frame, tmp_path)
    assert labels_of(found) == ["a", "b", "c"]
    assert "may hold the shares" in notes[-1]


def test_nothing_is_suggested_where_nothing_fits(tmp_path):
    rng = np.random.default_rng(0)
    found, _, notes = understood(
        pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc")), tmp_path
    )
    assert labels_of(found) == []
    assert "choose the columns" in notes[-1]


def test_labels_of_a_long_table_are_known(tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"{i},{name},{value}" for i in range(3) for name, value in (("x", 40), ("y", 60))]
    path.write_text("\n".join(["id,party,votes", *rows]) + "\n")
    found, _, _ = suggest_roles(TableFile(path, None, long="id=id,label=party,value=votes"))
    assert labels_of(found) == ["x", "y"]


@pytest.fixture
def spending(shared):
    """Return a real table of countries and years, in which three labels begin late."""
    table = pd.read_csv(shared / "datasets" / "tables" / "govexp.csv")
    table = table.rename(columns=lambda name: name[2:])
    table.loc[table["year"] < 2010, ["DEF", "EDU", "HEALTH"]] = np.nan
    return table


def test_units_and_times_are_found(spending, tmp_path):
    found, _, notes = understood(spending, tmp_path)
    found = found.set_index("column")
    assert found["role"][found["role"] != "label"].to_dict() == {"country": "unit", "year": "time"}
    assert found["remark"]["country"] == "was found as the unit"
    assert notes[-1] == (
        "Rows seem to be a series over 'year' for each 'country'; give these columns another "
        "role if that is wrong."
    )


def test_units_of_several_columns_with_months(tmp_path):
    levels = {"state": list("pqrs"), "branch": list("uvw"), "year": [2001, 2002, 2003]}
    levels["month"] = range(1, 13)
    frame = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
    shares = np.random.default_rng(0).dirichlet(np.ones(3), len(frame))
    found, _, _ = understood(frame.join(pd.DataFrame(shares, columns=list("abc"))), tmp_path)
    assert found["role"].tolist() == ["unit"] * 2 + ["time"] * 2 + ["label"] * 3


def test_the_time_of_one_series_is_no_id(tmp_path):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    frame = pd.DataFrame(shares, columns=list("abc")).assign(
        day=pd.date_range("2001-03-13", periods=40).strftime("%d.%m.%Y")
    )
    found, _, notes = understood(frame, tmp_path)
    assert found.set_index("column")["role"]["day"] == "time"
    assert notes[-1].startswith("Rows seem to be one series over 'day'; give")


def test_units_with_empty_cells_are_told_but_not_taken(spending, tmp_path):
    """The model refuses rows that belong nowhere, if a user says where rows belong."""
    spending.loc[7, "country"] = None
    found, _, notes = understood(spending, tmp_path)
    assert set(found["role"]) == {"label", "feature"}
    assert notes[-1] == (
        "Rows seem to be a series over 'year' for each 'country'; fill in the empty cells of "
        "'country' to make use of that."
    )


def test_a_table_without_rows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a header but no rows"):
        understood(pd.DataFrame(columns=["a", "b"]), tmp_path)


def test_bounds_and_words_among_shares_do_not_hide_labels(tmp_path):
    frame = budget_survey(60)
    columns = {name: frame[name].round(2).astype(object) for name in NAMES}
    frame = frame.assign(**columns)
    frame.loc[3, NAMES[0]], frame.loc[5, NAMES[2]] = "<0.05", "refused"
    frame.loc[[7, 8], NAMES[1]] = "n/a"
    found, _, notes = understood(frame, tmp_path)
    assert labels_of(found) == NAMES
    assert any("'refused'" in note and "stands for" in note for note in notes)


def test_free_text_is_no_id(tmp_path):
    texts = [f"This is what the household number {i} has told us" for i in range(40)]
    found, *_ = understood(budget_survey(40).assign(remark=texts), tmp_path)
    roles = found.set_index("column")["role"]
    assert roles["remark"] == "ignored"
    assert roles["key"] == "id"


def test_words_are_listed_with_the_signs(tmp_path):
    """One word does not hide the others, and one that has a meaning shows it."""
    frame = budget_survey(40).astype({NAMES[0]: object, NAMES[1]: object})
    frame.loc[[1, 2], NAMES[0]], frame.loc[3, NAMES[1]] = "refused", "*"
    frame.loc[[4], NAMES[1]], frame.loc[[5], NAMES[1]] = "n.v.", "<0.05"
    frame.to_csv(tmp_path / "t.csv", index=False)

    def told(**how):
        found = signs_in(tmp_path / "t.csv", NAMES, FileOptions(**how))
        return {each["sign"]: (each["cells"], each["read"]) for each in found}

    both = {"refused": (2, "a word"), "n.v.": (1, "a word"), "*": (1, "missing")}
    assert told() == both
    assert told(mark="refused=0.01-0.04") == both | {"refused": (2, "0.01-0.04")}
    assert told(na="refused") == both | {"refused": (2, "missing")}
    found, _, _ = understood(frame, tmp_path)
    assert not any(found["remark"].str.contains("taken as text"))


def test_counts_beside_their_total_are_labels(tmp_path):
    generator = np.random.default_rng(1)
    counts = generator.integers(100, 9000, (30, 4))
    frame = pd.DataFrame(counts, columns=[f"votes_{name}" for name in "abcd"])
    frame = frame.assign(total=counts.sum(axis=1), income=generator.normal(9000, 900, 30).round())
    frame.iloc[5:20, 1] = np.nan
    found, _, notes = understood(frame, tmp_path)
    assert labels_of(found) == [f"votes_{name}" for name in "abcd"]
    assert found["column"][found["role"] == "total"].tolist() == ["total"]
    assert "in 15 complete rows, they sum to 'total'" in notes[0]


def test_signs_are_counted(tmp_path):
    frame = budget_survey(40).astype({NAMES[0]: object})
    frame.loc[[1, 2, 3], NAMES[0]] = "*"
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = signs_in(tmp_path / "t.csv", NAMES, FileOptions())
    assert found == [{"sign": "*", "cells": 3, "read": "missing"}]


def test_labels_of_a_wide_table_are_found(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((200, 300)), columns=[f"x{j}" for j in range(300)])
    shares = pd.DataFrame(rng.dirichlet(np.ones(5), 200), columns=list("abcde"))
    found, *_ = understood(pd.concat([frame, shares], axis=1), tmp_path)
    assert labels_of(found) == list("abcde")
