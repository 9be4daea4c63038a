"""How large the errors of completed degrees are, and intervals that hold a share of them."""

import math

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

TREES, LEAF = 50, 20  # of the forest that tells the size of an error
FEWEST = 50  # errors from which it is learned; all are expected to be of one size below
LEAST = 1e-3  # expected size of an error, relative to the mean


class ErrorSizes:
    """Learn the sizes of errors from what is known before.

    Parameters
    ----------
    about : ndarray of shape (m, n_features)
        What may tell the size of an error.
    label : ndarray of int of shape (m,)
        The label of each.
    errors : ndarray of shape (m,)
        The errors.
    seed : int
        Of the trees.
    """

    def __init__(self, about, label, errors, seed):
        sizes = np.abs(errors)
        self._least = max(sizes.mean() * LEAST, np.finfo(float).tiny)
        self._mean, self._label, self._forest = sizes.mean(), label, None
        expected = np.full(len(sizes), self._mean)
        if len(sizes) >= FEWEST:
            self._forest = ExtraTreesRegressor(
                TREES,
                min_samples_leaf=min(LEAF, len(sizes) // 10),
                max_features=1.0,
                bootstrap=True,
                oob_score=_no_score,  # each error as trees expect it that have not seen it
                random_state=seed,
            ).fit(about, sizes)
            expected = np.ravel(self._forest.oob_prediction_)
        self._scores = sizes / np.maximum(expected, self._least)

    def reach(self, about, coverage):
        """Return how far intervals reach to both sides, for rows of all labels.

        Labels that were judged too rarely take the errors of all; infinite if these are too few.
        """
        n, n_labels, width = about.shape
        sizes = np.full((n, n_labels), self._mean)
        if self._forest is not None and n:
            sizes = self._forest.predict(about.reshape(-1, width)).reshape(n, n_labels)
        pooled = conformal(self._scores, coverage)
        own = [conformal(self._scores[self._label == j], coverage) for j in range(n_labels)]
        return np.maximum(sizes, self._least) * np.where(np.isinf(own), pooled, own)


def _no_score(y, predicted):
    return 0.0


def conformal(scores, coverage):
    """Return the smallest score that a new one exceeds with at most 1 - coverage; inf if none."""
    rank = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return np.partition(scores, rank - 1)[rank - 1] if rank <= len(scores) else np.inf
