"""All draws in one table, as mice has them; R reads it if it is there."""

import subprocess
from shutil import which

import numpy as np
import pandas as pd
import pytest

from inldl import pool
from inldl.tables import FillOptions, TableFile, complete_table, fit_table
from inldl.tables.completing import check_completion
from inldl.tables.results import draw_paths, stacked_path

LABELS = ["a", "b", "c"]
READ = """
suppressMessages(library(mice))
draws <- suppressWarnings(as.mids(read.csv("whole-stacked.csv")))
first <- complete(draws, 1)
fit <- with(draws, lm(x ~ a + b))
found <- summary(pool(fit))
cat(draws$m, sum(is.na(draws$data[, c("a", "b", "c")])), range(first$a + first$b + first$c),
    format(c(found$estimate[2:3], found$std.error[2:3]), digits = 12))
"""


@pytest.fixture
def completed(tmp_path):
    """Return a function that completes a file of 80 rows with draws, and reads all tables."""

    def run(n_draws=3, suffix=".csv", edit=lambda frame: frame, **how):
        rng = np.random.default_rng(0)
        x = rng.normal(size=80)
        y = np.exp(np.column_stack([x, -x, 0 * x]) + 0.3 * rng.normal(size=(80, 3)))
        y = (100 * y / y.sum(axis=1, keepdims=True)).round(2)
        y[:, 2] = (100 - y[:, :2].sum(axis=1)).round(2)
        y[rng.random(y.shape) < 0.3] = np.nan
        frame = pd.DataFrame({"place": [f"p, {i}" for i in range(80)], "x": x.round(3)})
        frame = edit(frame.join(pd.DataFrame(y, columns=LABELS)))
        path, out = tmp_path / f"table{suffix}", tmp_path / f"whole{suffix}"
        frame.to_csv(path, index=False, **how)
        file = TableFile(path, LABELS, id="place")
        learned = fit_table(file, "winldl")
        options = FillOptions(n_draws=n_draws, stacked=True)
        how_written = {"scale": learned.scale, "overwrite": True}
        complete_table(file, learned.model, out, options, **how_written)
        stacked = pd.read_csv(tmp_path / "whole-stacked.csv")
        return stacked, [pd.read_csv(p, **how) for p in (path, *draw_paths(out, n_draws))]

    return run


def test_the_table_and_its_draws_follow_each_other(completed):
    stacked, tables = completed()
    assert stacked.columns[:2].tolist() == [".imp", ".id"]
    assert stacked[".imp"].tolist() == np.repeat(range(4), 80).tolist()
    assert stacked[".id"].tolist() == [*range(1, 81)] * 4
    for i, table in enumerate(tables):
        part = stacked[stacked[".imp"] == i].drop(columns=[".imp", ".id"])
        pd.testing.assert_frame_equal(part.reset_index(drop=True), table)


def test_several_pieces_are_put_in_order(completed, tmp_path, monkeypatch):
    together, _ = completed(2)
    monkeypatch.setattr("inldl.tables.formats.delimited.DelimitedText.block_size", 500)
    apart, _ = completed(2)
    assert len(list(TableFile(tmp_path / "table.csv", LABELS).pieces())) > 2
    same = [".imp", ".id", "place", "x"]
    pd.testing.assert_frame_equal(apart[same], together[same])
    pd.testing.assert_frame_equal(apart[:80], together[:80])


def test_numbers_are_written_for_r_whatever_the_file_has(completed):
    """Limits are holes in the first table; text stays text, and other numbers get a point."""

    def edit(frame):
        frame["b"] = frame["b"].map("{:.2f}".format).str.replace(".", ",")
        frame["b"] = frame["b"].replace("nan", "<99")
        return frame.assign(weight=np.arange(80) / 4)

    stacked, (given, *_) = completed(2, edit=edit, sep=";", decimal=",")
    assert stacked["weight"].tolist() == [*np.arange(80) / 4] * 3
    holes = given["b"].astype(str).str.startswith("<").to_numpy()
    assert holes.any()
    for i, part in stacked.groupby(".imp"):
        assert part["b"].dtype == float
        np.testing.assert_array_equal(part["b"].isna(), holes & (i == 0))
        assert i == 0 or part.loc[holes, "b"].max() < 99
        assert i == 0 or part[LABELS].sum(axis=1).round(5).eq(100).all()


def test_a_long_table_has_a_row_for_each_thing(tmp_path):
    rng = np.random.default_rng(0)
    y = pd.DataFrame(rng.dirichlet([3, 2, 1], 40).round(3), columns=LABELS)
    y["c"] = (1 - y["a"] - y["b"]).round(3)
    y.insert(0, "thing", [f"t{i}" for i in range(40)])
    long = y.melt("thing", var_name="kind", value_name="share").sample(frac=0.8, random_state=0)
    long.to_csv(tmp_path / "long.csv", index=False)
    file = TableFile(tmp_path / "long.csv", None, long="id=thing,label=kind,value=share")
    learned = fit_table(file, "winldl")
    how = {"scale": learned.scale, "n_draws": 2, "stacked": True}
    complete_table(file, learned.model, tmp_path / "whole.csv", **how)
    stacked = pd.read_csv(tmp_path / "whole-stacked.csv")
    assert sorted(stacked) == sorted([".imp", ".id", "thing", *LABELS])
    assert len(stacked) == 3 * len(long["thing"].unique())
    assert stacked[LABELS].isna().any(axis=1).groupby(stacked[".imp"]).any().tolist() == [1, 0, 0]


def test_what_cannot_be_is_refused_before_any_work(tmp_path):
    frame = pd.DataFrame({".id": [1, 2], "a": [0.5, 0.4], "b": [0.5, np.nan]})
    frame.to_csv(tmp_path / "table.csv", index=False)
    file, out = TableFile(tmp_path / "table.csv", ["a", "b"]), tmp_path / "x.csv"
    with pytest.raises(ValueError, match=r"say how many to make with --draws"):
        check_completion(file, out, stacked=True)
    with pytest.raises(ValueError, match=r"has a column '\.id' already"):
        check_completion(file, out, stacked=True, n_draws=2)
    check_completion(file, out, n_draws=2)
    (tmp_path / "x-stacked.csv").touch()
    with pytest.raises(FileExistsError, match=r"x-stacked\.csv exists already"):
        check_completion(file, out, stacked=True, n_draws=2)


def test_it_is_a_csv_file_beside_any_other():
    options = FillOptions(n_draws=2, stacked=True)
    assert stacked_path("a/whole.parquet", options).as_posix() == "a/whole-stacked.csv"
    assert stacked_path("whole.tsv.gz", options).name == "whole-stacked.csv"
    assert stacked_path("whole.csv", FillOptions(n_draws=2)) is None


def test_mice_reads_it_and_pools_as_we_do(completed, tmp_path):
    if which("Rscript") is None or "mice" not in run_r("cat(rownames(installed.packages()))"):
        pytest.skip("needs R and its package mice")
    _, (given, *draws) = completed(5)
    m, holes, low, high, *found = map(float, run_r(READ, tmp_path))
    assert m == 5
    assert holes == given[LABELS].isna().to_numpy().sum() > 0
    np.testing.assert_allclose([low, high], 100, atol=1e-5)
    estimates, variances = zip(*map(regress, draws), strict=True)
    pooled = pool(estimates, variances)
    np.testing.assert_allclose([*pooled.estimate, *pooled.error], found, rtol=1e-6)


def run_r(code, folder=None):
    """Return the words that a program of R prints."""
    command = ["Rscript", "-e", code]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.split()


def regress(table):
    """Return the slopes of x on two shares, and their variances."""
    A = np.column_stack([np.ones(len(table)), table[["a", "b"]]])
    coef, squares, *_ = np.linalg.lstsq(A, table["x"], rcond=None)
    variances = squares / (len(A) - 3) * np.diag(np.linalg.inv(A.T @ A))
    return coef[1:], variances[1:]
