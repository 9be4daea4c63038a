"""`--weight` and `--votes`: rows that count more than others."""

import numpy as np
import pandas as pd
import pytest

from inldl.files import load_model
from inldl.tables import TableFile, TableModel
from inldl.tables.tasks import evaluate_table, fit_table

LABELS = ["a", "b", "c"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(55, 2))
    scores = np.exp(x @ rng.normal(size=(2, 3)))
    votes = rng.choice([3, 200], 55)
    counts = rng.multinomial(votes, scores / scores.sum(axis=1, keepdims=True))
    table = pd.DataFrame(counts, columns=LABELS)
    table[["x", "z"]] = x
    return table.assign(w=rng.choice([0, 1, 4], 55))


@pytest.fixture
def shares(frame, tmp_path):
    frame[LABELS] = frame[LABELS].div(frame[LABELS].sum(axis=1), axis=0).round(6)
    frame["c"] = (1 - frame["a"] - frame["b"]).round(6).clip(0)
    frame.loc[::5, ["a", "b"]] = np.nan
    frame.to_csv(tmp_path / "shares.csv", index=False)
    return tmp_path / "shares.csv"


@pytest.fixture
def counts(frame, tmp_path):
    frame.to_csv(tmp_path / "counts.csv", index=False)
    return tmp_path / "counts.csv"


def predictions(model, frame):
    return model.predict(frame[["x", "z"]]).to_numpy()


def test_rows_count_by_a_column(shares, frame, inldl):
    how = ("fit", shares, "-l", "a,b,c", "-m", "winldl", "-o", "m.inldl")
    code, words, errors = inldl(*how, "--weight", "w")
    assert code == 0, errors
    zeros = (frame["w"] == 0).sum()
    assert "Rows count by their weights in column 'w'." in words
    assert f"{zeros} rows have the weight 0 and did not count." in words
    assert f"Learned 3 labels from {55 - zeros} rows" in words
    model = load_model("m.inldl")
    assert list(model.feature_names_in_) == ["x", "z"]
    kept = frame[frame["w"] > 0]
    relative = kept["w"] / kept["w"].mean()
    expected = TableModel("winldl").fit(kept[["x", "z"]], kept[LABELS], sample_weight=relative)
    np.testing.assert_allclose(predictions(model, frame), predictions(expected, frame), atol=1e-6)


def test_only_ratios_of_weights_matter(shares, frame, tmp_path):
    models = [fit_table(TableFile(shares, "a,b,c"), "winldl", weight="w").model]
    frame.assign(w=frame["w"] * 1e4).to_csv(tmp_path / "other.csv", index=False)
    models.append(
        fit_table(TableFile(tmp_path / "other.csv", "a,b,c"), "winldl", weight="w").model
    )
    one, other = (predictions(model, frame) for model in models)
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_rows_without_weight_are_completed_too(shares, frame, inldl):
    code, words, errors = inldl(
        "complete", shares, "-l", "a,b,c", "-m", "winldl", "--weight", "w", "-o", "whole.csv"
    )
    assert code == 0, errors
    whole = pd.read_csv("whole.csv")
    assert (frame["w"][::5] == 0).any()
    np.testing.assert_allclose(whole[LABELS].sum(axis=1), 1, atol=1e-5)
    assert whole["w"].tolist() == frame["w"].tolist()
    assert "Filled in 22 missing shares in 11 rows." in words


def test_holes_of_rows_without_weight_are_filled_in_any_label(frame, tmp_path, inldl):
    """Even where no row that counts lacks the label."""
    shares = frame[LABELS].div(frame[LABELS].sum(axis=1), axis=0)
    weightless = np.flatnonzero(frame["w"] == 0)[:2]
    shares.loc[weightless, ["a", "b"]] = np.nan
    shares.join(frame[["x", "z", "w"]]).to_csv(tmp_path / "t.csv", index=False)
    how = ("complete", tmp_path / "t.csv", "-l", "a,b,c", "-m", "winldl", "-o", "whole.csv")
    assert inldl(*how, "--weight", "w")[0] == 0
    assert pd.read_csv("whole.csv")[LABELS].notna().all(axis=None)


def test_models_are_tested_with_weights(shares, frame, inldl):
    model = TableModel("winldl").fit(frame[["x", "z"]], frame[LABELS])
    file = TableFile(shares, "a,b,c")
    plain, weighted = (evaluate_table(file, model, weight=w) for w in (None, "w"))
    copies = np.repeat(frame.index, frame["w"])
    frame.loc[copies].to_csv("repeated.csv", index=False)
    repeated = evaluate_table(TableFile("repeated.csv", "a,b,c"), model)
    assert weighted.metrics == pytest.approx(repeated.metrics)
    assert weighted.constant == pytest.approx(repeated.constant)
    for name in ("mae", "rmse", "coverage", "constant_mae"):
        found, expected, other = (
            each.held_out.overall()[name] for each in (weighted, repeated, plain)
        )
        assert found == pytest.approx(expected)
        assert found != other


def test_methods_are_compared_with_weights(shares, inldl):
    how = ("compare", shares, "-l", "a,b,c", "--methods", "winldl")
    code, weighted, errors = inldl(*how, "--weight", "w")
    assert code == 0, errors
    assert weighted != inldl(*how, "--ignore", "w")[1]


def test_a_look_at_a_table_takes_weights_for_no_feature(shares, frame, inldl):
    code, words, errors = inldl("inspect", shares, "-l", "a,b,c", "--weight", "w")
    assert code == 0, errors
    told = "The column 'w' can weigh rows, but here each row counts once."
    lines = words.splitlines()
    lines.remove(told)
    assert lines == inldl("inspect", shares, "-l", "a,b,c", "--ignore", "w")[1].splitlines()
    frame.assign(w="much").to_csv("bad.csv", index=False)
    code, _, errors = inldl("inspect", "bad.csv", "-l", "a,b,c", "--weight", "w")
    assert code == 1
    assert "Column 'w' has 'much' in line 2, which is not a weight" in errors


def test_rows_of_counts_count_by_their_votes(counts, frame, inldl):
    how = ("fit", counts, "-l", "a,b,c", "-m", "winldl", "--ignore", "w")
    code, words, errors = inldl(*how, "-o", "votes.inldl", "--votes")
    assert code == 0, errors
    told = words.split("Rows count by their votes: one of 200 counts ")[1]
    assert 1.2 < float(told.split(" times as much as one of 3.")[0]) < 67
    assert "by their votes" not in inldl(*how, "-o", "plain.inldl")[1]
    X, votes = frame[["x", "z"]], frame[LABELS].sum(axis=1)
    expected = TableModel("winldl").fit(X, frame[LABELS].div(votes, axis=0), votes=votes)
    found = predictions(load_model("votes.inldl"), frame)
    np.testing.assert_allclose(found, predictions(expected, frame), atol=1e-9)


def test_votes_and_weights_go_together(counts, inldl):
    how = ("fit", counts, "-l", "a,b,c", "-m", "winldl", "-o", "m.inldl", "--votes")
    code, words, errors = inldl(*how, "--weight", "w")
    assert code == 0, errors
    assert "Rows count by their weights in column 'w'." in words
    assert "Rows count by their votes." in words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--weight", "v"], "No column 'v' to weigh by is among the features ('x', 'z', 'w')."),
        (["--weight", "a"], "The column 'a' is named in --weight and as a label; name it once."),
        (["--weight", "w", "--ignore", "w"], "name it in --weight only."),
        (["--votes"], "--votes needs counts, but the shares are read as fractions; give a table"),
    ],
)
def test_options_that_cannot_be_followed_say_why(shares, inldl, options, words):
    code, _, errors = inldl("fit", shares, "-l", "a,b,c", "-o", "m.inldl", *options)
    assert code == 1
    assert words in errors


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("-2", "Column 'w' has -2 in line 5, which is not a weight; give a number"),
        ("", "Column 'w' has no number in line 5, which is not a weight"),
        ("many", "Column 'w' has 'many' in line 5, which is not a weight"),
        ("inf", "in line 5"),
    ],
)
def test_cells_that_are_no_weights_are_named(shares, inldl, cell, words):
    lines = shares.read_text().splitlines()
    lines[4] = lines[4].rpartition(",")[0] + "," + cell
    shares.write_text("\n".join(lines))
    code, _, errors = inldl("fit", shares, "-l", "a,b,c", "-o", "m.inldl", "--weight", "w")
    assert code == 1
    assert words in errors


def test_weights_that_are_all_0_are_refused(shares, frame, inldl):
    frame.assign(w=0).to_csv(shares, index=False)
    code, _, errors = inldl("fit", shares, "-l", "a,b,c", "-o", "m.inldl", "--weight", "w")
    assert code == 1
    assert "All weights in column 'w' are 0; give at least one row a weight above 0." in errors


@pytest.mark.parametrize("option", [["--weight", "w"], ["--votes"]])
def test_a_fitted_model_takes_no_weights(shares, inldl, option):
    assert inldl("fit", shares, "-l", "a,b,c", "-m", "winldl", "-o", "m.inldl")[0] == 0
    how = ("complete", shares, "--model", "m.inldl", "-o", "whole.csv")
    code, _, errors = inldl(*how, *option)
    assert code == 1
    assert (
        f"{option[0]} is for fitting, but --model is already fitted; leave out one of them."
        in errors
    )
