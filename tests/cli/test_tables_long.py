"""Commands on tables with a row per thing and label."""

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide, load_budget_shares

LONG = ["--long", "id=house,label=good,value=share"]


@pytest.fixture
def budgets(tmp_path):
    """Write budgets with a row per house and good; return them as a wide table, and the rest."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    X, y = X[:150], hide((100 * y[:150]).round(2), 0.3, random_state=0)
    houses = X.assign(house=[f"h{i}" for i in range(150)])
    long = houses.join(y).melt([*houses], var_name="good", value_name="share")
    long = long.drop(index=long.index[long["share"].isna()][:40])  # some have no row at all
    long.to_csv(tmp_path / "long.csv", index=False)
    return y, long


@pytest.mark.usefixtures("without_trees", "without_figures")
def test_a_long_table_is_completed_in_its_form(inldl, budgets, tmp_path):
    y, long = budgets
    options = [
        *LONG,
        "-m",
        "winldl",
        "--filled-columns",
        "--uncertainty",
        "0.9",
        "--page",
        "page.html",
    ]
    code, out, err = inldl("complete", "long.csv", *options, "-o", "whole.csv")
    assert (code, err) == (0, "")
    assert "Combinations of house and good without a row: 40; they are missing" in out
    assert f"Filled in {int(y.isna().sum().sum()):,} missing shares" in out
    whole = pd.read_csv(tmp_path / "whole.csv")
    assert list(whole) == [*long, "share_low", "share_high", "share_filled"]
    same = whole[: len(long)].drop(columns=["share_low", "share_high", "share_filled"])
    known = long["share"].notna().to_numpy()
    pd.testing.assert_frame_equal(same[known], long.reset_index(drop=True)[known])
    assert len(whole) == len(long) + 40
    assert whole["share_filled"].sum() == y.isna().sum().sum()
    wide = whole.pivot(index="house", columns="good", values="share")
    np.testing.assert_allclose(wide.sum(axis=1), 100, atol=0.06)
    filled = whole[whole["share_filled"] == 1]
    inside = filled["share"].between(filled["share_low"] - 1e-6, filled["share_high"] + 1e-6)
    assert inside.all()


def test_models_are_fitted_to_and_tested_on_long_tables(inldl, budgets):
    assert inldl("fit", "long.csv", *LONG, "-m", "winldl", "-o", "m.inldl")[0] == 0
    code, out, err = inldl("evaluate", "m.inldl", "long.csv", *LONG)
    assert (code, err) == (0, "")
    assert "of 150 rows" in out
    code, out, err = inldl("complete", "long.csv", *LONG, "--model", "m.inldl", "-o", "w.csv")
    assert (code, err) == (0, "")
    code, out, _ = inldl("inspect", "long.csv", *LONG)
    assert "150 rows, 4 feature columns, 6 labels" in out


@pytest.mark.parametrize("command", ["inspect", "complete", "fit", "compare"])
def test_labels_are_named_or_the_table_is_long(inldl, budgets, command):
    out = ["-o", "w.csv"] if command in ("complete", "fit") else []
    code, _, err = inldl(command, "long.csv", *out)
    assert code == 1
    assert err == 'inldl: Name the columns with shares, such as --labels "joy,anger".\n'
    code, _, err = inldl(command, "long.csv", "--labels", "share", *out)
    assert code == 1
    assert err.endswith('read it with --long "id=house,label=good,value=share".\n')
