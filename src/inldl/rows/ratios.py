r"""Rows of which only the ratios of the observed degrees are known.

Where missing labels were dropped and the others divided by their sum, a row with the observed
labels o has numbers :math:`r_j, j \in o`, that sum to 1. Its degrees are :math:`d_j = s r_j`, with
an unknown scale s in (0, 1]. If p is predicted for the row,

.. math:: s = \textstyle\sum_{j \in o} p_j

is the scale that is expected of it: :math:`p` tells how much the labels in o have together, and
:math:`r` how they divide it. A complete row has the scale 1. A row with one observed label tells
nothing, as its only number is 1. Zeros stay zeros, also if a row has no other number.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from inldl.errors import DataError
from inldl.rows.checks import is_off
from inldl.rows.missingness import partial_rows

Array = np.ndarray
LEAST = 1e-3  # scale of a row: what is predicted to be nothing at all has been seen
ROUNDS, SMALL_CHANGE = 50, 1e-4  # of the distribution of all rows
TINY = float(np.finfo(float).tiny) ** 0.5  # labels of which nothing is predicted share evenly
FEW = 5  # rows whose sums may be 1 by chance


def check_ratios(y: Array, first_row: int = 0) -> None:
    """Refuse rows with holes whose observed numbers are not ratios that sum to 1.

    Rows are counted from `first_row`. Sums that rounding explains are fine.
    """
    partial = np.flatnonzero(partial_rows(y))
    sums = np.asarray(np.nansum(y[partial], axis=1, dtype=np.float64))
    off = is_off(np.abs(sums - 1), y[partial]) & (sums != 0)
    wrong = np.flatnonzero(off | (y[partial] < 0).any(axis=1))
    if wrong.size:
        raise DataError(
            "The known degrees of {row} sum to {total:.6g}, but ratios sum to 1 in each row with "
            "holes ({count} row(s) do not): divide these rows by their sums, or leave "
            "known='ratios' (--ratios) out if they are degrees.",
            row=int(first_row + partial[wrong[0]]),
            total=sums[wrong[0]],
            count=wrong.size,
        )


def look_like_ratios(y: Array) -> bool:
    """Say whether the known degrees of all rows with holes sum to 1, so that holes would be 0."""
    partial = partial_rows(y) & ((~np.isnan(y)).sum(axis=1) > 1)
    if np.count_nonzero(partial) < FEW:
        return False
    return not is_off(
        np.abs(np.nansum(y[partial], axis=1, dtype=np.float64) - 1), y[partial]
    ).any()


def telling(y: Array) -> Array:
    """Return the ratios without those of rows that have a single one, which is 1."""
    known = ~np.isnan(y)
    alone = (known.sum(axis=1) == 1) & (np.nansum(y, axis=1) > 0) & (y.shape[1] > 1)
    return np.where(alone[:, None], np.nan, y) if alone.any() else y


def scales(y: Array, predicted: Array) -> Array:
    """Return the scale of each row: what is predicted for its observed labels together."""
    return RatioRows.of(y).scales(predicted.T)


def scaled(y: Array, predicted: Array) -> Array:
    """Return degrees: the ratios times the scales that predictions of the rows give them."""
    return (y * scales(y, predicted)[:, None]).astype(y.dtype, copy=False)


def known_ratios(y: Array, predicted: Array) -> tuple[Array, Array]:
    """Return ratios beside those that are predicted at the same labels; NaN and 0 at holes.

    Predictions of rows that tell nothing stay as they are.
    """
    told = np.where(np.nansum(y, axis=1, keepdims=True) > 0, telling(y), np.nan)
    there = np.where(np.isnan(told), 0, predicted + TINY)
    sums = there.sum(axis=1, keepdims=True)
    return told, np.where(sums > 0, there / np.where(sums > 0, sums, 1), predicted)


def constant_distribution(y: Array, weights: Array | None = None) -> Array:
    """Return the distribution that, predicted for every row, agrees best with its ratios.

    It is the mean of the rows, completed and scaled by itself.
    """
    rows = RatioRows.of(telling(y), weights)
    return settled(rows.completed, y.shape[1])


def settled(completed: Any, n_labels: int) -> Array:
    """Return the distribution p that is the mean of all rows if they are completed by p.

    `completed(p)` returns the sum of the rows, and how many they are; then perhaps more.
    """
    p = np.full(n_labels, 1 / n_labels)
    for _ in range(ROUNDS):
        total, count, *_ = completed(p)
        before, p = p, total / max(count, 1)
        if np.abs(p - before).max() < SMALL_CHANGE:
            break
    return p


@dataclass(frozen=True)
class RatioRows:
    """The ratios of rows, labels x rows, 0 at holes; and the weights of the rows."""

    ratios: Array
    seen: Array
    whole: Array
    weights: Array

    @classmethod
    def of(cls, y: Array, weights: Array | None = None) -> "RatioRows":
        """Take the ratios of rows x labels; each row counts once without weights."""
        seen = ~np.isnan(y.T)
        own = np.ones(len(y)) if weights is None else weights
        return cls(np.where(seen, y.T, 0), seen, seen.all(axis=0), own)

    def scales(self, predicted: Array) -> Array:
        """Return the scale of each row from predictions, labels x rows or labels x 1."""
        mass = np.where(self.seen, predicted, 0).sum(axis=0, dtype=np.float64)
        return np.where(self.whole, 1, np.clip(mass, LEAST, 1))

    def completed(self, p: Array) -> tuple[Array, float]:
        """Return the sum of the rows that have ratios, completed by a distribution p."""
        some = self.weights * self.ratios.any(axis=0)
        degrees = np.where(self.seen, self.ratios * self.scales(p[:, None]), p[:, None])
        return degrees @ some, float(some.sum())
