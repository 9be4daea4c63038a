"""Kernel features of rows, learned from a sample of them, wherever they are."""

import numpy as np

from inldl._file_state import FileState
from inldl.estimators._kernel_features import Columns, choose_kernel, kernel_features
from inldl.solvers.completion import fill_forced
from inldl.solvers.landmark_kernel import KernelFeatures

SAMPLE = 20_000  # rows from which scale, kernel and landmarks come
KEPT = 1 << 30  # bytes that the features of all rows may take in memory


class KernelMap:
    """Map features of any scale to those of a kernel, which random rows span (Nystroem's method).

    Attributes
    ----------
    kernel_, scale_ : str, float
        The kernel exp(-scale * distance / median distance) of columns with variance 1.
    columns_, nystroem_ : Columns, KernelFeatures
        How features are scaled, and mapped.
    """

    _in_file = FileState(parts=(Columns, KernelFeatures))

    def fit(self, rows, kernel, n_landmarks, seed, n_jobs=None):
        """Learn from a row source; `kernel` is "rbf", "laplacian" or "auto", which chooses."""
        some = sample(rows, seed)
        weights = some.beside.get("sample_weight")
        weights = None if weights is None else weights.ravel().astype(np.float64)
        self.columns_ = Columns().fit(some.X, seed, weights)
        scaled = self.columns_.scaled(self.columns_.dense(some.X))
        options = {"kernel": kernel, "weights": weights}
        choice = choose_kernel(scaled, fill_forced(some.y), seed, n_jobs, **options)
        self.kernel_, self.scale_ = choice.kernel, choice.scale
        self.nystroem_ = kernel_features(scaled, self.kernel_, self.scale_, n_landmarks, seed)
        return self

    @property
    def n_features_out_(self):
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


def sample(rows, seed):
    """Return at most `SAMPLE` random rows of a source that have a weight, in memory."""
    n = rows.X.shape[0]
    if n > SAMPLE:
        rows = rows.take(np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False)))
    elif not rows.in_memory:
        rows = rows.take(np.arange(n))
    weights = rows.beside.get("sample_weight")
    if weights is None or weights.all():
        return rows
    if not weights.any():
        raise ValueError(
            f"None of {len(weights)} random rows, from which the kernel is learned, has a weight; "
            "leave out the rows without weight."
        )
    return rows.take(np.flatnonzero(weights))
