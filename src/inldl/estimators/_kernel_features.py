"""Features for the kernel members: reduced, scaled, and mapped by a kernel that is chosen."""

from copy import copy
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from scipy.special import ndtri
from sklearn.preprocessing import StandardScaler

from inldl._file_state import Array, FileState
from inldl._validation import TOO_LARGE
from inldl.solvers.known_cells import count_known
from inldl.solvers.masked_ridge import leave_one_out_errors

WIDE, REDUCED = 1000, 100  # beyond WIDE features the first REDUCED components stand for them
ALPHAS = 10.0 ** np.arange(-4, 4, 0.5)
SCALES = (0.25, 1.0, 4.0)
COARSE, FINE = 200, 400  # landmarks to choose the scale with, and the kernel
ROWS_FOR_KERNEL, ROWS_FOR_ALPHA = 3000, 20_000
FEWEST_OBSERVED = 100  # of each label in a sample of rows, where there are as many
PAIRS_FROM = 1000  # rows whose distances give the median
QUANTILES, OUTERMOST = 1000, 1e-3  # levels of a column; beyond the outermost all is one
QUANTILES_TRIED = " of quantiles"  # after the name of a kernel
CLEARLY = 0.995  # of the error of columns on their own scale is what quantiles must reach
CHUNK = 2048  # rows whose kernel stays in a cache
LEAST = 1e-12  # of what is divided by, in the kernel of the landmarks
METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}


class Columns:
    """Make dense and scaled columns of any X.

    Sparse and very wide features are reduced to principal components. `dense` is what trees get;
    `scaled` has mean 0 and variance 1, is in double precision, and lacks the constant columns. It
    is linear in the columns, or made of normal quantiles, by `with_quantiles`.
    """

    _in_file = FileState(
        {"quantiles_": Array(2)},
        parts=(
            StandardScaler,
            "sklearn.decomposition:PCA",
            "sklearn.decomposition:TruncatedSVD",
        ),
    )

    quantiles_ = None  # as in files of earlier versions

    def fit(self, X, seed, weights=None):
        """Learn the components and the scale of `X`; the weights of rows count in the scale."""
        if max(float(X.max()), -float(X.min())) * X.size >= 1e154:
            raise ValueError(TOO_LARGE)
        self.reducer_ = _reducer(X, seed)
        if self.reducer_ is not None:
            self.reducer_.fit(X)
        dense = self.dense(X)
        self.varying_ = np.flatnonzero(dense.max(axis=0) > dense.min(axis=0))
        if self.varying_.size:
            varying = dense[:, self.varying_]
            self.scaler_ = StandardScaler().fit(varying, sample_weight=weights)
        return self

    def with_quantiles(self, dense):
        """Return columns that are scaled to normal quantiles, whatever their distribution is."""
        made = copy(self)
        if self.varying_.size:
            varying = dense[:, self.varying_].astype(float)
            made.quantiles_ = np.quantile(varying, _levels(len(dense)), axis=0).T.copy()
            made.scaler_ = StandardScaler().fit(made._normal(varying))
        return made

    def dense(self, X):
        """Return the columns as an array, reduced if they have to be."""
        if self.reducer_ is not None:
            return self.reducer_.transform(X)
        return X.toarray() if sparse.issparse(X) else X

    def scaled(self, dense):
        """Return scaled columns of what `dense` returned; a single 0 if all are constant."""
        if not self.varying_.size:
            return np.zeros((len(dense), 1))
        varying = dense[:, self.varying_]
        if self.quantiles_ is not None:
            varying = self._normal(varying)
        return self.scaler_.transform(varying).astype(np.float64, copy=False)

    def _normal(self, varying):
        """Return the normal quantiles of where values lie among those of the fit.

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
    """Return the decomposition that sparse or very wide features need, not fitted, or None."""
    from sklearn.decomposition import PCA, TruncatedSVD  # .1 s that other methods need not pay

    size = min(REDUCED, X.shape[0], X.shape[1] - 1)
    if sparse.issparse(X):
        return TruncatedSVD(size, random_state=seed) if X.shape[1] > REDUCED else None
    return PCA(size, random_state=seed) if X.shape[1] > WIDE else None


class KernelFeatures:
    r"""Nystroem's features: products of two rows' are about the kernel of the two rows.

    The kernel is exp(-scale * distance / median): "rbf" with squared Euclidean distances,
    "laplacian" with sums of absolute differences. With :math:`K_{LL}` the kernel of the landmarks
    the features of rows are :math:`K_{\cdot L} K_{LL}^{-1/2}`.
    """

    _in_file = FileState({"components_": Array(2), "normalization_": Array(2)})

    def __init__(self, kernel, gamma, landmarks):
        self.kernel, self.gamma, self.components_ = kernel, gamma, landmarks
        squares, basis = linalg.eigh(self.similarities(landmarks), driver="evd")
        self.normalization_ = (basis / np.sqrt(np.maximum(squares, LEAST))) @ basis.T

    def similarities(self, Z):
        """Return the kernel of rows and landmarks."""
        if self.kernel == "laplacian":
            return np.exp(-self.gamma * cdist(Z, self.components_, "cityblock"))
        squares = [np.einsum("ij,ij->i", rows, rows) for rows in (Z, self.components_)]
        found = Z @ (2 * self.components_.T)
        found -= squares[0][:, None]
        found -= squares[1]
        np.minimum(found, 0, out=found)
        found *= self.gamma
        return np.exp(found, out=found)

    def transform(self, Z):
        """Return the features of rows."""
        out = np.empty((len(Z), len(self.components_)))
        for start in range(0, len(Z), CHUNK):
            rows = slice(start, start + CHUNK)
            np.matmul(self.similarities(Z[rows]), self.normalization_, out=out[rows])
        return out


class Columnwise:
    """The features of the linear kernel."""

    _in_file = FileState()

    def __init__(self, n_columns):
        self.length = float(np.sqrt(n_columns))

    def transform(self, Z):
        """Return the features of rows."""
        return Z / self.length


def kernel_features(Z, kernel, scale, n_landmarks, seed):
    """Return the map to the features of a kernel whose width is the median distance.

    Those of the "linear" kernel are the columns, divided such that rows have a length of about 1.
    """
    if kernel == "linear":
        return Columnwise(Z.shape[1])
    rows = np.random.RandomState(seed).permutation(len(Z))[:n_landmarks]
    return KernelFeatures(kernel, scale / median_distance(Z, METRICS[kernel], seed), Z[rows])


def median_distance(Z, metric, seed):
    """Return the median distance between rows that differ, or 1 if none do."""
    rows = np.random.default_rng(seed).permutation(len(Z))[:PAIRS_FROM]
    distances = pdist(Z[rows], metric)
    distances = distances[distances > 0]
    return np.median(distances) if distances.size else 1.0


def sample_rows(y, size, seed):
    """Return at most about `size` rows, in order, in which also rare labels are observed."""
    if len(y) <= size:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    chosen = np.zeros(len(y), bool)
    chosen[order[:size]] = True
    for column in y.T:
        seen = order[~np.isnan(column[order])]
        lacking = FEWEST_OBSERVED - np.count_nonzero(chosen[seen])
        if lacking > 0:
            chosen[seen[~chosen[seen]][:lacking]] = True
    return np.flatnonzero(chosen)


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


def choose_kernel(
    Z, y, seed, n_jobs=None, *, kernel="auto", scale="auto", weights=None, normal=None
):
    """Choose the kernel and its scale, where "auto", by the smallest leave-one-out error.

    The scale is chosen with few landmarks, then RBF is compared with the L1 kernel. If there are
    normal quantiles beside the columns Z, they are taken where RBF is clearly better with them.
    """
    rows = sample_rows(y, ROWS_FOR_KERNEL, seed)
    Z, y, errors, alphas = Z[rows], y[rows], {}, {}
    weights = None if weights is None else weights[rows]

    def best(candidates, n_landmarks, Z, suffix=""):
        for name, scale in candidates:
            features = kernel_features(Z, name, scale, n_landmarks, seed).transform(Z)
            squares = leave_one_out_errors(features, y, ALPHAS, n_jobs, weights)
            errors[name + suffix, scale] = float(np.sqrt(squares.min() / count_known(y, weights)))
            alphas[name, scale] = float(ALPHAS[squares.argmin()])
        return min((errors[name + suffix, scale], (name, scale)) for name, scale in candidates)

    given, suffix = None if scale == "auto" else scale, ""
    found, every = (kernel, given or 1.0), [("rbf", each) for each in SCALES]
    if kernel in ("auto", "rbf"):
        found = ("rbf", given)
        if given is None:
            error, found = best(every, COARSE, Z)
            if normal is not None:
                other, there = best(every, COARSE, normal[rows], QUANTILES_TRIED)
                if other < CLEARLY * error:
                    found, Z, suffix = there, normal[rows], QUANTILES_TRIED
    if kernel == "auto":
        found = best([found, ("laplacian", given or 1.0)], FINE, Z, suffix)[1]
    return KernelChoice(*found, errors, alphas.get(found), bool(suffix))


def choose_alpha(features, y, seed, n_jobs=None, weights=None):
    """Return the penalty with the smallest leave-one-out error."""
    rows = sample_rows(y, ROWS_FOR_ALPHA, seed)
    if len(rows) < len(y):
        features, y = features[rows], y[rows]
        weights = None if weights is None else weights[rows]
    return float(ALPHAS[np.argmin(leave_one_out_errors(features, y, ALPHAS, n_jobs, weights))])
