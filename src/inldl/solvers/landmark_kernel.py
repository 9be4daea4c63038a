r"""Kernels of rows and landmarks, their features, and softmax regression on them.

With landmarks :math:`z_1, \dots, z_m` and :math:`k_x = (k(x, z_1), \dots, k(x, z_m))` the scores
of a row are :math:`k_x A + b`; what Nystroem's method makes of :math:`k_x` is a part of A. A block
makes its kernel matrix K, a few rows at a time, uses it for the scores KA and for the gradient
:math:`K'R`, and forgets it: nothing of the size rows x landmarks is ever held.

Kernels and scores are computed in single precision, sums over rows in double: what a block says of
a row does not depend on the block, so blocks of any size give the same sums but for rounding of
doubles.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from inldl import kernels
from inldl.engines.base import Sums
from inldl.rows.inputs import TOO_LARGE
from inldl.rows.partial import PartialRows
from inldl.solvers.softmax import (
    Array,
    Function,
    MaskedSoftmax,
    eigenbasis,
    lbfgs,
    softmax,
    start_at_mean,
    weighted_degrees,
)

KERNEL_ENTRIES = 1 << 18  # of a kernel matrix that stay in a cache between their uses
LANES = 64  # rows that BLAS takes at a time, or some times over
FARTHEST = 1e3  # standard deviations: every kernel is 0 there, and squares keep their precision
SMALLEST_EIGENVALUE = 1e-6  # of the largest: less is rounding in single precision
ROWS_PER_FEATURE = 10  # from which a basis is estimated well enough
SAMPLE_ENTRIES = 1 << 26  # of the features of the sample: 512 MB
LBFGS_ITERATIONS, MOST_NEWTON_STEPS = 100, 8
ROUGH_TOLERANCE = 1e-6  # of L-BFGS; Newton's steps need fewer products for the rest
CLOSE = 1e-6  # a gradient, in parameters in which curvature is about 1

Loss = Callable[[Array, Array], tuple[float, Array, Array]]
"""The loss of all rows at coefficients and intercept, and its gradients by both."""


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


@dataclass(frozen=True)
class KernelSoftmax:
    """What is learned: the softmax of ``k_x A + b``."""

    map: LandmarkKernel
    coef: Array
    intercept: Array

    def __call__(self, Z: Array) -> Array:
        """Return distributions of rows in scaled columns."""
        out = np.empty((len(Z), len(self.intercept)))
        for rows, _, scores in self.pieces(Z):
            out[rows] = softmax(scores)
        return out

    def pieces(self, Z: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Yield some rows at a time, their kernels, and their scores in double precision."""
        coef = self.coef.astype(np.float32)
        for rows, K in self.map.pieces(Z, np.float32):
            there = slice(rows.stop - rows.start)
            yield rows, K[there], (K @ coef)[there] + self.intercept

    def _degrees(self, dense: Array, scaled: Array) -> Array:
        """Return what it predicts, as a member of AutoInLDL."""
        return self(scaled)

    def _add_degrees(self, graph: Any, dense: str, scaled: str) -> str:
        """Add what it predicts to an ONNX graph."""
        about = self.map, scaled, self.coef.astype(float), self.intercept
        return graph.softmax(graph.kernel_scores(*about))


@dataclass
class KernelBlock:
    """The rows of a block: features, degrees that are learned from, and weights or None."""

    X: Any
    y: Array
    weights: Array | None = None


@dataclass(frozen=True)
class KernelSweeps:
    """The loss of a kernel softmax and its gradient, summed over blocks of rows.

    `scaled` makes scaled columns of a block of features, and `seen` is called with the number of
    its rows after each step. Both can be pickled.
    """

    map: LandmarkKernel
    scaled: Callable[[Any], Array]
    seen: Callable[[int], object] = int

    def start(
        self, X: Any, y: Array, sample_weight: Array | None = None
    ) -> tuple[KernelBlock, Sums]:
        """Keep the degrees of a block; the sum is that of the weights of its rows."""
        weights = None if sample_weight is None else sample_weight[:, 0].astype(float)
        block = KernelBlock(X, PartialRows(y).forced().astype(np.float32), weights)
        return block, Sums((float(len(y)) if weights is None else float(weights.sum()),))

    def step(self, block: KernelBlock, coef: Array, intercept: Array) -> tuple[KernelBlock, Sums]:
        """Return the loss at ``k_x A + b``, and its gradients by A and b."""
        loss, by_coef, by_intercept = 0.0, np.zeros(coef.shape), np.zeros(len(intercept))
        model = KernelSoftmax(self.map, coef, intercept)
        for rows, K, scores in model.pieces(self.scaled(block.X)):
            weights = None if block.weights is None else block.weights[rows]
            part, residual = masked_loss(scores, block.y[rows], weights)
            loss += part
            by_coef += K.T.astype(float) @ residual
            by_intercept += residual.sum(axis=0)
        self.seen(len(block.y))
        return block, Sums((loss, by_coef, by_intercept))


def masked_loss(scores: Array, y: Array, weights: Array | None = None) -> tuple[float, Array]:
    """Return the loss of `inldl.solvers.softmax`, and its gradient in place of the scores.

    A negative degree counts as 0; `weights` are those of the rows.
    """
    both = weighted_degrees(y.astype(float), weights)
    return float(kernels.masked_softmax_rows(scores, *both)), scores


def polished(function: Function, curvature: Callable[[Array], Any], U: Array) -> Array:
    """Return the minimum, by Newton's steps from a point nearby.

    Where L-BFGS ends depends on the last digits of what it is given, so on the order in which the
    rows of a sweep were added up; a minimum does not.
    """
    gradient = function(U)[1]
    for _ in range(MOST_NEWTON_STEPS):
        if np.linalg.norm(gradient) < CLOSE:
            break
        product = LinearOperator((U.size, U.size), curvature(U), dtype=float)
        step, _ = cg(product, -gradient.ravel(), rtol=1e-2, maxiter=LBFGS_ITERATIONS)
        trial = U + step.reshape(U.shape)
        after = function(trial)[1]
        if not np.linalg.norm(after) < np.linalg.norm(gradient):
            break
        U, gradient = trial, after
    return U


class Sample:
    r"""Rows in memory, from which a kernel softmax is learned, alone or for all rows.

    They are scaled columns Z and degrees y, both in double precision. The first are held, with
    at most `SAMPLE_ENTRIES` features together.

    Let F be the objective of all rows with its penalty :math:`\alpha`, S the loss of a sample that
    is a share s of them, and V parameters at which one sweep over all rows gave the gradient of F.
    Then

    .. math:: V^+ = \arg\min_U \; S(U)
              + \langle s \nabla F(V) - \nabla S(V) - s \alpha V, U \rangle
              + \frac{s \alpha}{2} \|U\|^2 + \frac{\delta \alpha}{2} \|U - V\|^2

    needs the sample only. Were S the same as its share of F, and :math:`\delta = 0`, this would be
    the minimum of F. As it is, each sweep shrinks the distance to it by about the square root of
    landmarks / rows of the sample (the surrogate likelihood of Jordan, Lee and Yang, 2019): two or
    three sweeps do what L-BFGS on all rows needs dozens for. The last term keeps steps short in
    directions that the sample knows little about; without it they can grow from sweep to sweep.
    """

    def __init__(self, kernel: LandmarkKernel, Z: Array, y: Array, weights: Array | None = None):
        rows = slice(max(SAMPLE_ENTRIES // len(kernel.components_), 1))
        self.y, self.weights = y[rows], None if weights is None else weights[rows]
        self.kernel, kernel_map = kernel, KernelFeatures.of(kernel)
        self.basis = Basis.of(kernel_map, Z[rows], self.weights)
        self._features = self.basis.features(Z[rows])

    @property
    def total(self) -> float:
        """The sum of the weights of its rows."""
        return float(len(self.y)) if self.weights is None else float(self.weights.sum())

    def start(self) -> Array:
        """Return the parameters of a constant prediction."""
        return start_at_mean(self.y, self._features.shape[1], self.weights)

    def learn(self, V: Array, alpha: float) -> Array:
        """Return the best parameters for these rows alone, starting from V."""
        return self._problem(alpha).minimise(V, LBFGS_ITERATIONS)

    def model(self, V: Array) -> KernelSoftmax:
        """Return the softmax that has the parameters V; the last row is the bias."""
        coef, intercept = self.basis.split(V)
        return KernelSoftmax(self.kernel, self.basis.map.normalization_ @ coef, intercept)

    def slope(self, V: Array, alpha: float, loss: Loss) -> Array:
        """Return the gradient of the objective of all rows at V, by one sweep."""
        model, basis = self.model(V), self.basis
        _, by_coef, by_intercept = loss(model.coef, model.intercept)
        inner = basis.turn.T @ (basis.map.normalization_.T @ by_coef)
        found = np.vstack([inner - np.outer(basis.center, by_intercept), by_intercept])
        if not np.isfinite(found).all():
            raise ValueError(TOO_LARGE)
        found[:-1] += alpha * V[:-1]
        return found

    def improved(
        self, V: Array, alpha: float, slope: Array, share: float, damping: float
    ) -> Array:
        """Return better parameters for all rows than V, where they have the gradient `slope`.

        `share` is that of the sample in the weights of all rows.
        """
        problem = self._problem((share + damping) * alpha)
        tilt = share * slope - problem.value_and_gradient(V / problem.unit)[1] / problem.unit
        tilt *= problem.unit

        def surrogate(U: Array) -> tuple[float, Array]:
            value, gradient = problem.value_and_gradient(U)
            return value + float(np.vdot(tilt, U)), gradient + tilt

        found = lbfgs(
            surrogate, V / problem.unit, maxiter=LBFGS_ITERATIONS, ftol=ROUGH_TOLERANCE, gtol=CLOSE
        )
        U = polished(surrogate, problem.curvature, found.x.reshape(V.shape))
        return problem.unit * U

    def _problem(self, alpha: float) -> MaskedSoftmax:
        about = self.basis.squares, self.y, alpha, self.weights
        return MaskedSoftmax(self._features, *about)
