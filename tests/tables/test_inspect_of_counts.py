"""Looking at counts of which some are missing."""

import numpy as np
import pandas as pd

from inldl.tables import inspect_table

LABELS = ["a", "b", "c"]


def counts_with_holes():
    """Return a feature and counts as shares of those that are observed, each row summing to 1."""
    rng = np.random.default_rng(0)
    y = rng.integers(1, 20, (60, 3)).astype(float)
    y[rng.random(60) < 0.5, 0] = np.nan
    y /= np.nansum(y, axis=1, keepdims=True)
    return pd.DataFrame({"x": np.arange(60) ** 1.5}), pd.DataFrame(y, columns=LABELS)


def test_rows_without_totals_tell_nothing_of_their_holes():
    X, y = counts_with_holes()
    assert "Missing shares seem to be zeros" in inspect_table(X, y).findings[0]
    found = inspect_table(X, y, totals=False)
    assert found.size.answer == "unknown"
    assert found.size.n_rows == y.isna().any(axis=1).sum()
    assert found.by_label["hidden_mean"].isna().all()
    assert len(found.findings) == 1
    assert "totals of rows with a missing count are not known" in found.findings[0]


def test_counts_without_holes_are_complete():
    X, y = counts_with_holes()
    whole = y.notna().all(axis=1)
    assert inspect_table(X[whole], y[whole], totals=False).size.answer == "complete"
