"""Methods that predict the projection of a linear function of the features onto the simplex.

Their base, and WInLDL.
"""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from inldl.engines import open_rows
from inldl.engines.base import one_blas_thread, row_blocks
from inldl.engines.local import MemoryRows
from inldl.methods.base import TO_EXPORT, DistributionEstimator
from inldl.methods.intervals import IntervalMixin
from inldl.methods.kernel_features import KEPT_BYTES, KernelMap
from inldl.methods.parameters import (
    AutoOrNotNegative,
    Count,
    Folds,
    Jobs,
    KernelOrNone,
    Known,
    NotNegative,
    Positive,
    parameters,
    shared,
)
from inldl.progress import report
from inldl.randomness import seed_from
from inldl.rows.checks import check_label_names, check_ratios
from inldl.rows.density import GammaDegrees
from inldl.rows.inputs import check_predictable
from inldl.rows.partial import PartialRows, close_single_holes
from inldl.solvers.chosen_ridge import ChosenRidgeProblem
from inldl.solvers.linear import Rotation, predict_columns
from inldl.solvers.loop import iterations, run
from inldl.solvers.winldl import WInLDLProblem
from inldl.uncertainty.heldout import predict_held_out
from inldl.weighting import get_weighting


@shared
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

    _takes_sparse = _takes_chunks = True

    def _open(self, X, y, sample_weight, groups=None, lower=None, upper=None, sums=None):
        header, arrays = PartialRows.open(X, y, lower, upper, sums, sample_weight)
        return open_rows(self, X, y, fitting=True, arrays=arrays), header, groups

    def _learn(self, rows, header, groups=None):
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
    wide = n_features > 2 * n_samples  # else it saves nothing
    if not wide or not rows.in_memory or problem.features is not None:
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


@parameters
class WInLDL(IntervalMixin, LinearDistributionEstimator):
    r"""Predict shares, and fill in missing ones, with a linear model that fits in a moment.

    This is weighted incomplete label distribution learning.

    Guide: :doc:`/math_winldl`.

    Fits a linear map whose rows ``xW`` lie on the simplex, by ADMM on

    .. math:: \min_W \tfrac12 \|Q \odot (XW - D)\|_F^2
              \quad \text{s.t. rows of } XW \text{ on the simplex}

    where small degrees weigh more than large ones and missing degrees gain weight during the fit
    (equations 5, 6 and 8 of the paper). Time and memory are linear in the number of rows.

    Parameters
    ----------
    weighting : str or object, default="degree"
        The weights Q: "degree" (the paper's), "linear", "uniform", "proportional",
        "exponential", "random"; "propensity" where small degrees are missing more often than
        large ones; or an object with the methods described in :mod:`inldl.weighting`,
        such as ``AutoWeighting(metric="clark")``. "auto" is the same as "propensity" unless it
        gets a metric, as in "auto(metric=clark)". Those that learn from the degrees need X and y
        in memory.
    missing : {"impute", "zero"}, default="impute"
        The target of an unobserved degree: the row's own current prediction, as in the program
        behind the paper's numbers, or 0, as in the paper's text.
    mu : float, default=2.0
        The penalty of ADMM. It multiplies `ridge`: to regularise more or less, change that.
    max_iter : int, default=50
        The number T of iterations at most; the weights of missing degrees follow t/T.
    tol : float, default=1e-4
        Stop when no coefficient and no degree changes by as much.
    ridge : float or "auto", default=1e-5
        Added to the diagonal of X'X. It is the model's only regulariser, and it matters where
        features are many or collinear. "auto" takes what predicts degrees best that are left out,
        in closed form, at the cost of two more sweeps over the rows. Scale features to variance 1
        first: the ridge is the same for all.
    fit_intercept : bool, default=True
        Whether to add a bias to the linear map. It is penalised by `ridge` like the rest, but not
        if that is "auto".
    close_rows : bool, default=True
        Whether a row with exactly one unobserved degree counts as complete, since the sum of 1
        leaves no choice.
    cross_fit : int or None, default=None
        The number of folds (5, for example) in which `fit` also predicts the training rows
        without having seen them, for `predict_interval`, and for `complete` to learn from. It
        then fits as many more models, each to a copy of its rows. None leaves that out.
    warm_start : bool, default=False
        Whether another `fit` starts from the coefficients of the one before, when rows or degrees
        have arrived since. It needs fewer iterations, and has the same limit as one that starts
        anew; with the default `tol` both stop before it, at slightly different points.
    kernel : {"rbf", "laplacian", "auto"} or None, default=None
        Be linear in the features of a kernel instead, and follow curves: RBF, or the same with
        sums of absolute differences; "auto" chooses. Columns are scaled inside, and the width is
        chosen. It needs ``ridge="auto"``, or a ridge of your own: 1e-5 overfits.
    n_landmarks : int, default=400
        Random rows that span the features of a kernel (Nystroem's method). They, the scale of the
        columns and the kernel come from a sample of at most 20000 rows.
    random_state : int, RandomState instance, Generator or None, default=None
        For the sample and the landmarks of a kernel.
    known : {"degrees", "ratios"}, default="degrees"
        What a row with holes tells. "ratios" is for rows whose missing labels were dropped and the
        others divided by their sum: what is observed sums to 1, and tells ratios only. Each such
        row is then scaled by what is predicted for its observed labels together, in `fit` and in
        `complete`. See :doc:`/ratios`.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients W', and the bias of each label. With a `kernel`, they are those of its
        features, as many as landmarks.
    ridge_ : float
        The ridge: what was given, or chosen.
    map_ : object or None
        With a `kernel`, the map to its features: ``map_.kernel_`` and ``map_.scale_`` are what was
        chosen.
    n_iter_, converged_ : int, bool
        Iterations done, and whether `tol` was met. The paper's setting usually ends at `max_iter`
        instead; that is how it is meant, and no warning is given.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "coef_change" and "degree_change", the largest absolute change in each iteration.
    held_out_ : ndarray of shape (n_samples, n_labels) or None
        With `cross_fit`, predictions of the training rows by models that did not see them.
    held_out_sample_ : HeldOutSample or None
        With `cross_fit`, rows with their held-out predictions, at most 10000 and a few more of
        rare labels, that intervals and completion need.

    Notes
    -----
    The target of a degree with bounds is not the row's current prediction, but the nearest
    distribution within the bounds. It has the weight of a missing degree: a `weighting` that gives
    these none ignores bounds.

    References
    ----------
    X. Li and S. Chen, "No Regularization is Needed: An Efficient and Effective Model for
    Incomplete Label Distribution Learning", IJCAI 2024, doi:10.24963/ijcai.2024/494,
    arXiv:2308.07047.

    Examples
    --------
    >>> from inldl import WInLDL
    >>> from inldl.datasets import hide, make_distributions
    >>> X, y = make_distributions(500, random_state=0)
    >>> model = WInLDL().fit(X, hide(y, 0.5, random_state=0))
    >>> model.predict(X[:1]).sum().round(6).item()
    1.0
    >>> model = WInLDL(cross_fit=5).fit(X, hide(y, 0.5, random_state=1))
    >>> lower, upper = model.predict_interval(X, coverage=0.9)
    >>> bool(((lower <= y) & (y <= upper)).mean() > 0.85)
    True
    """

    weighting: object = "degree"
    missing: Literal["impute", "zero"] = "impute"
    mu: Positive = 2.0
    max_iter: Count = 50
    tol: NotNegative = 1e-4
    ridge: AutoOrNotNegative = 1e-5
    close_rows: bool = True
    cross_fit: Folds = None
    warm_start: bool = False
    kernel: KernelOrNone = None
    n_landmarks: Count = 400
    random_state: object = None
    known: Known = "degrees"
    tunable: ClassVar = {"ridge": (1e-5, 1e-3, 1e-2, 0.1, 1.0, 10.0)}

    def _learn(self, rows, header, groups):
        self._check_rows(rows)
        scheme = get_weighting(self.weighting, self._sums_of(rows))
        problem, features = self._problem(header, self._starting_point(rows), scheme), None
        if self.kernel is not None:
            features = self._kernel_map(rows)
            size = rows.X.shape[0] * features.n_features_out_ * np.dtype(rows.X.dtype).itemsize
            problem = replace(problem, features=features, keep_features=size <= KEPT_BYTES)
        result = self._solve(problem, rows)
        self.map_, self.ridge_ = features, result.shared.regression.ridge
        self._hold_out(rows, header, groups)

    def _check_rows(self, rows):
        """Refuse rows that cannot be learned from with these parameters."""
        if self.cross_fit is not None and not rows.in_memory:
            raise ValueError(
                "cross_fit needs X and y in memory; leave it None for Dask arrays and arrays on "
                "disk, or fit to a sample of the rows."
            )
        if self.kernel is not None and self.warm_start:
            raise ValueError(
                "warm_start continues with coefficients of the same features, but a kernel draws "
                "new ones in each fit; set warm_start=False, or kernel=None."
            )
        if self.known == "ratios" and rows.in_memory:
            check_ratios(rows.y)  # other rows are looked at in blocks, which know no numbers

    def _starting_point(self, rows):
        """Return coefficients and intercept to start from, or None."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        check_label_names(self, rows.label_names)
        n_labels, n_features = rows.y.shape[1], rows.X.shape[1]
        if self.coef_.shape != (n_labels, n_features):
            raise ValueError(
                f"warm_start continues a fit with {self.coef_.shape[0]} labels and "
                f"{self.coef_.shape[1]} features, but now there are {n_labels} and {n_features}; "
                "give the same columns, or set warm_start=False."
            )
        return self.coef_, self.intercept_

    def _sums_of(self, rows):
        """Return the degrees of rows of which the sums are known, or None."""
        if not rows.in_memory or self.known == "ratios":
            return None
        return close_single_holes(rows.y) if self.close_rows else rows.y

    def _problem(self, header, initial, scheme):
        """Return what to solve, from coefficients and intercept `initial` on, or from none."""
        chosen = self.ridge == "auto"
        kind = ChosenRidgeProblem if chosen else WInLDLProblem
        return kind(
            weighting=scheme,
            impute=self.missing == "impute",
            rho=self.mu,
            max_iter=self.max_iter,
            ridge=0.0 if chosen else self.ridge,
            fit_intercept=bool(self.fit_intercept),
            close_rows=self.close_rows,
            initial=initial,
            header=header,
            ratios=self.known == "ratios",
        )

    def _kernel_map(self, rows):
        """Return the map to the features of the kernel, learned from a sample of the rows."""
        seed = seed_from(self.random_state)
        with one_blas_thread():
            return KernelMap().fit(rows, self.kernel, self.n_landmarks, seed, self.n_jobs)

    def _hold_out(self, rows, header, groups):
        """Predict the rows without having seen them, if asked to, and keep the errors."""
        self.held_out_ = partial = None
        if self.cross_fit is not None:
            weights = rows.arrays.get("sample_weight")
            if weights is not None:
                kept = np.flatnonzero(weights)
                rows, groups = rows.take(kept), None if groups is None else groups[kept]
                weights = rows.arrays["sample_weight"].ravel()
            partial, y = replace(header.block(rows.y, **rows.arrays), weight=None), rows.y
            if partial.constrained:  # parts of the rows are learned from as they are expected
                y = np.where(partial.limited, GammaDegrees.learn(partial).fill(partial)[0], y)
            plain, folds = clone(self).set_params(cross_fit=None), self.cross_fit
            self.held_out_ = predict_held_out(plain, rows.X, y, folds, groups, weights)
        self._keep_errors(rows.X, self._learned_from(rows.y, rows.y), groups, partial=partial)

    def _to_onnx(self, graph, features):
        if self.map_ is not None:
            raise ValueError(f"WInLDL with a kernel is not linear in its features; {TO_EXPORT}")
        return super()._to_onnx(graph, features)
