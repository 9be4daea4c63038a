"""Features that tell how large errors are."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_array

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.files import load_model, save_model
from inldl.methods.base import light
from inldl.tables import TableModel
from inldl.uncertainty.heldout import (
    MOST_FEATURES,
    HeldOutSample,
    errors_given_others,
    find_spread_columns,
)


@pytest.fixture(scope="module")
def votes():
    """Return a table of shares of few or many votes: those of few vary more."""
    rng = np.random.default_rng(1)
    number = rng.choice([20, 2000], 1300)
    X = pd.DataFrame({"votes": number, "other": rng.normal(size=1300)})
    y = np.array([rng.multinomial(n, [0.4, 0.3, 0.2, 0.1]) / n for n in number])
    return X, y, number == 20


@pytest.fixture(scope="module")
def model(votes):
    X, y, _ = votes
    return TableModel("constant-mean").fit(X[:800], hide(y[:800], 0.3, random_state=0))


def coverage(low, high, truth, at):
    low, high = np.asarray(low), np.asarray(high)
    return ((low <= truth) & (truth <= high))[at].mean()


def test_the_column_is_found(model):
    assert model.held_out_sample_.columns == (0,)


def test_intervals_of_completed_degrees_hold_for_few_and_many_votes(votes, model):
    X, y, few = votes
    X, y, few = X[:800], y[:800], few[:800]
    given = hide(y, 0.3, random_state=0)
    _, low, high = model.complete_interval(X, given)
    several = np.isnan(given) & (np.isnan(given).sum(axis=1) > 1)[:, None]
    for group in (few, ~few):
        assert 0.84 < coverage(low, high, y, several & group[:, None]) < 0.96


def test_intervals_of_new_rows_hold_for_few_and_many_votes(votes, model):
    X, y, few = (part[800:] for part in votes)
    low, high = model.predict_interval(X)
    one_size = model._interval_around(model.predict(X).to_numpy(), 0.9)
    for group in (few, ~few):
        assert 0.84 < coverage(low, high, y, group) < 0.96
    assert coverage(*one_size, y, few) < 0.84
    assert coverage(*one_size, y, ~few) > 0.96


def test_draws_of_many_votes_vary_less(votes, model):
    X, y, few = votes
    given = hide(y[:800], 0.3, random_state=0)
    draws = np.stack(model.draw(X[:800], given, n_draws=5, random_state=0))
    several = np.isnan(given) & (np.isnan(given).sum(axis=1) > 1)[:, None]
    spread = [draws.std(axis=0)[several & group[:800, None]].mean() for group in (few, ~few)]
    assert spread[0] > 2 * spread[1]


def test_the_columns_are_kept_in_a_file(votes, model, tmp_path):
    save_model(model, tmp_path / "m.inldl")
    loaded = load_model(tmp_path / "m.inldl")
    for ours, theirs in zip(
        model.predict_interval(votes[0]), loaded.predict_interval(votes[0]), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_draws_are_the_same_from_a_file(votes, model, tmp_path):
    X, y, _ = votes
    X, given = X[:60], hide(y[:60], 0.5, random_state=1)
    save_model(model, tmp_path / "m.inldl")
    drawn = (
        each.draw(X, given, n_draws=2, random_state=0)
        for each in (model, load_model(tmp_path / "m.inldl"))
    )
    np.testing.assert_array_equal(*map(np.array, drawn))


def test_few_features_are_kept_for_draws():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, MOST_FEATURES + 1)), rng.dirichlet(np.ones(3), 30)
    few = HeldOutSample.of(X[:, 1:], y, y)
    np.testing.assert_array_equal(few.features, X[:, 1:])
    np.testing.assert_array_equal(few.side_information(X[:4, 1:])["features"], X[:4, 1:])
    for many in (X, csr_array(X[:, :2]), X[:, :0]):
        examples = HeldOutSample.of(many, y, y)
        assert examples.features is None
        assert examples.side_information(many)["features"] is None
    assert few.is_consistent(3)
    few.features = few.features[1:]
    assert not few.is_consistent(3)


def test_examples_of_earlier_versions_draw_without_features(votes, model):
    X, y, _ = votes
    given = hide(y[:40], 0.5, random_state=1)
    kept = model.held_out_sample_
    model.held_out_sample_ = replace(kept, features=None)
    try:
        draws = model.draw(X[:40], given, n_draws=2, random_state=0)
    finally:
        model.held_out_sample_ = kept
    np.testing.assert_allclose(np.sum(draws, axis=2), 1)


def test_a_sign_may_show_only_where_the_other_degrees_are_known():
    """What all rows of a month share hides that shares of few births vary more."""
    rng = np.random.default_rng(2)
    births, month = rng.choice([100, 5000], 600), rng.normal(scale=0.5, size=600)
    each = np.exp(np.outer(month, [1, 1, 1, -1, -1, -1]))
    shares = [rng.multinomial(n, p / p.sum()) / n for n, p in zip(births, each, strict=True)]
    y = hide(np.array(shares), 0.2, random_state=0)
    examples = HeldOutSample.of(births[:, None].astype(float), y, np.full(y.shape, 1 / 6))
    assert find_spread_columns(births[:, None], np.abs(y - 1 / 6)) == ()
    assert examples.columns == (0,)


@pytest.mark.parametrize("shape", [(300, 2), (99, 5), (120, 200), (300, 1)])
def test_tables_without_such_errors_have_no_such_sign(shape):
    y = np.random.default_rng(0).dirichlet(np.ones(shape[1]), shape[0])
    assert np.isnan(errors_given_others(y, np.full(shape, 1 / shape[1]))).all()


def test_noise_is_no_sign():
    rng = np.random.default_rng(1)
    assert (
        find_spread_columns(rng.normal(size=(300, 200)), np.abs(rng.normal(size=(300, 3)))) == ()
    )
    assert find_spread_columns(np.ones((300, 2)), np.abs(rng.normal(size=(300, 3)))) == ()


def test_what_completing_has_learned_is_not_stored_but_travels_to_workers():
    X, y = make_distributions(80, random_state=0)
    y = hide(y, 0.4, random_state=0)
    model = WInLDL(cross_fit=3).fit(X, y)
    before = len(pickle.dumps(model))
    completed = model.complete_interval(X, y)
    assert len(pickle.dumps(model)) == before
    data = skops.io.dumps(model)
    again = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    for found in (again, pickle.loads(pickle.dumps(light(model)))):
        np.testing.assert_array_equal(found.complete_interval(X, y), completed)
    kept = pickle.loads(pickle.dumps(light(model))).held_out_sample_
    assert kept.learned("completer of shares", lambda _: "learned again") != "learned again"
