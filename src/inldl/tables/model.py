"""A method together with the preparation of its features: frames in, frames out."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from inldl.completion.examples import evenly
from inldl.errors import DataError
from inldl.importance import importance_by_label
from inldl.methods.base import DistributionEstimator
from inldl.methods.constant import ConstantLDL
from inldl.methods.given_rows import check_given
from inldl.methods.intervals import IntervalMixin
from inldl.methods.registry import make_method
from inldl.methods.vote_weights import checked_votes, weights_by_votes
from inldl.rows.checks import as_degrees, check_number, framed, names_or_numbers
from inldl.rows.inputs import as_weights, check_rows
from inldl.rows.partial import PartialRows
from inldl.tables.columns.encoder import FeatureEncoder
from inldl.tables.columns.values import as_table, named_columns
from inldl.tables.row_columns import (
    distinct_rows,
    group_numbers,
    means_of_labels,
    weights_of_copies,
)
from inldl.uncertainty.heldout import fit_weighted, predict_held_out

FOLDS = 5  # of the first fit of rows that are weighed by votes, if it has no others
MOST_HELD_OUT = 20_000  # held out to judge a model: more would not move its error noticeably


class TableModel(IntervalMixin, DistributionEstimator):
    """A method of the library for tables with numbers, text and holes in their features.

    Parameters
    ----------
    method : str or estimator, default="auto"
        A name as in ``inldl methods``, with arguments if it has any, such as "winldl(mu=2)"; or
        an estimator, which is cloned.
    cross_fit : int or None, default=5
        Fits, each without a part of the rows, from which errors and intervals are known. At most
        20000 rows take part. None leaves them out; "auto" needs none of them.
    random_state : int, default=0
        For methods that draw random numbers.
    n_jobs : int or None, default=None
        Threads, for methods that can use them; None is 1, -1 all cores.

    Attributes
    ----------
    encoder_ : FeatureEncoder
        What the columns became.
    estimator_ : estimator
        The method, fitted to the encoded columns.
    label_names_ : ndarray of str
        Names of the labels.
    means_ : ndarray of shape (n_labels,)
        The mean of the observed degrees of each label.
    held_out_ : ndarray of shape (m, n_labels) or None
        Predictions of training rows that were made without them.
    held_out_rows_ : ndarray of int of shape (m,)
        Which rows these are.
    n_copies_ : int
        Rows that equal an earlier one, and were not learned from again.
    calibration_ : ndarray or None
        Held-out predictions and degrees, on which intervals of predictions rest.
    examples_ : Examples or None
        Rows from which completing is learned, when it is first asked for.

    Notes
    -----
    `complete` fills a missing degree from the known degrees of its row and the prediction: see
    `inldl.completion.Completer`. Without `cross_fit` it fills near the prediction.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from inldl.tables import TableModel
    >>> X = pd.DataFrame({"age": [20, 30, 40, 50.0], "town": ["A", "B", "A", "B"]})
    >>> y = pd.DataFrame({"yes": [0.2, 0.5, 0.4, np.nan], "no": [0.8, 0.5, np.nan, 0.3]})
    >>> model = TableModel("winldl").fit(X, y)
    >>> model.complete(X, y).round(6).loc[2].to_dict()
    {'yes': 0.4, 'no': 0.6}
    """

    def __init__(self, method="auto", cross_fit=5, random_state=0, n_jobs=None):
        self.method = method
        self.cross_fit = cross_fit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X, y, sample_weight=None, *, groups=None, votes=None,
        lower=None, upper=None, sums=None,
    ):  # fmt: skip
        """Fit the model.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            Numbers, text, dates and holes. A frame without columns will do: degrees are then
            completed from the others of their rows, and predictions are the mean of each label.
        y : DataFrame or array of shape (n_samples, n_labels)
            Degrees, NaN = unobserved.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, as in the `fit` of every method; 0 leaves a row out.
        groups : array-like of shape (n_samples,), optional
            Rows of one group, such as one person or country, are held out together when errors
            are measured. With "auto" this takes a fit for each part that is held out.
        votes : array-like of shape (n_samples,), optional
            How many votes, or other counted things, each row rests on. Rows are then weighed by
            how sure their degrees are: see :func:`inldl.vote_weights`. This takes a second fit.
        lower, upper, sums
            As in the `fit` of :class:`inldl.AutoInLDL`; a method that cannot use bounds learns
            without them. Completing is learned from all rows that count, each as much as any
            other.

        Returns
        -------
        self
        """
        limits = PartialRows.of(y, lower, upper, sums)
        weights, kept = as_weights(sample_weight), None
        if weights is not None and not weights.all():
            X = as_table(X)
            check_rows(X, weights, "sample_weight")
            kept = np.flatnonzero(weights)
            X, y, groups, votes, weights = (
                None if each is None else _safe_indexing(each, kept)
                for each in (X, y, groups, votes, weights)
            )
            limits = limits.take(kept)
        encoded, degrees = self._encode(X, y, weights)
        if groups is not None:
            groups = group_numbers(groups, len(degrees))
        if votes is not None:
            votes = checked_votes(votes, len(degrees))
        known = {"weights": weights, "votes": votes, "limits": limits}
        self._fit_encoded(encoded, degrees, groups, **known)
        if kept is not None:
            self.held_out_rows_ = kept[self.held_out_rows_]
        return self

    def _encode(self, X, y, weights=None, dates="auto"):
        """Learn to encode the columns; return them and the degrees as arrays.

        `dates` is as in `FeatureEncoder`.
        """
        if self.cross_fit is not None:
            check_number("cross_fit", self.cross_fit, low=2, integer=True)
        for name in ("encoder_", "estimator_"):
            vars(self).pop(name, None)
        self._unfitted()  # refuses an unknown method before any work
        X, degrees = as_table(X), as_degrees(y)
        check_rows(X, degrees)
        if weights is not None:
            check_rows(X, weights, "sample_weight")
        if len(degrees) == 1:
            raise ValueError("The table has one row (n_samples=1); learning needs at least two.")
        self.label_names_ = names_or_numbers(y)
        self.encoder_ = FeatureEncoder(dates=dates).fit(X)
        self.feature_names_in_ = self.encoder_.feature_names_in_
        self.n_features_in_ = self.encoder_.n_features_in_
        self.means_ = means_of_labels(degrees, weights, ratios=self.known == "ratios")
        return self.encoder_.matrix(X), degrees

    def _fit_encoded(
        self, encoded, degrees, groups=None, sums=None, weights=None, votes=None, limits=None
    ):
        """Fit the method, and keep what completing is learned from.

        Returns the weights of the rows that were held out, or None if there are none.

        Copies of a row are learned from once: a held-out row must not be known by its copies. With
        weights they are learned from once with all their weight. `sums` are those of the rows
        before they were divided by them, if they vary; completing is then not learned from
        `limits`.
        """
        self._refuse_limits(limits if limits is not None and limits.constrained else None)
        once = distinct_rows(encoded, degrees) if self.encoder_.columns_ else None
        self.n_copies_ = 0
        weights = weights_of_copies(encoded, degrees, weights, once)
        if once is not None:
            self.n_copies_ = len(degrees) - len(once)
            encoded, degrees = encoded[once], degrees[once]
            groups, sums, votes = (
                None if each is None else each[once] for each in (groups, sums, votes)
            )
            limits = None if limits is None else limits.take(once)
        rows = evenly(len(degrees), MOST_HELD_OUT)
        held_out = None if groups is None else groups[rows]
        with self._explained_errors(degrees):
            if votes is not None:
                own = self._by_votes(encoded, degrees, rows, held_out, weights, limits, votes)
                weights = own if weights is None else own * weights
            rows = self._fit_method(encoded, degrees, rows, held_out, weights, limits)
        self.held_out_rows_ = rows if once is None else once[rows]
        known = self._learned_from(degrees[rows], degrees[rows])
        known = known if sums is None else known * sums[rows, None]
        limits = None if limits is None or sums is not None else limits.take(rows)
        self._keep_errors(encoded[rows], known, held_out, loose=sums is not None, partial=limits)
        return None if weights is None else weights[rows]

    def _fit_method(self, encoded, degrees, rows, groups, weights, limits):
        """Fit the method; return which rows have predictions that were made without them."""
        method, known = self._unfitted(), {}
        if limits is not None and has_fit_parameter(method, "lower"):
            known = limits.arguments()
        self.estimator_ = fit_weighted(method, encoded, degrees, weights, **known)
        own = getattr(self.estimator_, "held_out_rows_", None)
        if own is not None and groups is None:  # a method of very many rows holds out some itself
            some = evenly(len(own), MOST_HELD_OUT)
            self.held_out_ = self.estimator_.held_out_[some]
            return own[some]
        self.held_out_ = self._held_out(encoded, degrees, rows, groups, weights)
        return rows

    def _by_votes(self, encoded, degrees, rows, groups, weights, limits, votes):
        """Return the weights of rows by their votes, from held-out errors of a first fit."""
        rows = self._fit_method(encoded, degrees, rows, groups, weights, limits)
        found = self.held_out_
        if found is None:
            some = None if weights is None else weights[rows]
            found = self._cross_fit(encoded[rows], degrees[rows], FOLDS, groups, some)
        return weights_by_votes(degrees[rows], found, votes, rows)

    @contextmanager
    def _explained_errors(self, degrees):
        """Name the label that a method fails at; say which methods take incomplete degrees."""
        try:
            yield
        except DataError as error:
            if not isinstance(error.label, int):  # methods know labels by their number
                raise
            raise error.told(label=self.label_names_[error.label]) from error
        except ValueError as error:
            ours = isinstance(self._unfitted(), DistributionEstimator)
            if ours or not np.isnan(degrees).any():
                raise
            raise ValueError(
                f"{self.method} cannot learn from degrees if some are missing; use one of "
                "the methods that `inldl methods` lists, or wrap a regressor of scikit-learn in "
                f"inldl.methods.RegressorLDL. The method says: {error}"
            ) from error

    def _held_out(self, encoded, degrees, rows, groups, weights=None):
        """Return predictions of some rows that were made without them, or None."""
        known = getattr(self.estimator_, "held_out_", None)
        if known is not None and groups is None:
            return known[rows]
        if self.cross_fit is None:
            return None
        some = None if weights is None else weights[rows]
        return self._cross_fit(encoded[rows], degrees[rows], self.cross_fit, groups, some)

    def _cross_fit(self, encoded, degrees, n_folds, groups, weights):
        return predict_held_out(self._unfitted(), encoded, degrees, n_folds, groups, weights)

    def _example_row(self):
        return np.full((1, self.n_features_in_), np.nan)  # a hole is what every column can have

    def _fault(self, degrees):
        self.encoder_.unfamiliar(self._example_row())
        needed = ["held_out_", "held_out_rows_", "feature_names_in_"]
        lacking = [name for name in needed if not hasattr(self, name)]
        lacking += [
            name for name in ("dropped_", "notes_", "sources_") if not hasattr(self.encoder_, name)
        ]
        if lacking:
            return f"it lacks {', '.join(lacking)}"
        if np.shape(self.means_) != degrees.shape[1:]:
            return "its means are not those of its labels"
        if getattr(self, "scale_", "fraction") not in ("fraction", "percent", "count"):
            return "the scale of its degrees is unknown"
        return super()._fault(degrees)

    @property
    def known(self):
        """What rows with holes tell, "degrees" or "ratios": a parameter of the method."""
        return getattr(getattr(self, "estimator_", None) or self._template(), "known", "degrees")

    def _method(self):
        return self.estimator_

    def _onnx_inputs(self):
        return [column.name for column in self.encoder_.columns_]

    def _add_to_onnx(self, graph):
        return self.estimator_._to_onnx(graph, self.encoder_.add_to(graph))

    def _validated(self, X):
        return self.encoder_.transform(X)

    def _expected(self, X):
        encoded = self.encoder_.transform(X)
        return self._held_out_if_known(encoded, self.estimator_.predict(encoded))

    def _to_complete(self, X, known):
        """Return rows that are to be completed, and predictions.

        The columns are encoded once for all that is done with them.
        """
        check_is_fitted(self)
        encoded, given = self._validated(X), as_degrees(known.y)
        predicted = self._held_out_if_known(encoded, self.estimator_.predict(encoded))
        if self.known == "ratios":
            given = self._degrees_given(given, predicted)
        check_given(given, predicted)
        self._refuse_limits(*known.limits.values())
        rows = PartialRows.of(given, **known.limits, names=self.label_names_)
        if self.examples_ is not None:
            rows = replace(rows, **self.examples_.side_information(encoded))
        return rows, predicted

    def _signs_of(self, encoded):
        return None if self.examples_ is None else self.examples_.spread_features_of(encoded)

    def predict(self, X):
        """Predict a distribution for each row.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The columns of the fit; those of a frame in any order, and others are ignored.

        Returns
        -------
        frame or array of shape (n_samples, n_labels)
            Rows that are not negative and sum to 1: a frame of the kind of `X`, with its index, or
            an array if that is one.
        """
        check_is_fitted(self)
        degrees = self.estimator_.predict(self.encoder_.transform(X))
        return framed(X, degrees, list(self.label_names_))

    def _predict_and_compare(self, X):
        """Return predictions, signs of their errors, and rows unfamiliar to the encoder."""
        cells = self.encoder_._read(X)
        encoded = self.encoder_._encoded(cells)
        predicted = np.asarray(self.estimator_.predict(encoded))
        return predicted, self._signs_of(encoded), self.encoder_._unfamiliar(cells)

    def influence(self, X, y):
        """Measure how much worse the labels are predicted when a column is shuffled.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            Some rows; a thousand are enough. For rows of the fit the error rises more than for
            new ones.
        y : frame or array of shape (n_samples, n_labels)
            Degrees, NaN = unobserved.

        Returns
        -------
        DataFrame of shape (n_used_columns, n_labels)
            By how much the root mean squared error of the label rises.
        """
        check_is_fitted(self)
        columns = [column.name for column in self.encoder_.columns_]
        if not columns:
            return pd.DataFrame(columns=list(self.label_names_), dtype=float)
        X = pd.DataFrame(named_columns(X, list(self.feature_names_in_)))
        rises = importance_by_label(self, X, y, n_repeats=1)["mean"].loc[columns]
        return rises.rename_axis(index=None, columns=None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(FeatureEncoder()).input_tags
        return tags

    def _unfitted(self):
        """Return the method, not fitted; without features all methods are the constant mean."""
        estimator = self._template()
        if hasattr(self, "encoder_") and not self.encoder_.columns_:
            return ConstantLDL(known=getattr(estimator, "known", "degrees"))
        if "n_jobs" in estimator.get_params(deep=False):
            estimator.set_params(n_jobs=self.n_jobs)
        return estimator

    def _template(self):
        """Return the method that was asked for, not fitted."""
        if isinstance(self.method, str):
            return make_method(self.method, self.random_state)
        return clone(self.method)
