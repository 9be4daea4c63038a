"""The commands of the researcher, as a user gives them."""

import numpy as np
import pandas as pd
import pytest

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


MINE = """
import numpy as np
from inldl.methods import ConstantLDL

class Same(ConstantLDL):
    pass

def worst(y_true, y_pred):
    return np.abs(np.asarray(y_true) - y_pred).max()
"""


def test_own_files_names_and_metrics(inldl, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    methods = "Mean=./mine.py:Same(strategy='mean'),winldl"
    arguments = ["bench", "--datasets", DATA, "--methods", methods, "--rates", "0,0.5"]
    arguments += ["--splits", "2", "--metrics", "earth_mover,./mine.py:worst"]
    code, out, err = inldl(*arguments)
    assert code == 0, err
    for text in ("Cosine by dataset", "Earth mover by dataset", "Mean", "n=80), 0.5"):
        assert text in out
    made = ("--latex", "tex", "--csv", "rows.csv", "--figures", "pdf")
    code, out, err = inldl("report", "run.sqlite", *made)
    assert code == 0, err
    assert r"\label{tab:earth-mover}" in (tmp_path / "tex/earth_mover.tex").read_text()
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert set(rows["method"]) == {"Mean", "winldl"}
    assert rows["./mine.py:worst"].between(0, 1).all()
    assert (tmp_path / "pdf/run-time.pdf").stat().st_size > 1000
    assert r"\label{tab:mine-worst}" in (tmp_path / "tex/mine-worst.tex").read_text()
    page = (tmp_path / "report.html").read_text()
    assert "Mean=./mine.py:Same(strategy=" in page  # the command to repeat it
    assert "--metrics earth_mover,./mine.py:worst" in page
    assert "Earth mover at 50% missing degrees" in page
    assert "./mine.py:worst at 0% missing degrees" in page


def test_a_metric_that_finished_cells_lack_is_computed(inldl, tmp_path):
    (tmp_path / "gap.py").write_text(MINE)
    arguments = ["bench", "--datasets", DATA, "--methods", "constant-mean", "--rates", "0.5"]
    arguments += ["--splits", "2"]
    assert inldl(*arguments)[0] == 0
    code, out, err = inldl(*arguments, "--metrics", "earth_mover")
    assert code == 0, err
    assert "2 of these lack earth_mover, and are computed again" in out
    assert "Earth mover by dataset" in out
    code, out, err = inldl(*arguments, "--metrics", "./gap.py:worst")
    assert code == 0, err
    code, out, err = inldl(*arguments, "--metrics", "earth_mover,./gap.py:worst")
    assert code == 0, err
    assert "2 cells, of which 2 are done.\n" in out  # the first metric was kept


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("winldl=constant-mean,winldl", "'winldl' cannot name constant-mean, because it stands"),
        ("Ridge=knn", "it stands for the method ridge"),
        ("a=winldl,a=knn", "'a' cannot name winldl, because it stands for knn; choose another"),
        ("a=knn,b=knn", "knn is named 'a' and 'b'; give it one name"),
    ],
)
def test_a_name_stands_for_one_method(inldl, tmp_path, methods, message):
    code, _, err = inldl("bench", "--datasets", DATA, "--methods", methods)
    assert code == 1
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_the_store_stands_for_one_method(inldl):
    arguments = ["bench", "--datasets", DATA, "--rates", "0.5", "--splits", "1", "--methods"]
    assert inldl(*arguments, "a=constant-mean")[0] == 0
    code, _, err = inldl(*arguments, "a=constant-uniform")
    assert code == 1
    assert "'a' cannot name constant-uniform, because it stands for constant-mean" in err
    code, out, err = inldl(*arguments, "b=constant-mean,a=constant-uniform")
    assert code == 0, err
    assert {"a", "b"} < set(out.split())


def test_rows_of_a_group_stay_together(inldl, tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    np.savez(tmp_path / "g.npz", X=rng.random((60, 2)), y=rng.dirichlet([1, 1], 60), groups=groups)
    arguments = ["bench", "--datasets", "g.npz", "--rates", "0.5", "--splits", "2", "--grouped"]
    code, out, err = inldl(*arguments)
    assert code == 0, err
    assert "g.npz, 0.5" in out
    assert inldl("report", "run.sqlite")[0] == 0
    assert "--grouped" in (tmp_path / "report.html").read_text()
    code, _, err = inldl("bench", "--datasets", DATA, "--grouped", "--out", "b.sqlite")
    assert code == 1
    assert "has no groups" in err


def test_ranges_are_refused_before_anything_runs(inldl, tmp_path):
    lower, upper = np.full((20, 2), 0.2), np.full((20, 2), 0.8)
    np.savez(tmp_path / "r.npz", X=np.arange(20.0)[:, None], lower=lower, upper=upper)
    code, _, err = inldl("bench", "--datasets", "r.npz", "--rates", "0.5", "--splits", "1")
    assert code == 1
    assert "r.npz has ranges instead of degrees" in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "run.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--datasets", "SBU3DEF"], "did you mean 'SBU_3DFE'"),
        (["bench", "--datasets", DATA, "--methods", "winld"], "did you mean winldl"),
        (["bench", "--datasets", DATA, "--rates", "half"], "not a list of numbers"),
        (["bench", "--datasets", DATA, "--rates", "1"], "below 1"),
        (["bench", "--datasets", "nowhere.npz"], "There is no file"),
        (["bench", "--datasets", DATA, "--metrics", "earth_movr"], "is not a metric"),
        (["bench", "--datasets", DATA, "--methods", "./no.py:M"], "There is no file './no.py'"),
        (["report", "nothing.sqlite"], "There is no file"),
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


@pytest.mark.usefixtures("no_data")
def test_download_that_fails_is_told_before_anything_runs(inldl, tmp_path):
    code, _, err = inldl("bench", "--datasets", "Flickr")
    assert code == 1
    assert "could not be downloaded" in err
    assert "INLDL_DATA" in err
    assert not (tmp_path / "run.sqlite").exists()
