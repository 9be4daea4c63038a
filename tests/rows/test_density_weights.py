"""Means, quantiles and counts of rows that weigh more or less than one."""

import numpy as np
import pytest

from inldl import hide
from inldl.rows.density import count_known, mean_degrees, quantiles

RNG = np.random.default_rng(0)
Y = hide(RNG.dirichlet(np.ones(4), 30), 0.4, random_state=0)
W = RNG.integers(1, 5, 30).astype(float)
COPIES = np.repeat(Y, W.astype(int), axis=0)


def test_counts_and_means_are_those_of_repeated_rows():
    assert count_known(Y, W) == count_known(COPIES)
    np.testing.assert_allclose(mean_degrees(Y, W), np.nanmean(COPIES, axis=0))


@pytest.mark.parametrize("level", [0.0, 0.1, 0.33, 0.5, 0.9, 1.0])
def test_quantiles_are_those_of_repeated_rows(level):
    np.testing.assert_allclose(quantiles(Y, level, W), np.nanquantile(COPIES, level, axis=0))


def test_small_weights_are_scaled_up():
    np.testing.assert_allclose(quantiles(Y, 0.3, np.full(30, 1 / 30)), quantiles(Y, 0.3))
