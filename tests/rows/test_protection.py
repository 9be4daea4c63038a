"""Secondary suppression, against linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from inldl.datasets import hide


def widths(counts, hidden):
    """Return by how much each hidden count can vary if all totals are known."""
    row, label = np.nonzero(hidden)
    sums = np.vstack(
        [row == k for k in range(len(counts))] + [label == j for j in range(counts.shape[1])]
    )
    about = {"A_eq": sums.astype(float), "b_eq": sums @ counts[hidden], "bounds": (0, None)}
    out = []
    for unit in np.eye(len(row)):
        out.append(-linprog(-unit, **about).fun - linprog(unit, **about).fun)
    return np.array(out)


@pytest.mark.parametrize("seed", range(6))
def test_no_suppressed_count_follows_from_totals(seed):
    counts = np.random.default_rng(seed).poisson(6, (8, 5)) + 1.0
    plain = np.isnan(hide(counts, mechanism="suppressed", threshold=5))
    both = np.isnan(hide(counts, mechanism="suppressed", threshold=5, secondary=True))
    assert (both >= plain).all()
    assert plain.any()
    primary = plain[both]
    assert (widths(counts, both)[primary] > 1e-6).all()
    if (widths(counts, plain) < 1e-6).any():
        assert both.sum() > plain.sum()
    else:
        assert both.sum() == plain.sum()


def test_a_single_count_takes_three_others_and_they_are_small():
    counts = np.full((5, 4), 50.0)
    counts[2, 1] = 2
    counts[2, 3], counts[4, 1], counts[4, 3] = 11, 12, 13
    hidden = np.isnan(hide(counts, mechanism="suppressed", threshold=5, secondary=True))
    assert sorted(zip(*np.nonzero(hidden), strict=True)) == [(2, 1), (2, 3), (4, 1), (4, 3)]


def test_only_for_suppressed_counts():
    with pytest.raises(ValueError, match='secondary=True needs mechanism="suppressed"'):
        hide(np.ones((3, 3)), 0.5, secondary=True)
