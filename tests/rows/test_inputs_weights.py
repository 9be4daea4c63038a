"""What `_validation` says about the weights of rows, and about rows without weight."""

import warnings

import numpy as np
import pytest

from inldl.rows.checks import check_degrees, degree_facts
from inldl.rows.inputs import validate_row_array

GOOD = [0.25, 0.75]


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_weights_are_finite_and_not_negative(value):
    with pytest.raises(
        ValueError, match=f"sample_weight has {value:g} in row 7 .*correct it"
    ) as e:
        validate_row_array("sample_weight", [[1], [0], [value]], first_row=5)
    assert e.value.row == 7


def test_weights_become_numbers_and_other_arrays_are_left_alone():
    assert validate_row_array("sample_weight", [[1], [2]]).tolist() == [[1.0], [2.0]]
    np.testing.assert_array_equal(
        validate_row_array("other", [[np.nan, -np.inf]]), [[np.nan, -np.inf]]
    )


def test_rows_without_weight_are_not_looked_at():
    y = np.array([[2.0, 3.0], GOOD, [0.5, 0.7], [0.5, 0.8]])
    outside, off = "outside [0, 1], first in row 10", "do not sum to 1, first row 13 (sum 1.3)"
    assert outside in degree_facts(y, 10).outside
    assert off in degree_facts(y, 10, np.array([[0.0], [1], [0], [1]])).off
    assert outside in degree_facts(y, 10, np.array([1.0, 1, 0, 0])).outside


def test_a_label_must_be_observed_in_a_row_with_weight():
    y = np.array([GOOD, [0.25, np.nan]])
    with pytest.raises(ValueError, match="Label column 1 of y has no observed degree"):
        check_degrees([degree_facts(y, 0, np.array([0.0, 1.0]))], None)


def test_at_least_one_row_needs_a_weight():
    empty, full = (degree_facts(np.array([GOOD, GOOD]), 0, np.full(2, w)) for w in (0.0, 1.0))
    with pytest.raises(
        ValueError, match=r"All weights in sample_weight are zero, .*give at least one row"
    ):
        check_degrees([empty, empty], None)
    with warnings.catch_warnings(action="error"):
        check_degrees([empty, full], None)
