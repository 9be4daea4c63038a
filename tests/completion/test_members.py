"""Predictions that give degrees away are not listened to."""

import numpy as np
import pytest

from inldl import AutoInLDL, hide
from inldl.completion import Completer
from inldl.completion.members import Mixture, contrary_labels
from inldl.datasets import load_concrete
from inldl.methods import KernelRidgeLDL
from inldl.rows.partial import PartialRows

RNG = np.random.default_rng(0)
TRUTH = RNG.dirichlet(np.full(5, 2.0), 300)
Y = hide(TRUTH, 0.7, random_state=0)
SEEN = ~np.isnan(Y)


def means_of_others(y):
    """Return what is predicted for each row without it, if features tell nothing."""
    total, count = np.nansum(y, axis=0), SEEN.sum(axis=0)
    return (total - np.nan_to_num(y)) / (count - SEEN)


def test_means_of_the_other_rows_give_no_degree_away():
    """They fall with the degree of the row, in a straight line, which trees would find."""
    completer = Completer().fit(PartialRows(Y), means_of_others(Y))
    found = completer.refilled_
    error = np.sqrt(np.mean((found.filled - found.degrees) ** 2))
    holes = np.isnan(Y) & (np.isnan(Y).sum(axis=1) > 1)[:, None]
    filled = completer.fill(PartialRows(Y), means_of_others(Y))
    real = np.sqrt(np.mean((filled - TRUTH)[holes] ** 2))
    assert 0.8 * real < error < 1.25 * real
    _, low, high = completer.fill_with_intervals(PartialRows(Y), means_of_others(Y), 0.9)
    inside = ((low <= TRUTH) & (high >= TRUTH))[holes].mean()
    assert 0.86 < inside < 0.94


FEW_RIDGES = AutoInLDL(members=("kernel-ridge", "linear-ridge"), random_state=0)
RIDGES = [KernelRidgeLDL(random_state=0), KernelRidgeLDL(kernel="linear", random_state=0)]


@pytest.mark.parametrize("model", [*RIDGES, FEW_RIDGES], ids=["kernel", "linear", "mixture"])
def test_rows_with_the_same_features_do_not_tell_their_degrees(model):
    """Left out one by one, each would be predicted the lower, the larger its degrees are."""
    X, truth = load_concrete(return_X_y=True)
    X, truth = X[::2, 1:], truth[::2]  # the age has few values
    y = hide(truth, 0.3, random_state=0)
    model.fit(X, y)
    found, weights = model._completer().refilled_, model._completer().hole_weights_
    promised = np.sqrt(np.average((found.filled - found.degrees) ** 2, weights=weights))
    holes = np.isnan(y) & (np.isnan(y).sum(axis=1) > 1)[:, None]
    real = np.sqrt(np.mean((model.complete(X, y) - truth)[holes] ** 2))
    assert real / 1.25 < promised < 1.25 * real


def test_labels_are_contrary_where_predictions_fall_with_degrees():
    assert contrary_labels(Y, means_of_others(Y)).all()
    assert not contrary_labels(Y, TRUTH).any()
    half = np.where(np.arange(5) < 2, means_of_others(Y), TRUTH)
    np.testing.assert_array_equal(contrary_labels(Y, half), np.arange(5) < 2)
    assert not contrary_labels(np.full((3, 2), np.nan), np.ones((3, 2))).any()


def test_no_fill_is_far_above_what_is_known_of_its_label():
    """Where a rare label takes what others leave, these take more instead."""
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.uniform(0.3, 0.5, 60), rng.uniform(0.3, 0.5, 60), np.full(60, 0.005)])
    y = np.column_stack([y, 1 - y.sum(axis=1)])
    mixture = Mixture(PartialRows(y), np.tile(y.mean(axis=0), (60, 1)))
    rows = PartialRows(np.array([[0.4, np.nan, np.nan, 0.1], [0.02, 0.02, np.nan, 0.02]]))
    fills = np.array([[[0.4, 0.1, 0.4, 0.1], [0.02, 0.02, 0.94, 0.02]]])
    filled = mixture.mixed([1.0], rows, fills)
    assert filled[0] == pytest.approx([0.4, 0.49, 0.01, 0.1])
    assert filled[1] == pytest.approx([0.02, 0.02, 0.94, 0.02])  # the row allows nothing else
