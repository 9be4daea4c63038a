"""Commands on tables as people have them."""

import gzip

import numpy as np
import pandas as pd
import pytest

from inldl.datasets import hide, load_budget_shares


@pytest.fixture
def messy(tmp_path):
    """Write a table with a title, a note, marks for missing cells and columns of no use."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    y = (100 * hide(y[:120], 0.3, random_state=0)).round(2)
    shares = y.map(lambda x: "s" if np.isnan(x) else f"{x}\u00a0%".replace(".", ","))
    names = pd.DataFrame({"place": [f"k{i // 2}" for i in range(120)], "tmp": range(120)})
    text = names.join(X[:120]).join(shares).to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "t.csv.gz").write_bytes(
        gzip.compress(f"Budgets, 1980\n{text}\nSource: the survey\n".encode())
    )
    return ",".join(y)


def test_a_table_with_all_that_is_completed(inldl, messy, tmp_path):
    options = ["-l", messy, "--na", "s", "--id", "place", "--ignore", "tmp", "-m", "winldl"]
    code, out, err = inldl("complete", "t.csv.gz", *options, "-o", "whole.csv.gz")
    assert (code, err) == (0, "")
    assert "The first line is above the header and was skipped." in out
    assert "Filled in" in out
    whole = gzip.decompress((tmp_path / "whole.csv.gz").read_bytes()).decode()
    assert whole.startswith("Budgets, 1980\n")
    assert whole.endswith("\n\nSource: the survey\n")
    assert ";s;" not in whole
    code, out, err = inldl("inspect", "whole.csv.gz", "-l", messy, "--features", "age,income")
    assert (code, err) == (0, "")
    assert "120 rows, 2 feature columns, 6 labels" in out


@pytest.mark.parametrize("command", ["complete", "fit", "compare", "inspect"])
def test_the_help_shows_an_example_of_each_new_option(inldl, command):
    code, out, _ = inldl(command, "--help")
    assert code == 0
    for example in ('"notes,tmp_*"', '"age,income"', '"s,x,-99"', '"county"'):
        assert example in out
