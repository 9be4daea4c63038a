"""Columns that name a unit, a time and a place are found where they are, and nowhere else."""

import re

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import load_budget_shares, load_concrete
from inldl.tables import Structure, find_structure
from inldl.tables.options import LearnOptions
from inldl.tables.structure import unit_of_holes

NOTHING = Structure()
PANELS = {
    "govexp": Structure(("x_country",), ("x_year",)),
    "livestock": Structure(("x_State",), ("x_year",)),
    "tourism": Structure(("x_Region",), ("x_Quarter",)),
}
OTHERS = ["activity31", "alcohol", "boxite", "coffee", "expendituresEU", "gdpsatis", "honey",
          "hydrochem", "lifeexp", "mortality", "olive", "sa_groups5", "varespec"]  # fmt: skip
MONTHS = [f"{month}" for month in pd.date_range("2003-01-01", periods=12, freq="MS").month_name()]


def grid(**levels):
    """Return a table with a row for each combination of levels."""
    return pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)


@pytest.mark.parametrize("name", [*PANELS, *OTHERS])
def test_real_tables_have_the_structure_that_people_see_in_them(shared, name):
    table = pd.read_csv(shared / "datasets" / "tables" / f"{name}.csv")
    assert find_structure(table.filter(like="x_")) == PANELS.get(name, NOTHING)
    assert find_structure(table) == PANELS.get(name, NOTHING)  # shares are no units


@pytest.mark.parametrize("load", [load_budget_shares, load_concrete])
def test_the_built_in_tables_have_none(load):
    assert not find_structure(load(as_frame=True).X)


COUNTRIES = ["Austria", "Belgium", "Chile", "Denmark", "Estonia"]


@pytest.mark.parametrize(
    ("levels", "unit", "time"),
    [
        ({"country": COUNTRIES, "year": range(1990, 1996)}, ["country"], ["year"]),
        ({"Jahr": range(1990, 1996), "country": COUNTRIES}, ["country"], ["Jahr"]),
        ({"country": COUNTRIES, "y": range(1990, 1996)}, ["country"], ["y"]),
        ({"firm": range(7, 20), "year": range(81, 88)}, ["firm"], ["year"]),
        ({"country": COUNTRIES, "wave": range(1, 6)}, ["country"], ["wave"]),
        ({"country": COUNTRIES, "q": ["1998 Q1", "1998 Q2", "1998 Q4", "1999Q1"]},
         ["country"], ["q"]),
        ({"country": COUNTRIES, "when": ["2003-05", "2003-06", "2003-09", "2004-01"]},
         ["country"], ["when"]),
        ({"state": COUNTRIES, "industry": ["oil", "iron"], "year": range(2000, 2005)},
         ["state", "industry"], ["year"]),
        ({"state": COUNTRIES, "sex": ["m", "f"], "age": ["15-24", "25-34"],
          "year": range(2000, 2005)}, ["state", "sex", "age"], ["year"]),
        ({"country": COUNTRIES, "year": [2003, 2004], "month": MONTHS},
         ["country"], ["year", "month"]),
        ({"country": COUNTRIES, "year": [2003, 2004, 2005], "month": range(1, 13)},
         ["country"], ["year", "month"]),
        ({"year": range(1990, 2001), "qtr": [1, 2, 3, 4]}, [], ["year", "qtr"]),
        ({"date": pd.date_range("2020-01-06", periods=30, freq="B")}, [], ["date"]),
        ({"year": range(1950, 2000)}, [], ["year"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shuffled", [False, True])
def test_panels_and_series_are_found(levels, unit, time, shuffled):
    table = grid(**levels)
    rng = np.random.default_rng(0)
    table["kind"], table["size"] = "all the same", rng.normal(size=len(table))
    table["note"] = [f"row {row}" for row in rng.permutation(len(table))]
    if shuffled and "firm" not in levels:  # numbers are units if equal ones stand together
        table = table.sample(frac=1, random_state=0)
    found = find_structure(table)
    assert (list(found.unit), list(found.time)) == (unit, time)
    assert not found.place


@pytest.mark.parametrize("missing", [0, 0.2])
def test_a_panel_with_gaps_is_found(missing):
    table = grid(country=COUNTRIES, year=range(1990, 2010))
    table = table.sample(frac=1 - missing, random_state=0)
    assert find_structure(table) == Structure(("country",), ("year",))


def test_of_two_names_of_a_unit_the_one_without_empty_cells_is_taken():
    table = grid(code=["NA", *(f"C{i}" for i in range(150))], year=range(1990, 1994))
    table["country"] = "country " + table["code"]
    table["code"] = table["code"].replace("NA", None)
    assert find_structure(table).unit == ("country",)


def _people(n=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": rng.permutation(n),
            "region": rng.choice(["north", "south", "east", "west"], n),
            "job": rng.choice(list("abcdefgh"), n),
            "age": rng.choice(["15-24", "25-34", "35-44"], n),
            "children": rng.integers(0, 5, n),
            "year": rng.integers(2010, 2020, n),
        }
    )


def test_a_survey_of_several_years_is_no_panel():
    assert find_structure(_people()) == NOTHING


@pytest.mark.parametrize(("n", "n_regions", "first"), [(30, 4, 1850), (400, 20, 1600)])
def test_pairs_that_are_unique_by_chance_are_no_panel(n, n_regions, first):
    rng = np.random.default_rng(1)
    regions = [f"region {i}" for i in rng.integers(n_regions, size=n)]
    table = pd.DataFrame({"region": regions, "year built": rng.integers(first, 2010, n)})
    assert 0.95 * n <= len(table.drop_duplicates()) < n + (n == 30)
    assert find_structure(table) == NOTHING


def test_two_times_of_a_unit_and_a_few_of_a_table_are_not_enough():
    assert (
        find_structure(grid(country=[f"country {i}" for i in range(30)], year=[1999, 2000]))
        == NOTHING
    )
    assert find_structure(grid(year=range(1990, 1996))) == NOTHING


def test_dates_that_happen_to_differ_are_no_series():
    hours = np.sort(np.random.default_rng(0).choice(10_000, 60, replace=False))
    table = pd.DataFrame({"answered": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, "h")})
    assert find_structure(table) == NOTHING


@pytest.mark.parametrize(
    "levels",
    [
        {"age": ["15-24", "25-34", "35-44", "45-54"], "year": range(2000, 2010)},
        {"region": COUNTRIES, "sample": range(1, 9)},
        {"month": MONTHS, "year": [2003, 2004, 2005], "copy": [1, 2, 3]},
        {"depth": range(1, 40)},
    ],
)
def test_ages_months_and_groups_are_no_units(levels):
    assert find_structure(grid(**levels)) == NOTHING


def test_a_column_with_empty_cells_is_not_taken_unless_they_are_few():
    table = grid(country=[f"country {i}" for i in range(40)], year=range(1990, 1996))
    few, many = table.copy(), table.copy()
    few.loc[:1, "country"] = None
    many.loc[:4, "country"] = None
    assert find_structure(few).unit == ("country",)
    assert not find_structure(many)


def test_places_are_found_by_their_names():
    table = pd.DataFrame({"Longitude": [7.1, 120.0, -3.0], "Latitude": [50.7, 23.5, 40.4]})
    assert find_structure(table) == Structure(place=("Latitude", "Longitude"))
    assert not find_structure(table, place="none")
    assert not find_structure(table.assign(Latitude=[50.7, 235.0, 40.4]))
    assert not find_structure(table.drop(columns="Latitude"))


PANEL = grid(state=COUNTRIES, sector=["oil", "iron"], year=range(2000, 2005))
PANEL["hour"] = np.arange(len(PANEL)) % 7


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"unit": "state,sector"}, Structure(("state", "sector"), ("year",))),
        ({"unit": ["state", "sector"], "time": "hour"}, Structure(("state", "sector"), ("hour",))),
        ({"unit": "state", "time": "none"}, Structure(("state",))),
        ({"unit": "none"}, NOTHING),
        ({"unit": (), "time": "year"}, Structure((), ("year",))),
        ({"time": "year"}, Structure(("state", "sector"), ("year",))),
        ({"time": "None"}, NOTHING),
        ({"unit": "sector"}, Structure(("sector",))),
    ],
)
def test_users_say_what_they_know_and_the_rest_is_found(named, expected):
    assert find_structure(PANEL, **named) == expected
    options = LearnOptions(**named)
    assert find_structure(PANEL, options.unit, options.time, options.place) == expected


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"unit": "stat"}, "No --unit columns found for 'stat' (did you mean 'state'?); the "
         "columns are 'state', 'sector', 'year', 'hour'."),
        ({"unit": "state,state"}, "The column 'state' is named twice"),
        ({"unit": "state", "time": "state"}, "The column 'state' is named twice"),
        ({"time": "sector"}, "--time takes a column of dates or numbers that differ"),
        ({"time": "year,sector"}, "but 'year', 'sector' cannot be these."),
        ({"time": "year,hour"}, "but 'year', 'hour' cannot be these."),
        ({"place": "year,hour"}, "--place takes a column of latitudes from -90 to 90"),
        ({"place": "hour"}, "but 'hour' cannot be these."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(named, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        find_structure(PANEL, **named)


@pytest.mark.parametrize(("role", "name"), [("unit", "state"), ("time", "year")])
def test_an_empty_cell_of_a_named_column_is_refused_with_its_row(role, name):
    table = PANEL.astype({name: object})
    table.loc[3, name] = None
    with pytest.raises(ValueError, match=rf"'{name}' .* is empty in row 3 \(counted from 0\)"):
        find_structure(table, **{role: name})


def test_dates_that_leave_open_what_comes_first_are_refused_only_if_they_are_named():
    table = grid(country=COUNTRIES, day=["1/2/2003", "2/2/2003", "5/3/2003", "7/4/2003"])
    assert find_structure(table) == NOTHING
    assert find_structure(table, dates="day-first") == Structure(("country",), ("day",))
    with pytest.raises(ValueError, match="--dates day-first"):
        find_structure(table, time="day")


def test_the_notes_say_what_was_taken_and_how_to_turn_it_off():
    both, one = Structure(("state", "sector"), ("year",)), Structure((), ("year",))
    assert both.notes == [
        "Rows are taken as a series over 'year' for each 'state' and 'sector'; --unit none takes "
        "these columns as plain features."
    ]
    assert one.notes == [
        "Rows are taken as one series over 'year'; --time none takes it as a plain feature."
    ]
    assert "--unit none" in Structure(("state",)).notes[0]
    assert "--place none" in Structure((), (), ("lat", "lon")).notes[0]
    assert NOTHING.notes == []


def test_years_that_are_texts_are_years():
    frame = pd.DataFrame({"state": list("abcd") * 5, "year": np.repeat(range(2001, 2006), 4)})
    frame = frame.astype(str)
    assert find_structure(frame) == Structure(("state",), ("year",))
    assert find_structure(frame.rename(columns={"year": "code"})) == Structure()


def test_a_column_whose_values_lack_a_label_as_a_whole_is_a_unit():
    """Without a time, holes that are random or few name none, and numbers are no names."""
    region = np.repeat(list("abcdef"), 10)
    table = pd.DataFrame({"region": region, "kind": list("xyz") * 20, "code": np.arange(60) // 10})
    holes = np.zeros((60, 3), bool)
    holes[np.isin(region, ["b", "e"]), 1] = True
    assert unit_of_holes(table, holes) == ("region",)
    assert unit_of_holes(table[["kind", "code"]], holes) == ()
    assert unit_of_holes(table, np.random.default_rng(0).random((60, 3)) < 0.3) == ()
    assert unit_of_holes(table, np.ones((60, 3), bool)) == ()  # no region has the label
