"""Numbers read from digits: those of Python's float, to the bit."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl import _kernels


def read(cells, decimal="."):
    texts = [cell.encode() for cell in cells]
    ends = np.cumsum([len(text) for text in texts])
    data = np.frombuffer(b"".join(texts) + b"#", np.uint8)
    out = np.empty(len(cells))
    left = _kernels.read_numbers(data, ends - [len(t) for t in texts], ends, ord(decimal), out)
    return out, left


decimals = st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?",
                         fullmatch=True)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(decimals | st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1))
def test_what_is_read_is_what_python_reads(cells):
    out, left = read(cells)
    expected = np.array([float(cell) for cell in cells])
    np.testing.assert_array_equal(out[~left], expected[~left])
    assert (np.signbit(out[~left]) == np.signbit(expected[~left])).all()


def test_ordinary_numbers_are_not_left():
    cells = ["0.5", "-12.25", "1e-3", "123456789012345", "7.", ".5", "+3", " 4\t", "1E22", "0"]
    out, left = read(cells)
    assert not left.any()
    assert out.tolist() == [float(cell) for cell in cells]
    assert read(["1,5"], ",")[0].tolist() == [1.5]


@given(st.text(st.sampled_from("0123456789+-.eE x_,inf"), max_size=8))
def test_what_is_no_number_is_left_and_empty_is_a_hole(cell):
    out, left = read([cell])
    if not cell.strip():
        assert math.isnan(out[0])
        assert not left[0]
        return
    try:
        float(cell.replace("_", "x").replace("inf", "x"))
    except ValueError:
        assert left[0]


def test_signs_between_thousands_are_left_out():
    cells = ["1,234,567.5", " -47,300", "12,34", "1.5", "0,123", "1,234.5,6", ""]
    texts = [cell.encode() for cell in cells]
    ends = np.cumsum([len(text) for text in texts])
    data = np.frombuffer(b"".join(texts), np.uint8)
    commas = np.array([False, True, False, False, False])
    bounds = ends - [len(text) for text in texts], ends
    out, starts, ends = _kernels.ungroup(data, *bounds, ord("."), commas)
    found = [out[a:b].tobytes().decode() for a, b in zip(starts, ends, strict=True)]
    assert found == ["1234567.5", "-47300", "12,34", "1.5", "0,123", "1,234.5,6", ""]
