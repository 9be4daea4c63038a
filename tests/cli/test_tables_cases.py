"""What users of the table commands run into: files in two roles, scales, odd names, signals."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS
from inldl import TableModel
from inldl.files import save_model

NAMES = LABELS.split(",")
TABLE = ("survey.csv", "-l", LABELS)
RIDGE = ("-m", "sklearn.linear_model:Ridge")  # fails in the fit: what comes first is told first


@pytest.fixture
def model(inldl, survey):
    """Fit a model to the survey."""
    assert inldl("fit", *TABLE, "-o", "m.inldl", "-m", "winldl")[0] == 0


@pytest.fixture
def percent(tmp_path, survey):
    """Write the survey in percent."""
    frame = survey.copy()
    frame[NAMES] = (100 * frame[NAMES]).round(2)
    frame.to_csv(tmp_path / "percent.csv", index=False)


def written(tmp_path, name):
    return (tmp_path / name).read_text(encoding="utf-8")


TWO_ROLES = {
    "out and page": ("complete", *TABLE, "-o", "same.csv", "--page", "same.csv"),
    "model and page": ("fit", *TABLE, "-o", "new.inldl", "--page", "new.inldl"),
    "table and page": ("complete", *TABLE, "-o", "whole.csv", "--page", "survey.csv"),
    "table and model": ("fit", *TABLE, "-o", "survey.csv"),
    "judged model": ("evaluate", "m.inldl", "survey.csv", "--page", "m.inldl"),
    "inspected table": ("inspect", *TABLE, "--page", "./survey.csv"),
    "compared table": ("compare", *TABLE, "--page", "linked.csv"),
    "filling model": ("complete", "survey.csv", "--model", "m.inldl", "-o", "m.inldl"),
    "predicting model": ("predict", "m.inldl", "survey.csv", "-o", "m.inldl"),
    "exported model": ("export", "m.inldl", "m.inldl"),
}


@pytest.mark.parametrize("case", TWO_ROLES)
def test_a_file_has_one_role(inldl, tmp_path, model, case):
    os.link(tmp_path / "survey.csv", tmp_path / "linked.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, _, err = inldl(*TWO_ROLES[case], "--overwrite")
    assert code == 1
    assert re.fullmatch(r"inldl: \S+ is given both as .* and as .*; give each .* own\.\n", err)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_table_may_be_replaced_by_the_completed_one(inldl, tmp_path, survey):
    options = ("-o", "survey.csv", "-m", "winldl")
    assert inldl("complete", *TABLE, *options)[0] == 1
    assert inldl("complete", *TABLE, *options, "--overwrite")[0] == 0
    assert pd.read_csv(tmp_path / "survey.csv")[NAMES].notna().all(axis=None)


def test_a_model_of_percentages_does_not_fill_fractions_unasked(inldl, tmp_path, percent):
    options = ("--model", "p.inldl", "-o", "whole.csv")
    fit = ("fit", "percent.csv", "-l", LABELS, "-o", "p.inldl", "-m", "winldl")
    assert inldl(*fit)[0] == 0
    code, _, err = inldl("complete", "survey.csv", *options)
    assert code == 1
    assert "read as fractions" in err
    assert "--scale percent" in err
    assert not (tmp_path / "whole.csv").exists()
    assert inldl("complete", "survey.csv", *options, "--scale", "fraction")[0] == 0
    sums = pd.read_csv(tmp_path / "whole.csv")[NAMES].sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=0, atol=1e-9)
    code, out, _ = inldl("complete", "percent.csv", *options, "--overwrite")
    assert code == 0
    assert "The shares are read as percentages" in out


@pytest.mark.usefixtures("without_figures")
def test_errors_have_the_units_of_the_table(inldl, tmp_path, percent):
    told = []
    for table in ("survey.csv", "percent.csv"):
        page = ("--page", f"{table}.html")
        run = ("complete", table, "-l", LABELS, "-o", f"w_{table}", "-m", "winldl", *page)
        code, out, _ = inldl(*run)
        assert code == 0
        told.append(re.search(r"Expected error: ([\d.]+)( percentage points)? \(", out))
    assert [found[2] for found in told] == [None, " percentage points"]
    assert float(told[1][1]) == pytest.approx(100 * float(told[0][1]), abs=0.02)
    page = written(tmp_path, "percent.csv.html")
    assert f"Expected error: {told[1][1]} percentage points" in page
    assert "percentage points" not in written(tmp_path, "survey.csv.html")
    numbers = {
        "inspect": r"food +\d+ +[\d.]+% +([\d.]+)",
        "compare": r"winldl +([\d.]+)",
    }
    for name, pattern in numbers.items():
        options = ("--methods", "winldl", "--rows", "60") if name == "compare" else ()
        outs = [inldl(name, t, "-l", LABELS, *options)[1] for t in ("survey.csv", "percent.csv")]
        fraction, points = (float(re.search(pattern, out)[1]) for out in outs)
        assert points == pytest.approx(100 * fraction, abs=0.02)
        assert ["percentage points" in out for out in outs] == [False, name == "compare"]


def small_table(tmp_path, y, labels):
    x = np.random.default_rng(0).normal(size=(len(y), 2))
    frame = pd.DataFrame(np.hstack([x, y]), columns=["x0", "x1", *labels])
    frame.to_csv(tmp_path / "small.csv", index=False)
    return ("complete", "small.csv", "-l", ",".join(labels), "-o", "whole.csv", "-m", "winldl")


def test_two_labels_are_judged_by_new_rows(inldl, tmp_path):
    share = np.random.default_rng(1).uniform(0.2, 0.8, 60).round(3)
    y = np.column_stack([share, 1 - share])
    y[:20, 0] = y[15:25, 1] = np.nan
    code, out, _ = inldl(*small_table(tmp_path, y, ["yes", "no"]), "--page", "page.html")
    assert code == 0
    assert "Filled in 30 missing shares in 25 rows." in out
    assert "The known sums give 20 of them exactly." in out
    assert (
        "the mean absolute error at 90 known shares of rows that were left out (with two labe"
        in out
    )
    assert "the mean absolute error at 90 known shares of rows" in written(tmp_path, "page.html")


def test_an_error_that_few_degrees_tell_is_said_to_be_rough(inldl, tmp_path):
    y = np.random.default_rng(1).dirichlet(np.ones(3), 500).round(3)
    y[:, 2] = (1 - y[:, :2].sum(axis=1)).round(3)
    y[0, :2] = np.nan
    rough = re.compile(r"This is a rough estimate: only (\d+) shares could be used")
    assert not rough.search(inldl(*small_table(tmp_path, y, ["a", "b", "c"]))[1])
    out = inldl(*small_table(tmp_path, y[:15], ["a", "b", "c"]), "--overwrite")[1]
    assert 0 < int(rough.search(out)[1]) < 50
    assert "Filled in 2 missing shares in 1 row." in out


@pytest.mark.parametrize("row", ["50,43,", "1,1,"])
def test_counts_with_holes_are_not_judged_by_their_sums(inldl, tmp_path, row):
    rows = [f"{i**1.5},{2 * i + 1},{i % 7 + 2},{i % 3}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["x,a,b,c", *rows, f"1,{row}", f"3,{row}", ""]))
    out = inldl("inspect", "t.csv", "-l", "a,b,c")[1]
    assert "their totals are unknown" in out
    assert "seem to be zeros" not in out
    assert "single missing share" not in out
    code, _, err = inldl("complete", "t.csv", "-l", "a,b,c", "-o", "o.csv")
    assert code == 1
    assert "so the shares were read as counts" in err
    assert "is a label missing from --labels?" in err


def test_rounded_percentages_are_completed(inldl, tmp_path):
    y = (100 * np.random.default_rng(1).dirichlet(np.ones(4), 80)).round()
    y[:20, :2] = np.nan
    labels = ["a", "b", "c", "d"]
    code, out, _ = inldl(*small_table(tmp_path, y, labels))
    assert code == 0
    assert "rows sum to 99 to 101, as rounded numbers do;" in out
    before, after = (pd.read_csv(tmp_path / name)[labels] for name in ("small.csv", "whole.csv"))
    pd.testing.assert_frame_equal(after[20:], before[20:])
    np.testing.assert_allclose(after[:20].sum(axis=1), 100, rtol=0, atol=1e-8)


def test_new_rows_unlike_those_of_the_fit_are_counted(inldl, tmp_path):
    x = np.random.default_rng(0).uniform(0.2, 0.8, 40)
    table = pd.DataFrame({"x": x, "town": ["A", "B"] * 20, "yes": x, "no": 1 - x})
    table.to_csv(tmp_path / "t.csv", index=False)
    inldl("fit", "t.csv", "-l", "yes,no", "-o", "t.inldl", "-m", "winldl")
    assert "unlike" not in inldl("predict", "t.inldl", "t.csv", "-o", "old.csv")[1]
    (tmp_path / "new.csv").write_text("x,town\n0.5,A\n0.9,B\n0.1,C\n,\n")
    out = inldl("predict", "t.inldl", "new.csv", "-o", "new_shares.csv")[1]
    assert "Rows unlike those of the fit: 2 with a number outside its range, 1 with text n" in out


def test_degrees_that_the_sums_give_have_no_error(inldl, tmp_path):
    y = np.random.default_rng(1).dirichlet(np.ones(3), 60).round(3)
    y[:, 2] = 1 - y[:, :2].sum(axis=1)
    y[np.arange(60), np.arange(60) % 3] = np.nan
    code, out, _ = inldl(*small_table(tmp_path, y, ["a", "b", "c"]), "--page", "page.html")
    assert code == 0
    assert "The known sums give all of them exactly" in out
    assert "error" not in out
    page = written(tmp_path, "page.html")
    assert "The known sums give all of them exactly" in page
    assert "Expected error" not in page


@pytest.mark.usefixtures("without_figures")
def test_pages_without_errors_do_not_speak_of_held_out_degrees(inldl, tmp_path, model):
    run = ("predict", "m.inldl", "survey.csv", "-o", "new.csv", "--page", "new.html")
    assert inldl(*run)[0] == 0
    run = ("complete", "survey.csv", "--model", "m.inldl", "-o", "w.csv", "--page", "w.html")
    assert inldl(*run)[0] == 0
    predicted, completed = (
        re.sub(r"<(script|style)>.*?</\1>", "", written(tmp_path, name), flags=re.DOTALL)
        for name in ("new.html", "w.html")
    )
    for page in (predicted, completed):
        assert "could be held out" not in page
        assert "`" not in page
    assert "for 59 rows." in predicted
    for word in ("not observed", "ompleted", "filled"):
        assert word not in predicted
    assert "The model was fitted before" in completed


EARLY = {
    "interval taken": (("--uncertainty", "0.9"), "has a column 'food_low' already"),
    "filled column taken": (("--filled-columns",), "has a column 'fuel_filled' already"),
    "uncertainty 0": (("--uncertainty", "0"), "coverage must be a number between 0 and 1, got 0"),
    "uncertainty 90": (
        ("--uncertainty", "90"),
        "coverage must be a number between 0 and 1, got 90",
    ),
    "negative": (("--uncertainty", "-1"), "coverage must be a number between 0 and 1, got -1"),
    "no number": (("--uncertainty", "nan"), "coverage must be a number between 0 and 1, got nan"),
    "no thread": (("--jobs", "0"), "--jobs cannot be 0"),
    "nothing": ((), "sklearn.linear_model:Ridge cannot learn from degrees if some are missing"),
}


@pytest.mark.parametrize("case", EARLY)
def test_options_are_refused_before_the_fit(inldl, tmp_path, survey, case):
    options, message = EARLY[case]
    survey.assign(food_low=1.5, fuel_filled=0.5).to_csv(tmp_path / "survey.csv", index=False)
    code, _, err = inldl("complete", *TABLE, "-o", "x.csv", *RIDGE, *options)
    assert code == 1
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--method", "--learn-from", "--jobs"])
def test_a_fitted_model_has_no_options_of_a_fit(inldl, model, option):
    value = {"--method": "auto", "--learn-from": "50", "--jobs": "1"}[option]
    run = ("complete", "survey.csv", "--model", "m.inldl", "-o", "x.csv", option, value)
    code, _, err = inldl(*run)
    assert code == 1
    assert f"{option} is for fitting, but --model is already fitted" in err


def test_names_that_collide_among_what_is_added(inldl, tmp_path, survey):
    named = survey.rename(columns={"fuel": "food_low"})
    named.to_csv(tmp_path / "named.csv", index=False)
    labels = LABELS.replace("fuel", "food_low")
    assert inldl("fit", "named.csv", "-l", labels, "-o", "m.inldl", "-m", "winldl")[0] == 0
    named.drop(columns=labels.split(",")).to_csv(tmp_path / "new.csv", index=False)
    code, _, err = inldl("predict", "m.inldl", "new.csv", "-o", "x.csv", "--uncertainty", "0.9")
    assert code == 1
    assert "'food_low'" in err
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("rows", [1000, 160])  # too many for the fit, or for its folds only
def test_labels_that_cannot_be_learned_are_named(inldl, survey, rows):
    method = ("-m", f"boosting(early_stopping=True, validation_fraction={rows})")
    code, _, err = inldl("complete", *TABLE, "-o", "x.csv", *method)
    assert code == 1
    assert re.search(r"cannot learn label '(food|fuel|clothes|alcohol|transport|other)'", err)


def test_a_model_without_intervals(inldl, tmp_path, survey):
    fitted = TableModel("winldl", cross_fit=None).fit(survey.drop(columns=NAMES), survey[NAMES])
    save_model(fitted, tmp_path / "m.inldl")
    run = ("predict", "m.inldl", "survey.csv", "-o", "x.csv")
    code, _, err = inldl(*run, "--uncertainty", "0.9")
    assert code == 1
    assert "held-out predictions, which intervals need" in err
    assert inldl(*run)[0] == 0
    complete = ("complete", "survey.csv", "--model", "m.inldl", "-o", "whole.csv")
    code, _, err = inldl(*complete, "--draws", "3")
    assert code == 1
    assert "held-out predictions, which draws need" in err
    assert inldl(*complete)[0] == 0


def test_a_single_row_is_enough_to_judge(inldl, tmp_path, survey, model):
    shares = dict(zip(NAMES, [0.5, 0.1, 0.1, 0.1, 0.1, 0.1], strict=True))
    survey[:1].assign(**shares).to_csv(tmp_path / "one.csv", index=False)
    code, out, _ = inldl("evaluate", "m.inldl", "one.csv")
    assert code == 0
    assert "known shares of 1 row." in out


def test_names_are_no_markup(inldl, tmp_path, survey):
    odd = survey.rename(columns={"food": "a[/b]", "fuel": "[red]joy[/red]"})
    odd.to_csv(tmp_path / "odd.csv", index=False)
    code, out, _ = inldl("inspect", "odd.csv", "-l", "a*,*joy*,clothes,alcohol,transport,other")
    assert code == 0
    assert "\na[/b] " in out
    assert "\n[red]joy[/red] " in out


def test_compare_fits_a_terminal_of_80_columns(inldl, survey, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("inldl.report.renderers.sys.stdout.isatty", lambda: True, raising=False)
    methods = ("--methods", "winldl,knn(n_neighbors=0),ridge", "--rows", "60")
    code, out, _ = inldl("compare", *TABLE, *methods)
    assert code == 0
    out = re.sub(r"\x1b\[[\d;]*m", "", out)
    lines = out[out.index("method") :].splitlines()[:6]
    assert max(map(len, lines)) <= 80
    assert any(line.rstrip().endswith(" recommended") for line in lines)
    assert any(line.rstrip().endswith(" failed") for line in lines)
    assert "knn(n_neighbors=0) failed: KNeighborsRegressor" in out


def test_two_rows_are_too_few_to_compare(inldl, tmp_path, survey):
    survey[survey[NAMES].isna().sum(axis=1) < 3][:2].to_csv(tmp_path / "two.csv", index=False)
    pairs = [a for a in NAMES if pd.read_csv(tmp_path / "two.csv")[a].notna().any()]
    code, _, err = inldl("compare", "two.csv", "-l", ",".join(pairs), "--methods", "winldl")
    assert code == 1
    assert "The table has 2 row(s); methods are compared on at least three." in err


def test_every_command_reads_thousands(inldl, tmp_path, survey):
    votes = (1 + survey[NAMES].fillna(0) * 99_999).round().map("{:,.0f}".format)
    pd.concat([survey[["age"]].astype(int), votes], axis=1).to_csv(
        tmp_path / "votes.csv", index=False
    )
    table, told = ("votes.csv", "-l", LABELS), "Commas separate thousands (as in "
    fast = ("-m", "winldl", "--overwrite")
    code, _, err = inldl("inspect", *table)
    assert (code, "could mean" in err) == (1, True)
    for command in (
        ("inspect", *table),
        ("fit", *table, "-o", "votes.inldl", *fast),
        ("complete", *table, "-o", "whole.csv", *fast),
        ("complete", "votes.csv", "--model", "votes.inldl", "-o", "whole.csv", "--overwrite"),
        ("compare", *table, "--methods", "winldl", "--rows", "50"),
        ("evaluate", "votes.inldl", "votes.csv"),
        ("predict", "votes.inldl", "votes.csv", "-o", "predicted.csv", "--overwrite"),
    ):
        code, out, _ = inldl(*command, "--decimal", ".")
        assert (code, told in out) == (0, True), command
        assert inldl(*command, "--thousands", ",")[0] == 0
    assert inldl("inspect", *table, "--thousands", "none", "--decimal", ".")[0] == 1
    assert written(tmp_path, "whole.csv") == written(tmp_path, "votes.csv")


def test_help_tells_of_commas_and_not_of_truth_values(inldl):
    out = inldl("complete", "--help")[1]
    assert '"joy? mild"' in out
    for option in ("--filled-columns", "--overwrite", "--normalize", "-h"):
        assert re.search(rf"{option} +[A-Z]", out)


METHODS = '''
import pathlib, time, warnings
from inldl.methods import ConstantLDL

class Slow(ConstantLDL):
    """Predict until the folds are done; then wait."""

    calls = 0

    def fit(self, X, y):
        warnings.warn("the moon is full")
        return super().fit(X, y)

    def predict(self, X):
        Slow.calls += 1
        if Slow.calls > 5:
            pathlib.Path("ready").touch()
            time.sleep(600)
        return super().predict(X)

'''


def start(tmp_path, survey):
    (tmp_path / "own_methods.py").write_text(METHODS)
    (tmp_path / "temporary").mkdir()
    survey.to_csv(tmp_path / "old.csv.gz", index=False)  # it is unpacked to a temporary file
    command = (
        "complete",
        "old.csv.gz",
        "-l",
        LABELS,
        "-o",
        "whole.csv",
        "-m",
        "own_methods:Slow",
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "inldl", *command],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [
        pytest.param(signal.SIGTERM, 143, "", marks=pytest.mark.slow),
        (signal.SIGINT, 130, "inldl: interrupted\n"),
    ],
)
def test_a_command_that_is_stopped_leaves_nothing_behind(tmp_path, survey, number, code, told):
    process = start(tmp_path, survey)
    while not (tmp_path / "ready").exists() and process.poll() is None:
        time.sleep(0.1)
    assert len(list((tmp_path / "temporary").rglob("*.csv"))) == 1
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == code
    assert err == "inldl: the moon is full\n" + told  # a warning reads like all else
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert not (tmp_path / "whole.csv").exists()


def test_a_table_from_standard_input(inldl, tmp_path, survey, monkeypatch):
    with (tmp_path / "survey.csv").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        code, out, err = inldl("complete", "-", "-l", LABELS, "-o", "whole.csv", "-m", "winldl")
    assert (code, err) == (0, "")
    assert "Wrote whole.csv" in out
    assert inldl("complete", *TABLE, "-o", "same.csv", "-m", "winldl")[0] == 0
    assert written(tmp_path, "whole.csv") == written(tmp_path, "same.csv")
