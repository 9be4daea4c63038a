"""What the columns of features are, and what is odd about them."""

import numpy as np
import pandas as pd

from inldl._validation import DataError
from inldl.tables._cell_values import has_numbers, stored_numbers
from inldl.tables.columns import choose

MAX_LEVELS = 50  # as in the encoder
NEARLY_EMPTY = 0.95
COPY = 0.999  # a larger correlation with a label is no coincidence
FEW_ROWS = 10  # fewer prove no copy


def describe_features(columns):
    """Return a frame with a row for each column: what it is, and what the encoder makes of it.

    Parameters
    ----------
    columns : dict of str to Series
        The features.

    Returns
    -------
    DataFrame
        Column, kind (number, text, date, empty, constant, id), share of holes, distinct values,
        remark (empty if there is nothing to say), and whether the column can be used.
    """
    rows, originals = [], {}
    for name, column in columns.items():
        holes = float(column.isna().mean()) if len(column) else 1.0
        kind, remark, usable = _described(name, column)
        if not remark:
            remark = _copy_of_another(name, column, originals) or _mostly_empty(holes)
        rows.append((name, kind, holes, _distinct(column), remark, usable))
    return pd.DataFrame(rows, columns=["column", "kind", "holes", "distinct", "remark", "usable"])


def _described(name, column):
    """Return the kind of a column, a remark, and whether a model can be fitted with it there."""
    try:
        choice = choose(name, column, MAX_LEVELS)
    except DataError as error:
        return error.facts["kind"], error.worded(error.facts["problem"]), False
    left_out = f"is left out: {choice.reason}" if choice.reason else ""
    return choice.kind, left_out or _about_text(choice), True


def _about_text(choice):
    if choice.stray:
        return f"is taken as text, because of {choice.stray}; correct the cell if it is a number"
    if choice.n_levels > MAX_LEVELS:
        return f"has {choice.n_levels} levels; the {MAX_LEVELS} most frequent are told apart"
    return ""


def _distinct(column):
    if has_numbers(column):
        cells = np.sort(stored_numbers(column))  # many times as fast as hashing; NaN come last
        return int(np.count_nonzero(cells[1:] > cells[:-1]) + (cells[:1] == cells[:1]).sum())
    try:
        return int(column.nunique())
    except TypeError:  # cells such as lists, which the encoder refuses
        return int(column.astype(str).nunique())


def _mostly_empty(holes):
    return f"is empty in {holes:.1%} of the rows" if holes > NEARLY_EMPTY else ""


def _copy_of_another(name, column, originals):
    """Return a remark if a column equals an earlier one; remember it among `originals` if not."""
    start = pd.util.hash_pandas_object(column.iloc[:1000], index=False).to_numpy().tobytes()
    for other, cells in originals.get(start, []):
        if cells.equals(column):
            return f"is identical to {other!r}"
    originals.setdefault(start, []).append((name, column))
    return ""


def find_copies(columns, y, labels):
    """Return the columns that are a linear copy of a label: {column: (label, correlation)}.

    Parameters
    ----------
    columns : dict of str to Series
        The features.
    y : ndarray of shape (n, C)
        Degrees, NaN = unobserved.
    labels : list of str
        Their names.
    """
    copies = {}
    for name, column in columns.items():
        if not has_numbers(column):
            continue
        r = _correlations(stored_numbers(column).astype(float), y)
        j = int(np.argmax(np.abs(r)))
        if abs(r[j]) > COPY:
            copies[name] = (labels[j], float(r[j]))
    return copies


def _correlations(x, y):
    """Return the correlation of x with each label over the rows that have both, or 0."""
    both = np.isfinite(x)[:, None] & np.isfinite(y)
    n = np.maximum(both.sum(axis=0), 1)
    with np.errstate(all="ignore"):  # huge numbers, and columns that do not vary
        a, b = (np.where(both, part, 0) for part in (x[:, None], y))
        a, b = (np.where(both, part - part.sum(axis=0) / n, 0) for part in (a, b))
        squares = (a * a).sum(axis=0) * (b * b).sum(axis=0)
        r = (a * b).sum(axis=0) / np.sqrt(squares)
    return np.where(np.isfinite(r) & (both.sum(axis=0) >= FEW_ROWS), r, 0)
