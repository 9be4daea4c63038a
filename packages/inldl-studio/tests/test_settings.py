"""What a user says on the page, as options of the functions that the commands call."""

import pytest

from inldl.tables.options import ColumnOptions, FileOptions, FillOptions, LearnOptions
from inldl_studio import settings as options


def test_roles_are_options_of_the_functions():
    roles = {"a": "label", "b": "label", "c": "id", "d": "ignored", "e": "weight", "f": "total"}
    roles |= {"state": "unit", "branch, all": "unit", "year": "time"}
    chosen = options.checked({"roles": roles, "decimal": ","})
    assert options.labels(chosen) == ["a", "b"]
    used = ColumnOptions(id=["c"], ignore=["d"], total="f", decimal=",")
    assert options.columns(chosen) == used
    assert options.chosen(FileOptions, chosen) == FileOptions(decimal=",")
    panel = {"unit": ["state", "branch, all"], "time": ["year"]}
    assert options.learning(chosen) == LearnOptions(weight="e", **panel)


def test_units_and_times_that_nobody_has_chosen_are_not_looked_for():
    chosen = options.checked({"roles": {"a": "label", "state": "feature", "year": "feature"}})
    assert options.learning(chosen) == LearnOptions(unit="none", time="none")
    chosen["roles"]["year"] = "time"
    assert options.learning(chosen) == LearnOptions(unit="none", time=["year"])


def test_labels_are_needed_unless_the_table_is_long():
    with pytest.raises(ValueError, match="No column is marked as a label"):
        options.labels(options.DEFAULTS)
    assert options.labels({**options.DEFAULTS, "long": "id=a,label=b,value=c"}) is None


@pytest.mark.parametrize("method", ["os:system", "winldl:WInLDL", "", None])
def test_methods_are_those_of_the_list(method):
    with pytest.raises(ValueError, match="These settings are not possible"):
        options.checked({"method": method})


@pytest.mark.parametrize(
    "change",
    [
        {"n_draws": -1},
        {"n_draws": 101},
        {"n_draws": 2.5},
        {"n_draws": True},
        {"most_rows": 1},
        {"thousands": "x"},
        {"sums": "x" * 501},
        {"ratios": "yes"},
        {"else": 1},
    ],
)
def test_settings_that_no_page_sends(change):
    with pytest.raises(ValueError, match="These settings are not possible"):
        options.checked(change)


def test_options_as_the_functions_take_them():
    chosen = options.checked({"roles": {"a": "label", "b": "label", "c": "id", "p": "price"}})
    chosen |= {"sums": "c = a,b\n\n", "n_draws": 3, "whole": True, "thousands": "none"}
    found = options.columns(chosen)
    assert (found.sums, found.id, found.ignore) == (["c = a,b"], [], ["p"])
    assert options.chosen(FillOptions, chosen) == FillOptions(whole=True, n_draws=3)
    assert options.chosen(FillOptions, options.DEFAULTS) == FillOptions()
    assert options.chosen(FileOptions, chosen).thousands == ""
    assert options.chosen(FileOptions, options.DEFAULTS) == FileOptions()
    assert options.learning({**options.DEFAULTS, "ratios": True}).ratios
    assert options.columns(options.checked({"mark": "*=1-4"})).mark == "*=1-4"


@pytest.mark.parametrize(
    ("kind", "change", "stale"),
    [
        ("look", {"method": "winldl"}, False),
        ("look", {"decimal": ","}, True),
        ("inspect", {"method": "winldl"}, False),
        ("inspect", {"scale": "percent"}, True),
        ("inspect", {"n_draws": 5}, False),
        ("inspect", {"roles": {"year": "time"}}, True),
        ("compare", {"roles": {"year": "time"}}, True),
        ("compare", {"normalize": True}, True),
        ("compare", {"n_draws": 5}, False),
        ("inspect", {"sums": "c=a,b"}, True),
        ("look", {"sums": "c=a,b"}, False),
        ("look", {"skip_rows": 2}, True),
        ("complete", {"n_draws": 5}, True),
        ("complete", {"method": "winldl"}, True),
        ("complete", {}, False),
    ],
)
def test_what_makes_results_stale(kind, change, stale):
    run = {"kind": kind, "settings": options.DEFAULTS, "edits": []}
    table = {"settings": {**options.DEFAULTS, **change}, "edits": []}
    assert options.is_stale(run, table) == stale
    edited = {"settings": options.DEFAULTS, "edits": [[0, "a", 1.0]]}
    assert options.is_stale(run, edited) == (kind != "look")
