"""Tables of SQLite and DuckDB: one of several, and the rest of the database is kept."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

from inldl.tables import TableFile, complete_table, fit_table, read_table, write_table
from inldl.tables.writing import write_frame

SHARES = ["yes", "no", "open"]
OPEN = {".db": sqlite3.connect, ".duckdb": duckdb.connect}


@pytest.fixture(params=OPEN)
def path(request, tmp_path):
    """Write two tables, a view and an index; a row was deleted, and whole numbers have a type."""
    path = tmp_path / f"survey{request.param}"
    with closing(OPEN[request.param](path)) as file:
        file.execute("CREATE TABLE answers (town TEXT, yes INTEGER, no DOUBLE, open DOUBLE)")
        rows = [
            (
                f"t{i % 5}",
                None if i % 6 == 1 else 20 + i % 3,
                None if i % 6 == 1 else 30 - i % 3,
                50,
            )
            for i in range(40)
        ]
        file.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", rows)
        file.execute("DELETE FROM answers WHERE rowid = 3")
        file.execute("CREATE TABLE \"more 'of' it\" (a INTEGER)")
        file.execute("CREATE VIEW large AS SELECT * FROM answers WHERE yes > 21")
        file.commit()
    return path


def rows_of(path, query):
    with closing(OPEN[path.suffix](path)) as file:
        return file.execute(query).fetchall()


def test_a_table_is_completed_and_all_else_is_kept(path, tmp_path, without_trees):
    file, out = TableFile(f"{path}::answers", SHARES), tmp_path / f"out{path.suffix}"
    fit = fit_table(file, "winldl")
    complete_table(file, fit.model, out, scale=fit.scale, coverage=0.9)
    old, new = (rows_of(each, "SELECT * FROM answers ORDER BY rowid") for each in (path, out))
    assert len(old) == len(new) == 39
    for before, after in zip(old, new, strict=True):
        assert after[0] == before[0]
        assert sum(after[1:4]) == pytest.approx(100)
        assert all(b in (None, a) for b, a in zip(before, after[:4], strict=True))
    assert any(row[1] % 1 for row in new)  # the type takes fractions now
    assert len(new[0]) == 10
    assert rows_of(out, "SELECT count(*) FROM large")[0][0] > 0
    assert rows_of(out, "SELECT * FROM \"more 'of' it\"") == []


def test_the_first_table_is_taken_and_others_are_named(path):
    table = read_table(path, SHARES)
    assert table.notes[0] == (
        "The table is 'answers'; --sheet takes another one: \"more 'of' it\", 'large'."
    )
    assert len(read_table(path, SHARES, sheet="answers").y) == 39
    with pytest.raises(ValueError, match="there is no table 'answer'; the tables are 'answers', "):
        read_table(f"{path}::answer", SHARES)
    with pytest.raises(ValueError, match=r"No label columns found for 'x'.* The table is"):
        read_table(path, "x,y")


def test_what_cannot_be_changed_is_one_sentence(tmp_path):
    path = tmp_path / "t.duckdb"
    with closing(duckdb.connect(path)) as file:
        file.execute("CREATE TABLE t (yes INTEGER, no INTEGER, open INTEGER)")
        file.execute("INSERT INTO t VALUES (20, 30, 50), (NULL, NULL, 50), (40, 10, 50)")
        file.execute("CREATE INDEX i ON t (yes)")
    table = read_table(path, SHARES)
    with pytest.raises(
        ValueError, match=r"t\.duckdb cannot be written again as \.duckdb: .*index"
    ):
        write_table(table, np.where(np.isnan(table.y), 0.25, table.y), tmp_path / "out.duckdb")
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_database_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "t.db"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"t\.db cannot be read as \.db: .*not a database"):
        read_table(path, "a,b")
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="there is no table ''; the tables are none"):
        read_table(path, "a,b")


@pytest.mark.parametrize("ending", [".db", ".duckdb"])
def test_a_new_database(tmp_path, ending):
    frame = read_table(_csv(tmp_path), SHARES).degrees.assign(town=["a", "b"])
    write_frame(frame, tmp_path / f"new{ending}")
    again = read_table(tmp_path / f"new{ending}", SHARES)
    np.testing.assert_array_equal(again.y, frame[SHARES])
    assert again.features["town"].tolist() == ["a", "b"]


def _csv(folder):
    (folder / "t.csv").write_text("yes,no,open\n.2,.3,.5\n,,.4\n")
    return folder / "t.csv"


def test_a_sheet_may_follow_a_path(tmp_path):
    frame = read_table(_csv(tmp_path), SHARES).degrees
    frame.to_excel(tmp_path / "t.xlsx", sheet_name="2024", index=False)
    assert len(read_table(f"{tmp_path}/t.xlsx::2024", SHARES).y) == 2
    with pytest.raises(ValueError, match=r"t\.csv has no sheets"):
        read_table(f"{tmp_path}/t.csv::2024", SHARES)


def test_views_and_tables_without_row_numbers_are_read(tmp_path):
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE t (id TEXT PRIMARY KEY, a, b) WITHOUT ROWID")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [("x", 40, 60), ("y", 30, None)])
        base.execute("CREATE VIEW half AS SELECT id, a, b FROM t")
        base.commit()
    for name in ("t", "half"):
        table = read_table(f"{path}::{name}", "a,b")
        assert table.y[:, 0].tolist() == [0.4, 0.3]
        write_table(table, [[0.4, 0.6], [0.3, 0.7]], tmp_path / f"{name}.csv")
        assert read_table(tmp_path / f"{name}.csv", "a,b").y[1].tolist() == [0.3, 0.7]
    with pytest.raises(ValueError, match=r"write to a .csv file instead"):
        write_table(table, [[0.4, 0.6], [0.3, 0.7]], tmp_path / "out.sqlite")
