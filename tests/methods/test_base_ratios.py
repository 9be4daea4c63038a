"""Estimators that learn from ratios, and complete rows of which only ratios are known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import AutoInLDL, WInLDL, complete, hide
from inldl.datasets import make_distributions
from inldl.files import load_model, save_model
from inldl.methods import ConstantLDL
from inldl.metrics import evaluate

nan = np.nan
X, TRUTH = make_distributions(200, random_state=0)
RATIOS = hide(TRUTH, 0.4, renormalise=True, random_state=0)
QUICK = AutoInLDL(members=("kernel-ridge", "kernel-softmax"), known="ratios", random_state=0)
ALL = [WInLDL(known="ratios"), QUICK, ConstantLDL(known="ratios")]
BY_NAME = [type(model).__name__ for model in ALL]


@pytest.fixture(scope="module", params=ALL, ids=BY_NAME)
def model(request):
    return clone(request.param).fit(X, RATIOS)


def assert_ratios_are_kept(given, completed):
    np.testing.assert_allclose(completed.sum(axis=1), 1, atol=1e-9)
    assert completed.min() >= 0
    known = np.where(np.isnan(given), 0, completed)
    mass = known.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(known, np.nan_to_num(given) * mass, atol=1e-9)


def test_completing_keeps_ratios_but_not_numbers(model):
    completed = model.complete(X, RATIOS)
    assert_ratios_are_kept(RATIOS, completed)
    whole = ~np.isnan(RATIOS).any(axis=1)
    np.testing.assert_array_equal(completed[whole], RATIOS[whole])
    partial = ~whole & (np.isnan(RATIOS).sum(axis=1) == 1)
    assert (np.abs(completed - RATIOS)[partial & ~np.isnan(RATIOS[:, 0]), 0] > 1e-3).any()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), rate=st.floats(0.1, 0.9))
def test_any_rows_of_ratios_can_be_completed(seed, rate):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(3, 0.3), 20).round(2)  # with zeros, also alone
    truth /= truth.sum(axis=1, keepdims=True)
    given = hide(truth, rate, renormalise=True, random_state=seed)
    assert_ratios_are_kept(given, FITTED.complete(X[:20], given))


FITTED = WInLDL(known="ratios").fit(X, RATIOS)


def test_learning_beats_taking_ratios_for_degrees(model):
    plain = clone(model).set_params(known="degrees").fit(X, RATIOS)
    known = np.where(np.isnan(RATIOS).all(axis=1, keepdims=True), nan, np.nan_to_num(RATIOS))
    zeros = clone(model).set_params(known="degrees").fit(X, known)
    found, *naive = (evaluate(TRUTH, m.predict(X))["kl_divergence"] for m in (model, plain, zeros))
    factor = 1 if isinstance(model, ConstantLDL) else 0.7
    assert found < factor * min(naive)


def test_complete_rows_are_degrees():
    models = [WInLDL(known=known, tol=0).fit(X, TRUTH) for known in ("ratios", "degrees")]
    ours, theirs = (np.column_stack([m.coef_, m.intercept_]) for m in models)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_one_known_label_leaves_the_prediction(model):
    given = np.tile([1.0, nan, nan], (5, 1))
    if isinstance(model, AutoInLDL):  # fills given the degrees, which here are the predicted ones
        assert_ratios_are_kept(given, model.complete(X[:5] + 1e-3, given))
    else:
        np.testing.assert_allclose(model.complete(X[:5], given), model.predict(X[:5]), atol=1e-9)


def test_rows_that_tell_nothing_change_nothing():
    bare = np.vstack([RATIOS, [[1.0, nan, nan]] * 40])
    blank = np.vstack([RATIOS, [[nan] * 3] * 40])
    more = np.vstack([X, X[:40]])
    ours, theirs = (WInLDL(known="ratios").fit(more, y) for y in (bare, blank))
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


def test_contradictions_name_the_row(model):
    wrong = RATIOS.copy()
    wrong[7] = [0.2, 0.3, nan]
    for call in (clone(model).fit, model.complete):
        with pytest.raises(ValueError, match=r"row 7 .* sum to 0\.5, but ratios sum to 1"):
            call(X, wrong)


def test_rows_that_look_like_ratios_are_pointed_out():
    plain = WInLDL().fit(X, TRUTH)
    with pytest.warns(UserWarning, match="fit with known='ratios'"):
        completed = plain.complete(X, RATIOS)
    some = np.isnan(RATIOS) & ~np.isnan(RATIOS).all(axis=1, keepdims=True)
    assert completed[some].max() < 1e-12


def test_no_bounds_no_intervals_no_draws():
    model = WInLDL(known="ratios", cross_fit=2).fit(X, RATIOS)
    lower = np.zeros(RATIOS.shape)
    for call in (model.fit, model.complete):
        with pytest.raises(ValueError, match="Bounds and sums are those of degrees"):
            call(X, RATIOS, lower=lower)
    asks = (
        lambda: model.complete_interval(X, RATIOS),
        lambda: model.draw(X, RATIOS, 2),
        lambda: model.predict_interval(X),
    )
    for ask in asks:
        with pytest.raises(NotFittedError, match="no intervals and no draws"):
            ask()


def test_held_out_predictions_help_to_complete():
    model = WInLDL(known="ratios", cross_fit=5).fit(X, RATIOS)
    completed = model.complete(X, RATIOS)
    assert_ratios_are_kept(RATIOS, completed)
    assert np.abs(completed - TRUTH).mean() < 0.03
    assert not model.gives_intervals


def test_pipelines_and_searches():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), WInLDL(known="ratios")), {"winldl__mu": [1, 2]}, cv=2
    ).fit(X, RATIOS)
    assert_ratios_are_kept(RATIOS, complete(search, X, RATIOS))


def test_frames_stay_frames(model):
    y = pd.DataFrame(RATIOS, columns=["a", "b", "c"])
    completed = clone(model).fit(X, y).complete(X, y)
    assert list(completed.columns) == ["a", "b", "c"]
    assert_ratios_are_kept(RATIOS, completed.to_numpy())


def test_model_files(model, tmp_path):
    save_model(model, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    assert again.known == "ratios"
    rows = X + 1e-3  # not those of the fit, whose predictions files do not keep
    np.testing.assert_array_equal(again.complete(rows, RATIOS), model.complete(rows, RATIOS))


def test_threads_and_single_precision():
    many = np.tile(X, (30, 1)), np.tile(RATIOS, (30, 1))
    one, two = (WInLDL(known="ratios", n_jobs=n).fit(*many) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    single = WInLDL(known="ratios").fit(*(a.astype(np.float32) for a in many))
    np.testing.assert_allclose(single.coef_, one.coef_, atol=1e-3)


def test_weights_count_as_copies():
    weights = np.arange(len(X)) % 3
    weighted = WInLDL(known="ratios").fit(X, RATIOS, sample_weight=weights)
    copied = WInLDL(known="ratios").fit(*(np.repeat(a, weights, axis=0) for a in (X, RATIOS)))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-8)


@pytest.mark.parametrize("options", [{"ridge": "auto"}, {"ridge": "auto", "kernel": "rbf"}])
def test_chosen_ridge_and_kernel(options):
    model = WInLDL(known="ratios", random_state=0, **options).fit(X, RATIOS)
    assert evaluate(TRUTH, model.predict(X))["kl_divergence"] < 0.01


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    chunks = da.from_array(X, chunks=(64, -1)), da.from_array(RATIOS, chunks=(64, -1))
    model = WInLDL(known="ratios").fit(*chunks)
    np.testing.assert_allclose(model.coef_, FITTED.coef_, atol=1e-10)
    lazy = model.complete(*chunks).compute()
    np.testing.assert_allclose(lazy, FITTED.complete(X, RATIOS), atol=1e-10)


def test_many_rows_use_a_sample(monkeypatch):
    monkeypatch.setattr("inldl.methods.auto_fitting.SAMPLE_ROWS", 100)
    model = clone(QUICK).fit(X, RATIOS)
    assert "ratios can be scaled only there" in str(model.report_)
    assert_ratios_are_kept(RATIOS, model.complete(X, RATIOS))
