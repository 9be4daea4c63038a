"""What every estimator of label distributions shares."""

from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from inldl.engines import MemoryRows, one_blas_thread, open_rows, row_blocks
from inldl.methods.given_rows import KnownMixin, check_shape, complete_chunks
from inldl.methods.parameters import Count, Jobs, NotNegative
from inldl.metrics import METRICS, Pair
from inldl.metrics.registry import mean_of_rows
from inldl.rows.checks import as_degrees, check_fillable, check_label_order, label_names, like
from inldl.rows.inputs import as_weights, check_predictable, is_chunked, weight_column
from inldl.rows.partial import PartialRows
from inldl.solvers.linear import Rotation, predict_columns
from inldl.solvers.loop import iterations, run

TO_EXPORT = "fit with --method winldl to export."


class DistributionEstimator(KnownMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of estimators that predict distributions: tags, `complete` and `score`.

    A method states `_check_parameters()`, ``_fit(X, y, sample_weight)`` and `_predict(X)`, or its
    own `fit` and `predict`. Model files hold its attributes, without those that start with an
    underscore. For ONNX it says in `_to_onnx` how its degrees are computed.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
        Number of features, and of labels.
    feature_names_in_, label_names_ : ndarray of str
        Their names, if `X` and `y` are frames that have names; else `label_names_` is None.
    """

    tunable: ClassVar[
        dict
    ] = {}  # constants that `TunedLDL` may choose, and the candidates of each
    _takes_chunks = False  # whether it predicts Dask arrays and frames chunk by chunk

    @cached_property
    def n_labels_(self):
        """Number of labels, of a model that does not state it, as in older model files."""
        check_is_fitted(self)
        if getattr(self, "completer_", None) is not None:
            return self.completer_.n_labels_
        if hasattr(self, "estimator_"):
            return self.estimator_.n_labels_
        for name in ("label_names_", "intercept_", "distribution_", "constant_", "regressors_"):
            if getattr(self, name, None) is not None:
                return len(getattr(self, name))
        return self.held_out_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; not every method takes sparse ones. Methods that predict a linear
            function of them take float64 and float32 (and compute in that precision) in any order,
            frames and CSR, and never copy them as a whole. Mapped files from 256 MB on, and arrays
            of Zarr and HDF5, then stay on disk and are read once in each iteration; Dask arrays
            and frames are fitted on the cluster of the active Dask client, or on this machine
            without one.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts: 2 is as good as the same row twice, 0 as no row at all. None
            counts each row once. They may be a Dask array if `X` is one.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X):
        """Predict a distribution for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray or lazy Dask array of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1, in the precision of `X` or in double
            precision. It is a Dask array in the chunks of `X` where that is one, if the method
            predicts such arrays lazily.
        """
        check_is_fitted(self)
        return self._predict(X)

    def complete(self, X, y, *, lower=None, upper=None, sums=None):
        """Fill the unobserved degrees of `y` near what `X` predicts.

        Methods that predict their training rows without having seen them (``cross_fit=5`` where
        that is a parameter) also learn what the observed degrees of a row tell about the others:
        see `inldl.completion.Completer`. This takes a while when it is first asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved.
        lower, upper : array-like of shape (n_samples, n_labels), optional
            Bounds of unobserved degrees, NaN = none. A share that is printed as "<5%" has an
            upper bound of 0.05.
        sums : dict of tuple to array-like of shape (n_samples,), optional
            What groups of labels sum to, NaN = unknown: ``{("beer", "wine"): [0.3, 0.2]}``. The
            labels are names, if `y` is a frame, or numbers of columns. None is in two groups.

        Returns
        -------
        ndarray, frame or lazy Dask array of shape (n_samples, n_labels)
            `y` with its observed degrees as they are (with ``known="ratios"`` those of a row with
            holes are scaled, and only their ratios stay). The others are not negative, within
            their bounds, and make the row sum to 1; they are 0 where the observed degrees sum to 1
            already. It is a Dask array where `X` or `y` is one, if the method predicts such arrays
            lazily.

        Raises
        ------
        ValueError
            If a degree lies outside [0, 1], as percentages do, or the observed degrees of a row
            with holes sum to more than 1, beyond what rounding explains, or bounds and sums
            contradict each other. For a lazy result: when it is computed.
        """
        if self._takes_chunks and (is_chunked(X) or is_chunked(y)):
            return complete_chunks(self, X, y, {"lower": lower, "upper": upper, "sums": sums})
        rows, predicted = self._rows_to_fill(X, y, lower, upper, sums)
        return like(y, self._fill(rows, predicted))

    def _completer(self):
        """Return what was learned about completing, which is nothing."""

    def _side_information(self, X):
        """Return what `PartialRows` say of the features `X`, by name, which is nothing."""
        return {}

    def _fill(self, rows, predicted):
        """Return the given degrees with the missing ones filled in."""
        return rows.project(predicted)

    def _rows_to_fill(self, X, y, lower, upper, sums):
        """Return the rows that are to be completed, and what `X` predicts in their place."""
        self._refuse_limits(lower, upper, sums)
        given, predicted = self._given_and_predicted(X, y)
        rows = PartialRows.of(given, lower, upper, sums, label_names(y))
        return replace(rows, **self._side_information(X)), predicted

    def _given_and_predicted(self, X, y, first_row=None):
        """Return the degrees that are to be completed, and what `X` predicts in their place.

        `first_row` is the number of the first row, if there are others elsewhere.
        """
        check_is_fitted(self)
        check_label_order(self, y)
        given = as_degrees(y)
        predicted = self._expected(X)
        check_shape(given, predicted.shape)
        given = self._degrees_given(given, predicted, first_row)
        check_fillable(given, first_row or 0)
        return given, predicted

    def _expected(self, X):
        """Return what is expected of rows that are to be completed: the prediction."""
        return np.asarray(self.predict(X))

    def score(self, X, y, sample_weight=None):
        """Return the mean cosine between observed and predicted degrees; 1 is perfect.

        Rows without an observed degree are left out.
        """
        check_label_order(self, y)
        rows = METRICS["cosine"].formula(Pair.of(as_degrees(y), np.asarray(self.predict(X))))
        return mean_of_rows(rows, as_weights(sample_weight, len(rows)))

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
        return self._to_onnx(graph, features)

    def _to_onnx(self, graph, features):
        """Add what it does with the features to a graph; return the name of its degrees."""
        raise ValueError(f"{type(self).__name__} is not linear in its features; {TO_EXPORT}")

    def _set_history(self, result):
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.history_ = result.history


class LinearDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the projection of a linear function.

    A method states `_check_parameters()` and ``_problem(fit_intercept, expand, initial)``: what
    to solve, where `expand` maps the coefficients that are solved for to those of X (None if they
    are the same) and `initial` are coefficients and intercept to start from, or None.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add a bias, penalised like the rest.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-3
        Stop when both residuals are below this part of the distributions.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The result is the same to the bit.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met; a ``ConvergenceWarning`` says so if not.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "primal_residual" and "dual_residual".
    """

    fit_intercept: bool = True
    max_iter: Count = 100
    tol: NotNegative = 1e-3
    n_jobs: Jobs = None
    verbose: int = 0

    _takes_chunks = True
    _free_bias = False  # whether the bias is not penalised

    def _to_onnx(self, graph, features):
        return graph.projection(graph.scores(features, self.coef_, self.intercept_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X, y, sample_weight):
        self._fit_rows(X, y, weight_column(sample_weight))

    def _fit_rows(self, X, y, arrays):
        """Fit to rows and the arrays that go with them."""
        rows = open_rows(self, X, y, fitting=True, arrays=arrays)
        initial = self._starting_point(rows)
        with one_blas_thread():  # a wide X is rotated before an engine sees it
            coef, intercept, result = self._solve(rows, initial)
        self._store(rows, coef, intercept, result)

    def _starting_point(self, rows):
        """Refuse rows that the method cannot use; return coefficients and intercept, or None."""

    def _solve(self, rows, initial):
        """Return coefficients and intercept, and how they were found."""
        n_samples, n_features = rows.X.shape
        if rows.in_memory and n_features > 2 * n_samples:  # else it costs more than it saves
            return self._solve_rotated(rows, initial)
        problem = self._problem(bool(self.fit_intercept), None, initial)
        result = self._iterate(problem, rows)
        return result.shared.coef.copy(), result.shared.intercept, result

    def _solve_rotated(self, rows, initial):
        """Do the same for more features than rows, in as many columns as there are rows."""
        weights = rows.arrays.get("sample_weight")
        if weights is not None:
            rows = rows.take(np.flatnonzero(weights))
            weights = rows.arrays["sample_weight"]
        if self._free_bias:  # a bias that is not penalised stays beside the columns
            return self._solve_beside_bias(rows, initial, Rotation(rows.X, False, weights))
        rotation = Rotation(rows.X, bool(self.fit_intercept), weights)
        if initial is not None:
            initial = rotation.rotated(*initial), np.zeros(rows.y.shape[1])
        problem = self._problem(False, rotation.expand, initial)
        rotated = MemoryRows(rotation.features, rows.y, arrays=rows.arrays)
        result = self._iterate(problem, rotated)
        coef, intercept = rotation.coef(result.shared.coef)
        return coef, intercept * bool(self.fit_intercept), result

    def _solve_beside_bias(self, rows, initial, rotation):
        if initial is not None:
            initial = rotation.rotated(initial[0], np.zeros(rows.y.shape[1])), initial[1]
        expand = partial(_coefficients, rotation)
        problem = self._problem(bool(self.fit_intercept), expand, initial)
        rotated = MemoryRows(rotation.features, rows.y, arrays=rows.arrays)
        result = self._iterate(problem, rotated)
        return expand(result.shared.coef), result.shared.intercept, result

    def _iterate(self, problem, rows):
        """Run the loop on an engine."""
        report = self._report if self.verbose else None
        with rows.engine(effective_n_jobs(self.n_jobs), type(self).__name__) as engine:
            return run(iterations(problem, engine, rows, self.tol), self.max_iter, report)

    def _store(self, rows, coef, intercept, result):
        """Set what is fitted."""
        self.coef_, self.intercept_ = coef, intercept
        self.label_names_, self.n_labels_ = rows.label_names, len(intercept)
        self._set_history(result)

    def _report(self, t, changes):
        parts = ", ".join(f"{name} {value:.2e}" for name, value in changes.items())
        print(f"{type(self).__name__} {t}/{self.max_iter}: {parts}")

    def _predict(self, X):
        return open_rows(self, X).map(self._predictor(), self.n_labels_)

    def _predictor(self):
        return partial(_predict_rows, self._features, coef=self.coef_, intercept=self.intercept_)

    _features = None  # what maps X to the features that are linear in, if these are others


def _coefficients(rotation, W):
    return rotation.coef(W)[0]


def _predict_rows(features, X, coef, intercept):
    out = np.empty((X.shape[0], len(intercept)), X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for X_rows, rows in row_blocks(X, out):
            mapped = X_rows if features is None else features(X_rows)
            rows[:] = predict_columns(mapped, coef, intercept).T
    check_predictable(out)
    return out
