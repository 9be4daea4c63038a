"""Scores of partial least squares against scikit-learn's."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression

from inldl.solvers.neighbours import pls_scores

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 6)), RNG.dirichlet(np.ones(4), 40)


def without_signs(T):
    return T * np.sign(T[np.abs(T).argmax(axis=0), np.arange(T.shape[1])])


@pytest.mark.parametrize("count", [1, 3])
def test_they_are_those_of_scikit_learn(count):
    expected = PLSRegression(count, scale=False, tol=1e-14, max_iter=5000).fit(X, Y).x_scores_
    found = pls_scores(X, Y, np.ones(40), count)
    np.testing.assert_allclose(without_signs(found), without_signs(expected), atol=1e-6)


def test_a_weight_of_2_is_the_row_twice():
    weights = RNG.integers(1, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weights.astype(int))
    found = pls_scores(X, Y, weights, 3)[copies]
    expected = pls_scores(X[copies], Y[copies], np.ones(len(copies)), 3)
    np.testing.assert_allclose(without_signs(found), without_signs(expected), atol=1e-10)


def test_features_that_say_nothing_have_no_direction():
    np.testing.assert_array_equal(pls_scores(np.ones((5, 2)), Y[:5], np.ones(5), 2), 0)
    assert pls_scores(X[:, :1], Y, np.ones(40), 3).shape == (40, 1)  # nothing is left after one
