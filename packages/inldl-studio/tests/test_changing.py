"""What may be written into cells."""

import pytest

from inldl_studio.changing import Change, share_of


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("0,5", 0.5), ("12.5", 12.5), ("0", 0), ("1e-3", 0.001), ("3,0", 3)],
)
def test_numbers_as_people_write_them(text, number):
    assert share_of(text) == number


COUNTS = {"whole": None, "thousands": "", "decimal": "."}


@pytest.mark.parametrize(
    ("text", "facts", "number"),
    [
        ("1,234", COUNTS, 1234), ("1,234,567", COUNTS, 1_234_567), ("1.234", COUNTS, 1.234),
        ("1 234", COUNTS, 1234), ("1.234", COUNTS | {"decimal": ",", "thousands": "."}, 1234),
        ("1.234", COUNTS | {"decimal": ","}, 1234), ("12,5", COUNTS | {"decimal": ","}, 12.5),
        ("0.5%", {"whole": 1.0}, 0.005), ("0.5%", {"whole": 100.0}, 0.5),
        ("1,234.5", {"whole": 100.0}, 1234.5),
    ],
)  # fmt: skip
def test_numbers_are_read_as_the_table_writes_them(text, facts, number):
    assert share_of(text, facts) == pytest.approx(number)


def test_a_number_that_can_mean_two_is_refused():
    with pytest.raises(ValueError, match=r"'1,234' could mean 1234 or 1.234; write it without"):
        share_of("1,234", {"whole": 100.0})
    with pytest.raises(ValueError, match="'5%' is not a count"):
        share_of("5%", COUNTS)


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1,2,3", "1.2,3", "1 2", "%"])
def test_what_is_no_share(text):
    with pytest.raises(ValueError, match="is not a share; write a number of 0 or more"):
        share_of(text)


def test_a_change_knows_what_was_there_and_who_did_it():
    table = {"edits": [[0, "a", 1.0, "Ada"], [1, "a", 2.0]], "settings": {}}
    cells = [[0, "a", "3"], [1, "a", ""], [2, "a", None], [3, "a", "NA"], [4, "a", ""]]
    found = Change("Emmy", {"what": "Pasted"}, cells)(table, [])
    assert (found["who"], found["what"]) == ("Emmy", "Pasted")
    assert [(each["before"], each["after"]) for each in found["cells"]] == [
        ([1.0, "Ada"], [3.0, "Emmy"]),
        ([2.0], None),
        (None, [None, "Emmy"]),
        (None, [None, "Emmy"]),
    ]
