"""The metrics of recovered rows."""

import numpy as np
import pytest

from inldl.metrics import evaluate, recovery

nan = np.nan
TRUTH = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
GIVEN = np.array([[0.5, nan, nan], [0.2, 0.3, 0.5], [nan, nan, nan]])
FOUND = np.array([[0.5, 0.4, 0.1], [0.2, 0.3, 0.5], [0.2, 0.2, 0.6]])


def test_holes_and_whole_rows():
    found = recovery(TRUTH, GIVEN, FOUND)
    errors = np.array([0.1, -0.1, 0.1, 0.1, -0.2])
    assert found["rmse_at_holes"] == pytest.approx(np.sqrt((errors**2).mean()))
    assert found["mae_at_holes"] == pytest.approx(np.abs(errors).mean())
    rows = [0, 2]
    expected = evaluate(TRUTH[rows], FOUND[rows], ["canberra", "clark", "kl_divergence", "cosine"])
    assert {name: found[name] for name in expected} == expected


def test_scaled_degrees_count_in_whole_rows_only():
    ratios = np.array([[0.25, 0.75, nan]])
    truth, found = [[0.1, 0.3, 0.6]], [[0.15, 0.45, 0.4]]
    measured = recovery(truth, ratios, found, ["chebyshev"])
    assert measured["mae_at_holes"] == pytest.approx(0.2)
    assert measured["chebyshev"] == pytest.approx(0.2)


def test_nothing_missing():
    assert np.isnan(list(recovery(TRUTH, TRUTH, FOUND).values())).all()


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="y_given has the shape"):
        recovery(TRUTH, GIVEN[:2], FOUND)
