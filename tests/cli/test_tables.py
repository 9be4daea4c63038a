"""The commands of the practitioner, as a user gives them."""

import json
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from inldl_paper.experiments.machine import reset_peak_memory

COMMANDS = ("complete", "fit", "predict", "evaluate", "inspect", "compare", "ask", "audit")
COMMANDS += ("export",)


def test_help_has_an_example_of_each_command(inldl):
    code, out, _ = inldl("--help")
    assert code == 0
    for command in COMMANDS:
        assert f"inldl {command} " in " ".join(out.split())  # old versions of typer fill lines
        assert f"inldl {command} " in inldl(command, "--help")[1]
    assert "inldl model info" in inldl("model", "info", "--help")[1]


def cells(text):
    return [line.split(",") for line in text.splitlines()]


def test_complete_changes_only_empty_degrees(inldl, tmp_path, survey):
    code, out, _ = inldl("complete", "survey.csv", "-l", LABELS, "-o", "whole.csv", "-m", "winldl")
    assert code == 0
    missing = survey[LABELS.split(",")].isna()
    n_rows = missing.any(axis=1).sum()
    assert f"Filled in {missing.sum().sum()} missing shares in {n_rows} rows." in out
    assert n_rows < len(survey)
    assert "Expected error: 0.0" in out
    assert "Column 'key' is left out" in out
    before, after = (
        (tmp_path / name).read_bytes().decode() for name in ("survey.csv", "whole.csv")
    )
    assert len(cells(before)) == len(cells(after))
    place = survey.columns.get_indexer(LABELS.split(","))
    for old, new in zip(cells(before), cells(after), strict=True):
        changed = [j for j, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
        assert all(j in place and old[j] == "" for j in changed)
    whole = pd.read_csv(tmp_path / "whole.csv")[LABELS.split(",")]
    np.testing.assert_allclose(whole.sum(axis=1), 1, rtol=0, atol=1e-9)
    assert before.count("\r\n") == after.count("\r\n")


def test_columns_that_are_added(inldl, tmp_path, survey):
    options = ("--uncertainty", "0.8", "--filled-columns", "-m", "winldl")
    code, _, _ = inldl("complete", "survey.csv", "-l", LABELS, "-o", "whole.csv", *options)
    assert code == 0
    whole = pd.read_csv(tmp_path / "whole.csv")
    labels, n = LABELS.split(","), len(survey.columns)
    names = [f"{name}_{end}" for name in labels for end in ("low", "high")]
    assert list(whole.columns[n:]) == names + [f"{name}_filled" for name in labels]
    holes = survey[labels].isna().to_numpy()
    np.testing.assert_array_equal(whole[[f"{name}_filled" for name in labels]] == 1, holes)
    low, high = (whole[[f"{name}_{end}" for name in labels]] for end in ("low", "high"))
    np.testing.assert_array_equal(low.notna(), holes)
    filled = whole[labels].to_numpy()[holes]
    assert (low.to_numpy()[holes] <= filled + 1e-6).all()
    assert (high.to_numpy()[holes] >= filled - 1e-6).all()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_draws_are_files_of_the_same_kind(inldl, tmp_path, survey, suffix):
    if suffix != "csv":
        pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}[suffix])
        write = {"parquet": survey.to_parquet, "xlsx": survey.to_excel}[suffix]
        write(tmp_path / f"survey.{suffix}", index=False)
    whole, options = f"whole.{suffix}", ("--draws", "2", "--stacked", "-m", "winldl")
    code, out, _ = inldl("complete", f"survey.{suffix}", "-l", LABELS, "-o", whole, *options)
    assert code == 0
    assert f"Wrote whole-draw1.{suffix} to whole-draw2.{suffix}\nWrote whole-stacked.csv" in out
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}[suffix]
    labels = LABELS.split(",")
    first, second = (read(tmp_path / f"whole-draw{i}.{suffix}") for i in (1, 2))
    assert list(first.columns) == list(survey.columns)
    assert (first[labels] != second[labels]).any(axis=None)
    stacked = pd.read_csv(tmp_path / "whole-stacked.csv").set_index([".imp", ".id"])
    for i, table in enumerate((survey, first, second)):
        part = stacked.loc[i].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, table, check_dtype=False)  # Excel has whole numbers
    known = survey[labels].notna().to_numpy()
    assert (first[labels] == second[labels]).to_numpy()[known].all()
    np.testing.assert_allclose(second[labels].sum(axis=1), 1, rtol=0, atol=1e-9)


def test_a_test_on_rows_of_the_fit_says_so(inldl, survey):
    survey[:40].to_csv("some.csv", index=False)
    survey[38:].to_csv("others.csv", index=False)
    inldl("fit", "some.csv", "-l", LABELS, "-o", "m.inldl", "-m", "winldl")
    told = "The model was fitted to {} of these rows; new rows have larger errors."
    assert told.format(40) in inldl("evaluate", "m.inldl", "some.csv")[1]
    assert told.format(2) in inldl("evaluate", "m.inldl", "others.csv")[1]
    survey[40:].to_csv("new.csv", index=False)
    code, out, _ = inldl("evaluate", "m.inldl", "new.csv")
    assert code == 0
    assert "was fitted to" not in out


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_fit_predict_and_evaluate(inldl, tmp_path, survey, suffix):
    if suffix != "csv":
        pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}[suffix])
        write = {"parquet": survey.to_parquet, "xlsx": survey.to_excel}[suffix]
        write(tmp_path / f"survey.{suffix}", index=False)
    table = f"survey.{suffix}"
    code, out, _ = inldl("fit", table, "-l", LABELS, "-o", "m.inldl", "-m", "winldl")
    assert code == 0
    assert "Learned 6 labels from 59 rows" in out
    out = inldl("model", "info", "m.inldl")[1]
    assert "method: winldl" in out
    assert "labels: food, fuel" in out
    assert inldl("predict", "m.inldl", table, "-o", f"new.{suffix}", "--uncertainty", 0.9)[0] == 0
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}[suffix]
    new = read(tmp_path / f"new.{suffix}")
    predicted = new[[f"{name}_predicted" for name in LABELS.split(",")]]
    np.testing.assert_allclose(predicted.sum(axis=1), 1, rtol=0, atol=1e-9)
    assert list(new.columns[: len(survey.columns)]) == list(survey.columns)
    assert new["food_low"].le(predicted["food_predicted"] + 1e-6).all()
    code, out, _ = inldl("evaluate", "m.inldl", table)
    assert code == 0
    assert re.search(r"cosine +0\.9\d+ +0\.9\d+ +higher", out)
    assert "The 90% intervals contain" in out


def test_a_model_completes_another_table(inldl, tmp_path, survey):
    assert inldl("fit", "survey.csv", "-l", LABELS, "-o", "m.inldl", "-m", "winldl")[0] == 0
    options = ("--model", "m.inldl", "-o", "whole.csv")
    assert inldl("complete", "survey.csv", *options)[0] == 0
    fitted = inldl("complete", "survey.csv", "-l", LABELS, "-o", "other.csv", "-m", "winldl")
    assert fitted[0] == 0
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    code, _, err = inldl("complete", "survey.csv", "-l", "food,fuel", *options, "--overwrite")
    assert code == 1
    assert "The model was fitted to the labels food, fuel, clothes" in err


def test_auto_is_the_default_and_can_be_saved(inldl, survey):
    assert inldl("fit", "survey.csv", "-l", LABELS, "-o", "m.inldl")[0] == 0
    assert "method: auto" in inldl("model", "info", "m.inldl")[1]
    assert inldl("predict", "m.inldl", "survey.csv", "-o", "new.csv")[0] == 0


def test_inspect_and_compare(inldl, survey):
    code, out, _ = inldl("inspect", "survey.csv", "-l", LABELS, "--page", "look.html")
    assert code == 0
    assert (
        "59 rows, 6 feature columns (1 left out), 6 labels; 34.7% of the shares are missing."
        in out
    )
    assert "Shares seem to be missing at random" in out
    methods = ("--methods", "winldl,ridge", "--rows", "100", "--page", "methods.html")
    code, out, err = inldl("compare", "survey.csv", "-l", LABELS, *methods)
    assert code == 0
    assert "recommended" in out
    assert "(3 of 3)" in err


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_command_writes_a_page(inldl, tmp_path, survey, request, drawn):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    if not drawn:  # the test before draws its pages
        request.getfixturevalue("without_figures")
    common = ("survey.csv", "-l", LABELS)
    model = ("-m", "winldl")
    runs = {
        "complete": ("complete", *common, "-o", "whole.csv", *model),
        "fit": ("fit", *common, "-o", "m.inldl", *model),
        "predict": ("predict", "m.inldl", "survey.csv", "-o", "new.csv"),
        "evaluate": ("evaluate", "m.inldl", "survey.csv"),
        "inspect": ("inspect", *common),
        "compare": ("compare", *common, "--methods", "winldl", "--rows", "60"),
    }
    for name, run in runs.items():
        code, out, _ = inldl(*run, "--page", f"{name}.html")
        assert code == 0
        assert f"Wrote {name}.html" in out
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert "<svg" in page
        assert len(page) < 1_000_000
        assert not re.search(r'(src|href)="(?!#|data:)', page)


def test_export_gives_the_same_predictions(inldl, tmp_path, survey):
    runtime = pytest.importorskip("onnxruntime")
    assert inldl("fit", "survey.csv", "-l", LABELS, "-o", "m.inldl", "-m", "winldl")[0] == 0
    assert inldl("export", "m.inldl", "m.onnx")[0] == 0
    assert inldl("predict", "m.inldl", "survey.csv", "-o", "new.csv")[0] == 0
    session = runtime.InferenceSession(tmp_path / "m.onnx")
    given = {}
    for each in session.get_inputs():
        text, column = each.type == "tensor(string)", survey[[each.name]]
        given[each.name] = column.fillna("").to_numpy(object) if text else column.to_numpy(float)
    degrees = session.run(None, given)[0]
    new = pd.read_csv(tmp_path / "new.csv")[[f"{name}_predicted" for name in LABELS.split(",")]]
    np.testing.assert_allclose(degrees, new, rtol=0, atol=1e-6)
    labels = session.get_modelmeta().custom_metadata_map["labels"]
    assert json.loads(labels) == LABELS.split(",")


REFUSED = {
    "no labels": (
        ("complete", "survey.csv", "-o", "x.csv"),
        "Name the columns with shares, such as --lab",
    ),
    "unknown label": (("fit", "survey.csv", "-l", "foot,fuel", "-o", "m.inldl"), "did you mean"),
    "unknown method": (
        ("complete", "survey.csv", "-l", LABELS, "-o", "x.csv", "-m", "winldll"),
        "There is no method 'winldll': did you mean winldl",
    ),
    "not savable": (
        ("fit", "survey.csv", "-l", LABELS, "-o", "m.inldl", "-m", "boosting"),
        "A model file cannot hold the HistGradientBoostingRegressor",
    ),
    "own input": (
        ("complete", "survey.csv", "-l", LABELS, "-o", "survey.csv"),
        "survey.csv is the table that was read; write to another file",
    ),
    "other kind": (
        ("complete", "survey.csv", "-l", LABELS, "-o", "x.parquet"),
        "x.parquet is another kind of file than survey.csv",
    ),
    "no folder": (
        ("inspect", "survey.csv", "-l", LABELS, "--page", "none/x.html"),
        "There is no folder none; create it first.",
    ),
    "no model": (("predict", "none.inldl", "survey.csv", "-o", "x.csv"), "There is no file none"),
    "no model file": (("predict", "survey.csv", "survey.csv", "-o", "x.csv"), "is not a model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(inldl, tmp_path, survey, case):
    arguments, message = REFUSED[case]
    before = sorted(path.name for path in tmp_path.iterdir())
    code, _, err = inldl(*arguments)
    assert code == 1
    assert err.startswith("inldl: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_tables_that_do_not_fit_a_model(inldl, tmp_path, survey):
    assert inldl("fit", "survey.csv", "-l", LABELS, "-o", "m.inldl", "-m", "winldl")[0] == 0
    survey.drop(columns=["income", "age"]).to_csv(tmp_path / "less.csv", index=False)
    code, _, err = inldl("predict", "m.inldl", "less.csv", "-o", "x.csv")
    assert code == 1
    assert "lacks columns 'income', 'age'" in err
    survey.astype({"age": object}).replace({"age": {survey["age"][3]: "old"}}).to_csv(
        tmp_path / "text.csv", index=False
    )
    code, _, err = inldl("predict", "m.inldl", "text.csv", "-o", "x.csv")
    assert code == 1
    first = int(np.argmax(survey["age"] == survey["age"][3])) + 2
    assert "Column 'age' held numbers" in err
    assert f"line {first} holds 'old'" in err
    assert not (tmp_path / "x.csv").exists()


def test_large_tables_are_learned_from_in_part(inldl, tmp_path):
    budget_survey(300).to_csv(tmp_path / "large.csv", index=False)
    options = ("-m", "winldl", "--learn-from", "100")
    code, out, _ = inldl("complete", "large.csv", "-l", LABELS, "-o", "whole.csv", *options)
    assert code == 0
    learned = int(re.search(r"fitted to (\d+) rows, drawn evenly from all; the first", out)[1])
    assert 60 < learned < 140
    whole = pd.read_csv(tmp_path / "whole.csv")[LABELS.split(",")]
    assert whole.notna().all(axis=None)
    np.testing.assert_allclose(whole.sum(axis=1), 1, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.skipif(reset_peak_memory() is None, reason="needs Linux's peak of the memory")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A table of 150 MB takes hardly more memory than one of 30 MB."""
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(3), 5000).round(4)
    filler = "," + "x" * 1500
    rows = [
        f"{x:.6f},{a},{b},{filler}\r\n"
        for x, (a, b, _) in zip(rng.normal(size=5000), y, strict=True)
    ]
    for name, copies in {"part.csv": 4, "large.csv": 20}.items():
        with (tmp_path / name).open("w", newline="") as file:
            file.write(f"x,a,b,c,text\r\n0.5,0.25,0.25,0.5{filler}\r\n")
            for _ in range(copies):
                file.writelines(rows)
    assert (tmp_path / "large.csv").stat().st_size > 150_000_000
    code = """
        from inldl_paper.experiments.machine import memory, reset_peak_memory
        from inldl.tables import TableFile, complete_table, fit_table
        large = TableFile("large.csv", "a,b,c")
        learned = fit_table(large, "winldl", most_rows=2000)
        for table in (TableFile("part.csv", "a,b,c"), large):
            reset_peak_memory()
            how = {"scale": learned.scale, "overwrite": True}
            written = complete_table(table, learned.model, "whole.csv", **how)
            print(written.n_rows, written.n_filled, memory())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"},  # what is freed is given back
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    n_rows, n_filled, peaks = np.loadtxt(done.stdout.splitlines(), dtype=int).T
    np.testing.assert_array_equal(n_rows, [20_001, 100_001])
    np.testing.assert_array_equal(n_filled, n_rows - 1)
    assert peaks[1] - peaks[0] < 15_000_000
