"""How large errors are, and how far intervals must reach to hold a share of the degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from inldl import kernels
from inldl.rows.partial import PartialRows

Array = np.ndarray
GROUPS = 5  # of similar predictions, for each of which the usual size of an error is estimated
SHARES = (0.5, 0.2, 0.8)  # of an interval that may lie below the prediction
PRIOR_COUNT = 20  # errors of average size that a group or a label starts with
SIZE_TREES, SIZE_LEAF, SIZE_FOLDS = 50, 20, 5  # of the forest that tells the size of an error
FEWEST_ERRORS = 50  # from which it is learned; all are expected to be of one size below
LEAST_SIZE = 1e-3  # expected error, relative to the mean


def conformal_rank(n: int, coverage: float) -> int:
    """Return how many of n scores must be covered; it may be one more than there are."""
    return math.ceil((n + 1) * coverage - 1e-9)


def conformal(scores: Array, coverage: float) -> float:
    """Return the smallest score that a new one exceeds with at most 1 - coverage; inf if none."""
    rank = conformal_rank(len(scores), coverage)
    return np.partition(scores, rank - 1)[rank - 1] if rank <= len(scores) else np.inf


def conformal_by_label(labels: Sequence[Array], coverage: float) -> Array:
    """Return the same for the scores of each label; that of all where a label has too few."""
    own = np.array([conformal(scores, coverage) for scores in labels])
    return np.where(np.isinf(own), conformal(np.concatenate(labels), coverage), own)


def spread_by_label(labels: Sequence[Array]) -> Array:
    """Return the root mean squares of each label, averaged a little with that of all."""
    mean = np.mean(np.concatenate(labels) ** 2)
    sums = [((s**2).sum() + PRIOR_COUNT * mean) / (len(s) + PRIOR_COUNT) for s in labels]
    return np.sqrt(sums)


class LabelErrors:
    """The errors of the held-out predictions of one label at its observed degrees.

    The `scale` says how large errors are expected to be, relative to others of predictions of the
    same size.
    """

    def __init__(self, predicted: Array, degrees: Array, scale: Array | float = 1.0) -> None:
        errors = (degrees - predicted) / scale
        self.predicted, self.errors = predicted, errors
        self.centres, self.sizes = [0.0], [1.0]
        if not len(errors):  # only bounds of the label are known
            return
        groups = np.array_split(np.argsort(predicted, kind="stable"), min(GROUPS, len(errors)))
        total = PRIOR_COUNT * np.abs(errors).mean()
        self.centres = [predicted[rows].mean() for rows in groups]
        self.sizes = [
            (np.abs(errors[rows]).sum() + total) / (len(rows) + PRIOR_COUNT) for rows in groups
        ]
        self.errors = errors / self.size(predicted)

    def size(self, predicted: Array) -> Array:
        """Return the usual absolute error of predictions of the given sizes; never 0."""
        sizes = np.interp(predicted, self.centres, self.sizes)
        return np.maximum(sizes, np.finfo(float).tiny)

    def are_enough(self, coverage: float) -> bool:
        """Say whether there are errors enough for intervals of a coverage."""
        return conformal_rank(len(self.errors), coverage) <= len(self.errors)

    def around(
        self, predicted: Array, coverage: float, scale: Array | float = 1.0
    ) -> tuple[Array, Array]:
        """Return the lower and the upper ends of intervals around predictions."""
        below, above = self._reach(coverage)
        return self._interval(predicted, below * scale, above * scale)

    def _reach(self, coverage: float) -> tuple[float, float]:
        """Return how many sizes an interval reaches below and above a prediction.

        A lopsided interval must be narrower by more than chance, since choosing costs coverage.
        """
        if not self.are_enough(coverage):
            return np.inf, np.inf
        reaches, widths = [], []
        for share in SHARES:
            scores = np.maximum(self.errors / (1 - share), -self.errors / share)
            radius = conformal(scores, coverage)
            reaches.append((share * radius, (1 - share) * radius))
            lower, upper = self._interval(self.predicted, *reaches[-1])
            handicap = 0 if share == 0.5 else 2 / math.sqrt(len(scores))
            widths.append((upper - lower).mean() * (1 + handicap))
        return reaches[np.argmin(widths)]

    def _interval(
        self, predicted: Array, below: Array | float, above: Array | float
    ) -> tuple[Array, Array]:
        size = self.size(predicted)
        return (predicted - below * size).clip(0, 1), (predicted + above * size).clip(0, 1)


class SizeForest:
    """Learn the sizes of errors from what is known before.

    `expected` is what is expected of each from those of other folds.
    """

    def __init__(self, features: Array, sizes: Array, folds: Array, seed: int = 0) -> None:
        leaf = max(2, min(SIZE_LEAF, len(sizes) // 10))
        how = {"n_trees": SIZE_TREES, "min_leaf": leaf, "seed": seed, "max_features": 1.0}
        self.mean, self.expected = sizes.mean(), np.full(len(sizes), sizes.mean())
        for fold in range(SIZE_FOLDS):
            out = folds % SIZE_FOLDS == fold
            if out.any() and not out.all():
                forest = kernels.ExtraTrees(features[~out], sizes[~out], **how)
                self.expected[out] = forest.predict(features[out])
        self.forest = kernels.ExtraTrees(features, sizes, **how)


class ErrorSizes:
    """Learn the sizes of errors, as shares of the largest that can be, from what is known before.

    What may tell the size of an error is `about` (m, n_features), first the largest that it can
    be. The errors (m,) are those of a row and a label each; those of a row depend on each other.
    """

    def __init__(self, about: Array, row: Array, label: Array, errors: Array, seed: int) -> None:
        shares = np.abs(errors) / _most(about)
        self._mean, self._label, self._forest = shares.mean(), label, None
        expected = np.full(len(shares), self._mean)
        if len(shares) >= FEWEST_ERRORS:
            learned = SizeForest(about, shares, row, seed)
            self._forest, expected = learned.forest, learned.expected
        self._scores = shares / self._at_least(expected)

    def _at_least(self, shares: Array) -> Array:
        return np.maximum(shares, max(self._mean * LEAST_SIZE, np.finfo(float).tiny))

    def reach(self, about: Array, coverage: float) -> Array:
        """Return how far intervals reach to both sides, for rows of all labels.

        Labels that were judged too rarely take the errors of all; infinite if these are too few.
        """
        scores = self._by_label(about.shape[1])
        return self._expected(about) * conformal_by_label(scores, coverage)

    def spread(self, about: Array) -> Array:
        """Return the expected root mean squared errors, for rows of all labels."""
        return self._expected(about) * spread_by_label(self._by_label(about.shape[1]))

    def _by_label(self, n_labels: int) -> list[Array]:
        return [self._scores[self._label == j] for j in range(n_labels)]

    def _expected(self, about: Array) -> Array:
        """Return the errors that are expected, not counting how the labels differ in that."""
        n, n_labels, width = about.shape
        shares = np.full((n, n_labels), self._mean)
        if self._forest is not None and n:
            shares = self._forest.predict(about.reshape(-1, width)).reshape(n, n_labels)
        return self._at_least(shares) * _most(about)


class PredictionErrors:
    """Errors of predictions, which are all that is known of rows without an observed degree.

    `predicted` were made without the rows of degrees `y`. `spread` (n_labels,) are the root mean
    squared errors of the labels, averaged a little with those of all.
    """

    def __init__(self, y: Array, predicted: Array) -> None:
        self._labels = [errors[~np.isnan(errors)] for errors in np.abs(y - predicted).T]
        self.spread = spread_by_label(self._labels)

    def reach(self, coverage: float) -> Array:
        """Return how far intervals of each label reach to both sides."""
        return conformal_by_label(self._labels, coverage)


class RowSizes:
    """Learn from features (n, q) how large the errors of rows are, relative to the usual ones.

    `sizes` (n,) are their means, relative to these; `expected` (n,) is what is expected of each
    row from the others.
    """

    def __init__(self, features: Array, sizes: Array) -> None:
        self._learned = SizeForest(features, sizes, np.arange(len(sizes)))
        self.expected = self._relative(self._learned.expected)

    def __call__(self, features: Array) -> Array:
        """Return what is expected of rows."""
        return self._relative(self._learned.forest.predict(features))

    def _relative(self, sizes: Array) -> Array:
        return np.maximum(sizes / self._learned.mean, LEAST_SIZE)


def _most(about: Array) -> Array:
    """Return the largest errors that there can be; never 0."""
    return np.maximum(about[..., 0], np.finfo(float).tiny ** 0.5)


def cut_to_rows(
    rows: PartialRows, completed: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Return intervals cut to what the observed degrees of their row leave.

    No degree can be more than the rest, so cutting loses no coverage. An interval that lies
    wholly above it must be wrong, and gives way to all that is possible.
    """
    rest = np.maximum(rows.rest, 0)[:, None]
    lower = np.minimum(np.where(lower > rest, 0, lower), completed)
    upper = np.maximum(np.minimum(upper, rest), completed)
    known = ~rows.holes | (rows.holes.sum(axis=1) == 1)[:, None]
    return np.where(known, completed, lower), np.where(known, completed, upper)
