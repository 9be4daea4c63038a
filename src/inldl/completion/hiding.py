"""Hide observed degrees on purpose, as holes are."""

from dataclasses import dataclass

import numpy as np

MOST_WEIGHT = 5.0  # of a hidden degree, relative to the mean


@dataclass(frozen=True, eq=False)
class Hidden:
    """Rows in which one label is hidden: their numbers, what is left of them, what was hidden."""

    rows: np.ndarray
    labels: np.ndarray
    left: np.ndarray
    degrees: np.ndarray


def hide_each_label(y, seed):
    """Hide each label in all rows in which it is observed.

    A row keeps the holes it has. If it has no other hole, the sum would give the hidden degree
    away; such a row also gets the holes of a row that misses the label, or one at random if there
    is no such row with several holes.
    """
    generator = np.random.default_rng([seed, 1])
    return [_hide_label(y, label, generator) for label in range(y.shape[1])]


def _hide_label(y, label, generator):
    holes, n_labels = np.isnan(y), y.shape[1]
    rows = np.flatnonzero(~holes[:, label])
    left = y[rows]
    left[:, label] = np.nan
    alone = np.flatnonzero(np.isnan(left).sum(axis=1) == 1)
    like = np.flatnonzero(holes[:, label] & (holes.sum(axis=1) > 1))
    if len(like):
        left[alone] = np.where(holes[generator.choice(like, len(alone))], np.nan, left[alone])
    elif n_labels > 1:
        other = (label + generator.integers(1, n_labels, len(alone))) % n_labels
        left[alone, other] = np.nan
    return Hidden(rows, np.full(len(rows), label), left, y[rows, label])


def share_of_holes(left, y):
    """Return weights with which rows of `left` have as many holes as those of `y`.

    They are 1 if y has no row with several holes.
    """
    n_labels = y.shape[1]
    have, want = (np.isnan(a).sum(axis=1) for a in (left, y))
    want = np.bincount(want, minlength=n_labels + 1) * np.arange(n_labels + 1.0)
    want[:2] = 0
    if not want.any():
        return np.ones(len(left))
    weights = (want / np.maximum(np.bincount(have, minlength=n_labels + 1), 1))[have]
    if not weights.any():
        return np.ones(len(left))
    return np.minimum(weights / weights.mean(), MOST_WEIGHT)
