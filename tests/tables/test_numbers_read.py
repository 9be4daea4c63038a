"""Numbers in cells and in texts: those of Python's float, to the bit."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl.tables import TableFile
from inldl.tables.numbers import parse_cells, parse_number
from inldl.tables.table import Format

SIGNS = Format("text", na=("Gone",))


def read(cells, signs=SIGNS, *, percent=False):
    """Return the numbers of some cells, and which are text."""
    values, text, _ = parse_cells(cells, signs, percent=percent)
    return values, np.isin(np.arange(len(cells)), text)


@pytest.fixture(scope="module")
def read_column(tmp_path_factory):
    """Return a function that writes cells to a file, and reads them as a feature."""
    path = tmp_path_factory.mktemp("numbers") / "t.csv"

    def write_and_read(cells):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([["x", "y"], *((c, "z") for c in cells)])
        path.write_text(text.getvalue(), encoding="utf-8", newline="")
        [piece] = TableFile(path, None, decimal=".", thousands="").pieces(["x"])
        return piece.features["x"]

    return write_and_read


decimals = st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?",
                         fullmatch=True)  # fmt: skip
floats = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@settings(max_examples=5 * settings.default.max_examples)
@given(st.lists(decimals | floats, min_size=1))
def test_what_is_read_is_what_python_reads(read_column, cells):
    expected = np.array([float(cell) for cell in cells])
    values, text = read(cells)
    assert not text.any()
    np.testing.assert_array_equal(values, expected)
    assert (np.signbit(values) == np.signbit(expected)).all()
    np.testing.assert_array_equal(read_column(cells), expected)


def test_ordinary_numbers_are_no_text():
    cells = ["0.5", "-12.25", "1e-3", "123456789012345", "7.", ".5", "+3", " 4\t", "1E22", "0"]
    values, text = read(cells)
    assert not text.any()
    assert values.tolist() == [float(cell) for cell in cells]
    assert parse_number("1,5", Format("text", decimal=",")) == 1.5


@settings(max_examples=3 * settings.default.max_examples)
@given(cell=st.text(st.sampled_from("0123456789+-.eE x_,inf"), max_size=8))
def test_what_is_no_number_is_text_and_empty_is_a_hole(read_column, cell):
    number = parse_number(cell, SIGNS)
    [found] = read_column([cell])
    if cell.strip() in ("", "-", ".", "..", "..."):
        assert math.isnan(number)
        assert isinstance(found, float)
        assert math.isnan(found)
        return
    assert number == found if number is not None else found == cell
    try:
        float(cell.replace("_", "x").replace("inf", "x"))
    except ValueError:
        assert number is None


def test_numbers_with_many_digits_are_numbers_up_to_a_width():
    cells = ["0.12345678901234567", "1e23", "1e-0023", "9" * 64, "9" * 65, "1" * 30 + "x"]
    assert read(cells)[1].tolist() == [False] * 4 + [True] * 2


def test_words_for_holes_are_read_in_any_case():
    values, text = read(["NA", " nA\n", "-", "gONE", "word", "na%", "1%", "%"])
    assert np.isnan(values).all()
    assert text.tolist() == [False] * 4 + [True] * 4


def test_percent_signs_stand_at_all_numbers_or_at_none():
    values, text = read(["1%", " 2.5 % ", "NA", "", "3", "%", "na%"], percent=True)
    np.testing.assert_array_equal(values[:4], [1, 2.5, np.nan, np.nan])
    assert text.tolist() == [False] * 4 + [True] * 3


def test_signs_between_thousands_are_left_out():
    cells = ["1,234,567.5", " -47,300", "12,34", "1.5", "0,123", "1,234.5,6", ""]
    values, text = read(cells, Format("text", thousands=","))
    assert text.tolist() == [False, False, True, False, True, True, False]
    np.testing.assert_array_equal(values[~text], [1234567.5, -47300, 1.5, np.nan])
