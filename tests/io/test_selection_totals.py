"""A column of totals among the labels is named, whatever the scale."""

import numpy as np
import pandas as pd
import pytest

from inldl.io import TableFile, read_table


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    votes = pd.DataFrame(rng.integers(1, 900, (30, 3)), columns=["red", "green", "blue"])
    return pd.DataFrame({"age": rng.integers(20, 70, 30)}).join(votes)


def saved(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def shares(frame):
    votes = frame[["red", "green", "blue"]]
    return votes.div(votes.sum(axis=1), axis=0)


WAYS = {
    "counts": lambda votes: votes.assign(sums=votes.sum(axis=1)),
    "fractions": lambda votes: shares(votes).assign(sums=1.0),
    "percentages, rounded": lambda votes: (100 * shares(votes)).round(1).assign(sums=100.0),
    "halves": lambda votes: (shares(votes) / 2).assign(sums=0.5),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("normalize", [False, True])
def test_a_total_is_refused(counts, tmp_path, way, normalize):
    table = WAYS[way](counts[["red", "green", "blue"]])
    table.iloc[::3, 1] = np.nan  # holes do not hide it
    path = saved(counts[["age"]].join(table), tmp_path)
    with pytest.raises(ValueError, match=r"^The label 'sums' is the sum of the other") as caught:
        read_table(path, "red,green,blue,sums", normalize=normalize)
    assert str(caught.value) == (
        "The label 'sums' is the sum of the other labels in each of the 20 complete rows, so it "
        "is their total, not a share of its own; leave it out of the labels (--ignore sums)."
    )


def test_it_is_said_in_an_inspection(counts, tmp_path):
    path = saved(counts.assign(total=counts[["red", "green", "blue"]].sum(axis=1)), tmp_path)
    notes = TableFile(path, "red,green,blue,total").read(check=False).notes
    assert notes[0].startswith("The label 'total' is the sum of the other labels")


def test_ignoring_it_helps(counts, tmp_path):
    path = saved(counts.assign(total=counts[["red", "green", "blue"]].sum(axis=1)), tmp_path)
    table = read_table(path, "re:red|green|blue|total", ignore="total")
    assert table.labels == ["red", "green", "blue"]


def test_a_few_rows_prove_it_only_by_name(tmp_path):
    rows = {"x": [1, 2, 3], "a": [0.25, 0.1, 0.2], "b": [0.25, 0.4, 0.3], "c": [0.5] * 3}
    path = saved(pd.DataFrame(rows), tmp_path)
    assert read_table(path, "a,b,c").y.shape == (3, 3)
    path = saved(pd.DataFrame(rows).rename(columns={"c": "All votes"}), tmp_path)
    with pytest.raises(ValueError, match=r'--ignore "All votes"'):
        read_table(path, "a,b,All votes")


def test_shares_that_are_often_a_half_are_no_totals(counts, tmp_path):
    table = shares(counts)
    table["red"] = 0.5
    table["green"], table["blue"] = np.linspace(0.1, 0.4, 30), np.linspace(0.4, 0.1, 30)
    table.loc[0] = [0.4, 0.3, 0.3]
    path = saved(counts[["age"]].join(table), tmp_path)
    assert read_table(path, "red,green,blue").y.shape == (30, 3)
    table = pd.DataFrame({"a": 50, "b": range(10, 40), "c": range(40, 10, -1)})
    assert read_table(saved(counts[["age"]].join(table), tmp_path), "a,b,c").y.shape == (30, 3)
    same = pd.DataFrame({"age": range(30), "a": 0.5, "b": 0.25, "c": 0.25})
    assert read_table(saved(same, tmp_path), "a,b,c").y.shape == (30, 3)
