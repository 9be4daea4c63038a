"""What is known of a row with holes: its observed degrees, and the sum of the others."""

import numpy as np

from inldl.rows.missingness import partial_rows

Array = np.ndarray


def known_cells(y: Array, predicted: Array) -> tuple[Array, Array]:
    """Return what is known of rows beside what is predicted there, one cell more than labels.

    A prediction that is judged at the observed degrees only is judged by too large ones, where
    small ones are missing. The sum of the holes is known as well: it is one more cell. So `y` is
    followed by what the observed degrees leave, NaN in rows without holes, and in rows without
    degrees, where it tells nothing. The predictions are 0 at the holes, and followed by their sum
    there.
    """
    holes = np.isnan(y)
    rest = np.where(partial_rows(y), np.maximum(1 - np.nansum(y, axis=1), 0), np.nan)
    sums = np.where(holes, predicted, 0).sum(axis=1)
    return np.column_stack([y, rest]), np.column_stack([np.where(holes, 0, predicted), sums])


def count_known(y: Array, weights: Array | None = None) -> float:
    """Return how many cells of rows are known; each counts as much as its row."""
    if weights is not None:
        return float(weights @ ((~np.isnan(y)).sum(axis=1) + partial_rows(y)))
    return int(np.count_nonzero(~np.isnan(y)) + np.count_nonzero(partial_rows(y)))


def quantiles(y: Array, level: float, weights: Array | None = None) -> Array:
    """Return a quantile of the observed degrees of each label, each counting as much as its row.

    Whole-number weights give what rows repeated as often would: positions between two degrees
    are interpolated. Weights that are smaller than 1 on average are scaled up to that. Every label
    is observed somewhere.
    """
    if weights is None:
        return np.nanquantile(y, level, axis=0)
    return np.array([_quantile(column, level, weights) for column in y.T])


def _quantile(column: Array, level: float, weights: Array) -> float:
    seen = np.flatnonzero(~np.isnan(column))
    order = seen[np.argsort(column[seen], kind="stable")]
    ends = np.cumsum(weights[order] / min(weights.mean(), 1.0))
    at = level * max(ends[-1] - 1, 0)  # repeated rows are numbered 0, 1, ...
    below, above = np.searchsorted(ends, [np.floor(at), np.ceil(at)], side="right")
    low, high = column[order[[below, min(above, len(order) - 1)]]]
    return float(low + (at - np.floor(at)) * (high - low))


def mean_degrees(y: Array, weights: Array | None = None) -> Array:
    """Return the mean of the observed degrees of each label, each counting as much as its row.

    It is 0 for a label that is nowhere observed.
    """
    seen = ~np.isnan(y)
    known = np.where(seen, y, 0)
    if weights is None:
        return known.sum(axis=0, dtype=float) / np.maximum(seen.sum(axis=0), 1)
    count = weights @ seen
    return weights @ known / np.where(count > 0, count, 1)
