"""`--group`: rows that are held out together."""

import numpy as np
import pandas as pd
import pytest

from inldl.files import load_model


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 16)
    frame = pd.DataFrame(rng.dirichlet([2, 2, 2], 10)[groups], columns=["a", "b", "c"]).round(4)
    frame["c"] = 1 - frame["a"] - frame["b"]
    frame["x"] = rng.normal(size=10)[groups] + rng.normal(0, 1e-3, 160)
    frame["person"] = [f"person {g}" for g in groups]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    return path


def test_groups_are_left_out_together(table, inldl):
    how = ["fit", table, "-l", "a,b,c", "-m", "knn", "-o"]
    code, plain, _ = inldl(*how, "plain.inldl", "--ignore", "person")
    assert code == 0
    code, grouped, _ = inldl(*how, "grouped.inldl", "--group", "person")
    assert code == 0
    assert _error(grouped) > 1.5 * _error(plain)
    assert "Rows of one 'person' are left out together" in grouped


def test_text_stays_a_feature_and_numbers_do_not(table, inldl):
    """Rows of known persons are then predicted well."""
    frame = pd.read_csv(table)
    frame["person"] = frame["person"].str.split().str[1].astype(int)
    for path in (table, "numbers.csv"):
        frame.to_csv("numbers.csv", index=False)
        how = ("fit", path, "-l", "a,b,c", "-m", "knn", "-o", f"{path}.inldl", "--group", "person")
        assert inldl(*how)[0] == 0
        columns = load_model(f"{path}.inldl").feature_names_in_.tolist()
        assert columns == (["x", "person"] if path == table else ["x"])


def _error(text):
    return float(text.split("Expected error: ")[1].split()[0])


def test_a_column_that_is_not_there_is_named(table, inldl):
    code, _, words = inldl("fit", table, "-l", "a,b,c", "-o", "m.inldl", "--group", "country")
    assert code == 1
    assert "No column 'country' to group by is among the features ('x', 'person')." in words


def test_a_column_that_is_left_out_already_is_named(table, inldl):
    how = ("fit", table, "-l", "a,b,c", "-o", "m.inldl", "--group", "person")
    code, _, words = inldl(*how, "--ignore", "person")
    assert code == 1
    assert "name it in --group only." in words


def test_a_column_that_names_the_rows_can_group_them(table, inldl):
    how = ("fit", table, "-l", "a,b,c", "-m", "knn", "-o", "m.inldl", "--group", "person")
    code, text, _ = inldl(*how, "--id", "person")
    assert code == 0
    assert "Rows of one 'person' are left out together" in text
    assert load_model("m.inldl").feature_names_in_.tolist() == ["x"]


def test_groups_are_for_fitting(table, inldl):
    assert inldl("fit", table, "-l", "a,b,c", "-m", "knn", "-o", "m.inldl")[0] == 0
    how = ("complete", table, "-o", "o.csv", "--model", "m.inldl", "--group", "person")
    code, _, words = inldl(*how)
    assert code == 1
    assert "--group is for fitting, but --model is already fitted" in words
