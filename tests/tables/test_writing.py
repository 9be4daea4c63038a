"""Writing tables: only holes change, rows sum to the whole, and files are replaced whole."""

import os
import re
import stat

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inldl.tables import TableFile, read_table, write_table
from inldl.tables.table import Format
from inldl.tables.writing import HoleFilling, TableWriter

HOLES = ["", "NA", '""', " ", "?", '"nan"']


def completed(y):
    """Return degrees that divide what the observed ones leave evenly over the holes."""
    holes = np.isnan(y)
    left = np.maximum(0, 1 - np.nansum(y, axis=1, keepdims=True))
    return np.where(holes, left / np.maximum(1, holes.sum(axis=1, keepdims=True)), y)


def quoted(cell):
    """Return a cell as it stands in a file, quoted if it must be."""
    special = any(sign in cell for sign in '",;\t|\n\r')
    return f'"{cell.replace(chr(34), chr(34) * 2)}"' if special else cell


words = st.text(st.sampled_from('ab1é€ "\n,;\t|.-'), max_size=6).map(quoted)


@st.composite
def files(draw):
    """Draw the pieces of a text and which of them are holes, the delimiter and decimal sign."""
    delimiter, decimal = draw(st.sampled_from([",", ";", "\t", "|"])), draw(st.sampled_from(".,"))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pieces = [delimiter.join(["name", "joy", "word", "anger", "fear"]), newline]
    holes = []
    rows = draw(st.integers(0, 6)) + 2
    for row in range(rows):
        units = draw(st.tuples(*[st.integers(0, 300)] * 2))
        degrees = [units[0], units[1], 1000 - sum(units)]
        for column in range(5):
            pieces.append(delimiter if column else "")
            if column in (0, 2):
                pieces.append(draw(words) if column == 2 else f"r{row}")
            elif row and draw(st.booleans()):
                holes.append(len(pieces))
                pieces.append(draw(st.sampled_from(HOLES)))
            else:
                text = f"{degrees[(1, 3, 4).index(column)] / 1000}".replace(".", decimal)
                pieces.append(f'"{text}"' if delimiter == decimal else text)
        pieces.append(newline * draw(st.integers(1, 2)))
    if draw(st.booleans()):
        pieces[-1] = ""  # no line break at the end
    return pieces, holes, delimiter, decimal


@settings(max_examples=2 * settings.default.max_examples)
@given(
    file=files(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    block=st.integers(1, 60) | st.just(1 << 20),
)
def test_only_holes_change(tmp_path_factory, file, encoding, block):
    pieces, holes, delimiter, decimal = file
    folder = tmp_path_factory.getbasetemp()
    source, target = folder / "round.csv", folder / "round_out.csv"
    source.write_bytes("".join(pieces).encode(encoding))
    labels = ["fear", "joy", "anger"]  # not in the order of the file
    table = read_table(
        source, labels, scale="fraction", delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    table.file.source.block_size = block
    assert np.isnan(table.y).sum() == len(holes)
    write_table(table, completed(table.y), target, overwrite=True)
    written = target.read_bytes().decode(encoding)
    expected = [re.escape(piece) for piece in pieces]
    for hole in holes:
        quote = '"' if delimiter == decimal or pieces[hole].startswith('"') else ""
        expected[hole] = rf"{quote}[01]([{decimal}]\d{{1,10}})?{quote}"
    assert re.fullmatch("".join(expected), written)
    again = read_table(target, labels, delimiter=delimiter, decimal=decimal, encoding=encoding)
    np.testing.assert_allclose(again.y.sum(axis=1), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(again.y, completed(table.y), rtol=0, atol=3e-6)
    observed = ~np.isnan(table.y)
    np.testing.assert_array_equal(again.y[observed], table.y[observed])


def test_file_without_holes_is_copied(tmp_path):
    content = b'x;"joy";anger\r\n\r\n"a;""b";3;1\r\n\xe9;5;0\r\n\r\n'
    (tmp_path / "t.csv").write_bytes(content)
    table = read_table(tmp_path / "t.csv", "joy,anger")
    assert table.scale == "count"
    write_table(table, table.y, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content


def test_fills_have_the_scale_and_the_decimal_sign(tmp_path):
    (tmp_path / "t.csv").write_text("x;a;b;c\n1;12,5;80;7,5\n2;33,3;;\n3;;;-\n")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    write_table(table, completed(table.y), tmp_path / "out.csv")
    expected = "x;a;b;c\n1;12,5;80;7,5\n2;33,3;33,35;33,35\n3;33,333334;33,333333;33,333333\n"
    assert (tmp_path / "out.csv").read_text() == expected


@settings(max_examples=6 * settings.default.max_examples)
@given(
    weights=st.lists(st.floats(0, 1), min_size=2, max_size=40).filter(lambda w: sum(w) > 1e-3),
    hole=st.integers(0, 2**40 - 1),
    left=st.sampled_from([1.0, 0.3, 1e-5, 1e-6, 2e-7]),
    whole=st.sampled_from([1.0, 100.0]),
)
def test_rounded_rows_sum_to_the_whole(weights, hole, left, whole):
    holes = np.array([bool(hole >> j & 1) for j in range(len(weights))])
    holes[0], holes[-1] = True, False
    w = np.array(weights) + 1e-9
    full = np.where(holes, left * w / w[holes].sum(), (1 - left) * w / w[~holes].sum())
    y = np.where(holes, np.nan, full)
    fills = HoleFilling(y[None], full[None], whole).rounded()[0]
    assert (np.isnan(fills) == ~holes).all()
    assert (fills[holes] >= 0).all()
    printed = [float(f"{fill:.10f}") for fill in fills[holes]]
    assert abs(sum(printed) + np.nansum(y) * whole - whole) < 1e-9
    assert sum(round(fill, 6) != fill for fill in printed) <= 1
    np.testing.assert_allclose(fills[holes], full[holes] * whole, rtol=0, atol=1e-6 * len(w))


def test_small_fills_do_not_take_more_than_is_left():
    y = np.array([[1 - 6e-6, *[np.nan] * 10]])
    fills = HoleFilling(y, np.where(np.isnan(y), 6e-7, y), 1.0).rounded()[0, 1:]
    np.testing.assert_allclose(fills, [6e-6, *[0] * 9], rtol=0, atol=1e-10)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text("x,joy,anger\n1,0.25,0.75\n2,0.5,\n")
    return read_table(tmp_path / "t.csv", "joy,anger")


def test_existing_files_are_kept_unless_told(tmp_path, table):
    full, old = completed(table.y), (tmp_path / "t.csv").read_bytes()
    (tmp_path / "other.csv").write_text("mine")
    with pytest.raises(FileExistsError, match=r"t\.csv is the table that was read; write to anot"):
        write_table(table, full, tmp_path / "t.csv")
    with pytest.raises(FileExistsError, match=r"other\.csv exists already; write to another"):
        write_table(table, full, tmp_path / "other.csv")
    assert (tmp_path / "t.csv").read_bytes() == old
    write_table(table, full, tmp_path / "t.csv", overwrite=True)
    assert (tmp_path / "t.csv").read_bytes() == old[:-1] + b"0.5\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.csv", "t.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs modes and links")
def test_replaced_file_keeps_its_mode_and_its_link(tmp_path, table):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_table(table, completed(table.y), link, overwrite=True)
    assert link.is_symlink()
    assert real.read_text().endswith("2,0.5,0.5\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_targets_that_cannot_be(tmp_path, table):
    full = completed(table.y)
    with pytest.raises(IsADirectoryError, match="is a folder; name a file to write"):
        write_table(table, full, tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_table(table, full, tmp_path / "none" / "t.csv")
    with pytest.raises(ValueError, match="is another kind of file than"):
        write_table(table, full, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("full", "message"),
    [
        (
            [[0.25, 0.75]],
            r"completed has the shape \(1, 2\) but the table's degrees have \(2, 2\)",
        ),
        ([[0.25, 0.75], [0.5, np.nan]], r"completed\[1, 1\] is nan, but it must fill a hole"),
        ([[0.25, 0.75], [0.5, -0.5]], r"completed\[1, 1\] is -0.5, but"),
        ([[0.25, 0.75], [0.6, 0.4]], "Row 1 of completed puts 0.4 into the holes, but the obser"),
    ],
)
def test_completed_must_fit(tmp_path, table, full, message):
    with pytest.raises(ValueError, match=message):
        write_table(table, np.array(full), tmp_path / "out.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_any_failure_removes_the_part(tmp_path, table):
    table.file.source.header_end = None
    with pytest.raises(TypeError):
        write_table(table, completed(table.y), tmp_path / "out.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_frames_come_back_with_only_holes_filled(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": ["a", "b"], "joy": [25.0, 50.0], "anger": [75.0, np.nan]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "joy,anger")
    assert table.file.format == Format("parquet")
    write_table(table, completed(table.y), tmp_path / "out.parquet")
    frame.loc[1, "anger"] = 50.0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), frame)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ('=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'),
        ("=a", "'=a"),
        ("+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-1", "-1"),
        ("+1_low", "+1_low"),
        ("@home", "@home"),
        ("a=b", "a=b"),
    ],
)
def test_added_names_are_no_formulas(tmp_path, name, header):
    """Those of the table itself stay byte for byte."""
    (tmp_path / "t.csv").write_text("=x,a\n1,0.5\n")
    file, nothing = TableFile(tmp_path / "t.csv", None), np.zeros((1, 0))
    with TableWriter(file, tmp_path / "out.csv", extra=[name]) as writer:
        for piece in file.pieces():
            writer.write(piece, nothing, nothing, "fraction", np.ones((1, 1)))
    assert (tmp_path / "out.csv").read_text() == f"=x,a,{header}\n1,0.5,1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"x","a"\n"1",""\n', '"x","a","b"\n"1","","0.5"\n'),
        ('"x","a"\n1,""\n', '"x","a",b\n1,"",0.5\n'),  # as R and others write numbers
    ],
)
def test_added_cells_are_quoted_where_all_others_are(tmp_path, text, expected):
    (tmp_path / "t.csv").write_text(text)
    file, nothing = TableFile(tmp_path / "t.csv", None), np.zeros((1, 0))
    with TableWriter(file, tmp_path / "out.csv", extra=["b"]) as writer:
        for piece in file.pieces():
            writer.write(piece, nothing, nothing, "fraction", np.full((1, 1), 0.5))
    assert (tmp_path / "out.csv").read_text() == expected
