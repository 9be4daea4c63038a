"""Units: errors are printed with as many decimals as they need."""

import numpy as np
import pytest

from inldl.tables.audit import POINTS, error, form_of


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0576, "", "0.0576"),
        (0.0002, "", "0.00020"),
        (0.00012, "", "0.000120"),
        (5.76, POINTS, "5.76 percentage points"),
        (0.0123, POINTS, "0.0123 percentage points"),
        (0.0, "", "0.0000"),
        (1e-17, "", "0.0000"),
    ],
)
def test_small_errors_have_more_decimals(value, unit, text):
    assert error(value, unit) == text


@pytest.mark.parametrize("unit", ["", POINTS])
def test_rounding_changes_an_error_by_a_few_percent_at_most(unit):
    for value in np.random.default_rng(0).uniform(-6, 1, 500):
        written = float(error(10**value, unit).split()[0])
        assert abs(written / 10**value - 1) <= 0.025


def test_the_smallest_error_of_a_column_decides():
    assert form_of("", [0.5, np.nan, 0.0003]) == ".5f"
    assert form_of(POINTS, [np.nan, 0.0]) == ".2f"
    assert form_of("", [1e-8]) == ".8f"
