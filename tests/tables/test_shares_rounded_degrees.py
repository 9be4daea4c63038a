"""Degrees that were rounded before they were written, and degrees with percent signs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.rows.checks import check_fillable
from inldl.tables import TableFile, read_table, write_table

LABELS = ["a", "b", "c", "d"]


def rounded_table(whole, decimals):
    """Return 200 rows of rounded shares, a third of which have holes."""
    rng = np.random.default_rng(0)
    shares = (whole * rng.dirichlet(np.ones(4), 200)).round(decimals)
    holes = (rng.random(shares.shape) < 0.4) & (np.arange(200) % 3 == 0)[:, None]
    shares[holes] = np.nan
    return pd.DataFrame(shares, columns=LABELS).assign(x=rng.normal(size=200))


def save(frame, path):
    writers = {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".xlsx": frame.to_excel}
    writers[path.suffix](path, index=False)
    return path


ROUNDED = [(100, 0, "99 to 101"), (100, 1, "99.9 to 100.1"), (1, 2, "0.99 to 1.01"),
           (1, 3, "0.999 to 1.001"), (1, 5, "0.99999 to 1.00001")]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
@pytest.mark.parametrize(("whole", "decimals", "span"), ROUNDED)
def test_rounded_degrees_are_divided_by_their_sums(tmp_path, whole, decimals, span, suffix):
    frame = rounded_table(whole, decimals)
    values = frame[LABELS].to_numpy()
    table = read_table(save(frame, tmp_path / f"t{suffix}"), LABELS)
    complete = ~np.isnan(values).any(axis=1)
    sums = values[complete].sum(axis=1)
    np.testing.assert_allclose(table.y[complete], values[complete] / sums[:, None], atol=1.1e-5)
    np.testing.assert_allclose(table.y[complete].sum(axis=1), 1, rtol=0, atol=1.1e-5)
    off = (np.abs(sums / whole - 1) > 1e-5).sum()
    assert f"{off} rows sum to {span}, as rounded numbers do; they are divided by t" in str(
        table.notes
    )


def test_single_precision_has_decimals_too(tmp_path):
    frame = rounded_table(1, 2).astype(dict.fromkeys(LABELS, np.float32))
    table = read_table(save(frame, tmp_path / "t.parquet"), LABELS)
    assert "as rounded numbers do" in table.notes[1]


def test_exact_rows_stay_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a,b,c,d\n1,0.1,0.2,0.3,0.4\n2,0.11,0.22,0.33,0.35\n3,0.7,0.1,0.1,0.1\n")
    table = read_table(path, LABELS)
    exact = pd.read_csv(path)[LABELS].to_numpy()
    np.testing.assert_array_equal(table.y[[0, 2]], exact[[0, 2]])
    np.testing.assert_array_equal(table.y[1], exact[1] / exact[1].sum())
    note = "1 row sums to 1.01, as rounded numbers do; it is divided by its sum for learning."
    assert table.notes[1:] == [note]
    path.write_text(path.read_text().replace("0.35", "0.34"))
    table = read_table(path, LABELS)
    np.testing.assert_array_equal(table.y, pd.read_csv(path)[LABELS])
    assert len(table.notes) == 1


@pytest.mark.parametrize(
    ("row", "total"),
    [
        ("0.25,0.25,0.25,0.28", 1.03),  # two hundredths are explained
        ("0.25,0.25,0.25,0.22", 0.97),
        ("0.25,0.5,,0.28", 1.03),
        ("0.3333,0.3333,0.3333,0.0111", 1.011),  # a finer number tells a finer unit
    ],
)
def test_more_than_rounding_explains_is_refused(tmp_path, row, total):
    path = tmp_path / "t.csv"
    path.write_text(f"x,a,b,c,d\n1,0.25,0.25,0.25,0.25\n2,{row}\n")
    with pytest.raises(ValueError, match=rf"Line 3: .* sum to {total}, .*--normalize"):
        read_table(path, LABELS)


@pytest.mark.parametrize("row", ["1,1,0,0", "0,0,0,0", "0.3,0.3,0.3,0"])
def test_coarse_numbers_are_no_licence(tmp_path, row):
    path = tmp_path / "t.csv"
    path.write_text(f"x,a,b,c,d\n1,1,0,0,0\n2,0,1,0,0\n3,0,0,1,0\n4,{row}\n")
    with pytest.raises(ValueError, match=r"Line 5: the (known )?shares"):
        read_table(path, LABELS)


@given(
    counts=st.lists(st.lists(st.integers(0, 97), min_size=4, max_size=4), min_size=2, max_size=20),
    decimals=st.integers(0, 2),
)
def test_rounding_alone_is_never_refused(tmp_path_factory, counts, decimals):
    counts = np.array([[50, 50, 50, 47], [50, 0, 0, 0], *counts], float)
    counts[:, 0] += 1
    shares = np.round(100 * counts / counts.sum(axis=1, keepdims=True), decimals)
    frame = pd.DataFrame(shares, columns=LABELS).assign(x=1.5)
    table = read_table(save(frame, tmp_path_factory.getbasetemp() / "rounded.csv"), LABELS)
    np.testing.assert_allclose(table.y.sum(axis=1), 1, rtol=0, atol=1.1e-5)


def test_holes_of_rows_that_rounding_made_too_large_become_0(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "whole.csv"
    text = "x,a,b,c,d\n1,25,25,25,25\n2,34,34,33,\n3,40,,,\n4,33,33,33,0\n"
    path.write_text(text)
    table = read_table(path, LABELS)
    assert table.notes[1:] == [
        "1 row sums to 99, as rounded numbers do; it is divided by its sum for learning.",
        "1 row with missing shares sums to 101, as rounded numbers do; the missing shares become "
        "0.",
    ]
    left = np.array([0, 0, 0.6, 0])[:, None] * [0, 0.5, 0.3, 0.2]
    write_table(table, np.where(np.isnan(table.y), left, table.y), out)
    assert out.read_text() == text.replace("33,\n", "33,0\n").replace("40,,,", "40,30,18,12")


def test_pieces_are_read_alike(tmp_path):
    file = TableFile(save(rounded_table(100, 0), tmp_path / "t.csv"), LABELS)
    table = file.read()
    file.source.block_size = 500
    parts = [file.known(piece, "percent").y for piece in file.pieces()]
    assert len(parts) > 3
    np.testing.assert_array_equal(np.concatenate(parts), table.y)


def test_percent_signs_are_read_and_written(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "whole.csv"
    text = 'x;a;b\n1;20,5%;"79,5 %"\n2;0,5% ;\n3;NA;30%\n4;0%;100%\n'
    path.write_text(text)
    table = read_table(path, "a,b")
    expected = [[0.205, 0.795], [0.005, np.nan], [np.nan, 0.3], [0, 1]]
    np.testing.assert_allclose(table.y, expected, rtol=1e-15)
    assert (table.scale, table.file.find_scale()[0]) == ("percent", "percent")
    assert table.notes[-1] == "The shares are read as percentages: they have a percent sign."
    write_table(table, np.where(np.isnan(table.y), [[0.7, 0.995]], table.y), out)
    assert out.read_text() == text.replace("0,5% ;", "0,5% ;99,5%").replace("NA", "70%")
    assert not np.isnan(read_table(out, "a,b").y).any()


def test_small_percentages_with_signs_are_no_fractions(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a,b\n1,0.5%,\n2,,0.25%\n")
    np.testing.assert_allclose(read_table(path, "a,b").y, [[0.005, np.nan], [np.nan, 0.0025]])


def test_percent_signs_in_sheets_are_named(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "a": ["20%", "30%"], "b": [80, 70]})
    with pytest.raises(ValueError, match="'20%' has a percent sign, but other shares have none"):
        read_table(save(frame, tmp_path / "t.xlsx"), "a,b")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("1,50%,50%\n2,40,60%\n", "Line 3, column 'a': '40' has no percent sign, but other shar"),
        (
            "1,50,50\n" * 1000 + "2,40%,60\n",
            "Line 1002, column 'a': '40%' has a percent sign",
        ),
        ("1,50%,50%\n2,40%, %\n", "Line 3, column 'b': ' %' is not a number"),
        ("1,50%,50%\n2,much,60%\n", "Line 3, column 'a': 'much' is not a number"),
    ],
)
def test_signs_that_do_not_agree_are_refused(tmp_path, rows, problem):
    (tmp_path / "t.csv").write_text("x,a,b\n" + rows)
    with pytest.raises(ValueError, match=problem):
        read_table(tmp_path / "t.csv", "a,b")


def test_sums_at_the_edge_of_the_tolerance_are_read_and_completed(tmp_path):
    """Three decimals of percentages: a sum of 100.001 is off by just what exact degrees may be."""
    table = tmp_path / "t.csv"
    rows = ["34.247,54.795,,4.11,6.849", "20,30,40,5,5", "10.5,,40,5,5", "33.5,50,10.5,3,3"]
    table.write_text("\n".join(["a,b,c,d,e", *rows]))
    y = read_table(table, "a,b,c,d,e", scale="percent").y
    check_fillable(y)
    np.testing.assert_allclose(np.nansum(y[0]), 1, atol=1e-12)
