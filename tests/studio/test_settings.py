"""What a user says on the page, as options of the functions that the commands call."""

from inspect import signature

import pytest

from inldl.studio import settings as options
from inldl.tables import TableFile, fit_table
from inldl.tables.tasks import complete_table


def test_options_are_those_of_the_functions():
    roles = {"a": "label", "b": "label", "c": "id", "d": "ignored", "e": "weight", "f": "total"}
    chosen = options.checked({"roles": roles})
    table = {**options.columns(chosen), **options.reading(chosen)}
    assert set(table) <= set(signature(TableFile.__init__).parameters)
    assert set(options.learning(chosen)) <= set(signature(fit_table).parameters)
    assert table["labels"] == ["a", "b"]
    assert (table["id"], table["ignore"], table["total"]) == (["c"], ["d"], "f")
    assert options.learning(chosen)["weight"] == "e"


def test_labels_are_needed_unless_the_table_is_long():
    with pytest.raises(ValueError, match="No column is marked as a label"):
        options.columns(options.DEFAULTS)
    assert options.columns({**options.DEFAULTS, "long": "id=a,label=b,value=c"})["labels"] is None


@pytest.mark.parametrize("method", ["os:system", "winldl:WInLDL", "", None])
def test_methods_are_those_of_the_list(method):
    with pytest.raises(ValueError, match="These settings are not possible"):
        options.checked({"method": method})


@pytest.mark.parametrize(
    "change",
    [
        {"draws": -1},
        {"draws": 101},
        {"draws": 2.5},
        {"draws": True},
        {"learn_from": 1},
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
    chosen |= {"sums": "c = a,b\n\n", "draws": 3, "whole": True, "thousands": "none"}
    assert options.columns(chosen)["sums"] == ["c = a,b"]
    assert (options.columns(chosen)["id"], options.columns(chosen)["ignore"]) == ([], ["p"])
    assert options.completing(chosen) == {"whole": True, "n_draws": 3}
    assert set(options.completing(chosen)) <= set(signature(complete_table).parameters)
    assert options.reading(chosen)["thousands"] == ""
    assert options.reading(options.DEFAULTS)["thousands"] is None
    assert options.method(options.DEFAULTS) == "auto"
    ratios = {**options.DEFAULTS, "ratios": True, "method": "winldl"}
    assert options.method(ratios) == "winldl(known='ratios')"


@pytest.mark.parametrize(
    ("kind", "change", "stale"),
    [
        ("look", {"method": "winldl"}, False),
        ("look", {"decimal": ","}, True),
        ("inspect", {"method": "winldl"}, False),
        ("inspect", {"scale": "percent"}, True),
        ("inspect", {"draws": 5}, False),
        ("inspect", {"sums": "c=a,b"}, True),
        ("look", {"sums": "c=a,b"}, False),
        ("look", {"skip_rows": 2}, True),
        ("complete", {"draws": 5}, True),
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


def test_work_of_an_earlier_version_is_not_stale():
    earlier = {name: options.DEFAULTS[name] for name in ("roles", "scale", "method")}
    run = {"kind": "complete", "settings": earlier, "edits": []}
    assert not options.is_stale(run, {"settings": options.DEFAULTS, "edits": []})
