"""What the columns of a table seem to be."""

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from inldl.datasets import hide, load_budget_shares
from inldl.tables import TableFile
from inldl_studio.roles import suggest_roles

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


def test_a_table_without_rows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a header but no rows"):
        understood(pd.DataFrame(columns=["a", "b"]), tmp_path)
