"""Joint principal components against scikit-learn's, and for many columns."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from inldl.solvers import neighbours
from inldl.solvers.neighbours import joint_components

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 6)), RNG.dirichlet(np.ones(4), 40)


def distances(T):
    return np.linalg.norm(T[:, None] - T, axis=2)


@pytest.mark.parametrize("small", [400, 1], ids=["all components", "leading ones"])
def test_they_are_those_of_scikit_learn(small, monkeypatch):
    monkeypatch.setattr(neighbours, "FEW_COLUMNS", small)
    both = [A / np.sqrt(A.var(axis=0).sum()) for A in (X, Y)]
    expected = PCA(3, svd_solver="full").fit_transform(np.hstack(both))
    found = joint_components(X, Y, np.ones(40), 3)
    np.testing.assert_allclose(distances(found), distances(expected), atol=1e-9)


def test_a_weight_of_2_is_the_row_twice():
    weights = RNG.integers(1, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weights.astype(int))
    found = joint_components(X, Y, weights, 3)[copies]
    expected = joint_components(X[copies], Y[copies], np.ones(len(copies)), 3)
    np.testing.assert_allclose(distances(found), distances(expected), atol=1e-10)


def test_constant_features_leave_the_degrees():
    found = joint_components(np.ones((40, 2)), Y, np.ones(40), 4)
    scale = np.sqrt(Y.var(axis=0).sum())
    np.testing.assert_allclose(distances(found), distances(Y) / scale, atol=1e-9)
