"""The file of results: shared by processes, read from anywhere, never changed when it is odd."""

import os
import re
import sqlite3
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from inldl_paper.experiments import Cell, Row, Store, grid, run

DATA = "random(C=3, k=4, n=60)"
NOWHERE = grid(["nowhere.npz"], ["constant-mean"], splits=1)
CELLS = [Cell("a", 0.5, split, "raw", "uniform", "seeded", "m") for split in range(3)]


def filled(path):
    """Return a store of three rows."""
    store = Store(path)
    for cell in CELLS:
        store.add(Row(cell, "ok", metrics={"cosine": 0.5}))
    return store


def change(path, *commands):
    """Change a store as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for command in commands:
            connection.execute(command)


def test_first_result_stays(tmp_path):
    store = Store(tmp_path / "run.sqlite")
    assert store.add(Row(CELLS[0], "ok", metrics={"cosine": 0.5}))
    assert not store.add(Row(CELLS[0], "ok", metrics={"cosine": 0.7}))
    assert store.frame()["cosine"].tolist() == [0.5]


def append(path, name, n):
    for i in range(n):
        cell = Cell(name, 0.5, i, "raw", "uniform", "seeded", "m")
        assert Store(path).add(Row(cell, "ok"))


def test_threads_append_at_once(tmp_path):
    out = tmp_path / "run.sqlite"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: append(out, name, 10), "abcd"))
    assert Store(out).frame().groupby("dataset").size().tolist() == [10] * 4
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.slow
def test_processes_append_at_once(tmp_path):
    """Two processes with four threads each; one of the eight makes the file."""
    out = tmp_path / "run.sqlite"
    script = """if True:
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from inldl_paper.experiments import Cell, Row, Store

        def append(name):
            for i in range(50):
                cell = Cell(name, 0.5, i, "raw", "uniform", "seeded", "m")
                assert Store(sys.argv[1]).add(Row(cell, "ok"))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(append, [f"{sys.argv[2]}{i}" for i in range(4)]))
    """
    started = [subprocess.Popen([sys.executable, "-c", script, str(out), each]) for each in "ab"]
    assert [process.wait(timeout=300) for process in started] == [0, 0]
    assert Store(out).frame().groupby("dataset").size().tolist() == [50] * 8
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_that_another_process_is_changing(tmp_path):
    """Some of its changes have arrived in the file; whoever reads waits for the others."""
    store = filled(tmp_path / "run.sqlite")
    size = store.path.stat().st_size
    with closing(sqlite3.connect(store.path)) as connection, ThreadPoolExecutor(1) as pool:
        connection.execute("PRAGMA cache_size = 1")
        row = Row(CELLS[0], "ok", "x" * 999)
        for split in range(10, 60):
            cell = Cell("d", 0.5, split, "raw", "uniform", "seeded", "m")
            values = (str(cell), replace(row, cell=cell).json())
            connection.execute("INSERT INTO cells VALUES (?, ?)", values)
        assert store.path.stat().st_size > size
        with (
            closing(sqlite3.connect(store.path, timeout=0)) as impatient,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            impatient.execute("SELECT * FROM cells")
        waiting = pool.submit(lambda: len(Store(store.path).frame()))
        connection.commit()
        assert waiting.result() == 53


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 10, b"SQLite format 3\0"])
def test_unreadable_file_is_refused_and_untouched(tmp_path, content):
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="was not changed"):
        run(grid([DATA], ["constant-mean"], splits=1), path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_foreign_database_is_refused_and_untouched(tmp_path):
    path = tmp_path / "run.sqlite"
    change(path, "CREATE TABLE cells (a)")
    content = path.read_bytes()
    with pytest.raises(ValueError, match="another program; it was not changed"):
        run(grid([DATA], ["constant-mean"], splits=1), path)
    assert path.read_bytes() == content


def test_another_format_is_refused(tmp_path):
    store = filled(tmp_path / "run.sqlite")
    for version, age in ((99, "a newer"), (1, "an older")):
        change(store.path, f"PRAGMA user_version = {version}")
        with pytest.raises(ValueError, match=f"{age} inldl"):
            Store(store.path)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("DROP TABLE cells", "cannot be used: no such table: cells"),
        ("ALTER TABLE cells DROP COLUMN result", "cannot be used: no such column: result"),
        ("UPDATE cells SET result = 'half'", "have a row that cannot be read (Expecting value"),
        ("UPDATE cells SET result = '{}'", "have a row that cannot be read ('cell'); another"),
        ("UPDATE cells SET result = '[]'", "another program changed the file"),
        ("UPDATE cells SET result = '{\"cell\": {}}'", "missing 7 required positional arguments"),
        ("UPDATE cells SET result = json_remove(result, '$.status')", "argument: 'status'"),
        ("UPDATE cells SET result = CAST(x'ff' AS TEXT)", "cannot be used: Could not decode"),
    ],
)
def test_odd_rows_are_one_sentence(tmp_path, command, message):
    store = filled(tmp_path / "run.sqlite")
    change(store.path, command)
    with pytest.raises((ValueError, OSError), match=re.escape(message)) as error:
        store.frame()
    assert str(store.path) in str(error.value)
    with pytest.raises((ValueError, OSError), match=re.escape(message)):  # before anything is read
        run(NOWHERE, store.path)


def test_a_metric_that_is_newer_than_the_file_gets_its_column(tmp_path):
    store = filled(tmp_path / "run.sqlite")
    assert store.frame()["clark"].isna().all()
    run(grid(["random(n=40)"], ["constant-mean"], rates=[0.5], splits=1), store.path)
    assert list(store.frame()["clark"].notna()).count(True) == 1
    assert len(store.frame()) == 4


def test_a_damaged_file(tmp_path):
    path = filled(tmp_path / "run.sqlite").path
    content = path.read_bytes()
    for damaged in (
        content[: len(content) // 2],
        content[:100] + b"\xff" * 100 + content[200:],
        content[:4096] + b"\xff" * (len(content) - 4096),
    ):
        path.write_bytes(damaged)
        with pytest.raises((ValueError, OSError), match=r"cannot be (used|read).*malformed"):
            Store(path).frame()


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot be written"):
        run(grid([DATA], ["constant-mean"], splits=1), tmp_path / "file" / "run.sqlite")


@pytest.fixture
def folder():
    """Give up the rights of root, to whom all is writable, and return a folder of this user's."""
    root = os.getuid() == 0
    if root:
        os.setresuid(65534, 65534, 0)
    try:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    finally:
        if root:
            os.setresuid(0, 0, 0)


@contextmanager
def read_only(*paths):
    """Forbid to write to files and folders for a while."""
    for path in paths:
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        yield
    finally:
        for path in paths:
            path.chmod(stat.S_IRWXU)


def test_a_store_is_read_where_nothing_can_be_written(folder):
    store = filled(folder / "a run?#%.sqlite")
    for paths in ([store.path, folder], [folder], [store.path]):
        with read_only(*paths):
            assert len(Store(store.path).frame()) == 3
            assert Store(store.path).cells() == set(CELLS)
            assert Store(store.path).contents("a") == set()
            assert run(CELLS, store.path) == []
        assert list(folder.iterdir()) == [store.path]


def test_what_cannot_be_written_is_told_before_anything_is_read(folder):
    for name in ("run.sqlite", "new/run.sqlite"):
        with read_only(folder), pytest.raises(OSError, match="not a folder that you can write to"):
            run(NOWHERE, folder / name)
    store = filled(folder / "run.sqlite")
    for path in (folder, store.path):
        with read_only(path), pytest.raises(OSError, match=r"cannot be used: (attempt|unable)"):
            run(NOWHERE, store.path)
    with read_only(folder), pytest.raises(OSError, match=r"cannot be written to .*Permission"):
        Store(folder / "other.sqlite").create()
