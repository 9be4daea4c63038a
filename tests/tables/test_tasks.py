"""Tables in files: which rows are shown, what is exact, and in which units."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr

from inldl.datasets import hide
from inldl.report.pages.table import completion_page, model_page
from inldl.tables import TableFile, complete_table, evaluate_table, fit_table, predict_table
from inldl.tables.completing import check_completion
from inldl.tables.results import SHOWN_ROWS

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
    assert SHOWN_ROWS // 2 < len(numbers) <= SHOWN_ROWS
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
        check_completion(file, tmp_path / "x.csv", filled_columns=True)


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


def test_a_table_without_added_columns_is_written_along(file, learned, tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in ("detailed", "plain", "alone")]
    how = {"scale": "percent", "n_draws": 1}
    complete_table(
        file, learned.model, paths[0], plain=paths[1], coverage=0.9, filled_columns=True, **how
    )
    complete_table(file, learned.model, paths[2], **how)
    assert paths[1].read_bytes() == paths[2].read_bytes()
    draws = [tmp_path / f"{name}-draw1.csv" for name in ("plain", "alone")]
    assert draws[0].read_bytes() == draws[1].read_bytes()
    assert {"a_low", "a_filled"} <= set(pd.read_csv(paths[0]))


def test_files_of_draws_that_exist_are_refused_before_any_work(file, tmp_path):
    (tmp_path / "x-draw2.csv").write_text("mine")
    check_completion(file, tmp_path / "x.csv", n_draws=1)
    with pytest.raises(FileExistsError, match=r"x-draw2\.csv exists already"):
        check_completion(file, tmp_path / "x.csv", n_draws=2)


@pytest.fixture
def top(tmp_path):
    """Write a table in percent of which only the two largest shares of each row are recorded."""
    y = np.random.default_rng(0).dirichlet([4.0, 3.0, 2.0, 1.0], 60)
    frame = pd.DataFrame(hide(y, 0.5, mechanism="top") * 100, columns=LABELS)
    x = np.arange(60) ** 0.5
    frame.assign(x=x, z=x % 1).to_csv(tmp_path / "top.csv", index=False)
    return TableFile(tmp_path / "top.csv", LABELS), 100 * y


def test_no_error_is_told_that_does_not_hold(top, tmp_path):
    file, truth = top
    learned = fit_table(file, "constant-mean", scale="percent")
    assert learned.size.answer == "largest"
    assert learned.completion.overall()["n"] == 0
    assert "no share as small as the missing ones is known" in learned.completion.unknown
    out = tmp_path / "out.csv"
    written = complete_table(file, learned.model, out, scale="percent")
    assert written.below_recorded
    off = np.abs(pd.read_csv(out)[LABELS].to_numpy() - truth)
    assert off.sum() / 120 < written.most_error < 5 * off.sum() / 120
    said = completion_page(written, learned, learned.model, "top.csv", "out.csv")
    text = " ".join([*said.summary, *said.notes, said.html()])
    assert "Expected error" not in text
    assert "The error cannot be estimated" in said.summary[1]
    assert f"at most {written.most_error:.2f} percentage points" in said.summary[2]
    assert said.notes[-1] == (
        "Only the 2 largest shares of each row seem to be recorded. Shares are filled in with at "
        "most the smallest recorded share of their row."
    )


def test_the_error_of_a_model_is_that_of_known_shares(top):
    said = model_page(fit_table(top[0], "constant-mean", scale="percent"), "top.csv")
    assert said.summary[1].startswith("Error at known shares: ")
    assert said.notes[-1].endswith("which are larger on average than the missing ones.")


def test_of_random_holes_nothing_is_said(file, learned, tmp_path):
    written = complete_table(file, learned.model, tmp_path / "out.csv", scale="percent")
    said = completion_page(written, learned, learned.model, "table.csv", "out.csv")
    assert said.notes == learned.notes
    assert any(text.startswith("Expected error: ") for text in said.summary)


def test_an_earlier_model_says_the_same_of_the_holes(file, learned, top, tmp_path):
    largest = fit_table(top[0], "constant-mean", scale="percent").model
    models = {"same": largest, "other": learned.model}
    notes = {}
    for name, model in models.items():
        for table in (file, top[0]):
            out = tmp_path / f"{name}.csv"
            written = complete_table(table, model, out, scale="percent", overwrite=True)
            said = completion_page(written, None, model, table.path.name, "out.csv")
            notes[name, table.path.stem] = " ".join(said.notes)
    assert notes["other", "table"] == ""
    assert "The model was fitted to other rows" in notes["other", "top"]
    assert notes["same", "top"].startswith("Only the 2 largest shares")
    assert "in the same way" in notes["same", "table"]


def test_a_piece_is_encoded_and_predicted_once(file, learned, tmp_path, monkeypatch):
    counts = {"transform": 0, "predict": 0}

    def counting(owner, name):
        plain = getattr(owner, name)

        def call(*args):
            counts[name] += 1
            return plain(*args)

        monkeypatch.setattr(owner, name, call)

    model = learned.model
    model._completer()
    counting(model.encoder_, "transform")
    counting(model.estimator_, "predict")
    how = {"scale": "percent", "n_draws": 2, "coverage": 0.9}
    complete_table(file, model, tmp_path / "out.csv", **how)
    assert counts == {"transform": 1, "predict": 1}


def test_no_divergence_is_negative(file, learned):
    """At known shares alone it is, where more is predicted for them than is there."""
    y = file.read(scale="percent").y
    predicted = np.asarray(learned.model.predict(file.read(scale="percent").features))
    found = evaluate_table(file, learned.model, scale="percent").metrics["kl_divergence"]
    rest = 1 - np.nansum(y, axis=1)
    partial = np.isnan(y).any(axis=1) & ~np.isnan(y).all(axis=1)
    cells = np.where(np.isnan(y), 0, y), np.where(np.isnan(y), 0, predicted)
    p = np.column_stack([cells[0], np.where(partial, rest, 0)])
    q = np.column_stack([cells[1], 1 - cells[1].sum(axis=1)])
    seen = ~np.isnan(y).all(axis=1)
    expected = rel_entr(p, np.maximum(q, 1e-6)).sum(axis=1)[seen].mean()
    assert found == pytest.approx(expected, rel=1e-6)
    assert found > 0
