"""What frames of several libraries give to estimators, and get from them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inldl import AutoInLDL, TableModel, WInLDL
from inldl.datasets import make_distributions
from inldl.errors import DataError
from inldl.methods import RegressorLDL
from inldl_paper import TunedLDL

X, Y = make_distributions(60, random_state=0)
FEATURES, LABELS = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("pqr"))
COLUMNS = {
    "text": (np.where(X[:, 0] > 0.5, "up", "down"), r"'(up|down)' in row 0"),
    "category": (pd.Categorical(["up"] * 60), "'up' in row 0"),
    "date": (pd.date_range("2020-01-01", periods=60), "Timestamp.* in row 0"),
    "missing": (np.where(np.arange(60) == 7, np.nan, 1.0), "nan in row 7"),
    "nullable": (pd.array([1, None] * 30, dtype="Int64"), "<NA> in row 1"),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("model", [WInLDL(), AutoInLDL("kernel-ridge"), RegressorLDL()])
def test_columns_that_are_no_numbers_are_refused_by_name(model, kind):
    values, words = COLUMNS[kind]
    frame = FEATURES.assign(extra=values)
    name = type(model).__name__
    with pytest.raises(DataError, match=rf"'extra' of X has {words}.*TableModel\({name}\(\)\)"):
        model.fit(frame, LABELS)
    assert TableModel(model).fit(frame, LABELS).predict(frame).shape == (60, 3)


@pytest.mark.parametrize("kind", ["bool", "Int64", "Float32", "object"])
def test_numbers_of_any_type_are_taken(kind):
    frame = (10 * FEATURES).round().astype(kind)
    same = WInLDL().fit(frame.astype(float), LABELS).predict(frame.astype(float))
    pd.testing.assert_frame_equal(WInLDL().fit(frame, LABELS).predict(frame), same, rtol=1e-4)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize(
    "model",
    [
        WInLDL(),
        AutoInLDL("kernel-ridge", random_state=0),
        TunedLDL(grids=["ridge"], random_state=0),
        TableModel(),
    ],
)
def test_frames_get_frames(library, model):
    features, labels = library(FEATURES), library(LABELS)
    expected = model.fit(FEATURES, LABELS).predict(FEATURES)
    assert list(expected.columns) == list("pqr")
    model.fit(features, labels)
    assert list(model.label_names_) == list("pqr")
    for found in (model.predict(features), model.complete(features, labels)):
        assert type(found) is type(features)
    found = pd.DataFrame(np.asarray(model.predict(features)), columns=list("pqr"))
    pd.testing.assert_frame_equal(found, expected)


def test_arrays_and_labels_without_names_get_arrays():
    assert isinstance(WInLDL().fit(FEATURES, Y).predict(FEATURES), np.ndarray)
    assert isinstance(WInLDL().fit(X, LABELS).predict(X), np.ndarray)


def test_an_array_with_holes_in_its_features_is_refused_with_what_takes_it():
    X, y = np.array([[1.0, 2.0], [3.0, np.nan], [2.0, 2.0]]), np.full((3, 2), 0.5)
    wanted = (
        r"contains NaN in row 1 \(counted from 0\); inldl.TableModel\(WInLDL\(\)\) takes these"
    )
    with pytest.raises(ValueError, match=wanted):
        WInLDL().fit(X, y)
    model = TableModel(WInLDL(), cross_fit=None).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
