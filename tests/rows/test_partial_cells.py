"""What is known of rows with holes, and what is predicted there."""

import numpy as np

from inldl.rows.density import count_known
from inldl.rows.partial import PartialRows

nan = np.nan


def test_the_rest_is_one_more_cell():
    y = np.array([[0.5, nan, nan], [0.2, 0.3, 0.5], [nan, nan, nan]])
    predicted = np.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.2, 0.3, 0.5]])
    known, there = PartialRows(y).cells(predicted)
    np.testing.assert_allclose(known[0], [0.5, nan, nan, 0.5])
    np.testing.assert_allclose(there[0], [0.6, 0, 0, 0.4])
    assert np.isnan(known[1:, 3]).all()  # no holes, and no degrees: no sum that tells something
    np.testing.assert_allclose(there.sum(axis=1), 1)
    assert count_known(y) == np.count_nonzero(~np.isnan(known)) == 5


def test_without_holes_it_is_as_if_there_was_no_rest():
    y = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    known, there = PartialRows(y).cells(y[::-1])
    np.testing.assert_array_equal(known[:, :4] - there[:, :4], y - y[::-1])
    assert np.isnan(known[:, 4]).all()
