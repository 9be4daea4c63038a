"""What a user says on the page, as options of the functions that the commands call."""

from inspect import signature

import pytest

from inldl.io import TableFile
from inldl.studio import settings as options
from inldl.tables import fit_table


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


@pytest.mark.parametrize(
    ("kind", "change", "stale"),
    [
        ("look", {"method": "winldl"}, False),
        ("look", {"decimal": ","}, True),
        ("inspect", {"method": "winldl"}, False),
        ("inspect", {"scale": "percent"}, True),
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
