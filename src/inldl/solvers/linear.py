"""Products with a block of X, the ridge regression that linear methods share, and mixtures.

Coefficients are held as labels x features and products as labels x rows, the layout of the
kernels. A bias column is never appended to X: its products are sums that cost nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import nnls

from inldl import kernels
from inldl.rows.inputs import TOO_LARGE

Array = np.ndarray
EPS = float(np.finfo(np.float64).eps)


def fitted(X: Any, coef: Array) -> Array:
    """Return (XW)' as labels x rows, without the intercept."""
    if sparse.issparse(X):
        return np.ascontiguousarray((X @ np.ascontiguousarray(coef.T)).T)
    if _narrow(X, len(coef)):
        return kernels.narrow_fitted(X, np.ascontiguousarray(coef))
    return np.matmul(coef, X.T)


def fitted_with_bias(X: Any, coef: Array, intercept: Array) -> Array:
    """Return (XW + b)' as labels x rows, in the precision of X."""
    S = fitted(X, coef.astype(X.dtype, copy=False))
    S += intercept.astype(X.dtype, copy=False)[:, None]
    return S


def predict_columns(X: Any, coef: Array, intercept: Array) -> Array:
    """Return the projection of XW + b onto the simplex, as labels x rows."""
    S = fitted_with_bias(X, coef, intercept)
    kernels.project_columns(S, np.ones(S.shape[1], S.dtype))
    return S


def moments(R: Array, X: Any) -> Array:
    """Return (X'R)' in double precision, for R given as labels x rows."""
    if sparse.issparse(X):
        return (X.T @ np.ascontiguousarray(R.T)).T.astype(np.float64, copy=False)
    if _narrow(X, len(R)):
        return kernels.narrow_moments(R, X).astype(np.float64, copy=False)
    with np.errstate(all="ignore"):  # `check_finite` refuses what overflows
        return np.matmul(R, X).astype(np.float64, copy=False)


def _narrow(X: Array, n_labels: int) -> bool:
    """Say where the product kernels beat BLAS: few labels, long rows of X in one piece."""
    return 2 <= n_labels <= 12 and X.shape[1] >= 64 and len(X) >= 4 and X.flags.c_contiguous


def gram(X: Any, weights: Array | None = None) -> Array:
    """Return X'X in double precision: its small eigenvalues decide the solution.

    With weights w of the rows it is X' diag(w) X.
    """
    X = X.astype(np.float64, copy=False)
    if sparse.issparse(X):
        X = X if weights is None else sparse.diags_array(np.sqrt(weights)) @ X
        return (X.T @ X).toarray()
    if weights is not None:
        X = X * np.sqrt(weights)[:, None]
    with np.errstate(all="ignore"):  # `check_finite` refuses what overflows
        return np.matmul(X.T, X)


class RowWeights:
    """How much each row of a block counts in sums over rows: once, if there are no weights.

    A row of weight 0 takes no part in the work on rows. Matrices are labels x rows: `take` leaves
    those rows out, `spread` puts them back as 0.
    """

    def __init__(self, sample_weight: Array | None, dtype: Any):
        self.all = self.kept = self.own = self.root = None
        if sample_weight is not None:
            self.all = sample_weight.ravel().astype(np.float64, copy=False)
            self.kept = None if self.all.all() else np.flatnonzero(self.all)
            self.own = (self.all if self.kept is None else self.all[self.kept]).astype(dtype)
            self.root = np.sqrt(self.own)

    def take(self, A: Array) -> Array:
        """Return the columns of rows that have a weight."""
        return A if self.kept is None else np.ascontiguousarray(A[:, self.kept])

    def spread(self, A: Array) -> Array:
        """Return columns for all rows from those that `take` returned."""
        if self.all is None or self.kept is None:
            return A
        out = np.zeros((len(A), len(self.all)), A.dtype)
        out[:, self.kept] = A
        return out

    def times(self, A: Array) -> Array:
        """Return columns of rows that have a weight, multiplied by it."""
        return A if self.own is None else A * self.own

    def moments(self, R: Array, X: Any) -> tuple[Array, Array]:
        """Return (X'diag(w)R)' and R'w, for R of the rows that have a weight."""
        R = self.times(R)
        return moments(self.spread(R), X), R.sum(axis=1, dtype=np.float64)


class FeatureSums(NamedTuple):
    """What a regression onto X needs of the features: X'X, X'1, n, and n times the precision.

    With weights w of the rows these are X' diag(w) X, X'w and the sum of w.
    """

    gram: Array
    total: Array
    n: float
    rounding: float

    @classmethod
    def of(cls, X: Any, weights: RowWeights) -> Self:
        """Return the sums of a block of rows."""
        w = np.ones(X.shape[0]) if weights.all is None else weights.all
        n = float(w.sum())
        total = moments(w[None].astype(X.dtype), X)[0]
        return cls(gram(X, weights.all), total, n, n * float(np.finfo(X.dtype).eps))

    def gram_with_bias(self, bias: bool) -> Array:
        """Return X'X, of X and a column of ones if there is a `bias`."""
        if not bias:
            return self.gram
        border = self.total[:, None]
        return np.block([[self.gram, border], [border.T, np.array([[self.n]])]])


def join_bias(of_features: Array, of_bias: Array, bias: bool) -> Array:
    """Return both side by side, if there is a `bias`."""
    return np.column_stack([of_features, of_bias]) if bias else of_features


def split_bias(W: Array, bias: bool) -> tuple[Array, Array]:
    """Return coefficients and intercept, which is 0 without a `bias`."""
    return (W[:, :-1], W[:, -1].copy()) if bias else (W, np.zeros(len(W)))


class Regression:
    """W = (X'X + ridge I)^-1 X'R, with or without a bias column; X'X is factored once.

    Nothing is added for the bias if it is `free`.
    """

    def __init__(self, sums: FeatureSums, ridge: float, fit_intercept: bool, free: bool = False):
        G = sums.gram_with_bias(fit_intercept)
        penalty = np.full(len(G), float(ridge))
        if fit_intercept and free:
            penalty[-1] = 0.0
        self._solve = ridge_solver(G, penalty, sums.rounding / sums.n)
        self._gram, self._fit_intercept, self.n = G, fit_intercept, sums.n
        self.ridge = float(ridge)

    def __call__(self, moments: Array, total: Array) -> tuple[Array, Array]:
        """Return coefficients and intercept from (X'R)' and R'1."""
        bias = self._fit_intercept
        return split_bias(self._solve(join_bias(moments, total, bias)), bias)

    def map(self, coef: Array, intercept: Array) -> Array:
        """Return XW + b, whatever the number of rows, as W' and (X'XW)' in one array.

        W is that of X, or of X and a bias column. Norms follow without rows.
        """
        W = join_bias(coef, intercept, self._fit_intercept)
        return np.stack([W, W @ self._gram])


def ridge_solver(
    G: Array, ridge: float | Array, precision: float = EPS
) -> Callable[[Array], Array]:
    """Factor G + ridge I once; return the function that maps (X'R)' to the coefficients.

    The ridge may be given for each entry of the diagonal. Where the sum is singular to working
    precision the solution of smallest norm is taken. If the products X'R have a coarser precision,
    singular is what they cannot resolve, in units in which every feature has length 1.
    """
    G = check_finite(G) + np.diag(np.broadcast_to(ridge, len(G)))
    unit = np.ones(len(G))
    if precision > 2 * EPS:
        unit = np.sqrt(np.where(np.diag(G) > 0, np.diag(G), 1.0))
        G = G / np.outer(unit, unit)
    factor, fail = linalg.lapack.dpotrf(G, lower=1)
    if not fail:
        pivots = np.diag(factor) ** 2
        fail = pivots.min() <= len(G) * precision * pivots.max()
    if fail:
        inverse = linalg.pinvh(G, rtol=len(G) * precision) / np.outer(unit, unit)
        return lambda M: M @ inverse
    if precision > 2 * EPS:
        return lambda M: linalg.lapack.dpotrs(factor, (M / unit).T, lower=1)[0].T / unit
    return lambda M: linalg.lapack.dpotrs(factor, M.T, lower=1)[0].T


def check_finite(products: Array) -> Array:
    """Return the products, if the features were not too large for them."""
    if not np.isfinite(products).all():
        raise ValueError(TOO_LARGE)
    return products


class Rotation:
    """Features of a wide X in as many columns as it has rows, for the same ridge regression.

    With [X 1] = P diag(s) Q', a ridge on T = P diag(s) has the solution Q'W; nothing of the
    size columns x columns is formed. With weights w of the rows, none of them 0, P, s and Q are
    those of diag(w)^1/2 [X 1], and T = [X 1] Q.
    """

    def __init__(self, X: Any, fit_intercept: bool, weights: Array | None = None):
        kernel = check_finite(_row_products(X)) + float(fit_intercept)
        root = np.ones(1) if weights is None else np.sqrt(weights.ravel().astype(np.float64))
        weighted = kernel if weights is None else kernel * np.outer(root, root)
        squares, P = linalg.eigh(weighted, check_finite=False)
        kept = squares > len(kernel) * np.finfo(float).eps * squares[-1]
        scale = np.sqrt(squares[kept])
        self._X = X
        self._back = root[:, None] * (P[:, kept] / scale)
        T = P[:, kept] * scale if weights is None else kernel @ self._back
        self.features = T.astype(X.dtype)

    def rotated(self, coef: Array, intercept: Array) -> Array:
        """Return the coefficients for T from coefficients and intercept for X."""
        return (fitted(self._X, coef.astype(self._X.dtype)) + intercept[:, None]) @ self._back

    def coef(self, W: Array) -> tuple[Array, Array]:
        """Return coefficients and intercept for X from the coefficients for T."""
        A = W @ self._back.T
        return moments(A.astype(self._X.dtype, copy=False), self._X), A.sum(axis=1)

    def expand(self, W: Array) -> Array:
        """Return both side by side."""
        return np.column_stack(self.coef(W))

    def coefficients(self, W: Array) -> Array:
        """Return the coefficients alone."""
        return self.coef(W)[0]


class LinearProblem:
    """A problem, a dataclass, whose solution is linear in the features.

    `free_bias` says that its bias is not penalised, and so cannot be one of the features.
    `features` maps X to what the solution is linear in, if that is not X itself.
    """

    fit_intercept: bool
    free_bias = False
    features: Any = None

    def rotated(self, rotation: Rotation) -> Self:
        """Return the problem for rotated features, of which the bias is one."""
        return replace(self, fit_intercept=False)  # type: ignore[type-var]


def _row_products(X: Any) -> Array:
    """Return XX' in double precision."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return (X @ X.T).toarray()
    total = np.zeros((X.shape[0], X.shape[0]))
    for start in range(0, X.shape[1], 1024):
        part = X[:, start : start + 1024].astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            total += part @ part.T
    return total


def simplex_weights(parts: Array, target: Array, weights: Array | None = None) -> Array:
    """Return w >= 0 of sum 1 that minimises the squared error of ``parts @ w``.

    `parts` (m, n_parts) predict the `target` (m,); `weights` say how much each error counts.
    """
    return _on_simplex(*_squares(parts, target, weights))


def weights_towards(
    expected: Array, pull: float, parts: Array, target: Array, weights: Array
) -> Array:
    """Return w >= 0 of sum 1 that is likely, if `expected` (n_parts,) is what is expected of it.

    The errors of the mixture are taken as normal, and w as normal around what is expected with
    the variance 1 / `pull`. So a few errors move w little, and many move it as far as they should.
    The variance of the errors is that of a first w, for which it was that of what is expected:
    errors of the best weights would be too small if they are few. The rest is as for
    `simplex_weights`.
    """
    gram, moments = _squares(parts, target, weights)
    found = expected
    for _ in range(2):
        held = pull * np.average((target - parts @ found) ** 2, weights=weights)
        found = _on_simplex(gram + held * np.eye(len(gram)), moments + held * expected)
    return found


def _squares(parts: Array, target: Array, weights: Array | None) -> tuple[Array, Array]:
    weighted = parts if weights is None else parts * weights[:, None]
    return parts.T @ weighted, weighted.T @ target


def _on_simplex(gram: Array, moments: Array) -> Array:
    """Return w >= 0 of sum 1 with the least w' gram w - 2 w' moments."""
    heavy = 1e6 * max(np.trace(gram), 1.0)  # makes the sum of the weights 1
    factor = np.linalg.cholesky(gram + heavy + 1e-9 * np.trace(gram) * np.eye(len(gram)))
    found = nnls(factor.T, np.linalg.solve(factor, moments + heavy))[0]
    return found / found.sum()
