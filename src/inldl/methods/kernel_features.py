"""Reduce and scale features, choose a kernel and penalties, map to kernel features (Nystroem)."""

from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.special import ndtri
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from inldl.rows.checks import DegreeFacts, check_degrees
from inldl.rows.density import count_known
from inldl.rows.inputs import TOO_LARGE
from inldl.rows.partial import PartialRows
from inldl.solvers.landmark_kernel import Columnwise, KernelFeatures, LandmarkKernel
from inldl.solvers.masked_ridge import leave_one_out_errors
from inldl.solvers.softmax import MaskedSoftmax, softmax, start_at_mean

WIDE, REDUCED = 1000, 100  # beyond WIDE features kernels get the first REDUCED components
MOST_DENSE = 1 << 25  # entries of sparse features that are made dense
ALPHAS = 10.0 ** np.arange(-4, 4, 0.5)
SCALES = (0.25, 1.0, 4.0)
COARSE, FINE = 200, 400  # landmarks to choose the scale with, and the kernel
ROWS_FOR_KERNEL, ROWS_FOR_ALPHA = 3000, 20_000
FEWEST_OBSERVED = 100  # of each label in a sample of rows, where there are as many
PAIRS_FROM = 1000  # rows whose distances give the median
QUANTILES, OUTERMOST = 1000, 1e-3  # levels of a column; beyond the outermost all is one
QUANTILES_TRIED = " of quantiles"  # after a kernel's name
CLEARLY = 0.995  # of the error of columns on their own scale is what quantiles must reach
MAP_SAMPLE = 20_000  # rows from which `KernelMap` takes scale, kernel and landmarks
KEPT_BYTES = 1 << 30  # bytes that the features of all rows may take in memory
LEAST_RANGE = 1e-150  # of a column; the squares of a smaller one are 0
TRIED_ALPHAS = tuple(10.0 ** np.arange(2, -4, -1))  # of the softmax
FOLDS = 5
MAX_ITER = 100  # of L-BFGS; scaled as they are, most fits need fewer
CHOICE_FTOL, FOLD_FTOL, FIT_FTOL = 1e-5, 1e-6, 1e-7  # relative gains that end L-BFGS
FOLD_ROWS = 5000
DISTANCES = {"rbf": "sqeuclidean", "laplacian": "cityblock"}


class Columns:
    """Make dense and scaled columns of any X.

    `dense` has all columns, sparse if they are very many; `reduced` then has their components.
    `scaled` is `reduced` with mean 0 and variance 1, or by `with_quantiles` as normal quantiles,
    in double precision and without constant columns.
    """

    quantiles_ = None

    def fit(self, X, seed, weights=None) -> Self:
        """Learn the components and the (weighted) scale of `X`."""
        if max(float(X.max()), -float(X.min())) * X.size >= float(np.finfo(X.dtype).max) ** 0.5:
            raise ValueError(TOO_LARGE)
        self.reducer_ = _reducer(X, seed)
        if self.reducer_ is not None:
            self.reducer_.fit(X)
        reduced = self.reduced(self.dense(X))
        self.varying_ = np.flatnonzero(reduced.max(axis=0) - reduced.min(axis=0) > LEAST_RANGE)
        if self.varying_.size:
            self.scaler_ = StandardScaler().fit(reduced[:, self.varying_], sample_weight=weights)
        return self

    def with_quantiles(self, dense) -> Self:
        """Return columns that are scaled to normal quantiles, whatever their distribution is."""
        made = copy(self)
        if self.varying_.size:
            varying = self.reduced(dense)[:, self.varying_].astype(float)
            made.quantiles_ = np.quantile(varying, _levels(len(varying)), axis=0).T.copy()
            made.scaler_ = StandardScaler().fit(made._normal(varying))
        return made

    def dense(self, X) -> Any:
        """Return all columns as an array, or sparse if they are to be reduced."""
        return X.toarray() if sparse.issparse(X) and self.reducer_ is None else X

    def reduced(self, dense) -> np.ndarray:
        """Return the columns, or their components if they are very many."""
        return dense if self.reducer_ is None else self.reducer_.transform(dense)

    def scaled(self, dense) -> np.ndarray:
        """Return scaled columns of what `dense` returned; a single 0 if all are constant."""
        if not self.varying_.size:
            return np.zeros((dense.shape[0], 1))
        varying = self.reduced(dense)[:, self.varying_]
        if self.quantiles_ is not None:
            varying = self._normal(varying)
        return self.scaler_.transform(varying).astype(np.float64, copy=False)

    def _normal(self, varying):
        """Map values to normal quantiles by their ranks in the training data.

        A value that is several quantiles lies in their middle.
        """
        levels, out = _levels(self.quantiles_.shape[1]), np.empty(varying.shape)
        for column, grid, to in zip(varying.T, self.quantiles_, out.T, strict=True):
            above = np.interp(column, grid, levels)
            to[:] = (above + 1 - np.interp(-column, -grid[::-1], levels)) / 2
        return ndtri(np.clip(out, OUTERMOST, 1 - OUTERMOST))


def _levels(n):
    return np.linspace(0, 1, min(n, QUANTILES))


def _reducer(X, seed):
    """Return the decomposition that very wide features need, not fitted, or None."""
    from sklearn.decomposition import PCA, TruncatedSVD  # .1 s that other methods need not pay

    n, k = X.shape
    size, many = min(REDUCED, n, k - 1), sparse.issparse(X) and n * k > MOST_DENSE
    kind = TruncatedSVD if sparse.issparse(X) else PCA
    return kind(size, random_state=seed) if k > (REDUCED if many else WIDE) else None


def kernel_features(Z, kernel, scale, n_landmarks, seed, width=None) -> Any:
    """Return the map to the features of a kernel whose width is the median distance.

    Those of the "linear" kernel are the columns, divided such that rows have a length of about 1.
    """
    if kernel == "linear":
        return Columnwise(Z.shape[1])
    rows = np.random.RandomState(seed).permutation(len(Z))[:n_landmarks]
    width = median_distance(Z, kernel, seed) if width is None else width
    return KernelFeatures.of(LandmarkKernel(kernel, float(scale / width), Z[rows]))


def median_distance(Z, kernel, seed) -> float:
    """Return the median distance between rows that differ, or 1 if none do."""
    rows = np.random.default_rng(seed).permutation(len(Z))[:PAIRS_FROM]
    distances = pdist(Z[rows], DISTANCES[kernel])
    distances = distances[distances > 0]
    return np.median(distances) if distances.size else 1.0


def sample_rows(y, size, seed) -> np.ndarray:
    """Return the numbers of about `size` random rows, more where a label is rare."""
    if len(y) <= size:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    chosen = np.zeros(len(y), bool)
    chosen[order[:size]] = True
    for column in y.T:
        seen = order[~np.isnan(column[order])]
        lacking = max(FEWEST_OBSERVED - np.count_nonzero(chosen[seen]), 0)
        chosen[seen[~chosen[seen]][:lacking]] = True
    return np.flatnonzero(chosen)


def draw_sample(rows, most, seed, fewest=FEWEST_OBSERVED) -> tuple[np.ndarray, Any]:
    """Draw at most `most` rows of a source; return their numbers in order, and them in memory.

    Labels that are observed in fewer than `fewest` of them get more rows in which they are. Rows
    without weight are left out.
    """
    n = rows.X.shape[0]
    if n <= most:
        numbers = np.arange(n)
        return _with_weight(numbers, rows if rows.in_memory else rows.take(numbers))
    chosen = np.random.default_rng(seed).choice(n, most, replace=False, shuffle=False)
    numbers, sample = _with_weight(np.sort(chosen), rows.take(np.sort(chosen)))
    lacking = np.flatnonzero((~np.isnan(sample.y)).sum(axis=0) < fewest)
    if lacking.size:
        parts = rows.map_degrees(partial(_rows_with, labels=lacking))
        rng = np.random.default_rng([seed, 3])
        more = [rng.permutation(np.concatenate(p))[:fewest] for p in zip(*parts, strict=True)]
        numbers = np.union1d(numbers, np.concatenate(more))
        numbers, sample = _with_weight(numbers, rows.take(numbers))
        seen = ~np.isnan(sample.y).all(axis=0)
        check_degrees([DegreeFacts(len(numbers), seen)], rows.label_names)
    return numbers, sample


def _rows_with(y, first_row, labels):
    """Return the numbers of the rows of a part in which each of some labels is observed."""
    y = np.asarray(y)
    return [first_row + np.flatnonzero(~np.isnan(y[:, label])) for label in labels]


def _with_weight(numbers, sample):
    """Return the rows with a positive weight, and their numbers."""
    weights = sample.arrays.get("sample_weight")
    if weights is None or weights.all():
        return numbers, sample
    if not weights.any():
        raise ValueError(
            f"None of {len(weights)} random rows, from which choices are made, has a weight; "
            "leave out the rows without weight."
        )
    kept = np.flatnonzero(weights)
    return numbers[kept], sample.take(kept)


@dataclass
class KernelChoice:
    """A kernel, its scale, and the leave-one-out error of every kernel that was tried.

    An error is the root of the mean squared residual, at the best penalty; `alpha` is that of the
    kernel, or None if it was not compared. `normal` says that it is for normal quantiles.
    """

    kernel: str
    scale: float
    errors: dict = field(default_factory=dict)
    alpha: float | None = None
    normal: bool = False


class KernelTrials:
    """The leave-one-out errors of kernels, for some rows in scaled columns or `of` quantiles."""

    def __init__(self, Z, y, seed, n_jobs, weights, fold, of=""):
        self.Z, self.y, self.seed, self.n_jobs = Z, y, seed, n_jobs
        self.weights, self.fold = weights, fold
        self.of, self.single, self.fewest = of, Z.astype(np.float32), (~np.isnan(y)).sum(0).min()
        self.widths, self.errors, self.alphas = {}, {}, {}

    def best_scale(self, first) -> float:
        """Return the scale with which RBF is best, from the first one on where errors fall."""
        found = first
        for scales in (SCALES[: SCALES.index(first)][::-1], SCALES[SCALES.index(first) + 1 :]):
            for scale in scales:
                if self.error("rbf", scale, COARSE) >= self.errors["rbf" + self.of, found]:
                    break
                found = scale
            if found != first:
                break
        return found

    def error(self, kernel, scale, n_landmarks) -> float:
        """Return the root of the mean squared residual, at the best penalty."""
        if kernel not in self.widths:
            self.widths[kernel] = median_distance(self.Z, kernel, self.seed)
        how = kernel, scale, n_landmarks, self.seed, self.widths[kernel]
        # Few rows are fitted so closely that single precision does not tell what is left of them.
        Z = self.single if self.fewest > n_landmarks else self.Z
        features = kernel_features(self.Z, *how).transform(Z)
        about = self.n_jobs, self.weights, self.fold
        squares = leave_one_out_errors(features, self.y, ALPHAS, *about)
        error = float(np.sqrt(squares.min() / count_known(self.y, self.weights)))
        self.errors[kernel + self.of, scale] = error
        self.alphas[kernel, scale] = float(ALPHAS[squares.argmin()])
        return error


def choose_kernel(
    Z, y, seed, n_jobs=None, *, kernel="auto", scale="auto", weights=None, normal=None, fold=None
) -> KernelChoice:
    """Choose the kernel and its scale, where "auto", by the smallest leave-one-out error.

    The scale is chosen with few landmarks, then RBF is compared with the L1 kernel. If there are
    normal quantiles beside the columns Z, they are taken where RBF is clearly better with them.
    """
    if kernel not in ("auto", "rbf") or (kernel == "rbf" and scale != "auto"):
        return KernelChoice(kernel, 1.0 if scale == "auto" else scale)
    rows = sample_rows(y, ROWS_FOR_KERNEL, seed)
    weights, fold = (None if each is None else each[rows] for each in (weights, fold))
    about = y[rows], seed, n_jobs, weights, fold
    trials, errors, other_scale = KernelTrials(Z[rows], *about), {}, scale
    if scale == "auto":
        scale, other_scale = SCALES[len(SCALES) // 2], 1.0
        trials.error("rbf", scale, COARSE)
        scale = trials.best_scale(scale)
        if normal is not None:
            errors, quantiles = trials.errors, KernelTrials(normal[rows], *about, QUANTILES_TRIED)
            if quantiles.error("rbf", scale, COARSE) < CLEARLY * errors["rbf", scale]:
                trials, scale = quantiles, quantiles.best_scale(scale)
            errors = errors | quantiles.errors
    found = "rbf", scale
    if kernel == "auto":
        both = found, ("laplacian", other_scale)
        found = min(both, key=lambda tried: trials.error(tried[0], tried[1], FINE))
    errors = errors | trials.errors
    return KernelChoice(*found, errors, trials.alphas[found], bool(trials.of))


def choose_alpha(features, y, seed, n_jobs=None, weights=None, fold=None) -> float:
    """Return the penalty with the smallest leave-one-out error."""
    rows = sample_rows(y, ROWS_FOR_ALPHA, seed)
    if len(rows) < len(y):
        features, y = features[rows], y[rows]
        weights, fold = (None if each is None else each[rows] for each in (weights, fold))
    errors = leave_one_out_errors(features, y, ALPHAS, n_jobs, weights, fold)
    return float(ALPHAS[np.argmin(errors)])


class KernelMap:
    """Map features of any scale to those of a kernel, which random rows span (Nystroem's method).

    The kernel is exp(-scale_ * distance / median distance) of what `columns_` makes of features.
    """

    def fit(self, rows, kernel, n_landmarks, seed, n_jobs=None) -> Self:
        """Learn from a row source; `kernel` is "rbf", "laplacian" or "auto", which chooses."""
        some = draw_sample(rows, MAP_SAMPLE, seed)[1]
        weights = some.arrays.get("sample_weight")
        weights = None if weights is None else weights.ravel().astype(np.float64)
        self.columns_ = Columns().fit(some.X, seed, weights)
        scaled = self.columns_.scaled(self.columns_.dense(some.X))
        options = {"kernel": kernel, "weights": weights}
        choice = choose_kernel(scaled, PartialRows(some.y).forced(), seed, n_jobs, **options)
        self.kernel_, self.scale_ = choice.kernel, choice.scale
        self.nystroem_ = kernel_features(scaled, self.kernel_, self.scale_, n_landmarks, seed)
        return self

    @property
    def n_features_out_(self) -> int:
        """The number of features."""
        return self.nystroem_.normalization_.shape[1]

    def __call__(self, X):
        """Return the features of some rows in the precision of `X`, NaN where it is too large."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.ascontiguousarray(self.columns_.scaled(self.columns_.dense(X)))
            usable = np.isfinite(scaled).all(axis=1)
            features = self.nystroem_.transform(np.where(usable[:, None], scaled, 0.0))
        features[~usable] = np.nan
        return features.astype(X.dtype, copy=False)


def fold_pairs(n, seed, fold=None, most=FOLDS) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows outside and inside of each fold; of random ones, if rows have no number."""
    if fold is not None:
        return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in np.unique(fold)]
    return list(KFold(min(most, n), shuffle=True, random_state=seed).split(np.empty(n)))


class SoftmaxFolds:
    """Softmax regressions without each fold of the rows, and with all rows.

    Features are in the eigenbasis of their Gram matrix, whose eigenvalues are `squares`. Of rows
    with holes ratios may be all that is known: `how` has arguments of `MaskedSoftmax`.
    """

    def __init__(self, features, y, weights, squares, seed, n_jobs, fold=None, **how):
        self.features, self.y, self.weights, self.how = features, y, weights, how
        self.squares, self.seed, self.n_jobs, self.starts = squares, seed, n_jobs, None
        self.pairs = fold_pairs(len(y), seed, fold)

    def best_alpha(self) -> float:
        """Return the penalty with the smallest squared error at what is known of held-out rows.

        Penalties are tried from the strongest on, each from where the one before ended, until
        errors have grown twice. Where the best one ended, `cross_fit` starts.
        """
        chosen = np.zeros(len(self.y), bool)
        chosen[sample_rows(self.y, FOLD_ROWS, self.seed)] = True
        pairs = [[rows[chosen[rows]] for rows in pair] for pair in self.pairs]
        ends, errors = tuple(self._start(train) for train, _ in pairs), []
        for alpha in TRIED_ALPHAS:
            found = self._each(partial(self._step, alpha), ends, pairs)
            ends, squares = zip(*found, strict=True)
            errors.append(sum(squares))
            if errors[-1] <= min(errors):
                best, self.starts = alpha, ends
            elif min(errors[-2:]) > min(errors):
                break
        return best

    def cross_fit(self, alpha) -> tuple[np.ndarray, np.ndarray]:
        """Return held-out predictions of all rows, and the parameters fitted to all rows."""
        held_out, trains = np.empty(self.y.shape), [train for train, _ in self.pairs]
        starts = self.starts or map(self._start, trains)
        found = self._each(partial(self._fit, alpha, ftol=FOLD_FTOL), starts, trains)
        for V, (_, test) in zip(found, self.pairs, strict=True):
            held_out[test] = self._predict(test, V)
        return held_out, self._fit(alpha, np.mean(found, axis=0), np.arange(len(self.y)))

    def _step(self, alpha, V, rows):
        """Return the parameters without a fold, and their squared error at what is known of it."""
        train, test = rows
        V = self._fit(alpha, V, train, CHOICE_FTOL)
        judged = PartialRows(self.y[test], total=np.nan if self.how.get("ratios") else 1.0)
        known, there = judged.cells(self._predict(test, V))
        squares, weights = (known - there) ** 2, self._weights(test)
        return V, np.nansum(squares if weights is None else squares * weights[:, None])

    def _fit(self, alpha, V, rows, ftol=FIT_FTOL):
        y, weights = self.y[rows], self._weights(rows)
        share = len(y) / len(self.y) if weights is None else weights.sum() / self.weights.sum()
        about = self.features[rows], self.squares * share, y, alpha, weights
        return MaskedSoftmax(*about, **self.how).minimise(V, MAX_ITER, ftol)

    def _predict(self, rows, V):
        return softmax(self.features[rows] @ V[:-1].astype(self.features.dtype) + V[-1])

    def _start(self, rows):
        return start_at_mean(self.y[rows], self.features.shape[1], self._weights(rows))

    def _weights(self, rows):
        return None if self.weights is None else self.weights[rows]

    def _each(self, function, *arguments):
        calls = (delayed(function)(*each) for each in zip(*arguments, strict=True))
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(calls)
