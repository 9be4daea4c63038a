"""Tables of nothing but shares: the others of a row are all that there is to learn from."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.datasets import load_budget_shares
from inldl.files import load_model, save_model
from inldl.tables import FeatureEncoder, TableModel, compare


@pytest.fixture(scope="module")
def shares():
    y = load_budget_shares(return_X_y=True, as_frame=True)[1][:200]
    return y, hide(y, 0.3, random_state=0)


@pytest.fixture(scope="module")
def model(shares):
    return TableModel().fit(pd.DataFrame(index=shares[1].index), shares[1])


def test_shares_alone_are_completed(shares, model):
    truth, y = shares
    filled, low, high = model.complete_interval(y[[]], y)
    assert filled.to_numpy() == pytest.approx(np.where(y.isna(), filled, y), abs=0)
    assert filled.sum(axis=1).to_numpy() == pytest.approx(1)
    assert (low <= filled).all(axis=None)
    assert (filled <= high).all(axis=None)
    several = y.isna() & (y.isna().sum(axis=1) > 1).to_numpy()[:, None]
    even = y.isna().mul((1 - y.sum(axis=1)) / y.isna().sum(axis=1).clip(lower=1), axis=0)
    error, even = ((found - truth)[several].stack().abs().mean() for found in (filled, even))
    assert error < 0.8 * even


def test_new_rows_are_predicted_as_the_means(shares, model):
    predicted = model.predict(pd.DataFrame(index=["a", "b"]))
    assert predicted.index.tolist() == ["a", "b"]
    means = shares[1].mean() / shares[1].mean().sum()
    assert predicted.to_numpy() == pytest.approx(np.tile(means, (2, 1)))


def test_columns_that_tell_nothing_are_no_obstacle(shares, model):
    y = shares[1]
    X = pd.DataFrame({"id": [f"household {i}" for i in y.index], "country": "UK"}, index=y.index)
    other = TableModel().fit(X, y)
    assert "No feature column tells rows apart" in other.encoder_.notes_[-1]
    assert other.complete(X, y).equals(model.complete(y[[]], y))


def test_the_model_is_kept_in_a_file(shares, model, tmp_path):
    y = shares[1]
    save_model(model, tmp_path / "m.inldl")
    loaded = load_model(tmp_path / "m.inldl")
    assert loaded.complete(y[[]], y).equals(model.complete(y[[]], y))


def test_features_may_come_back(shares):
    y = shares[1]
    X = pd.DataFrame({"a": np.arange(len(y)) % 7.0}, index=y.index)
    model = TableModel("winldl", cross_fit=None).fit(X[[]], y)
    assert type(model.fit(X, y).estimator_).__name__ == "WInLDL"


def test_an_array_without_columns_is_refused():
    with pytest.raises(ValueError, match=r"the table has no columns, 0 feature\(s\)"):
        FeatureEncoder().fit(np.empty((5, 0)))


def test_methods_cannot_be_compared(shares):
    with pytest.raises(ValueError, match="No feature column tells rows apart, so all methods"):
        compare(shares[1][[]], shares[1])


def test_no_column_has_an_influence(shares, model):
    """A page shows it, also where the file has no feature column at all."""
    found = model.influence(shares[1][[]], shares[1])
    assert found.shape == (0, shares[1].shape[1])
