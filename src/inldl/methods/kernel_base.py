"""What the members of AutoInLDL share: preparing X and y, and choosing a kernel.

Degrees that are missing because of their size are filled in before a method learns from them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from inldl.engines import open_rows
from inldl.engines.base import one_blas_thread, row_blocks
from inldl.methods.base import TO_EXPORT, DistributionEstimator, error_at, light
from inldl.methods.intervals import IntervalMixin
from inldl.methods.kernel_features import (
    FINE,
    FOLDS,
    Columns,
    choose_alpha,
    choose_kernel,
    fold_pairs,
    kernel_features,
    median_distance,
    sample_rows,
)
from inldl.methods.parameters import Auto, Count, Jobs, shared
from inldl.randomness import seed_from
from inldl.rows.checks import like
from inldl.rows.density import GammaDegrees
from inldl.rows.inputs import as_weights, check_predictable
from inldl.rows.missingness import (
    LEVEL,
    SMALL_EFFECT,
    fill_top_k,
    mechanism_of,
    t_test,
    top_k_rows,
)
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import leave_one_out
from inldl.uncertainty.heldout import numbered_folds

MANY = 5000  # rows
INFORMATIVE = 0.9  # share of the squared error that predictions from features may leave
CHECKED = 1000  # rows that tell whether features explain the holes
MECHANISM_NOTES = {
    "small": "Small degrees are missing more often than large ones",
    "rest": "Only the largest degrees of each row are recorded",
}


@dataclass(frozen=True)
class Prepared:
    """Training data that is ready for a member: dense columns, and degrees.

    Degrees that the sum forces are filled in `known`, and in `y` also those that have limits or
    are missing because of their size (`mechanism`); `started` is when the fit began. `names` are
    the fitted attributes about the columns of X and y. `weights` are those of the rows, or None.
    """

    dense: np.ndarray
    known: np.ndarray
    y: np.ndarray
    mechanism: str
    columns: Columns
    seed: int
    started: float
    names: dict
    weights: np.ndarray | None = None
    fold: np.ndarray | None = None  # of each row, if rows of a group are held out together

    @cached_property
    def scaled(self) -> np.ndarray:
        """The scaled columns."""
        return self.columns.scaled(self.dense)

    @cached_property
    def single(self) -> np.ndarray:
        """The scaled columns in single precision, which is half the bytes."""
        return self.scaled.astype(np.float32)

    @property
    def affordable(self) -> np.ndarray:
        """The scaled columns, in single precision if rows are many: noise outweighs rounding."""
        return self.single if len(self.y) > MANY else self.scaled

    def width(self, kernel) -> float:
        """Return the median distance of rows, by the distance of a kernel."""
        if kernel not in self._widths:
            self._widths[kernel] = median_distance(self.scaled, kernel, self.seed)
        return self._widths[kernel]

    @cached_property
    def _widths(self):
        return {}

    @cached_property
    def parts(self) -> np.ndarray:
        """The fold of each row for its held-out prediction, which all members have in common.

        Left out one by one, rows with the same features would each be predicted the lower, the
        larger their own degrees are: whoever learns from the predictions could tell the degrees.
        """
        numbers = np.empty(len(self.y), int)
        for i, (_, test) in enumerate(fold_pairs(len(self.y), self.seed, self.fold)):
            numbers[test] = i
        return numbers

    def folds(self, most=None) -> Iterator[tuple[int, np.ndarray, np.ndarray, Any]]:
        """Yield a seed, the rows to learn from, the others, and the weights of the former."""
        pairs = fold_pairs(len(self.y), self.seed, self.fold, FOLDS if most is None else most)
        for i, (train, test) in enumerate(pairs):
            weights = None if self.weights is None else self.weights[train]
            yield (self.seed + i) % 2**31, train, test, weights

    def take(self, rows) -> Self:
        """Return some of the rows."""
        if len(rows) == len(self.y) and (np.diff(rows) > 0).all():
            return self
        names = ("dense", "known", "y", "weights", "fold")
        arrays = {name: getattr(self, name) for name in names}
        some: Any = {name: None if a is None else a[rows] for name, a in arrays.items()}
        return replace(self, **some)


@shared
class KernelDistributionEstimator(IntervalMixin, DistributionEstimator):
    """Base of estimators that learn from kernel features of scaled columns.

    A method states `_train(data)`, which sets what it learns and `held_out_`, and
    `_degrees(dense, scaled)`, which predicts in double precision.

    Parameters
    ----------
    random_state : int, RandomState instance, Generator or None, default=None
        For all random choices; an int makes the result reproducible to the bit.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The result is the same to the bit.

    Attributes
    ----------
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without that row's degrees.
    """

    random_state: object = None
    n_jobs: Jobs = None

    _takes_sparse = _takes_chunks = True

    def _open(self, X, y, sample_weight, groups=None, lower=None, upper=None, sums=None):
        partial = PartialRows.of(y, lower, upper, sums)
        if partial.constrained:
            y = like(y, partial.feasible())
            if sample_weight is not None:
                partial = partial.take(np.flatnonzero(as_weights(sample_weight))).simplified()
        if groups is not None and sample_weight is not None:
            groups = groups[np.flatnonzero(as_weights(sample_weight))]
        return *super()._open(X, y, sample_weight), partial, groups

    def _learn(self, X, y, weights, partial, groups):
        with one_blas_thread():  # the same sums for any n_jobs
            data = self._prepare(X, y, self.label_names_, weights, partial)
            if groups is not None:
                data = replace(data, fold=numbered_folds(groups, FOLDS, data.seed))
            self._fit_prepared(data)
        self._keep_errors(X, self._learned_from(y, data.known), groups, partial=partial)

    def _fit_prepared(self, data, **how):
        """Fit to data that this estimator, or the one it is a member of, has checked.

        What else a method takes for its `_train` is in `how`.
        """
        self.columns_, self.n_labels_ = data.columns, data.y.shape[1]
        for name, value in data.names.items():
            setattr(self, name, value)
        self._train(data, **how)
        return self

    def _predict(self, X):
        return open_rows(self, X).map(partial(_predict_rows, self._predictor()), self.n_labels_)

    def _predictor(self):
        """Return the model without what it keeps of its training rows: it may have to travel."""
        found = light(self)
        found.held_out_sample_ = None
        return found

    def _to_onnx(self, graph, features):
        degrees = self._add_degrees(graph, *graph.columns(self.columns_, features))
        return graph.where_numbers(degrees, features)

    def _add_degrees(self, graph, dense, scaled):
        """Add the computation of `_degrees` to a graph; return the name of these."""
        raise ValueError(f"{type(self).__name__} cannot be exported to ONNX; {TO_EXPORT}")

    def _prepare(self, X, y, label_names, weights=None, partial=None, seed=None):
        started, n = perf_counter(), len(y)
        if n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows to hold one out, got n_samples={n}."
            )
        seed = seed_from(self.random_state) if seed is None else seed
        columns = Columns().fit(X, seed, weights)
        names = {"n_features_in_": self.n_features_in_, "label_names_": label_names}
        if hasattr(self, "feature_names_in_"):
            names["feature_names_in_"] = self.feature_names_in_
        dense = columns.dense(X)
        if self.known == "ratios":
            y = self._scaled_ratios(columns.scaled(dense), y, weights, seed)
        known = PartialRows(y).forced()
        about = columns, seed, started, names, weights
        data = Prepared(dense, known, known, "random", *about)
        if partial is not None and partial.constrained:
            filled = _fill_expected(data.scaled, partial, seed, self.n_jobs, by_size=False)
            data = replace(data, known=partial.forced(), y=PartialRows(filled).forced())
        if self.known == "degrees":  # else sums of rows tell nothing
            data = replace(data, mechanism=mechanism_of(data.y))
        if data.mechanism not in MECHANISM_NOTES:
            return data
        mechanism, y = fill_selected(data.scaled, data.y, data.mechanism, seed, self.n_jobs)
        return replace(data, mechanism=mechanism, y=y)


@shared
class KernelFeatureEstimator(KernelDistributionEstimator):
    """Base of estimators that map rows to features of a kernel, which may be chosen.

    Parameters
    ----------
    kernel : {"auto", "rbf", "laplacian", "linear"}, default="auto"
        RBF, or the same with sums of absolute differences; "auto" chooses between the two by
        leave-one-out ridge regression. "linear" is the scaled features themselves.
    scale : float or "auto", default="auto"
        The kernel is exp(-scale * distance / median distance).
    alpha : float or "auto", default="auto"
        The penalty of the squared coefficients.
    n_landmarks : int, default=400
        Random rows that span the kernel features (Nystroem's method).

    Attributes
    ----------
    kernel_, scale_ : str, float
        What was chosen.
    """

    kernel: Literal["auto", "rbf", "laplacian", "linear"] = "auto"
    scale: Auto = "auto"
    alpha: Auto = "auto"
    n_landmarks: Count = 400

    def _fitted_map(self, data):
        """Choose what is "auto" of the kernel; return the fitted map to its features."""
        chosen = {"kernel": self.kernel, "scale": self.scale}
        chosen |= {"weights": data.weights, "fold": data.fold}
        choice = choose_kernel(data.scaled, data.y, data.seed, self.n_jobs, **chosen)
        self.kernel_, self.scale_ = kernel, scale = choice.kernel, choice.scale
        width = None if kernel == "linear" else data.width(kernel)
        return kernel_features(data.scaled, kernel, scale, self.n_landmarks, data.seed, width)


def stacked(*parts) -> Any:
    """Return the rows of several arrays, or of sparse ones, one after the other."""
    return (sparse.vstack if sparse.issparse(parts[0]) else np.vstack)(parts)


def _predict_rows(model, X):
    """Return what a model predicts for checked rows in memory, block by block."""
    out, first_row = np.empty((X.shape[0], model.n_labels_), X.dtype), 0
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for X_rows, rows in row_blocks(X, out):
            dense = model.columns_.dense(X_rows)
            scaled = model.columns_.scaled(dense)
            check_predictable(scaled, first_row)
            degrees = model._degrees(dense, scaled)
            rows[:] = degrees.reshape(rows.shape)  # a damaged model may have other labels
            check_predictable(rows, first_row)
            first_row += len(rows)
    return out


def error_of(y, predicted, weights=None) -> float:
    """Return the root of the mean squared error at what is known of the rows."""
    return error_at(*PartialRows(y).cells(predicted), weights)


def fill_selected(scaled, y, mechanism, seed, n_jobs=None) -> tuple[str, np.ndarray]:
    """Return why degrees are missing, and the degrees to learn from.

    Holes are left to the method if a feature explains that small degrees are missing: the
    `mechanism`, as `inldl.rows.missingness.mechanism_of` returns it, is "random" then, and the
    degrees are `y` itself. Else they are filled with what is expected of hidden degrees of a
    label; of rows with similar features, which are `scaled`, if these tell much and any degree may
    be missing.
    """
    if mechanism == "rest":
        rows = top_k_rows(y)
        return mechanism, fill_top_k(GammaDegrees.learn(rows, by_size=True), rows)[0]
    if _features_explain(scaled, y, seed, n_jobs):
        return "random", y
    return mechanism, _fill_expected(scaled, PartialRows(y), seed, n_jobs, by_size=True)


def _fill_expected(scaled, rows, seed, n_jobs, by_size):
    """Return degrees filled with what is expected of holes.

    These are all holes, if they are missing by size; else those that have limits. What is expected
    is learned from all rows; from rows with similar features, if these tell much.
    """
    filling = rows.holes if by_size else rows.limited
    y = np.where(filling, GammaDegrees.learn(rows, by_size=by_size).fill(rows)[0], rows.y)
    prior, judged = projected(_held_out(scaled, y, seed, n_jobs)), rows.y if by_size else y
    mean = np.broadcast_to(np.nanmean(y, axis=0), y.shape)
    # What is filled in from noise would make that noise look like knowledge.
    if error_of(judged, prior) ** 2 < INFORMATIVE * error_of(judged, mean) ** 2:
        filled = GammaDegrees.learn(rows, prior, by_size=by_size).fill(rows, prior)[0]
        y = np.where(filling, filled, rows.y)
    return y


def _held_out(scaled, y, seed, n_jobs):
    """Return leave-one-out predictions of a kernel ridge regression."""
    features = kernel_features(scaled, "rbf", 1.0, FINE, seed).transform(scaled)
    return leave_one_out(features, y, choose_alpha(features, y, seed, n_jobs), n_jobs)


def _features_explain(scaled, y, seed, n_jobs):
    """Say whether predictions, learned where degrees are observed, agree with what rows hide.

    They do if holes depend on features only, even if these decide the sizes of the degrees.
    """
    rows = sample_rows(y, CHECKED, seed)
    scaled, y = scaled[rows], y[rows]
    predicted, partial = _held_out(scaled, y, seed, n_jobs), PartialRows(y).partial
    y, predicted = y[partial], predicted[partial]
    expected = np.where(np.isnan(y), predicted, 0).sum(axis=1)
    gaps = 1 - np.nansum(y, axis=1) - expected
    if len(gaps) < 2 or abs(gaps.mean()) < SMALL_EFFECT * abs(expected.mean()):
        return True
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return bool(t_test(gaps.mean(), error, len(gaps) - 1) >= LEVEL)
