"""Draw a sample of rows, wherever they are: the same rows from memory, from disk and from Dask."""

from functools import partial

import numpy as np

from inldl._engines.disk import is_on_disk
from inldl._validation import DegreeFacts, check_degrees, is_chunked
from inldl.estimators import _auto_fitting
from inldl.estimators._kernel_features import FEWEST_OBSERVED


def is_large(X, y, sample_weight=None):
    """Say whether there may be more rows than are learned from at once, or not in memory."""
    if is_chunked(X) or is_chunked(y) or is_on_disk(X):
        return True
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else len(X) if hasattr(X, "__len__") else 0
    if n > _auto_fitting.MOST_ROWS and sample_weight is not None:
        n = np.count_nonzero(np.asarray(sample_weight))
    return n > _auto_fitting.MOST_ROWS


def drawn(rows, seed):
    """Return the numbers of sampled rows in order, and these rows in memory.

    All are taken if there are at most `MOST_ROWS`. Labels that are rarely observed in the sample
    get more rows in which they are. Rows without weight are left out.
    """
    n, most = rows.X.shape[0], _auto_fitting.MOST_ROWS
    if n <= most:
        return _counting(np.arange(n), rows.take(np.arange(n)))
    chosen = np.random.default_rng(seed).choice(n, most, replace=False, shuffle=False)
    numbers, sample = _counting(np.sort(chosen), rows.take(np.sort(chosen)))
    lacking = np.flatnonzero((~np.isnan(sample.y)).sum(axis=0) < FEWEST_OBSERVED)
    if lacking.size:
        more = _rows_with(rows, lacking, seed)
        numbers = np.union1d(numbers, more)
        numbers, sample = _counting(numbers, rows.take(numbers))
        seen = ~np.isnan(sample.y).all(axis=0)
        check_degrees([DegreeFacts(seen, None, None, not len(numbers))], rows.label_names)
    return numbers, sample


def _counting(numbers, sample):
    """Return the rows that have a weight."""
    weights = sample.beside.get("sample_weight")
    if weights is None or weights.all():
        return numbers, sample
    kept = np.flatnonzero(weights)
    return numbers[kept], sample.take(kept)


def _rows_with(rows, labels, seed):
    """Return numbers of rows in which some labels are observed, `FEWEST_OBSERVED` of each."""
    found = rows.each_degrees(partial(_first_by_chance, labels=labels, seed=seed))
    chosen = []
    for each in zip(*found, strict=True):
        places, numbers = np.concatenate(each, axis=1)
        chosen.append(numbers[np.argsort(places, kind="stable")[:FEWEST_OBSERVED]])
    return np.concatenate(chosen).astype(np.int64)


def _first_by_chance(y, first_row, labels, seed):
    """Return places in a random order of all rows, and row numbers, for each of some labels."""
    y = np.asarray(y)
    found = []
    for label in labels:
        numbers = first_row + np.flatnonzero(~np.isnan(y[:, label]))
        places = _places(numbers, seed)
        first = np.argsort(places, kind="stable")[:FEWEST_OBSERVED]
        found.append(np.array([places[first], numbers[first]]))
    return found


def _places(numbers, seed):
    """Return a number for each row that looks random, and does not depend on its block."""
    bits = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits >> np.uint64(11)).astype(np.float64)
