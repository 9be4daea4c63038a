"""Rows that must be held out together: copies, and rows of one group."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.datasets import load_budget_shares
from inldl.files import load_model, save_model
from inldl.tables import TableModel, audit, compare

AUTO = pytest.param("auto", marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def table():
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    return X[:100], hide(y[:100], 0.3, random_state=0)


@pytest.fixture
def thrice(table):
    return [pd.concat([part] * 3, ignore_index=True) for part in table]


@pytest.mark.parametrize("method", ["winldl", AUTO])
def test_copies_make_no_error_look_small(table, thrice, method):
    once, copied = TableModel(method).fit(*table), TableModel(method).fit(*thrice)
    assert (once.n_copies_, copied.n_copies_) == (0, 200)
    completing = [audit.measure_completion(model) for model in (once, copied)]
    predicting = [
        audit.measure_new_rows(once, table[1]),
        audit.measure_new_rows(copied, thrice[1]),
    ]
    for errors in (completing, predicting):
        plain, other = (each.overall()["mae"] for each in errors)
        assert other == pytest.approx(plain, rel=0.02)
    assert len(copied.complete(*thrice)) == 300


def test_people_who_look_alike_are_no_copies():
    """With few kinds of people and few answers, equal rows are many people."""
    answers = pd.DataFrame({"yes": [1.0, 0, 1, 0] * 20})
    answers["no"] = 1 - answers["yes"]
    X = pd.DataFrame({"sex": ["f", "f", "m", "m"] * 20})
    model = TableModel("winldl", cross_fit=None).fit(X, answers)
    assert model.n_copies_ == 0
    assert model.predict(X)["yes"].to_numpy() == pytest.approx(0.5, abs=1e-3)


def test_shares_alone_are_never_copies():
    y = pd.DataFrame({"a": [0.2, 0.2, 0.5] * 5, "b": [0.8, 0.8, 0.5] * 5})
    assert TableModel().fit(y[[]], y).n_copies_ == 0


def test_copies_do_not_count_in_comparisons(thrice):
    found = compare(*thrice, ["constant-mean"])
    assert "200 rows equal an earlier one and did not count again." in found.notes
    assert found.table["predicting_rmse"].item() > 0.05


@pytest.mark.parametrize("method", ["ridge", AUTO])
def test_rows_of_a_group_are_held_out_together(method):
    """Each group has shares of its own, which nothing but its features tells."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 5)
    X = pd.DataFrame(rng.normal(size=(30, 8))[groups] + rng.normal(0, 1e-3, (150, 8)))
    y = pd.DataFrame(rng.dirichlet(np.ones(4), 30)[groups])
    together = TableModel(method).fit(X, y, groups=[f"group {g}" for g in groups])
    apart = TableModel(method).fit(X, y)
    known, unknown = (audit.measure_new_rows(m, y).overall()["mae"] for m in (apart, together))
    assert unknown > (1.05 if method == "ridge" else 1.5) * known
    kept = together.held_out_sample_.groups
    assert np.array_equal(kept[:, None] == kept, groups[:, None] == groups)


def test_groups_are_kept_in_a_file(table, tmp_path):
    model = TableModel("winldl").fit(*table, groups=np.arange(100) // 5)
    save_model(model, tmp_path / "m.inldl")
    loaded = load_model(tmp_path / "m.inldl")
    assert loaded.complete(*table).equals(model.complete(*table))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2], "groups must name one group for each of 100 rows"),
        ([None] + [1] * 99, "Row 0 has no group"),
        (["a"] * 100, "All rows are of one group"),
    ],
)
def test_unusable_groups_are_refused(table, groups, words):
    with pytest.raises(ValueError, match=words):
        TableModel("winldl").fit(*table, groups=groups)
