"""Holes that are filled from neighbours, by hand."""

import numpy as np

from inldl.solvers.loop import run
from inldl.solvers.neighbours import fill_rounds

NAN = np.nan
PLACES = np.array([[0.0], [1.0], [10.0], [11.0]])
Y = np.array([[0.5, 0.3, 0.2], [0.5, NAN, NAN], [0.1, 0.1, 0.8], [NAN, NAN, NAN]])


def filled(y, weights=None, max_iter=1, n_neighbors=1):
    weights = np.ones(len(y)) if weights is None else weights
    rounds = fill_rounds(y, weights, lambda _: PLACES, n_neighbors, 0.0)
    return run(rounds, max_iter)


def test_one_round_by_hand():
    found = filled(Y).shared
    np.testing.assert_allclose(found[1], [0.5, 0.3, 0.2])  # .3 and .2 of row 0 leave .5
    np.testing.assert_allclose(found[3], [0.1, 0.1, 0.8])
    np.testing.assert_array_equal(found[[0, 2]], Y[[0, 2]])


def test_neighbours_count_by_their_weight():
    found = filled(Y, np.array([3.0, 1.0, 1.0, 1.0]), n_neighbors=2).shared
    means = (3 * Y[0] + Y[2]) / 4  # rows 0 and 2 are the nearest of row 1
    np.testing.assert_allclose(found[1, 1:], 0.5 * means[1:] / means[1:].sum())


def test_rounds_end_when_nothing_changes():
    result = filled(Y, max_iter=10)
    assert result.converged
    assert result.n_iter == 2
    assert result.history["change"][1] == 0


def test_a_single_row_keeps_its_degrees():
    one = np.array([[0.4, 0.4, 0.2]])
    found = run(fill_rounds(one, np.ones(1), lambda y: y, 3, 0.0), 3)
    np.testing.assert_array_equal(found.shared, one)
    assert found.n_iter == 1
