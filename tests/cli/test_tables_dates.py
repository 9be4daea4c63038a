"""Commands on a table with dates that can be read in two ways."""

import numpy as np
import pandas as pd
import pytest

LABELS = ("-l", "a,b,c")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.dirichlet([4, 3, 2], 40).round(6)
    y[:, 2] = (1 - y[:, :2].sum(axis=1)).round(6)
    y[:20, :2] = np.nan
    day = [f"{i % 12 + 1}/{i % 7 + 1}/2024" for i in range(40)]
    frame = pd.DataFrame(y, columns=list("abc")).assign(day=day, x=rng.normal(size=40))
    frame.to_csv(tmp_path / "t.csv", index=False)


COMMANDS = [
    ("complete", "t.csv", "-o", "out.csv", "-m", "winldl"),
    ("fit", "t.csv", "-o", "t.inldl", "-m", "winldl"),
    ("compare", "t.csv", "--methods", "ridge"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_message_names_the_ways_out_and_they_work(table, inldl, command):
    code, _, err = inldl(*command, *LABELS)
    assert code == 1
    told = " ".join(err.split())
    assert "Column 'day' holds dates such as '1/1/2024'" in told
    assert "--dates day-first or --dates month-first" in told
    assert "--ignore 'day'" in told
    for way in (("--dates", "month-first"), ("--ignore", "day")):
        assert (
            inldl(*command, *LABELS, *way, *(["--overwrite"] * (command[0] != "compare")))[0] == 0
        )


def test_the_order_is_kept_in_the_model(table, tmp_path, inldl):
    """New rows need not be told how to read their dates."""
    found = {}
    for order in ("day-first", "month-first"):
        how = ("fit", "t.csv", *LABELS, "-o", f"{order}.inldl", "-m", "winldl", "--dates", order)
        assert inldl(*how)[0] == 0
        assert inldl("predict", f"{order}.inldl", "t.csv", "-o", f"{order}.csv")[0] == 0
        found[order] = pd.read_csv(tmp_path / f"{order}.csv")["a_predicted"]
    assert not np.allclose(*found.values())


def test_an_inspection_knows_the_order(table, inldl):
    assert "nothing tells whether the day or the month comes" in " ".join(
        inldl("inspect", "t.csv", *LABELS)[1].split()
    )
    assert "nothing tells" not in inldl("inspect", "t.csv", *LABELS, "--dates", "day-first")[1]


def test_other_orders_are_refused(table, inldl):
    code, _, err = inldl("inspect", "t.csv", *LABELS, "--dates", "us")
    assert code != 0
    assert "dates must be one of 'auto', 'day-first', 'month-first', got 'us'." in err


def test_the_order_is_of_no_use_to_a_fitted_model(table, inldl):
    assert (
        inldl("fit", "t.csv", *LABELS, "-o", "m.inldl", "-m", "winldl", "--ignore", "day")[0] == 0
    )
    how = ("complete", "t.csv", "--model", "m.inldl", "-o", "o.csv", "--dates", "day-first")
    code, _, err = inldl(*how)
    assert code == 1
    assert "--dates is for fitting" in err
