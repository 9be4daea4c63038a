"""Tables a piece at a time: the same as at once."""

import gc
import json
import os
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, read_table, write_table
from inldl.tables.writing import TableWriter


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(3), 500).round(6)
    y[:, 2] = (1 - y[:, 0] - y[:, 1]).round(6)
    frame = pd.DataFrame(y, columns=["a", "b", "c"]).mask(rng.random((500, 3)) < 0.3)
    frame["x"] = rng.normal(size=500).round(4)
    frame["word"] = [["01", "2", "A5", None][i % 4] for i in range(500)]
    return frame


def evenly(y):
    """Return degrees that divide what the observed ones leave evenly over the holes."""
    rest = 1 - np.nansum(y, axis=1, keepdims=True)
    return np.where(np.isnan(y), rest / np.maximum(1, np.isnan(y).sum(axis=1, keepdims=True)), y)


def small_pieces(file):
    if file.format.kind == "text":
        file.source.block_size = 300
    return file


@pytest.fixture(params=["csv", "utf-16", "parquet"])
def path(request, frame, tmp_path, monkeypatch):
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr("inldl.tables.formats.parquet.Parquet.batch_rows", 64)
        frame.to_parquet(tmp_path / "t.parquet")
        return tmp_path / "t.parquet"
    encoding = "utf-8" if request.param == "csv" else request.param
    frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    return tmp_path / "t.csv"


def test_pieces_make_up_the_table(path, frame):
    file = small_pieces(TableFile(path, "a,b,c"))
    table = file.read()
    pieces = list(file.pieces(["x", "word"], text={"word"}))
    assert len(pieces) > 5
    assert [piece.first for piece in pieces[1:]] == [piece.rows.stop for piece in pieces[:-1]]
    np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), table.y)
    found = pd.concat([piece.features for piece in pieces])
    np.testing.assert_array_equal(found["x"], frame["x"])
    assert found["word"].fillna("").tolist() == frame["word"].fillna("").tolist()
    assert found.index.tolist() == list(range(500))
    fractions = [file.known(piece, "fraction").y for piece in pieces]
    np.testing.assert_array_equal(np.concatenate(fractions), table.y)


def test_columns_are_added(path, frame, tmp_path):
    file = small_pieces(TableFile(path, "a,b,c"))
    out = tmp_path / f"out{path.suffix}"
    with TableWriter(file, out, filled=["a", "b", "c"], extra=["row", "half"]) as writer:
        for piece in file.pieces():
            y = piece.values
            number = np.arange(piece.first, piece.first + piece.size, dtype=float)
            half = np.where(number % 2, np.nan, number / 2)
            writer.write(piece, y, evenly(y), "fraction", np.column_stack([number, half]))
    table = read_table(out, "a,b,c")
    np.testing.assert_allclose(table.y.sum(axis=1), 1, atol=1e-8)
    seen = frame[["a", "b", "c"]].notna().to_numpy()
    np.testing.assert_array_equal(table.y[seen], frame[["a", "b", "c"]].to_numpy()[seen])
    assert list(table.features) == ["x", "word", "row", "half"]
    assert table.features["row"].tolist() == list(range(500))
    assert table.features["half"].isna().sum() == 250


def test_added_columns_need_free_names(path, tmp_path):
    with pytest.raises(ValueError, match="has a column 'x' already, which is to be added"):
        TableWriter(TableFile(path, "a,b,c"), tmp_path / f"o{path.suffix}", extra=["x"])


def test_added_columns_differ(path, tmp_path):
    with pytest.raises(ValueError, match="Two columns 'a_low' are to be added"):
        TableWriter(TableFile(path, None), tmp_path / f"o{path.suffix}", extra=["a_low", "a_low"])


def test_added_columns_fit_the_encoding(tmp_path):
    (tmp_path / "t.csv").write_bytes("näme,x\nä,1\n".encode("cp1252"))
    file = TableFile(tmp_path / "t.csv", None)
    message = "The column 'радость' cannot be written in cp1252, the .*; save the table as UTF-8"
    with pytest.raises(ValueError, match=message):
        TableWriter(file, tmp_path / "out.csv", extra=["freude", "радость"])
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_sample_is_drawn_evenly_and_sees_rare_labels(path, frame):
    file = small_pieces(TableFile(path, "a,b,c"))
    table = file.read(most_rows=100)
    assert 100 <= len(table.y) <= 200
    np.testing.assert_array_equal(table.features["x"], frame["x"][table.rows])
    assert table.features["word"].fillna("").tolist() == (
        frame["word"].fillna("").iloc[table.rows].tolist()
    )
    assert (np.bincount(table.rows // 100, minlength=5) >= 8).all()
    np.testing.assert_array_equal(file.read(most_rows=100).rows, table.rows)


def test_a_file_that_changes_is_noticed(path, frame, tmp_path):
    table = read_table(path, "a,b,c")
    path.write_bytes(path.read_bytes() + b"\n")
    message = rf"^{path} was changed while it was read; start again\.$"
    with pytest.raises(OSError, match=message):
        write_table(table, evenly(table.y), tmp_path / f"out{path.suffix}")


def test_a_change_that_keeps_size_and_date_is_noticed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a,b\n1,0.5,0.5\n2,0.5,0.5\n")
    file, before = TableFile(path, "a,b"), path.stat()
    path.write_text("x,a,b\n1,0.1,0.9\n2,0.5,0.5\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(OSError, match="was changed while it was read"):
        next(file.pieces())


def changed_while_written(path, out, change):
    file = TableFile(path, None)
    with TableWriter(file, out):
        change(path)
        next(file.pieces())


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"other")])
def test_a_file_that_changes_while_it_is_written_is_named(path, tmp_path, change):
    message = rf"^{path} was changed while it was read; start again\.$"
    with pytest.raises(OSError, match=message):
        changed_while_written(path, tmp_path / f"out{path.suffix}", change)


def test_another_encoding_needs_no_copy(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    frame.to_csv(tmp_path / "t.csv", index=False, encoding="utf-16")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    assert len(table.y) == len(frame)
    assert not list(Path(tmp_path, "copies").iterdir())
    with pytest.raises(ValueError, match="is not ascii"):
        read_table(tmp_path / "t.csv", "a,b,c", encoding="ascii")


@pytest.mark.parametrize("kind", ["float32", "int", "string", "decimal", "nullable"])
def test_parquet_keeps_the_types_of_columns(kind, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    types = {"float32": pa.float32(), "int": pa.int32(), "string": pa.string(),
             "decimal": pa.decimal128(22, 3), "nullable": pa.float64()}  # fmt: skip
    a, b = [20, 60, None], [30, None, None]
    if kind == "string":
        a, b = ["20", "60", "NA"], ["30", None, ""]
    columns = {
        "when": pa.array([1, 2, 3], pa.timestamp("ms")),
        "a": pa.array(a).cast(types[kind]),
        "b": pa.array(b).cast(types[kind]),
        "c": pa.array([50, 10, None], pa.int8()),
        "whole": pa.array([1, 2, None], pa.int64()),
        "words": pa.array([["x"], [], None]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", compression="gzip")
    table = read_table(tmp_path / "t.parquet", "a,b,c")
    np.testing.assert_allclose(table.y[0], [0.2, 0.3, 0.5])
    full = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.25, 0.25, 0.5]])
    write_table(table, full, tmp_path / "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    for name in ("when", "whole", "words"):
        assert out[name].combine_chunks().equals(columns[name])
    expected = {"float32": pa.float32(), "string": pa.string()}.get(kind, pa.float64())
    assert out.schema.field("a").type == expected
    values = np.column_stack([[float(x) for x in out[n].to_pylist()] for n in "abc"])
    np.testing.assert_allclose(values, full * 100, rtol=0, atol=1e-4)
    metadata = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert metadata.row_group(0).column(0).compression == "GZIP"


def test_decimals_keep_their_value(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    known = [Decimal(i) / 10000 for i in range(10_000)]
    a = pa.array([*known, None], pa.decimal128(10, 4))
    b = pa.array([1 - float(x) for x in known] + [0.25])
    pq.write_table(
        pa.table({"x": pa.array(range(10_001)), "a": a, "b": b}), tmp_path / "t.parquet"
    )
    table = read_table(tmp_path / "t.parquet", "a,b")
    write_table(table, np.nan_to_num(table.y, nan=0.75), tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")["a"].to_pylist()
    assert found == [*map(float, known), 0.75]


def test_the_index_of_a_frame_is_no_feature(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [1.0, 2], "a": [0.5, None], "b": [0.5, 0.2]}, index=["p", "q"])
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "a,b")
    assert list(table.features) == ["x"]
    write_table(table, np.array([[0.5, 0.5], [0.8, 0.2]]), tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet").index.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    "notes",
    [
        b"not json",
        b"[]",
        b"{}",
        json.dumps({"index_columns": 3}).encode(),
        json.dumps({"index_columns": [], "column_indexes": []}).encode(),
        json.dumps({"index_columns": ["none"], "columns": [{}]}).encode(),
    ],
)
def test_odd_notes_of_other_programs_in_parquet_files(tmp_path, notes):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": ["u", "v"], "a": [0.25, 0.5], "b": [0.75, None]})
    pq.write_table(table.replace_schema_metadata({b"pandas": notes}), tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet", "a,b")
    assert read.features["x"].tolist() == ["u", "v"]
    np.testing.assert_array_equal(read.y, [[0.25, 0.75], [0.5, np.nan]])
    write_table(read, [[0.25, 0.75], [0.5, 0.5]], tmp_path / "out.parquet")
    assert read_table(tmp_path / "out.parquet", "a,b").y[1, 1] == 0.5


TEXT = "x;a;b\n1;0,25;0,75\n2;0,5;\n"


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
@pytest.mark.parametrize("name", ["pipe.csv", "pipe"])
def test_a_pipe_is_read_once(tmp_path, monkeypatch, name):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=(tmp_path / name).write_text, args=[TEXT])
    writer.start()
    table = read_table(tmp_path / name, "a,b")
    writer.join()
    write_table(table, [[0.25, 0.75], [0.5, 0.5]], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == TEXT.replace("0,5;", "0,5;0,5")
    del table
    gc.collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", name]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_standard_input_is_a_table(tmp_path, monkeypatch, suffix):
    frame = pd.DataFrame({"x": [1.0, 2.0], "a": [0.25, 0.5], "b": [0.75, None]})
    path = tmp_path / "table"
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[suffix]
    with path.open("wb") as file:
        write(file, index=False)
    with path.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        table = read_table("-", "a,b")
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.5, np.nan]])
    assert table.file.path.name == f"stdin.{suffix}"


@pytest.mark.skipif(os.name == "nt", reason="needs devices")
def test_devices_are_no_tables():
    with pytest.raises(OSError, match="is a device or a socket; name a file or a pipe"):
        read_table(os.devnull, "a,b")
