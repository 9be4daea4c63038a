"""Rows of tables that count more than others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor

from inldl import hide
from inldl.datasets import make_distributions
from inldl.metrics import kl_divergence
from inldl.tables import TableModel, audit, compare

RNG = np.random.default_rng(0)
N = 58
X, TRUTH = make_distributions(N, random_state=0)
X = pd.DataFrame(X, columns=list("abc"))
Y = pd.DataFrame(hide(TRUTH, 0.3, random_state=0), columns=["low", "mid", "high"])
W = RNG.choice([0.0, 1.0, 2.0, 3.0], N)
KEPT = np.flatnonzero(W)


def some(rows):
    return X.iloc[rows], Y.iloc[rows]


@pytest.mark.parametrize("method", ["winldl", "kernel-ridge(kernel='rbf', scale=1.0)"])
def test_rows_of_weight_0_are_gone(method):
    without = TableModel(method).fit(*some(KEPT), sample_weight=W[KEPT])
    weighted = TableModel(method).fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-9)
    np.testing.assert_allclose(weighted.means_, without.means_)
    np.testing.assert_array_equal(weighted.held_out_rows_, KEPT[without.held_out_rows_])
    np.testing.assert_allclose(weighted.held_out_, without.held_out_, atol=1e-9)


def test_weights_are_the_third_argument_as_in_every_method():
    by_place = TableModel("winldl").fit(X, Y, W)
    by_name = TableModel("winldl").fit(X, Y, sample_weight=W)
    np.testing.assert_array_equal(by_place.predict(X), by_name.predict(X))
    np.testing.assert_array_equal(by_place.held_out_, by_name.held_out_)
    with pytest.raises(TypeError):
        TableModel("winldl").fit(X, Y, W, np.arange(N))


def test_the_method_gets_the_weights():
    model = TableModel("winldl", cross_fit=None).fit(X, Y, sample_weight=W)
    encoded = model.encoder_.transform(X)
    by_hand = clone(model.estimator_).fit(encoded, Y, sample_weight=W)
    np.testing.assert_allclose(model.estimator_.coef_, by_hand.coef_, atol=1e-9)
    expected = np.nansum(W[:, None] * Y, axis=0) / (W @ Y.notna().to_numpy())
    np.testing.assert_allclose(model.means_, expected / expected.sum())


def test_held_out_predictions_are_of_weighted_fits():
    heavy = np.where(np.arange(N) % 2, 1.0, 1e-6)
    weighted, plain = (TableModel("winldl").fit(X, Y, sample_weight=w) for w in (heavy, None))
    odd = TableModel("winldl").fit(*some(np.arange(1, N, 2)))
    assert np.abs(weighted.predict(X) - odd.predict(X)).to_numpy().max() < 0.05
    assert np.abs(weighted.held_out_ - plain.held_out_).max() > 1e-3


def test_copies_have_their_weights_together():
    copies = np.repeat(np.arange(N), 2)
    shares = np.tile([0.25, 0.75], N)  # of the weight of a row
    weights = 4 * shares
    copied = TableModel("winldl", cross_fit=None).fit(*some(copies), sample_weight=weights)
    assert copied.n_copies_ == N
    once = TableModel("winldl", cross_fit=None).fit(X, Y, sample_weight=np.full(N, 4.0))
    encoded = once.encoder_.transform(X)
    np.testing.assert_allclose(
        copied.estimator_.predict(encoded), once.estimator_.predict(encoded), atol=1e-9
    )


def test_errors_count_as_much_as_their_rows():
    model = TableModel("winldl").fit(X, Y, sample_weight=W)
    weights = W[model.held_out_rows_]
    found = audit.measure_new_rows(model, Y, weights).overall()
    y = Y.to_numpy()[model.held_out_rows_]
    each = np.broadcast_to(weights[:, None], y.shape)
    errors = np.abs(model.held_out_ - y)
    seen = ~np.isnan(y)
    assert found["mae"] == pytest.approx(np.average(errors[seen], weights=each[seen]))
    assert found["mae"] != audit.measure_new_rows(model, Y).overall()["mae"]
    others = np.array([
        np.average(np.delete(y[:, 0], 0)[seen[1:, 0]], weights=weights[1:][seen[1:, 0]])
    ])  # fmt: skip
    np.testing.assert_allclose(audit._means_of_others(y, weights)[0, 0], others[0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (W[1:], "There are 58 rows and 57 weights"),
        (-W, "sample_weight has -[123] in row"),
        (np.ones(N - 1), "There are 58 rows and 57 weights"),
    ],
)
def test_wrong_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        TableModel("winldl").fit(X, Y, sample_weight=weights)


def test_a_method_without_weights_says_so():
    with pytest.raises(ValueError, match="KNeighborsRegressor has no sample_weight, so rows"):
        TableModel(KNeighborsRegressor()).fit(X, TRUTH, sample_weight=W + 1)


def test_votes_are_weights_that_were_estimated():
    votes = RNG.choice([2, 400], N)
    shares = pd.DataFrame(RNG.multinomial(votes, TRUTH) / votes[:, None], columns=Y.columns)
    for cross_fit in (5, None):
        plain = TableModel("winldl", cross_fit).fit(X, shares)
        weighted = TableModel("winldl", cross_fit).fit(X, shares, votes=votes)
        errors = [kl_divergence(TRUTH, model.predict(X).to_numpy()) for model in (plain, weighted)]
        assert errors[1] < 0.95 * errors[0]
    kept = votes > 2
    both = TableModel("winldl").fit(X, shares, sample_weight=kept, votes=votes)
    alone = TableModel("winldl").fit(X[kept], shares[kept])
    np.testing.assert_allclose(both.predict(X), alone.predict(X), atol=1e-9)
    with pytest.raises(ValueError, match=r"one number for each of 58 rows, but its shape is"):
        TableModel("winldl").fit(X, shares, votes=votes[1:])


def test_methods_are_compared_with_weights():
    rows, how = np.arange(30), {"methods": "winldl", "folds": 2}
    kept = KEPT[KEPT < 30]
    without = compare(*some(kept), **how, sample_weight=W[kept])
    weighted = compare(*some(rows), **how, sample_weight=W[rows])
    timeless = [each.table.drop(columns="seconds") for each in (weighted, without)]
    pd.testing.assert_frame_equal(*timeless, rtol=1e-6)
    plain = compare(*some(kept), **how)
    assert abs(plain.table["predicting_rmse"][0] - weighted.table["predicting_rmse"][0]) > 1e-4


def test_errors_of_methods_count_as_much_as_their_rows():
    y, found = RNG.dirichlet(np.ones(3), (2, 20))
    weights = RNG.integers(1, 4, 20)
    copies = np.repeat(np.arange(20), weights)
    weighted = audit.Errors.at(y > 0.2, found - y, weights.astype(float))
    repeated = audit.Errors.at(y[copies] > 0.2, (found - y)[copies])
    assert weighted.rmse == pytest.approx(repeated.rmse)
    assert weighted.mae == pytest.approx(repeated.mae)
