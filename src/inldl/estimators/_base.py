"""What every estimator of label distributions shares."""

from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from inldl import _kernels
from inldl._engines import (
    Checkpoint,
    DiskRows,
    LocalEngine,
    digest,
    is_on_disk,
    one_blas_thread,
    pieces_of,
    read_rows,
    row_blocks,
)
from inldl._file_state import Array, FileState
from inldl._validation import (
    FLOATS,
    as_degrees,
    check_2d,
    check_fillable,
    check_label_order,
    check_predictable,
    check_rows,
    is_chunked,
    label_names,
    like,
    validate_features,
    validate_fit,
)
from inldl.metrics import METRICS, Pair
from inldl.solvers.admm import solve
from inldl.solvers.linear import Rotation
from inldl.solvers.softmax import Features, linear_scores, softmax
from inldl.solvers.winldl import predict_columns

TO_EXPORT = "fit with --method winldl to export."


class DistributionEstimator(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of estimators that predict distributions: tags, `complete` and `score`.

    For model files a class declares in `_in_file` what is special about its attributes, and for
    ONNX it says in `_to_onnx` how its degrees are computed.
    """

    _in_file = FileState(
        {
            "coef_": Array(2),
            "history_": Array(finite=False),
            "held_out_": Array(2, finite=False, rows=False),
        }
    )

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
            prediction that are not negative and make the row sum to 1; they are 0 where
            the observed degrees sum to 1 already.

        Raises
        ------
        ValueError
            If a degree lies outside [0, 1], as percentages do, or the observed degrees of a row
            with holes sum to more than 1, beyond what rounding explains.
        """
        check_is_fitted(self)
        check_label_order(self, y)
        given = as_degrees(y)
        predicted = np.asarray(self.predict(X))
        _check_shape(given, predicted)
        check_fillable(given)
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

    def _example_row(self):
        """Return features that it can predict, to try out a loaded model."""
        return np.linspace(1, 2, self.n_features_in_)[None]

    def _fault(self, degrees):
        """Return what is wrong with a loaded model that predicts `degrees`, if anything."""

    def _method(self):
        """Return the estimator that predicts; a model for tables has one inside."""
        return self

    def _onnx_inputs(self):
        """Return the names of the inputs of an ONNX file."""
        return ["X"]

    def _add_to_onnx(self, graph):
        """Add inputs and all that is done with them to a graph; return the name of the degrees."""
        features = graph.add_input("X", self.n_features_in_)
        return self._to_onnx(graph, features, slice(None))

    def _to_onnx(self, graph, features, order):
        """Add what it does with the features to a graph; return the name of its degrees.

        The columns of the tensor `features` are those of the fit, in another `order`.
        """
        raise ValueError(f"{type(self).__name__} is not linear in its features; {TO_EXPORT}")

    def _set_history(self, result):
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.history_ = result.history


class LinearDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the projection of a linear function."""

    def _to_onnx(self, graph, features, order):
        return graph.projection(graph.scores(features, self.coef_[:, order], self.intercept_))

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
            frames, CSR; never copied as a whole. Mapped files from 256 MB on, and arrays of Zarr
            and HDF5, stay on disk and are read once in each iteration. Dask arrays and frames
            are fitted on the cluster of the active Dask client, or on this machine without one.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.

        Returns
        -------
        self
        """
        self._check_parameters()
        if is_chunked(X) or is_chunked(y) or is_on_disk(X):
            rows = self._elsewhere(X, y)
            self._fit_linear(rows, rows.y)
        else:
            X, y, self.label_names_ = validate_fit(self, X, y)
            with one_blas_thread():  # a wide X is rotated before an engine sees it
                self._fit_linear(X, y)
        return self

    def _elsewhere(self, X, y):
        """Return rows in chunks or on disk; they are checked where they are loaded."""
        self.label_names_ = label_names(y)
        if is_chunked(X) or is_chunked(y):
            from inldl._engines.chunks import ChunkedRows, header

            validate_data(self, header(X), skip_check_array=True)
            return ChunkedRows(X, y)
        validate_data(self, X, skip_check_array=True)
        y = y if is_on_disk(y) else as_degrees(y)
        check_2d(y)
        check_rows(X, y)
        return DiskRows(X, y, self.label_names_)

    def _fit_linear(self, X, y):
        """Solve the problem on X, or on the rotation of a wide X, and set what is fitted.

        `_problem(fit_intercept, expand)` states it, where `expand` maps the coefficients that are
        solved for to those of X.
        """
        rotation, initial = None, self._initial(X.shape[1], y.shape[1])
        features, fit_intercept, expand = X, bool(self.fit_intercept), lambda W: W
        elsewhere = hasattr(X, "engine")
        if not elsewhere and X.shape[1] > 2 * X.shape[0]:  # else it costs more than it saves
            rotation = Rotation(X, fit_intercept)
            features, fit_intercept = rotation.features, False
            expand = lambda W: np.column_stack(rotation.coef(W))  # noqa: E731
            if initial is not None:
                initial = rotation.rotated(*initial), np.zeros(y.shape[1])
        problem, shape = self._problem(fit_intercept, expand), (*X.shape, y.shape[1])
        if initial is not None:
            problem = replace(problem, initial=initial)
        if elsewhere:
            result = self._solve(problem, X.engine(self.n_jobs, type(self).__name__), X, shape)
        else:
            sources = row_blocks(features, y)
            result = self._solve(problem, LocalEngine(self.n_jobs), sources, shape)
        self.coef_, self.intercept_ = result.shared.coef.copy(), result.shared.intercept
        if rotation is not None:
            self.coef_, self.intercept_ = rotation.coef(result.shared.coef)
            self.intercept_ *= bool(self.fit_intercept)
        self._set_history(result)

    def _initial(self, n_features, n_labels):
        """Return coefficients and intercept to start from, if there are any."""

    def _solve(self, problem, engine, sources, shape):
        """Run the loop on an engine, and through a file if the fit is to survive its process."""
        with ExitStack() as stack:
            engine = stack.enter_context(engine)
            if self.checkpoint is not None:
                parameters = self.get_params() | {"n_jobs": None, "verbose": 0, "checkpoint": None}
                about = {"method": type(self).__name__, "parameters": parameters, "shape": shape}
                about["start"] = [digest(a) for a in getattr(problem, "initial", None) or ()]
                engine = stack.enter_context(Checkpoint(engine, self.checkpoint, about))
            return solve(
                problem,
                engine,
                sources,
                max_iter=self.max_iter,
                tol=self.tol,
                report=self._report if self.verbose else None,
            )

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
        ndarray or lazy Dask array of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1, in the precision of `X`. It is a Dask array
            in the chunks of `X` where that is one.
        """
        check_is_fitted(self)
        if is_chunked(X):
            return self._predict_lazily(X, X)
        if is_on_disk(X):
            return self._predict_from_disk(X)
        X = validate_features(self, X, accept_sparse="csr", dtype=FLOATS)
        return _predict_rows(X, self.coef_, self.intercept_)

    def _predict_from_disk(self, X):
        validate_data(self, X, reset=False, skip_check_array=True)
        pieces = (read_rows(X, rows) for rows in pieces_of(X, len(self.intercept_)))
        return np.concatenate([_predict_chunk(p, self.coef_, self.intercept_) for p in pieces])

    def _predict_lazily(self, given, rows):
        """Return the predictions of `rows`, which are what the user has given, in any chunks."""
        from inldl._engines.chunks import as_array, header, map_rows

        validate_data(self, header(given), reset=False, skip_check_array=True)
        X = as_array(rows).rechunk({1: -1})
        predict = partial(_predict_chunk, coef=self.coef_, intercept=self.intercept_)
        return map_rows(predict, X, n_columns=len(self.intercept_), dtype=X.dtype)

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
        ndarray, frame or lazy Dask array of shape (n_samples, n_labels)
            `y` with its observed degrees as they are. The others are the nearest values to the
            prediction that are not negative and make the row sum to 1; they are 0 where
            the observed degrees sum to 1 already. It is a Dask array where `X` or `y` is
            one.

        Raises
        ------
        ValueError
            If a degree lies outside [0, 1], as percentages do, or the observed degrees of a row
            with holes sum to more than 1, beyond what rounding explains. For Dask arrays: when
            the result is computed.
        """
        if not (is_chunked(X) or is_chunked(y)):
            return super().complete(X, y)
        from inldl._engines.chunks import aligned, map_rows

        check_is_fitted(self)
        check_label_order(self, y)
        rows, y = aligned(X, y)
        predicted = self._predict_lazily(X, rows)
        _check_shape(y, predicted)
        return map_rows(_fill_chunk, y, predicted, n_columns=y.shape[1], dtype=y.dtype)


class SoftmaxDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the softmax of a linear function.

    A method states `_check_parameters()`, `_solve(features, y)` and, in `_rescale`, whether its
    parameters count in units of the largest feature.
    """

    _rescale = False

    def _to_onnx(self, graph, features, order):
        return graph.softmax(graph.scores(features, self.coef_[:, order], self.intercept_))

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
        X = validate_features(self, X, dtype=FLOATS)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = softmax(linear_scores(X, self.coef_, self.intercept_))
        check_predictable(predicted)
        return predicted


def _predict_rows(X, coef, intercept):
    out = np.empty((X.shape[0], len(intercept)), X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for X_rows, rows in row_blocks(X, out):
            rows[:] = predict_columns(X_rows, coef, intercept).T
    check_predictable(out)
    return out


def _predict_chunk(X, coef, intercept):
    with np.errstate(over="ignore", invalid="ignore"):
        X = check_array(X, dtype=FLOATS, input_name="X", ensure_min_samples=0)
    with one_blas_thread():
        return _predict_rows(X, coef, intercept)


def _fill_chunk(y, predicted, block_info=None):
    y = y.astype(predicted.dtype) if y.dtype not in FLOATS else y
    check_fillable(y, block_info[0]["array-location"][0][0])
    return fill_rows(y, predicted)


def _check_shape(y, predicted):
    if y.shape != predicted.shape:
        raise ValueError(
            f"y has the shape {y.shape}, but {predicted.shape} is what X and the fitted "
            "labels ask for; give the degrees of the same rows and labels, NaN = unobserved."
        )


def fill_rows(y, predicted):
    """Return `y` with its NaN replaced by the nearest values to `predicted` that close the row.

    They are 0 where the observed degrees sum to 1 or more.
    """
    out = y.copy()
    holes = np.isnan(y)
    rest = 1 - np.nansum(y, axis=1, dtype=np.float64)
    out[holes & (rest <= 0)[:, None]] = 0
    rows = np.flatnonzero(holes.any(axis=1) & (rest > 0))
    free = np.where(holes[rows], predicted[rows], -np.inf).astype(np.float64)
    filled = np.ascontiguousarray(free.T)
    _kernels.project_columns(filled, rest[rows])
    out[rows] = np.where(holes[rows], filled.T, out[rows])
    return out
