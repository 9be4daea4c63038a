"""Contributions of linear models, and the importance of features for labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.importance import contributions, importance_by_label
from inldl.methods import RegressorLDL, make_method
from inldl_paper.literature import BFGSLDL
from plain_methods import PLAIN

LINEAR = {
    "winldl", "inldl-p", "inldl-a", "i2ldl", "bfgs-ldl", "iis-ldl", "ldm", "edl-lrl", "hidldl"
}  # fmt: skip
FEATURES, LABELS = ["a", "b", "c"], ["low", "mid", "high"]
X, Y = make_distributions(200, random_state=0)
HOLES = hide(Y, 0.3, random_state=1)


def scores(model, X):
    return X @ model.coef_.T + model.intercept_


# --- contributions ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "method",
    [name for name in PLAIN if name in LINEAR],
)
def test_they_sum_to_the_score_minus_the_mean_score(method):
    model = make_method(method).fit(X, HOLES)
    parts = contributions(model, X[:20])
    assert parts.shape == (60, 3)
    expected = scores(model, X[:20])
    found = parts.sum(axis=1).unstack().to_numpy()
    np.testing.assert_allclose(found, expected - expected.mean(axis=0), rtol=0, atol=1e-12)


def test_they_explain_the_prediction_where_the_projection_changes_nothing():
    model = WInLDL().fit(X, Y)
    S = scores(model, X)
    S += (1 - S.sum(axis=1, keepdims=True)) / 3  # the projection of positive rows is a shift
    same = S.min(axis=1) > 0
    assert same.mean() > 0.9
    np.testing.assert_allclose(model.predict(X)[same], S[same], rtol=0, atol=1e-9)


def test_those_of_a_softmax_explain_log_ratios_of_degrees():
    model = BFGSLDL().fit(X, Y)
    total = contributions(model, X).sum(axis=1).unstack()
    ratio = np.log(model.predict(X)[:, 0] / model.predict(X)[:, 2])
    np.testing.assert_allclose(total[0] - total[2], ratio - ratio.mean(), rtol=0, atol=1e-9)


def test_names_and_index_survive():
    frame = pd.DataFrame(X, columns=FEATURES, index=[f"row {i}" for i in range(len(X))])
    model = WInLDL().fit(frame, pd.DataFrame(Y, columns=LABELS, index=frame.index))
    parts = contributions(model, frame)
    assert list(parts.columns) == FEATURES
    assert parts.index.names == ["row", "label"]
    assert parts.loc[("row 3", "mid"), "b"] == pytest.approx(
        model.coef_[1, 1] * (X[3, 1] - X[:, 1].mean())
    )


def test_a_reference_of_ones_own():
    model = WInLDL().fit(X, Y)
    total = contributions(model, X[:1], reference=X[7]).sum(axis=1).to_numpy()
    np.testing.assert_allclose(total, scores(model, X[0]) - scores(model, X[7]), atol=1e-12)
    for wrong in (X[7, :2], X, [np.nan, 0, 0]):
        with pytest.raises(ValueError, match="reference must have one finite number per feature"):
            contributions(model, X, reference=wrong)


def test_what_has_no_contributions():
    with pytest.raises(TypeError, match=r"RegressorLDL is not linear .* use importance_by_label"):
        contributions(RegressorLDL().fit(X, Y), X)
    pipe = make_pipeline(StandardScaler(), WInLDL()).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"contributions\(pipe\[-1\], pipe\[:-1\].transform\(X\)\)"
    ):
        contributions(pipe, X)
    assert contributions(pipe[-1], pipe[:-1].transform(X)).shape == (600, 3)
    with pytest.raises(NotFittedError):
        contributions(WInLDL(), X)


# --- importance ------------------------------------------------------------------------------


def planted(n=400, seed=0):
    """Draw six features of which number 4 splits label 0 from 1, and number 2 makes label 2."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 6))
    logits = np.column_stack([2 * X[:, 4], -2 * X[:, 4], 3 * X[:, 2]])
    y = np.exp(logits)
    return X, y / y.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "model", [WInLDL(), RegressorLDL(ExtraTreesRegressor(20, random_state=0))], ids=repr
)
def test_planted_features_come_out_first(model):
    X, y = planted()
    y = hide(y, 0.3, random_state=3)
    X_new, y_new = planted(200, seed=1)
    y_new = hide(y_new, 0.5, random_state=2)
    found = importance_by_label(model.fit(X, y), X_new, y_new)
    assert found["mean"].idxmax().tolist() == [4, 4, 2]
    noise = found.loc[[0, 1, 3, 5], "mean"].abs().to_numpy().max()
    assert found.loc[[2, 4], "mean"].to_numpy().max(axis=0).min() > 10 * noise
    assert (found["std"].to_numpy() >= 0).all()
    pd.testing.assert_frame_equal(found, importance_by_label(model, X_new, y_new))


def test_the_mean_is_the_growth_of_the_squared_error_on_observed_degrees():
    """Shuffling adds twice the covariance: in expectation 2 w^2 var(x) for a linear model."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20_000, 1))
    y = np.column_stack([0.5 + 0.3 * x[:, 0], 0.5 - 0.3 * x[:, 0]])
    model = WInLDL().fit(x, y)
    found = importance_by_label(model, x, hide(y, 0.5, random_state=1))
    np.testing.assert_allclose(found["mean"], [[np.sqrt(2 * 0.09 / 3)] * 2], rtol=0.05)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_features_and_labels(frame):
    table = frame(dict(zip(FEATURES, X.T, strict=True)))
    degrees = frame(dict(zip(LABELS, HOLES.T, strict=True)))
    model = WInLDL().fit(table, degrees)
    found = importance_by_label(model, table, degrees, n_repeats=2)
    assert list(found.index) == FEATURES
    assert list(found["mean"].columns) == list(found["std"].columns) == LABELS
    unnamed = importance_by_label(model, table, HOLES, n_repeats=2)
    pd.testing.assert_frame_equal(unnamed, found)


def test_a_pipeline_and_a_label_that_nobody_observed():
    pipe = make_pipeline(StandardScaler(), WInLDL())
    pipe.fit(pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS))
    y = Y.copy()
    y[:, 1] = np.nan
    found = importance_by_label(pipe, pd.DataFrame(X, columns=FEATURES), y, n_repeats=2)
    assert found["mean"].isna().all().tolist() == [False, True, False]
    assert list(found["mean"].columns) == LABELS


@pytest.mark.parametrize("explain", [contributions, lambda m, X: importance_by_label(m, X, Y)])
def test_sparse_rows_are_refused_in_a_sentence(explain):
    with pytest.raises(TypeError, match=r"X is sparse, .* pass some dense rows: X\[rows\]"):
        explain(WInLDL().fit(X, Y), csr_array(X))


def test_bad_number_of_repeats():
    with pytest.raises(ValueError, match="n_repeats must be an integer at least 1, got 0"):
        importance_by_label(WInLDL().fit(X, Y), X, Y, n_repeats=0)
