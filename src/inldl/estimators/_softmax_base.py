"""What estimators share that predict the softmax of a linear function."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl._engines import one_blas_thread
from inldl._validation import (
    FLOATS,
    check_predictable,
    validate_features,
    validate_weighted_fit,
)
from inldl.estimators._base import DistributionEstimator
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

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features; float32 stays so in products, the coefficients are float64.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts: 2 is as good as the same row twice, 0 as no row at all. None
            counts each row once.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, self.label_names_, weights = validate_weighted_fit(
            self, X, y, sample_weight, accept_sparse=False
        )
        self.n_labels_ = y.shape[1]
        features = Features(X, bool(self.fit_intercept), self._rescale)
        with one_blas_thread():  # products this small lose more than they gain by threads
            result = self._solve(features, y, weights)
        self.coef_, self.intercept_ = features.split(result.shared)
        self._set_history(result)
        return self

    def predict(self, X):
        """Predict a distribution for each row: the softmax of ``XW``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1, in double precision.
        """
        check_is_fitted(self)
        X = validate_features(self, X, dtype=FLOATS)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = softmax(linear_scores(X, self.coef_, self.intercept_))
        check_predictable(predicted)
        return predicted
