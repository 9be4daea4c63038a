"""The members of AutoInLDL: no leak, reproducible, right on data that is easy or hard."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import KFold

from inldl import evaluate, hide
from inldl.datasets import make_distributions
from inldl.engines.base import one_blas_thread
from inldl.methods import ConstantLDL, ForestLDL, KernelRidgeLDL, KernelSoftmaxLDL
from inldl.methods import kernel_features as _kernel_features
from inldl.methods.kernel_features import Columns, choose_kernel, kernel_features, sample_rows
from inldl.randomness import seed_from
from inldl.solvers.softmax import softmax

nan = np.nan
# What is chosen looks at all degrees; with that given, held-out rows must be unseen.
MEMBERS = [
    KernelRidgeLDL(kernel="rbf", scale=1.0, alpha=0.1, random_state=0),
    KernelSoftmaxLDL(kernel="rbf", scale=1.0, alpha=0.1, random_state=0),
    ForestLDL(n_trees=5, kernel="rbf", scale=1.0, random_state=0),
]
members = pytest.mark.parametrize("member", MEMBERS, ids=lambda m: type(m).__name__)


def curved(n=300, C=4, rate=0.4, seed=0):
    """Return distributions that no linear function predicts, with holes, and without."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    logits = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2, X[:, 2], np.zeros(n)])[:, :C]
    y = softmax(2 * logits)
    return X, hide(y, rate, random_state=seed), y


@members
def test_predictions_are_distributions(member):
    X, y, _ = curved(100)
    model = clone(member).fit(X, y)
    for degrees in (model.predict(X), model.held_out_, model.complete(X, y)):
        assert degrees.dtype == np.float64
        assert degrees.shape == y.shape
        assert degrees.min() >= 0
        np.testing.assert_allclose(degrees.sum(axis=1), 1)
    assert model.predict(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("kind", [KernelRidgeLDL, KernelSoftmaxLDL, ForestLDL])
def test_curves_are_learned_from_rows_with_holes(kind):
    X, y, truth = curved(500)
    model = kind(random_state=0).fit(X[:400], y[:400])
    mean = ConstantLDL().fit(X[:400], y[:400])
    errors = [evaluate(truth[400:], m.predict(X[400:]))["euclidean"] for m in (model, mean)]
    assert errors[0] < 0.6 * errors[1]
    held_out = evaluate(truth[:400], model.held_out_)["euclidean"]
    assert held_out == pytest.approx(errors[0], rel=0.5)


# --- no leak ----------------------------------------------------------------------------------


def with_telltale():
    """Return rows each of which a feature gives away, and degrees that only it has."""
    rng = np.random.default_rng(0)
    n = 80
    X = np.column_stack([np.eye(n), rng.normal(size=(n, 1))])
    return X, hide(rng.dirichlet(np.ones(3), n), 0.3, random_state=0)


@members
def test_a_fold_does_not_see_the_degrees_it_is_judged_by(member):
    X, y = with_telltale()
    first = clone(member).fit(X, y)
    folds = KFold(5, shuffle=True, random_state=seed_from(0)).split(X)
    train, test = next(iter(folds))
    y[test] = np.random.default_rng(1).permutation(y[test])[:, ::-1]
    second = clone(member).fit(X, y)
    np.testing.assert_array_equal(second.held_out_[test], first.held_out_[test])
    assert np.abs(second.held_out_[train] - first.held_out_[train]).max() > 1e-4


@members
def test_noise_is_not_predicted(member):
    """A feature that names the row must not help on held-out rows if degrees are noise."""
    X, y = with_telltale()
    model = clone(member).set_params(n_landmarks=40).fit(X, y)
    mean = np.nanmean(y, axis=0)
    ours, constant = (np.nanmean((p - y) ** 2) for p in (model.held_out_, mean))
    assert ours > 0.9 * constant


# --- reproducible, and any input -----------------------------------------------------------------


@members
def test_reproducible_for_any_number_of_threads(member):
    X, y, _ = curved(100)
    models = [clone(member).set_params(n_jobs=n).fit(X, y) for n in (None, 1, 2)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict(X), models[0].predict(X))
        np.testing.assert_array_equal(model.held_out_, models[0].held_out_)
    other = clone(member).set_params(random_state=1).fit(X, y)
    assert np.abs(other.predict(X) - models[0].predict(X)).max() > 0


@members
def test_units_of_features_do_not_matter(member):
    X, y, _ = curved(100)
    changed = np.column_stack([np.ones(100), X * [1e-3, 1, 1e4] + 5, np.zeros(100)])
    first, second = clone(member).fit(X, y), clone(member).fit(changed, y)
    if not isinstance(member, ForestLDL):  # trees draw features by their number
        np.testing.assert_allclose(second.predict(changed), first.predict(X), atol=1e-5)
    assert second.predict(changed).shape == (100, 4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_linear_softmax_learns_from_all_of_many_columns(monkeypatch, form):
    """Two of them matter, which are no components; some rows, with weights, are as many."""
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(300, 30)) < 0.5, rng.normal(size=(300, 30)), 0)
    truth = softmax(np.column_stack([2 * X[:, 3], 2 * X[:, 7], np.zeros(300)]))
    X, y = form(X), hide(truth, 0.5, random_state=0)
    monkeypatch.setattr(_kernel_features, "WIDE", 29)
    monkeypatch.setattr(_kernel_features, "REDUCED", 3)
    model = KernelSoftmaxLDL(kernel="linear", random_state=0).fit(X[:250], y[:250])
    assert evaluate(truth[250:], model.predict(X[250:]))["kl_divergence"] < 0.02
    weights = np.repeat([1.0, 0.0], [250, 50])
    again = clone(model).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-5)


@members
@pytest.mark.parametrize("width", [20, 300])
def test_sparse_and_wide_features(member, width):
    rng = np.random.default_rng(0)
    X = sparse.random_array((150, width), density=0.1, format="csr", rng=rng)
    y = hide(softmax(np.column_stack([X[:, :3].toarray().sum(axis=1) * 3, np.zeros(150)])), 0.2,
             random_state=0)  # fmt: skip
    P = clone(member).fit(X, y).predict(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    if width == 20:
        np.testing.assert_array_equal(P, clone(member).fit(X.toarray(), y).predict(X.toarray()))


def test_dense_features_by_the_thousand_are_reduced():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(200, 3))
    X = hidden @ rng.normal(size=(3, 1500)) + rng.normal(size=(200, 1500))
    y = softmax(hidden)
    model = KernelRidgeLDL(random_state=0).fit(X[:150], hide(y[:150], 0.3, random_state=0))
    assert model.columns_.reduced(X).shape == (200, 100)
    assert evaluate(y[150:], model.predict(X[150:]))["cosine"] > 0.95


@members
def test_frames(member):
    X, y, _ = curved(60)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(y, columns=list("wxyz"))
    model = clone(member).fit(*frames)
    assert list(model.label_names_) == list("wxyz")
    assert list(model.feature_names_in_) == list("abc")
    assert list(model.complete(*frames).columns) == list("wxyz")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelRidgeLDL(kernel="cosine"), "kernel must be one of 'auto', 'rbf', 'laplacian', "),
        (KernelRidgeLDL(scale=0), "scale must be a number greater than 0"),
        (KernelRidgeLDL(alpha=-1), "alpha must be a number greater than 0"),
        (KernelRidgeLDL(max_iter=0), "max_iter must be an integer at least 1"),
        (KernelSoftmaxLDL(alpha="best"), "alpha must be a number greater than 0"),
        (KernelSoftmaxLDL(n_landmarks=0), "n_landmarks must be an integer at least 1"),
        (ForestLDL(n_trees=0), "n_trees must be an integer at least 1"),
        (ForestLDL(n_jobs="all"), "n_jobs must be an integer"),
    ],
    ids=repr,
)
def test_wrong_parameters(model, message):
    X, y = make_distributions(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


# --- features and what is chosen -----------------------------------------------------------------


def test_columns():
    X = np.array([[1.0, 5, 0], [3, 5, 10], [5, 5, 2]])
    columns = Columns().fit(X, 0)
    scaled = columns.scaled(columns.dense(X))
    assert scaled.shape == (3, 2)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    constant = Columns().fit(X[:, 1:2], 0)
    np.testing.assert_array_equal(constant.scaled(constant.dense(X[:, 1:2])), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("kernel", "exact"), [("rbf", rbf_kernel), ("laplacian", laplacian_kernel)]
)
def test_all_rows_as_landmarks_give_the_kernel_itself(kernel, exact):
    Z = np.random.default_rng(0).normal(size=(40, 3))
    features = kernel_features(Z, kernel, 2.0, 400, 0).transform(Z)
    distances = np.abs(Z[:, None] - Z)
    distances = (distances**2 if kernel == "rbf" else distances).sum(axis=2)
    median = np.median(distances[np.triu_indices(40, 1)])
    np.testing.assert_allclose(features @ features.T, exact(Z, gamma=2 / median), atol=1e-6)


def test_features_of_the_linear_kernel_are_the_columns():
    Z = np.random.default_rng(0).normal(size=(10, 4))
    features = kernel_features(Z, "linear", 1.0, 3, 0).transform(Z)
    np.testing.assert_allclose(features @ features.T, Z @ Z.T / 4)


def test_quantiles_are_normal_and_keep_the_order():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(3 * rng.normal(size=500)), rng.integers(0, 2, 500), np.ones(500)])
    columns = Columns().fit(X, 0).with_quantiles(X)
    found = columns.scaled(X)
    assert found.shape == (500, 2)  # without the constant one
    assert kstest(found[:, 0], "norm").statistic < 0.03
    np.testing.assert_array_equal(np.argsort(found[:, 0]), np.argsort(X[:, 0]))
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(found.std(axis=0), 1)
    assert len(np.unique(found[:, 1])) == 2


def test_the_kernel_that_fits_is_chosen():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 4))
    smooth = softmax(np.column_stack([Z[:, 0], np.zeros(400)]))
    rough = softmax(np.column_stack([np.abs(Z).sum(axis=1), np.full(400, 3.0)]))
    with one_blas_thread():  # as in a fit
        assert choose_kernel(Z, smooth, 0).kernel == "rbf"
        assert choose_kernel(Z, smooth, 0).scale == 0.25
        assert choose_kernel(Z, rough, 0, kernel="rbf").kernel == "rbf"
        assert choose_kernel(Z, rough, 0, scale=1.0).kernel == "laplacian"
        given = choose_kernel(Z, rough, 0, kernel="rbf", scale=3.0)
        assert (given.kernel, given.scale, given.errors) == ("rbf", 3.0, {})


def test_a_sample_of_rows_keeps_rare_labels():
    y = np.full((5000, 3), nan)
    y[:, 0] = 0.5
    y[4000:4050, 1] = 0.1
    y[::2, 2] = 0.2
    rows = sample_rows(y, 1000, 0)
    seen = (~np.isnan(y[rows])).sum(axis=0)
    assert 1000 <= len(rows) <= 1050
    assert seen[1] == 50
    assert seen[2] >= 100
    np.testing.assert_array_equal(rows, sample_rows(y, 1000, 0))
    assert len(sample_rows(y, 5000, 0)) == 5000


def test_large_data_is_sampled_where_it_may_be(monkeypatch):
    X, y, truth = curved(600)
    monkeypatch.setattr(_kernel_features, "ROWS_FOR_KERNEL", 200)
    monkeypatch.setattr(_kernel_features, "ROWS_FOR_ALPHA", 300)
    monkeypatch.setattr("inldl.methods.kernel_features.FOLD_ROWS", 300)
    monkeypatch.setattr("inldl.methods.members.ROWS_PER_TREE", 100)
    for kind in (KernelRidgeLDL, KernelSoftmaxLDL, ForestLDL):
        model = kind(random_state=0).fit(X, y)
        assert evaluate(truth, model.held_out_)["cosine"] > 0.9
    assert model.forests_[0].max_samples == 100


def test_the_order_of_labels_helps_where_there_is_one():
    """Distributions around an age: neighbouring labels are alike."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 10)), np.arange(40)
    age = 20 + 8 * np.tanh(X[:, 0]) + 4 * X[:, 1] * X[:, 2]
    y = np.exp(-((labels - age[:, None]) ** 2) / 18)
    y /= y.sum(axis=1, keepdims=True)
    train, test = slice(200), slice(200, None)
    holes, moved, found = hide(y[train], 0.5, random_state=0), {}, {}
    for smoothness in (0.0, "auto"):
        model = KernelSoftmaxLDL(kernel="rbf", scale=1.0, smoothness=smoothness, random_state=0)
        predicted = model.fit(X[train], holes).predict(X[test])
        moved[smoothness] = np.abs(np.cumsum(predicted - y[test], axis=1)).sum(axis=1).mean()
        found[smoothness] = model.smoothness_
    assert found[0.0] == 0 < found["auto"]
    assert moved["auto"] < 0.8 * moved[0.0]
