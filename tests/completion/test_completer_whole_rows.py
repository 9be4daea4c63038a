"""Completing tables whose rows are either complete or empty."""

import numpy as np
import pandas as pd
import pytest

from inldl.completion import Completer
from inldl.report.pages.table import completion_page
from inldl.rows.partial import PartialRows
from inldl.tables import TableFile
from inldl.tables.completing import complete_table
from inldl.tables.tasks import fit_table

LABELS = list("abcd")


@pytest.fixture(scope="module")
def table():
    """Return distributions, the same with a third of the rows empty, and their mean."""
    truth = np.random.default_rng(0).dirichlet([5.0, 3.0, 2.0, 0.5], 240)
    y = truth.copy()
    y[::3] = np.nan
    return truth, y, np.tile(np.nanmean(y, axis=0), (240, 1))


def test_empty_rows_are_as_unsure_as_their_predictions(table):
    truth, y, predicted = table
    completer = Completer().fit(PartialRows(y), predicted)
    filled, lower, upper = completer.fill_with_intervals(PartialRows(y), predicted, 0.9)
    empty = np.isnan(y)
    inside = (lower <= truth) & (truth <= upper)
    assert 0.84 <= inside[empty].mean() <= 0.95
    draws = completer.draw(PartialRows(y), predicted, 20, seed=0)
    rmse = np.sqrt(np.square(filled - truth)[empty].mean())
    assert np.sqrt(draws.var(axis=0, ddof=1)[empty].mean()) == pytest.approx(rmse, rel=0.2)


def test_the_expected_error_is_that_of_whole_rows(table, tmp_path):
    """A share that is hidden beside known ones is easier to fill in than a whole row."""
    truth, y, _ = table
    frame = pd.DataFrame(y, columns=LABELS).assign(x=np.arange(240) % 7)
    frame.to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv", LABELS)
    learned = fit_table(file, "constant-mean")
    written = complete_table(file, learned.model, tmp_path / "o.csv", scale=learned.scale)
    told = " ".join(completion_page(written, learned, learned.model, "t.csv", "o.csv").summary)
    assert "most of the missing shares are in rows without a known one" in told
    whole = pd.read_csv(tmp_path / "o.csv")[LABELS].to_numpy()
    real = np.abs(whole - truth)[np.isnan(y)].mean()
    assert learned.new_rows.overall()["mae"] == pytest.approx(real, rel=0.15)
    assert learned.completion.overall()["mae"] < 0.8 * real
