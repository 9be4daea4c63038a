"""A command line to run, and a table with holes."""

import sys

import pytest

from budget_survey import budget_survey


@pytest.fixture
def inldl(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in an empty folder: exit code, output, errors."""
    from inldl.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["inldl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, told.err

    return call


@pytest.fixture
def survey(tmp_path):
    """Write a table with holes, and return it."""
    frame = budget_survey(59)  # with 60, completing would grow forests, which take their time
    frame.to_csv(tmp_path / "survey.csv", index=False, lineterminator="\r\n")
    return frame
