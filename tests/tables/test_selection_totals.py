"""A column of totals among the labels is named, whatever the scale."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, read_table


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


# --- one total for all rows ---------------------------------------------------------------------

HOURS = "who,sleep,work,play\na,8,8,8\nb,7,9,8\nc,9,,\nd,6,10,8\ne,8,,7\n"


def test_all_rows_may_have_one_total(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HOURS)
    with pytest.raises(ValueError, match=r"if all rows sum to 24, give total=24 \(--total 24\)\."):
        read_table(path, "sleep,work,play")
    for total in (24, "24", 24.0):
        read = read_table(path, "sleep,work,play", total=total)
        np.testing.assert_allclose(read.y[2], [9 / 24, np.nan, np.nan])
        assert "The shares are read as counts: shares of the total 24." in read.notes
    with pytest.raises(
        ValueError, match=r"sum to 24, but the total \(--total\) is 25; is a label"
    ):
        read_table(path, "sleep,work,play", total=25)
    with pytest.raises(ValueError, match=r"The total \(--total\) is 0; give a number above 0"):
        read_table(path, "sleep,work,play", total=0)


def test_a_column_of_that_name_goes_first(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("24,a,b\n10,4,6\n20,,8\n")
    assert read_table(path, "a,b", total="24").y[1, 1] == 0.4


def test_sums_of_one_total_may_be_rounded(tmp_path):
    """Parts of 1000 that sum to 999 or 1001 are divided by their sums."""
    rng = np.random.default_rng(0)
    parts = pd.DataFrame(rng.dirichlet(np.ones(4), 40) * 1000, columns=list("abcd")).round()
    assert set(parts.sum(axis=1)) == {999, 1000, 1001}
    parts.iloc[::2, 1] = np.nan
    with pytest.raises(ValueError, match=r"give total=1000 \(--total 1000\)\."):
        read_table(saved(parts, tmp_path), "a,b,c,d")
    read = read_table(saved(parts, tmp_path), "a,b,c,d", total=1000)
    np.testing.assert_allclose(read.y[1::2].sum(axis=1), 1)
    np.testing.assert_allclose(read.y[::2, 0], parts["a"][::2] / 1000)


def test_labels_that_are_a_part_of_the_total_are_said_in_an_inspection(counts, tmp_path):
    """Else it would say that large shares are missing more often."""
    table = counts.assign(total=counts[["red", "green", "blue"]].sum(axis=1))
    table["green"] = table["green"].where(table.index % 3 > 0)
    read = TableFile(saved(table, tmp_path), "red,green", total="total").read(check=False)
    assert read.totals is None
    assert "Complete rows whose counts sum to less than their total: 20 (Line 3: " in str(
        read.notes
    )
