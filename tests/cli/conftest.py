"""A command line to run, and a table with holes."""

import sys

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide, load_budget_shares


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
    """Write a table with holes, text, an id and a column that lacks cells; return its text."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    X, y = X[:300], hide(y[:300], 0.4, random_state=0)
    X = X.assign(
        region=np.where(X["age"] > 35, "north", 'so"uth'), key=[f"k{i}" for i in range(300)]
    )
    X.loc[::7, "income"] = np.nan
    frame = pd.concat([X, y], axis=1)
    frame.to_csv(tmp_path / "survey.csv", index=False, lineterminator="\r\n")
    return frame
