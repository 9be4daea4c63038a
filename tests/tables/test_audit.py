"""How well a model does: sums by hand, and estimates that agree with the truth."""

import numpy as np
import pandas as pd
import pytest

from inldl import TableModel, hide
from inldl.datasets import load_budget_shares
from inldl.rows.partial import PartialRows
from inldl.tables import audit
from inldl.tables.audit import HeldOut, measure_bounds
from inldl.tables.trial import hide_more


@pytest.fixture(scope="module")
def budget():
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    return X, hide(y, 0.4, random_state=0), y


@pytest.fixture(scope="module")
def fitted(budget):
    return TableModel("winldl").fit(*budget[:2])


def held_out(**changes):
    parts = {
        "observed": np.array([0.1, 0.3, 0.5, 0.9]),
        "predicted": np.array([0.2, 0.3, 0.4, 0.6]),
        "constant": np.array([0.3, 0.3, 0.6, 0.6]),
        "label": np.array([0, 0, 1, 1]),
        "row": np.array([0, 1, 0, 1]),
        "labels": ["a", "b", "c"],
        "how": "By hand.",
    }
    return HeldOut(**{**parts, **changes})


def test_errors_by_hand():
    overall = held_out().overall()
    assert overall["n"] == 4
    assert overall["mae"] == pytest.approx((0.1 + 0 + 0.1 + 0.3) / 4)
    assert overall["rmse"] == pytest.approx(np.sqrt((0.01 + 0 + 0.01 + 0.09) / 4))
    assert overall["constant_mae"] == pytest.approx((0.2 + 0 + 0.1 + 0.3) / 4)
    assert overall["explained"] == pytest.approx(1 - 0.11 / 0.14)
    assert overall["coverage"] is None
    bounded = held_out(lower=np.array([0, 0.31, 0, 0]), upper=np.ones(4))
    assert bounded.overall()["coverage"] == 0.75


def test_by_label():
    frame = held_out().by_label().set_index("label")
    assert frame["n"].tolist() == [2, 2, 0]
    assert frame["bias"].tolist()[:2] == pytest.approx([0.05, -0.2])
    assert np.isnan(frame.loc["c", "rmse"])


def test_reliability_has_all_degrees_in_groups_of_predictions():
    rng = np.random.default_rng(0)
    predicted = rng.random(2000)
    observed = np.clip(predicted + rng.normal(scale=0.1, size=2000), 0, 1)
    frame = held_out(observed=observed, predicted=predicted).reliability()
    assert frame["n"].sum() == 2000
    assert len(frame) == 10
    assert frame["predicted"].is_monotonic_increasing
    assert (np.abs(frame["observed"] - frame["predicted"])[1:-1] < 4 * frame["error"][1:-1]).all()
    single = held_out(predicted=np.full(4, 0.5)).reliability()
    assert single["n"].tolist() == [4]


def test_units_of_the_table():
    bounded = held_out(lower=np.array([0, 0.31, 0, 0]), upper=np.ones(4))
    points = bounded.in_units_of("percent")
    assert points.unit == "percentage points"
    fractions, numbers = bounded.overall(), points.overall()
    for name in ("rmse", "mae", "constant_rmse", "constant_mae"):
        assert numbers[name] == pytest.approx(100 * fractions[name])
    for name in ("n", "coverage"):
        assert numbers[name] == fractions[name]
    assert numbers["explained"] == pytest.approx(fractions["explained"])
    np.testing.assert_allclose(
        points.reliability()[["predicted", "observed", "n"]],
        bounded.reliability()[["predicted", "observed", "n"]] * [100, 100, 1],
    )
    for scale in ("fraction", "count"):
        assert bounded.in_units_of(scale) is bounded
    nothing = held_out(observed=np.empty(0), predicted=np.empty(0)).reliability()
    assert nothing.empty


def test_new_rows_are_judged_without_their_degrees(budget, fitted):
    y = budget[1]
    found = audit.measure_new_rows(fitted, y)
    seen = y.notna().to_numpy()
    np.testing.assert_array_equal(found.observed, y.to_numpy()[seen])
    np.testing.assert_array_equal(found.predicted, fitted.held_out_[seen])
    others = y.drop(index=3)["food"].mean()
    at = (found.row == 3) & (found.label == 0)
    assert found.constant[at] == pytest.approx(others)


def test_estimates_agree_with_the_truth(budget, fitted):
    """The error at degrees that are hidden once more is that at the real holes."""
    X, y, truth = budget
    told = audit.measure_completion(fitted).overall()
    completed = fitted.complete(X, y).to_numpy()
    unknown = y.isna().to_numpy() & (y.isna().sum(axis=1) > 1).to_numpy()[:, None]
    errors = np.abs(completed - truth.to_numpy())[unknown]
    assert told["mae"] == pytest.approx(errors.mean(), rel=0.08)
    told = audit.measure_new_rows(fitted, y).overall()
    errors = np.abs(fitted.held_out_ - truth.to_numpy())
    assert told["mae"] == pytest.approx(errors.mean(), rel=0.08)


def test_hidden_degrees(budget):
    y = budget[1].to_numpy()[:400]
    left, judged = hide_more(y, 0.2, np.random.default_rng(5))
    seen = ~np.isnan(y)
    assert (seen | np.isnan(left)).all()
    kept = ~np.isnan(left)
    np.testing.assert_array_equal(left[kept], y[kept])
    assert kept.any(axis=1)[seen.any(axis=1)].all()
    assert kept.any(axis=0).all()
    hidden = seen & ~kept
    assert hidden.sum() / seen.sum() == pytest.approx(0.2, abs=0.04)
    alone = hidden & (np.isnan(left).sum(axis=1) == 1)[:, None]
    np.testing.assert_array_equal(judged, hidden & ~alone)
    assert alone.any()


def test_test_rows(budget):
    X, _, truth = budget
    model = TableModel("winldl").fit(X[:1000], truth[:1000])
    rows = model.predict_rows(X[1000:])
    y, ends = truth[1000:].to_numpy(), rows.interval(0.9)
    constant = np.broadcast_to(model.means_, y.shape)
    found = HeldOut.of(y, rows.predicted, constant, model.label_names_, ends=ends)
    assert found.overall()["n"] == truth[1000:].size
    assert found.overall()["coverage"] == pytest.approx(0.9, abs=0.03)
    means = truth[:1000].mean()
    np.testing.assert_allclose(found.constant[:6], means / means.sum())


@pytest.mark.parametrize(
    ("weights", "within", "distance"), [(None, 0.5, 7.5), ([3.0, 1.0], 0.5, 6.25)]
)
def test_predictions_beside_bounds(weights, within, distance):
    y = np.array([[0.5, np.nan, np.nan], [np.nan, np.nan, 0.9]])
    known = PartialRows.of(
        y,
        lower=np.array([[np.nan, 0.1, np.nan], [np.nan, 0.02, np.nan]]),
        upper=np.array([[np.nan, 0.2, 0.3], [0.05, 0.1, np.nan]]),
    )
    predicted = np.array([[0.4, 0.25, 0.3], [0.15, 0.05, 0.8]])
    found = measure_bounds(
        known, predicted, None if weights is None else np.array(weights), "percent"
    )
    assert (found.n, found.unit) == (4, "percentage points")
    assert found.within == pytest.approx(within)
    assert found.distance == pytest.approx(distance)
    assert measure_bounds(PartialRows(y), predicted) is None
    assert measure_bounds(known, np.array([[0, 0.1, 0.3], [0.05, 0.1, 0.85]])).distance == 0


def test_few_degrees(budget):
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
    y = pd.DataFrame({"a": [0.4, np.nan, 0.5], "b": [0.6, 0.2, np.nan]})
    model = TableModel("winldl", cross_fit=2).fit(X, y)
    assert audit.measure_completion(model).overall()["n"] == 0
    assert audit.measure_new_rows(model, y).overall()["n"] == 4


@pytest.mark.parametrize("mechanism", ["small", "labels"])
def test_estimates_hold_where_holes_are_not_spread_evenly(budget, mechanism):
    """Either small degrees are missing more often, or some labels."""
    X, truth = (part[::3].reset_index(drop=True) for part in budget[::2])
    y = hide(truth, 0.5, mechanism="small", random_state=0)
    if mechanism == "labels":
        often = np.random.default_rng(0).random(truth.shape) < [0.05, 0.6, 0.4, 0.6, 0.05, 0.05]
        y = truth.mask(often)
    model = TableModel("winldl").fit(X, y)
    completed = model.complete(X, y).to_numpy()
    unknown = y.isna().to_numpy() & (y.isna().sum(axis=1) > 1).to_numpy()[:, None]
    real = np.abs(completed - truth.to_numpy())[unknown].mean()
    found = audit.measure_completion(model)
    assert found.overall()["mae"] == pytest.approx(real, rel=0.1)
    evenly = np.average(np.abs(found.predicted - found.observed))
    assert evenly > 1.15 * real
