"""Prediction intervals, completion and draws from held-out predictions."""

import math
import numbers
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from inldl.engines import open_rows
from inldl.errors import warn_user
from inldl.methods.base import DistributionEstimator, complete_chunks, light
from inldl.metrics import log_score
from inldl.randomness import seed_from
from inldl.rows.checks import check_number, framed, like
from inldl.rows.inputs import group_numbers
from inldl.uncertainty.heldout import HeldOutSample

MIDDLE = (0.05, 0.95)  # levels of the errors that tell how sure a row is
SURENESS = 2.0 ** np.arange(-6, 8, 0.5)  # that are tried
SMALLEST_PART, LEAST_PRECISION, LEAST_SQUARES = 1e-6, 0.1, 1e-12  # of Dirichlet distributions


class IntervalMixin(DistributionEstimator):
    """Base of methods with held-out predictions of their training rows: intervals and draws.

    Its `_open` also takes bounds and sums of unobserved degrees. Its `_learn` sets `held_out_`,
    predictions of the training rows that were each made without the row's degrees (or None), and
    calls `_keep_errors(X, y)` at the end.
    """

    def fit(
        self, X, y, sample_weight=None, *, groups=None, lower=None, upper=None, sums=None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features, as for every :class:`DistributionEstimator`. Methods with a kernel take
            them in any units: they scale them inside, and reduce sparse ones, and more than 1000
            dense ones, to 100 principal components.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts: 2 is as good as the same row twice, 0 as no row at all. None
            counts each row once. Rows are held out one by one, whatever they weigh.
        groups : array-like of shape (n_samples,), default=None
            Of what each row is, such as a person or a county with several rows. Those of one
            group are held out together, so that weights and errors are those for new groups.
        lower, upper : array-like of shape (n_samples, n_labels), optional
            Bounds of unobserved degrees, NaN = none. The model learns from what is expected of
            such degrees between their bounds.
        sums : dict of tuple to array-like of shape (n_samples,), optional
            What groups of labels sum to, NaN = unknown: ``{("beer", "wine"): [0.3, 0.2]}``.

        Returns
        -------
        self
        """
        self._refuse_limits(lower, upper, sums)
        groups = None if groups is None else group_numbers(groups, np.shape(y)[0])
        self._fit(X, y, sample_weight, groups=groups, lower=lower, upper=upper, sums=sums)
        self._predict_weightless(X, sample_weight)
        return self

    def _keep_errors(self, X, y, groups=None, loose=False, partial=None, keys=None):
        """Keep a sample of the rows with their held-out predictions, as `held_out_sample_`.

        Intervals are made from it, and completing is learned from it when it is first asked for.
        `loose` says that sums of rows are only about 1. Degrees that bounds or sums of `partial`,
        the rows, limit are as expected. `keys` are those of the rows, if not those of `X`.
        """
        self.held_out_sample_ = None
        if self.held_out_ is not None:
            about = groups, loose, partial, keys
            self.held_out_sample_ = HeldOutSample.of(X, y, self.held_out_, *about)

    @property
    def gives_intervals(self) -> bool:
        """Whether it kept held-out predictions of degrees, from which intervals are made."""
        return self.held_out_sample_ is not None and self.known != "ratios"

    def _predict_weightless(self, X, sample_weight):
        """Extend `held_out_` to the rows without weight, which were not learned from."""
        some = getattr(self, "held_out_rows_", None) is not None
        if self.held_out_ is None or some or sample_weight is None:
            return
        sample_weight = np.asarray(sample_weight)
        if sample_weight.all():
            return
        predicted = np.asarray(self.predict(X), dtype=self.held_out_.dtype)
        predicted[np.flatnonzero(sample_weight)] = self.held_out_
        self.held_out_ = predicted

    def _with_few_rows(self):
        """Return a copy that learns to complete from a few rows, to try it out in no time."""
        found = copy(self)
        if self.held_out_sample_ is not None:
            found.held_out_sample_ = self.held_out_sample_.few()
        return found

    def predict_interval(self, X, coverage=0.9) -> tuple[Any, Any]:
        r"""Predict an interval for each degree.

        An interval reaches from the prediction p downwards and upwards by multiples of s(p), the
        usual error of predictions of that size, and of rows like it where features tell that some
        rows have larger errors than others. The multiples are, label by label, the smallest
        with which a share :math:`\lceil (m + 1) c \rceil / m` of the m held-out degrees is
        covered, where c is `coverage`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        coverage : float, default=0.9
            The share of degrees of new rows that should lie in their intervals, in (0, 1).

        Returns
        -------
        lower, upper : ndarray, frame or lazy Dask array of shape (n_samples, n_labels)
            Within [0, 1], with the prediction in between, and of its kind. They are Dask arrays
            where `X` is one.

        Notes
        -----
        The promise holds for each label on average over rows like those of the fit, if a degree's
        being unobserved has nothing to do with its value; not for each single row, and not for
        all degrees of a row at once. A label observed too rarely for the asked coverage gets
        [0, 1], with a warning.
        """
        self._check_intervals(coverage)
        if self._is_lazy(X):
            find = partial(_both_bounds, light(self), coverage)
            both = open_rows(self, X).map(find, 2 * self.n_labels_)
            return both[:, : self.n_labels_], both[:, self.n_labels_ :]
        predicted = self.predict(X)
        ends = self._intervals(X, np.asarray(predicted), coverage)
        return tuple(like(predicted, end) for end in ends)

    def _intervals(self, X, predicted, coverage):
        """Return the intervals around predictions of rows."""
        return self._interval_around(predicted, coverage, self._spread_features(X))

    def _check_intervals(self, coverage):
        check_coverage(coverage)
        self._check_held_out("intervals")

    def _interval_around(self, predicted, coverage, spread_features=None, sample=None):
        """Return the intervals around predictions of rows, of which some features may be known.

        Errors are those of a `sample`, by default `held_out_sample_`.
        """
        self._check_intervals(coverage)
        labels, scale = (sample or self.held_out_sample_).label_errors(spread_features)
        self._warn_about_rare_labels(labels, coverage)
        pairs = zip(labels, predicted.T, strict=True)
        bounds = [label.around(p, coverage, scale) for label, p in pairs]
        lower, upper = np.stack(bounds, axis=-1).astype(predicted.dtype)
        return lower, upper

    def complete_interval(
        self, X, y, coverage=0.9, *, joint=False, lower=None, upper=None, sums=None
    ) -> tuple[Any, Any, Any]:
        """Fill the unobserved degrees of `y`, and give an interval for each.

        Parameters
        ----------
        X, y : array-like
            As for `complete`.
        coverage : float, default=0.9
            The share of unobserved degrees that should lie in their intervals, in (0, 1).
        joint : bool, default=False
            Whether it is the share of rows all of whose unobserved degrees should lie in their
            intervals, which are wider then.
        lower, upper, sums : array-like and dict, optional
            As for `complete`.

        Returns
        -------
        completed, lower, upper : ndarray, frame or lazy Dask array of shape (n_samples, n_labels)
            What `complete` returns, and the ends of the intervals: as far as the observed degrees
            of the row leave room, and always around the completed degree. Both ends equal the
            degree where it is observed, or the only unobserved one of its row.
        """
        self._check_intervals(coverage)
        if self._is_lazy(X, y):
            known = {"lower": lower, "upper": upper, "sums": sums}
            return complete_chunks(self, X, y, known, coverage, joint)
        rows, predicted = self._rows_to_fill(X, y, lower, upper, sums)
        completed, *ends = self._fill_with_intervals(rows, predicted, coverage, joint)
        return like(y, completed), like(y, ends[0]), like(y, ends[1])

    def draw(self, X, y, n_draws, random_state=None, *, lower=None, upper=None, sums=None) -> Any:
        """Draw completed tables that differ as far as the unobserved degrees are uncertain.

        This is multiple imputation: :func:`inldl.pool` combines what is estimated from each.

        Parameters
        ----------
        X, y : array-like
            As for `complete`. Dask collections are loaded into memory.
        n_draws : int
            The number of completed tables.
        random_state : int, RandomState instance, Generator or None, default=None
            An int makes the draws reproducible to the bit.
        lower, upper, sums : array-like and dict, optional
            As for `complete`.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_labels) or list of frames
            The completed tables; a list of as many frames if `y` is a frame.
        """
        self._check_draws(n_draws)
        seed = seed_from(random_state)
        rows, predicted = self._rows_to_fill(X, y, lower, upper, sums)
        draws = self._draw(rows, predicted, n_draws, seed)
        return [like(y, table) for table in draws] if hasattr(y, "columns") else draws

    def sample(self, X, n_draws=100, random_state=None) -> Any:
        """Draw distributions that rows may have: several for each, all labels of a row together.

        They are what `draw` gives for rows of which no degree is known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        n_draws : int, default=100
            The number of draws.
        random_state : int, RandomState instance, Generator or None, default=None
            An int makes the draws reproducible to the bit.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_labels) or list of frames
            The draws; a list of as many frames if `X` is a frame and the labels have names.
        """
        self._check_draws(n_draws)
        nothing = np.full(np.shape(self.predict(X)), np.nan)
        return self.draw(X, framed(X, nothing, self.label_names_), n_draws, random_state)

    def predict_quantiles(self, X, quantiles=(0.1, 0.5, 0.9)) -> Any:
        """Predict quantiles of each degree, from the errors of held-out predictions of its label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        quantiles : sequence of float, default=(0.1, 0.5, 0.9)
            The levels, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_quantiles, n_samples, n_labels) or list of frames
            Within [0, 1]; degrees of a row need not sum to 1. A list of as many frames if `X` is a
            frame and the labels have names.
        """
        self._check_held_out("quantiles")
        for level in quantiles:
            check_number("Each of the quantiles", level, above=0, below=1)
        predicted = self.predict(X)
        found = self._quantiles(X, np.asarray(predicted), quantiles)
        return [like(predicted, each) for each in found] if hasattr(X, "columns") else found

    def predict_dirichlet(self, X) -> Any:
        """Predict a Dirichlet distribution of each row: its mean and how sure it is, in one.

        Its mean is the prediction. Its precision, the sum of its parameters, follows from the
        spread of held-out errors of predictions like those of the row, times the one number with
        which held-out degrees are most likely.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_labels)
            The parameters (concentrations), which are positive: those of a row divided by their
            sum are the prediction, and a degree p has the variance p (1 - p) / (sum + 1).
        """
        self._check_held_out("distributions")
        predicted, kept = self.predict(X), self.held_out_sample_
        low, high = self._quantiles(X, np.asarray(predicted), MIDDLE)
        sureness = 1.0 if kept is None else kept.learned("sureness", _sureness)
        return like(predicted, _dirichlet(np.asarray(predicted), low, high, sureness))

    def _quantiles(self, X, predicted, levels):
        """Return quantiles of the degrees of rows whose predictions are known."""
        about = predicted, levels, self._spread_features(X)
        return _quantiles_of(self.held_out_sample_, *about)

    def _check_draws(self, n_draws):
        check_number("n_draws", n_draws, low=1, integer=True)
        self._check_held_out("draws")

    def _check_held_out(self, what):
        """Refuse intervals or draws if there are no held-out predictions of degrees."""
        check_is_fitted(self)
        if self.known == "ratios":
            raise NotFittedError(
                "With known='ratios' the scale of a row is estimated, and no row with holes tells "
                "how far off that is, so there are no intervals and no draws; leave them out."
            )
        if self.held_out_sample_ is None:
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} kept no held-out predictions, which {what} need; fit "
                f"{name}(cross_fit=5)."
            )

    def _spread_features(self, X):
        """Return the features that predict the size of errors, or None."""
        if self.held_out_sample_ is None or not self.held_out_sample_.columns:
            return None
        return self.held_out_sample_.spread_features_of(self._validated(X))

    def _draw(self, rows, predicted, n_draws, seed, first=0):
        """Return completed tables of checked rows, whose first one has the number `first`."""
        draws = self._completer().draw(rows, predicted, n_draws, seed, first)
        return draws.astype(rows.y.dtype, copy=False)

    def _fill_with_intervals(self, rows, predicted, coverage, joint=False):
        """Return completed degrees and the lower and upper ends of their intervals."""
        self._check_intervals(coverage)
        found = self._completer().fill_with_intervals(rows, predicted, coverage, joint)
        return tuple(values.astype(rows.y.dtype, copy=False) for values in found)

    def _warn_about_rare_labels(self, labels, coverage):
        rare = [j for j, label in enumerate(labels) if not label.are_enough(coverage)]
        if not rare:
            return
        names = getattr(self, "label_names_", None)
        name = rare[0] if names is None else repr(names[rare[0]])
        needed = math.ceil(coverage / (1 - coverage) - 1e-9)
        warn_user(
            f"Label {name} was observed {len(labels[rare[0]].errors)} time(s), but a coverage of "
            f"{coverage:g} needs {needed}, so its intervals are [0, 1] ({len(rare)} such "
            "label(s)); ask for less coverage, or observe more degrees."
        )


def _both_bounds(model, coverage, X):
    """Return the lower bounds of rows in memory, followed by the upper ones."""
    return np.hstack(model.predict_interval(X, coverage))


def _dirichlet(predicted, low, high, sureness):
    """Return the parameters of Dirichlet distributions of rows, with quantiles of their errors."""
    mean = np.maximum(predicted, SMALLEST_PART)
    mean = mean / mean.sum(axis=1, keepdims=True)
    squares = ((high - low) ** 2).sum(axis=1, keepdims=True)
    precision = (mean * (1 - mean)).sum(axis=1, keepdims=True) / np.maximum(squares, LEAST_SQUARES)
    return mean * np.maximum(sureness * precision, LEAST_PRECISION)


def _sureness(kept):
    """Return by what precisions are multiplied so that held-out degrees are most likely."""
    low, high = _quantiles_of(kept, kept.predicted, MIDDLE, kept.spread_features)
    y, predicted = kept.rows().y, kept.predicted
    return min(SURENESS, key=lambda c: log_score(y, _dirichlet(predicted, low, high, c)))


def _quantiles_of(kept, predicted, levels, spread_features):
    """Return quantiles of degrees by the errors of a sample."""
    labels, scale = kept.label_errors(spread_features)
    pairs = zip(labels, predicted.T, strict=True)
    found = [[label.quantile(p, q, scale) for q in levels] for label, p in pairs]
    return np.stack(found, axis=-1)


def check_coverage(coverage) -> None:
    """Refuse a coverage that is not between 0 and 1."""
    good = isinstance(coverage, numbers.Real) and 0 < float(coverage) < 1
    if not good:
        raise ValueError(
            f"coverage must be a number between 0 and 1, got {coverage!r}; 0.9 (--uncertainty 0.9 "
            "on the command line) asks for intervals that contain about 9 in 10 shares."
        )
