"""The boosted member of AutoInLDL: what trees add, no leak, rows with weights, files."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from inldl import AutoInLDL, evaluate, hide
from inldl.files import load_model, save_model
from inldl.methods import ConstantLDL, boosted, kernel_features
from inldl.methods.boosted import EVERY, Binned, Boosted, NetworkLDL
from inldl.randomness import seed_from
from inldl.solvers import softmax as solver
from inldl.solvers.softmax import softmax


def steps(n=200, rate=0.3, seed=0):
    """Return distributions that jump, with holes, and without."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    y = softmax(2.0 * np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, np.zeros(n)]))
    return X, hide(y, rate, random_state=seed), y


def test_jumps_are_learned_from_rows_with_holes():
    X, y, truth = steps(300)
    model = Boosted(random_state=0).fit(X[:200], y[:200])
    mean = ConstantLDL().fit(X[:200], y[:200])
    errors = [evaluate(truth[200:], m.predict(X[200:]))["euclidean"] for m in (model, mean)]
    assert errors[0] < 0.3 * errors[1]
    assert len(model.models_) == 5
    assert {len(each.roots) % EVERY for each in model.models_} == {1}
    for degrees in (model.predict(X), model.held_out_):
        assert degrees.min() >= 0
        np.testing.assert_allclose(degrees.sum(axis=1), 1)


def test_a_fold_does_not_see_the_degrees_it_is_judged_by(monkeypatch):
    monkeypatch.setattr(boosted, "MOST_GROWN", (EVERY, EVERY))  # nothing to choose
    monkeypatch.setattr(boosted, "CHOOSE", 0)
    X, y, _ = steps(80)
    first = Boosted(random_state=0).fit(X, y)
    train, test = next(iter(KFold(5, shuffle=True, random_state=seed_from(0)).split(X)))
    y[test] = np.random.default_rng(1).permutation(y[test])[:, ::-1]
    second = Boosted(random_state=0).fit(X, y)
    np.testing.assert_array_equal(second.held_out_[test], first.held_out_[test])
    assert np.abs(second.held_out_[train] - first.held_out_[train]).max() > 1e-4


def test_units_of_features_do_not_matter_and_rows_without_weight_say_nothing():
    X, y, _ = steps(100)
    expected = Boosted(random_state=0).fit(X, y).predict(X)
    again = Boosted(random_state=0).fit(1024 * X, y).predict(1024 * X)
    np.testing.assert_allclose(again, expected, atol=1e-12)
    far = X * 1e-6 + 1e6  # single precision does not tell its rows apart
    np.testing.assert_allclose(
        Boosted(random_state=0).fit(far, y).predict(far), expected, atol=1e-12
    )
    more = np.vstack([X, X]), np.vstack([y, y[::-1]])
    weights = np.repeat([1.0, 0.0], 100)
    weighted = Boosted(random_state=0).fit(*more, sample_weight=weights).predict(X)
    np.testing.assert_allclose(weighted, expected, atol=1e-12)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_few_rows_and_files(tmp_path, n_labels):
    X, y, _ = steps(30, rate=0.0)
    y = y[:, :n_labels] / y[:, :n_labels].sum(axis=1, keepdims=True)
    model = AutoInLDL("boosted", random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.inldl")
    loaded = load_model(tmp_path / "model.inldl")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_more_rows_have_fewer_folds_and_the_same_trees_in_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(boosted, "FEWER_FOLDS", {100: 3, 150: 2})
    for n, folds in ((100, 5), (120, 3), (200, 2)):
        assert len(Boosted(random_state=0).fit(*steps(n)[:2]).models_) == folds
    X, y, _ = steps(200)
    found = [Boosted(random_state=0, n_jobs=n).fit(X, y).predict(X) for n in (None, 2)]
    np.testing.assert_array_equal(*found)


def test_what_is_not_a_number_is_a_value_of_its_own():
    """The trees know it, though estimators do not take it yet."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:200, 1] = np.nan
    y = np.where(np.isnan(X[:, 1:2]), [[0.8, 0.2]], [[0.3, 0.7]])
    train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
    grown, losses = Binned(X, y, None, 0).grow(train, test, 0)
    np.testing.assert_allclose(grown.first(200).degrees(X[test]), y[test], atol=0.02)
    assert losses[-1] < losses[0]


def test_a_label_without_degrees_and_features_without_values():
    X, y, _ = steps(60)
    y[:50, 2] = np.nan
    for features in (X, np.ones((60, 1)), X[:, :1] > 0):
        model = Boosted(random_state=0).fit(features, y)
        np.testing.assert_allclose(model.predict(features).sum(axis=1), 1)


@pytest.mark.parametrize("n_features", [1, 300])
def test_many_features(n_features):
    X, y, _ = steps(60)
    X = np.column_stack([X[:, :1], np.random.default_rng(1).normal(size=(60, n_features - 1))])
    assert Boosted(random_state=0).fit(X, y).predict(X).shape == y.shape


def test_sparse_columns_are_learned_like_dense_ones(monkeypatch):
    X, y, _ = steps(100)
    X = np.where(X > 0.2, X, 0)
    dense = Boosted(random_state=0).fit(X, y)
    monkeypatch.setattr(kernel_features, "MOST_DENSE", 0)
    monkeypatch.setattr(kernel_features, "REDUCED", 2)
    thin = Boosted(random_state=0).fit(sparse.csr_matrix(X), y)
    assert thin.columns_.reducer_ is not None
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_that_do_not_fit_into_memory_are_those_that_tell_least(monkeypatch, form):
    X, y, _ = steps(200, rate=0.0)
    noise = np.random.default_rng(1).normal(size=(200, 20))
    monkeypatch.setattr(boosted, "KEPT_BYTES", 200 * 4)
    X = np.column_stack([noise, X[:, 1], X[:, 0]])
    binned = Binned(form(np.where(X > 0, X, 0)), y, None, 0)
    assert len(binned.kept) == 4
    assert {20, 21} < set(binned.kept.tolist())


def test_values_of_many_rows_have_bins_of_their_own():
    """Else half of all bins would be the same 0."""
    rng = np.random.default_rng(0)
    column = np.where(rng.uniform(size=4000) < 0.9, 0.0, rng.uniform(1, 2, size=4000))
    edges = boosted._edges(column, 64)
    assert 60 <= len(edges) + 1 <= 64
    assert np.count_nonzero(edges < 1) == 1
    sizes = np.diff(np.searchsorted(np.sort(column[column > 0]), [*edges, 9]))
    assert sizes.max() <= 2 * sizes.mean()
    ties = np.repeat(np.arange(100.0), np.where(np.arange(100) % 2, 1, 60))
    assert len(boosted._edges(ties, 50)) < 50


def test_a_heavy_row_leaves_something_to_the_others():
    X, y, truth = steps(300, rate=0.0)
    weights = np.ones(300)
    weights[0] = 1e4
    model = Boosted(random_state=0).fit(X, y, sample_weight=weights)
    assert np.sqrt(np.square(model.predict(X) - truth).mean()) < 0.03


def waves(n=300, rate=0.4, seed=0):
    """Return distributions that no tree of few leaves predicts, with holes, and without."""
    X = np.random.default_rng(seed).uniform(-2, 2, size=(n, 3))
    y = softmax(np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1] ** 2, X[:, 2], np.zeros(n)]))
    return X, hide(y, rate, random_state=seed), y


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(solver, "DESCENTS", (300, 300))


def test_a_network_learns_waves_and_its_folds_do_not_see_what_they_are_judged_by(few_steps):
    X, y, truth = waves()
    model = NetworkLDL(random_state=0).fit(X[:200], y[:200])
    mean = ConstantLDL().fit(X[:200], y[:200])
    errors = [evaluate(truth[200:], m.predict(X[200:]))["euclidean"] for m in (model, mean)]
    assert errors[0] < 0.3 * errors[1]
    train, test = next(iter(KFold(5, shuffle=True, random_state=seed_from(0)).split(X[:200])))
    y[test] = np.random.default_rng(1).permutation(y[test])[:, ::-1]
    again = NetworkLDL(random_state=0).fit(X[:200], y[:200])
    np.testing.assert_array_equal(again.held_out_[test], model.held_out_[test])
    assert np.abs(again.held_out_[train] - model.held_out_[train]).max() > 1e-4


def test_a_network_in_a_file_and_as_the_only_member(tmp_path, few_steps):
    X, y, _ = waves(60)
    model = AutoInLDL("network", random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.inldl")
    loaded = load_model(tmp_path / "model.inldl")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_many_smooth_rows_are_learned_by_the_network_first(few_steps):
    """Also where all folds are judged, whose rows come in another order than the data."""
    X, y, truth = waves(1100)
    members = ("boosted", "network", "linear-ridge")
    model = AutoInLDL(members, random_state=0).fit(X[:1000], y[:1000])
    assert model.weights_["network"] > 0.7
    assert evaluate(truth[1000:], model.predict(X[1000:]))["kl_divergence"] < 0.02
