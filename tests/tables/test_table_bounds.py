"""Cells that say between which numbers a degree lies: <5, 1-9, and what is none of that."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.tables import TableFile, read_table
from inldl.tables.table import Format, read_bounds

PLAIN = Format("text")
COMMA = Format("text", decimal=",", thousands=".")
SPACES = Format("text", thousands=" ")
PERCENT = Format("text", percent=True)
NAN = np.nan


@pytest.mark.parametrize(
    ("cell", "signs", "bounds"),
    [
        ("<5", PLAIN, (NAN, 5, True)),
        (" < 0.05 ", PLAIN, (NAN, 0.05, True)),
        ("<.5", PLAIN, (NAN, 0.5, True)),
        ("<=5", PLAIN, (NAN, 5, False)),
        ("≤5", PLAIN, (NAN, 5, False)),
        ("<=0", PLAIN, (NAN, 0, False)),
        (">50", PLAIN, (50, NAN, True)),
        ("≥\u00a050", PLAIN, (50, NAN, False)),
        (">= 50", PLAIN, (50, NAN, False)),
        ("1-9", PLAIN, (1, 9, False)),
        ("1–9", PLAIN, (1, 9, False)),
        ("0 - 0.5", PLAIN, (0, 0.5, False)),
        ("5 to 10", PLAIN, (5, 10, False)),
        ("5 TO 10", PLAIN, (5, 10, False)),
        ("2012-2013", PLAIN, (2012, 2013, False)),
        ("<2,5", COMMA, (NAN, 2.5, True)),
        ("<1.000", COMMA, (NAN, 1000, True)),
        ("1 000–2\u202f000", SPACES, (1000, 2000, False)),
        ("<5%", PERCENT, (NAN, 5, True)),
        ("<= 5 %", PERCENT, (NAN, 5, False)),
        ("5–10 %", PERCENT, (5, 10, False)),
        ("5%-10%", PERCENT, (5, 10, False)),
    ],
)
def test_bounds(cell, signs, bounds):
    assert read_bounds(cell, signs) == pytest.approx(bounds, nan_ok=True)


@pytest.mark.parametrize(
    ("cell", "signs"),
    [
        ("5", PLAIN), ("-5", PLAIN), ("", PLAIN), ("-", PLAIN), ("<", PLAIN), ("<-5", PLAIN),
        ("-5-10", PLAIN), ("5--10", PLAIN), ("1-2-3", PLAIN), ("05-10", PLAIN), ("1-09", PLAIN),
        ("1/9", PLAIN), ("<5>", PLAIN), ("<>5", PLAIN), ("~5", PLAIN),
        ("5+", PLAIN), ("<1e3", PLAIN), ("1e-5-2", PLAIN), ("5to10", PLAIN), ("<five", PLAIN),
        ("<5 or so", PLAIN), ("<1,5", PLAIN), ("<1,000", PLAIN), ("<1 0", SPACES),
        ("<5%", PLAIN), ("<5", PERCENT), ("5%-10", PERCENT), ("5%-10", PLAIN), ("<5%%", PERCENT),
        ("<" + "1" * 70, PLAIN), ("<\u0665", PLAIN), ("<²", PLAIN),
    ],
)  # fmt: skip
def test_all_else_is_no_bound(cell, signs):
    assert read_bounds(cell, signs) == ""


def test_what_is_wrong_with_bounds_is_said():
    assert read_bounds("10-5", PLAIN) == (
        "runs from 10 down to 5; write the smaller number first."
    )
    assert "no share is below 0" in read_bounds("<0", PLAIN)
    assert read_bounds("9. Jan", PLAIN).startswith("looks like a date")


@given(
    st.text(st.sampled_from("<>=≤≥-–%.,' 0123456789to\u00a0e+x"), max_size=12),
    st.sampled_from([PLAIN, COMMA, SPACES, PERCENT]),
)
def test_no_text_is_misread(cell, signs):
    found = read_bounds(cell, signs)
    if isinstance(found, str):
        return
    low, high, strict = found
    assert not strict or np.isnan(low) != np.isnan(high)
    assert not low > high
    assert not low < 0
    assert not high < 0
    # The same by another road: numbers as Python reads them, once the signs are plain.
    text = cell
    for sign in signs.thousands:
        text = text.replace(sign, "").replace("\u00a0", "")
    text = text.replace(signs.decimal, ".").replace("%", " ").strip()
    text = text.replace("≤", "<=").replace("≥", ">=").replace("–", "-").replace("to", "-")
    numbers = [float(part) for part in text.lstrip("<>= \u00a0").split("-")]
    assert [each for each in (low, high) if not np.isnan(each)] == numbers
    if len(numbers) == 1:
        assert np.isnan(low) == text.startswith("<")
        assert strict == ("=" not in text)


ROWS = {
    "x": [1.0, 2.0, 3.0, 4.0],
    "a": ["50", "90", "1-9", ">= 60"],
    "b": ["40", "<5", "≤ 5", "20"],
    "c": ["10", "", "88", "20"],
}


def written(tmp_path, ending):
    frame, path = pd.DataFrame(ROWS), tmp_path / f"t{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".xlsx":
        frame.assign(c=[10, None, 88, 20]).to_excel(path, index=False)
    elif ending == ".csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif ending == "-long.csv":
        long = frame.melt(["x"], var_name="label", value_name="value").sort_values("x")
        long.to_csv(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ";")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx", "-long.csv"])
def test_every_format_has_bounds(tmp_path, ending):
    long = "id=x,label=label,value=value" if "long" in ending else None
    table = read_table(written(tmp_path, ending), "a,b,c", long=long)
    y = np.array([[0.5, 0.4, 0.1], [0.9, NAN, NAN], [NAN, NAN, 0.88], [NAN, 0.2, 0.2]])
    np.testing.assert_array_equal(table.y, y)
    lower, upper = np.where(np.isnan(y), 0, y), np.where(np.isnan(y), 1, y)
    lower[2, 0], lower[3, 0] = 0.01, 0.6
    np.testing.assert_array_equal(table.known.lower, lower)
    upper[1:3, 1], upper[2, 0] = 0.05, 0.09
    np.testing.assert_array_equal(table.known.upper, upper)
    assert table.scale == "percent"
    assert table.notes[-1].startswith("4 cells such as ")
    assert " are read as bounds: between " in table.notes[-1]


def test_a_table_without_such_cells_has_no_bounds(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n0.5,0.5\n0.9,\n")
    table = read_table(tmp_path / "t.csv", "a,b")
    assert not table.known.constrained
    assert table.known.arguments() == {}


def test_pieces_and_samples_keep_bounds_beside_their_rows(tmp_path, monkeypatch):
    lines = [f"{i},{i % 50 + 1},{99 - i % 50}\n" for i in range(3000)]
    lines[2500] = "2500,<7,95\n"
    (tmp_path / "t.csv").write_text("x,a,b\n" + "".join(lines))
    file = TableFile(tmp_path / "t.csv", "a,b")
    file.source.block_size = 4096
    pieces = list(file.pieces())
    assert len(pieces) > 3
    [bounded] = [piece for piece in pieces if piece.bounds is not None]
    assert bounded.bounds.limits[1, 2500 - bounded.first, 0] == 7
    known = file.known(bounded, "percent")
    assert known.upper[2500 - bounded.first, 0] == 0.07
    assert np.argwhere(known.bounded).tolist() == [[2500 - bounded.first, 0]]
    table = file.read(most_rows=2000)
    at = np.flatnonzero(~np.isnan(table.y).all(axis=1) & np.isnan(table.y[:, 0]))
    if len(at):
        assert table.rows[at[0]] == 2500
        assert table.known.upper[at[0], 0] == 0.07
    whole = file.read()
    assert np.argwhere(whole.known.bounded).tolist() == [[2500, 0]]


def refusal(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"[;.]") as told:
        read_table(tmp_path / "t.csv", "a,b,c", **options)
    return str(told.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("80,10-5,10", "Line 3, column 'b': '10-5' runs from 10 down to 5"),
        ("80,-5,10", "Line 3, column 'b': the share -5 is below 0"),
        ("80,05-10,10", "Line 3, column 'b': '05-10' is not a number"),
        ("80,9-Jan,10", "Line 3, column 'b': '9-Jan' looks like a date"),
        ("80,<5%,10", "write all shares with the sign, or all without it"),
        ("80,<500,10", "Line 3, column 'b': the bound 500 is above 100; correct it, or give"),
        ("80,>30,10", "at least 120, but the whole is 100 (1 such row)"),
        ("80,<5,10", "at most 95, but the whole is 100 (1 such row); correct them, or give"),
        ("80,<0,10", "Line 3, column 'b': '<0' leaves nothing"),
    ],
)
def test_refusals_say_where_and_why(tmp_path, row, told):
    assert told in refusal(tmp_path, f"a,b,c\n50,40,10\n{row}\n")


def test_a_bound_above_the_whole_of_fractions_is_refused(tmp_path):
    told = refusal(tmp_path, "a,b,c\n.5,.4,.1\n.9,<5,\n")
    assert "column 'b': the bound 5 is above 1; correct it, or give scale='count'" in told


def test_bounds_settle_the_signs_of_numbers_and_are_settled_by_them(tmp_path):
    told = refusal(tmp_path, "a;b;c\n50;40;10\n90;<1.000;\n")
    assert "'<1.000' could mean <1000 or <1.000" in told
    (tmp_path / "t.csv").write_text("a;b;c\n50;40;10\n90;<2,5;\n")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    assert table.known.upper[1, 1] == 0.025
    assert "The decimal sign is a comma." in table.notes


def test_what_rounding_explains_is_no_contradiction(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n50,40,10\n97.4,1.5,<1\n")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    assert np.nansum(table.y[1]) + table.known.upper[1, 2] == pytest.approx(1)
    assert "miss the whole, as rounded numbers do: 1." in " ".join(table.notes)


USUAL = st.sampled_from(["", "", "5", "40", "<5", "<=40", "≤ 5", "1-9", ">40", "5 to 10", "0-100"])
ODD = st.sampled_from(["0.5", "9–1", "05-10", "-5", "10%", "<5%", "1,5", "<1,5", "9-Jan", "x", "<",
                       "1e3", ">=0", "<0", ">1 000", "nan", "inf", "<inf", "<60"])  # fmt: skip
ROW = st.tuples(USUAL, USUAL, USUAL) | st.tuples(USUAL, USUAL | ODD, USUAL)


def read_or_refused(path, **options):
    try:
        return read_table(path, "a,b,c", **options).known, None
    except ValueError as error:
        return None, str(error)


@given(
    rows=st.lists(ROW, min_size=1, max_size=2),
    delimiter=st.sampled_from(";\t"),
    total=st.sampled_from([None, "n"]),
    sums=st.sampled_from([None, "s=a,b"]),
)
def test_a_table_of_any_cells_is_read_or_refused(tmp_path_factory, rows, delimiter, total, sums):
    path = tmp_path_factory.mktemp("fuzz") / "t.csv"
    lines = [("a", "b", "c", "n", "s"), ("50", "40", "10", "100", "90")]
    lines += [(*row, "100", "50" if sums else "") for row in rows]
    path.write_text("\n".join(map(delimiter.join, lines)), encoding="utf-8")
    known, told = read_or_refused(path, total=total, sums=sums, ignore="n,s")
    if known is None:
        assert told.endswith(".")
        return
    y, (lower, upper) = known.y, known.box
    seen = ~np.isnan(y)
    assert (lower[seen] == y[seen]).all()  # only holes have bounds
    assert (upper[seen] == y[seen]).all()
    assert not (lower > upper + 1e-9).any()
    assert not ((lower < 0) | (upper > 1 + 1e-9)).any()
    # Each cell is a number, a hole, or a bound, as its text says.
    for row, cells in zip(y[1:], rows, strict=True):
        for value, cell in zip(row, cells, strict=True):
            plain = cell.replace(",", ".").rstrip("%")
            is_number = plain.replace(".", "").replace("e", "").isdigit()
            assert np.isnan(value) != is_number


def test_words_for_missing_come_first(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n50,40,10\n90,<5,\n")
    table = read_table(tmp_path / "t.csv", "a,b,c", na="<5")
    assert np.isnan(table.y[1, 1])
    assert not table.known.constrained


def test_features_keep_such_cells_as_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,a,b,c\n<5,50,40,10\n1-9,90,<5,\n")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    assert table.features["x"].tolist() == ["<5", "1-9"]


def test_a_date_of_a_spreadsheet_is_refused_with_advice(tmp_path):
    frame = pd.DataFrame({"a": [50, pd.Timestamp("2024-01-09")], "b": [40, 10], "c": [10, 20]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    with pytest.raises(
        ValueError, match="is a date, which spreadsheets make of cells such as 1-9"
    ):
        read_table(tmp_path / "t.xlsx", "a,b,c")
