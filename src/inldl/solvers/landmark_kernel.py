r"""Features of rows by kernels of landmarks, and by all columns; the eigenbasis of features.

A kernel matrix is made a few rows at a time and forgotten. What is said of a row does not depend,
to the bit, on the rows around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from inldl import kernels
from inldl.solvers.softmax import Array, eigenbasis

KERNEL_ENTRIES = 1 << 18  # of a kernel matrix that stay in a cache between their uses
LANES = 64  # rows that BLAS takes at a time, or some times over
FARTHEST = 1e3  # standard deviations: every kernel is 0 there, and squares keep their precision
SMALLEST_EIGENVALUE = 1e-6  # of the largest: less is rounding in single precision
ROWS_PER_FEATURE = 10  # from which a basis is estimated well enough


@dataclass(frozen=True)
class LandmarkKernel:
    """The kernel exp(-gamma distance) between rows and landmarks."""

    # "rbf" has squared Euclidean distances, "laplacian" sums of absolute differences
    kernel: str
    gamma: float  # its width
    components_: Array  # (m, k) the landmarks: rows in the same columns as those that are mapped

    def __call__(self, Z: Array, out: Array | None = None, n: int | None = None) -> Array:
        """Return the kernel matrix, rows x landmarks, of a few rows in their precision.

        If `n` is given, it is 0 but for the first `n` rows.
        """
        L, gamma = self.components_.astype(Z.dtype, copy=False), Z.dtype.type(self.gamma)
        out = np.empty((len(Z), len(L)), Z.dtype) if out is None else out
        if self.kernel == "laplacian":
            kernels.l1_distances(Z[:n], np.ascontiguousarray(L.T), out[:n])
            out[:n] *= -gamma
        else:
            np.matmul(Z, (2 * gamma * L).T, out=out)
            Z, some = Z[:n], out[:n]
            some -= gamma * np.einsum("ij,ij->i", Z, Z)[:, None]
            some -= gamma * np.einsum("ij,ij->i", L, L)
        np.exp(out[:n], out=out[:n])
        if n is not None:
            out[n:] = 0
        return out

    def pieces(self, Z: Array, dtype: Any = None) -> Iterator[tuple[slice, Array]]:
        """Yield the kernel matrix, some rows at a time, and which rows these are.

        All pieces have the same memory, since new memory takes longer than the kernel, and the
        same shape: below the rows there may be others, which mean nothing. So what BLAS makes of
        a row, to the bit, does not depend on the rows around it.
        """
        m, k = self.components_.shape
        size = max(KERNEL_ENTRIES // m // LANES, 1) * LANES
        near, room = (np.zeros((size, width), dtype or Z.dtype) for width in (k, m))
        for start in range(0, len(Z), size):
            rows = slice(start, min(start + size, len(Z)))
            np.clip(
                Z[rows], -FARTHEST, FARTHEST, out=near[: rows.stop - start], casting="same_kind"
            )
            yield rows, self(near, room, rows.stop - start)


@dataclass(frozen=True)
class KernelFeatures(LandmarkKernel):
    r"""Nystroem's features: products of two rows' are about the kernel of the two rows.

    With :math:`K_{LL} = U \Lambda U'` the kernel of the landmarks, the features of rows are
    :math:`K_{\cdot L} U \Lambda^{-1/2}`, without the directions that are noise.
    """

    normalization_: Array

    @classmethod
    def of(cls, kernel: LandmarkKernel) -> "KernelFeatures":
        """Return the features of a kernel."""
        values, vectors = linalg.eigh(kernel(kernel.components_.astype(float)), driver="evd")
        kept = values > SMALLEST_EIGENVALUE * values[-1]
        normalization = vectors[:, kept] / np.sqrt(values[kept])
        return cls(kernel.kernel, kernel.gamma, kernel.components_, normalization)

    def transform(self, Z: Array, onto: Array | None = None) -> Array:
        """Return the features of rows in their precision, or their products with a matrix."""
        normal = self.normalization_ if onto is None else self.normalization_ @ onto
        normal, out = normal.astype(Z.dtype), np.empty((len(Z), normal.shape[1]), Z.dtype)
        for rows, K in self.pieces(Z):
            out[rows] = (K @ normal)[: rows.stop - rows.start]
        return out


class Columnwise:
    """The features of the linear kernel."""

    def __init__(self, n_columns: int) -> None:
        self.length = float(np.sqrt(n_columns))

    def transform(self, Z: Array, onto: Array | None = None) -> Array:
        """Return the features of rows in their precision, or their products with a matrix."""
        features = Z / Z.dtype.type(self.length)
        return features if onto is None else features @ onto.astype(Z.dtype)


@dataclass(frozen=True)
class AllColumns:
    """Columns as features, which may be sparse: too many for their Gram matrix.

    L-BFGS knows the diagonal of it, `squares`.
    """

    center: Array  # (k,) what is subtracted from columns; 0 if they are sparse
    unit: Array  # (k,) what they are divided by, such that rows have a length of about 1
    squares: Array  # (k,)

    @classmethod
    def of(cls, X: Any, weights: Array | None = None) -> "AllColumns":
        """Return the features of columns."""
        own = np.ones(X.shape[0]) if weights is None else weights
        many = sparse.issparse(X)
        center = np.zeros(X.shape[1]) if many else own @ X / own.sum()
        squares = X.multiply(X).T @ own if many else own @ np.square(X - center)
        filled = (X != 0).T @ own if many else np.full(X.shape[1], own.sum())
        unit = np.sqrt(np.where(squares > 0, squares / np.maximum(filled, 1e-300), 1))
        unit *= np.sqrt(filled.sum() / own.sum())
        return cls(center, unit, squares / unit**2)

    def features(self, X: Any) -> Any:
        """Return the features of rows in single precision."""
        if sparse.issparse(X):
            return (X @ sparse.diags_array(1 / self.unit)).tocsr().astype(np.float32)
        return ((X - self.center) / self.unit).astype(np.float32)

    def transform(self, X: Any, onto: Array) -> Array:
        """Return the products of the features of rows with a matrix."""
        onto = onto / self.unit[:, None]
        return X @ onto - self.center @ onto

    def split(self, V: Array) -> tuple[Array, Array]:
        """Return the coefficients and the intercept of parameters."""
        return V[:-1], V[-1]


@dataclass(frozen=True)
class Basis:
    """Features in about the eigenbasis of their Gram matrix, in which L-BFGS has an easy time."""

    map: Any  # to the features: KernelFeatures or Columnwise
    turn: Array  # (r, r) the eigenvectors, as columns
    center: Array  # (r,) what is subtracted from the turned features: about their mean
    squares: Array  # (r,) the eigenvalues

    @classmethod
    def of(
        cls, feature_map: Any, Z: Array, weights: Array | None = None, rows: int = ROWS_PER_FEATURE
    ) -> "Basis":
        """Return the basis of rows in scaled columns, by some of them, `rows` for a feature."""
        size = feature_map.transform(Z[:1]).shape[1] * rows
        some = slice(None, None, max(len(Z) // size, 1))
        features = feature_map.transform(Z[some].astype(float))
        own, times = None, len(Z) / len(features)
        if weights is not None:
            own, times = weights[some], weights.sum() / weights[some].sum()
        center = np.average(features, 0, own)
        features -= center
        squares, turn = eigenbasis(features, own)
        return cls(feature_map, turn, center @ turn, squares * times)

    def features(self, Z: Array) -> Array:
        """Return the features of rows, in their precision."""
        out = self.map.transform(Z, self.turn)
        out -= self.center.astype(Z.dtype)
        return out

    def split(self, V: Array) -> tuple[Array, Array]:
        """Return coefficients of the map, and the intercept, of parameters in this basis."""
        return self.turn @ V[:-1], V[-1] - self.center @ V[:-1]
