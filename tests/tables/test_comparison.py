"""Comparing methods on a table: errors against direct formulas and scikit-learn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from inldl.datasets import hide, load_budget_shares
from inldl.methods import RegressorLDL
from inldl.metrics import cosine
from inldl.progress import listening
from inldl.rows.partial import PartialRows
from inldl.tables import trial as trial_module
from inldl.tables.audit import Errors
from inldl.tables.comparison import compare
from inldl.tables.table_rows import TrainingRows
from inldl.tables.trial import completing_trials, predicting_trials, run_trial

NAN = np.nan
FAST = ["winldl", "bfgs-ldl"]
quickly = pytest.mark.usefixtures("without_trees")


@pytest.fixture(scope="module")
def budget():
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    return X[:400], y[:400]


@pytest.fixture(scope="module")
def telling():
    """Return features that decide the degrees, and degrees with holes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.exp(X @ rng.normal(size=(3, 4)) + rng.normal(scale=0.2, size=(200, 4)))
    y = pd.DataFrame(y / y.sum(axis=1, keepdims=True), columns=list("abcd"))
    return pd.DataFrame(X, columns=["x", "y", "z"]), hide(y, 0.3, random_state=0)


@pytest.fixture(scope="module")
def holey(budget):
    return budget[0], hide(budget[1], 0.3, random_state=0)


def projected(raw):
    """Return the nearest point of the simplex by bisection."""
    low, high = raw.min() - 1, raw.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(raw - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(raw - low, 0)


# Holding out


def rows(y, X=None):
    """Return rows of which nothing but degrees is known."""
    return TrainingRows(X, PartialRows(np.asarray(y)))


def test_hiding_leaves_a_degree_in_each_row_and_each_label(holey):
    y = holey[1].to_numpy().copy()
    y[1:, 5] = NAN
    y[0] = [NAN, NAN, NAN, NAN, 0.5, 0.2]
    y[7] = NAN
    for trial in completing_trials(rows(y), 0.9, 0):
        seen = ~np.isnan(trial.learned)
        assert (seen.any(axis=1) == ~np.isnan(y).all(axis=1)).all()
        assert seen.any(axis=0).all()
        np.testing.assert_array_equal(trial.learned[seen], y[seen])


def test_hidden_share_and_what_is_judged(budget):
    y = budget[1].to_numpy()
    trials = completing_trials(rows(y), 0.2, 0)
    hidden = [np.isnan(trial.learned) for trial in trials]
    assert np.mean(hidden) == pytest.approx(0.2, abs=0.01)
    assert not np.array_equal(hidden[0], hidden[1])
    for trial, holes in zip(trials, hidden, strict=True):
        np.testing.assert_array_equal(trial.judged, holes & (holes.sum(axis=1) > 1)[:, None])


def test_each_row_is_predicted_once(holey):
    y = holey[1].to_numpy()
    trials = predicting_trials(rows(y), 7, 0)
    assert len(trials) == 7
    np.testing.assert_array_equal(sum(trial.judged.astype(int) for trial in trials), ~np.isnan(y))
    for trial in trials:
        assert not trial.judged[trial.rows].any()


@quickly
@pytest.mark.parametrize("method", ["winldl", "ridge", "constant-mean"])
def test_what_is_held_out_is_never_seen(budget, method):
    X, y = budget
    spoiled = y.to_numpy().copy()
    for make, option in ((completing_trials, 0.3), (predicting_trials, 3)):
        trial = make(rows(y), option, 0)[0]
        spoiled = np.where(trial.judged, 1e6, y)
        other = make(rows(spoiled), option, 0)[0]
        np.testing.assert_array_equal(trial.judged, other.judged)
        known = ((rows(y, X), trial), (rows(spoiled, X), other))
        a, b = (run_trial(method, table, y.columns, each, 0, []) for table, each in known)
        np.testing.assert_array_equal(a[trial.judged], b[trial.judged])
        assert np.abs(b[trial.judged]).max() <= 1


# Bounds and sums of labels


@pytest.fixture
def suppressed(budget):
    """Return features, shares of which small ones have a bound, and what is known of them."""
    X, y = budget[0][:80], budget[1][:80]
    small = y < 0.08
    together = y[["clothes", "alcohol"]].sum(axis=1)
    known = {"upper": np.where(small, 0.08, NAN), "sums": {("clothes", "alcohol"): together}}
    return X, y.mask(small), known


@quickly
@pytest.mark.parametrize("method", ["winldl", "constant-mean"])
def test_methods_complete_within_bounds(suppressed, method):
    X, y, known = suppressed
    table = TrainingRows(X, PartialRows.of(y, **known))
    [trial, *_] = completing_trials(table, 0.2, 0)
    found = run_trial(method, table, y.columns, trial, 0, [])
    assert (found[y.isna()] <= 0.08 + 1e-9).all()
    np.testing.assert_allclose(found[:, [2, 3]].sum(axis=1), known["sums"]["clothes", "alcohol"])
    [plain, *_] = completing_trials(rows(y), 0.2, 0)
    found = run_trial(method, rows(y, X), y.columns, plain, 0, [])
    assert (found[y.isna()] > 0.08 + 1e-9).any()


def test_shares_that_others_give_away_are_not_judged(suppressed):
    _, y, known = suppressed
    table = TrainingRows(None, PartialRows.of(y, **known))
    for trial in completing_trials(table, 0.2, 0):
        alone = np.isnan(trial.learned[:, [2, 3]]).sum(axis=1) == 1
        assert not trial.judged[:, [2, 3]][alone].any()
        assert trial.judged.sum() > 20


@quickly
def test_held_out_shares_are_not_told_by_bounds(suppressed):
    X, y, known = suppressed
    table = TrainingRows(X, PartialRows.of(y, upper=known["upper"]))
    for make, option in ((completing_trials, 0.3), (predicting_trials, 3)):
        trial = make(table, option, 0)[0]
        parts = {"y": y, "lower": table.rows.lower, "upper": table.rows.upper}
        spoiled = {name: np.where(trial.judged, 1e6, part) for name, part in parts.items()}
        other = replace(table, rows=replace(table.rows, **spoiled))
        a, b = (run_trial("winldl", each, y.columns, trial, 0, []) for each in (table, other))
        np.testing.assert_array_equal(a, b)


@quickly
def test_bounds_are_compared_with(suppressed):
    X, y, known = suppressed
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    kept = weights > 0
    found, fewer = (
        compare(
            X[rows], y[rows], ["winldl"],
            upper=known["upper"][rows], sample_weight=weights[rows],
        )
        for rows in (slice(None), kept)
    )  # fmt: skip
    columns = ["completing_rmse", "predicting_rmse", "cosine"]
    np.testing.assert_allclose(found.table[columns], fewer.table[columns], rtol=1e-6)
    with pytest.raises(ValueError, match="no share is between them"):
        compare(X, y, ["winldl"], upper=known["upper"] - 1)


# Errors


def test_errors_of_two_rows_by_hand():
    y = np.array([[0.5, 0.5, 0], [0.2, 0.2, 0.6], [1, 0, 0]])
    found = np.array([[0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0, 1, 0]])
    judged = np.array([[True, True, False], [True, False, False], [False, False, False]])
    errors = Errors.at(judged, found - y)
    assert errors.rmse == pytest.approx(np.sqrt((0.01 + 0.04 + 0) / 3))
    assert errors.mae == pytest.approx(0.1)
    assert Errors.joined([errors, errors]).rmse == pytest.approx(np.sqrt(0.05 / 3))


def test_standard_errors_are_those_of_a_bootstrap_over_rows():
    rng = np.random.default_rng(0)
    y = rng.dirichlet([1, 1, 1], 400)
    judged = rng.random(y.shape) < 0.6
    noise = rng.normal(size=y.shape) * 0.1
    other = 1.1 * noise + 0.03 * rng.normal(size=y.shape)
    a, b = Errors.at(judged, noise), Errors.at(judged, other)
    rows = rng.integers(0, 400, (2000, 400))
    squares = [np.where(judged, off**2, 0).sum(axis=1)[rows] for off in (noise, other)]
    counts = judged.sum(axis=1)[rows].sum(axis=1)
    roots = [np.sqrt(each.sum(axis=1) / counts) for each in squares]
    assert a.rmse_error() == pytest.approx(roots[0].std(), rel=0.06)
    behind, error = b.behind(a)
    assert behind == pytest.approx(b.rmse - a.rmse)
    assert error == pytest.approx((roots[1] - roots[0]).std(), rel=0.06)
    assert error < b.rmse_error()


@quickly
def test_constant_mean_completes_as_the_formula_says(budget, monkeypatch):
    X, y = budget
    with_errors = compare(X, y, ["constant-mean"], folds=4, random_state=3).table.loc[0]
    monkeypatch.setattr(trial_module, "FOLDS", None)  # so it does not learn how errors go together
    found = compare(X, y, ["constant-mean"], folds=4, random_state=3).table.loc[0]
    squares, count = 0, 0
    for trial in completing_trials(rows(y), 0.2, 3):
        means = np.nanmean(trial.learned, axis=0)
        means = means / means.sum()
        for row, degrees in zip(trial.learned, y.to_numpy(), strict=True):
            holes = np.isnan(row)
            if holes.sum() > 1:
                rest = 1 - np.nansum(row)
                filled = rest * projected(means[holes] / rest)
                squares += np.sum((filled - degrees[holes]) ** 2)
                count += holes.sum()
    assert found["completing_rmse"] == pytest.approx(np.sqrt(squares / count), rel=1e-6)
    assert with_errors["completing_rmse"] < 0.98 * found["completing_rmse"]


def test_a_tiny_table_by_hand():
    # Each fold predicts the two other rows' mean; complete rows, so the errors are plain.
    y = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.3, 0.6, 0.1]])
    found = compare(pd.DataFrame({"x": [1.0, 2, 4]}), y, ["constant-mean"], folds=3)
    others = (y.sum(axis=0) - y) / 2
    row = found.table.loc[0]
    assert row["predicting_rmse"] == pytest.approx(np.sqrt(np.mean((others - y) ** 2)))
    assert row["predicting_mae"] == pytest.approx(np.abs(others - y).mean())
    assert row["cosine"] == pytest.approx(cosine(y, others))
    assert found.recommended == "constant-mean"
    assert found.why.startswith("Nothing beats the constant mean")


@quickly
def test_predicting_equals_cross_val_predict_of_scikit_learn(budget):
    X, y = budget
    found = compare(X, y, ["ridge(alpha=1e-9)"], folds=5).table.set_index("method")
    fold = np.empty(len(y), int)
    for i, trial in enumerate(predicting_trials(rows(y), 5, 0)):
        fold[trial.judged.any(axis=1)] = i
    # Scaling of features and a ridge of nearly 0 change nothing in a linear regression.
    model = RegressorLDL(LinearRegression())
    predicted = cross_val_predict(model, X.to_numpy(), y.to_numpy(), cv=PredefinedSplit(fold))
    row = found.loc[
        "ridge(alpha=1e-09)" if "ridge(alpha=1e-09)" in found.index else found.index[0]
    ]
    expected = np.sqrt(np.mean((predicted - y.to_numpy()) ** 2))
    assert row["predicting_rmse"] == pytest.approx(expected, rel=1e-6)
    assert row["cosine"] == pytest.approx(cosine(y.to_numpy(), predicted), rel=1e-6)


# Comparing


def test_table_and_recommendation(telling):
    reports, names = [], [*FAST, "constant-mean"]
    with listening(lambda text, share: reports.append((text, share))):
        found = compare(*telling, FAST)
    shown = [f"{name} ({i + 1} of {len(names)})" for i, name in enumerate(names)]
    assert reports == [(text, i / len(names)) for i, text in enumerate(shown)]
    table = found.table
    assert sorted(table["method"]) == sorted(names)
    assert table["completing_rmse"].is_monotonic_increasing
    assert table["behind"][0] == 0
    np.testing.assert_allclose(
        table["behind"], table["completing_rmse"] - table["completing_rmse"][0]
    )
    assert found.recommended in FAST
    assert found.why.startswith(found.recommended)
    assert table.set_index("method").loc[found.recommended, "better_than_constant"]
    assert not table.set_index("method").loc["constant-mean", "better_than_constant"]
    assert (table["seconds"] >= 0).all()
    assert found.n_rows == 200


@quickly
def test_same_again_and_other_seed(holey):
    first, again, other = (
        compare(*holey, ["winldl"], folds=2, max_rows=100, random_state=seed).table.drop(
            columns="seconds"
        )
        for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first["completing_rmse"].equals(other["completing_rmse"])


@quickly
def test_a_method_does_not_change_what_others_see(holey):
    alone, among = (
        compare(*holey, methods, folds=2, max_rows=100).table.set_index("method")
        for methods in (["winldl"], ["bfgs-ldl", "winldl"])
    )
    columns = ["completing_rmse", "predicting_rmse", "cosine"]
    pd.testing.assert_series_equal(alone.loc["winldl", columns], among.loc["winldl", columns])


@quickly
def test_features_that_tell_nothing(budget):
    y = budget[1]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(len(y), 3)), columns=list("abc"))
    found = compare(X, hide(y, 0.3, random_state=0), ["ridge", "knn"])
    assert found.recommended == "constant-mean"
    assert "Nothing beats the constant mean" in found.why
    assert not found.table["better_than_constant"].any()


@quickly
def test_text_and_holes_in_features(budget):
    X, y = budget
    X = X.assign(town=np.where(np.arange(len(X)) % 3, "A", "B"))
    X.iloc[::5, 0] = NAN
    found = compare(X, hide(y, 0.3, random_state=0), ["ridge"], folds=2)
    assert (found.table["reason"] == "").all()


class Stubborn(RegressorMixin, BaseEstimator):
    """Refuse everything."""

    def fit(self, X, y):
        raise RuntimeError("No, thank\nyou.")

    def predict(self, X):
        raise NotImplementedError


@quickly
def test_a_method_that_fails_is_a_row_with_a_reason(telling):
    found = compare(*telling, ["winldl", f"{__name__}:Stubborn"], folds=2)
    row = found.table.iloc[-1]
    assert row["reason"] == "No, thank you."
    assert np.isnan(row["completing_rmse"])
    assert found.recommended in {"winldl", "constant-mean"}  # they are about as good here


@quickly
def test_fits_that_do_not_converge_are_counted(holey):
    found = compare(*holey, ["bfgs-ldl(max_iter=2)"])
    assert any("8 fits did not converge" in note for note in found.notes)


@quickly
def test_a_label_that_is_seen_once_is_no_obstacle(holey):
    X, y = holey
    y = y.copy()
    y.iloc[1:, 2] = NAN
    y.iloc[0, 2] = 0.05
    found = compare(X, y, ["ridge", "winldl"], folds=2)
    assert found.table.set_index("method").loc["winldl", "reason"] == ""
    assert found.notes == []


@pytest.mark.parametrize("closed", [False, True])
def test_a_label_that_the_sample_lacks_is_no_obstacle(budget, closed):
    X, y = budget
    y = y if closed else hide(y, 0.3, random_state=0)
    sampled = np.random.default_rng(0).choice(len(y), 50, replace=False)
    y = y.assign(fuel=y["fuel"].mask(np.isin(np.arange(len(y)), sampled)))
    found = compare(X, y, ["ridge"], folds=2, max_rows=50)
    assert (found.table["reason"] == "").all()
    assert found.notes == ["A random sample of 50 of the 400 rows was used."]


@quickly
def test_errors_in_percentage_points(budget):
    X, y = (each[:200] for each in budget)
    fraction, points = (compare(X, y, ["ridge"], scale=scale) for scale in ("count", "percent"))
    assert (fraction.unit, points.unit) == ("", "percentage points")
    errors = [name for name in fraction.table if name.endswith(("rmse", "mae", "se"))]
    np.testing.assert_allclose(points.table[errors], 100 * fraction.table[errors])
    np.testing.assert_array_equal(points.table["cosine"], fraction.table["cosine"])
    assert points.recommended == fraction.recommended
    lowest = points.table["completing_rmse"].min()
    assert f"{lowest:.2f} percentage points" in points.why


def test_two_labels_are_judged_by_predicting(budget):
    X, y = budget
    two = pd.DataFrame({"food": y["food"], "rest": 1 - y["food"]})
    found = compare(X, two, ["ridge"])
    assert found.table["completing_rmse"].isna().all()
    assert found.recommended == "ridge"
    assert "predicts new rows" in found.why
    assert found.notes == [
        "With two labels, a hidden share is 1 minus the other; predicting decides."
    ]


def test_few_rows_are_said_to_be_few(telling):
    X, y = telling
    few = "With fewer than 50 rows, chance may decide which method is best."
    quickly = {"methods": ["constant-mean"], "folds": 2}
    assert compare(X[:49], y[:49], **quickly).notes == [few]
    assert compare(X, y, **quickly, max_rows=20).notes[1:] == [few]
    assert compare(X[:50], y[:50], **quickly).notes == []


@quickly
def test_long_tables_are_sampled(holey):
    found = compare(*holey, ["constant-mean"], folds=2, max_rows=100)
    assert found.n_rows == 100
    assert found.notes[0] == "A random sample of 100 of the 400 rows was used."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["windl"]}, "There is no method 'windl'"),
        ({"folds": 1}, "folds must be an integer at least 2"),
        ({"hidden": 1.0}, "hidden must be a number greater than 0 and below 1"),
        ({"hidden": 0}, "hidden must be a number greater than 0"),
    ],
)
def test_options_that_are_refused(holey, options, message):
    with pytest.raises(ValueError, match=message):
        compare(*holey, **options)


def test_tables_that_are_refused(holey):
    X, y = holey
    with pytest.raises(ValueError, match="X has 3 rows and y has 400"):
        compare(X[:3], y)
    with pytest.raises(ValueError, match=r"The table has 2 row\(s\); methods are compared on at"):
        compare(X[:2], y[:2])
    with pytest.raises(ValueError, match="No share of 'fuel' is known, so no method can be"):
        compare(X, y.assign(fuel=NAN))
    with pytest.raises(ValueError, match="Column 'day' holds times of day or durations"):
        compare(X.assign(day=pd.timedelta_range("1D", periods=len(X))), y, ["ridge"])
