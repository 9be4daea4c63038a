"""What the columns of a table are, and what they tell about its labels."""

import numpy as np
import pandas as pd
from scipy import stats

from inldl.errors import DataError
from inldl.tables.columns import Cells
from inldl.tables.columns.encoder import MAX_LEVELS, choose

NEARLY_EMPTY = 0.95
COPY = 0.999  # a larger correlation with a label is no coincidence
ROWS_FOR_COPY = 10  # fewer prove no copy
WORDS = 10  # the most frequent ones of a text column, each of which is looked at
EXPECTED = 5  # rows that a rare word and a missing degree share by chance, else p is not exact
DEPENDENCE = ["label", "feature", "value", "correlation", "p_value"]


def describe_features(frame, where=None, date_order=None) -> pd.DataFrame:
    """Return a frame with a row for each column: what it is, and what the encoder makes of it.

    It has the columns kind (number, text, date, empty, constant, id), holes (a share), distinct,
    remark (empty if there is nothing to say) and usable. `where` turns the number of a row into
    words, such as "Line 7". `date_order` says what comes first in dates that leave it open.
    """
    rows: list[tuple] = []
    originals: dict[bytes, list] = {}
    for name, column in frame.items():
        holes = float(column.isna().mean()) if len(column) else 1.0
        kind, remark, usable = _described(name, column, where, date_order)
        remark = remark or _copy_of_another(name, column, originals)
        if not remark and holes > NEARLY_EMPTY:
            remark = f"is empty in {holes:.1%} of the rows"
        rows.append((name, kind, holes, _distinct(name, column), remark, usable))
    return pd.DataFrame(rows, columns=["column", "kind", "holes", "distinct", "remark", "usable"])


def _described(name, column, where, date_order):
    """Return the kind of a column, a remark, and whether a model can be fitted with it there."""
    try:
        choice = choose(name, column, MAX_LEVELS, date_order)
    except DataError as error:
        placed = error if where is None else error.with_place(where)
        return error.facts["kind"], placed.format(error.facts["problem"]), False
    remark = ""
    if choice.reason:
        remark = f"is left out: {choice.reason}"
    elif choice.stray:
        cell, row = choice.stray
        place = f"row {row} (counted from 0)" if where is None else where(row).lower()
        remark = f"is taken as text, because of {cell!r} in {place}; correct the cell if it is a "
        remark += "number"
    elif choice.n_levels > MAX_LEVELS:
        remark = f"has {choice.n_levels} levels; the {MAX_LEVELS} most frequent are kept apart"
    return choice.kind, remark, True


def _distinct(name, column):
    numbers = Cells(name, column).stored
    if numbers is not None:
        return len(np.unique(numbers[~np.isnan(numbers)]))
    try:
        return int(column.nunique())
    except TypeError:  # cells such as lists, which the encoder refuses
        return int(column.astype(str).nunique())


def _copy_of_another(name, column, originals):
    """Return a remark if a column equals an earlier one; remember it among `originals` if not."""
    start = pd.util.hash_pandas_object(column.iloc[:1000], index=False).to_numpy().tobytes()
    for other, cells in originals.get(start, []):
        if cells.equals(column):
            return f"is identical to {other!r}"
    originals.setdefault(start, []).append((name, column))
    return ""


def find_copies(columns, y, labels) -> dict[str, tuple[str, float]]:
    """Return the columns that are a linear copy of a label: {column: (label, correlation)}."""
    copies = {}
    for name, column in columns.items():
        numbers = Cells(name, column).stored
        if numbers is None:
            continue
        r = _correlations(numbers.astype(float), y)
        j = int(np.argmax(np.abs(r)))
        if abs(r[j]) > COPY:
            copies[name] = (labels[j], float(r[j]))
    return copies


def _correlations(x, y):
    """Return the correlation of x with each label over the rows that have both, or 0."""
    x, y = (pd.DataFrame(np.where(np.isfinite(values), values, np.nan)) for values in (x, y))
    both = y.notna().to_numpy() & x.notna().to_numpy()
    enough, r = both.sum(axis=0) >= ROWS_FOR_COPY, np.zeros(y.shape[1])
    with np.errstate(all="ignore"):  # huge numbers, and columns that do not vary
        r[enough] = y.loc[:, enough].corrwith(x[0])
    return np.where(np.isfinite(r), r, 0)


def find_dependence(columns, y, labels) -> pd.DataFrame:
    """Correlate where each label is missing with each feature.

    Numbers and dates are taken as ranks, text as whether it is one of its ten most frequent
    words; whether a feature is itself missing is looked at as well. So only what rises or falls
    with a feature is found.

    The frame has label, feature, value ("larger", "missing", or a word in quotes), rank
    correlation, and p value times the number of tests, at most 1 (Bonferroni); the largest
    correlations come first.
    """
    holes = np.isnan(y).astype(float)
    asked = np.flatnonzero((holes.mean(axis=0) > 0) & (holes.mean(axis=0) < 1))
    if not len(asked):
        return pd.DataFrame(columns=DEPENDENCE)
    names, holes = np.asarray(labels, dtype=object)[asked], holes[:, asked]
    found = []
    for feature, value, numbers in _questions(columns):
        r, p = _missing_correlations(numbers, holes)
        found += [(names[j], feature, value, r[j], p[j]) for j in np.flatnonzero(~np.isnan(p))]
    found = pd.DataFrame(found, columns=DEPENDENCE)
    found["p_value"] = np.minimum(found["p_value"] * len(found), 1)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True)


def _questions(columns):
    """Yield (feature, value, numbers) for all that can be asked of the features."""
    for name, column in columns.items():
        missing = column.isna()
        if missing.any():
            yield name, "missing", missing.to_numpy(float)
        if Cells(name, column).stored is not None or column.dtype.kind in "mM":
            ranks = column.rank()
            yield name, "larger", ranks.fillna(ranks.mean()).fillna(0).to_numpy(float)
        else:
            words = column.astype(object).map(str, na_action="ignore")
            for word in words.value_counts().index[:WORDS]:
                yield name, repr(word), (words == word).to_numpy(float)


def _missing_correlations(numbers, holes):
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
