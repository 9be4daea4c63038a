"""Extra trees: scikit-learn's are the oracle for how well they predict."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor

from inldl import kernels
from inldl.kernels.trees import ExtraTrees


@pytest.fixture(scope="module")
def curved():
    return make_friedman1(1500, n_features=12, noise=1.0, random_state=0)


def test_they_predict_as_well_as_those_of_scikit_learn(curved):
    X, y = curved
    ours = ExtraTrees(X[:500], y[:500], n_trees=100, seed=1).predict(X[500:])
    theirs = ExtraTreesRegressor(100, min_samples_leaf=2, max_features=0.5, random_state=0)
    theirs = theirs.fit(X[:500], y[:500]).predict(X[500:])
    errors = [np.sqrt(np.mean((p - y[500:]) ** 2)) for p in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=0.03)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.97


def test_a_leaf_is_the_mean_of_its_rows(curved):
    """Every row of a node goes to one of its children, and leaves are as large as asked."""
    X, y = curved[0][:200], curved[1][:200]
    columns = np.ascontiguousarray(X.T, dtype=np.float32)
    feature, threshold, child, value = kernels.grow_forest(columns, y, 3, 6, 7, 0)
    for f, cut, to, v in zip(feature, threshold, child, value, strict=True):
        leaf = np.zeros(len(y), int)
        while (to[leaf] >= 0).any():
            right = columns[f[leaf], np.arange(len(y))] > cut[leaf]
            leaf = np.where(to[leaf] >= 0, to[leaf] + right, leaf)
        for node in np.unique(leaf):
            assert (leaf == node).sum() >= 7
            assert v[node] == pytest.approx(y[leaf == node].mean())


def test_what_tells_nothing_is_one_leaf():
    X = np.ones((20, 3))
    assert ExtraTrees(X, np.arange(20.0), n_trees=5, seed=0).predict(X[:1]) == pytest.approx(9.5)
    X = np.random.default_rng(0).normal(size=(20, 3))
    flat = ExtraTrees(X, np.full(20, 0.3), n_trees=5, seed=0).predict(X)
    np.testing.assert_allclose(flat, 0.3, rtol=1e-15)
    assert ExtraTrees(X[:1], np.ones(1), n_trees=2, seed=0).predict(X[:3]).tolist() == [1, 1, 1]


def test_the_same_trees_in_every_thread(curved):
    X, y = curved[0][:300], curved[1][:300]

    def predicted(_):
        return ExtraTrees(X, y, n_trees=10, seed=3).predict(X)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(predicted, range(16)))
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    other = ExtraTrees(X, y, n_trees=10, seed=4).predict(X)
    assert not np.array_equal(other, found[0])
