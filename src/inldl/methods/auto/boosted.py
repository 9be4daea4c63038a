"""A softmax that small trees boost: the member of AutoInLDL for few rows."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold

from inldl import kernels
from inldl.methods.auto.fitting import error_of
from inldl.methods.forest import FOLDS, LARGEST
from inldl.methods.kernel_base import KernelDistributionEstimator
from inldl.methods.parameters import parameters
from inldl.rows.density import mean_degrees
from inldl.solvers.softmax import softmax

BOOSTED_TREES, EVERY = 300, 20  # held-out rows choose a multiple of EVERY
DEPTH, MIN_LEAF, SHARE = 4, 5, 0.3  # of the features, which a split looks at
STEP, DAMPING = 0.1, 50.0  # of a Newton step; rows of the mean that damp it
TREE_ROWS = 0.7  # share of the rows that a tree learns from
LEAST_MEAN = 1e-3  # degree of the mean that it starts from


@dataclass
class BoostedTrees:
    """Trees of one depth, and the mean that they start from."""

    mean: np.ndarray  # (n_labels,)
    feature: np.ndarray  # (n_trees, n_inner) by which an inner node splits
    threshold: np.ndarray  # (n_trees, n_inner) up to which rows go to the left
    value: np.ndarray  # (n_trees, n_inner + 1, n_labels) what the leaves add to scores

    @classmethod
    def grow(cls, X, y, weights, seed):
        """Return trees that learn from rows of features in single precision."""
        mean = np.maximum(np.nan_to_num(mean_degrees(y, weights)), LEAST_MEAN)
        mean /= mean.sum()
        columns = np.ascontiguousarray(X.T)
        weights = np.ones(len(y)) if weights is None else weights.astype(float)
        trees = BOOSTED_TREES, DEPTH, max(1, round(SHARE * len(columns))), MIN_LEAF
        about = mean, trees, (STEP, DAMPING, TREE_ROWS), seed
        return cls(mean, *kernels.boost_softmax(columns, y, weights, *about))

    def first(self, n_trees):
        """Return the first trees alone."""
        parts = (self.feature, self.threshold, self.value)
        return BoostedTrees(self.mean, *(part[:n_trees].copy() for part in parts))

    def path(self, X):
        """Return the degrees of rows after each `EVERY` trees, one after the other."""
        self._check_nodes(X.shape[1])
        scores = np.tile(np.log(self.mean), (len(X), 1))
        for start in range(0, len(self.feature), EVERY):
            some = slice(start, start + EVERY)
            parts = (self.feature[some], self.threshold[some], self.value[some])
            kernels.add_boosted(X, *parts, scores)
            yield softmax(scores)

    def _check_nodes(self, n_features):
        """Refuse nodes of a crafted model file that would lead outside of the arrays."""
        n_trees, n_inner = self.feature.shape
        good = self.threshold.shape == (n_trees, n_inner) and (n_inner + 1).bit_count() == 1
        good = good and self.value.shape == (n_trees, n_inner + 1, *self.mean.shape)
        good = good and self.feature.dtype.kind in "iu" and self.mean.ndim == 1
        if not good or self.feature.min() < 0 or self.feature.max() >= n_features:
            raise ValueError("The nodes of the boosted trees do not fit together.")

    def degrees(self, X):
        """Return the degrees of rows."""
        *_, last = self.path(X)
        return last


@parameters
class Boosted(KernelDistributionEstimator):
    """A softmax of scores that small extra trees boost, all labels together.

    The rows are cut into five folds, and each of five models predicts the fold whose degrees it
    has not seen. Held-out rows choose the number of trees; the mean of the five predicts new rows.
    For few rows more threads (`n_jobs`) would not help, so they are not used.
    """

    def _train(self, data):
        X, n = _single(data.dense), len(data.y)
        y = np.ascontiguousarray(data.y, dtype=np.float64)
        folds = KFold(min(FOLDS, n), shuffle=True, random_state=data.seed)
        paths, models = np.empty((BOOSTED_TREES // EVERY, *y.shape)), []
        for i, (train, test) in enumerate(folds.split(y)):
            weights = None if data.weights is None else data.weights[train]
            grown = BoostedTrees.grow(X[train], y[train], weights, (data.seed + i) % 2**31)
            models.append(grown)
            paths[:, test] = list(grown.path(X[test]))
        best = int(np.argmin([error_of(y, each, data.weights) for each in paths]))
        self.held_out_ = paths[best]
        self.models_ = [each.first((best + 1) * EVERY) for each in models]

    def _degrees(self, dense, scaled):
        X = _single(dense)
        return np.mean([each.degrees(X) for each in self.models_], axis=0)


def _single(dense):
    """Return features in single precision, none beyond all splits."""
    return np.clip(dense, -LARGEST, LARGEST).astype(np.float32)
