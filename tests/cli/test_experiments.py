"""The commands of the researcher, as a user gives them."""

import socket

import numpy as np
import pytest

from inldl.experiments import Row, Store
from inldl.experiments.paper import plan
from inldl.experiments.runner import errors_by_size
from inldl.metrics import METRICS

DATA = "random(C=3, k=4, n=80)"


def test_help_and_version(inldl):
    code, out, _ = inldl("--help")
    assert code == 0
    for command in ("datasets", "methods", "bench", "report", "reproduce"):
        assert command in out
        code, text, _ = inldl(command, "--help")
        assert code == 0
        assert command in text
    assert inldl("--version")[1].startswith("inldl ")


def test_lists(inldl):
    code, out, _ = inldl("datasets")
    assert code == 0
    assert "SBU_3DFE" in out
    assert "2500" in out
    code, out, _ = inldl("methods")
    assert code == 0
    assert "winldl" in out
    assert "constant-mean" in out


def test_bench_then_report(inldl, tmp_path):
    arguments = ["bench", "--datasets", DATA, "--methods", "winldl,ridge,constant-mean"]
    arguments += ["--rates", "0.5", "--splits", "2", "--jobs", "1"]
    code, out, err = inldl(*arguments)
    assert code == 0, err
    assert "6 cells, of which 0 are done" in out
    assert "6 cells, of which 6 are done" in inldl(*arguments)[1]
    code, _, err = inldl("report", "run.sqlite", "-o", "page.html")
    assert code == 0, err
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--datasets", "SBU3DEF"], "did you mean 'SBU_3DFE'"),
        (["bench", "--datasets", DATA, "--methods", "winld"], "did you mean winldl"),
        (["bench", "--datasets", DATA, "--rates", "half"], "not a list of numbers"),
        (["bench", "--datasets", DATA, "--rates", "1"], "below 1"),
        (["bench", "--datasets", "nowhere.npz"], "There is no file"),
        (["report", "nothing.sqlite"], "There is no file"),
        (["reproduce", "--datasets", "Yeast_heat"], "not in the paper"),
    ],
)
def test_mistakes_are_one_sentence(inldl, tmp_path, arguments, message):
    code, _, err = inldl(*arguments)
    assert code == 1
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_foreign_file_is_refused(inldl, tmp_path):
    (tmp_path / "run.sqlite").write_text("my diary")
    code, _, err = inldl("bench", "--datasets", DATA)
    assert code == 1
    assert "was not changed" in err
    assert (tmp_path / "run.sqlite").read_text() == "my diary"


def test_a_report_does_not_replace_its_results(inldl, tmp_path):
    (tmp_path / "run.sqlite").write_text("results")
    code, _, err = inldl("report", "run.sqlite", "-o", "run.sqlite")
    assert code == 1
    assert "run.sqlite is given both as the file of results and as --out; give each a" in err
    assert (tmp_path / "run.sqlite").read_text() == "results"


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Take away the public data, and the network that could bring it."""
    monkeypatch.setenv("INLDL_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        port = nobody_listens.getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        yield


@pytest.mark.usefixtures("no_data")
def test_download_that_fails_is_told_before_anything_runs(inldl, tmp_path):
    code, _, err = inldl("bench", "--datasets", "Flickr")
    assert code == 1
    assert "could not be downloaded" in err
    assert "INLDL_DATA" in err
    assert not (tmp_path / "run.sqlite").exists()


@pytest.mark.usefixtures("no_data")
def test_nothing_to_reproduce_is_told_before_anything_runs(inldl, tmp_path):
    code, _, err = inldl("reproduce", "--quick", "--datasets", "Gene", "--out", "again")
    assert code == 1
    assert err.splitlines()[-1].startswith("inldl: None of the paper's datasets is available")
    assert not (tmp_path / "again" / "run.sqlite").exists()


REPRODUCE = ["reproduce", "--quick", "--datasets", "SJAFFE", "--out", "again"]


def check_reproduction(folder):
    """Check the pages, the figures and the tables."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    overview = (folder / "README.md").read_text(encoding="utf-8")
    for text in (page, overview):
        assert "0.9517(.0043)" in text  # the printed number of WInLDL
        assert "within one std" in text
        assert "Not run" in text
    for name in ("figure2_relative_error", "figure4_run_time", "figure5_mu", "table1_growth"):
        for suffix in ("svg", "pdf", "png"):
            assert (folder / "figures" / f"{name}.{suffix}").stat().st_size > 1000
    for table in (2, 4, 5, 6):
        for suffix in ("csv", "md", "tex"):
            assert (folder / "tables" / f"table{table}.{suffix}").exists()


@pytest.mark.slow
def test_reproduce_what_an_earlier_run_left(inldl, shared, tmp_path, monkeypatch):
    """All cells but those of WInLDL have a row already, with made-up numbers."""
    monkeypatch.setenv("INLDL_DATA", str(shared))
    cells = plan(["SJAFFE"], quick=True)
    store = Store(tmp_path / "again" / "run.sqlite")
    degrees = np.linspace(0, 0.4, 12).reshape(3, 4)
    made_up = {
        "metrics": dict.fromkeys(METRICS, 0.5),
        "details": {"history": [0.1, 0.01], **errors_by_size(degrees, degrees[::-1])},
        "environment": {"a": "b"},
    }
    for cell in cells:
        if (cell.dataset, cell.method) != ("SJAFFE", "winldl"):
            store.add(Row(cell, "ok", fit_seconds=0.1, **made_up))
    code, out, err = inldl(*REPRODUCE, "--jobs", "1")
    assert code == 0, err
    assert f"{len(cells)} cells, of which {len(cells) - 5} are done." in out
    assert "Not run: Gene, not asked for." in out
    check_reproduction(tmp_path / "again")


@pytest.mark.slow
def test_reproduce(inldl, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    code, _, err = inldl(*REPRODUCE, "--jobs", "2")
    assert code == 0, err
    check_reproduction(tmp_path / "again")
