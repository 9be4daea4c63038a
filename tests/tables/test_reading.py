"""Reading tables: what is detected, what is refused and in which words."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl.tables import TableFile, read_table
from inldl.tables.formats.base import FrameFormat
from inldl.tables.formats.delimited import DelimitedText
from inldl.tables.options import FileOptions

GOOD = "x,joy,anger\n1,0.25,0.75\n2,0.5,\n"


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a file and reads it as a table."""

    def write_and_read(content, labels="joy,anger", name="t.csv", **options):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(file, labels, **options)

    return write_and_read


def test_table_has_all_parts(read):
    table = read('id,joy,word,anger\n007,0.25,"a, ""b""",0.75\n 8 ,.5,NA,\n-1e2,na,,0.1\n')
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.5, np.nan], [np.nan, 0.1]])
    assert table.labels == ["joy", "anger"]
    assert table.features["id"].tolist() == [7, 8, -100]
    assert table.features["word"].fillna("hole").tolist() == ['a, "b"', "NA", "hole"]
    assert table.degrees.columns.tolist() == ["joy", "anger"]
    assert (table.scale, table.file.format.delimiter) == ("fraction", ",")
    assert table.file.format.newline == "\n"


@pytest.mark.parametrize("hole", ["", " ", "NA", "n/a", "#N/A", "NaN", " null", "None", "?", "-"])
def test_words_for_holes(read, hole):
    table = read(f"x,joy,anger\n{hole},0.25,0.75\n2,0.5,{hole}\n")
    assert np.isnan(table.y[1, 1])
    assert np.isnan(table.features["x"][0])


@pytest.mark.parametrize(
    "word", ["inf", "1_0", "0x1", "1e", "0.5%", "½", "1 2", "1.2.3", "5" * 70]
)
def test_other_words_are_no_numbers(read, word):
    assert read(f"x,joy,anger\n{word},0.25,0.75\n2,0.5,\n").features["x"][0] == word


def test_a_feature_that_turns_to_text_late_is_text_from_the_start(tmp_path):
    file = tmp_path / "t.csv"
    rows = ["007,0.5,0.5"] * 250_000 + ["A7,0.5,0.5"]
    file.write_text("\n".join(["x,joy,anger", *rows]))
    x = read_table(file, "joy,anger").features["x"]
    assert x.iloc[0] == "007"
    assert x.iloc[-1] == "A7"
    assert len(x) == 250_001


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_delimiter_and_decimal_are_found_out(read, delimiter, decimal):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    rows = [["x", "joy", "anger"], ["a, b", "0.25", "0.75"], ["c; d|e\tf", "0.5", ""]]
    writer.writerows([[cell.replace(".", decimal) for cell in row] for row in rows])
    table = read(buffer.getvalue())
    assert (table.file.format.delimiter, table.file.format.decimal) == (delimiter, decimal)
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.5, np.nan]])
    assert any("decimal sign is a comma" in note for note in table.notes) == (decimal == ",")
    assert any("delimiter" in note for note in table.notes) == (delimiter != ",")


def test_decimal_is_found_in_features_if_labels_are_whole(read):
    table = read("x;joy;anger\n1,5;0;100\n2,5;100;0\n")
    assert table.features["x"].tolist() == [1.5, 2.5]


def test_tsv_is_split_at_tabs(read):
    assert read("x,z\tjoy\tanger\n1\t0.2\t0.8\n2\t0.5\t\n", name="t.tsv").features["x,z"][1] == 2


@pytest.mark.parametrize(
    ("encoding", "found", "note"),
    [
        ("utf-8", "utf-8", None),
        ("utf-8-sig", "utf-8", "utf-8, by the mark"),
        ("utf-16", "utf-16-le", "utf-16-le, by the mark"),
        ("utf-32", "utf-32-le", "utf-32-le, by the mark"),
        ("cp1252", "cp1252", "not UTF-8; it is read as cp1252"),
    ],
)
def test_encoding_is_found_out_or_given(read, encoding, found, note):
    content = GOOD.replace("x", "é€").encode(encoding)
    table = read(content)
    assert table.file.format.encoding == found
    assert list(table.features) == ["é€"]
    assert note is None or any(note in told for told in table.notes)
    assert list(read(content, encoding=encoding).features) == ["é€"]


def test_bytes_that_cp1252_lacks_are_latin_1(read):
    assert read(GOOD.encode().replace(b"x", b"\x81")).file.format.encoding == "latin-1"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["anger", "joy"], ["anger", "joy"]),
        ("joy, anger", ["joy", "anger"]),
        ("e_*", ["e_1", "e_2"]),
        ("joy,e_?", ["joy", "e_1", "e_2"]),
        ("re:e_[12]{1,2}", ["e_1", "e_2"]),
        ("e_1,e_*", ["e_1", "e_2"]),
    ],
)
def test_labels_by_name_prefix_and_pattern(read, labels, found):
    content = "x,joy,anger,e_1,e_2\n1,.5,.5,.5,.5\n2,.5,,.5,\n"
    assert read(content, labels, normalize=True).labels == found


@pytest.mark.parametrize(
    ("rows", "scale", "first"),
    [
        (["25,75", "50,"], "percent", 0.25),
        (["0.2,0.8", "0.5,"], "fraction", 0.2),
        (["3,1", "4,12"], "count", 0.75),
        (["33,66.5", "50,50"], "percent", None),
        (["0.5,", ",0.6"], "fraction", 0.5),
        (["40,", ",60"], "percent", 0.4),
        (["1,0", "0,1"], "fraction", 1.0),
        (["99,1", "30,20", "300,7"], "count", 0.99),
    ],
)
def test_scale_is_found_out(read, rows, scale, first):
    content = "x,joy,anger\n" + "".join(f"1,{row}\n" for row in rows)
    table = read(content, normalize=True)
    assert table.scale == scale
    assert any("shares are read as" in note for note in table.notes)
    assert first is None or table.y[0, 0] == first


def test_scale_can_be_given(read):
    content = "x,joy,anger\n1,25,75\n2,50,50\n"
    assert read(content, scale="count").scale == "count"
    with pytest.raises(ValueError, match=r"Line 2, column 'joy': the share 25 is above 1;"):
        read(content, scale="fraction")


def test_what_a_computation_left_of_zero_is_zero(read):
    assert read("x,joy,anger\n1,-1e-17,1\n2,0.5,\n").y[0].tolist() == [0, 1]


def test_normalize_divides_complete_rows_only(read):
    table = read("x,joy,anger\n1,0.31,0.62\n2,0.5,\n3,0.5,0.5\n", normalize=True)
    np.testing.assert_allclose(table.y, [[1 / 3, 2 / 3], [0.5, np.nan], [0.5, 0.5]])
    note = "divided by their sums for learning; the written file keeps them as they are."
    assert table.notes[-2] == f"Complete rows that do not sum to 1: 1. They are {note}"
    assert table.notes[-1].startswith("Complete rows sum to 0.93 to 1, so no missing share foll")
    assert table.sums.tolist() == pytest.approx([0.93, 1, 1])


def test_normalize_divides_rows_with_holes_that_are_a_little_too_large(read):
    content = "x,joy,anger,fear\n1,.5,.25,.25\n2,.67,.36,\n3,.2,.3,\n"
    with pytest.raises(ValueError, match=r"sum to 1.03, more than 1 .*; correct them, or give"):
        read(content, "joy,anger,fear")
    table = read(content, "joy,anger,fear", normalize=True)
    expected = [[0.5, 0.25, 0.25], [0.67 / 1.03, 0.36 / 1.03, np.nan], [0.2, 0.3, np.nan]]
    np.testing.assert_allclose(table.y, expected)
    words = "Rows with missing shares whose known ones sum to more than 1: 1. They are divided by "
    words += "their"
    assert table.notes[-1].startswith(words)
    assert table.sums is None  # complete rows are exact
    far = content.replace(".36", ".39")
    for normalize in (False, True):
        with pytest.raises(ValueError, match=r"sum to 1.06, more than 1 .*; correct them\.$"):
            read(far, "joy,anger,fear", normalize=normalize)


@pytest.mark.parametrize(
    ("content", "expected", "note"),
    [
        ("1,5,15\n2,4,\n3,0,0\n", [[0.25, 0.75], [1, np.nan], [0, 0]], "a count is missing: 1;"),
        ("1,0.5,\n2,0.25,NA\n", [[0.5, np.nan], [0.25, np.nan]], "no row is complete"),
        ("1,,\n2,,\n", np.full((2, 2), np.nan), "none is observed"),
    ],
)
def test_what_is_not_checked_is_not_refused(tmp_path, content, expected, note):
    (tmp_path / "t.csv").write_text("x,joy,anger\n" + content)
    table = TableFile(tmp_path / "t.csv", "joy,anger").read(check=False)
    np.testing.assert_array_equal(table.y, expected)
    assert note in table.notes[-1]


def test_rows_that_are_needed(tmp_path):
    (tmp_path / "one.csv").write_text("x,joy,anger\n1,0.5,\n")
    (tmp_path / "none.csv").write_text("x,joy,anger\n")
    one, none = (TableFile(tmp_path / name, "joy,anger") for name in ("one.csv", "none.csv"))
    with pytest.raises(ValueError, match="has only one row; at least two rows are needed to lear"):
        one.read(check=False)
    assert len(one.read(check=False, least_rows=1).y) == 1
    with pytest.raises(ValueError, match=r"has a header but no rows; add rows\.$"):
        none.read(least_rows=1)


SCALES = ["25,75", "50,", "0.2,0.8", "0.5,", "3,1", "4,12", "33,66.5", "40,", "99,1", "300,7"]


@given(rows=st.lists(st.sampled_from(SCALES), min_size=1, max_size=12), block=st.integers(1, 30))
def test_the_scale_can_be_found_alone(tmp_path_factory, rows, block):
    path = tmp_path_factory.getbasetemp() / "scale.csv"
    path.write_text("x,joy,anger\n" + "".join(f"1,{row}\n" for row in rows))
    file = TableFile(path, "joy,anger")
    table = file.read(check=False, least_rows=1)
    file.source.block_size = block
    scale, note = file.find_scale()
    assert scale == table.scale
    assert note in table.notes


def test_long_names_are_shortened(read):
    """A wrong encoding can make one name of a file."""
    content = ("x,joy,anger\n" + "1,0.5,0.5\n" * 500).encode()
    for labels in ("joy,anger", "*"):
        with pytest.raises(ValueError, match="No label columns found") as caught:
            read(content, labels, encoding="utf-16")
        assert len(str(caught.value)) < 300


REFUSED = {
    "no labels": (GOOD, {"labels": "fear*"}, "No label columns found for 'fear*'; the columns are "
                  "'x', 'joy', 'anger'."),
    "near name": (GOOD, {"labels": "Joy,anger"}, "found for 'Joy' (did you mean 'joy'?); the"),
    "one label": (GOOD, {"labels": "joy"}, "needs at least two, and only 'joy' is named"),
    "empty labels": (GOOD, {"labels": []}, "at least two, and none is named"),
    "expression": (GOOD, {"labels": "re:("}, "'(' is not a regular expression"),
    "negative": ("x,joy,anger\n1,0.5,0.5\n2,-0.2,1.2\n", {},
                 "Line 3, column 'joy': the share -0.2 is below 0;"),
    "too large": ("x,joy,anger\n1,0.5,0.5\n2,,1.7\n", {},
                  "Line 3, column 'anger': the share 1.7 is above 1; correct it, or give "
                  "scale='count' (--scale count) if"),
    "infinite": ("x,joy,anger\n1,0.5,0.5\n2,,1e999\n", {},
                 "Line 3, column 'anger': the share inf is not finite;"),
    "sum": ("x,joy,anger\n1,0.5,0.5\n2,0.4,0.53\n", {},
            "Line 3: the known shares (columns 'joy' to 'anger') sum to 0.93, not 1 (1 such "
            "row); correct them, or give normalize=True (--normalize on the command line)"),
    "percent sum": ("x,joy,anger\n1,50,50\n2,40,53.5\n", {}, "sum to 93.5, not 100"),
    "observed sum": ("x,joy,anger,fear\n1,0.5,0.5,0\n2,0.7,0.5,\n",
                     {"labels": "joy,anger,fear"}, "Line 3: the known shares (columns 'joy' "
                     "to 'fear') sum to 1.2, more than 1"),
    "zero sum": ("x,joy,anger\n1,0.5,0.5\n2,0,0\n", {"normalize": True}, "Line 3: the shares"),
    "text": ("x,joy,anger\n1,0.5,0.5\n2,much,\n", {},
             "Line 3, column 'joy': 'much' is not a number with the decimal sign '.';"),
    "wrong decimal": ("x;joy;anger\n1;0,5;0,5\n2;0.5;\n", {}, "Line 3, column 'joy': '0.5' has "
                      "a decimal point, but '0,5' (line 2, column 'joy') has a decimal comma;"),
    "given decimal": ("x;joy;anger\n1;0,5;0,5\n2;0.5;\n", {"decimal": ","}, "Line 3, column "
                      "'joy': '0.5' is not a number with the decimal sign ','"),
    "unobserved": ("x,joy,anger\n1,,\n2,,NA\n", {}, "No share is known; fill in some of them."),
    "count hole": ("x,joy,anger\n1,5,7\n2,4,\n", {"scale": "count"},
                   "Line 3, column 'anger': a count is missing"),
    "duplicate": ("x,joy,anger,joy\n1,0.5,0.5,0\n2,0.5,0.5,0\n", {},
                  "The column name 'joy' appears more than once in the header (columns 2, 4);"),
    "empty": ("", {}, "is empty; it needs a header"),
    "blank": ("\n \r\n", {}, "is empty; it needs a header"),
    "header only": ("x,joy,anger\n\n", {}, "has a header but no rows;"),
    "one row": ("x,joy,anger\n1,0.5,0.5\n", {}, "has only one row;"),
    "open quote": ('x,joy,anger\n"a\nb",0.5,0.5\n2,"0.5,0.5\n', {},
                   "Line 4 opens a quotation mark that is never closed, near column 2;"),
    "inner quote": ('x,joy,anger\n5" pipe,0.5,0.5\n2,0.5,0.5\n', {},
                    "Line 2 has a quotation mark inside a cell, near column 1;"),
    "quote ends early": ('x,joy,anger\n"5" pipe,0.5,0.5\n2,0.5,0.5\n', {}, "Line 2 has a quot"),
    "return after quote": ('x,joy,anger\n"5"\rpipe,0.5,0.5\n2,0.5,0.5\n', {}, "Line 2 has a quot"),
    "too many": ('x,joy,anger\n"a\nb",0.5,0.5\n\n2,0.5,0.5,7\n', {},
                 "Line 5 has 4 cells but the header has 3 (delimiter ',');"),
    "too few": ("x,joy,anger\n1,0.5,0.5\n2,0.5\n", {}, "Line 3 has 2 cells"),
    "wrong encoding": ("x,joy,anger\nà,1,0\n".encode("cp1252"), {"encoding": "utf-8"},
                       "Line 2 of the file is not utf-8 (byte 12);"),
    "no encoding": (GOOD, {"encoding": "utf-9"}, "'utf-9' is not an encoding of text;"),
    "no text encoding": (GOOD, {"encoding": "rot13"}, "'rot13' is not an encoding of text;"),
    "binary": (b"PK\0\0", {}, "not a table of text: it has zero bytes in it; if it is UTF-16, "
               "give encoding='utf-16' (--encoding utf-16)."),
    "scale": (GOOD, {"scale": "grams"}, "scale must be one of 'auto', 'fraction'"),
    "delimiter": (GOOD, {"delimiter": ":"}, "delimiter must be one of ','"),
    "decimal": (GOOD, {"decimal": "'"}, "decimal must be one of '.'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_in_one_sentence(read, case):
    content, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(content, **options)
    assert "\n" not in str(caught.value)
    assert not isinstance(caught.value, UnicodeError)


def test_missing_file_folder_and_suffix(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.csv;"):
        read_table(tmp_path / "none.csv", "a,b")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        read_table(tmp_path, "a,b")
    (tmp_path / "t.doc").touch()
    with pytest.raises(ValueError, match=r"ends in '\.doc', which is not a known kind of table"):
        read_table(tmp_path / "t.doc", "a,b")


@pytest.mark.parametrize(("suffix", "package"), [("parquet", "pyarrow"), ("xlsx", "openpyxl")])
def test_optional_kinds_name_the_extra(tmp_path, suffix, package):
    file = tmp_path / f"t.{suffix}"
    file.write_bytes(b"nothing")
    try:
        __import__(package)
    except ImportError:
        with pytest.raises(ImportError, match=rf"need {package}: pip install 'inldl\[parquet\]'"):
            read_table(file, "a,b")
    else:
        with pytest.raises(ValueError, match="cannot be read as"):
            read_table(file, "a,b")


cells = st.text(st.sampled_from('a1é,;"\n\r \t'), max_size=5)


@settings(max_examples=6 * settings.default.max_examples)
@given(
    rows=st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    block=st.integers(1, 40),
)
def test_cells_are_those_of_the_csv_module(tmp_path_factory, rows, newline, quoting, block):
    if quoting == csv.QUOTE_MINIMAL:  # the module does not always quote a lone "\r"
        rows = [[cell.replace("\r", "") for cell in row] for row in rows]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=newline, quoting=quoting).writerows(rows)
    file = tmp_path_factory.getbasetemp() / "cells.csv"
    file.write_bytes(buffer.getvalue().encode())
    options = {"delimiter": ",", "encoding": "utf-8", "skip_rows": 0, "skip_last": 0}
    found = DelimitedText(file, FileOptions(na=(), **options))
    found.block_size = block
    names, found.names = found.names, list(map(str, range(len(rows[0]))))
    below = [
        list(row)
        for part in found.blocks()
        for row in zip(*found.cells(part, found.names).values(), strict=True)
    ]
    assert names == [cell.strip() or name for cell, name in zip(rows[0], names, strict=True)]
    assert below == rows[1:]


def test_numbers_are_those_of_pandas(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-9, 9, (500, 3)))
    frame = frame.set_axis(list("abc"), axis=1).mask(rng.random((500, 3)) < 0.2)
    frame = frame.assign(joy=0.5, anger=0.5)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", "joy,anger")
    pd.testing.assert_frame_equal(table.features, frame[["a", "b", "c"]], check_exact=True)


table_bytes = st.lists(
    st.sampled_from([b"x", b"joy", b"anger", b",", b";", b"\t", b'"', b"\n", b"\r\n", b"\r",
                     b"0.5", b"0,5", b"1", b"NA", b"-", b" ", b"\xe9", b"\xef\xbb\xbf"])
).map(b"".join)  # fmt: skip


@settings(max_examples=12 * settings.default.max_examples)
@given(content=st.binary() | table_bytes | table_bytes.map(b"x,joy,anger\n1,.5,.5\n".__add__))
def test_any_bytes_give_a_table_or_a_sentence(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "fuzz.csv"
    file.write_bytes(content)
    try:
        table = read_table(file, "joy,anger")
    except ValueError as caught:
        error = caught
    else:
        assert table.y.shape == (len(table.features), 2)
        assert np.nanmin(table.y) >= 0
        assert sum(piece.size for piece in table.file.pieces()) == len(table.y)
        return
    assert not isinstance(error, UnicodeError)
    assert str(error).endswith(".")


def test_frames_are_read_like_text():
    frame = pd.DataFrame({"x": ["a", "b"], "joy": [0.25, None], "anger": ["0.75", "NA"]})

    class Frame(FrameFormat):
        kind, names, n_rows = "frame", list(frame), len(frame)

        def load(self):
            pass

        def frames(self, names=None):
            yield frame, frame

    source = Frame(None, FileOptions(na=()))
    [piece] = source.pieces(["anger", "joy"], ["x"])
    np.testing.assert_array_equal(piece.values, [[0.75, 0.25], [np.nan, np.nan]])
    assert piece.features.equals(frame[["x"]])
    with pytest.raises(ValueError, match="Row 1 below the header, column 'x': 'a' is not a num"):
        list(source.pieces(["x", "joy"], []))
