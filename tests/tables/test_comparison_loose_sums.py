"""Methods compared on a table whose sums vary."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.rows.partial import PartialRows
from inldl.tables import compare
from inldl.tables.table_rows import TrainingRows
from inldl.tables.trial import completing_trials, divided


@pytest.fixture
def table():
    """Return features, shares of sums .88 to .97 as they are read, and these sums."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([40, 30, 5, 2], 55) * rng.uniform(0.88, 0.97, (55, 1))
    y, sums = divided(hide(shares, 0.2, random_state=0))
    return pd.DataFrame({"x": rng.normal(size=55)}), pd.DataFrame(y, columns=list("abcd")), sums


def test_completing_takes_the_sums_into_account(table):
    """What rows lack is not filled into their holes."""
    X, y, sums = table
    errors = [
        compare(X, y, ["constant-mean"], divisors=each).table["completing_mae"][0]
        for each in (None, sums)
    ]
    assert errors[1] < 0.8 * errors[0]


def test_a_single_hole_is_judged_where_no_sum_gives_it(table):
    X, shares, sums = table
    y = shares.to_numpy() * sums[:, None]
    training = TrainingRows(X, PartialRows(shares.to_numpy()), sums)
    for trial in completing_trials(training, 0.2, 0):
        np.testing.assert_array_equal(trial.judged, ~np.isnan(y) & np.isnan(trial.learned))
        np.testing.assert_array_equal(trial.truth, y)


def test_rows_of_weight_0_are_left_out_with_their_sums(table):
    X, y, sums = table
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    kept = weights > 0
    spoiled = np.where(kept, sums, 7.0)
    found = compare(X, y, ["constant-mean"], divisors=spoiled, sample_weight=weights).table
    fewer = compare(X[kept], y[kept], ["constant-mean"], divisors=sums[kept]).table
    assert found["completing_mae"][0] == pytest.approx(fewer["completing_mae"][0])


def test_rows_are_divided_as_they_are_when_a_file_is_read():
    y = np.array([[0.4, 0.5], [0.4, np.nan], [1.02, np.nan], [0, 0]])
    found, sums = divided(y)
    np.testing.assert_allclose(found, [[4 / 9, 5 / 9], [0.4, np.nan], [1, np.nan], [0, 0]])
    np.testing.assert_allclose(sums, [0.9, 1, 1.02, 1])
