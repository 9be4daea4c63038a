"""Features for the kernel members: reduced, scaled, and mapped by a kernel that is chosen."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from inldl._file_state import FileState
from inldl._validation import TOO_LARGE
from inldl.solvers.known_cells import count_known
from inldl.solvers.masked_ridge import leave_one_out_errors

WIDE, REDUCED = 1000, 100  # beyond WIDE features the first REDUCED components stand for them
ALPHAS = 10.0 ** np.arange(-4, 4, 0.5)
SCALES = (0.25, 1.0, 4.0)
COARSE, FINE = 200, 400  # landmarks to choose the scale with, and the kernel
ROWS_FOR_KERNEL, ROWS_FOR_ALPHA = 5000, 20_000
FEWEST_OBSERVED = 100  # of each label in a sample of rows, where there are as many
PAIRS_FROM = 1000  # rows whose distances give the median
METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}


class Columns:
    """Make dense and scaled columns of any X.

    Sparse and very wide features are reduced to principal components. `dense` is what trees get;
    `scaled` has mean 0 and variance 1, is in double precision, and lacks the constant columns.
    """

    _in_file = FileState(
        parts=(
            StandardScaler,
            "sklearn.decomposition:PCA",
            "sklearn.decomposition:TruncatedSVD",
        )
    )

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

    def dense(self, X):
        """Return the columns as an array, reduced if they have to be."""
        if self.reducer_ is not None:
            return self.reducer_.transform(X)
        return X.toarray() if sparse.issparse(X) else X

    def scaled(self, dense):
        """Return z-scores of what `dense` returned; a single 0 if every column is constant."""
        if not self.varying_.size:
            return np.zeros((len(dense), 1))
        return self.scaler_.transform(dense[:, self.varying_]).astype(np.float64, copy=False)


def _reducer(X, seed):
    """Return the decomposition that sparse or very wide features need, not fitted, or None."""
    from sklearn.decomposition import PCA, TruncatedSVD  # .1 s that other methods need not pay

    size = min(REDUCED, X.shape[0], X.shape[1] - 1)
    if sparse.issparse(X):
        return TruncatedSVD(size, random_state=seed) if X.shape[1] > REDUCED else None
    return PCA(size, random_state=seed) if X.shape[1] > WIDE else None


def kernel_features(Z, kernel, scale, n_landmarks, seed):
    """Return the fitted Nystroem map of a kernel whose width is the median distance.

    The kernel is exp(-scale * distance / median): "rbf" with squared Euclidean distances,
    "laplacian" with sums of absolute differences.
    """
    from sklearn.kernel_approximation import Nystroem

    return Nystroem(
        kernel=kernel,
        gamma=scale / median_distance(Z, METRICS[kernel], seed),
        n_components=min(n_landmarks, len(Z)),
        random_state=seed,
    ).fit(Z)


def median_distance(Z, metric, seed):
    """Return the median distance between rows that differ, or 1 if none do."""
    from scipy.spatial.distance import pdist

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

    An error is the root of the mean squared residual, at the best penalty.
    """

    kernel: str
    scale: float
    errors: dict = field(default_factory=dict)


def choose_kernel(Z, y, seed, n_jobs=None, *, kernel="auto", scale="auto", weights=None):
    """Choose the kernel and its scale, where "auto", by the smallest leave-one-out error.

    The scale is chosen with few landmarks, then RBF is compared with the L1 kernel.
    """
    rows = sample_rows(y, ROWS_FOR_KERNEL, seed)
    Z, y, errors = Z[rows], y[rows], {}
    weights = None if weights is None else weights[rows]

    def best(candidates, n_landmarks):
        for pair in candidates:
            features = kernel_features(Z, *pair, n_landmarks, seed).transform(Z)
            squares = leave_one_out_errors(features, y, ALPHAS, n_jobs, weights).min()
            errors[pair] = float(np.sqrt(squares / count_known(y, weights)))
        return min(candidates, key=errors.__getitem__)

    given = None if scale == "auto" else scale
    found = (kernel, given or 1.0)
    if kernel != "laplacian":
        found = ("rbf", given) if given else best([("rbf", each) for each in SCALES], COARSE)
    if kernel == "auto":
        found = best([found, ("laplacian", given or 1.0)], FINE)
    return KernelChoice(*found, errors)


def choose_alpha(features, y, seed, n_jobs=None, weights=None):
    """Return the penalty with the smallest leave-one-out error."""
    rows = sample_rows(y, ROWS_FOR_ALPHA, seed)
    if len(rows) < len(y):
        features, y = features[rows], y[rows]
        weights = None if weights is None else weights[rows]
    return float(ALPHAS[np.argmin(leave_one_out_errors(features, y, ALPHAS, n_jobs, weights))])
