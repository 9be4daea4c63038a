"""What is known of rows beside their degrees."""

import numpy as np

from inldl.rows.side import NOTHING, Beside


def test_some_rows_of_what_is_known():
    known = Beside(signs=np.arange(6).reshape(3, 2), features=np.eye(3))[1:]
    np.testing.assert_array_equal(known.signs, [[2, 3], [4, 5]])
    np.testing.assert_array_equal(known.features, np.eye(3)[1:])
    assert NOTHING[1:].signs is None
    assert NOTHING[np.array([0])].features is None
