"""Codes that are written as numbers, and columns of very many levels."""

import numpy as np
import pandas as pd
import pytest

from inldl.files import load_model, save_model
from inldl.files.onnx import export_onnx
from inldl.tables import TableModel, fit_table, read_table
from inldl.tables.columns.encoder import FeatureEncoder
from inldl.tables.columns.kinds import CategoryColumn, NumberColumn
from inldl.tables.columns.levels import MeansColumn
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


def encoded(X, y):
    """Return the first column of levels, and the shares that each row is learned from by."""
    encoder = FeatureEncoder()
    learned = encoder.fit_matrix(X, degrees=y)[0]
    column = encoder.columns_[0]
    center, scale = np.array(column.scaling)[:3, 1:].T
    return encoder, column, learned[:, :3] * scale + center


def test_a_level_of_many_is_the_mean_of_its_rows():
    X, y = many_levels()
    y = np.where(np.random.default_rng(1).random(y.shape) < 0.2, np.nan, y)
    encoder, column, learned = encoded(X, y)
    assert isinstance(column, MeansColumn)
    whole = np.nanmean(y, axis=0)
    for row in range(20):
        alike = (X["firm"] == X["firm"][row]).to_numpy()
        # Between the mean of the level and that of all rows, nearer to the former.
        own = column.means[column.levels.index(X["firm"][row]), :3]
        far = np.abs(np.nanmean(y[alike], axis=0) - whole)
        np.testing.assert_array_less(np.abs(own - np.nanmean(y[alike], axis=0)), far / 2)
    assert np.abs(learned - column.means[encoder._read(X)[0], :3]).max() > 0.01
    assert encoder.notes_ == [
        "Column 'firm' has very many levels; each is described by the mean shares of its rows."
    ]


@pytest.mark.parametrize("columns", [["firm"], ["firm", "yes"], ["firm", "x"]])
def test_no_row_is_learned_from_by_its_own_degrees(columns):
    X, y = many_levels()
    X["yes"] = np.where(X["x"] > 0, "yes", "no")
    other = y.copy()
    other[7] = [1, 0, 0]
    before, after = (encoded(X[columns], each)[2] for each in (y, other))
    alike = np.flatnonzero(X["firm"] == X["firm"][7])
    moved = np.abs(after - before).max(axis=1)
    assert moved[7] < 0.003  # only the mean of all rows has moved
    assert (moved[alike] > 0.01).mean() > 0.6  # its level, but for the rows of its part


def test_copies_of_a_row_do_not_tell_of_it():
    X, y = many_levels(1500)
    X, y = pd.concat([X, X], ignore_index=True), np.vstack([y, y])
    model = TableModel("ridge").fit(X, y)
    assert model.n_copies_ == 1500
    other = y.copy()
    other[[7, 1507]] = [1, 0, 0]
    before, after = (encoded(X, each)[2] for each in (y, other))
    assert np.abs(after - before)[[7, 1507]].max() < 0.003


def test_new_rows_are_encoded_alike_wherever_they_are():
    X, y = many_levels()
    encoder = FeatureEncoder().fit(X, degrees=y)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(encoder.transform(X.iloc[order]), encoder.transform(X)[order])
    new = pd.DataFrame({"firm": ["new", None], "x": [0.0, np.nan]})
    assert np.isfinite(encoder.transform(new)).all()
    assert encoder.unfamiliar(new)[1].tolist() == [True, False]


def test_a_cell_moves_the_encoding_of_its_own_column_only():
    X, y = many_levels()
    encoder = FeatureEncoder().fit(X, degrees=y)
    shuffled = X.assign(x=np.roll(X["x"], 1))
    moved = encoder.transform(shuffled) != encoder.transform(X)
    assert set(np.array(encoder.sources_)[moved.any(axis=0)]) == {"x"}


def test_rows_of_the_fit_are_recognised_when_they_are_completed():
    X, y = many_levels()
    model = TableModel("ridge").fit(X, y)
    expected = model._expected(X)
    np.testing.assert_allclose(expected, model.held_out_)
    assert np.abs(expected - np.asarray(model.predict(X))).max() > 0.001


def test_degrees_that_follow_from_the_level_are_encoded_exactly():
    X, _ = many_levels()
    level = X["firm"].str[1:].astype(int).to_numpy()
    y = np.column_stack([level, 149 - level]) / 149
    column = FeatureEncoder().fit(X, degrees=y).columns_[0]
    want = np.array([int(name[1:]) / 149 for name in column.levels])
    np.testing.assert_allclose(column.means[:-2, 0], want, atol=1e-6)
    assert np.isfinite(column.means).all()


@pytest.mark.parametrize("columns", [["firm"], ["firm", "yes"], ["firm", "x"]])
def test_many_levels_predict_better_than_columns_of_zeros_and_ones(columns):
    X, y = many_levels(4000, 300)
    X["yes"] = np.where(np.arange(4000) % 2, "yes", "no")
    X, some, rest = X[columns], slice(0, 3000), slice(3000, None)
    errors = []
    for groups in (None, np.arange(3000)):  # groups of rows turn means off
        model = TableModel("bfgs-ldl", cross_fit=2).fit(X[some], y[some], groups=groups)
        errors.append(float(((model.predict(X[rest]) - y[rest]) ** 2).to_numpy().mean() ** 0.5))
    assert errors[0] < 0.92 * errors[1]


def test_a_model_with_means_is_saved_and_exported(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = many_levels()
    X.loc[::17, "firm"] = None
    model = TableModel("ridge", cross_fit=None).fit(X, y)
    save_model(model, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    some = pd.concat([X[:50], pd.DataFrame({"firm": ["new"], "x": [0.0]})])
    np.testing.assert_array_equal(again.predict(some), model.predict(some))
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    firm = some["firm"].fillna("").to_numpy(object)[:, None]
    [found] = session.run(None, {"firm": firm, "x": some[["x"]].to_numpy()})
    np.testing.assert_allclose(found, model.predict(some), atol=1e-12)


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


def test_codes_may_be_written_with_a_fraction():
    """Files write 5.0 for the code 5; a piece of one that has holes is text."""
    column = CategoryColumn.of("nace", {"5": 3, "62": 2, "farms": 2}, False, 10)
    read = column._places(["5", "5.0", 62.0, "farms", "62.00", "shops", "7.0", 7.0])
    assert read[:5] == [0, 0, 1, 2, 1]
    assert len(set(read[5:])) == 1
    assert read[5] < 0


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
