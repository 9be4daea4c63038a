"""Methods that predict the projection of a linear function of the features onto the simplex."""

from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from inldl.engines import MemoryRows, one_blas_thread, open_rows, row_blocks
from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import Count, Jobs, NotNegative
from inldl.progress import report
from inldl.rows.inputs import check_predictable
from inldl.rows.partial import PartialRows
from inldl.solvers.linear import Rotation, predict_columns
from inldl.solvers.loop import MappedProblem, iterations, run


class LinearDistributionEstimator(DistributionEstimator):
    """Base of estimators that predict the projection of a linear function.

    A method states `_problem()`, what to solve.

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
    map_ = None  # what maps X to the features that it is linear in, if these are others

    _takes_chunks = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _open(self, X, y, sample_weight, lower=None, upper=None, sums=None):
        header, arrays = PartialRows.open(X, y, lower, upper, sums, sample_weight)
        return open_rows(self, X, y, fitting=True, arrays=arrays), header

    def _learn(self, rows, header):
        self._solve(self._problem(), rows)

    def _solve(self, problem, rows):
        """Set what solves a problem; return how it was found."""
        each = self._report if self.verbose else None

        def iterate(problem, rows):
            with rows.engine(effective_n_jobs(self.n_jobs), type(self).__name__) as engine:
                return run(iterations(problem, engine, rows, self.tol), self.max_iter, each)

        self.coef_, self.intercept_, result = solve(problem, rows, iterate)
        self.label_names_, self.n_labels_ = rows.label_names, len(self.intercept_)
        self._set_history(result)
        return result

    def _report(self, t, changes):
        parts = ", ".join(f"{name} {value:.2e}" for name, value in changes.items())
        text = f"{type(self).__name__} {t}/{self.max_iter}: {parts}"
        report(text, t / self.max_iter, printed=text)

    def _predict(self, X):
        fitted = {"coef": self.coef_, "intercept": self.intercept_}
        return open_rows(self, X).map(partial(_predict_rows, self.map_, **fitted), self.n_labels_)

    def _to_onnx(self, graph, features):
        return graph.projection(graph.scores(features, self.coef_, self.intercept_))


def solve(problem, rows, iterate) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return coefficients and intercept for the features of rows, and how they were found.

    ``iterate(problem, rows)`` runs the loop. More features than rows are rotated to as many
    columns as there are rows; a bias that is not penalised (`free_bias`) stays beside these.
    """
    n_samples, n_features = rows.X.shape
    mapped = isinstance(problem, MappedProblem)
    if mapped or not rows.in_memory or n_features <= 2 * n_samples:  # else it saves nothing
        result = iterate(problem, rows)
        return result.shared.coef.copy(), result.shared.intercept, result
    weights = rows.arrays.get("sample_weight")
    if weights is not None:
        rows = rows.take(np.flatnonzero(weights))
        weights = rows.arrays["sample_weight"]
    inside = problem.fit_intercept and not problem.free_bias
    with one_blas_thread():  # the same sums for any n_jobs
        rotation = Rotation(rows.X, inside, weights)
        rotated = MemoryRows(rotation.features, rows.y, arrays=rows.arrays)
        result = iterate(problem.rotated(rotation), rotated)
        coef, intercept = rotation.coef(result.shared.coef)
    return coef, intercept if inside else result.shared.intercept, result


def _predict_rows(features, X, coef, intercept):
    out = np.empty((X.shape[0], len(intercept)), X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for X_rows, rows in row_blocks(X, out):
            mapped = X_rows if features is None else features(X_rows)
            rows[:] = predict_columns(mapped, coef, intercept).T
    check_predictable(out)
    return out
