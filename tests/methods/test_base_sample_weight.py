"""Weights of rows in every method: 2 is the row twice, 0 is no row."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import AutoInLDL, WInLDL, hide
from inldl.datasets import make_distributions
from inldl.literature import InLDLADMM, InLDLProx
from inldl.methods import ConstantLDL, KernelRidgeLDL, RegressorLDL
from inldl.methods.registry import make_method
from inldl.metrics import scorer
from plain_methods import PLAIN

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning"),
]
N = 60
RNG = np.random.default_rng(0)
X, TRUTH = make_distributions(N, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)
W = RNG.integers(0, 4, N).astype(float)
COPIES = np.repeat(np.arange(N), W.astype(int))
KEPT = np.flatnonzero(W)
SMALL = {
    "auto": "auto(members=('kernel-ridge', 'forest'))",
    "forest": "forest(n_trees=2, kernel='rbf', scale=1.0)",
    "kernel-softmax": "kernel-softmax(kernel='rbf', scale=1.0)",
    "extra-trees": "extra-trees(n_estimators=3)",
    "edl-lrl-published": "edl-lrl-published(max_iter=5)",
    "ldm-published": "ldm-published(max_iter=5)",
}
# Which rows are drawn, held out or weighed at random depends on how many there are.
BY_CHANCE = ("auto", "kernel-ridge", "kernel-softmax", "forest", "inldl-rand")
BY_CHANCE += ("extra-trees", "tuned")
LINEAR = [
    WInLDL(max_iter=8, tol=0.0),
    InLDLProx(max_iter=4, tol=0.0),
    InLDLADMM(max_iter=4, tol=0.0),
]


def made(name):
    return make_method(SMALL.get(name, name), seed=0)


@pytest.mark.parametrize("name", [name for name in PLAIN if name not in (*BY_CHANCE, "boosting")])
def test_a_weight_of_2_is_the_row_twice(name):
    repeated = made(name).fit(X[COPIES], Y[COPIES])
    weighted = made(name).fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)
    assert getattr(weighted, "n_iter_", None) == getattr(repeated, "n_iter_", None)
    if name != "constant-uniform":
        assert np.abs(weighted.predict(X) - made(name).fit(X, Y).predict(X)).max() > 1e-3


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "boosting"])
def test_a_weight_of_0_is_no_row(name):
    strange = np.where(W[:, None] > 0, X, 1e3)
    without = made(name).fit(X[KEPT], Y[KEPT], sample_weight=W[KEPT])
    weighted = made(name).fit(strange, np.where(W[:, None] > 0, Y, 0.9), sample_weight=W)
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-9)
    assert getattr(weighted, "n_iter_", None) == getattr(without, "n_iter_", None)


@pytest.mark.parametrize("name", BY_CHANCE)
def test_equal_weights_change_nothing(name):
    plain, weighted = made(name).fit(X, Y), made(name).fit(X, Y, sample_weight=np.ones(N))
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X), atol=1e-8)


@pytest.mark.parametrize("name", BY_CHANCE)
def test_heavy_rows_are_fitted_more_closely(name):
    heavy = np.where(np.arange(N) % 2, 20.0, 0.05)
    some = np.arange(N) % 2 == 1
    plain, weighted = made(name).fit(X, Y), made(name).fit(X, Y, sample_weight=heavy)

    def error(model):
        return np.nanmean((model.predict(X[some]) - Y[some]) ** 2)

    assert error(weighted) < error(plain)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.where(np.arange(N) == 7, -1, 1), r"sample_weight has -1 in row 7 \(counted from 0\)"),
        (np.where(np.arange(N) == 7, np.nan, 1), "sample_weight has nan in row 7"),
        (np.ones(N - 1), "60 rows and sample_weight has 59; give one weight per sample"),
        (np.zeros(N), "All weights in sample_weight are zero, so no row counts"),
        (np.ones((N, 2)), r"must be 1-D, one weight per sample, but its shape is \(60, 2\)"),
    ],
    ids=["negative", "NaN", "short", "zero", "2-D"],
)
@pytest.mark.parametrize("name", ["winldl", "bfgs-ldl", "kernel-ridge", "ridge", "constant-mean"])
def test_wrong_weights_are_refused(name, weights, words):
    with pytest.raises(ValueError, match=words):
        made(name).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", ["winldl", "bfgs-ldl", "kernel-ridge", "ridge", "constant-mean"])
def test_each_label_is_observed_in_a_row_that_counts(name):
    y = Y.copy()
    y[KEPT, 1] = np.nan
    y[np.flatnonzero(W == 0)[0], 1] = 0.1
    with pytest.raises(ValueError, match="Label column 1 of y has no observed degree"):
        made(name).fit(X, y, sample_weight=W)


@pytest.mark.parametrize("model", LINEAR, ids=repr)
@pytest.mark.parametrize(
    "given",
    [
        sparse.csr_array(np.where(X > 0, X, 0)),
        np.hstack([X, RNG.normal(size=(N, 3 * N))]),  # wide
        sparse.csr_array(np.hstack([X, RNG.normal(size=(N, 3 * N))])),
        X.astype(np.float32),
    ],
    ids=["CSR", "wide", "wide CSR", "float32"],
)
def test_features_of_any_kind_can_have_weights(model, given):
    repeated = clone(model).fit(given[COPIES], Y[COPIES])
    weighted = clone(model).fit(given, Y, sample_weight=W)
    single = given.dtype == np.float32
    np.testing.assert_allclose(
        weighted.predict(given), repeated.predict(given), atol=1e-4 if single else 1e-8
    )


@pytest.fixture
def many():
    """Return more rows than a block has, with weights that are 0 in a whole block."""
    X, y = make_distributions(5000, random_state=1)
    weights = np.random.default_rng(2).choice([0, 0.5, 1, 2.5], 5000)
    weights[:2100] = 0
    return X, hide(y, 0.4, random_state=0), weights


@pytest.fixture
def on_disk(many, tmp_path):
    """Return the features of these rows in a file."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        yield file.create_dataset("X", data=many[0])


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_memory_and_disk_have_the_same_bits(model, many, on_disk):
    X, y, weights = many
    here = clone(model).fit(X, y, sample_weight=weights)
    there = clone(model).set_params(n_jobs=2).fit(on_disk, y, sample_weight=weights)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert there.history_.keys() == here.history_.keys()
    for name, values in here.history_.items():
        np.testing.assert_array_equal(there.history_[name], values)


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_chunks_have_the_same_bits_wherever_they_are(model, many):
    X, y, weights = many
    given = da.from_array(X, chunks=(900, -1)), y
    both = da.from_array(weights, chunks=700), weights
    found = [clone(model).fit(*given, sample_weight=own).coef_ for own in both]
    np.testing.assert_array_equal(found[1], found[0])
    near = clone(model).fit(X, y, sample_weight=weights).coef_
    np.testing.assert_allclose(found[0], near, atol=1e-9)


def test_columns_of_dask_frames_are_weights(many):
    X, y, weights = many
    frame = pd.DataFrame(X, columns=list("abc")).assign(weight=weights)
    lazy = dd.from_pandas(frame, npartitions=3)
    found = WInLDL().fit(lazy[list("abc")], y, sample_weight=lazy["weight"])
    expected = WInLDL().fit(frame[list("abc")], y, sample_weight=frame["weight"])
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_wrong_weights_are_refused_where_they_are_read(value, many, on_disk):
    X, y, weights = many
    weights = np.where(np.arange(len(X)) == 2333, value, weights)
    for given in (on_disk, da.from_array(X, chunks=(900, -1))):
        with pytest.raises(ValueError, match=r"sample_weight has .* in row 2333"):
            WInLDL().fit(given, y, sample_weight=weights)
        with pytest.raises(ValueError, match="All weights in sample_weight are zero"):
            WInLDL().fit(given, y, sample_weight=np.zeros(len(X)))


@pytest.mark.parametrize(
    "model",
    [WInLDL(cross_fit=3), KernelRidgeLDL(kernel="rbf", scale=1.0, random_state=0)],
    ids=repr,
)
def test_every_row_has_a_held_out_prediction(model):
    without = clone(model).fit(X[KEPT], Y[KEPT], sample_weight=W[KEPT])
    weighted = clone(model).fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(weighted.held_out_[KEPT], without.held_out_, atol=1e-9)
    others = np.flatnonzero(W == 0)
    expected = weighted.predict(X[others])
    np.testing.assert_allclose(weighted.held_out_[others], expected, rtol=1e-13)
    np.testing.assert_allclose(weighted.complete(X, Y), without.complete(X, Y), atol=1e-7)
    assert len(weighted.held_out_sample_.keys) == len(without.held_out_sample_.keys)


def test_auto_is_weighted_in_all_that_is_chosen():
    """Rows of two kinds: where y follows from X, and where it does not."""
    rng = np.random.default_rng(0)
    X = np.tile(np.linspace(-2, 2, 40), 2)[:, None]
    X = np.hstack([X, np.repeat([[0.0], [1.0]], 40, axis=0)])
    y = np.column_stack([1 / (1 + np.exp(-3 * X[:, 0])), 1 / (1 + np.exp(3 * X[:, 0]))])
    y[40:] = rng.permutation(y[40:])
    options = {"members": "kernel-ridge", "recalibrate": "kl_divergence", "random_state": 0}
    good, bad = (
        AutoInLDL(**options).fit(X, y, sample_weight=np.where(X[:, 1] == kind, 1.0, 1e-3))
        for kind in (0, 1)
    )
    assert good.report_.error < 0.5 * bad.report_.error
    assert good.weights_["kernel-ridge"] > bad.weights_["kernel-ridge"]
    assert "kl_divergence" in str(good.recalibration_)


def test_the_constant_of_auto_counts_weights():
    weights = np.where(Y[:, 0] > np.nanmedian(Y[:, 0]), 3.0, 1.0)
    copies = np.repeat(np.arange(N), weights.astype(int))
    options = {"members": "kernel-ridge", "random_state": 0}
    weighted = AutoInLDL(**options).fit(X, TRUTH, sample_weight=weights)
    repeated = AutoInLDL(**options).fit(X[copies], TRUTH[copies])
    np.testing.assert_allclose(weighted.constant_, repeated.constant_)
    expected = ConstantLDL().fit(X, TRUTH, sample_weight=weights).distribution_
    np.testing.assert_allclose(weighted.constant_, expected)


def test_a_regressor_without_weights_gets_rows_repeated():
    weighted = RegressorLDL(KNeighborsRegressor(4)).fit(X, Y, sample_weight=W)
    repeated = RegressorLDL(KNeighborsRegressor(4)).fit(X[COPIES], Y[COPIES])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    for odd in (W + 0.5, W * 1000):
        words = r"KNeighborsRegressor\(\) has no sample_weight, and rows cannot be repeated"
        with pytest.raises(ValueError, match=words):
            RegressorLDL(KNeighborsRegressor()).fit(X, Y, sample_weight=odd)


def test_a_regressor_and_its_completer_get_the_weights():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = RegressorLDL(ElasticNet(1e-3), completer=WInLDL())
    weighted = clone(model).fit(frame, Y, sample_weight=W)
    repeated = clone(model).fit(frame.iloc[COPIES], Y[COPIES])
    np.testing.assert_allclose(weighted.predict(frame), repeated.predict(frame), atol=1e-5)
    with pytest.raises(ValueError, match="cannot learn label 0"):
        RegressorLDL(ExtraTreesRegressor(0)).fit(X, Y, sample_weight=W)


def test_score_counts_weights():
    model = WInLDL().fit(X, Y)
    assert model.score(X, Y, sample_weight=W) == pytest.approx(model.score(X[COPIES], Y[COPIES]))
    with pytest.raises(ValueError, match="60 rows and 59 weights"):
        model.score(X, Y, sample_weight=W[1:])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_are_routed_through_pipelines_and_searches(routing):
    """A heavy row that is far away changes what is chosen only if weights arrive everywhere."""
    model = WInLDL().set_fit_request(sample_weight=True)
    scoring = scorer("kl_divergence").set_score_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
    pipeline.fit(X, Y, sample_weight=W)
    scaled = StandardScaler().fit(X, sample_weight=W)
    by_hand = WInLDL().fit(scaled.transform(X), Y, sample_weight=W)
    np.testing.assert_array_equal(pipeline[-1].coef_, by_hand.coef_)
    found = cross_validate(
        pipeline, X, Y, cv=3, scoring=scoring, params={"sample_weight": W}, return_estimator=True
    )
    halves = np.array_split(np.arange(N), 3)
    for score, test, fitted in zip(found["test_score"], halves, found["estimator"], strict=True):
        assert score == scorer("kl_divergence")(fitted, X[test], Y[test], sample_weight=W[test])
        train = np.setdiff1d(np.arange(N), test)
        expected = clone(pipeline).fit(X[train], Y[train], sample_weight=W[train])
        np.testing.assert_array_equal(fitted[-1].coef_, expected[-1].coef_)
    search = GridSearchCV(pipeline, {"winldl__ridge": [1e-5, 1e2]}, scoring=scoring, cv=3)
    search.fit(X, Y, sample_weight=W)
    best = search.best_estimator_[-1]
    again = WInLDL(ridge=best.ridge).fit(scaled.transform(X), Y, sample_weight=W)
    np.testing.assert_array_equal(best.coef_, again.coef_)


@pytest.mark.parametrize("name", [name for name in PLAIN if name.count("-") < 2])
def test_every_method_can_be_asked_for_weights(name):
    model = made(name)
    with sklearn.config_context(enable_metadata_routing=True):
        request = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    assert request.get_metadata_routing().fit.requests["sample_weight"] is True


def test_weights_without_routing_go_to_scorers(routing):
    model = WInLDL().fit(X, Y)
    measure = scorer("cosine")
    whole, half = measure(model, X, Y), measure(model, X, Y, sample_weight=W)
    assert half == pytest.approx(measure(model, X[COPIES], Y[COPIES]))
    assert half != whole
