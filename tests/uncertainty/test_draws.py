"""Draws of completed rows: where they may vary, and how much they should."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from inldl import TableModel, WInLDL, hide
from inldl.completion import Completer
from inldl.methods import KernelRidgeLDL
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import DrawScale
from inldl.uncertainty.draws import TRIALS, NormalRows, draw_rows, own_errors
from inldl.uncertainty.hiding import HiddenCells

DRAWS = 200


def table(n=200, n_labels=5, rate=0.4, seed=0):
    """Return distributions of which some are nearly 0, the same with holes, and predictions."""
    rng = np.random.default_rng(seed)
    strength = np.exp(rng.normal(size=(n, n_labels)) + np.linspace(1.5, -1.5, n_labels))
    truth = strength / strength.sum(axis=1, keepdims=True)
    predicted = np.tile(truth.mean(axis=0), (n, 1))
    return truth, hide(truth, rate, random_state=seed), predicted


@pytest.fixture(scope="module")
def drawn():
    truth, y, predicted = table()
    completer = Completer().fit(PartialRows(y), predicted)
    return truth, y, predicted, completer, completer.draw(PartialRows(y), predicted, DRAWS, seed=1)


# --- each draw -------------------------------------------------------------------------------


def test_each_draw_is_a_completed_table(drawn):
    _, y, _, _, draws = drawn
    known = ~np.isnan(y)
    assert (draws[:, known] == y[known]).all()
    assert draws.min() >= 0
    np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=0, atol=1e-12)


def test_only_what_the_row_does_not_give_varies():
    _, y, predicted = table(rate=0.4)
    y[0] = [0.5, 0.5, np.nan, np.nan, 0]  # nothing is left
    y[1] = [0.1, 0.2, 0.3, np.nan, 0.1]
    y[2] = np.nan
    completer = Completer().fit(PartialRows(y), predicted)
    draws = completer.draw(PartialRows(y), predicted, 30, seed=0)
    unsure = np.isnan(PartialRows(y).forced())
    assert not unsure[:2].any()
    assert (np.ptp(draws, axis=0)[~unsure] == 0).all()
    assert (np.ptp(draws, axis=0)[unsure] > 0).all()
    np.testing.assert_array_equal(
        draws[0][~unsure], completer.fill(PartialRows(y), predicted)[~unsure]
    )


# --- how much draws vary ------------------------------------------------------------------------


def test_draws_have_the_completed_row_as_their_mean_where_that_alone_counts(drawn):
    """Also where degrees are small; none of them is 0, as none that is known is."""
    _, y, predicted, completer, _ = drawn
    learned = completer._could_learn(DRAWS, 1)
    weight, learned.weight = learned.weight, 0.0
    draws, learned.weight = completer.draw(PartialRows(y), predicted, DRAWS, seed=1), weight
    filled, at = completer.fill(PartialRows(y), predicted), np.isnan(PartialRows(y).forced())
    off = (draws.mean(axis=0) - filled)[at] / draws.std(axis=0)[at]
    assert np.sqrt(np.mean(off**2)) < 0.15  # chance alone gives 0.05
    assert abs(np.mean((draws.mean(axis=0) - filled)[at])) < 1e-12
    small = filled[at] < np.quantile(filled[at], 0.2)
    assert abs(off[small].mean()) < 0.1
    assert draws[:, at].min() > 0


@pytest.mark.parametrize(("common", "wanted"), [(0.3, 1.0), (1.0, 1.0), (4.0, 2.0)])
def test_errors_in_common_are_part_of_the_spread(common, wanted):
    """A linear model is very unsure of a row far from all others: its draws vary less than that.

    Errors in common and wanted deviations are given in deviations of the spread.
    """
    rng, s = np.random.default_rng(0), 0.01
    y, centre = np.tile([0.2, np.nan, np.nan], (500, 1)), np.tile([0.2, 0.4, 0.4], (500, 1))
    both = np.array([0, 1, -1]) * rng.normal(size=(TRIALS + 2 * DRAWS, 500, 1))
    own, shared = both[: TRIALS + DRAWS], both[TRIALS + DRAWS :] * common * s / 0.4
    about = DrawScale(rng.uniform(size=(50, 3))), centre, shared, own, np.full(y.shape, s / 0.4)
    draws = draw_rows(PartialRows(y), *about, np.full(y.shape, s))
    assert draws[:, :, 1].std() == pytest.approx(wanted * s, rel=0.05)
    assert draws[:, :, 1].mean() == pytest.approx(0.4, abs=0.001)


def test_the_mean_of_draws_is_as_near_the_truth_as_the_completed_row(drawn):
    truth, y, predicted, completer, draws = drawn
    at = np.isnan(PartialRows(y).forced())
    mean, filled = (
        np.sqrt(np.mean((rows - truth)[at] ** 2))
        for rows in (draws.mean(axis=0), completer.fill(PartialRows(y), predicted))
    )
    assert mean < 1.02 * filled


def test_draws_vary_as_much_as_the_completed_degrees_err(drawn):
    truth, y, predicted, completer, draws = drawn
    at = np.isnan(PartialRows(y).forced())
    error = np.sqrt(np.mean((completer.fill(PartialRows(y), predicted) - truth)[at] ** 2))
    assert np.sqrt(draws.var(axis=0)[at].mean()) == pytest.approx(error, rel=0.12)
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    assert ((low <= truth) & (truth <= high))[at].mean() == pytest.approx(0.9, abs=0.04)


def test_zeros_are_drawn_where_there_are_some():
    rng = np.random.default_rng(0)
    truth = np.maximum(rng.normal([0.4, 0.4, 0.02], [0.1, 0.1, 0.05], (300, 3)), 0)
    truth /= truth.sum(axis=1, keepdims=True)
    y = hide(truth, 0.4, random_state=0)
    predicted = np.tile(truth.mean(axis=0), (300, 1))
    draws = Completer().fit(PartialRows(y), predicted).draw(PartialRows(y), predicted, 20, 0)
    at = np.isnan(PartialRows(y).forced())
    assert 0.05 < (draws[:, at[:, 2], 2] == 0).mean() < 0.6  # it is in 0.35 of the rows
    assert (draws[:, :, :2][:, at[:, :2]] > 0).all()


def test_own_errors_have_the_covariance_that_is_left_at_the_holes():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    S = A @ A.T
    y = np.array([[np.nan, 0.2, np.nan, np.nan], [0.1, np.nan, 0.3, np.nan]])
    draws = own_errors(y, NormalRows(None, S), 40_000, rng)
    assert not draws[:, ~np.isnan(y)].any()
    for i, row in enumerate(y):
        h, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        noise = 1e-3 * np.trace(S) / 4 * np.eye(len(o))
        left = S[np.ix_(h, h)] - S[np.ix_(h, o)] @ np.linalg.solve(
            S[np.ix_(o, o)] + noise, S[np.ix_(o, h)]
        )
        np.testing.assert_allclose(np.cov(draws[:, i, h].T), left, rtol=0, atol=0.05 * left.max())


def test_errors_in_common_do_not_average_out(drawn, monkeypatch):
    """With h of n degrees missing and nothing to tell them, the variance of the mean would be
    1 + h / (n - h) times that of independent errors; errors that must sum to 0 add less."""
    _, y, predicted, completer, draws = drawn
    monkeypatch.setattr(completer._could_learn(DRAWS, 1)._chain, "share", 0.0)
    own = completer.draw(PartialRows(y), predicted, DRAWS, seed=1)
    ratio = draws.mean(axis=1).var(axis=0).sum() / own.mean(axis=1).var(axis=0).sum()
    assert 1.05 < ratio < 1 + 0.4 / 0.6


# --- what is kept of the relations in a table ---------------------------------------------------


def related(n=300):
    """Return a feature and degrees; two of them go along with it and with each other."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=n)
    a = 0.3 + 0.04 * x + 0.03 * rng.normal(size=n)
    b = 0.9 * a - 0.08 + 0.01 * rng.normal(size=n)
    c = 0.12 + 0.02 * rng.normal(size=n)
    return x[:, None], np.column_stack([a, b, c, 1 - a - b - c])


def test_draws_go_along_with_features_that_predictions_leave_out():
    x, truth = related()
    y, mean = hide(truth, 0.6, random_state=0), np.tile(truth.mean(axis=0), (len(x), 1))
    slope = np.polyfit(x[:, 0], truth[:, 0], 1)[0]

    def error(features):
        completer = Completer().fit(PartialRows(y, features=features), mean)
        draws = completer.draw(PartialRows(y, features=features), mean, 10, 0)
        return abs(np.mean([np.polyfit(x[:, 0], d[:, 0], 1)[0] for d in draws]) / slope - 1)

    assert error(x) < 0.1 < 0.15 < error(None)  # 0.04 and 0.20


def test_draws_vary_little_where_the_degrees_of_a_table_do():
    """b - 0.9 a varies little; where both are missing it must not vary much more in draws."""
    x, truth = related()
    y, mean = hide(truth, 0.6, random_state=0), np.tile(truth.mean(axis=0), (len(x), 1))
    rows = PartialRows(y, features=x)
    draws = Completer().fit(rows, mean).draw(rows, mean, 10, 0)
    both = np.isnan(y[:, :2]).all(axis=1) & ~np.isnan(y).all(axis=1)
    found, real = (np.std(d[..., both, 1] - 0.9 * d[..., both, 0]) for d in (draws, truth))
    assert found < 2.5 * real < 0.7 * np.std(draws[:, both, 0])


def test_what_is_expected_of_normal_rows_counts_if_it_is_nearer_to_hidden_degrees():
    x, truth = related()
    y, mean = hide(truth, 0.6, random_state=0), np.tile(truth.mean(axis=0), (len(x), 1))
    learned = Completer().fit(PartialRows(y, features=x), mean)._could_learn(5, 0)
    rng = np.random.default_rng(0)
    rows, label = np.arange(len(x)), rng.integers(0, 4, len(x))
    left = truth.copy()
    left[rows, label] = left[rows, (label + 1) % 4] = np.nan
    degrees = truth[rows, label]

    def weight(filled):
        learned.weigh(x, HiddenCells(rows, label, left, degrees, filled, np.ones(len(x))))
        return learned.weight

    assert weight(mean[rows, label]) > 0.7  # the mean knows less
    assert weight(degrees + 0.001 * rng.normal(size=len(x))) < 0.05


# --- the same draws again ------------------------------------------------------------------------


def test_draws_are_reproducible_for_any_number_of_threads():
    _, y, predicted = table(100)
    one, four = (
        Completer(n_jobs=n).fit(PartialRows(y), predicted).draw(PartialRows(y), predicted, 3, 7)
        for n in (1, 4)
    )
    np.testing.assert_array_equal(four, one)


def test_other_seeds_give_other_draws(drawn):
    _, y, predicted, completer, draws = drawn
    same, other = (completer.draw(PartialRows(y), predicted, DRAWS, seed) for seed in (1, 2))
    np.testing.assert_array_equal(same, draws)
    at = np.isnan(PartialRows(y).forced())
    assert (same != other)[:, at].mean() > 0.8  # degrees that are cut are 0 in both


def test_pieces_of_a_table_share_what_rows_have_in_common(drawn):
    """What varies in the mean of many rows is what they share; it must not average out."""
    _, y, predicted, completer, _ = drawn
    y, predicted = np.tile(y, (25, 1)), np.tile(predicted, (25, 1))
    first, second = (completer.draw(PartialRows(y), predicted, 40, 3, first=n) for n in (0, 5000))
    assert (first != second).any()
    means = [draws.mean(axis=1) for draws in (first, second)]
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(means[0].T, means[1].T, strict=True)]
    assert min(correlation) > 0.5


# --- estimators and models -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(3).normal(size=(120, 2))
    y = table(120, 3)[1]
    return X, y, WInLDL(cross_fit=5).fit(X, y)


def test_estimators_draw(fitted):
    X, y, model = fitted
    draws = model.draw(X, y, n_draws=4, random_state=0)
    assert draws.shape == (4, 120, 3)
    np.testing.assert_array_equal(model.draw(X, y, n_draws=4, random_state=0), draws)
    assert (model.draw(X, y, n_draws=4, random_state=1) != draws).any()
    generator = np.random.default_rng(0)
    assert model.draw(X, y, n_draws=1, random_state=generator).shape == (1, 120, 3)


def test_draws_are_of_the_kind_that_was_given(fitted):
    X, y, model = fitted
    assert model.draw(X, y.astype(np.float32), n_draws=2).dtype == np.float32
    frame = pd.DataFrame(y, columns=list("abc"), index=np.arange(120) + 5)
    draws = WInLDL(cross_fit=5).fit(X, frame).draw(X, frame, n_draws=2, random_state=0)
    assert isinstance(draws, list)
    for each in draws:
        assert list(each.columns) == list("abc")
        assert (each.index == frame.index).all()
        np.testing.assert_allclose(each.sum(axis=1), 1)


def test_models_of_tables_draw(fitted):
    X, y, _ = fitted
    model = TableModel("winldl").fit(X, y)
    draws = model.draw(X, y, n_draws=3, random_state=0)
    at = np.isnan(PartialRows(y).forced())
    assert np.shape(draws) == (3, 120, 3)
    assert (np.ptp(draws, axis=0)[at] > 0).mean() > 0.9  # some are 0 in all three


def test_a_table_without_holes_is_drawn_as_it_is(fitted):
    X, _, model = fitted
    truth = table(120, 3)[0]
    assert (model.draw(X, truth, n_draws=3) == truth).all()


def test_rows_of_two_labels_vary_if_both_are_missing():
    """What is known of such a row is its prediction, and how far predictions err."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    a = np.clip(0.5 + 0.1 * X[:, 0] + 0.1 * rng.normal(size=200), 0.05, 0.95)
    y = np.column_stack([a, 1 - a])
    y[::4] = np.nan
    y[1, 0] = np.nan
    model = KernelRidgeLDL(random_state=0).fit(X, y)
    draws = model.draw(X, y, n_draws=300, random_state=0)
    assert (np.ptp(draws[:, 1], axis=0) == 0).all()
    error = np.sqrt(np.nanmean((model.held_out_ - y) ** 2))
    assert np.sqrt(draws[:, ::4].var(axis=0).mean()) == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("n_draws", [0, -1, 2.5, "many"])
def test_numbers_of_draws_that_make_no_sense_are_refused(fitted, n_draws):
    X, y, model = fitted
    with pytest.raises(ValueError, match="n_draws must be an integer at least 1"):
        model.draw(X, y, n_draws=n_draws)


def test_draws_without_held_out_rows_are_refused(fitted):
    X, y, _ = fitted
    with pytest.raises(NotFittedError, match=r"which draws need; fit WInLDL\(cross_fit=5\)"):
        WInLDL().fit(X, y).draw(X, y, n_draws=2)
