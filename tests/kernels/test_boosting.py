"""Trees that boost a softmax: their splits and steps beside formulas in plain NumPy."""

import numpy as np
import pytest

from inldl import kernels

LIMITS = (1, 6, 4.0, 5, 1, 9)  # one tree of six leaves


def rows(n=120):
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 16, size=(5, n)).astype(np.uint8)
    y = rng.dirichlet(np.ones(3), n)
    y[::3, 1] = np.nan
    return bins, np.full(5, 16), y, rng.uniform(0.5, 2, n)


def softmax(scores):
    P = np.exp(scores)
    return P / P.sum(axis=1, keepdims=True)


def leaves(bins, grown, t=0):
    """Return the leaf of each row in a tree."""
    (feature, last, child), _, roots, _, _ = grown
    node = np.zeros(bins.shape[1], int)
    while (child[roots[t] + node] >= 0).any():
        at = roots[t] + node
        right = bins[feature[at], np.arange(len(node))] > last[at]
        node = np.where(child[at] >= 0, child[at] + right, node)
    return -1 - child[roots[t] + node]


def gradient(y, P):
    """Return that of the log-likelihood of degrees, and of the sums of missing ones, by scores."""
    missing = np.isnan(y)
    rest = 1 - np.nansum(y, axis=1, keepdims=True)
    unknown = np.where(missing, P, 0).sum(axis=1, keepdims=True)
    return np.where(missing, rest * P / np.maximum(unknown, 1e-300), y) - P


def loss(y, P):
    missing = np.isnan(y)
    rest, unknown = 1 - np.nansum(y, axis=1), np.where(missing, P, 0).sum(axis=1)
    known = np.nansum(np.where(missing, 0, y * np.log(P)), axis=1)
    return -known - np.where(unknown > 0, rest * np.log(np.where(unknown > 0, unknown, 1)), 0)


def test_the_gradient_is_that_of_the_loss():
    """The formulas of this file against differences: what the trees learn is a likelihood."""
    _, _, y, _ = rows(20)
    scores = np.random.default_rng(1).normal(size=y.shape)
    found = gradient(y, softmax(scores))
    for j in range(3):
        up, down = scores.copy(), scores.copy()
        up[:, j] += 1e-6
        down[:, j] -= 1e-6
        slope = (loss(y, softmax(up)) - loss(y, softmax(down))) / 2e-6
        np.testing.assert_allclose(-slope, found[:, j], atol=1e-8)


def test_leaves_take_damped_newton_steps_and_rows_are_judged_by_likelihood():
    bins, n_bins, y, weights = rows()
    mean, test = np.array([0.2, 0.3, 0.5]), np.arange(0, 120, 4)
    train = np.setdiff1d(np.arange(120), test)
    about = np.log(mean), LIMITS, (0.5, 6 * mean * (1 - mean), 1.0, 0)
    grown = kernels.boost_softmax(bins, n_bins, y, weights, (train, test), *about)
    value, losses, leaf = grown[1], grown[-1], leaves(bins, grown)
    assert sorted(np.unique(leaf)) == list(range(6))
    P, missing = np.tile(mean, (120, 1)), np.isnan(y)
    unknown = np.where(missing, P, 0).sum(axis=1, keepdims=True)
    curved = np.where(missing, P**2 * (1 / np.maximum(unknown, 1e-300) - 1), P * (1 - P))
    up, down = (weights[:, None] * each for each in (gradient(y, P), curved))
    for each in range(6):
        mine = train[leaf[train] == each]
        assert weights[mine].sum() >= 4
        newton = up[mine].sum(axis=0) / (down[mine].sum(axis=0) + 6 * mean * (1 - mean))
        np.testing.assert_allclose(value[each], np.clip(0.5 * newton, -1, 1), atol=1e-6)
    after = softmax(np.log(mean) + value[leaf])
    assert losses[0] == pytest.approx((weights * loss(y, after))[test].sum(), rel=1e-5)


def test_the_first_split_is_the_best_of_all():
    """With at most three labels nothing is mixed: the split is that of least squares."""
    bins, n_bins, y, weights = rows()
    mean, everything = np.array([0.2, 0.3, 0.5]), np.arange(120)
    limits = (1, 2, 4.0, 5, 1, 9)
    grown = kernels.boost_softmax(
        bins,
        n_bins,
        y,
        weights,
        (everything, everything),
        np.log(mean),
        limits,
        (0.5, mean, 1.0, 0),
    )
    up = weights[:, None] * gradient(y, np.tile(mean, (120, 1)))
    gains = {}
    for f in range(5):
        for b in range(15):
            sides = [bins[f] <= b, bins[f] > b]
            if min(weights[side].sum() for side in sides) >= 4:
                squares = [(up[s].sum(axis=0) ** 2).sum() / (weights[s].sum() + 1) for s in sides]
                gains[f, b] = sum(squares)
    assert tuple(grown[0][:2, 0]) == max(gains, key=gains.get)


def test_more_trees_add_up_and_raw_features_go_where_bins_go():
    bins, n_bins, y, weights = rows()
    mean, train, test = np.full(3, 1 / 3), np.arange(120), np.arange(0)
    limits = (7, 6, 4.0, 3, 1, 9)
    grown = kernels.boost_softmax(
        bins,
        n_bins,
        y,
        weights,
        (train, test),
        np.log(mean),
        limits,
        (0.1, mean, 0.6, 3),
    )
    (feature, last, child), value, roots, first_leaf, losses = grown
    assert len(roots) == len(first_leaf) == 8
    assert losses.tolist() == [0] * 7  # of no rows
    scores = np.zeros((120, 3))
    X = bins.T.astype(np.float32)
    kernels.add_boosted(X, feature, last.astype(np.float32), child, value, roots[:-1], scores)
    expected = sum(value[leaves(bins, grown, t)].astype(float) for t in range(7))
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_trees_end_where_rows_get_no_better():
    rng = np.random.default_rng(0)
    bins, y = rng.integers(0, 8, size=(3, 60)).astype(np.uint8), rng.dirichlet(np.ones(4), 60)
    split = np.arange(40), np.arange(40, 60)
    limits = (200, 8, 2.0, 3, 2, 3)
    about = np.full(4, -1.4), limits, (0.3, np.full(4, 0.2), 0.7, 0)
    losses = kernels.boost_softmax(bins, np.full(3, 8), y, np.ones(60), split, *about)[-1]
    assert len(losses) < 100
    assert losses[-3:].min() >= losses[:-3].min()
