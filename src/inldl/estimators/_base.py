"""What every estimator of label distributions shares."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from inldl import _kernels
from inldl._engines import LocalEngine, one_blas_thread, row_blocks
from inldl._validation import (
    FLOATS,
    as_degrees,
    check_label_order,
    like,
    sum_tolerance,
    validate_fit,
)
from inldl.metrics import METRICS, Pair
from inldl.solvers.admm import solve
from inldl.solvers.linear import Rotation, fitted
from inldl.solvers.softmax import Features, linear_scores, softmax


class DistributionEstimator(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of estimators that predict distributions: tags, `complete` and `score`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.regressor_tags.poor_score = True
        return tags

    def complete(self, X, y):
        """Fill the unobserved degrees of `y` with what `X` predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_labels)
            `y` with its observed degrees as they are. The others are the nearest values to the
            prediction that are not negative and make the row sum to 1; they are 0 (and a warning
            names the row) where the observed degrees alone sum to more than 1.
        """
        check_is_fitted(self)
        check_label_order(self, y)
        given = as_degrees(y)
        predicted = np.asarray(self.predict(X))
        if given.shape != predicted.shape:
            raise ValueError(
                f"y has the shape {given.shape}, but {predicted.shape} is what X and the fitted "
                "labels ask for; give the degrees of the same rows and labels, NaN = unobserved."
            )
        return like(y, fill_rows(given, predicted))

    def score(self, X, y, sample_weight=None):
        """Return the mean cosine between observed and predicted degrees; 1 is perfect.

        Rows without an observed degree are left out.
        """
        check_label_order(self, y)
        rows = METRICS["cosine"].formula(Pair.of(as_degrees(y), np.asarray(self.predict(X))))
        seen = ~np.isnan(rows)
        weights = None if sample_weight is None else np.asarray(sample_weight)[seen]
        return float(np.average(rows[seen], weights=weights)) if seen.any() else float("nan")

    def _set_history(self, result):
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.history_ = result.history


class LinearDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the projection of a linear function."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features: float64 or float32 (computed in that precision), C or Fortran order,
            frames, CSR, memory-mapped arrays; never copied as a whole.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, self.label_names_ = validate_fit(self, X, y)
        self._fit_linear(X, y)
        return self

    def _fit_linear(self, X, y):
        """Solve the problem on X, or on the rotation of a wide X, and set what is fitted.

        `_problem(fit_intercept, expand)` states it, where `expand` maps the coefficients that are
        solved for to those of X.
        """
        rotation = None
        features, fit_intercept, expand = X, bool(self.fit_intercept), lambda W: W
        if X.shape[1] > 2 * X.shape[0]:  # else the rotation costs more than it saves
            rotation = Rotation(X, fit_intercept)
            features, fit_intercept = rotation.features, False
            expand = lambda W: np.column_stack(rotation.coef(W))  # noqa: E731
        with LocalEngine(self.n_jobs) as engine:
            result = solve(
                self._problem(fit_intercept, expand),
                engine,
                row_blocks(features, y),
                max_iter=self.max_iter,
                tol=self.tol,
                report=self._report if self.verbose else None,
            )
        self.coef_, self.intercept_ = result.shared.coef.copy(), result.shared.intercept
        if rotation is not None:
            self.coef_, self.intercept_ = rotation.coef(result.shared.coef)
            self.intercept_ *= bool(self.fit_intercept)
        self._set_history(result)

    def _report(self, t, changes):
        parts = ", ".join(f"{name} {value:.2e}" for name, value in changes.items())
        print(f"{type(self).__name__} {t}/{self.max_iter}: {parts}")

    def predict(self, X):
        """Predict a distribution for each row: the projection of ``XW`` onto the simplex.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1, in the precision of `X`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        coef, intercept = self.coef_.astype(X.dtype), self.intercept_.astype(X.dtype)
        out = np.empty((X.shape[0], len(intercept)), X.dtype)
        for X_rows, rows in row_blocks(X, out):
            S = fitted(X_rows, coef)
            S += intercept[:, None]
            _kernels.project_columns(S, np.ones(S.shape[1], S.dtype))
            rows[:] = S.T
        return out


class SoftmaxDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the softmax of a linear function.

    A method states `_check_parameters()`, `_solve(features, y)` and, in `_rescale`, whether its
    parameters count in units of the largest feature.
    """

    _rescale = False

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features; float32 stays so in products, the coefficients are float64.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, self.label_names_ = validate_fit(self, X, y, accept_sparse=False)
        features = Features(X, bool(self.fit_intercept), self._rescale)
        with one_blas_thread():  # products this small lose more than they gain by threads
            result = self._solve(features, y)
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
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return softmax(linear_scores(X, self.coef_, self.intercept_))


def fill_rows(y, predicted):
    """Return `y` with its NaN replaced by the nearest values to `predicted` that close the row."""
    out = y.copy()
    holes = np.isnan(y)
    rest = 1 - np.nansum(y, axis=1, dtype=np.float64)
    over = np.flatnonzero((rest < -sum_tolerance(y.dtype)) & holes.any(axis=1))
    if over.size:
        warnings.warn(
            f"The observed degrees of row {over[0]} sum to {1 - rest[over[0]]:.6g}, more than 1, "
            f"so its unobserved degrees are set to 0 ({over.size} such row(s)); check the row, or "
            "divide it by its sum.",
            UserWarning,
            stacklevel=3,
        )
    out[holes & (rest <= 0)[:, None]] = 0
    rows = np.flatnonzero(holes.any(axis=1) & (rest > 0))
    free = np.where(holes[rows], predicted[rows], -np.inf).astype(np.float64)
    filled = np.ascontiguousarray(free.T)
    _kernels.project_columns(filled, rest[rows])
    out[rows] = np.where(holes[rows], filled.T, out[rows])
    return out
