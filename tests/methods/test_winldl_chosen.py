"""WInLDL with a ridge that is chosen: on every engine, with weights, wide X, warm starts."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from inldl import WInLDL, hide
from inldl.methods.registry import make_method
from inldl_paper.experiments import grid

RNG = np.random.default_rng(0)
N, K, C = 300, 12, 4
X = RNG.normal(size=(N, K))
SCORES = X @ RNG.normal(size=(K, C)) / K + RNG.normal(size=(N, C))
TRUTH = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
Y = hide(TRUTH, 0.5, random_state=0)
WEIGHTS = RNG.integers(0, 3, N).astype(float)


def test_noise_is_smoothed_more_than_in_the_paper():
    new = RNG.normal(size=(500, K))
    scores = new @ np.random.default_rng(0).normal(size=(K, C))  # other coefficients: only noise
    truth = np.exp(scores / K) / np.exp(scores / K).sum(axis=1, keepdims=True)
    plain, chosen = WInLDL().fit(X[:40], Y[:40]), WInLDL(ridge="auto").fit(X[:40], Y[:40])
    assert plain.ridge_ == 1e-5
    assert chosen.ridge_ > 1
    assert chosen.score(new, truth) > plain.score(new, truth) + 0.01


def test_the_chosen_ridge_is_that_of_the_whole_fit():
    """With a bias that hardly costs anything, a fit with the ridge it found is the same."""
    limit = {"max_iter": 500, "tol": 0.0}  # they start at different points
    model = WInLDL(ridge="auto", **limit).fit(X, Y)
    wide = np.column_stack([X, np.full(N, 1e4)])  # a bias in large units is not penalised
    given = WInLDL(ridge=model.ridge_, fit_intercept=False, **limit).fit(wide, Y)
    np.testing.assert_allclose(model.coef_, given.coef_[:, :-1], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, 1e4 * given.coef_[:, -1], atol=1e-6)


def test_units_and_origin_of_the_features_do_not_matter():
    model = WInLDL(ridge="auto").fit(X, Y)
    other = WInLDL(ridge="auto").fit(100 * X + 7, Y)
    np.testing.assert_allclose(other.predict(100 * X + 7), model.predict(X), atol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_same_bits_on_disk_and_with_threads(tmp_path, weights):
    h5py, rows = pytest.importorskip("h5py"), np.resize(np.arange(N), 5000)  # of several blocks
    many, y, weights = X[rows], Y[rows], None if weights is None else weights[rows]
    expected = WInLDL(ridge="auto").fit(many, y, weights)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        on_disk = file.create_dataset("X", data=many)
        for given, n_jobs in ((many, 3), (on_disk, 1), (on_disk, 3)):
            model = WInLDL(ridge="auto", n_jobs=n_jobs).fit(given, y, weights)
            assert model.ridge_ == expected.ridge_
            np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_dask_arrays_to_rounding():
    expected = WInLDL(ridge="auto").fit(X, Y)
    lazy = da.from_array(X, chunks=(70, -1)), da.from_array(Y, chunks=(70, -1))
    model = WInLDL(ridge="auto").fit(*lazy)
    assert model.ridge_ == pytest.approx(expected.ridge_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)


def test_rows_without_weight_are_no_rows():
    kept = WEIGHTS > 0
    model = WInLDL(ridge="auto").fit(X, Y, np.where(kept, 1.0, 0.0))
    expected = WInLDL(ridge="auto").fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS[:20] + 1], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_more_features_than_rows(kind, weights):
    """Rows in memory are rotated into few columns, chunks are not: it does not matter."""
    wide, y = RNG.normal(size=(20, 60)) + 3, Y[:20]
    model = WInLDL(ridge="auto").fit(kind(wide), y, weights)
    lazy = None if weights is None else da.from_array(weights, chunks=5)
    other = WInLDL(ridge="auto").fit(da.from_array(wide, chunks=(5, -1)), y, lazy)
    assert model.ridge_ == pytest.approx(other.ridge_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-7)


def test_a_warm_start_of_wide_features_goes_on():
    wide, y = RNG.normal(size=(20, 60)), Y[:20]
    model = WInLDL(ridge="auto", max_iter=500, tol=1e-6, warm_start=True).fit(wide, y)
    before = model.predict(wide)
    assert model.fit(wide, y).n_iter_ < 500
    np.testing.assert_allclose(model.predict(wide), before, atol=1e-3)


def test_with_bounds():
    upper = np.where(np.isnan(Y), np.minimum(TRUTH + 0.05, 1), np.nan)
    model = WInLDL(ridge="auto").fit(X, Y, upper=upper)
    assert model.ridge_ == pytest.approx(WInLDL(ridge="auto").fit(X, Y).ridge_)
    assert np.abs(model.predict(X) - WInLDL(ridge="auto").fit(X, Y).predict(X)).max() > 1e-4


@pytest.mark.parametrize("value", ["best", -1, None, True])
def test_other_words_are_refused(value):
    with pytest.raises(ValueError, match="ridge must be a number at least 0 or 'auto', got"):
        WInLDL(ridge=value).fit(X, Y)


@pytest.mark.parametrize("text", ["winldl(ridge=auto)", "winldl(ridge='auto')"])
def test_a_spec_names_it(text):
    assert make_method(text).ridge == "auto"
    [cell] = grid(["random"], [text], rates=[0.5], splits=1)
    assert cell.method == "winldl(ridge='auto')"
