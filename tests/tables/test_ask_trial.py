"""Asking, played through on known degrees."""

import numpy as np
import pandas as pd
import pytest

from inldl.progress import listening
from inldl.tables import simulate_asking
from inldl.tables.ask_trial import within_budget


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 2))
    sizes = np.array([3.0, 1.0, 0.3, 0.1])  # of the errors of the labels
    y = np.exp(X @ rng.normal(size=(2, 4)) / 4 + np.log(sizes) + 0.5 * rng.normal(size=(45, 4)))
    return pd.DataFrame(X, columns=["x", "z"]), pd.DataFrame(y).div(y.sum(axis=1), axis=0)


@pytest.fixture(scope="module")
def trial(data):
    told = []
    with listening(lambda text, share: told.append(share)):
        found = simulate_asking(*data, "winldl", rounds=2)
    return found, told


def test_all_start_from_the_same_error_and_spend_the_same(trial):
    found, told = trial
    curves = found.curves.pivot(index="round", columns="strategy", values="rmse")
    assert list(found.areas) == ["ask", "random", "widest interval", "most-missing row"]
    assert curves.loc[0].nunique() == 1
    assert (curves.loc[2] < curves.loc[0]).all()
    cost = found.curves.pivot(index="round", columns="strategy", values="cost")
    assert cost.loc[2].max() <= found.n_hidden / 2
    assert (cost.loc[2] > 0.8 * cost.loc[2].max()).all()
    assert told[-1] == 1
    assert sorted(told) == told


def test_asking_is_better_than_chance_where_labels_differ_in_their_errors(trial):
    found, _ = trial
    assert found.areas["ask"] < found.areas["random"]


def test_areas_are_means_over_what_was_spent(trial):
    found, _ = trial
    part = found.curves[found.curves["strategy"] == "ask"]
    rmse, cost = part["rmse"].to_numpy(), part["cost"].to_numpy()
    by_hand = np.trapezoid(rmse, cost) / cost[-1] / rmse[0]
    assert found.areas["ask"] == pytest.approx(by_hand)


def test_it_is_the_same_each_time_and_strategies_can_be_added(data):
    def last(standing, budget, prices, generator):
        cells = np.nonzero(standing.errors.spread > 0)
        return tuple(each[::-1] for each in cells)

    how = {"rounds": 1, "row_cost": 3.0, "cell_cost": 1.0, "by": "row"}
    found, again = (
        simulate_asking(*data, "winldl", **how, strategies={"last": last}) for _ in range(2)
    )
    pd.testing.assert_frame_equal(found.curves, again.curves)
    assert "last" in found.areas
    assert found.curves["cost"].max() <= 2 * found.n_hidden / 2


def test_rows_with_holes_are_left_out_and_percentages_are_points(data):
    X, y = data
    y = y.mask(np.repeat(np.arange(45)[:, None] < 3, 4, axis=1))
    how = {"rounds": 1, "strategies": {}, "max_rows": 30}
    found = simulate_asking(X, y, "winldl", **how, scale="percent")
    assert found.notes == [
        "Rows with missing shares were left out: 3.",
        "A random sample of 30 of 42 rows was used.",
    ]
    assert (found.n_rows, found.unit) == (30, "percentage points")
    plain = simulate_asking(X, y, "winldl", **how)
    np.testing.assert_allclose(found.curves["rmse"], 100 * plain.curves["rmse"])


def test_what_cannot_be_played(data):
    X, y = data
    with pytest.raises(ValueError, match="Only 0 rows have all their shares"):
        simulate_asking(X, y.mask(np.eye(4, dtype=bool)[np.arange(45) % 4]), "winldl")
    with pytest.raises(ValueError, match="hidden must be a number greater than 0 and below 1"):
        simulate_asking(X, y, hidden=1.5)
    with pytest.raises(ValueError, match="rounds must be"):
        simulate_asking(X, y, rounds=0)


def test_the_first_answer_in_a_row_has_its_price():
    rows, labels = [4, 4, 2, 4], [0, 1, 0, 2]
    found = within_budget(rows, labels, 7, 3.0, 1.0)
    assert (found[0].tolist(), found[1].tolist(), found[2]) == ([4, 4, 2], [0, 1, 0], 7)
    assert within_budget(rows, labels, 6.5, 3.0, 1.0)[2] == 4
    assert within_budget([], [], 1)[2] == 0
