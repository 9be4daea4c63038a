"""`--group`: rows that are held out together."""

import numpy as np
import pandas as pd
import pytest


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
    assert "person" not in inldl("model", "info", "grouped.inldl")[1]


def _error(text):
    return float(text.split("Expected error: ")[1].split()[0])


def test_a_column_that_is_not_there_is_named(table, inldl):
    code, _, words = inldl("fit", table, "-l", "a,b,c", "-o", "m.inldl", "--group", "country")
    assert code == 1
    assert "No column 'country' to group by is among the features ('x', 'person')." in words


def test_a_column_that_is_left_out_already_is_named(table, inldl):
    how = ("fit", table, "-l", "a,b,c", "-o", "m.inldl", "--group", "person", "--id", "person")
    code, _, words = inldl(*how)
    assert code == 1
    assert "name it in --group only, which leaves it out as well." in words
