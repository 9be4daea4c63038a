"""Numbers read from digits: those of Python's float, to the bit."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl import kernels

HOLES = kernels.packed_words(("", "na", "-"))


def read(cells, decimal=".", thousands=(0, 0, 0, 0), percent=False):
    """Return the numbers of some cells, and which were not read: 1 long numbers, 2 text."""
    texts = [cell.encode() for cell in cells]
    ends = np.cumsum([len(text) for text in texts])
    data, out = np.frombuffer(b"".join(texts) + b"#", np.uint8), np.empty((1, len(cells)))
    starts, signs = ends - [len(text) for text in texts], np.array([ord(decimal), *thousands])
    cells = data, starts[:, None], ends[:, None], np.array([0])
    return out[0], kernels.read_numbers(*cells, signs, HOLES, percent, out)[0]


decimals = st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?",
                         fullmatch=True)  # fmt: skip


@settings(max_examples=5 * settings.default.max_examples)
@given(st.lists(decimals | st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1))
def test_what_is_read_is_what_python_reads(cells):
    out, left = read(cells)
    expected = np.array([float(cell) for cell in cells])
    np.testing.assert_array_equal(out[left == 0], expected[left == 0])
    assert (np.signbit(out[left == 0]) == np.signbit(expected[left == 0])).all()


def test_ordinary_numbers_are_not_left():
    cells = ["0.5", "-12.25", "1e-3", "123456789012345", "7.", ".5", "+3", " 4\t", "1E22", "0"]
    out, left = read(cells)
    assert not left.any()
    assert out.tolist() == [float(cell) for cell in cells]
    assert read(["1,5"], ",")[0].tolist() == [1.5]


@given(st.text(st.sampled_from("0123456789+-.eE x_,inf"), max_size=8))
def test_what_is_no_number_is_text_and_empty_is_a_hole(cell):
    out, left = read([cell])
    if cell.strip() in ("", "-"):
        assert math.isnan(out[0])
        assert not left[0]
        return
    try:
        float(cell.replace("_", "x").replace("inf", "x"))
    except ValueError:
        assert left[0] == 2


def test_numbers_with_many_digits_are_left_to_others():
    cells = ["0.12345678901234567", "1e23", "1e-0023", "9" * 64, "9" * 65, "1" * 30 + "x"]
    assert read(cells)[1].tolist() == [1, 1, 1, 1, 2, 2]


def test_words_for_holes_are_read_in_any_case():
    out, left = read(["NA", " nA\n", "-", "nan", "na%", "1%", "%"])
    assert np.isnan(out[:3]).all()
    assert left.tolist() == [0, 0, 0, 2, 2, 2, 2]


def test_percent_signs_stand_at_all_numbers_or_at_none():
    out, left = read(["1%", " 2.5 % ", "NA", "", "3", "%", "na%"], percent=True)
    np.testing.assert_array_equal(out[:4], [1, 2.5, np.nan, np.nan])
    assert left.tolist() == [0, 0, 0, 0, 2, 2, 2]


def test_signs_between_thousands_are_left_out():
    cells = ["1,234,567.5", " -47,300", "12,34", "1.5", "0,123", "1,234.5,6", ""]
    out, left = read(cells, thousands=(1, 0, 0, 0))
    assert left.tolist() == [0, 0, 2, 0, 2, 2, 0]
    np.testing.assert_array_equal(out[left == 0], [1234567.5, -47300, 1.5, np.nan])


@given(st.binary(max_size=40))
def test_bytes_are_found_where_they_are(text):
    data, out = np.frombuffer(text, np.uint8), np.empty(len(text) + 1, np.int64)
    count = kernels.find_bytes(data, ord(","), ord("\n"), out)
    assert out[:count].tolist() == [i for i, byte in enumerate(text) if byte in b",\n"]
