"""Odd terminals, closed streams, names that steer a terminal, and too little memory."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS
from inldl import WInLDL
from inldl.cli import main
from inldl.datasets import make_distributions
from inldl.files import save_model
from inldl.text import printable

TABLE = ("survey.csv", "-l", LABELS)


def run(tmp_path, *arguments, closed=None, **environment):
    """Run a command in a process of its own, with a stream closed by the caller."""
    return subprocess.run(
        [sys.executable, "-m", "inldl", *arguments],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        preexec_fn=None if closed is None else lambda: os.close(closed),
    )


@pytest.mark.skipif(os.name == "nt", reason="a shell of Windows closes no streams")
def test_a_closed_stream(tmp_path, survey):
    """The table must not get the number of the stream, or messages would go into it."""
    options = ("-o", "whole.csv", "-m", "constant-mean")
    done = run(tmp_path, "complete", *TABLE, *options, closed=2)
    assert done.returncode == 0
    assert b"Wrote whole.csv" in done.stdout
    assert len(pd.read_csv(tmp_path / "whole.csv")) == len(survey)


def test_without_docstrings(tmp_path):
    done = run(tmp_path, "complete", "--help", PYTHONOPTIMIZE="2")
    assert done.returncode == 0
    assert b"--labels" in done.stdout


def test_a_terminal_that_knows_ascii_only(inldl, survey, monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    code, _, err = inldl("compare", *TABLE, "--methods", "constant-mean")
    assert code == 0, err
    terminal.flush()
    assert b"constant-mean" in terminal.buffer.getvalue()


def test_control_characters_are_spelled_out(inldl, tmp_path):
    assert printable("a\x1b[2J\x9b\x07\r\x7f\tü\n") == r"a\x1b[2J\x9b\x07\x0d\x7f" + "\tü\n"
    X, y = make_distributions(30, random_state=0)
    names = ["joy\x1b]0;title\x07", "anger\nmethod: other", "fear"]
    model = WInLDL().fit(X, pd.DataFrame(y, columns=names))
    save_model(model, tmp_path / "m.inldl", info={"so\x1b[31mrce": "\x1b[2J"})
    code, out, _ = inldl("model", "info", "m.inldl")
    assert code == 0
    assert "\x1b" not in out
    assert r"joy\x1b]0;title\x07, anger method: other, fear" in out
    code, _, err = inldl("predict", "m.inldl", "\x1b[2J.csv", "-o", "p.csv")
    assert code == 1
    assert "\x1b" not in err


def test_names_of_columns_do_not_steer_a_terminal(inldl, tmp_path, survey):
    survey.rename(columns={"food": "fo\x1b[31mod"}).to_csv(tmp_path / "odd.csv", index=False)
    labels = LABELS.replace("food", "fo\x1b[31mod")
    code, out, err = inldl("inspect", "odd.csv", "-l", labels)
    assert code == 0
    assert r"fo\x1b[31mod" in out
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("fit", "learn from fewer rows, such as with --learn-from 10000"),
        ("inspect", "use fewer rows"),
    ],
)
def test_too_little_memory_is_one_sentence(monkeypatch, capsys, command, advice):
    """A table that asks for more than any machine has."""
    monkeypatch.setattr(sys, "argv", ["inldl", command])
    monkeypatch.setattr("inldl.cli.app.app", lambda: np.empty(2**55))
    with pytest.raises(SystemExit) as ended:
        main()
    err = capsys.readouterr().err
    assert ended.value.code == 1
    assert err.startswith("inldl: There is not enough memory (Unable to allocate ")
    assert err.endswith(f"; {advice}, or a machine with more memory.\n")
