"""The base of all estimators of label distributions."""

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from inldl.completion.completer import learn_completer
from inldl.engines import is_lazy, open_rows
from inldl.engines.base import one_blas_thread
from inldl.errors import warn_user
from inldl.metrics import METRICS, Pair
from inldl.metrics.registry import mean_of_rows
from inldl.rows.checks import (
    FLOATS,
    as_degrees,
    check_fillable,
    check_label_order,
    check_ratios,
    framed,
    label_names,
    like,
    look_like_ratios,
)
from inldl.rows.inputs import (
    as_weights,
    validate_chunk_features,
    validate_features,
    validate_weighted_fit,
)
from inldl.rows.partial import PartialRows

LEAST_COUNT = 1e-300  # of degrees that are known
TO_EXPORT = "fit with --method winldl to export."


class DistributionEstimator(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of all estimators: `fit`, `predict`, `complete`, `score`, tags and ONNX.

    A method states ``_learn(X, y, weights)``, which gets checked rows and their weights (or None),
    and `_predict(X)`. One that needs other rows states `_open`, which returns what its `_learn`
    takes. One that can learn from ratios has the parameter `known`. `_to_onnx` says for ONNX how
    its degrees are computed.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
        Number of features, and of labels.
    feature_names_in_, label_names_ : ndarray of str
        Their names, if `X` and `y` are frames that have names; else `label_names_` is None.
    """

    # Constants that `TunedLDL` may choose, and the candidates of each
    tunable: ClassVar[dict] = {}
    # Parameters of its paper or public program, where they differ from the defaults
    published: ClassVar[dict] = {}
    known = "degrees"  # what a row with holes tells; else only their "ratios"
    held_out_sample_ = None  # training rows with predictions made without them, if it has some
    _converges = False  # whether a warning says that it has not converged
    _takes_sparse = False  # whether it takes sparse features
    _takes_chunks = False  # whether it predicts Dask arrays and frames chunk by chunk

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """Return the estimator with the settings of its paper.

        Parameters
        ----------
        **changes
            Other values of parameters.
        """
        return cls(**cls.published | changes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X, y, sample_weight=None) -> Self:
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
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight, **limits):
        """Check the parameters, open the rows, and learn from them."""
        self._check_parameters()
        self._learn(*self._open(X, y, sample_weight, **limits))
        return self

    def _open(self, X, y, sample_weight):
        """Return checked rows that have a weight, their degrees, and their weights or None."""
        sparse = "csr" if get_tags(self).input_tags.sparse else False
        X, y, self.label_names_, weights = validate_weighted_fit(
            self, X, y, sample_weight, accept_sparse=sparse
        )
        self.n_labels_ = y.shape[1]
        return X, y, weights

    def predict(self, X) -> Any:
        """Predict a distribution for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray, frame or lazy Dask array of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1, in single or double precision. They are of
            the kind of `X`: a frame where labels have names, and a Dask array of the same chunks
            if the method predicts such arrays lazily.
        """
        check_is_fitted(self)
        degrees, names = self._predict(X), self.label_names_
        return framed(X, degrees, names) if isinstance(degrees, np.ndarray) else degrees

    def complete(self, X, y, *, lower=None, upper=None, sums=None) -> Any:
        """Fill the unobserved degrees of `y` near what `X` predicts.

        Methods with held-out predictions (``cross_fit=5`` where that is a parameter) also learn
        what the observed degrees of a row tell about the others when they are first asked to: see
        `inldl.completion.Completer`.

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
        if self._is_lazy(X, y):
            known = {"lower": lower, "upper": upper, "sums": sums}
            return complete_chunks(self, X, y, known)[0]
        rows, predicted = self._rows_to_fill(X, y, lower, upper, sums)
        return like(y, self._fill(rows, predicted))

    def _is_lazy(self, X, y=None):
        """Return whether rows are Dask chunks that can be completed lazily."""
        return self._takes_chunks and is_lazy(X, y)

    def _completer(self):
        """Return what held-out predictions tell about completing rows; None if there are none."""
        kept = self._completion_sample()
        how = {name: getattr(self, name) for name in ("n_jobs", "error") if hasattr(self, name)}
        return None if kept is None else learn_completer(kept, **how)

    def _completion_sample(self):
        """Return the rows from which completing is learned, or None."""
        return self.held_out_sample_

    def _side_information(self, X):
        """Return fields of `PartialRows` that come from the features `X`."""
        if self.held_out_sample_ is None:
            return {}
        return self.held_out_sample_.side_information(self._validated(X))

    def _validated(self, X):
        """Return features as arrays, to be compared with those of the training rows."""
        return validate_features(self, X, accept_sparse="csr", dtype=FLOATS)

    def _fill(self, rows, predicted):
        """Return the given degrees with the missing ones filled in."""
        completer = self._completer()
        if completer is None:
            return rows.project(predicted)
        return completer.fill(rows, predicted).astype(rows.y.dtype, copy=False)

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
        given, predicted = as_degrees(y), self._expected(X)
        check_shape(given, predicted.shape)
        given = self._degrees_given(given, predicted, first_row)
        check_fillable(given, first_row or 0)
        return given, predicted

    def _expected(self, X):
        """Return predictions of rows that are to be completed."""
        predicted = np.asarray(self.predict(X))
        if self.held_out_sample_ is None:
            return predicted
        return self._held_out_if_known(self._validated(X), predicted)

    def _held_out_if_known(self, X, predicted):
        """Return predictions; for training rows, their held-out predictions."""
        predicted, kept = np.asarray(predicted), self.held_out_sample_
        if kept is None or predicted.shape[1:] != kept.predicted.shape[1:]:
            return predicted
        return kept.replace_predictions(X, predicted)

    def _degrees_given(self, given, predicted, first_row=None):
        """Return given rows as degrees: ratios are scaled to what is predicted of their labels."""
        if self.known == "ratios":
            check_ratios(given, first_row or 0)
            return PartialRows(given).scaled(predicted)
        if first_row is None and look_like_ratios(given):
            warn_user(
                "The known degrees of all rows with holes sum to 1, so all holes become 0; if "
                "missing labels were dropped and the others divided by their sum, fit with "
                "known='ratios'."
            )
        return given

    def _learned_from(self, y, otherwise):
        """Return the training degrees; ratios are scaled by the held-out predictions."""
        if self.known == "degrees" or self.held_out_ is None:
            return otherwise
        return PartialRows(PartialRows(y).ratios).scaled(self.held_out_)

    def _refuse_limits(self, *limits):
        """Refuse bounds and sums if only ratios are known."""
        if self.known == "ratios" and any(each is not None for each in limits):
            raise ValueError(
                "Bounds and sums are those of degrees, but with known='ratios' only ratios are "
                "known; leave out one of them."
            )

    def score(self, X, y, sample_weight=None) -> float:
        """Return the mean cosine between observed and predicted degrees; 1 is perfect.

        Parameters
        ----------
        X, y, sample_weight : array-like
            As for `fit`. Rows without an observed degree are left out.

        Returns
        -------
        float
            The mean over rows.
        """
        check_label_order(self, y)
        rows = METRICS["cosine"].formula(Pair.of(as_degrees(y), np.asarray(self.predict(X))))
        return mean_of_rows(rows, as_weights(sample_weight, len(rows)))

    def _example_row(self):
        """Return features that it can predict, to try out a loaded model."""
        return np.linspace(1, 2, self.n_features_in_)[None]

    def _fault(self, degrees):
        """Return what is wrong with a loaded model that predicts `degrees`, if anything."""
        kept = self.held_out_sample_
        if kept is not None and not kept.is_consistent(degrees.shape[1]):
            return "its examples are not finite rows of its labels"
        return None

    def _method(self):
        """Return the estimator that predicts; a model for tables has one inside."""
        return self

    def _onnx_inputs(self):
        """Return the names of the inputs of an ONNX file."""
        return ["X"]

    def _add_to_onnx(self, graph):
        """Add inputs and the computation of the degrees to a graph; return the name of these."""
        features = graph.add_input("X", self.n_features_in_)
        return self._to_onnx(graph, features)

    def _to_onnx(self, graph, features):
        """Add the computation of the degrees to a graph; return the name of these."""
        raise ValueError(f"{type(self).__name__} is not linear in its features; {TO_EXPORT}")

    def _set_history(self, result):
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.history_ = result.history
        if self._converges and not self.converged_:
            warn_user(
                f"{type(self).__name__} did not reach tol={self.tol:g} in max_iter="
                f"{self.max_iter} iterations; history_ shows how far it came.",
                ConvergenceWarning,
            )


def check_shape(y, shape) -> None:
    """Refuse degrees that do not have the shape of what is predicted."""
    if y.shape != shape:
        raise ValueError(
            f"y has the shape {y.shape}, but {shape} is what X and the fitted "
            "labels ask for; give the degrees of the same rows and labels, NaN = unobserved."
        )


def error_at(known, there, weights=None) -> float:
    """Return the root of the mean squared error at degrees, NaN = unknown, of weighted rows."""
    squares = (known - there) ** 2
    own = np.ones(len(squares)) if weights is None else weights
    count = own @ (~np.isnan(squares)).sum(axis=1)
    return float(np.sqrt(own @ np.nansum(squares, axis=1) / max(count, LEAST_COUNT)))


def light(model) -> Any:
    """Return a copy of a model without held-out predictions, to send to workers."""
    found = copy(model)
    found.n_labels_ = model.n_labels_
    vars(found).pop("feature_names_in_", None)  # these have been compared
    if hasattr(model, "held_out_"):
        found.held_out_ = None
    if (kept := model.held_out_sample_) is not None:
        found.held_out_sample_ = kept.with_learned()
    return found


def complete_chunks(model, X, y, limits, coverage=None, joint=False) -> tuple[Any, ...]:
    """Return lazy arrays: the completed degrees, and the ends of intervals of a coverage.

    `limits` are the bounds and sums that a user gave, by name.
    """
    check_is_fitted(model)
    check_label_order(model, y)
    model._refuse_limits(*limits.values())
    header, arrays = PartialRows.open(X, y, **limits)
    rows = open_rows(model, X, y, arrays=arrays)
    n_labels = model.n_labels_
    check_shape(rows.y, (rows.X.shape[0], n_labels))
    model._completer()  # learned here, once
    n_columns = n_labels * (1 if coverage is None else 3)
    about = (coverage, joint), n_columns
    fill = partial(_fill_chunk, light(model), header, list(arrays), *about)
    found = rows.map_with_degrees(fill, n_columns)
    return tuple(found[:, j : j + n_labels] for j in range(0, n_columns, n_labels))


def _fill_chunk(model, header, names, intervals, n_columns, y, X, *arrays, first_row):
    """Return completed rows of a chunk, followed by the ends of their intervals if asked for.

    `names` are those of the arrays with bounds and sums.
    """
    if not len(y):
        return np.empty((0, n_columns), y.dtype)
    X = validate_chunk_features(X)
    y = y if y.dtype in FLOATS else y.astype(X.dtype)
    with one_blas_thread():
        given, predicted = model._given_and_predicted(X, y, first_row)
        rows = header.block(given, **dict(zip(names, arrays, strict=True)))
        rows = replace(rows, **model._side_information(X))
        if intervals[0] is None:
            return model._fill(rows, predicted)
        return np.hstack(model._fill_with_intervals(rows, predicted, *intervals))
