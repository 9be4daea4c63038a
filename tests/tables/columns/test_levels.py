"""Codes that are written as numbers, and columns of very many levels."""

import numpy as np
import pandas as pd
import pytest

from inldl.files import load_model, save_model
from inldl.files.onnx import export_onnx
from inldl.tables import TableModel, fit_table, read_table
from inldl.tables.columns.encoder import FeatureEncoder
from inldl.tables.columns.kinds import CategoryColumn, NumberColumn
from inldl.tables.columns.levels import N_PARTS, MeansColumn
from inldl.tables.reading import TableFile


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def many_levels(n=3000, n_levels=150, seed=0):
    """Return a table in which the degrees are those of the level and of a number, with noise."""
    rng = np.random.default_rng(seed)
    level, x = rng.integers(0, n_levels, n), rng.normal(size=n)
    scores = rng.normal(size=(n_levels, 3))[level] + np.outer(x, [0.3, -0.2, 0])
    shares = rng.gamma(20 * softmax(scores))
    X = pd.DataFrame({"firm": [f"f{j}" for j in level], "x": x})
    return X, shares / shares.sum(axis=1, keepdims=True)


def coded(n=400, order=False, seed=0):
    """Return shares by the code of an industry, whose order tells all or nothing."""
    rng = np.random.default_rng(seed)
    values = np.array([1, 2, 5, 10, 11, 20, 35, 62])
    level = rng.integers(0, len(values), n)
    means = (values - 20) / 40 if order else np.array([1, -1, 1.2, -0.8, 0.1, -1, 1, -0.7])
    scores = np.column_stack([means[level], np.zeros(n)]) + rng.normal(size=(n, 2)) / 4
    X = pd.DataFrame({"nace": values[level].astype(float), "size": rng.normal(size=n)})
    return X, softmax(scores)


def test_a_level_of_many_is_the_mean_of_its_other_rows():
    X, y = many_levels()
    y = np.where(np.random.default_rng(1).random(y.shape) < 0.2, np.nan, y)
    encoder = FeatureEncoder().fit(X, degrees=y)
    column, encoded = encoder.columns_[0], encoder.transform(X)
    assert isinstance(column, MeansColumn)
    level = np.array([column.levels.index(name) for name in X["firm"]])
    part = encoder._read(X)[0][:, 1]
    row = 7
    others = (level == level[row]) & (part != part[row])
    own = np.nanmean(y[others], axis=0)
    center, scale = np.array(column.scaling)[:3, 1:].T
    found = encoded[row, :3] * scale + center
    # Between the mean of the others and that of all rows, nearer to the former.
    whole = np.nanmean(y, axis=0)
    np.testing.assert_array_less(np.abs(found - own), np.abs(found - whole))
    assert encoder.notes_ == [
        "Column 'firm' has very many levels; each is described by the mean shares of its rows."
    ]


def test_no_row_is_encoded_by_its_own_degrees():
    X, y = many_levels()
    other = y.copy()
    other[7] = [1, 0, 0]
    columns = [FeatureEncoder().fit(X, degrees=each).columns_[0] for each in (y, other)]
    read = FeatureEncoder().fit(X, degrees=y)._read(X)[0][7]
    parts = [column.means[read[1], read[0]] for column in columns]
    np.testing.assert_allclose(*parts, rtol=0.02, atol=0.01)  # the mean of all rows has moved
    others = [column.means[(read[1] + 1) % N_PARTS, read[0]] for column in columns]
    assert np.abs(others[0] - others[1]).max() > 0.02


def test_rows_are_encoded_alike_wherever_they_are():
    X, y = many_levels()
    encoder = FeatureEncoder().fit(X, degrees=y)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(encoder.transform(X.iloc[order]), encoder.transform(X)[order])
    new = pd.DataFrame({"firm": ["new", None], "x": [0.0, np.nan]})
    assert np.isfinite(encoder.transform(new)).all()
    assert encoder.unfamiliar(new)[1].tolist() == [True, False]


def test_levels_that_alone_tell_rows_apart_keep_columns_of_their_own():
    X, y = many_levels()
    encoder = FeatureEncoder().fit(X[["firm"]], degrees=y)  # all rows of a level are one part
    assert type(encoder.columns_[0]) is CategoryColumn


def test_many_levels_predict_better_than_columns_of_zeros_and_ones():
    X, y = many_levels(4000, 300)
    some, rest = slice(0, 3000), slice(3000, None)
    errors = []
    for groups in (None, np.arange(3000)):  # groups of rows turn means off
        model = TableModel("bfgs-ldl", cross_fit=2).fit(X[some], y[some], groups=groups)
        errors.append(float(((model.predict(X[rest]) - y[rest]) ** 2).to_numpy().mean() ** 0.5))
    assert errors[0] < 0.9 * errors[1]


def test_a_model_with_means_is_saved_and_not_exported(tmp_path):
    X, y = many_levels()
    model = TableModel("ridge", cross_fit=None).fit(X, y)
    save_model(model, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    np.testing.assert_array_equal(again.predict(X[:50]), model.predict(X[:50]))
    with pytest.raises(ValueError, match=r"'firm' has 150 levels, .* leave the column out"):
        export_onnx(model, tmp_path / "m.onnx")


@pytest.mark.parametrize("order", [True, False])
def test_held_out_rows_say_whether_numbers_are_codes(order):
    X, y = coded(order=order)
    encoder = FeatureEncoder().fit(X, degrees=y)
    assert type(encoder.columns_[0]) is (NumberColumn if order else CategoryColumn)
    [note] = encoder.notes_
    start = "Column 'nace' has 8 whole numbers that look like codes, and is taken as "
    assert note.startswith(f"{start}{'numbers:' if order else 'categories, not numbers:'}")
    assert note.endswith(f"--category {'nace' if order else 'none'} changes that.")
    assert type(FeatureEncoder().fit(X, degrees=y, codes=False).columns_[0]) is NumberColumn
    assert type(FeatureEncoder().fit(X).columns_[0]) is NumberColumn


def test_a_name_that_says_nothing_needs_a_clear_difference():
    X, y = coded()
    clear = FeatureEncoder().fit(X.rename(columns={"nace": "v1"}), degrees=y)
    assert type(clear.columns_[0]) is CategoryColumn
    unrelated = np.random.default_rng(3).dirichlet([2, 3], len(X))
    encoder = FeatureEncoder().fit(X.rename(columns={"nace": "v1"}), degrees=unrelated)
    assert type(encoder.columns_[0]) is NumberColumn
    assert encoder.notes_ == []


def test_years_ages_and_measurements_are_no_codes():
    rng = np.random.default_rng(0)
    age, year = rng.integers(18, 80, 2000), rng.integers(1990, 2020, 2000)
    curve = np.column_stack([np.sin(age / 12), np.zeros(2000)])
    y = softmax(curve + rng.normal(size=(2000, 2)) / 5)
    X = pd.DataFrame({"age": age, "year": year, "weight": rng.normal(size=2000)})
    encoder = FeatureEncoder().fit(X, degrees=y)
    assert [type(column) for column in encoder.columns_] == [NumberColumn] * 3
    assert encoder.notes_ == []


@pytest.fixture
def path(tmp_path):
    X, y = coded(order=True)
    frame = pd.concat(
        [X.astype({"nace": int}), pd.DataFrame(y.round(4), columns=["a", "b"])], axis=1
    )
    frame["nace"] = frame["nace"].map("{:02}".format)
    frame["b"] = (1 - frame["a"]).round(4)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(nace=X["nace"].astype(int)).to_excel(tmp_path / "t.xlsx", index=False)
    return tmp_path / "t.csv"


def test_named_columns_are_categories(path):
    table = read_table(path, "a,b", category="na*")
    assert set(table.features["nace"]) == {"01", "02", "05", "10", "11", "20", "35", "62"}
    learned = fit_table(TableFile(path, "a,b", category="nace"), "ridge")
    assert type(learned.model.encoder_.columns_[0]) is CategoryColumn
    assert (
        type(fit_table(TableFile(path, "a,b"), "ridge").model.encoder_.columns_[0]) is NumberColumn
    )
    sheet = read_table(path.with_suffix(".xlsx"), "a,b", category="nace")
    assert set(sheet.features["nace"]) == {"1", "2", "5", "10", "11", "20", "35", "62"}


def test_none_leaves_numbers_as_they_are(path):
    file = TableFile(path, "a,b", category="none")
    learned = fit_table(file, "ridge")
    assert not any("codes" in note for note in learned.notes)
    assert any("codes" in note for note in fit_table(TableFile(path, "a,b"), "ridge").notes)


def test_a_column_of_codes_must_be_there(path):
    with pytest.raises(ValueError, match=r"No columns of codes found for 'nice' \(did you mean"):
        TableFile(path, "a,b", category="nice")
