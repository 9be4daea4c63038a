"""How large the errors of completed degrees are, and intervals that hold a share of them."""

import math

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

TREES, LEAF = 50, 20  # of the forest that tells the size of an error
MOST = 20_000  # errors that it learns from


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
        chosen = np.linspace(0, len(errors) - 1, min(len(errors), MOST)).astype(int)
        about, label, sizes = about[chosen], label[chosen], np.abs(errors[chosen])
        self._least = max(sizes.mean() * 1e-3, np.finfo(float).tiny)
        leaf = min(LEAF, max(1, len(sizes) // 10))
        self._forest = ExtraTreesRegressor(
            TREES, min_samples_leaf=leaf, max_features=1.0, bootstrap=True, oob_score=_no_score,
            random_state=seed,
        )  # fmt: skip
        self._forest.fit(about, sizes)
        # Each error in units of what trees expect that have not seen it.
        unseen = np.ravel(self._forest.oob_prediction_)
        self._scores = sizes / np.maximum(unseen, self._least)
        self._label = label

    def reach(self, about, coverage):
        """Return how far intervals reach to both sides, for rows of all labels.

        Labels that were judged too rarely take the errors of all; infinite if these are too few.
        """
        n, n_labels, width = about.shape
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
