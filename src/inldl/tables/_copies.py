"""Rows that stand in a table more than once, or belong together."""

import numpy as np
import pandas as pd

from inldl._text import counted
from inldl.completion.examples import row_keys

COPIES = 0.9  # share of the rows with equal features that must have equal degrees, too


def distinct_rows(encoded, degrees):
    """Return the first of all equal rows, or None if there are no copies.

    Rows with the same features are copies if nearly all of these have the same degrees, too; else
    they are people who happen to look alike.
    """
    _, alike, counts = np.unique(row_keys(encoded), return_inverse=True, return_counts=True)
    if counts.max() == 1:
        return None
    whole = row_keys(np.column_stack([alike, np.where(np.isnan(degrees), -1, degrees)]))
    _, first, same, copies = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    shared = counts[alike] > 1
    if (copies[same] == counts[alike])[shared].mean() < COPIES:
        return None
    return np.sort(first)


def copies_note(n_copies):
    """Return a sentence on rows that stand in a table more than once."""
    equal = "equals" if n_copies == 1 else "equal"
    return f"{counted(n_copies, 'row')} {equal} an earlier one and did not count again."


def weights_of_copies(encoded, degrees, weights, once):
    """Return the weights of the first of equal rows: those of all their copies together."""
    if weights is None or once is None:
        return weights
    keys = row_keys(np.column_stack([encoded, np.where(np.isnan(degrees), -1, degrees)]))
    which = np.unique(keys, return_inverse=True)[1]
    return np.bincount(which, weights)[which][once]


def group_numbers(groups, n):
    """Return the number of the group of each row; refuse rows without one."""
    groups = np.asarray(groups, dtype=object)
    if groups.shape != (n,):
        raise ValueError(f"groups must name one group for each of {n} rows, got {groups.shape}.")
    empty = np.flatnonzero(pd.isna(groups))
    if empty.size:
        raise ValueError(f"Row {empty[0]} has no group; name one for each row.")
    return np.unique(groups.astype(str), return_inverse=True)[1]
