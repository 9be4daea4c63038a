"""Whether features tell where degrees are missing."""

import numpy as np
import pandas as pd
from scipy import stats

from inldl.tables._cell_values import has_numbers

LEVELS = 10  # the most frequent words of a text column, each of which is looked at
EXPECTED = 5  # rows that a rare word and a rare hole should share by chance, else p is not exact
COLUMNS = ["label", "feature", "value", "correlation", "p_value"]


def find_dependence(columns, y, labels):
    """Correlate the holes of each label with each feature.

    Numbers and dates are taken as ranks, text as whether it is one of its ten most frequent
    words; whether a feature is itself missing is looked at as well. So only what rises or falls
    with a feature is found.

    Parameters
    ----------
    columns : dict of str to Series
        The features.
    y : ndarray of shape (n, C)
        Degrees, NaN = unobserved.
    labels : list of str
        Their names.

    Returns
    -------
    DataFrame
        Label, feature, value ("larger", "missing", or a word in quotes), rank correlation, and
        p value times the number of tests, at most 1 (Bonferroni); the largest correlations first.
    """
    holes = np.isnan(y).astype(float)
    asked = np.flatnonzero((holes.mean(axis=0) > 0) & (holes.mean(axis=0) < 1))
    if not len(asked):
        return pd.DataFrame(columns=COLUMNS)
    names, holes = np.asarray(labels, dtype=object)[asked], holes[:, asked]
    found = []
    for feature, value, numbers in _questions(columns):
        r, p = _correlations(numbers, holes)
        found += [(names[j], feature, value, r[j], p[j]) for j in np.flatnonzero(~np.isnan(p))]
    found = pd.DataFrame(found, columns=COLUMNS)
    found["p_value"] = np.minimum(found["p_value"] * len(found), 1)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True)


def _questions(columns):
    """Yield (feature, value, numbers) for all that can be asked of the features."""
    for name, column in columns.items():
        missing = column.isna()
        if missing.any():
            yield name, "missing", missing.to_numpy(float)
        if _is_ordered(column):
            ranks = column.rank()
            yield name, "larger", ranks.fillna(ranks.mean()).fillna(0).to_numpy(float)
        else:
            words = column.astype(object).map(str, na_action="ignore")
            for word in words.value_counts().index[:LEVELS]:
                yield name, repr(word), (words == word).to_numpy(float)


def _is_ordered(column):
    """Tell whether a column has numbers, truth values, dates or durations."""
    return has_numbers(column) or column.dtype.kind in "mM"


def _correlations(numbers, holes):
    """Return the correlations of a column with the holes of each label, and their p values.

    These are NaN where a column hardly varies, so that its t test would not be exact.
    """
    n, rate = len(holes), holes.mean(axis=0)
    usual = pd.Series(numbers).value_counts().iloc[0]
    exact = (n - usual) * np.minimum(rate, 1 - rate) >= EXPECTED
    if not exact.any():
        return np.zeros(len(rate)), np.full(len(rate), np.nan)
    products = (numbers - numbers.mean()) @ holes / n
    r = (products / (numbers.std() * np.sqrt(rate * (1 - rate)))).clip(-1, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return r, np.where(exact, 2 * stats.t.sf(t, n - 2), np.nan)
