"""A model that is told bounds and sums of missing degrees."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide, hide_with_bounds, hide_with_sums
from inldl.tables import TableModel, fit_table, read_table

LABELS = ["a", "b", "c", "d"]


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(58, 3))
    y = np.exp(X @ rng.normal(scale=0.5, size=(3, 4)) + rng.normal(scale=0.3, size=(58, 4)))
    y /= y.sum(axis=1, keepdims=True)
    return pd.DataFrame(X, columns=list("xyz")), pd.DataFrame(y, columns=LABELS)


@pytest.mark.parametrize("method", ["winldl", "kernel-ridge", "ridge"])
def test_completed_degrees_lie_within_their_bounds(data, method):
    X, y = data
    left, lower, upper = hide_with_bounds(y, threshold=0.2)
    known = {"lower": lower, "upper": upper}
    model = TableModel(method).fit(X, left, **known)
    whole = model.complete(X, left, **known)
    hidden = left.isna().to_numpy()
    assert whole.to_numpy()[hidden].max() <= 0.2 + 1e-12
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    np.testing.assert_array_equal(whole.to_numpy()[~hidden], y.to_numpy()[~hidden])


def test_sums_of_groups_are_kept(data):
    X, y = data
    left, sums = hide_with_sums(y, 0.4, labels=["b", "d"], random_state=0)
    whole = TableModel("winldl").fit(X, left, sums=sums).complete(X, left, sums=sums)
    told = ~np.isnan(sums["b", "d"])
    np.testing.assert_allclose((whole["b"] + whole["d"])[told], sums["b", "d"][told])


def test_limits_that_tell_nothing_change_nothing(data):
    X, y = data
    left = hide(y, 0.3, random_state=0)
    plain = TableModel("winldl").fit(X, left)
    known = {"lower": np.zeros(left.shape), "upper": np.full(left.shape, np.nan)}
    told = TableModel("winldl").fit(X, left, **known)
    pd.testing.assert_frame_equal(told.complete(X, left, **known), plain.complete(X, left))


def test_copies_leave_the_others_their_bounds(data):
    X, y = data
    left, lower, upper = hide_with_bounds(y, threshold=0.2)
    once = TableModel("winldl").fit(X, left, lower=lower, upper=upper)
    again = [pd.concat([each, each[:9]], ignore_index=True) for each in (X, left, lower, upper)]
    twice = TableModel("winldl").fit(*again[:2], lower=again[2], upper=again[3])
    assert twice.n_copies_ == 9
    found, expected = twice.held_out_sample_.degrees, once.held_out_sample_.degrees
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_a_file_is_learned_from_with_its_bounds(data, tmp_path):
    X, y = data
    shares = (100 * y).round(2)
    shares["a"] = (100 - shares[["b", "c", "d"]].sum(axis=1)).round(2)
    X.join(shares.astype(str).mask(shares < 20, "<20")).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", LABELS)
    learned = fit_table(table.file, "winldl")
    assert "'<20' are read as bounds: between 0 and 20." in " ".join(learned.notes)
    model = TableModel("winldl").fit(table.features, table.degrees, **table.known.arguments())
    found = (each.held_out_sample_.degrees for each in (learned.model, model))
    np.testing.assert_array_equal(*found)
    assert not np.isnan(model.held_out_sample_.degrees).any()  # they are expected, not missing


def test_contradictions_name_the_row_and_the_label(data):
    X, y = data
    left, upper = y.copy(), y * np.nan
    left.loc[5, ["c", "d"]] = np.nan
    upper.loc[5, ["c", "d"]] = 1e-4
    with pytest.raises(ValueError, match=r"row 5 \(counted from 0\) .*c, d must sum to"):
        TableModel("winldl").fit(X, left, upper=upper)
