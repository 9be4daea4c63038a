"""Rows that are equal, and the nearest of the others."""

import numpy as np
import pytest

from inldl_paper.literature.neighbours import distinct_rows, graph, neighbours

X = np.array([[1.0], [0.0], [1.0], [-0.0], [1.0]])
Y = np.array([[0.5, np.nan], [0.2, 0.8], [0.5, np.nan], [0.2, 0.8], [0.5, 0.5]])


@pytest.mark.parametrize("weights", [None, np.array([2.0, 1.0, 0.5, 3.0, 1.0])])
def test_equal_rows_are_one_of_their_total_weight(weights):
    rows = distinct_rows(X, Y, weights)
    np.testing.assert_array_equal(rows.first, [0, 1, 4])
    np.testing.assert_array_equal(rows.kind, [0, 1, 0, 1, 2])
    expected = [2, 2, 1] if weights is None else [2.5, 4, 1]
    np.testing.assert_array_equal(rows.weights, expected)


def test_neighbours_are_those_of_all_distances():
    rng = np.random.default_rng(0)
    points, others = rng.normal(size=(30, 4)), rng.normal(size=(7, 4))
    for of, count in ((None, 5), (others, 5)):
        apart = np.linalg.norm((points if of is None else of)[:, None] - points, axis=2)
        if of is None:
            np.fill_diagonal(apart, np.inf)
        distances, nearest = neighbours(points, count, of)
        np.testing.assert_array_equal(nearest, np.argsort(apart, axis=1)[:, :count])
        np.testing.assert_allclose(distances, np.sort(apart, axis=1)[:, :count])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_have_few_neighbours(n):
    distances, nearest = neighbours(np.arange(float(n))[:, None], 5)
    assert nearest.shape == (n, n - 1)
    A = graph(nearest, distances).toarray()
    np.testing.assert_array_equal(A, np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
