"""Degrees that are missing because of their size, and the methods that learn from the others."""

import numpy as np
import pytest

from inldl import AutoInLDL, evaluate, hide
from inldl.datasets import load, make_distributions
from inldl.methods import ConstantLDL, KernelRidgeLDL
from inldl.methods.kernel_base import fill_selected
from inldl.rows.missingness import mechanism_of
from inldl.rows.partial import PartialRows


def cosine(truth, predicted):
    return evaluate(truth, predicted)["cosine"]


def assert_better(X, y, mechanism, rate, members, margin=0.0):
    """Compare with the mean of what is recorded, and with an even split of the rest."""
    train = slice(0, 2 * len(y) // 3)
    given = hide(y[train], rate, mechanism=mechanism, random_state=0)
    new, truth = X[train.stop :], y[train.stop :]
    constant = ConstantLDL().fit(X[train], given).predict(new)
    even = np.tile(PartialRows(given).evenly().mean(axis=0), (len(new), 1))
    ours = AutoInLDL(members, random_state=0).fit(X[train], given).predict(new)
    found = cosine(truth, ours)
    assert found >= cosine(truth, constant) - margin
    assert found >= cosine(truth, even) - margin
    return found


@pytest.mark.parametrize(("mechanism", "rate"), [("top", 0.6), ("small", 0.3), ("small", 0.6)])
def test_better_than_means_and_even_splits(mechanism, rate):
    X, y = make_distributions(240, random_state=0)
    assert_better(X, y, mechanism, rate, ("kernel-softmax", "kernel-ridge"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SJAFFE", "SCUT_FBP", "Movie", "Yeast_spo", "emotion6"])
@pytest.mark.parametrize("mechanism", ["top", "small"])
def test_better_on_public_data(shared, monkeypatch, name, mechanism):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:450]
    y = data.y[rows] / data.y[rows].sum(axis=1, keepdims=True)
    members = ("kernel-softmax", "kernel-ridge", "forest")
    for rate in (0.3, 0.6, 0.9):
        assert_better(data.X[rows], y, mechanism, rate, members, margin=1e-3)


def test_what_stands_in_holes_changes_nothing():
    X, y = make_distributions(60, random_state=0)
    holes = np.isnan(hide(y, 0.6, mechanism="top", random_state=0))
    found = [
        KernelRidgeLDL(random_state=0)
        .fit(X, np.ma.array(np.where(holes, number, y), mask=holes))
        .predict(X)
        for number in (0, 1e6)
    ]
    np.testing.assert_array_equal(*found)


def test_the_report_says_what_is_missing():
    X, y = make_distributions(60, random_state=0)
    given = hide(y, 0.6, mechanism="top", random_state=0)
    report = AutoInLDL("kernel-ridge", random_state=0).fit(X, given).report_
    assert "Only the largest degrees of each row are recorded" in str(report)


def test_random_holes_are_left_to_the_methods():
    X, y = make_distributions(200, random_state=0)
    given = hide(y, 0.5, random_state=0)
    data = KernelRidgeLDL(random_state=0).fit(X, given)._prepare(X, given, None)
    assert data.mechanism == "random"
    assert data.y is data.known


def test_holes_that_features_explain_are_left_to_the_methods():
    """The first label is missing where a feature makes it small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    first = 1 / (1 + np.exp(-X[:, 0] + rng.normal(0, 0.1, 300)))
    y = np.column_stack([first, 0.6 * (1 - first), 0.4 * (1 - first)])
    given = y.copy()
    given[(X[:, 0] < 0.5) & (rng.random(300) < 0.7), :2] = np.nan
    assert mechanism_of(given) == "small"
    mechanism, filled = fill_selected(X, given, "small", 0)
    assert mechanism == "random"
    assert filled is given
