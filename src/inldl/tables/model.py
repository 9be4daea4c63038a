"""A method together with the preparation of its features: frames in, frames out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from inldl.completion.completer import ERRORS
from inldl.errors import DataError
from inldl.importance import importance_by_label
from inldl.methods import AutoInLDL, KernelRidgeLDL
from inldl.methods.base import DistributionEstimator, check_shape
from inldl.methods.baselines import ConstantLDL
from inldl.methods.registry import make_method
from inldl.methods.vote_weights import checked_votes, weights_by_votes
from inldl.rows import checks
from inldl.rows.density import evenly_spaced
from inldl.rows.inputs import group_numbers
from inldl.rows.partial import PartialRows
from inldl.tables import table_rows
from inldl.tables.columns.encoder import FeatureEncoder
from inldl.tables.filled_rows import PredictedRows, RowsToFill
from inldl.tables.panel_rows import MOST_HELD_OUT, WithPanel
from inldl.tables.table_rows import TrainingRows
from inldl.uncertainty.heldout import fit_weighted

FOLDS = 5  # of the first fit of rows that are weighed by votes, if it has no others


class TableModel(WithPanel):
    """Learn shares from a table whose other columns may hold numbers, text, dates and empty cells.

    Guide: :doc:`/predict_new_rows`.

    Parameters
    ----------
    method : str or estimator, default="auto"
        A name as in ``inldl methods``, such as "winldl(mu=2)"; or an estimator, which is cloned.
    cross_fit : int or None, default=5
        Fits without a part of at most 20000 rows, which tell errors; "auto" needs none.
    random_state : int, default=0
        For methods that draw random numbers.
    n_jobs : int or None, default=None
        Threads, for methods that can use them; None is 1, -1 all cores.
    error : {"shares", "ratios"}, default="shares"
        Whether errors of shares are to be small, or of ratios, where small shares count as much.

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
    held_out_, held_out_rows_ : ndarray of shape (m, n_labels), ndarray of int of shape (m,)
        Predictions of training rows made without them, if any, and which rows these are.
    panel_ : PanelRows or None
        The rows of the fit with their units and times, if it has these.
    n_copies_ : int
        Rows that equal an earlier one, and were not learned from again.
    held_out_sample_ : HeldOutSample or None
        Rows with held-out predictions, on which intervals and completing rest.

    Notes
    -----
    See `inldl.completion.Completer`; without `cross_fit`, `complete` fills near predictions.

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

    def __init__(
        self, method="auto", cross_fit=5, random_state=0, n_jobs=None, error="shares"
    ) -> None:
        self.method = method
        self.cross_fit = cross_fit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.error = error

    def fit(
        self, X, y, sample_weight=None, *, groups=None, votes=None,
        lower=None, upper=None, sums=None, unit=None, time=None, place=None,
    ) -> Self:  # fmt: skip
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
            Rows of one group, such as one person, are held out together when errors are
            measured.
        votes : array-like of shape (n_samples,), optional
            How many votes, or other counted things, each row rests on. Rows are then weighed by
            how sure their degrees are: see :func:`inldl.vote_weights`. This takes a second fit.
        lower, upper, sums : array-like and dict, optional
            As in the `fit` of :class:`inldl.AutoInLDL`; a method that cannot use bounds learns
            without them. Completing is learned from all rows that count, whatever their weight.
        unit, time : str or list of str, optional
            The columns that name what has several rows, such as a country, and their times: rows
            are then predicted and completed from others of their unit and time, for which the
            method "auto" is kernel ridge regression. They are found where a frame has both, or is
            one series: see :func:`inldl.tables.find_structure`. "none" turns that off, and so do
            groups, ratios and ``cross_fit=None``.
        place : str or list of str, optional
            The columns with the latitude and the longitude of rows; "none" leaves them out.

        Returns
        -------
        self
        """
        limits = {"lower": lower, "upper": upper, "sums": sums}
        training = TrainingRows.of(X, y, sample_weight, limits, votes=votes, fold_groups=groups)
        training = self._place_named(X, training, unit, time, place)
        self.fit_prepared(self.prepare(training, checks.names_or_numbers(y)))
        return self

    def prepare(self, training, labels, dates="auto", codes=True) -> TrainingRows:
        """Learn to encode the columns; return the rows with encoded features, for `fit_prepared`.

        A large table need not stay in memory beside its encoded columns, so these are two steps.

        Parameters
        ----------
        training : TrainingRows
            The rows.
        labels : sequence of str
            Names of the labels.
        dates, codes
            As in `FeatureEncoder` and its `fit`.
        """
        checks.check_choice("error", self.error, ERRORS)
        if self.cross_fit is not None:
            checks.check_number("cross_fit", self.cross_fit, low=2, integer=True)
        for name in ("encoder_", "estimator_"):
            self.__dict__.pop(name, None)
        method = self._make_method()  # refuses an unknown one before any work
        X, rows, n = training.features, training.rows, len(training)
        self.unseen_ = np.isnan(rows.forced()).all(axis=0) & ~rows.limited.any(axis=0)
        if n == 1:
            raise ValueError("The table has one row (n_samples=1); learning needs at least two.")
        self.label_names_, self.n_labels_ = np.asarray(labels, dtype=object), len(labels)
        degrees = None if self.known == "ratios" else training.degrees_alone
        self.encoder_ = FeatureEncoder(dates=dates)
        features, keys = self.encoder_.fit_matrix(X, degrees, rows.weight, codes=codes)
        columns = () if training.reader is None else training.reader.columns
        names = list(dict.fromkeys([*self.encoder_.feature_names_in_, *columns]))
        self.feature_names_in_, self.n_features_in_ = np.array(names, object), len(names)
        if not self.encoder_.columns_:  # then all methods are the constant mean
            method = ConstantLDL(known=getattr(method, "known", "degrees"))
        elif training.panel is not None and isinstance(method, AutoInLDL):  # quick for each trial
            method = KernelRidgeLDL(random_state=self.random_state, n_jobs=self.n_jobs)
        self.estimator_ = method
        self._refuse_limits(rows if rows.constrained else None)
        if self.known == "ratios":
            checks.check_ratios(rows.y)
            table_rows.refuse_unseen(rows, labels)
        self.means_ = table_rows.means_of_labels(rows, ratios=self.known == "ratios")
        groups, votes = training.fold_groups, training.votes
        return replace(
            training,
            features=features,
            keys=keys,
            fold_groups=None if groups is None else group_numbers(groups, n),
            votes=None if votes is None else checked_votes(votes, n),
        )

    def fit_prepared(self, training) -> TrainingRows:
        """Fit the method to prepared rows, and keep what completing is learned from.

        Copies of a row are learned from once, with all their weight: a held-out row must not be
        known by its copies. If rows were divided by their sums, completing is not learned from
        bounds.

        Returns
        -------
        TrainingRows
            The rows that were held out.
        """
        n, placed = len(training), training.panel is not None
        training = training.distinct() if self.encoder_.columns_ and not placed else training
        self.n_copies_, self.panel_ = n - len(training), None
        with self._explained_errors(training.rows):
            if training.votes is not None:
                training = training.with_weight(self._weights_by_votes(training))
            if placed:
                self._fit_estimator(training)
                return self._fit_panel(training, self.cross_fit)
            held_out = training.take(self._fit_method(training))
        rows, divisors = held_out.rows, held_out.divisors
        self.held_out_rows_ = rows.number
        degrees, bounded = self._learned_from(rows.y, rows.y), rows
        if divisors is not None:
            degrees, bounded = degrees * divisors[:, None], None
        about = held_out.fold_groups, divisors is not None, bounded, held_out.keys
        self._keep_errors(held_out.features, degrees, *about)
        return held_out

    def _fit_method(self, training):
        """Fit the method; return which rows have predictions that were made without them."""
        self._fit_estimator(training)
        own = getattr(self.estimator_, "held_out_", None)
        numbers = getattr(self.estimator_, "held_out_rows_", None)  # of very many rows it has some
        if training.fold_groups is not None and not has_fit_parameter(self.estimator_, "groups"):
            own = numbers = None
        at = evenly_spaced(len(training) if numbers is None else len(numbers), MOST_HELD_OUT)
        if own is None and self.cross_fit is not None:
            own = training.take(at).cross_fit(self.estimator_, self.cross_fit)
        elif own is not None:
            own = own[at]
        self.held_out_ = self._with_means(own)
        return at if numbers is None else numbers[at]

    def _fit_estimator(self, training):
        """Fit the method."""
        rows, method, known = table_rows.with_guesses(training.rows), clone(self.estimator_), {}
        if has_fit_parameter(method, "lower"):
            known = rows.arguments() | {"groups": training.fold_groups}
        self.estimator_ = fit_weighted(method, training.features, rows.y, rows.weight, **known)

    def _weights_by_votes(self, training):
        """Return the weights of rows by their votes, from held-out errors of a first fit."""
        at, weight = self._fit_method(training), training.rows.weight
        predicted = self.held_out_
        if predicted is None:
            predicted = training.take(at).cross_fit(self.estimator_, FOLDS)
        own = weights_by_votes(training.rows.y[at], predicted, training.votes, at)
        return own if weight is None else own * weight

    @contextmanager
    def _explained_errors(self, rows):
        """Name the label that a method fails at; say which methods take incomplete degrees."""
        try:
            yield
        except DataError as error:
            if not isinstance(error.label, int):  # methods know labels by their number
                raise
            raise error.with_facts(label=self.label_names_[error.label]) from error
        except ValueError as error:
            if isinstance(self.estimator_, DistributionEstimator) or not rows.holes.any():
                raise
            raise ValueError(
                f"{self.method} cannot learn from degrees if some are missing; use one of "
                "the methods that `inldl methods` lists, or wrap a regressor of scikit-learn in "
                f"inldl.methods.RegressorLDL. The method says: {error}"
            ) from error

    def _example_row(self):  # a hole is what every column can have
        row = pd.DataFrame(np.nan, [0], self.feature_names_in_)
        return row if self.panel_ else row.to_numpy()

    def _fault(self, degrees):
        self.encoder_.unfamiliar(self._example_row())
        needed = dict.fromkeys(("held_out_", "held_out_rows_", "feature_names_in_"), self)
        needed |= dict.fromkeys(("dropped_", "notes_", "sources_"), self.encoder_)
        if lacking := [name for name, owner in needed.items() if not hasattr(owner, name)]:
            return f"it lacks {', '.join(lacking)}"
        if np.shape(self.means_) != degrees.shape[1:]:
            return "its means are not those of its labels"
        if getattr(self, "scale_", "fraction") not in ("fraction", "percent", "count"):
            return "the scale of its degrees is unknown"
        if not isinstance(getattr(self, "total_", None), str | float | None):
            return "its total is neither a column nor a number"
        return super()._fault(degrees)

    @property
    def known(self) -> str:  # type: ignore[override]
        """What rows with holes tell, "degrees" or "ratios": a parameter of the method."""
        method = getattr(self, "estimator_", None) or self._make_method()
        return getattr(method, "known", "degrees")

    def _method(self):
        return self.estimator_

    def _add_to_onnx(self, graph):
        return self.estimator_._to_onnx(graph, self.encoder_.add_to(graph))

    def _validated(self, X):
        return self.encoder_.transform(self._named(X))

    def _expected(self, X):
        encoded = self.encoder_.transform(X)
        return self._held_out_if_known(encoded, self.estimator_.predict(encoded))

    def rows_to_fill(self, X, known) -> RowsToFill:
        """Return rows that are to be completed, with their columns encoded once.

        `known` has the degrees, bounds, and sums, as `TableFile.known` returns them.
        """
        check_is_fitted(self)
        encoded, given = self._validated(X), checks.as_degrees(known.y)
        predicted = self.estimator_.predict(encoded)
        if self.panel_ is None:
            predicted = self._held_out_if_known(encoded, predicted)
        if self.known == "ratios":
            given = self._degrees_given(given, predicted)
        check_shape(given, predicted.shape)
        checks.check_fillable(given)
        self._refuse_limits(*known.arguments().values())
        rows = PartialRows.of(given, **known.arguments(), names=self.label_names_)
        if self.panel_ is not None:
            predicted, far = self.panel_.to_fill(self._framed(X), encoded, given, predicted)
            rows = replace(rows, spread_features=far)
        elif self.held_out_sample_ is not None:
            rows = replace(rows, **self.held_out_sample_.side_information(encoded))
        return RowsToFill(self, replace(rows, counts=known.counts), self._with_means(predicted))

    def predict_rows(self, X) -> PredictedRows:
        """Return predictions of rows, with their columns encoded once for all that is asked."""
        check_is_fitted(self)
        encoded = self.encoder_._encoded(cells := self.encoder_._read(X))
        about = self._predicted(X, encoded), self._unfamiliar(X, cells)
        return PredictedRows(self, X, encoded, *about)

    def predict(self, X) -> Any:
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
        degrees = self._predicted(X, self._validated(X))
        return checks.framed(X, degrees, list(self.label_names_))

    def influence(self, X, y) -> pd.DataFrame:
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
        X = self._framed(X)
        rises = importance_by_label(self, X, y, n_repeats=1)["mean"].loc[columns]
        return rises.rename_axis(index=None, columns=None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(FeatureEncoder()).input_tags
        return tags

    def _make_method(self):
        """Return the method that was asked for, not fitted."""
        named = isinstance(self.method, str)
        estimator = make_method(self.method, self.random_state) if named else clone(self.method)
        if "n_jobs" in estimator.get_params(deep=False):
            estimator.set_params(n_jobs=self.n_jobs)
        return estimator
