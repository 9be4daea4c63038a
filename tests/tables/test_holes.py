"""Holes by unit and time: what is said of them, and the maps."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide
from inldl.tables.holes import Places
from inldl.tables.inspect import inspect_table
from inldl.tables.results import size_of_holes

STATES, YEARS = ["Ohio", "Utah", "Iowa", "Texas", "Maine", "Idaho"], np.arange(2000, 2015)
LABELS = ["wool", "hides", "meat", "milk"]
X = pd.DataFrame([(s, y) for s in STATES for y in YEARS], columns=["state", "year"])
EARLY = (X["year"] < 2005).to_numpy()
WEST = X["state"].isin(["Utah", "Idaho"]).to_numpy()


def shares():
    """Return rows in which wool is large in the West."""
    rng = np.random.default_rng(0)
    size = np.where(WEST[:, None], [3.0, 1.0, 1.0, 1.0], [0.5, 1.0, 1.5, 1.0])
    y = size * np.exp(rng.normal(0, 0.15, size.shape))
    return pd.DataFrame(y / y.sum(axis=1, keepdims=True), columns=LABELS)


def without(rows, *labels):
    y = shares()
    y.loc[rows, list(labels) or LABELS] = np.nan
    return y


def looked_at(y, features=X):
    return inspect_table(features, y, places=Places.of(features))


def test_a_label_that_was_not_recorded_at_first():
    found = looked_at(without(EARLY & WEST, "wool", "milk"))
    assert found.findings == [
        "'wool', 'milk' are missing from 2000 to 2004 for 2 of 6 values of 'state' (Utah, Idaho): "
        "probably not recorded then. They are filled in from rows with other values of 'year' and "
        "'state'."
    ]
    assert found.size.answer == "placed"
    assert found.holes[0].kind == "period"
    alike = looked_at(without(EARLY, "wool", "milk")).findings[0]
    assert "from 2000 to 2004 for all 6 values of 'state'" in alike
    assert alike.endswith("filled in from rows with other values of 'year'.")


def test_states_that_the_table_does_not_have_then_do_not_count():
    there = ~(EARLY & (X["state"] == "Utah"))
    y, rows = without(EARLY, "wool", "milk")[there].reset_index(drop=True), X[there]
    text = looked_at(y, rows.reset_index(drop=True)).findings[0]
    assert "for all 5 values of 'state' that the table has then" in text
    assert text.endswith("filled in from rows with other values of 'year'.")


def test_years_that_do_not_follow_each_other_are_listed():
    text = looked_at(without(X["year"].isin([2003, 2009]), "wool", "milk")).findings[0]
    assert text.startswith("'wool', 'milk' are missing in 2003, 2009 for all 6 values of 'state'")


def test_size_is_blamed_only_without_places():
    y = without(WEST, "wool", "milk")
    assert inspect_table(X, y).size.answer == "large"
    found = looked_at(y)
    assert (found.holes[0].kind, found.size.answer) == ("region", "placed")
    assert not any("Large shares" in text for text in found.findings)
    panel, degrees = Places.of(X).panel, y.to_numpy()
    assert size_of_holes(degrees, LABELS, "fraction", False).answer == "large"
    assert size_of_holes(degrees, LABELS, "fraction", False, panel=panel).answer == "placed"


def test_labels_that_may_be_left_out_because_they_are_small():
    text = looked_at(without(~WEST, "wool", "hides")).findings[0]
    assert "for 4 of 6 values of 'state': probably not recorded there" in text
    assert "may be left out" not in text
    small = looked_at(without(~WEST, "wool")).findings[0]
    assert "because it is small: 12.6%" in small
    assert "of the whole on average, but 50.2%" in small


def test_spells_rows_and_cells():
    start = np.repeat([2001, 2008, 2004, 2010, 2002, 2006], len(YEARS))
    spell = ((X["year"] >= start) & (X["year"] < start + 4)).to_numpy()
    text = looked_at(without(spell)).findings[0]
    assert text.startswith("All shares of 24 rows are missing in runs over 'year' for all 6 value")
    rows = np.random.default_rng(1).random(len(X)) < 0.3
    text = looked_at(without(rows)).findings[0]
    assert text == (
        f"All shares of {rows.sum()} rows are missing, without a pattern in 'state' and 'year'."
    )
    cells = looked_at(hide(shares(), 0.3, random_state=0))
    assert cells.size.answer == "random"


def test_a_limit_below_which_shares_are_left_out():
    y = shares()
    found = looked_at(y.mask(y < 0.15))
    assert found.holes[0].kind == "suppressed"
    assert "those below about 0.15 of the whole seem to be left out" in found.findings[0]


def test_maps_of_few_labels_and_of_the_share_of_many():
    y = without(EARLY & WEST, "wool", "milk")
    maps = looked_at(y).maps
    assert list(maps) == ["wool", "milk"]
    for frame in maps.values():
        assert (frame.index.name, frame.columns.name) == ("state", "year")
        assert list(frame.index) == STATES
        assert list(frame.columns) == [str(year) for year in YEARS]
        expected = np.outer(np.isin(STATES, ["Utah", "Idaho"]), YEARS < 2005)
        np.testing.assert_array_equal(frame, expected)
    assert list(looked_at(hide(y, 0.2, random_state=0)).maps) == [""]
    assert looked_at(shares()).maps == {}


def test_a_row_that_the_table_lacks_is_no_hole():
    y = without(EARLY & WEST, "wool", "milk")
    maps = looked_at(y.iloc[1:].reset_index(drop=True), X.iloc[1:].reset_index(drop=True)).maps
    assert maps["wool"].isna().to_numpy().nonzero() == (0, 0)


def test_one_series_has_its_labels_down():
    series = X[:15].drop(columns="state")
    y = without(EARLY, "wool", "milk")[:15]
    found = looked_at(y, series)
    (shown,) = found.maps.values()
    assert list(shown.index) == ["wool", "milk"]
    np.testing.assert_array_equal(shown, np.tile(YEARS < 2005, (2, 1)))
    assert found.findings[0].startswith("'wool', 'milk' are missing from 2000 to 2004: probably")


def test_tables_without_units_and_times_have_no_places():
    assert Places.of(pd.DataFrame({"x": np.random.default_rng(0).normal(size=20)})) is None
    y = pd.concat([without(WEST, "wool", "milk")], ignore_index=True)
    assert inspect_table(X, y).maps == {}


@pytest.mark.parametrize("seed", range(3))
def test_few_patterns(seed):
    form = np.random.default_rng(seed).integers(0, 2, len(X))
    y = shares().mask(np.arange(4) // 2 == form[:, None])
    assert any("in few patterns" in text for text in looked_at(y).findings)


def test_livestock_of_states_without_two_labels_at_first(shared):
    table = pd.read_csv(shared / "datasets/tables/livestock.csv")
    features = table[["x_State", "x_year"]]
    y = table.filter(like="y_")
    y = y.div(y.sum(axis=1), axis=0)
    y.loc[features["x_year"] < 1988, ["y_Cows_and_heifers", "y_Sheep"]] = np.nan
    found = looked_at(y, features)
    assert [each.kind for each in found.holes] == ["period"]
    assert "are missing from 1972 to 1987 for all 7 values of 'x_State'" in found.findings[0]
