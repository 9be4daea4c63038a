"""What commands say, in the words of the page."""

import re
from dataclasses import fields

import pytest

from inldl.errors import DataError
from inldl.tables import TableFile
from inldl.tables.option_groups import flag_of
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions
from inldl_studio.wording import explained, page_words


@pytest.mark.parametrize(
    ("said", "on_page"),
    [
        (
            "Correct it, or give scale='count' (--scale count) if the columns are no fractions.",
            "Correct it, or give “What the shares are: Counts” if the columns are no fractions.",
        ),
        (
            "Correct them, or give normalize=True (--normalize on the command line) to divide it.",
            "Correct them, or give “Accept rows with other sums” to divide it.",
        ),
        (
            "Rows are alike; --unit none takes it as a plain feature.",
            "Rows are alike; the role “feature” takes it as a plain feature.",
        ),
        (
            "Say with --na that it means missing or with --mark what it stands for (na=[...] and "
            "mark={...} in Python), or leave it.",
            "Say with “Cells that mean missing” that it means missing or with “Signs that stand "
            "for something” what it stands for, or leave it.",
        ),
        (
            "name its column (--total, total='...' in Python).",
            "name its column (the role “total”).",
        ),
        ("Nothing - of -- this is --an option.", "Nothing - of -- this is --an option."),
    ],
)
def test_options_become_controls(said, on_page):
    assert page_words(said) == on_page


def test_no_option_with_a_control_is_left():
    for group in (LearnOptions, ColumnOptions, FillOptions):
        for each in fields(group):
            if "page" in each.metadata:
                assert not re.search(r"--[a-z]", page_words(f"Give {flag_of(each)}, or not."))


def test_rows_are_counted_as_on_the_page(tmp_path):
    """Line 22 of a file with titles is row 20, and the label is known apart from the sentence."""
    lines = ["a,b", *["0.5,0.5"] * 30]
    lines[20] = "0.5,refused"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["The title of a survey", "", *lines]))
    file = TableFile(path, ["a", "b"], skip_rows=2)
    with pytest.raises(DataError, match="Line 23, column 'b': 'refused' is not a number") as told:
        file.read()
    found = explained(told.value, file.source.where, file.source.most_rows())
    assert found["about"] == {"row": 19, "label": "b", "word": "refused"}
    assert found["error"].startswith("Row 20, column 'b': 'refused' is not a number")
    assert "--" not in found["error"]
    assert "Python" not in found["error"]


def test_sums_are_found_in_their_row(tmp_path):
    lines = ["a,b", *["0.5,0.5"] * 30]
    lines[25] = "0.5,0.2"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    file = TableFile(path, ["a", "b"])
    with pytest.raises(DataError, match="Line 26: the known shares") as told:
        file.read()
    found = explained(told.value, file.source.where, file.source.most_rows())
    assert found["about"] == {"row": 24}
    assert found["error"].startswith("Row 25: the known shares")


def test_other_errors_are_told_as_they_are():
    assert explained(ValueError("No."), str, 0) == {"error": "No.", "about": {}}
