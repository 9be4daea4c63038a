"""Intervals: what they cover, what they rest on, and what they say when they cannot."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from inldl import TableModel, WInLDL, hide
from inldl.datasets import load, make_distributions
from inldl.methods import ConstantLDL, DistributionEstimator
from inldl.methods.intervals import IntervalMixin
from inldl.metrics import log_score
from inldl.uncertainty.heldout import predict_held_out
from inldl_paper.experiments import make_fold

LEVELS = (0.5, 0.8, 0.9, 0.95)


def noisy_rows(n, rng, k=30):
    """Draw rows whose degrees are a linear function of the features plus skewed noise."""
    X = rng.standard_normal((n, k))
    noise = rng.gamma(2.0, 1.0, (n, 3))
    y = 4 + X[:, :3] + noise
    y = np.maximum(y, 0)
    return X, y / y.sum(axis=1, keepdims=True)


def inside(y, bounds):
    lower, upper = bounds
    return (y >= lower - 1e-12) & (y <= upper + 1e-12)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X, y = noisy_rows(300, rng, k=5)
    y = hide(y, 0.4, random_state=rng)
    return WInLDL(cross_fit=5).fit(X, y), X, y


# --- coverage --------------------------------------------------------------------------------


def repeated_coverage(held_out_of, repeats, n=400, n_test=1000):
    """Return the coverage of unseen rows, levels x labels, and its binomial deviation.

    A calibration on m degrees makes the coverage itself vary as much as m rows would.
    """
    hits = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        X, y = noisy_rows(n + n_test, rng)
        given = hide(y[:n], 0.5, random_state=rng)
        model = WInLDL().fit(X[:n], given)
        model.held_out_ = held_out_of(model, X[:n], given)
        model._keep_errors(X[:n], given)
        bounds = [model.predict_interval(X[n:], level) for level in LEVELS]
        hits.append([inside(y[n:], b).mean(axis=0) for b in bounds])
    level = np.array(LEVELS)[:, None]
    deviation = np.sqrt(level * (1 - level) * (1 / (n / 2) + 1 / n_test) / repeats)
    return np.mean(hits, axis=0) - level, deviation


@pytest.mark.parametrize("repeats", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_unseen_rows_are_covered_as_often_as_asked(repeats):
    error, deviation = repeated_coverage(
        lambda model, X, y: predict_held_out(model, X, y, 5), repeats
    )
    assert np.all(np.abs(error) < 3.5 * deviation)


def test_predictions_of_rows_that_were_seen_would_not_do():
    error, deviation = repeated_coverage(lambda model, X, y: model.predict(X), repeats=20)
    assert np.all(error < -3.5 * deviation)


class Echo(IntervalMixin, DistributionEstimator):
    """Predicts its features, held out or not."""

    def fit(self, X, y):
        self.held_out_ = X
        self._keep_errors(X, y)
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize("coverage", [0.3, 0.5, 0.9, 0.97])
def test_the_finite_sample_share_of_the_held_out_degrees_is_covered(fitted, coverage):
    model, _, y = fitted
    P = model.held_out_
    hits = inside(y, Echo().fit(P, y).predict_interval(P, coverage)).sum(axis=0)
    m = (~np.isnan(y)).sum(axis=0)
    np.testing.assert_array_equal(hits, [math.ceil((count + 1) * coverage) for count in m])


class CrossFittedConstant(IntervalMixin, ConstantLDL):
    def fit(self, X, y):
        ConstantLDL.fit(self, X, y)
        self.held_out_ = predict_held_out(ConstantLDL(), X, y, 5)
        self._keep_errors(X, y)
        return self


@pytest.mark.parametrize("name", [pytest.param("SBU_3DFE", marks=pytest.mark.slow), "Yeast_heat"])
def test_public_data_are_covered_by_narrower_intervals_than_the_constant(
    shared, monkeypatch, name
):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    X, y = load(name, return_X_y=True)
    hits, widths = [], []
    for split in range(3):
        fold = make_fold(name, X, y, rate=0.5, split=split)
        model = WInLDL(cross_fit=5).fit(fold.X, fold.y)
        hits.append([inside(fold.y_test, model.predict_interval(fold.X_test, c)) for c in LEVELS])
        constant = CrossFittedConstant().fit(fold.X, fold.y)
        widths.append([mean_width(m, fold.X_test) for m in (model, constant)])
    np.testing.assert_allclose(np.mean(hits, axis=(0, 2, 3)), LEVELS, rtol=0, atol=0.02)
    ours, constant = np.mean(widths, axis=0)
    assert ours < constant


def mean_width(model, X, coverage=0.9):
    lower, upper = model.predict_interval(X, coverage)
    return (upper - lower).mean()


def test_intervals_are_wider_where_errors_are():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.5, 4000)
    first = p + 0.3 * p * rng.uniform(-1, 1, len(p))
    y = np.column_stack([first, 1 - first])
    model = WInLDL(cross_fit=5).fit(p[:, None], y)
    width = np.subtract(*model.predict_interval([[0.1], [0.4]])[::-1])[:, 0]
    np.testing.assert_allclose(width, [0.1 * 0.54, 0.4 * 0.54], rtol=0.15)


# --- what an interval is ---------------------------------------------------------------------


@pytest.mark.parametrize("coverage", LEVELS)
def test_intervals_lie_within_0_and_1_around_the_prediction(fitted, coverage):
    model, X, _ = fitted
    for rows in (X, 100 * X):
        lower, upper = model.predict_interval(rows, coverage)
        P = model.predict(rows)
        assert lower.min() >= 0
        assert upper.max() <= 1
        assert np.all((lower <= P + 1e-12) & (upper >= P - 1e-12))


def test_single_precision_and_sparse_rows(fitted):
    model, X, y = fitted
    expected = model.predict_interval(X)
    single = WInLDL(cross_fit=5).fit(X.astype(np.float32), y.astype(np.float32))
    lower, upper = single.predict_interval(X.astype(np.float32))
    assert lower.dtype == upper.dtype == np.float32
    np.testing.assert_allclose([lower, upper], expected, rtol=0, atol=1e-3)
    sparse = WInLDL(cross_fit=5).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_interval(csr_array(X)), expected, rtol=0, atol=1e-9)


def test_held_out_predictions_know_nothing_of_their_row(fitted):
    model, X, y = fitted
    told = y.copy()
    told[7] = [1.0, 0.0, 0.0]
    other = WInLDL(cross_fit=5).fit(X, told)
    np.testing.assert_array_equal(other.held_out_[7], model.held_out_[7])
    assert np.any(other.held_out_ != model.held_out_)
    np.testing.assert_allclose(model.held_out_.sum(axis=1), 1)


def test_the_same_each_time_and_no_global_seed(fitted):
    model, X, y = fitted
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    again = WInLDL(cross_fit=5).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(again.held_out_, model.held_out_)
    np.testing.assert_array_equal(again.coef_, WInLDL().fit(X, y).coef_)


def test_10000_rows_are_kept_and_those_of_rare_labels():
    y = np.random.default_rng(0).dirichlet(np.ones(3), 25_000)
    y[5:, 2] = np.nan
    model = Echo().fit(np.full_like(y, 1 / 3), y)
    kept = model.held_out_sample_.degrees
    assert 10_000 <= len(kept) <= 10_005
    assert (~np.isnan(kept)).sum(axis=0).tolist() == [len(kept), len(kept), 5]
    hits = inside(y, model.predict_interval(model.held_out_, 0.8)).mean(axis=0)
    np.testing.assert_allclose(hits[:2], 0.8, rtol=0, atol=0.01)


# --- complete --------------------------------------------------------------------------------


def test_completed_rows_respect_what_is_known(fitted):
    model, X, y = fitted
    full, lower, upper = model.complete_interval(X, y, coverage=0.8)
    np.testing.assert_array_equal(full, model.complete(X, y))
    holes = np.isnan(y)
    known = ~holes | (holes.sum(axis=1) == 1)[:, None]
    np.testing.assert_array_equal(lower[known], full[known])
    np.testing.assert_array_equal(upper[known], full[known])
    assert np.all((lower <= full) & (full <= upper))
    rest = 1 - np.nansum(y, axis=1)
    assert np.all((upper <= rest[:, None] + 1e-12)[holes])
    assert np.all(upper[~known] > lower[~known])


def test_a_row_that_leaves_little_has_narrow_intervals(fitted):
    model, X, _ = fitted
    y = np.full((1, 3), np.nan)
    y[0, 0] = 0.99
    assert model.predict_interval(X[:1], 0.5)[0][0, 1] > 0.01
    completed, lower, upper = model.complete_interval(X[:1], y, coverage=0.5)
    assert (lower >= 0).all()
    assert (lower <= completed).all()
    assert (completed <= upper).all()
    assert (upper[0, 1:] <= 0.01 + 1e-12).all()


def test_the_holes_of_new_rows_are_covered():
    rng = np.random.default_rng(1)
    X, y = noisy_rows(5000, rng, k=5)
    given = hide(y, 0.5, random_state=rng)
    model = WInLDL(cross_fit=5).fit(X[:1000], given[:1000])
    new = given[1000:]
    open_ = np.isnan(new) & (np.isnan(new).sum(axis=1) > 1)[:, None]
    for level in LEVELS:
        bounds = model.complete_interval(X[1000:], new, coverage=level)[1:]
        hits = [inside(y[1000:], bounds)[open_[:, j], j].mean() for j in range(3)]
        slack = 3 * np.sqrt(level * (1 - level) * (1 / 500 + 1 / open_[:, 0].sum()))
        assert min(hits) > level - slack


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_frames_out(fitted, frame):
    model, X, y = fitted
    names = ["low", "mid", "high"]
    table = frame(dict(zip(names, y.T, strict=True)))
    expected = model.complete_interval(X, y)
    for found, values in zip(model.complete_interval(X, table), expected, strict=True):
        assert isinstance(found, frame)
        assert list(found.columns) == names
        np.testing.assert_array_equal(found.to_numpy(), values)


# --- where there is too little, or too wrong a question ---------------------------------------


def test_a_rarely_observed_label_gets_the_widest_interval():
    X, y = make_distributions(60, random_state=0)
    y = pd.DataFrame(y, columns=["low", "mid", "high"])
    y.loc[3:, "mid"] = np.nan
    model = WInLDL(cross_fit=5).fit(X, y)
    message = r"'mid' was observed 3 time\(s\), but a coverage of 0.8 needs 4, .* \(1 such label"
    with pytest.warns(UserWarning, match=message) as caught:
        lower, upper = model.predict_interval(X, 0.8)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.all((lower[:, 1] == 0) & (upper[:, 1] == 1))
    assert np.all((upper - lower)[:, [0, 2]] < 0.9)
    lower, upper = model.predict_interval(X, 0.75)  # three of three
    assert np.all((upper - lower)[:, 1] < 1)


def test_a_label_that_some_fold_never_sees():
    X, y = make_distributions(20, random_state=0)
    y[1:, 1] = np.nan
    model = WInLDL(cross_fit=5).fit(X, y)
    np.testing.assert_allclose(model.held_out_.sum(axis=1), 1)
    assert np.isfinite(model.predict_interval(X, 0.5)).all()


def test_more_folds_than_rows():
    X, y = make_distributions(4, random_state=0)
    assert WInLDL(cross_fit=10).fit(X, y).held_out_.shape == (4, 3)


def test_a_plain_fit_says_what_to_do(fitted):
    _, X, y = fitted
    model = WInLDL(cross_fit=2).fit(X, y).set_params(cross_fit=None).fit(X, y)
    for ask in (model.predict_interval, lambda X: model.complete_interval(X, y)):
        with pytest.raises(NotFittedError, match=r"held-out .*; fit WInLDL\(cross_fit=5\)\.$"):
            ask(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        WInLDL(cross_fit=5).predict_interval(X)


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.5, np.nan, True, None, "0.9", [0.5, 0.9]])
def test_bad_coverage(fitted, coverage):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1, got"):
        model.predict_interval(X, coverage)


@pytest.mark.parametrize("folds", [0, 1, 2.5, "five", True])
def test_bad_number_of_folds(fitted, folds):
    _, X, y = fitted
    with pytest.raises(ValueError, match="cross_fit must be an integer at least 2"):
        WInLDL(cross_fit=folds).fit(X, y)


def test_quantiles_are_above_as_many_degrees_as_they_say():
    rng = np.random.default_rng(0)
    X, y = noisy_rows(2400, rng, k=5)
    model = WInLDL(cross_fit=5).fit(X[:600], hide(y[:600], 0.3, random_state=0))
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    found = model.predict_quantiles(X[600:], levels)
    assert found.shape == (5, 1800, 3)
    assert (np.diff(found, axis=0) >= 0).all()
    below = (y[600:] <= found).mean(axis=(1, 2))
    np.testing.assert_allclose(below, levels, atol=0.04)
    with pytest.raises(ValueError, match=r"Each of the quantiles must be .* below 1, got 1"):
        model.predict_quantiles(X, (0.5, 1))


def test_quantiles_and_draws_of_new_rows_are_of_the_kind_of_the_features():
    X, y = make_distributions(80, random_state=0)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(y, columns=list("pqr"))
    for model in (WInLDL(cross_fit=3), TableModel("winldl")):
        model.fit(*frames)
        for found in (model.predict_quantiles(frames[0]), model.sample(frames[0], 3, 0)):
            assert [list(each.columns) for each in found] == [list("pqr")] * 3
    model = WInLDL(cross_fit=3).fit(X, y)
    draws = model.sample(X, 4, random_state=1)
    np.testing.assert_array_equal(draws, model.draw(X, np.full(y.shape, np.nan), 4, 1))
    np.testing.assert_allclose(draws.sum(axis=2), 1)
    with pytest.raises(NotFittedError, match="no held-out predictions, which quantiles need"):
        WInLDL().fit(X, y).predict_quantiles(X)


def test_quantiles_of_panels_are_those_of_their_draws():
    X, y = make_distributions(60, random_state=0)
    panel = pd.DataFrame({"unit": np.repeat(list("abcdef"), 10), "year": list(range(10)) * 6})
    model = TableModel().fit(panel.assign(x=X[:, 0]), pd.DataFrame(y, columns=list("pqr")))
    later = panel.assign(year=12, x=X[:, 0])
    low, high = model.predict_quantiles(later, (0.1, 0.9))
    assert (low <= high).all(axis=None)
    assert (high - low).mean(axis=None) > 0


@pytest.mark.parametrize("mixed", [False, True])
def test_dirichlet_distributions_hold_as_many_degrees_as_they_say(mixed):
    rng = np.random.default_rng(0)
    X, p = noisy_rows(2400, rng, k=5)
    size = np.where(rng.random(2400) < 0.5, 20.0, 200.0 if mixed else 20.0)
    y = rng.gamma(size[:, None] * p)
    y /= y.sum(axis=1, keepdims=True)
    X = np.column_stack([X, np.log(size)])
    model = WInLDL(cross_fit=5).fit(X[:1200], hide(y[:1200], 0.3, random_state=0))
    found = model.predict_dirichlet(X[1200:])
    whole = found.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found / whole, model.predict(X[1200:]), atol=1e-5)
    for coverage in (0.5, 0.9):
        ends = [stats.beta.ppf((1 + s * coverage) / 2, found, whole - found) for s in (-1, 1)]
        share = ((ends[0] <= y[1200:]) & (y[1200:] <= ends[1])).mean()
        assert share == pytest.approx(coverage, abs=0.06)
    if mixed:  # rows that are surer have a larger precision
        assert np.median(whole[size[1200:] > 20]) > 2 * np.median(whole[size[1200:] < 200])
    constant = np.tile(0.3 * found.mean(axis=0), (len(found), 1))
    assert log_score(y[1200:], found) < log_score(y[1200:], constant)


def test_dirichlet_distributions_are_of_the_kind_of_the_features():
    X, y = make_distributions(60, random_state=0)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(y, columns=list("pqr"))
    for model in (WInLDL(cross_fit=3), TableModel("winldl")):
        found = model.fit(*frames).predict_dirichlet(frames[0])
        assert list(found) == list("pqr")
        assert (found > 0).all(axis=None)
    with pytest.raises(NotFittedError, match="which distributions need"):
        WInLDL().fit(X, y).predict_dirichlet(X)
