"""WInLDL against the authors' numbers, the properties it must have, and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from inldl import WInLDL, evaluate, hide
from inldl.datasets import make_distributions
from inldl.weighting import LinearWeighting
from plain_numpy import predict, winldl

PAPER = ["cosine", "intersection", "chebyshev", "clark", "canberra"]


# --- the paper's numbers ---------------------------------------------------------------------


def authors_metrics(public, splits, **parameters):
    """Run the authors' setting on their splits: unit rows, zeros taken for missing."""
    X, y = public("SBU_3DFE")
    X = normalize(X)
    rows = []
    for split in splits:
        train, test = split["train"], split["test"]
        seen = split["observed"] & (y[train] != 0)
        model = WInLDL(**parameters).fit(X[train], np.where(seen, y[train], np.nan))
        found = evaluate(y[test], model.predict(X[test]), PAPER)
        rows.append([found[name] for name in PAPER])
    return np.array(rows)


def test_every_run_of_the_authors(public, authors_runs):
    runs, splits = authors_runs
    assert runs["metrics"] == PAPER
    rows = authors_metrics(public, splits)
    np.testing.assert_allclose(rows, runs["runs"], rtol=0, atol=2e-4)
    assert rows.mean(axis=0)[0].round(4) == 0.9417
    assert rows.mean(axis=0)[3].round(4) == 0.3787


def test_the_text_of_the_paper(public, authors_runs):
    means = authors_metrics(public, authors_runs[1], missing="zero").mean(axis=0)
    np.testing.assert_allclose(means[[0, 3]], [0.9288, 0.4004], rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("weighting", "missing", "printed", "within"),
    [
        ("uniform", "impute", 0.9426, 1e-4),
        ("exponential", "zero", 0.9364, 2e-4),
        ("random", "zero", 0.9303, 3e-3),  # other random numbers
    ],
)
def test_rows_of_table_6(public, authors_runs, weighting, missing, printed, within):
    """The printed rows of InLDL-II and InLDL-Rand have zero targets for the missing degrees."""
    rows = authors_metrics(public, authors_runs[1], weighting=weighting, missing=missing)
    np.testing.assert_allclose(rows[:, 0].mean(), printed, rtol=0, atol=within)


@pytest.mark.parametrize(
    "name",
    [
        "SJAFFE",
        "Natural_Scene_float32",
        pytest.param("SCUT_FBP", marks=pytest.mark.slow),
        pytest.param("Movie", marks=pytest.mark.slow),
    ],
)
def test_equals_plain_numpy_on_real_data(public, name):
    X, y = public(name)
    if X.shape[1] > 250:
        X = PCA(100, random_state=0).fit_transform(X)
    if len(X) > 500:
        X = normalize(X)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = np.split(order, [int(0.8 * len(X))])
    holey = hide(y[train], 0.5, random_state=rng)
    W, n_iter = winldl(X[train], holey)
    model = WInLDL().fit(X[train], holey)
    assert model.n_iter_ == n_iter
    ours = evaluate(y[test], model.predict(X[test]), PAPER)
    plain = evaluate(y[test], predict(X[test], W), PAPER)
    np.testing.assert_allclose(list(ours.values()), list(plain.values()), rtol=0, atol=1e-6)


# --- properties ------------------------------------------------------------------------------


@st.composite
def problems(draw):
    n, k, C = draw(st.integers(3, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    X = draw(arrays(float, (n, k), elements=st.floats(-100, 100)))
    weight = draw(arrays(float, (n, C), elements=st.floats(0.01, 1)))
    y = weight / weight.sum(axis=1, keepdims=True)
    holes = draw(arrays(bool, (n, C)))
    holes[0] = False  # each label is seen once
    return X, y, holes


@given(problems())
def test_predictions_lie_on_the_simplex_and_complete_keeps_what_is_known(problem):
    X, y, holes = problem
    given_ = np.where(holes, np.nan, y)
    model = WInLDL().fit(X, given_)
    for P in (model.predict(X), model.predict(1e6 * X)):
        assert P.min() >= 0
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)
    full = model.complete(X, given_)
    np.testing.assert_array_equal(full[~holes], y[~holes])
    assert full.min() >= 0
    np.testing.assert_allclose(full.sum(axis=1), 1, rtol=0, atol=1e-12)


@given(problems(), st.sampled_from([0.0, 1e6, -3.0, np.inf]))
def test_what_fills_a_hole_never_matters(problem, filling):
    X, y, holes = problem
    expected = WInLDL().fit(X, np.where(holes, np.nan, y))
    model = WInLDL().fit(X, np.ma.masked_array(np.where(holes, filling, y), holes))
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_rows_and_labels_does_not_matter(problem, random):
    X, y, holes = problem
    y = np.where(holes, np.nan, y)
    rows, labels = list(range(len(X))), list(range(y.shape[1]))
    random.shuffle(rows)
    random.shuffle(labels)
    expected = WInLDL(tol=0.0).fit(X, y).predict(X)
    shuffled = WInLDL(tol=0.0).fit(X[rows], y[rows][:, labels]).predict(X)
    np.testing.assert_allclose(shuffled, expected[:, labels], rtol=0, atol=1e-6)


def test_fit_leaves_its_input_alone():
    X, y = make_distributions(100, random_state=0)
    y = hide(y, 0.5, random_state=0)
    X_before, y_before = X.copy(), y.copy()
    model = WInLDL().fit(X, y)
    model.complete(X, y)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


# --- frames ----------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_frames_out(frame):
    X, y = make_distributions(100, random_state=0)
    y = hide(y, 0.5, random_state=0)
    names = ["low", "mid", "high"]
    X_frame = frame(dict(zip("abc", X.T, strict=True)))
    y_frame = frame(dict(zip(names, y.T, strict=True)))
    plain, model = WInLDL().fit(X, y), WInLDL().fit(X_frame, y_frame)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-12)
    assert list(model.label_names_) == names
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    full = model.complete(X_frame, y_frame)
    assert isinstance(full, frame)
    assert list(full.columns) == names
    np.testing.assert_allclose(full.to_numpy(), plain.complete(X, y), rtol=0, atol=1e-12)


def test_index_survives():
    X, y = make_distributions(50, random_state=0)
    y = pd.DataFrame(hide(y, 0.5, random_state=0), index=pd.RangeIndex(7, 57))
    full = WInLDL().fit(X, y).complete(X, y)
    assert full.index.equals(y.index)


# --- bad input -------------------------------------------------------------------------------

X, Y = make_distributions(20, random_state=0)


class Scalar(LinearWeighting):
    def observed(self, degrees):
        return 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mu": -1}, "mu must be a number greater than 0, got -1"),
        ({"mu": np.nan}, "mu must be a number"),
        ({"max_iter": 0}, "max_iter must be an integer at least 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be an integer"),
        ({"tol": -1e-3}, "tol must be a number at least 0"),
        ({"ridge": -1.0}, "ridge must be a number at least 0"),
        ({"missing": "drop"}, "missing must be one of 'impute', 'zero', got 'drop'"),
        ({"weighting": "heavy"}, "weighting must be one of 'degree', 'linear', 'uniform'"),
        ({"weighting": 3}, "or an object with the methods observed"),
        ({"weighting": LinearWeighting}, "or an object with the methods observed"),
        ({"weighting": Scalar()}, r"observed of the weighting .* for \(2, 3\) it returned 1.0"),
        ({"n_jobs": "two"}, "n_jobs must be an integer, got 'two'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        WInLDL(**parameters).fit(X, Y)


def with_value(a, value):
    a = a.copy()
    a[3, 1] = value
    return a


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (with_value(X, np.nan), Y, "Input X contains NaN"),
        (with_value(X, np.inf), Y, "Input X contains infinity"),
        (X, with_value(Y, np.inf), "Input y contains infinity"),
        (X, Y[:, 0], "y must be 2-D, one row per sample and one column per label"),
        (X, Y[:-1], "X has 20 rows and y has 19"),
        (
            X,
            np.where([True, False, True], Y, np.nan),
            "Label column 1 of y has no observed degree",
        ),
        (X, pd.DataFrame(np.where([True, True, False], Y, np.nan), columns=list("abc")), "'c'"),
        (X, Y.astype(str).astype(object) + "?", "could not convert"),
        (X[:, :0], Y, "0 feature"),
        (X * 1e200, Y, "squares of the features overflow; scale X"),
        (np.tile(X, 20) * 1e200, Y, "squares of the features overflow; scale X"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        WInLDL().fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (with_value(Y, 1.5), r"degrees outside \[0, 1\], first in row 3"),
        (with_value(Y, -0.1), r"degrees outside \[0, 1\], first in row 3"),
        (with_value(Y, 0.0), r"do not sum to 1, first row 3 .* other complete rows by their sums"),
    ],
)
def test_doubtful_degrees_are_named(y, message):
    with pytest.warns(UserWarning, match=message) as caught:
        WInLDL().fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.9, np.nan, 0.4], "observed degrees of row 4 of y sum to 1.3, more than 1 .*: correct"),
        ([18.1, np.nan, np.nan], "Row 4 of y has the degree 18.1, .*; divide percentages by 100"),
        ([20.0, 30.0, 50.0], "Row 4 of y has the degree 20, .*; divide percentages by 100"),
        ([-0.5, np.nan, 0.4], "Row 4 of y has the degree -0.5, .*; correct it"),
    ],
)
def test_complete_refuses_what_cannot_be_filled(row, message):
    model, y = WInLDL().fit(X, Y), Y.copy()
    y[4], y[6] = row, [0.2, np.nan, np.nan]
    with pytest.raises(ValueError, match=message):
        model.complete(X, y)


def test_complete_needs_no_shares_where_nothing_is_missing():
    model = WInLDL().fit(X, Y)
    np.testing.assert_array_equal(model.complete(X, 100 * Y), 100 * Y)


def test_complete_does_not_complain_about_rounding():
    y = Y.copy()
    y[4] = [0.6, np.nan, 0.400003]
    full = WInLDL().fit(X, Y).complete(X, y)
    np.testing.assert_array_equal(full[4], [0.6, 0, 0.400003])


@pytest.mark.parametrize("decimals", [2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounded_degrees_are_fitted_and_completed_without_a_word(decimals, dtype):
    y = Y.round(decimals).astype(dtype)
    assert (np.abs(y.sum(axis=1, dtype=float) - 1) > 0.9 * 10.0**-decimals).any()
    model, unit = WInLDL().fit(X, y), 10.0**-decimals
    y[4] = [0.6, np.nan, 0.4 + unit]
    y[5] = [0.6, np.nan, np.nan]
    full = model.complete(X, y)
    assert full[4, 1] == 0
    assert full[5].sum() == pytest.approx(1)
    y[4, 2] = 0.4 + 2 * unit  # three labels explain one and a half
    if dtype == np.float64 or decimals < 4:  # what single precision may leave is 0.001
        with pytest.raises(ValueError, match="observed degrees of row 4"):
            model.complete(X, y)


def test_complete_refuses_other_labels():
    model = WInLDL().fit(X, Y)
    with pytest.raises(ValueError, match=r"y has the shape \(20, 2\), but \(20, 3\)"):
        model.complete(X, Y[:, :2])


def test_complete_when_nothing_or_everything_is_known():
    model = WInLDL().fit(X, Y)
    np.testing.assert_array_equal(model.complete(X, Y), Y)
    np.testing.assert_allclose(model.complete(X, np.full_like(Y, np.nan)), model.predict(X))


def test_score_is_the_mean_cosine_of_rows_with_degrees():
    model = WInLDL().fit(X, Y)
    y = Y.copy()
    y[0] = np.nan
    assert model.score(X, y) == pytest.approx(evaluate(Y[1:], model.predict(X)[1:])["cosine"])
    assert np.isnan(model.score(X, np.full_like(Y, np.nan)))


def test_verbose_says_where_it_is(capsys):
    WInLDL(max_iter=3, tol=0.0, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("WInLDL 3/3: coef_change")


def test_labels_in_another_order_are_refused():
    X = np.arange(8.0)[:, None]
    y = pd.DataFrame(np.tile([0.2, 0.3, 0.5], (8, 1)), columns=["a", "b", "c"])
    model = WInLDL().fit(X, y)
    for call in (model.complete, model.score):
        with pytest.raises(ValueError, match="same columns in the same order"):
            call(X, y[["c", "b", "a"]])
