"""Decimal signs, and signs between thousands: read as they are meant, or refused."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl.tables import TableFile, read_table, write_table
from inldl.tables.formats.text import is_plain

COMMAS = "Commas separate thousands (as in {})."
DOTS = "Dots separate thousands (as in {})."
SPACES = "Spaces separate thousands (as in {})."
APOSTROPHES = "Apostrophes separate thousands (as in {})."
DECIMAL = "The decimal sign is a comma."


def columns(cells, delimiter):
    """Return a text with the cells as a feature, and counts as labels."""
    quoted = [f'"{cell}"' if delimiter in cell else cell for cell in cells]
    return delimiter.join("xab") + "\n" + "".join(f"{q}{delimiter}1{delimiter}2\n" for q in quoted)


def read(tmp_path, cells, delimiter=",", **options):
    path = tmp_path / "t.csv"
    path.write_text(columns(cells, delimiter), encoding="utf-8")
    return read_table(path, "a,b", scale="count", delimiter=delimiter, **options)


UNDERSTOOD = {
    "millions": (["1,234,000", "53"], ",", [1234000, 53], [COMMAS.format("1,234,000")]),
    "beside a point": (["3226", "47,300", "12.5"], ",", [3226, 47300, 12.5],
                       [COMMAS.format("47,300")]),
    "with a point": (["47,300.25", "-1,000"], ";", [47300.25, -1000],
                     [COMMAS.format("47,300.25")]),
    "a percent sign and blanks": ([" 47,300 ", "NA", "1.5"], ",", [47300, np.nan, 1.5],
                                  [COMMAS.format("47,300")]),
    "decimals": (["3,14", "47,300"], ",", [3.14, 47.3], [DECIMAL]),
    "two digits": (["47,30"], ";", [47.3], [DECIMAL]),
    "a leading 0": (["0,123", "1,234"], ";", [0.123, 1.234], [DECIMAL]),
    "four digits before": (["1234,567", "1,234"], ";", [1234.567, 1.234], [DECIMAL]),
    "an exponent": (["1,234e3", "1,234"], ";", [1234, 1.234], [DECIMAL]),
    "dots beside a decimal comma": (["1.234", "0,5"], ";", [1234, 0.5],
                                    [DECIMAL, DOTS.format("1.234")]),
    "dots and a comma": (["1.234.567,891", "3.226"], ";", [1234567.891, 3226],
                         [DECIMAL, DOTS.format("1.234.567,891")]),
    "several dots": (["1.234.567", "12"], ",", [1234567, 12], [DECIMAL, DOTS.format("1.234.567")]),
    "spaces": (["47 300", "1 234,50"], ";", [47300, 1234.5], [DECIMAL, SPACES.format("47 300")]),
    "spaces tell": (["47 300", "1,234"], ";", [47300, 1.234], [DECIMAL, SPACES.format("47 300")]),
    "no-break": (["47\u00a0300", "12.5"], ",", [47300, 12.5], [SPACES.format("47\u00a0300")]),
    "narrow": (["1\u202f234\u202f567"], ",", [1234567], [SPACES.format("1\u202f234\u202f567")]),
    "thin": (["47\u2009300"], "|", [47300], [SPACES.format("47\u2009300")]),
    "apostrophes": (["47'300", "1'234.5"], ",", [47300, 1234.5], [APOSTROPHES.format("47'300")]),
    "typographic": (["47’300"], ";", [47300], [APOSTROPHES.format("47’300")]),
    "points": (["1.234", "12.345"], ",", [1.234, 12.345], []),
    "a point elsewhere": (["1.234", "0.5"], ";", [1.234, 0.5], []),
    "whole": (["1", "2"], ";", [1, 2], []),
}  # fmt: skip


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_signs_are_understood(tmp_path, case):
    cells, delimiter, expected, notes = UNDERSTOOD[case]
    table = read(tmp_path, [*cells, "7"], delimiter)
    np.testing.assert_array_equal(table.features["x"], [*expected, 7])
    assert [note for note in table.notes if "delimiter" not in note] == notes


TEXT = ["1,23,456", "12,34,567", "1,2,3", "0 123", "030 123 456", "1 2345", "12'34", "1,234.567,8",
        "47, 300", "47,300 000", "1,234e", "1.2.3", "1..5", "--5"]  # fmt: skip


@pytest.mark.parametrize("cell", TEXT)
def test_other_groups_are_no_numbers(tmp_path, cell):
    table = read(tmp_path, [cell, "5"], "|")
    assert table.features["x"].tolist() == [cell, "5"]


REFUSED = {
    "either": (["53", "47,300", "3226"], ",", {}, "Line 3, column 'x': '47,300' could mean "
               "47300 or 47.300, and no other number in the file settles it; give --thousands , "
               "or --decimal , (in Python, thousands=',' or decimal=',')."),
    "dots": (["1.234", "5"], ";", {}, "Line 2, column 'x': '1.234' could mean 1234 or 1.234, and "
             "no other number in the file settles it; give --thousands . or --decimal ."),
    "both": (["47,300", "1.234"], ";", {}, "'47,300' could mean 47300 or 47.300"),
    "two decimal signs": (["0,5", "0.5"], ";", {}, "Line 3, column 'x': '0.5' has a decimal "
                          "point, but '0,5' (line 2, column 'x') has a decimal comma; write all "
                          "numbers in one way, or give decimal='.' or ',' (--decimal on the"),
    "a comma for both": (["1,234,567", "0,5"], ";", {}, "'0,5' has a decimal comma, but "
                         "'1,234,567' (line 2, column 'x') has commas between thousands;"),
    "a dot for both": (["0.5", "1.234.567"], ";", {}, "'1.234.567' has dots between thousands, "
                       "but '0.5' (line 2, column 'x') has a decimal point;"),
    "spaces do not tell": (["12 345", "1,234", "1.234"], ";", {}, "'1.234' has a dot, but"),
    "same sign": (["1"], ",", {"decimal": ",", "thousands": ","}, "',' cannot be the decimal sign "
                  "and separate thousands at once."),
    "no sign": (["1"], ",", {"thousands": "_"}, "thousands must be one of '', ',', '.', ' ', "),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_doubtful_signs_are_refused(tmp_path, case):
    cells, delimiter, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, cells, delimiter, **options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"thousands": ","}, [47300, 53]),
        ({"decimal": "."}, [47300, 53]),
        ({"decimal": ","}, [47.3, 53]),
        ({"thousands": ""}, [47.3, 53]),
        ({"thousands": " "}, [47.3, 53]),
        ({"thousands": "."}, [47.3, 53]),
        ({"decimal": ".", "thousands": ""}, ["47,300", "53"]),
    ],
)
def test_options_decide(tmp_path, options, expected):
    table = read(tmp_path, ["47,300", "53"], **options)
    assert table.features["x"].tolist() == expected


def test_every_cell_counts(tmp_path):
    cells = ["47,300"] * 3000
    with pytest.raises(ValueError, match="Line 2, column 'x': '47,300' could mean"):
        read(tmp_path, cells)
    assert read(tmp_path, [*cells, "0.5"]).features["x"][0] == 47300
    assert read(tmp_path, [*cells, "0,5"]).features["x"][0] == 47.3
    path = tmp_path / "t.csv"
    path.write_text(columns([*cells, "0,5", "1,000,000"], ","))
    with pytest.raises(ValueError, match="Line 3003, column 'x': '1,000,000' has commas between"):
        TableFile(path, "a,b")


def test_text_tells_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,answers,a,b\n"47,300","1,2",1,2\n12.5,"1,2,3",3,4\n')
    table = read_table(path, "a,b", scale="count")
    assert table.features["x"].tolist() == [47300, 12.5]
    assert table.features["answers"].tolist() == ["1,2", "1,2,3"]


def test_labels_are_read_and_all_else_is_written_back(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "whole.csv"
    text = 'x;income;a;b\n1;"1.234,5";20,5;79,5\n2;47.300;0,5;\n3;12;;25\n'
    path.write_text(text)
    table = read_table(path, "a,b")
    assert table.features["income"].tolist() == [1234.5, 47300, 12]
    assert (table.file.format.decimal, table.file.format.thousands) == (",", ".")
    write_table(table, np.where(np.isnan(table.y), [[0.75, 0.995]], table.y), out)
    assert out.read_text() == text.replace("0,5;\n", "0,5;99,5\n").replace(";;", ";75;")


def test_votes_are_counts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,a,b\n1.5,"47,300","1,052,700"\n2.5,3226,774\n')
    table = read_table(path, "a,b")
    np.testing.assert_allclose(table.y, [[0.043, 0.957], [0.8065, 0.1935]])
    assert table.notes[0] == COMMAS.format("47,300")


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_numbers_that_are_text_follow_the_same_rules(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"

    def save(**more):
        x, y = ["1,234,567", "53", None], ["12.5", "007", "1"]
        frame = pd.DataFrame({"x": x, "id": y, "word": ["a,b", "1,234", ""], **more})
        (frame.to_excel if suffix == ".xlsx" else frame.to_parquet)(path, index=False)

    save(a=["47,300", "1", "3"], b=["700", "3", "1,000"])
    table = read_table(path, "a,b", scale="count")
    np.testing.assert_array_equal(table.features["x"], [1234567, 53, np.nan])
    assert table.features["id"].tolist() == ["12.5", "007", "1"]
    assert table.features["word"].tolist()[:2] == ["a,b", "1,234"]
    np.testing.assert_allclose(
        table.y, [[47300 / 48000, 700 / 48000], [0.25, 0.75], [3, 1000] / np.float64(1003)]
    )
    assert COMMAS.format("47,300") in table.notes
    save(a=["0,5", "0,25", "1"], b=["0,5", None, "0"])
    with pytest.raises(
        ValueError, match=r"column 'x': '1,234,567' has commas .*, but '0,5' \(row .*, column 'a'"
    ):
        read_table(path, "a,b")
    with pytest.raises(ValueError, match="column 'a': '0,5' is not a number"):
        read_table(path, "a,b", decimal=".")
    table = read_table(path, "a,b", decimal=",")
    np.testing.assert_array_equal(table.y, [[0.5, 0.5], [0.25, np.nan], [1, 0]])
    write_table(table, np.where(np.isnan(table.y), 0.75, table.y), tmp_path / f"out{suffix}")
    whole = read_table(tmp_path / f"out{suffix}", "a,b", decimal=",")
    np.testing.assert_array_equal(whole.y, [[0.5, 0.5], [0.25, 0.75], [1, 0]])


@st.composite
def styles(draw):
    decimal = draw(st.sampled_from(".,"))
    thousands = draw(st.sampled_from(["", "," if decimal == "." else ".", " ", "\u00a0", "\u202f",
                                      "\u2009", "'", "’"]))  # fmt: skip
    # Dots between thousands are not looked for where commas separate cells.
    delimiters = ";\t|" if thousands == "." else ";\t|,"
    return decimal, thousands, draw(st.sampled_from(delimiters))


numbers = st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(-(10**9), 10**9) | st.integers(-5000, 5000),
    st.sampled_from([0, 0, 1, 2, 3, 3, 4]),
)


@settings(max_examples=4 * settings.default.max_examples)
@given(style=styles(), cells=st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=2))
def test_a_number_is_read_as_it_is_meant_or_refused(tmp_path_factory, style, cells):
    decimal, thousands, delimiter = style
    path = tmp_path_factory.getbasetemp() / "styles.csv"

    def written(number):
        text = f"{number:,f}".replace(",", "t").replace(".", decimal).replace("t", thousands)
        return f'"{text}"' if delimiter in text else text

    rows = [delimiter.join([*map(written, row), "1", "2"]) for row in cells]
    path.write_text("\n".join([delimiter.join("xzab"), *rows]) + "\n", encoding="utf-8")
    options = {"scale": "count", "delimiter": delimiter}
    expected = np.array(cells, float)
    try:
        found = read_table(path, "a,b", **options).features
        np.testing.assert_array_equal(found.to_numpy(float), expected)
    except ValueError as error:
        if "could mean" not in str(error):
            raise
    kind = {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"}.get(thousands, thousands)
    found = read_table(path, "a,b", decimal=decimal, thousands=kind, **options).features
    np.testing.assert_array_equal(found.to_numpy(float), expected)


@given(
    st.lists(st.text(st.sampled_from("0123456789.,; 'x\u00a0\u202f\""), max_size=9), min_size=1),
    st.sampled_from(",;"),
)
def test_a_plain_text_has_no_other_sign(tmp_path_factory, cells, delimiter):
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    escaped = [cell.replace('"', '""') for cell in cells]
    text = delimiter.join("xy") + "\n" + "".join(f'"{c}"{delimiter}1\n' for c in escaped)
    path.write_bytes(text.encode())
    found = TableFile(path, None, delimiter=delimiter, decimal=".").source._evidence([], ["x"])
    assert not (is_plain(text, delimiter) and found.unusual())
