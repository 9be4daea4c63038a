"""The runner: resumes after any death, loses nothing, and records what goes wrong."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import difficult_methods
from inldl_paper.experiments import Store, grid, run
from inldl_paper.experiments.runner import measure

HELPERS = Path(difficult_methods.__file__).parent
DATA = "random(C=3, k=4, n=60)"
DEADLY = "difficult_methods:deadly_data"  # end their reader, as a damaged .mat file can
TIMEOUT = 300  # seconds; for what takes a few, on a machine that has much else to do


@pytest.fixture(autouse=True, scope="module")
def _importable():
    """Let the processes that a test starts import the methods of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        before = os.environ.get("PYTHONPATH")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(HELPERS), before])))
        yield


def bench(out, *options, **kwargs):
    """Start the command."""
    command = [sys.executable, "-m", "inldl", "bench", "--datasets", DATA, "--out", str(out)]
    pipes = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **kwargs}
    return subprocess.Popen([*command, *options], **pipes)


def wait_until(true, process=None):
    """Wait for something that comes, sooner or later, while a process runs; return it."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := true()):
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.02)
    return found


def stable(frame):
    """Return what does not depend on the moment."""
    moving = ["fit_seconds", "predict_seconds", "peak_memory", "finished"]
    return frame.drop(columns=moving)


@pytest.mark.slow
def test_neither_jobs_nor_another_method_nor_a_second_run_change_the_numbers(tmp_path):
    """One process, which computes a method that spoils its data as well; two; and none."""
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    methods = ["winldl", "ldm", "extra-trees(n_estimators=3)"]
    cells = grid([DATA], methods, rates=[0.3], splits=2)
    spoilt = grid([DATA], ["difficult_methods:Overwrites"], rates=[0.3], splits=2)
    run(sorted([*cells, *spoilt]), one)
    run(cells, two, jobs=2)
    frame = Store(two).frame()
    check_rows(frame)
    others = Store(one).frame().query("method != 'difficult_methods:Overwrites'")
    assert stable(others).reset_index(drop=True).equals(stable(frame))
    assert run(cells, two) == []
    assert Store(two).frame().equals(frame)


def check_rows(frame):
    """Check what the rows of the test above hold."""
    assert len(frame) == 6
    assert set(frame["status"]) == {"ok"}
    assert frame["fit_seconds"].gt(0).all()
    assert frame["cosine"].between(0.5, 1).all()
    assert frame.loc[frame["method"] == "winldl", "n_iter"].gt(1).all()
    for text in frame["environment"]:
        assert '"numpy"' in text
        assert '"threads of BLAS and OpenMP": "1"' in text


SLOWLY = ["--methods", "difficult_methods:TakesItsTime", "--rates", "0.5", "--splits", "30"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the cells of `SLOWLY`, and the rows of a run that nobody kills."""
    cells = grid([DATA], ["difficult_methods:TakesItsTime"], rates=[0.5], splits=30)
    out = tmp_path_factory.mktemp("whole") / "run.sqlite"
    run(cells, out)
    return cells, stable(Store(out).frame())


def kill(process, with_its_workers):
    if with_its_workers:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait(timeout=TIMEOUT)


@pytest.mark.slow
def test_killed_twice_then_resumed(tmp_path, whole):
    """A kill -9 takes the workers along, or only the parent, in the middle of the run."""
    cells, expected = whole
    out = tmp_path / "run.sqlite"
    for n_rows, jobs, with_its_workers in ((5, "2", True), (10, "1", False)):
        process = bench(out, *SLOWLY, "--jobs", jobs, start_new_session=True)
        wait_until(lambda n_rows=n_rows: len(Store(out).cells()) >= n_rows, process)
        kill(process, with_its_workers)
        assert len(Store(out).frame()) >= n_rows
    run(cells, out)
    assert stable(Store(out).frame()).equals(expected)


@pytest.mark.slow
def test_killed_ten_times_then_resumed(tmp_path, whole):
    """Each kill -9 comes at a random moment, also before the first row."""
    cells, expected = whole
    out = tmp_path / "run.sqlite"
    moments = random.Random(0)
    for attempt in range(10):
        process = bench(out, *SLOWLY, "--jobs", "2", start_new_session=True)
        time.sleep(moments.uniform(0.5, 5))
        kill(process, attempt % 2 == 0)
        if out.exists():
            Store(out).frame()  # readable after every kill
    run(cells, out)
    assert stable(Store(out).frame()).equals(expected)


@pytest.mark.slow
def test_two_runs_into_one_store(tmp_path):
    out = tmp_path / "run.sqlite"
    shared, all_cells = (
        grid([DATA], methods, rates=[0.5], splits=20)
        for methods in (["constant-mean"], ["constant-mean", "constant-uniform"])
    )
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda cells: run(cells, out), (shared, all_cells))
    assert len(first) + len(second) == len(Store(out).frame()) == len(all_cells) == 40
    assert Store(out).cells(["ok"]) == set(all_cells)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_misbehaviour_is_recorded_and_the_rest_goes_on(tmp_path, jobs):
    expected = {
        "Raises": ("failed", "RuntimeError: no luck"),
        "Dies": ("died", "its process ended with code 3"),
        "PredictsNaN": ("invalid", "the prediction holds NaN in row 0: predict every degree."),
        "LeavesTheSimplex": ("invalid", "row 0 of the prediction sums to 2, not 1"),
        "PredictsTooFew": ("invalid", "but the prediction has shape (11, 3)"),
    }
    names = [f"difficult_methods:{name}" for name in expected]
    cells = grid([DATA], [*names, "constant-mean"], rates=[0.5], splits=1)
    cells += grid([DEADLY], ["constant-uniform"], rates=[0.5], splits=1)
    out = tmp_path / "run.sqlite"
    run(cells, out, jobs=jobs)
    frame = Store(out).frame().set_index("method")
    deadly = frame.loc["constant-uniform", ["status", "reason"]]
    assert list(deadly) == ["died", "its process ended with code 5 while reading the data"]
    for name, (status, reason) in expected.items():
        assert frame.loc[f"difficult_methods:{name}", "status"] == status
        assert reason in frame.loc[f"difficult_methods:{name}", "reason"]
    assert frame.loc["constant-mean", "status"] == "ok"
    assert run(cells, out) == []
    again = [cell for cell in cells if cell.method.endswith(("Raises", "constant-mean"))]
    assert [row.status for row in run(again, out, retry=True)] == ["failed"]
    assert len(Store(out).frame()) == len(cells)


@pytest.mark.slow
def test_a_cell_that_hangs_is_given_up_and_the_next_one_is_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = grid([DATA], ["difficult_methods:Hangs"], rates=[0.5], splits=2)
    rows = run(cells, tmp_path / "run.sqlite", timeout=0.5)
    assert [(row.status, row.reason) for row in rows] == [
        ("timeout", "not finished after 0.5 seconds")
    ] * 2


def test_nothing_that_lies_in_the_folder_is_run_but_methods_are_found_there(tmp_path):
    """Python puts the folder first on the path of `python -m` and `python -c`; we do not."""
    for name in ("random", "queue", "numpy", "typing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__file__} was run')")
    (tmp_path / "mylab").mkdir()
    (tmp_path / "mylab" / "smoother.py").write_text(
        "from inldl.methods import ConstantLDL as Mine"
    )
    options = ["--methods", "mylab.smoother:Mine", "--rates", "0.5", "--splits", "1"]
    pipe = {"stderr": subprocess.PIPE, "text": True}
    with bench("run.sqlite", *options, cwd=tmp_path, **pipe) as process:
        _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, errors
    assert Store(tmp_path / "run.sqlite").frame()["status"].tolist() == ["ok"]


def start_and_hang(folder, **kwargs):
    """Start a run that hangs, and return it and the number of its worker's process."""
    if not Path("/proc/self/status").is_file():
        pytest.skip("needs Linux's list of processes")
    methods = ["--methods", "difficult_methods:Hangs", "--rates", "0.5", "--splits", "1"]
    process = bench("run.sqlite", *methods, cwd=folder, **kwargs)
    worker = wait_until(lambda: [path.name for path in folder.glob("hangs.*")], process)
    return process, worker[0].removeprefix("hangs.")


def _alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_orphans_end(tmp_path):
    """A worker that hangs does not outlive a run that was killed."""
    process, worker = start_and_hang(tmp_path)
    assert _alive(worker)
    process.kill()
    process.wait(timeout=TIMEOUT)
    wait_until(lambda: not _alive(worker))


@pytest.mark.slow  # tests/cli/test_tables_cases.py interrupts a command, too
def test_interrupted(tmp_path):
    """Ctrl-C says how to go on, and leaves no process behind."""
    process, worker = start_and_hang(tmp_path, stderr=subprocess.PIPE, text=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1].startswith("Interrupted. Give the same command again")
    assert "Traceback" not in errors
    assert not _alive(worker)


@pytest.mark.slow
def test_a_script_needs_no_guard(tmp_path):
    """No process runs the script of the user again, and what a method prints is no row."""
    script = tmp_path / "script.py"
    script.write_text(
        "from inldl_paper.experiments import grid, run\n"
        f"cells = grid(['{DATA}'], ['difficult_methods:Talks'], rates=[0.5], splits=2)\n"
        "print(*(row.status for row in run(cells, 'run.sqlite')))\n"
    )
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.stdout == "ok ok\n"
    assert done.stderr.count("hello") == 3  # with the warm-up


@pytest.mark.parametrize(("option", "value"), [("jobs", 0), ("jobs", -2), ("timeout", 0)])
def test_bad_options(tmp_path, option, value):
    with pytest.raises(ValueError, match=option):
        run([], tmp_path / "run.sqlite", **{option: value})


def test_a_file_that_changed_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    path, out = str(tmp_path / "mine.npz"), tmp_path / "run.sqlite"
    np.savez(path, X=rng.normal(size=(40, 2)), y=rng.dirichlet(np.ones(3), size=40))
    cells = grid([path], ["constant-mean"], rates=[0.5], splits=1)
    Store(out).add(measure(cells[0]))
    assert run(cells, out) == []
    np.savez(path, X=rng.normal(size=(40, 2)), y=rng.dirichlet(np.ones(3), size=40))
    with pytest.raises(ValueError, match=r"mine\.npz has changed"):
        run(cells, out)
