"""Rows from which completing is learned: what was predicted without them, and their degrees."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from inldl.completion.completer import Completer
from inldl.completion.hiding import hide_each_label
from inldl.completion.loose_sums import LooseSums
from inldl.randomness import mixed_bits
from inldl.rows.density import GammaDegrees, evenly_spaced, mean_degrees
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import error_covariance, given_observed
from inldl.uncertainty.sizes import RowSizes

MOST_ROWS = 10_000  # more rows take their time and change little
FEW = 50  # rows that are learned from at once, without trees
BLOCK = 1 << 12
SIGN_ROWS = 2000  # are enough to see which features tell the sizes of errors
MOST_PRODUCTS = 10**8  # for errors beside others; they take so many multiplications
FEW_ROWS = 100  # fewer show no sign of the sizes of errors
MOST_FEATURES = 20  # that degrees and draws go along with; predictions stand for more
MOST_SIGNS, LEAST_CORRELATION = 3, 0.15
CHANCE = 4.0  # standard errors that a correlation of the best of many columns may have by chance


@dataclass
class Examples:
    """Training rows with predictions that were made without them."""

    _completer = _row_sizes = None

    predicted: np.ndarray  # (m, n_labels) the predictions
    degrees: np.ndarray  # (m, n_labels) what is known of the rows, NaN = unobserved
    keys: np.ndarray  # (m,) by which the rows are recognised, see `row_keys`
    groups: np.ndarray | None = None  # (m,) rows of one group are held out together
    loose: bool = False  # whether the sums of rows are only about 1
    # Features that tell how large errors are, such as a number of votes
    columns: tuple[int, ...] = ()
    signs: np.ndarray | None = None  # (m, q) these features of the rows
    features: np.ndarray | None = None  # (m, k) all features of the rows, if they are few
    # (m, n_labels) between what the degrees are, if some are not observed, but expected within
    # limits
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None  # (m, n_labels)

    @classmethod
    def of(cls, X, y, predicted, groups=None, loose=False, partial=None):
        """Return examples of at most 10000 of the rows, evenly spread.

        `partial` are the rows, if bounds or sums limit some of their degrees; these are those that
        are expected.
        """
        rows = evenly_spaced(len(y), MOST_ROWS)
        predicted, y = (np.array(a[rows], dtype=np.float64) for a in (predicted, y))
        groups = None if groups is None else np.unique(groups, return_inverse=True)[1][rows]
        X = X[rows]
        found = cls(predicted, y, row_keys(X), groups, loose)
        if partial is not None and partial.constrained:
            partial = partial.take(rows)
            filled = GammaDegrees.learn(partial, predicted).fill(partial, predicted)[0]
            found.degrees = np.where(partial.limited, filled, y)
            found.lower, found.upper = partial.possible
        found.columns = signs_of_size(X, np.abs(y - predicted), errors_beside_others(y, predicted))
        found.signs = found.spread_features_of(X)
        if isinstance(X, np.ndarray) and 0 < X.shape[1] <= MOST_FEATURES:
            found.features = np.array(X, dtype=np.float64)
        return found

    def spread_features_of(self, X):
        """Return the features that tell how large errors are, or None if there are none."""
        return np.array(X[:, list(self.columns)], dtype=np.float64) if self.columns else None

    def side_information(self, X):
        """Return what `PartialRows` say of the features of rows, by name."""
        features = None if self.features is None else np.array(X, dtype=np.float64)
        return {"spread_features": self.spread_features_of(X), "features": features}

    def n_shared(self, X, degrees):
        """Return how many rows have the features and the degrees of an example."""
        mine = set(_with_degrees(self.keys, self.degrees))
        return sum(each in mine for each in _with_degrees(row_keys(X), degrees))

    def few(self):
        """Return a few of the examples, evenly spread."""
        rows = evenly_spaced(len(self.degrees), FEW)
        arrays = (self.predicted[rows], self.degrees[rows], self.keys[rows])
        some = (None if a is None else a[rows] for a in (self.signs, self.features))
        return Examples(*arrays, None, self.loose, self.columns, *some)

    def row_sizes(self):
        """Return what the features tell about the sizes of errors of predictions."""
        if self._row_sizes is None:
            relative, rows = relative_errors(np.abs(self.observed() - self.predicted))
            self._row_sizes = rows, RowSizes(self.signs[rows], relative)
        return self._row_sizes

    def fit_together(self, n_labels):
        """Say whether the arrays are of the same rows and of so many labels, and finite."""
        arrays = (self.predicted, self.degrees, self.keys, self.groups, self.signs, self.features)
        arrays += (self.lower, self.upper)
        shapes = {(len(a), n_labels) for a in arrays if a is not None}
        same = shapes == {self.predicted.shape} == {self.degrees.shape}
        return same and not np.isinf(self.degrees).any()

    def observed(self):
        """Return the degrees without those that are only expected within limits."""
        if self.lower is None:
            return self.degrees
        return np.where(self.lower < self.upper, np.nan, self.degrees)

    def rows(self):
        """Return the rows, without the degrees that are only expected."""
        side = {"spread_features": self.signs, "features": self.features}
        return PartialRows(self.observed(), self.lower, self.upper, **side)

    def completer(self, n_jobs=None):
        """Return what is learned from the examples, which takes a while the first time."""
        if self._completer is None:
            kind = LooseSums if self.loose else Completer
            expected = None if self.lower is None else self.degrees
            about = self.rows(), self.predicted, self.groups, expected
            self._completer = kind(n_jobs=n_jobs).fit(*about)
        return self._completer

    def replace_predictions(self, X, predicted):
        """Return predictions in which rows that are examples have those made without them.

        A model fits the observed degrees of its own rows too well, so what its errors there
        tell of the others would be too little.
        """
        keys = row_keys(X)
        order = np.argsort(self.keys, kind="stable")
        at = order[np.searchsorted(self.keys, keys, sorter=order).clip(max=len(order) - 1)]
        same = self.keys[at] == keys
        out = np.array(predicted, dtype=np.float64)
        out[same] = self.predicted[at[same]]
        return out


def signs_of_size(X, *errors):
    """Return the few columns of X that go with the sizes of the errors of rows, if there are some.

    Spearman's correlation of the mean error of a row, relative to the usual one of its labels,
    with the column is more than chance explains, and more than a little. Of several kinds of
    errors, one is enough.
    """
    if not isinstance(X, np.ndarray):
        return ()
    found = np.max([_correlations(X, each) for each in errors], axis=0)
    best = np.argsort(-found, kind="stable")[:MOST_SIGNS]
    return tuple(int(j) for j in best if found[j] > 0)


def _correlations(X, errors):
    """Return how strongly columns go with the sizes of errors; 0 where that may be chance."""
    relative, rows = relative_errors(errors)
    if len(rows) < FEW_ROWS:
        return np.zeros(X.shape[1])
    some = evenly_spaced(len(rows), SIGN_ROWS)
    relative, rows = relative[some], rows[some]
    size = _ranks(relative)
    found = np.array([abs(_ranks(column) @ size) for column in X[rows].T])
    return np.where(found > max(LEAST_CORRELATION, CHANCE / np.sqrt(len(rows))), found, 0)


def errors_beside_others(y, predicted):
    """Return the errors that are left once the others of a row are known, if all are normal.

    Those of predictions may hide what tells them: a number of births tells how far the shares of
    days vary, but not how far all of them are off in a month. NaN where a degree was not hidden.
    """
    out, n_labels = np.full(y.shape, np.nan), y.shape[1]
    rows = evenly_spaced(len(y), min(SIGN_ROWS, MOST_PRODUCTS // n_labels**4))
    hidden = hide_each_label(y, 0, rows)
    if len(rows) >= FEW_ROWS and len(hidden.rows) and n_labels > 2:
        covariance = error_covariance(y - predicted)
        expected, _ = given_observed(hidden.left, predicted[hidden.rows], covariance)
        at = hidden.rows, hidden.labels
        out[at] = np.abs(expected[np.arange(len(hidden.rows)), hidden.labels] - hidden.degrees)
    return out


def relative_errors(errors):
    """Return the mean error of rows relative to the usual ones of their labels, and these rows."""
    seen, usual = ~np.isnan(errors), mean_degrees(errors)
    relative = np.where(seen, errors / np.maximum(usual, np.finfo(float).tiny), 0)
    rows = np.flatnonzero(seen.any(axis=1))
    return relative[rows].sum(axis=1) / seen[rows].sum(axis=1), rows


def _ranks(values):
    """Return the ranks of numbers, of mean 0 and length 1; 0 if all are equal."""
    ranks = rankdata(values)
    ranks -= ranks.mean()
    return ranks / max(np.linalg.norm(ranks), 1e-300)


def _with_degrees(keys, degrees):
    """Return what tells rows apart: their keys and their degrees."""
    degrees = np.where(np.isnan(degrees), -1.0, np.round(degrees, 9))
    return zip(keys.tolist(), map(bytes, np.ascontiguousarray(degrees)), strict=True)


def row_keys(X):
    """Return a number for each row of features; different rows have different ones.

    The bits of each feature are mixed, multiplied by a random odd number, and added up; two rows
    collide with a probability of about 2^-60. Dense and sparse features have the same keys.
    """
    odd = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
        entries = _mixed(X.data) * odd[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    keys = np.empty(len(X), np.uint64)
    for start in range(0, len(X), BLOCK):
        rows = slice(start, start + BLOCK)
        keys[rows] = (_mixed(X[rows]) * odd).sum(axis=1, dtype=np.uint64)
    return keys


def _mixed(values):
    """Return the bits of numbers, mixed so that the low ones differ where the high ones do."""
    return mixed_bits(np.ascontiguousarray(values, dtype=np.float64).view(np.uint64))
