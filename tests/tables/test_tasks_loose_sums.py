"""What is said about a file whose rows sum to less than the whole."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.tables import TableFile, inspect_table
from inldl.tables.tasks import fit_table

LABELS = list("abcd")


@pytest.fixture
def frame():
    """Return percentages with sums of 86 to 98, of which some are missing at random."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([40, 30, 5, 2], 150) * rng.uniform(86, 98, (150, 1))
    frame = pd.DataFrame(hide(shares / 100, 0.25, random_state=0) * 100, columns=LABELS).round(1)
    return frame.assign(x=np.arange(150) % 9)


@pytest.fixture
def learned(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return fit_table(TableFile(tmp_path / "t.csv", LABELS), "constant-mean", normalize=True)


def test_what_rows_lack_is_not_taken_for_large_missing_shares(learned):
    assert learned.size.answer == "random"


def test_column_means_need_not_sum_to_the_whole(learned, frame):
    """Means that fill each row up to 100 would be a poor thing to compare with."""
    overall = learned.completion.overall()
    plain = (frame[LABELS] - frame[LABELS].mean()).abs().stack().mean()
    assert overall["constant_mae"] < 1.1 * plain
    assert overall["mae"] < overall["constant_mae"]


def test_an_inspection_does_not_rest_on_such_sums(frame):
    found = inspect_table(frame[["x"]], frame[LABELS] / 100, scale="percent")
    assert found.size.answer == "unknown"
    told = " ".join(found.findings)
    assert "most complete rows do not sum to 100, so what a row hides is not known" in told
    assert "--normalize" in told
    assert "fills it in exactly" not in told
    assert found.by_label["hidden_mean"].isna().all()


def test_a_few_wrong_sums_are_errors_of_these_rows_alone(frame):
    exact = frame[LABELS].div(frame[LABELS].sum(axis=1), axis=0).where(frame[LABELS].notna())
    exact = exact.mask(frame[LABELS].isna().any(axis=1), frame[LABELS] / 100)
    complete = np.flatnonzero(exact.notna().all(axis=1))
    exact.iloc[complete[0], 0] += 0.2
    found = inspect_table(frame[["x"]], exact)
    assert "a sum other than 1" in found.problems[0].what
    assert found.problems[0].n_rows == 1
    assert found.size.answer != "unknown"
