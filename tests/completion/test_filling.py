"""Intervals that hold all holes of a row together."""

import numpy as np
import pytest

from inldl import TableModel
from inldl.completion.filling import coverage_of_holes
from inldl.rows.partial import PartialRows

NAN = np.nan


def test_the_coverage_of_single_holes():
    """Errors of two holes are the same but for their sign; of m, m - 1 are free."""
    y = np.array([[0.5, NAN, NAN, 0.1], [NAN, NAN, NAN, 0.1], [NAN] * 4, [0.2, 0.3, 0.5, 0]])
    found = coverage_of_holes(PartialRows(y), 0.9, joint=True)
    np.testing.assert_allclose(found, [0.9, 0.9**0.5, 0.9 ** (1 / 3), 0.9])
    assert (coverage_of_holes(PartialRows(y), 0.9, joint=False) == 0.9).all()


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_joint_intervals_hold_whole_rows(coverage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    logs = X @ rng.normal(size=(2, 6)) * 0.3 + rng.normal(size=(600, 6)) * 0.4
    truth = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    y = np.where(rng.random(truth.shape) < 0.5, NAN, truth)
    model = TableModel("winldl").fit(X, y)
    filled, low, high = model.complete_interval(X, y, coverage, joint=True)
    inside = ((low <= truth) & (truth <= high)).all(axis=1)[np.isnan(y).sum(axis=1) > 1]
    assert inside.mean() == pytest.approx(coverage, abs=0.05)
    single = model.complete_interval(X, y, coverage)
    np.testing.assert_array_equal(filled, single[0])
    assert (single[1] >= low - 1e-12).all()
    assert (single[2] <= high + 1e-12).all()
