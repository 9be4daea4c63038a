"""The runner: resumes after any death, loses nothing, and records what goes wrong."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inldl.experiments import Cell, Row, Store, grid, run
from inldl.metrics import METRICS

HERE = Path(__file__).parent
DATA = "random(C=3, k=4, n=60)"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    """Let this process and the ones it starts import the methods of the tests."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def bench(out, *options, **kwargs):
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "inldl", "bench", "--datasets", DATA, "--out", str(out)]
    return subprocess.Popen(
        [*command, *options], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **kwargs
    )


def stable(frame):
    """Return what does not depend on the moment."""
    moving = ["fit_seconds", "predict_seconds", "peak_memory", "finished"]
    return frame.drop(columns=moving)


def test_what_a_row_holds(tmp_path):
    cells = grid([DATA], ["winldl", "ridge"], rates=[0.5], splits=2)
    rows = run(cells, tmp_path / "run.sqlite")
    frame = Store(tmp_path / "run.sqlite").frame()
    assert len(rows) == len(frame) == 4
    assert set(frame["status"]) == {"ok"}
    assert frame["fit_seconds"].gt(0).all()
    assert frame["cosine"].between(0.5, 1).all()
    assert frame.loc[frame["method"] == "winldl", "n_iter"].gt(1).all()
    for text in frame["environment"]:
        assert '"numpy"' in text
        assert '"threads of BLAS and OpenMP": "1"' in text


def test_same_command_twice_does_nothing(tmp_path):
    cells = grid([DATA], ["constant-mean"], rates=[0.5], splits=2)
    run(cells, tmp_path / "run.sqlite")
    before = Store(tmp_path / "run.sqlite").frame()
    assert run(cells, tmp_path / "run.sqlite") == []
    assert Store(tmp_path / "run.sqlite").frame().equals(before)


def test_jobs_do_not_change_the_numbers(tmp_path):
    cells = grid([DATA], ["winldl", "ldm", "extra-trees(n_estimators=3)"], rates=[0.3], splits=2)
    run(cells, tmp_path / "one.sqlite", jobs=1)
    run(cells, tmp_path / "two.sqlite", jobs=2)
    one, two = (stable(Store(tmp_path / f"{name}.sqlite").frame()) for name in ("one", "two"))
    assert one.equals(two)


def test_killed_ten_times_then_resumed(tmp_path):
    """Each kill -9 comes at a random moment and takes the workers with it, or only the parent."""
    options = [
        "--methods",
        "difficult_methods:TakesItsTime",
        "--rates",
        "0.1,0.5",
        "--splits",
        "20",
    ]
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    assert bench(whole, *options, "--jobs", "2").wait(timeout=120) == 0
    moments = random.Random(0)
    for attempt in range(10):
        process = bench(killed, *options, "--jobs", "2", start_new_session=True)
        time.sleep(moments.uniform(0.5, 5))
        if attempt % 2:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        if killed.exists():
            Store(killed).frame()  # readable after every kill
    assert bench(killed, *options, "--jobs", "2").wait(timeout=120) == 0
    assert stable(Store(killed).frame()).equals(stable(Store(whole).frame()))


def test_two_runs_into_one_store(tmp_path):
    out = tmp_path / "run.sqlite"
    both = [
        bench(out, "--methods", method, "--splits", "10", "--jobs", "2")
        for method in ("constant-mean", "constant-mean,constant-uniform")
    ]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    cells = grid([DATA], ["constant-mean", "constant-uniform"], splits=10)
    frame = Store(out).frame()
    assert len(frame) == len(cells) == 100
    assert Store(out).cells(["ok"]) == set(cells)


def test_many_processes_append_at_once(tmp_path):
    out = tmp_path / "run.sqlite"
    script = (
        "import sys; from inldl.experiments import *\n"
        "for i in range(100): Store(sys.argv[1]).add(Row(Cell(sys.argv[2], .5, i, 'raw',"
        " 'uniform', 'seeded', 'm'), 'ok'))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(out), str(i)]) for i in range(4)
    ]
    assert [process.wait(timeout=120) for process in started] == [0] * 4
    assert Store(out).frame().groupby("dataset").size().to_dict() == {
        str(i): 100 for i in range(4)
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_misbehaviour_is_recorded_and_the_rest_goes_on(tmp_path, jobs):
    expected = {
        "Raises": ("failed", "RuntimeError: no luck"),
        "Hangs": ("timeout", "not finished after 20 seconds"),
        "Dies": ("died", "its process ended with code 3"),
        "PredictsNaN": ("invalid", "the prediction holds NaN in row 0: predict every degree."),
        "LeavesTheSimplex": ("invalid", "row 0 of the prediction sums to 2, not 1"),
        "PredictsTooFew": ("invalid", "but the prediction has shape (11, 3)"),
    }
    names = [f"difficult_methods:{name}" for name in expected]
    cells = grid([DATA], [*names, "constant-mean"], rates=[0.5], splits=1)
    out = tmp_path / "run.sqlite"
    run(cells, out, jobs=jobs, timeout=20)
    frame = Store(out).frame().set_index("method")
    for name, (status, reason) in expected.items():
        assert frame.loc[f"difficult_methods:{name}", "status"] == status
        assert reason in frame.loc[f"difficult_methods:{name}", "reason"]
    assert frame.loc["constant-mean", "status"] == "ok"
    assert run(cells, out) == []


def test_retry_computes_failures_again(tmp_path):
    out = tmp_path / "run.sqlite"
    cells = grid([DATA], ["difficult_methods:Raises", "constant-mean"], rates=[0.5], splits=1)
    assert {row.status for row in run(cells, out)} == {"ok", "failed"}
    assert [row.status for row in run(cells, out, retry=True)] == ["failed"]
    assert len(Store(out).frame()) == 2


def test_orphans_end(tmp_path):
    """A worker that hangs does not outlive a run that was killed."""
    methods = ["--methods", "difficult_methods:Hangs", "--rates", "0.5", "--splits", "1"]
    process = bench(tmp_path / "run.sqlite", *methods)
    deadline = time.monotonic() + 60
    while not (children := _children(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children
    time.sleep(3)
    process.kill()
    process.wait(timeout=30)
    while any(_alive(pid) for pid in children) and time.monotonic() < deadline + 30:
        time.sleep(0.1)
    assert not any(_alive(pid) for pid in children)


def _children(pid):
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():
        pytest.skip("needs Linux's list of child processes")
    return [child for task in tasks.glob("*/children") for child in task.read_text().split()]


def _alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_script_needs_no_guard(tmp_path):
    """No process runs the script of the user again, and what a method prints is no row."""
    script = tmp_path / "script.py"
    script.write_text(
        "from inldl.experiments import grid, run\n"
        f"cells = grid(['{DATA}'], ['difficult_methods:Talks'], rates=[0.5], splits=2)\n"
        "print(*(row.status for row in run(cells, 'run.sqlite', jobs=2)))\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "ok ok\n"
    assert done.stderr.count("hello") == 2 * 2  # with the warm-up, in each of two processes


def test_first_result_stays(tmp_path):
    store = Store(tmp_path / "run.sqlite")
    cell = Cell("a", 0.5, 0, "raw", "uniform", "seeded", "m")
    assert store.add(Row(cell, "ok", metrics={"cosine": 0.5}))
    assert not store.add(Row(cell, "ok", metrics={"cosine": 0.7}))
    assert store.frame()["cosine"].tolist() == [0.5]


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 10, b"SQLite format 3\0"])
def test_unreadable_file_is_refused_and_untouched(tmp_path, content):
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="left as it is"):
        run(grid([DATA], ["constant-mean"], splits=1), path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_foreign_database_is_refused_and_untouched(tmp_path):
    import sqlite3

    path = tmp_path / "run.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cells (a)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(ValueError, match="another program; it is left as it is"):
        run(grid([DATA], ["constant-mean"], splits=1), path)
    assert path.read_bytes() == content


def test_newer_format_is_refused(tmp_path):
    import sqlite3

    store = Store(tmp_path / "run.sqlite")
    store.add(Row(Cell("a", 0.5, 0, "raw", "uniform", "seeded", "m"), "ok"))
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA user_version = 99")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with pytest.raises(ValueError, match="newer inldl"):
        Store(store.path)


@pytest.mark.parametrize(("option", "value"), [("jobs", 0), ("jobs", -2), ("timeout", 0)])
def test_bad_options(tmp_path, option, value):
    with pytest.raises(ValueError, match=option):
        run([], tmp_path / "run.sqlite", **{option: value})


def test_a_method_cannot_spoil_the_data_of_the_next(tmp_path):
    alone, after = tmp_path / "alone.sqlite", tmp_path / "after.sqlite"
    run(grid([DATA], ["winldl"], rates=[0.5], splits=1), alone)
    run(grid([DATA], ["difficult_methods:Overwrites", "winldl"], rates=[0.5], splits=1), after)
    expected, found = (
        Store(each).frame().query("method == 'winldl'")[[*METRICS]].to_numpy()
        for each in (alone, after)
    )
    assert (found == expected).all()


def test_a_file_that_changed_is_refused(tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    path, out = str(tmp_path / "mine.npz"), tmp_path / "run.sqlite"
    np.savez(path, X=rng.normal(size=(40, 2)), y=rng.dirichlet(np.ones(3), size=40))
    cells = grid([path], ["constant-mean"], rates=[0.5], splits=1)
    run(cells, out)
    assert run(cells, out) == []
    np.savez(path, X=rng.normal(size=(40, 2)), y=rng.dirichlet(np.ones(3), size=40))
    with pytest.raises(ValueError, match=r"mine\.npz has changed"):
        run(cells, out)


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot be written"):
        run(grid([DATA], ["constant-mean"], splits=1), tmp_path / "file" / "run.sqlite")


def test_interrupted(tmp_path):
    """Ctrl-C says how to go on, and leaves no process behind."""
    command = [sys.executable, "-m", "inldl", "bench", "--datasets", DATA, "--rates", "0.5"]
    command += ["--methods", "difficult_methods:Hangs", "--out", str(tmp_path / "run.sqlite")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (children := _children(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1].startswith("Interrupted. The same command goes on")
    assert "Traceback" not in errors
    assert not any(_alive(pid) for pid in children)
