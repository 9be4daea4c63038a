"""What the members of AutoInLDL share: preparing X and y, and choosing a kernel."""

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl._engines import one_blas_thread, row_blocks
from inldl._file_state import FileState
from inldl._validation import (
    FLOATS,
    check_choice,
    check_number,
    check_predictable,
    validate_features,
    validate_fit,
)
from inldl.estimators._base import DistributionEstimator
from inldl.estimators._groups import seed_from
from inldl.estimators._kernel_features import METRICS, Columns, choose_kernel
from inldl.solvers.completion import fill_forced


@dataclass(frozen=True)
class Prepared:
    """Training data that is ready for a member: dense columns, and degrees.

    Degrees that the sum forces are filled; `started` is when the fit began.
    """

    dense: np.ndarray
    y: np.ndarray
    columns: Columns
    seed: int
    started: float

    @cached_property
    def scaled(self):
        """The scaled columns."""
        return self.columns.scaled(self.dense)

    def take(self, rows):
        """Return some of the rows."""
        if len(rows) == len(self.y):
            return self
        return replace(self, dense=self.dense[rows], y=self.y[rows])


class KernelDistributionEstimator(DistributionEstimator):
    """Base of estimators that learn from kernel features of scaled columns.

    A method states `_check_parameters()`, `_learn(prepared)`, which sets what is fitted and
    `held_out_`, and `_degrees(dense, scaled)`, which predicts in double precision.
    """

    _in_file = FileState(parts=(Columns, "sklearn.kernel_approximation:Nystroem"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features, in any units: they are scaled inside. Sparse features, and more than
            1000 dense ones, are reduced to 100 principal components.
        y : array-like of shape (n_samples, n_labels)
            Degrees, NaN = unobserved. Rows without any observed degree are allowed.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, self.label_names_ = validate_fit(self, X, y)
        with one_blas_thread():  # the same sums for any n_jobs
            self._learn(self._prepare(X, y))
        return self

    def predict(self, X):
        """Predict a distribution for each row.

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
        X = validate_features(self, X, accept_sparse="csr", dtype=FLOATS)
        out, first_row = np.empty((X.shape[0], self.held_out_.shape[1]), X.dtype), 0
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            for X_rows, rows in row_blocks(X, out):
                dense = self.columns_.dense(X_rows)
                scaled = self.columns_.scaled(dense)
                check_predictable(scaled, first_row)
                rows[:] = self._degrees(dense, scaled)
                check_predictable(rows, first_row)
                first_row += len(rows)
        return out

    def _prepare(self, X, y):
        started, n = perf_counter(), len(y)
        if n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows to hold one out, got n_samples={n}."
            )
        seed = seed_from(self.random_state)
        self.columns_ = Columns().fit(X, seed)
        return Prepared(self.columns_.dense(X), fill_forced(y), self.columns_, seed, started)

    def _choose(self, data):
        """Set `kernel_` and `scale_` to what is given or, where "auto", to what is best."""
        choice = choose_kernel(
            data.scaled, data.y, data.seed, self.n_jobs, kernel=self.kernel, scale=self.scale
        )
        self.kernel_, self.scale_ = choice.kernel, choice.scale

    def _check_kernel(self):
        check_choice("kernel", self.kernel, ("auto", *METRICS))
        check_auto("scale", self.scale)
        check_number("n_landmarks", self.n_landmarks, low=1, integer=True)
        if self.n_jobs is not None:
            check_number("n_jobs", self.n_jobs, integer=True)


def check_auto(name, value):
    """Refuse a parameter that is neither "auto" nor a positive number."""
    if not (isinstance(value, str) and value == "auto"):
        check_number(name, value, above=0)
