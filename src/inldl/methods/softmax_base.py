"""What estimators share that predict the softmax of a linear function."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inldl.engines import one_blas_thread
from inldl.methods.base import DistributionEstimator
from inldl.rows.checks import (
    FLOATS,
    check_predictable,
    validate_features,
    validate_weighted_fit,
)
from inldl.solvers.softmax import Features, linear_scores, softmax


class SoftmaxDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the softmax of a linear function.

    A method states `_check_parameters()`, `_solve(features, y, weights)`, where weights are those
    of the rows or None, and, in `_rescale`, whether its parameters count in units of the largest
    feature.
    """

    _rescale = False

    def _to_onnx(self, graph, features):
        return graph.softmax(graph.scores(features, self.coef_, self.intercept_))

    def _fit(self, X, y, sample_weight):
        X, y, self.label_names_, weights = validate_weighted_fit(
            self, X, y, sample_weight, accept_sparse=False
        )
        self.n_labels_ = y.shape[1]
        features = Features(X, bool(self.fit_intercept), self._rescale)
        with one_blas_thread():  # products this small lose more than they gain by threads
            result = self._solve(features, y, weights)
        self.coef_, self.intercept_ = features.split(result.shared)
        self._set_history(result)

    def _predict(self, X):
        X = validate_features(self, X, dtype=FLOATS)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = softmax(linear_scores(X, self.coef_, self.intercept_))
        check_predictable(predicted)
        return predicted


def group_rows(A, n_groups, seed, weights=None):
    """Return the row numbers of each group that k-means finds, at most `n_groups`, none empty."""
    from sklearn.cluster import KMeans  # time that other methods need not pay

    largest = max(A.max(), -A.min())
    if largest > 1e15:  # the squares of float32 end at 3e38
        A = A / largest
    means = KMeans(min(n_groups, len(A)), random_state=seed)
    with warnings.catch_warnings():  # fewer distinct rows than groups is no trouble here
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = means.fit_predict(A, sample_weight=weights)
    return [np.flatnonzero(labels == group) for group in np.unique(labels)]
