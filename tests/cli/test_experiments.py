"""The commands of the researcher, as a user gives them."""

import sys

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "--datasets", "SBU3DEF"], "did you mean 'SBU_3DFE'"),
        (["bench", "--datasets", DATA, "--methods", "winld"], "did you mean winldl"),
        (["bench", "--datasets", DATA, "--rates", "half"], "not a list of numbers"),
        (["bench", "--datasets", DATA, "--rates", "1"], "below 1"),
        (["bench", "--datasets", "nowhere.npz"], "There is no file"),
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


MISSING = (
    "inldl: inldl {} needs the package inldl-paper: pip install inldl-paper (in a clone of "
    "inldl: pip install ./packages/inldl-paper)\n"
)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["reproduce", "--quick"], "--quick"),
        (["bench", "--datasets", DATA], "--recipe"),
        (["report", "run.sqlite"], "--out"),
    ],
)
def test_without_its_package_a_command_says_what_to_install(
    inldl, tmp_path, monkeypatch, command, option
):
    monkeypatch.setitem(sys.modules, "inldl_paper", None)
    assert inldl(*command) == (1, "", MISSING.format(command[0]))
    assert list(tmp_path.iterdir()) == []
    code, help, _ = inldl(command[0], "--help")
    assert code == 0
    assert option in help
