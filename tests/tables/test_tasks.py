"""Tables in files: which rows are shown, what is exact, and in which units."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide
from inldl.io import TableFile
from inldl.tables import complete_table, fit_table, predict_table
from inldl.tables._shown import SHOWN
from inldl.tables.tasks import check_completion

LABELS = ["a", "b", "c", "d"]


@pytest.fixture
def file(tmp_path):
    """Write a table of 300 rows in percent."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.exp(X @ rng.normal(scale=0.5, size=(2, 4)))
    y = (100 * y / y.sum(axis=1, keepdims=True)).round(2)
    y[:, 3] = (100 - y[:, :3].sum(axis=1)).round(2)
    y[rng.random(y.shape) < 0.3] = np.nan
    frame = pd.DataFrame(np.hstack([X, y]), columns=["x", "z", *LABELS])
    frame.to_csv(tmp_path / "table.csv", index=False)
    return TableFile(tmp_path / "table.csv", LABELS)


@pytest.fixture
def learned(file):
    return fit_table(file, "winldl")


def test_rows_that_are_shown_are_those_of_the_file(file, learned, tmp_path):
    out = tmp_path / "whole.csv"
    written = complete_table(file, learned.model, out, scale=learned.scale)
    whole, table = pd.read_csv(out)[LABELS], pd.read_csv(file.path)[LABELS]
    numbers = written.after.index
    assert SHOWN // 2 < len(numbers) <= SHOWN
    assert numbers[0] == 1
    assert numbers[-1] > 290
    np.testing.assert_array_equal(written.before.index, numbers)
    np.testing.assert_allclose(written.after, whole.iloc[numbers - 1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(written.before, table.iloc[numbers - 1], rtol=0, atol=1e-6)


def test_rows_that_are_predicted_are_shown_with_their_numbers(file, learned, tmp_path):
    out = tmp_path / "new.csv"
    written = predict_table(file, learned.model, out)
    predicted = pd.read_csv(out)[[f"{name}_predicted" for name in LABELS]]
    numbers = written.after.index
    np.testing.assert_allclose(written.after, predicted.iloc[numbers - 1], rtol=0, atol=1e-6)


def test_degrees_that_the_sums_give_are_counted(file, learned, tmp_path):
    written = complete_table(file, learned.model, tmp_path / "whole.csv", scale="percent")
    holes = pd.read_csv(file.path)[LABELS].isna()
    assert written.n_filled == holes.to_numpy().sum()
    assert written.n_exact == (holes.sum(axis=1) == 1).sum()
    assert written.n_rows == 300
    assert written.n_filled_rows == holes.any(axis=1).sum() < 300


def test_errors_and_influence_are_in_percent(file, learned):
    assert learned.scale == "percent"
    for judged in (learned.new_rows, learned.completion):
        assert judged.unit == "percentage points"
        assert judged.observed.max() > 1
    fractions = learned.model.influence(*learned.sample)
    pd.testing.assert_frame_equal(learned.influence(), 100 * fractions)


@pytest.mark.parametrize("coverage", [0, 1.5, np.nan])
def test_coverages_are_checked_first(file, learned, tmp_path, coverage):
    for run in (
        lambda: check_completion(file, tmp_path / "x.csv", coverage=coverage),
        lambda: predict_table(file, learned.model, tmp_path / "x.csv", coverage=coverage),
    ):
        with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
            run()


def test_names_are_checked_without_a_model(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2], "a": [0.5, 0.4], "b": [0.5, 0.6], "b_filled": [0, 1]})
    frame.to_csv(tmp_path / "table.csv", index=False)
    file = TableFile(tmp_path / "table.csv", ["a", "b"])
    check_completion(file, tmp_path / "x.csv", coverage=0.9)
    with pytest.raises(ValueError, match="has a column 'b_filled' already"):
        check_completion(file, tmp_path / "x.csv", mark=True)


def test_a_model_of_nan_writes_no_file(file, learned, tmp_path):
    learned.model.estimator_.coef_[0] = np.nan
    with pytest.raises(ValueError, match="The model gives no number for line 2: its features"):
        predict_table(file, learned.model, tmp_path / "out.csv")
    with pytest.raises(ValueError, match="The model gives no number for line 2: its features"):
        complete_table(file, learned.model, tmp_path / "out.csv", scale=learned.scale)
    assert not (tmp_path / "out.csv").exists()


def test_draws_are_files_beside_the_completed_one(file, learned, tmp_path):
    """They differ from the table in its empty label cells alone, each in its own way."""
    out = tmp_path / "whole.csv"
    asked = {"scale": learned.scale, "n_draws": 10}
    complete_table(file, learned.model, out, **asked)
    paths = sorted(tmp_path.glob("whole-draw*.csv"))
    assert [path.name for path in paths] == [f"whole-draw{i:02}.csv" for i in range(1, 11)]
    tables = [pd.read_csv(path, dtype=str) for path in (file.path, out, *paths)]
    before, whole, *draws = tables
    holes = before[LABELS].isna()
    unsure = holes.mask(holes.sum(axis=1) == 1, False)
    for draw in draws:
        assert draw.mask(before.isna()).equals(before)
        np.testing.assert_allclose(draw[LABELS].astype(float).sum(axis=1), 100, atol=1e-7)
        same = (draw == whole)[LABELS]
        assert same.to_numpy()[holes & ~unsure].all()
        assert same.to_numpy()[unsure].mean() < 0.1
    assert not draws[0].equals(draws[1])
    first = [path.read_bytes() for path in paths]
    complete_table(file, learned.model, out, **asked, overwrite=True)
    assert [path.read_bytes() for path in paths] == first


def test_files_of_draws_that_exist_are_refused_before_any_work(file, tmp_path):
    (tmp_path / "x-draw2.csv").write_text("mine")
    check_completion(file, tmp_path / "x.csv", n_draws=1)
    with pytest.raises(FileExistsError, match=r"x-draw2\.csv exists already"):
        check_completion(file, tmp_path / "x.csv", n_draws=2)


def test_an_error_that_does_not_hold_is_said(tmp_path):
    y = 100 * np.random.default_rng(0).dirichlet([4.0, 3.0, 2.0, 1.0], 60)
    frame = pd.DataFrame(hide(y / 100, 0.5, mechanism="top") * 100, columns=LABELS)
    frame.assign(x=np.arange(60) ** 0.5).to_csv(tmp_path / "top.csv", index=False)
    learned = fit_table(TableFile(tmp_path / "top.csv", LABELS), "constant-mean", scale="percent")
    assert learned.notes[-1].startswith(
        "Only the 2 largest shares of each row seem to be recorded"
    )
    assert "The expected error does not hold for missing shares" in learned.notes[-1]
    file = TableFile(tmp_path / "top.csv", LABELS)
    written = complete_table(file, learned.model, tmp_path / "out.csv", scale="percent")
    assert written.below_recorded


def test_of_random_holes_nothing_is_said(learned):
    assert not any("expected error" in note for note in learned.notes)
