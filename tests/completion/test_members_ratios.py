"""Members and mixtures in logarithms: ratios of small parts count."""

import numpy as np
import pytest

from inldl import TableModel
from inldl.completion import Completer
from inldl.completion.members import Forest, LogNormal
from inldl.completion.normal import Normal
from inldl.metrics import aitchison
from inldl.rows.partial import PartialRows

SIZES = np.log([0.6, 0.37, 0.02, 0.008, 0.002])


def composition(n=150, seed=0):
    """Return rows whose logarithms are normal and go together, with parts of very unequal size."""
    rng = np.random.default_rng(seed)
    loadings = np.array([[0.1, -0.1, 0.8, 0.8, -0.8], [0.0, 0.1, 0.3, -0.6, 0.6]])
    logs = SIZES + rng.normal(size=(n, 2)) @ loadings + 0.1 * rng.normal(size=(n, 5))
    truth = np.exp(logs)
    return truth / truth.sum(axis=1, keepdims=True)


def with_holes(truth, rate=0.3, seed=1):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(truth.shape) < rate, np.nan, truth)
    y[np.isnan(y).all(axis=1), 0] = 0.5
    predicted = np.tile(np.nanmean(y, axis=0), (len(y), 1))
    return y, predicted / predicted.sum(axis=1, keepdims=True)


def distance(truth, filled, y):
    some = (np.isnan(y).sum(axis=1) > 1).nonzero()[0]
    return aitchison(truth[some], filled[some])


def test_a_log_normal_fills_ratios_of_small_parts():
    truth = composition()
    y, predicted = with_holes(truth)
    rows = PartialRows(y)
    logs, shares = (kind(rows, predicted).fill(rows, predicted)[0] for kind in (LogNormal, Normal))
    assert distance(truth, logs, y) < 0.7 * distance(truth, shares, y)
    np.testing.assert_allclose(logs.sum(axis=1), 1)
    assert (logs > 0).all()


def test_the_expected_share_of_a_log_normal_is_its_mean():
    """With nothing known of a row, the fill is the mean of all rows, but for what it is scaled."""
    truth = composition(4000)
    predicted = np.tile(truth.mean(axis=0), (4000, 1))
    member = LogNormal(PartialRows(truth), predicted)
    empty = PartialRows(np.full((1, 5), np.nan))
    expected, _ = member.scale.moments(*member.expected(empty, predicted[:1]))
    np.testing.assert_allclose(expected[0], truth.mean(axis=0), rtol=0.08)


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_ratios_are_smaller_if_they_are_to_be(seed, without_trees):
    truth = composition(seed=seed)
    y, predicted = with_holes(truth, seed=seed + 10)
    rows, found = PartialRows(y), {}
    for error in ("shares", "ratios"):
        found[error] = Completer(error=error).fit(rows, predicted).fill(rows, predicted)
        np.testing.assert_allclose(found[error].sum(axis=1), 1)
    assert distance(truth, found["ratios"], y) < 1.01 * distance(truth, found["shares"], y)


def test_zeros_are_no_trouble_for_logarithms(without_trees):
    truth = composition(80)
    truth[:30, 4] = 0
    truth /= truth.sum(axis=1, keepdims=True)
    y, predicted = with_holes(truth)
    for error in ("shares", "ratios"):
        completer = Completer(error=error).fit(PartialRows(y), predicted)
        filled = completer.fill(PartialRows(y), predicted)
        assert np.isfinite(filled).all()
        assert (filled >= 0).all()
        np.testing.assert_allclose(filled.sum(axis=1), 1)


def test_trees_share_out_what_they_lack_in_proportion():
    """A trace part does not get a fifth of what is left over."""
    truth = composition()
    y, predicted = with_holes(truth)
    member = Forest([None] * 5, Completer().fit(PartialRows(y), predicted)._scale, None)
    before = np.array([[0.5, 0.3, 0.02, 0.01, 0.001]])
    filled = member.fill(PartialRows(np.full((1, 5), np.nan)), before, before)[0]
    np.testing.assert_allclose(filled, before / before.sum())


def test_an_unknown_kind_of_error_is_refused():
    with pytest.raises(ValueError, match="error must be one of 'shares', 'ratios', got 'logs'"):
        TableModel("winldl", error="logs").fit(np.eye(3), np.eye(3))
