"""WInLDL on the features of a kernel: curves, every engine, files, and what is refused."""

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

from inldl import WInLDL, hide
from inldl.engines import base, local
from inldl.files import export_onnx, load_model, save_model
from inldl.importance import contributions, importance_by_label
from inldl.methods import winldl

RNG = np.random.default_rng(0)
N, K = 150, 2
X = RNG.uniform(-2, 2, size=(N, K))
BUMPS = np.column_stack([np.exp(-(X**2).sum(axis=1)), np.cos(2 * X[:, 0]) / 3 + 0.4, np.ones(N)])
TRUTH = BUMPS / BUMPS.sum(axis=1, keepdims=True)
Y = hide(TRUTH, 0.5, random_state=0)
OPTIONS = {"ridge": "auto", "kernel": "rbf", "n_landmarks": 30, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return WInLDL(**OPTIONS).fit(X, Y)


@pytest.fixture
def several_blocks(monkeypatch):
    monkeypatch.setattr(base, "MOST_BLOCK_ROWS", 64)
    monkeypatch.setattr(local, "LARGE_MAP", 0)
    monkeypatch.setattr(local, "BYTES_AT_ONCE", 500)


def mapped(folder, a):
    a.tofile(folder / "X")
    return np.memmap(folder / "X", a.dtype, "r", shape=a.shape)


def test_it_follows_curves_that_a_linear_map_cannot(model):
    new = np.random.default_rng(1).uniform(-2, 2, size=(200, K))
    bumps = [np.exp(-(new**2).sum(axis=1)), np.cos(2 * new[:, 0]) / 3 + 0.4, np.ones(200)]
    truth = np.column_stack(bumps) / np.sum(bumps, axis=0)[:, None]
    linear = WInLDL(ridge="auto").fit(X, Y)
    curved, straight = (np.abs(each.predict(new) - truth).mean() for each in (model, linear))
    assert curved < straight / 3
    assert model.coef_.shape == (3, 30)
    assert (model.map_.kernel_, linear.map_) == ("rbf", None)


def test_units_of_the_features_do_not_matter(model):
    other = WInLDL(**OPTIONS).fit(X * [1000, 0.01] + 7, Y)
    np.testing.assert_allclose(other.predict(X * [1000, 0.01] + 7), model.predict(X), atol=1e-6)


@pytest.mark.parametrize("keep", [True, False])
def test_same_bits_on_disk_and_with_threads(several_blocks, tmp_path, monkeypatch, keep):
    """Whether features of all rows are kept or made in each step does not matter either."""
    options = OPTIONS | {"max_iter": 5}
    expected = WInLDL(**options).fit(X, Y)
    monkeypatch.setattr(winldl, "KEPT_BYTES", 1 << 30 if keep else 0)
    on_disk = mapped(tmp_path, X)
    assert local.is_on_disk(on_disk)
    for given, n_jobs in ((X, 1), (X, 3), (on_disk, 2)):
        model = WInLDL(**options, n_jobs=n_jobs).fit(given, Y)
        assert model.ridge_ == expected.ridge_
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.predict(given), expected.predict(X))


def test_dask_arrays_to_rounding_and_lazily(several_blocks, model):
    lazy = da.from_array(X, chunks=(40, -1)), da.from_array(Y, chunks=(40, -1))
    found = WInLDL(**OPTIONS).fit(*lazy)
    np.testing.assert_allclose(found.predict(X), model.predict(X), atol=1e-8)
    predicted, completed = model.predict(lazy[0]), model.complete(*lazy)
    assert isinstance(predicted, da.Array)
    assert isinstance(completed, da.Array)
    np.testing.assert_allclose(predicted.compute(), model.predict(X), atol=1e-12)
    np.testing.assert_allclose(completed.compute(), model.complete(X, Y), atol=1e-12)


def test_sparse_and_single_precision(model):
    found = WInLDL(**OPTIONS).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(found.predict(sparse.csr_array(X)), model.predict(X), atol=1e-8)
    single = WInLDL(**OPTIONS).fit(X.astype(np.float32), Y)
    assert single.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict(X), model.predict(X), atol=0.02)


def test_a_kernel_is_chosen():
    assert WInLDL(**OPTIONS | {"kernel": "auto"}).fit(X, Y).map_.kernel_ in ("rbf", "laplacian")


def test_weights_count_and_rows_without_one_do_not():
    weights = RNG.integers(0, 2, N).astype(float)
    kept = weights > 0
    found, expected = WInLDL(**OPTIONS).fit(X, Y, weights), WInLDL(**OPTIONS).fit(X[kept], Y[kept])
    np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-6)
    heavy = WInLDL(**OPTIONS).fit(X, Y, 1 + 9 * kept)
    assert np.abs(heavy.predict(X) - found.predict(X)).max() > 1e-4


def test_with_bounds_and_cross_fitted_intervals():
    upper = np.where(np.isnan(Y), np.minimum(TRUTH + 0.05, 1), np.nan)
    model = WInLDL(**OPTIONS, cross_fit=2).fit(X, Y, upper=upper)
    lower, higher = model.predict_interval(X)
    assert ((lower <= TRUTH) & (higher >= TRUTH)).mean() > 0.8


def test_model_files_hold_the_map(model, tmp_path):
    save_model(model, tmp_path / "m.inldl")
    loaded = load_model(tmp_path / "m.inldl")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.map_.scale_ == model.map_.scale_


def test_what_needs_linear_features_says_so(model, tmp_path):
    with pytest.raises(ValueError, match="a kernel is not linear in its features; fit with"):
        export_onnx(model, tmp_path / "m.onnx")
    as_many = WInLDL(**OPTIONS | {"n_landmarks": K}).fit(X, Y)  # coefficients as features
    with pytest.raises(TypeError, match="WInLDL is not linear in its features"):
        contributions(as_many, X)
    assert importance_by_label(model, X[:50], Y[:50], n_repeats=1)["mean"].shape == (K, 3)


def test_a_fit_without_a_kernel_forgets_the_map():
    model = WInLDL(**OPTIONS).fit(X, Y)
    model.set_params(kernel=None).fit(X, Y)
    assert model.map_ is None
    np.testing.assert_array_equal(model.predict(X), WInLDL(ridge="auto").fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "poly"}, "kernel must be one of 'rbf', 'laplacian', 'auto', got 'poly'"),
        ({"kernel": 3}, "kernel must be one of"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer at least 1, got 0"),
        ({"warm_start": True}, "a kernel draws new ones in each fit; set warm_start=False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        WInLDL(**OPTIONS | parameters).fit(X, Y)


@pytest.mark.parametrize("where", ["memory", "chunks"])
def test_features_that_are_too_large_are_refused(where, model):
    large = np.where(np.arange(N)[:, None] == 5, 1e308, X)
    given = large if where == "memory" else da.from_array(large, chunks=(60, -1))
    with pytest.raises(ValueError, match="squares of the features overflow; scale X"):
        WInLDL(**OPTIONS).fit(given, Y)
    far = np.where(np.arange(N)[:, None] == 5, 1e308 * np.sign(X), X)
    np.testing.assert_allclose(model.predict(far).sum(axis=1), 1)  # like no landmark
    with pytest.raises(ValueError, match="no number for row 5"):
        WInLDL(**OPTIONS).fit(X * 1e-3, Y).predict(far)


@pytest.mark.slow
def test_workers_in_other_processes_give_the_bits_of_this_one(several_blocks):
    lazy = da.from_array(X, chunks=(40, -1)), da.from_array(Y, chunks=(40, -1))
    here = WInLDL(**OPTIONS).fit(*lazy)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        there = WInLDL(**OPTIONS).fit(*lazy)
        predicted = there.predict(lazy[0]).compute()
    assert there.ridge_ == here.ridge_
    np.testing.assert_array_equal(there.coef_, here.coef_)
    np.testing.assert_allclose(predicted, here.predict(X), atol=1e-12)
