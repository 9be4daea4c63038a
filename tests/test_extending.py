"""What CONTRIBUTING promises of new metrics, weightings, mechanisms, figures and commands."""

import os
import shutil
import subprocess
import sys
import textwrap
from functools import partial
from importlib import reload
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import inldl
from inldl import WInLDL, datasets, evaluate, hide, metrics, weighting
from inldl.cli import app as cli_app
from inldl.cli import options as cli_options
from inldl.cli import tables as cli_tables
from inldl.cli.app import app
from inldl.completion import members
from inldl.datasets import make_distributions
from inldl.metrics import METRICS, scorer
from inldl.metrics.registry import metric
from inldl.report import document, figures
from inldl.report.figures import charts
from inldl.report.style import COLUMN, drawn, single_panel
from inldl.tables.options import FileOptions
from inldl_paper.experiments import grid


@pytest.fixture
def data():
    X, y = make_distributions(60, random_state=0)
    return X, hide(y, 0.3, random_state=0)


def test_a_metric(data, monkeypatch):
    monkeypatch.setattr(metrics.registry, "METRICS", METRICS.copy())

    @metric(higher_is_better=False, perfect=0.0)
    def largest_error(pair):
        """Measure the largest error of a row."""
        return np.abs(pair.p - pair.q).max(axis=1)

    X, y = data
    predicted = WInLDL().fit(X, y).predict(X)
    assert evaluate(y, predicted)["largest_error"] == largest_error(y, predicted) > 0
    assert largest_error.per_row(y, predicted).shape == (60,)
    assert scorer("largest_error")(WInLDL().fit(X, y), X, y) == -largest_error(y, predicted)


def test_a_weighting(data, monkeypatch):
    class Halves(weighting.UniformWeighting):
        def observed(self, degrees):
            return np.full_like(degrees, 0.5)

    monkeypatch.setitem(weighting.SCHEMES, "halves", Halves)
    by_name, by_object = (WInLDL(each).fit(*data) for each in ("halves", Halves()))
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    with pytest.raises(ValueError, match="'halves'"):
        WInLDL("thirds").fit(*data)


def test_a_mechanism(monkeypatch):
    def first(y, rate, rng):
        return np.arange(y.shape[1]) > 0 * y

    monkeypatch.setitem(datasets.MECHANISMS, "first", first)
    assert np.isnan(hide(np.full((4, 2), 0.5), 0.5, mechanism="first")[:, 0]).all()
    assert "first" in CliRunner().invoke(app, ["bench", "--help"]).output
    grid(["random(n=60)"], ["constant-mean"], mechanism="first")


@pytest.fixture
def added(monkeypatch):
    """Give a function that adds to a module and reads the one anew that lists what is there."""
    listing = []

    def add(module, name, value, reader):
        monkeypatch.setattr(module, name, value, raising=False)
        listing.append(reader)
        return reload(reader)

    yield add
    monkeypatch.undo()
    for reader in listing:
        reload(reader)


def test_a_figure(added):
    @drawn
    def dots(frame, *, width=COLUMN):
        """Draw the largest share of each row.

        Parameters
        ----------
        frame : DataFrame
            Shares.
        """
        axes = single_panel(width)
        axes.plot(frame.max(axis=1), "o")
        return axes.figure

    assert added(charts, "dots", dots, figures).FIGURES["dots"] is dots
    assert "width : float" in dots.__doc__
    picture = document.picture(partial(dots, pd.DataFrame({"joy": [0.5, 1.0]})), "Dots.", "dots")
    page = document.Document("Shares", sections=[document.Section("All", [picture])]).html()
    assert page.count("<svg") == 2  # one for narrow screens


def test_an_option_is_one_line(tmp_path):
    """A copy of the package with one more field has the option in all places."""
    pytest.importorskip("inldl_studio")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(inldl.__file__).parent, tmp_path / "inldl", ignore=skipped)
    path, before = tmp_path / "inldl/tables/options.py", "    filled_columns: bool = option("
    line = '    loud: bool = option(False, "Say it loudly.", page=(_MORE, "Loudly"))\n'
    path.write_text(path.read_text().replace(before, line + before))
    (tmp_path / "survey.csv").write_text("age,joy,anger\n31,0.25,0.75\n40,0.5,\n")
    code = """
        from typer.testing import CliRunner
        from inldl.cli.app import app
        from inldl_studio import settings
        from inldl.tables import FillOptions, TableFile
        from inldl.tables.completing import check_completion

        help = CliRunner().invoke(app, ["complete", "--help"]).output
        assert "--loud" in help and "Say it loudly." in help
        [control] = [each for each in settings.FORM if each["name"] == "loud"]
        assert (control["title"], control["kind"]) == ("Loudly", "flag")
        chosen = settings.checked({"loud": True})
        assert settings.chosen(FillOptions, chosen) == FillOptions(loud=True)
        check_completion(TableFile("survey.csv", "joy,anger"), "out.csv", loud=True)
        assert "loud : bool, default=False" in FillOptions.__doc__
        """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "120"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)


def test_a_command(added, tmp_path):
    def largest(
        table: cli_options.File, *, output: cli_options.Output, options: FileOptions
    ) -> None:
        """Say which share is the largest.

        inldl largest survey.csv
        """
        [piece] = output.open(table, "joy,anger", options).pieces()
        output.show(document.Document("Largest", [f"The largest is {piece.values.max():g}."]))

    commands = (*cli_tables.COMMANDS, largest)
    app = added(cli_tables, "COMMANDS", commands, cli_app).app
    path = tmp_path / "survey.csv"
    path.write_text("joy;anger\n0,25;0,75\n")
    told = CliRunner().invoke(app, ["largest", str(path), "--decimal", ","]).output
    assert told == "The largest is 0.75.\n"
    assert "Say which share" in CliRunner().invoke(app, ["--help"]).output


def test_a_completion_member(data, monkeypatch):
    """One class in one list: it is weighed with the others, and fills with them."""

    class Evenly:
        name, safe, follows = "evenly", 0.0, False

        @classmethod
        def learn(cls, training):
            return cls()

        def fill(self, rows, predicted, before):
            return rows.evenly(), None

    class Again(Evenly):
        name, follows = "again", True

        def fill(self, rows, predicted, before):
            return before, None

    monkeypatch.setattr(members, "MEMBERS", [*members.MEMBERS, Evenly, Again])
    X, y = data
    model = WInLDL(cross_fit=5).fit(X, y)
    completed = model.complete(X, y)
    weights = model._completer().weights_
    assert list(weights)[-2:] == ["evenly", "again"]
    assert sum(weights.values()) == pytest.approx(1)
    np.testing.assert_allclose(completed.sum(axis=1), 1)
    rows, predicted = model._rows_to_fill(X, y, None, None, None)
    fills, _ = model._completer().members_.fills(rows, predicted)
    np.testing.assert_array_equal(fills[-2:], [rows.evenly()] * 2)
