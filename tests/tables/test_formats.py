"""What every file format must do, whatever its files are like inside."""

import bz2
import gzip
import lzma
import sqlite3
from contextlib import closing, contextmanager
from inspect import signature
from pathlib import Path
from typing import get_args

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import pytest
from typer.testing import CliRunner

from inldl.cli.app import app
from inldl.cli.options import File
from inldl.tables import TableFile, formats, read_table, write_table
from inldl.tables.formats import Listing
from inldl.tables.formats.base import FrameFormat, TableFormat
from inldl.tables.writing import TableWriter, write_frame

ODD = ['+1 "x"', "a,b;c", "größe", "läuft\tgut"]  # names of features, and of columns to add
LABELS = ["joy, 50%", "Ärger", "fear"]
# Of programs that take letters and digits alone
STRICT = {"ODD": ["a_1", "word", "größe", "läuft_gut"], "LABELS": ["joy_50", "Ärger", "fear"]}


class JsonLines(FrameFormat):
    """A format as others would add it: one class, and one line in the list of formats."""

    kind = "json lines"

    def load(self):
        self._frame = pd.read_json(self.path, lines=True, precise_float=True)
        self.names, self.n_rows = list(self._frame), len(self._frame)

    def frames(self, names=None):
        for start in range(0, self.n_rows, 16):
            rows = self._frame.iloc[start : start + 16]
            yield rows, rows

    @staticmethod
    def write_new(frame, part, suffix, like):
        save_json(frame, part)

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()):
        with part.open("w", encoding="utf-8") as out:

            def write(block, fills, values):
                rows = block.raw.copy()
                for name in filled:
                    fill = fills[:, labels.index(name)]
                    rows[name] = np.where(np.isnan(fill), rows[name], fill)
                for j, name in enumerate(extra):
                    rows[name] = values[:, j]
                out.write(rows.to_json(orient="records", lines=True, force_ascii=False))

            yield write


def save_json(frame, path):
    frame.to_json(path, orient="records", lines=True, force_ascii=False)


def save_sqlite(frame, path):
    with closing(sqlite3.connect(path)) as file:
        frame.to_sql("joy", file, index=False, if_exists="replace")


def save_duckdb(frame, path):
    with closing(duckdb.connect(path)) as file:
        file.register("frame", frame)
        file.execute("CREATE OR REPLACE TABLE joy AS SELECT * FROM frame")


SAVED = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".ods": lambda frame, path: frame.to_excel(path, index=False, engine="odf"),
    ".sav": lambda frame, path: pyreadstat.write_sav(frame, path),
    ".dta": lambda frame, path: pyreadstat.write_dta(frame, path),
    ".sqlite": lambda frame, path: save_sqlite(frame, path),
    ".duckdb": lambda frame, path: save_duckdb(frame, path),
    ".jsonl": save_json,
}
BUILT_IN = formats.FORMATS
WHOLE = {".xlsx", ".ods", ".sav", ".dta", ".sqlite", ".duckdb"}  # read as one piece


@pytest.fixture(autouse=True)
def added_format(monkeypatch):
    added = Listing(f"{__name__}.JsonLines", (".jsonl",))
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, added))


@pytest.fixture(autouse=True)
def names(request, monkeypatch):
    """Take names that the format of a test has."""
    params = getattr(request.node, "callspec", request.node).__dict__.get("params", {})
    for name, value in STRICT.items() if params.get("path") in (".sav", ".dta") else ():
        monkeypatch.setitem(globals(), name, value)


@pytest.fixture
def frame(names):
    """Return 100 rows of degrees with holes, between columns with odd names."""
    rng = np.random.default_rng(0)
    y = rng.multinomial(1000, [0.2, 0.3, 0.5], 100) / 1000
    y[rng.random(y.shape) < 0.3] = np.nan
    y[0] = [0.25, 0.25, 0.5]
    features = {ODD[0]: rng.normal(size=100).round(3), ODD[1]: [f"wörd {i}" for i in range(100)]}
    more = {ODD[2]: np.arange(100.0)}
    return pd.DataFrame({**features, **dict(zip(LABELS, y.T, strict=True)), **more})


@pytest.fixture(params=SAVED)
def path(request, frame, tmp_path):
    path = tmp_path / f"table{request.param}"
    SAVED[request.param](frame, path)
    return path


def opened(path, labels=...):
    file = TableFile(path, LABELS if labels is ... else labels)
    if file.format.kind == "text":
        file.source.block_size = 500  # bytes of a piece
    if file.format.kind in ("parquet", "feather"):
        file.source.batch_rows = 16
    return file


def completed(y):
    """Return degrees that divide what the observed ones leave evenly over the holes."""
    holes = np.isnan(y)
    left = 1 - np.nansum(y, axis=1, keepdims=True)
    return np.where(holes, left / np.maximum(1, holes.sum(axis=1, keepdims=True)), y)


def test_every_format_is_tested():
    tested = {formats.find_format(Path(f"t{suffix}")) for suffix in SAVED}
    assert tested == set(formats.FORMATS)


def test_a_format_has_what_is_written_down(path):
    source = TableFile(path, LABELS).source
    asked = {name: part for name, part in vars(TableFormat).items() if callable(part)}
    asked = {name: part for name, part in asked.items() if not name.startswith("_")}
    assert asked.keys() >= {"find_signs", "where", "most_rows", "pieces", "writer"}
    for name, part in asked.items():
        parameters = [each for each in signature(part).parameters if each != "self"]
        assert list(signature(getattr(source, name)).parameters) == parameters
    assert isinstance(source.where(3), str)
    assert source.most_rows() >= 100


def test_the_table_is_read_whole_and_in_pieces(path, frame):
    file = opened(path)
    table = file.read()
    np.testing.assert_array_equal(table.y, frame[LABELS])
    features = [name for name in frame if name not in LABELS]
    assert file.source.names == list(frame)
    assert list(table.features) == features
    for name in features:
        assert table.features[name].tolist() == frame[name].tolist()
    pieces = list(file.pieces(features, text={ODD[1]}))
    assert len(pieces) > 5 or path.suffix in WHOLE
    assert [piece.first for piece in pieces[1:]] == [piece.rows.stop for piece in pieces[:-1]]
    np.testing.assert_array_equal(np.concatenate([p.values for p in pieces]), frame[LABELS])
    found = pd.concat([piece.features for piece in pieces])
    assert found.index.tolist() == list(range(100))
    for name in features:
        assert found[name].tolist() == frame[name].tolist()


def test_some_rows_are_read(path, frame):
    table = opened(path).read(most_rows=20)
    assert 20 <= len(table.rows) < 100
    np.testing.assert_array_equal(table.y, frame[LABELS].iloc[table.rows])
    assert table.features[ODD[1]].tolist() == frame[ODD[1]].iloc[table.rows].tolist()


def test_only_missing_cells_change(path, frame, tmp_path):
    table, out = opened(path).read(), tmp_path / f"out{path.suffix}"
    write_table(table, completed(table.y), out)
    again = read_table(out, LABELS)
    assert again.file.source.names == list(frame)
    np.testing.assert_allclose(again.y, completed(table.y), rtol=0, atol=2e-6)
    known = ~np.isnan(table.y)
    np.testing.assert_array_equal(again.y[known], table.y[known])
    pd.testing.assert_frame_equal(again.features, table.features)


def test_columns_with_odd_names_are_added(path, frame, tmp_path):
    file, out = opened(path, None), tmp_path / f"out{path.suffix}"
    extra = [f"{name}_low" for name in (*LABELS, *ODD[1:])]
    with TableWriter(file, out, extra=extra) as writer:
        for piece in file.pieces():
            nothing, numbers = np.empty((piece.size, 0)), np.arange(piece.first, piece.rows.stop)
            added = np.where(np.arange(len(extra)), numbers[:, None] / 8, np.nan)
            writer.write(piece, nothing, nothing, "fraction", added)
    again = TableFile(out, None).read(check=False).features
    assert list(again) == [*frame, *extra]
    assert again[extra[0]].isna().all()
    np.testing.assert_array_equal(again.iloc[:, -1], np.arange(100) / 8)


def test_a_failure_leaves_nothing_behind(path, tmp_path):
    file = opened(path)
    with pytest.raises(ZeroDivisionError), TableWriter(file, tmp_path / f"out{path.suffix}"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == [path]


def test_errors_say_where_in_one_sentence(path, frame):
    SAVED[path.suffix](frame.assign(fear=["0.5"] * 70 + ["much"] + ["0.5"] * 29), path)
    place = r"^(Line 72|Row 71 below the header|Row 72 of the sheet), column 'fear'"
    with pytest.raises(ValueError, match=f"{place}: 'much' is not a number") as caught:
        list(opened(path).pieces())
    assert str(caught.value).endswith("leave the cell empty if the share is unknown.")
    assert "\n" not in str(caught.value)


def test_a_file_of_another_format_is_refused_in_one_sentence(path, tmp_path):
    file = TableFile(path, LABELS)
    for suffix in SAVED:
        same = formats.find_format(Path(f"t{suffix}")) == formats.find_format(path)
        if same or file.source.converts:
            TableWriter(file, tmp_path / f"out{suffix}")
        else:
            with pytest.raises(ValueError, match="is another kind of file than"):
                TableWriter(file, tmp_path / f"out{suffix}")
    path.write_bytes(b'\x00"\xff\n')
    with pytest.raises(ValueError, match=r".") as caught:
        TableFile(path, LABELS)
    assert not isinstance(caught.value, UnicodeError)


def test_a_frame_is_written_to_a_new_file(path, frame, tmp_path):
    out = tmp_path / f"new{path.suffix}.gz"
    write_frame(frame, out)
    np.testing.assert_array_equal(read_table(out, LABELS).y, frame[LABELS])


def test_a_command_completes_the_table(path, frame, tmp_path):
    out = tmp_path / f"whole{path.suffix}"
    command = ["complete", str(path), "-l", "joy*,Ärger,fear", "-o", str(out)]
    ran = CliRunner().invoke(app, [*command, "--method", "constant-mean", "--filled-columns"])
    assert ran.exit_code == 0, ran.output
    table = read_table(out, LABELS)
    np.testing.assert_allclose(table.y.sum(axis=1), 1, atol=1e-8)
    known = frame[LABELS].notna().to_numpy()
    np.testing.assert_array_equal(table.y[known], frame[LABELS].to_numpy()[known])
    assert [f"{name}_filled" for name in LABELS] == list(table.features)[-3:]


def test_help_lists_every_suffix():
    text = get_args(File)[1].help
    assert all(suffix in text for listing in BUILT_IN for suffix in listing.suffixes)


@pytest.mark.parametrize("pack", [gzip, bz2, lzma], ids=["gz", "bz2", "xz"])
def test_a_packed_file_does_not_fill_the_disk(pack, tmp_path, monkeypatch):
    path = tmp_path / f"t.csv.{ {gzip: 'gz', bz2: 'bz2', lzma: 'xz'}[pack] }"
    path.write_bytes(pack.compress(b"a,b\n" + b"0.5,0.5\n" * 10**6))
    monkeypatch.setattr(formats, "MOST_UNPACKED", (10**6, 100))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="far more than its own size; unpack it, and name what"):
        TableFile(path, None)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
