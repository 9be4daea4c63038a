"""How large the errors of completed degrees are, and intervals that hold a share of them."""

import math

import numpy as np

from inldl import kernels

TREES, LEAF = 50, 20  # of the forest that tells the size of an error
FOLDS = 5
FEWEST = 50  # errors from which it is learned; all are expected to be of one size below
LEAST = 1e-3  # expected error, relative to the mean
PRIOR = 20  # squared errors of all labels that those of each label are averaged with


class ErrorSizes:
    """Learn the sizes of errors, as shares of the largest that can be, from what is known before.

    What may tell the size of an error is `about` (m, n_features), first the largest that it can
    be. The errors (m,) are those of a row and a label each.
    """

    def __init__(self, about, row, label, errors, seed):
        shares = np.abs(errors) / _most(about)
        self._mean, self._label, self._forest = shares.mean(), label, None
        expected = np.full(len(shares), self._mean)
        if len(shares) >= FEWEST:
            how = {"n_trees": TREES, "min_leaf": min(LEAF, len(shares) // 10), "seed": seed}
            for fold in range(FOLDS):  # the errors of a row depend on each other
                out = row % FOLDS == fold
                if out.any() and not out.all():
                    forest = kernels.ExtraTrees(about[~out], shares[~out], **how, max_features=1.0)
                    expected[out] = forest.predict(about[out])
            self._forest = kernels.ExtraTrees(about, shares, **how, max_features=1.0)
        self._scores = shares / self._at_least(expected)

    def _at_least(self, shares):
        return np.maximum(shares, max(self._mean * LEAST, np.finfo(float).tiny))

    def reach(self, about, coverage):
        """Return how far intervals reach to both sides, for rows of all labels.

        Labels that were judged too rarely take the errors of all; infinite if these are too few.
        """
        scores = self._by_label(about.shape[1])
        return self._expected(about) * conformal_by_label(scores, coverage)

    def spread(self, about):
        """Return the expected root mean squared errors, for rows of all labels."""
        return self._expected(about) * spread_by_label(self._by_label(about.shape[1]))

    def _by_label(self, n_labels):
        return [self._scores[self._label == j] for j in range(n_labels)]

    def _expected(self, about):
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

    def __init__(self, y, predicted):
        self._labels = [each[~np.isnan(each)] for each in np.abs(y - predicted).T]
        self.spread = spread_by_label(self._labels)

    def reach(self, coverage):
        """Return how far intervals of each label reach to both sides."""
        return conformal_by_label(self._labels, coverage)


class RowSizes:
    """Learn from `signs` (n, q) how large the errors of rows are, relative to the usual ones.

    `sizes` (n,) are their means, relative to these; `expected` (n,) is what is expected of each
    row from the others.
    """

    def __init__(self, signs, sizes):
        n, self._mean = len(sizes), sizes.mean()
        how = {"n_trees": TREES, "min_leaf": max(2, min(LEAF, n // 10)), "seed": 0}
        fold, self.expected = np.arange(n) % FOLDS, np.empty(n)
        for out in (fold == each for each in range(FOLDS)):
            forest = kernels.ExtraTrees(signs[~out], sizes[~out], **how, max_features=1.0)
            self.expected[out] = self._relative(forest.predict(signs[out]))
        self._forest = kernels.ExtraTrees(signs, sizes, **how, max_features=1.0)

    def __call__(self, signs):
        """Return what is expected of rows."""
        return self._relative(self._forest.predict(signs))

    def _relative(self, sizes):
        return np.maximum(sizes / self._mean, LEAST)


def _most(about):
    """Return the largest errors that there can be; never 0."""
    return np.maximum(about[..., 0], np.finfo(float).tiny ** 0.5)


def conformal(scores, coverage):
    """Return the smallest score that a new one exceeds with at most 1 - coverage; inf if none."""
    rank = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return np.partition(scores, rank - 1)[rank - 1] if rank <= len(scores) else np.inf


def conformal_by_label(labels, coverage):
    """Return the same for the scores of each label; that of all where a label has too few."""
    own = np.array([conformal(scores, coverage) for scores in labels])
    return np.where(np.isinf(own), conformal(np.concatenate(labels), coverage), own)


def spread_by_label(labels):
    """Return the root mean squares of each label, averaged a little with that of all."""
    mean = np.mean(np.concatenate(labels) ** 2)
    return np.sqrt([((s**2).sum() + PRIOR * mean) / (len(s) + PRIOR) for s in labels])


def within_rows(rows, completed, lower, upper):
    """Return intervals cut to what the observed degrees of their row leave.

    No degree can be more than the rest, so cutting loses no coverage. An interval that lies
    wholly above it must be wrong, and gives way to all that is possible.
    """
    holes, rest = rows.holes, np.maximum(rows.rest, 0)[:, None]
    lower = np.minimum(np.where(lower > rest, 0, lower), completed)
    upper = np.maximum(np.minimum(upper, rest), completed)
    known = ~holes | (holes.sum(axis=1) == 1)[:, None]
    return np.where(known, completed, lower), np.where(known, completed, upper)
