r"""Ridge regression of each label on the rows where it is observed, left out one by one.

For label j with the observed rows :math:`O_j`, features :math:`\varphi` centred on those rows and
an intercept that is not penalised,

.. math:: \min_{w, b} \sum_{i \in O_j} (y_{ij} - b - \varphi_i' w)^2 + \alpha \|w\|^2

has the leave-one-out residual :math:`(y_{ij} - f_{ij}) / (1 - h_i)`, where
:math:`h_i = 1/n_j + \varphi_i' (\Phi'\Phi + \alpha I)^{-1} \varphi_i`. One eigendecomposition per
label gives it for every alpha, and one Cholesky factor for a single alpha. Rows are walked in
chunks, so that the features are never copied.

With weights :math:`w_i` of the rows, squares and means are weighted, and
:math:`h_i = w_i (1/\sum w + \varphi_i' (\Phi' W \Phi + \alpha I)^{-1} \varphi_i)`: the row is left
out with all of its weight.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg

from inldl.rows.cells import mean_degrees
from inldl.rows.missingness import partial_rows
from inldl.solvers.gaussian import fill_near
from inldl.solvers.softmax import Array

SMALLEST = 1e-12
SINGLE = 1e-6  # of the rows: smaller penalties drown in the rounding of single precision
CHUNK = 2048  # rows at a time: they stay in a cache, and copies of them cost nothing


@dataclass(frozen=True)
class Spectrum:
    """The regression problem of one label, in the eigenbasis of its features."""

    rows: Array
    degrees: Array
    center: Array
    basis: Array
    squares: Array
    moments: Array
    mean: float
    weights: Array | None

    @classmethod
    def of(cls, features: Array, column: Array, weights: Array | None = None) -> "Spectrum":
        """Decompose the features of the rows in which `column` is observed."""
        rows = np.flatnonzero(~np.isnan(column))
        own = None if weights is None else weights[rows]
        center, mean = (
            _center(features, rows, weights),
            float(np.average(column[rows], weights=own)),
        )
        squares, basis = _eigenbasis(features, rows, center, weights)
        moments = np.zeros(features.shape[1])
        for part in _chunks(rows):
            rest = column[part] - mean
            rest = rest if weights is None else weights[part] * rest
            moments += features[part].T @ rest.astype(features.dtype)
        return cls(rows, column[rows], center, basis, squares, basis.T @ moments, mean, own)

    def coef(self, alphas: Array) -> Array:
        """Return the coefficients in the eigenbasis, one column per alpha."""
        return self.moments[:, None] / (self.squares[:, None] + alphas)

    def residuals(self, features: Array, alphas: Array) -> Array:
        """Return the leave-one-out residuals, observed rows x alphas."""
        both = self.coef(alphas), 1 / (self.squares[:, None] + alphas)
        coef, inverse = (each.astype(features.dtype) for each in both)
        parts = []
        for part in _chunks(self.rows):
            rotated = (features[part] - self.center) @ self.basis
            fitted = rotated @ coef
            np.square(rotated, out=rotated)
            parts.append((fitted, rotated @ inverse))
        fitted, leverage = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        deviation = (self.degrees - self.mean)[:, None]
        return (deviation - fitted) / _left(leverage, self.weights, len(self.rows))

    def predict(self, features: Array, rows: Array, alphas: Array) -> Array:
        """Return predictions of rows in which the label is not observed, rows x alphas."""
        coef = (self.basis @ self.coef(alphas)).astype(features.dtype)
        parts = [features[part] @ coef for part in _chunks(rows)]
        fitted = np.concatenate(parts) if parts else np.zeros((0, len(alphas)))
        return fitted + (self.mean - self.center @ coef)


@dataclass(frozen=True)
class LabelRidge:
    """The regression of one label at one penalty."""

    rows: Array
    degrees: Array
    center: Array
    mean: float
    factor: Array
    coef: Array
    weights: Array | None

    @classmethod
    def of(
        cls, features: Array, column: Array, alpha: float, weights: Array | None = None
    ) -> "LabelRidge":
        """Solve it for the rows in which `column` is observed."""
        rows = np.flatnonzero(~np.isnan(column))
        own = None if weights is None else weights[rows]
        center, mean = _center(features, rows, weights), np.average(column[rows], weights=own)
        gram, moments = np.zeros((features.shape[1],) * 2), np.zeros(features.shape[1])
        few, small = len(rows) <= features.shape[1], alpha < SINGLE * len(rows)
        exact = float if few or small else features.dtype
        for part in _chunks(rows):
            phi, rest = (features[part] - center).astype(exact, copy=False), column[part] - mean
            if weights is not None:
                root = np.sqrt(weights[part])
                phi, rest = phi * root[:, None].astype(exact), rest * root
            gram += phi.T @ phi
            moments += phi.T @ rest.astype(exact)
        gram[np.diag_indices_from(gram)] += alpha
        factor = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        coef = linalg.cho_solve((factor, True), moments, check_finite=False)
        factor = factor if few else factor.astype(features.dtype)
        return cls(rows, column[rows], center, float(mean), factor, coef, own)

    def predict(self, features: Array) -> Array:
        """Return what it predicts for any rows."""
        return features @ self.coef.astype(features.dtype) + (self.mean - self.center @ self.coef)

    def leave_one_out(self, features: Array) -> Array:
        """Return a prediction for every row, made without that row's own degree."""
        out, parts, kind = self.predict(features), [], self.factor.dtype
        options = {"lower": True, "overwrite_b": True, "check_finite": False}
        for part in _chunks(self.rows):
            phi = (features[part] - self.center).astype(kind, copy=False)
            fitted = phi @ self.coef.astype(kind) + self.mean
            half = linalg.solve_triangular(self.factor, phi.T, **options)
            parts.append((fitted, np.einsum("ij,ij->j", half, half)))
        fitted, leverage = (np.concatenate(each) for each in zip(*parts, strict=True))
        left = _left(leverage[:, None], self.weights, len(self.rows))[:, 0]
        out[self.rows] = self.degrees - (self.degrees - fitted) / left
        return out


def _left(leverage: Array, weights: Array | None, n: int) -> Array:
    """Return 1 - h of observed rows, given the part of h that is the features'."""
    if weights is None:
        return 1 - 1 / n - leverage
    own = weights[:, None]
    return np.maximum(1 - own / own.sum() - own * leverage, SMALLEST)  # a row may outweigh all


def leave_one_out_errors(
    features: Array,
    y: Array,
    alphas: Array,
    n_jobs: int | None = None,
    weights: Array | None = None,
) -> Array:
    """Return the summed squared leave-one-out residuals, one number per alpha.

    They are those of all observed degrees, and those of the sums of the holes of a row. The
    latter are divided by the number of holes, since the errors of as many regressions add up in
    them. A label with fewer than two observed degrees says nothing. Threads run over the labels.
    Rows count as much as their weights say.
    """
    partial = np.flatnonzero(partial_rows(y))

    def error(column: Array) -> tuple[Array, Array]:
        """Return the squared residuals of a label, and what is predicted for its holes."""
        seen, predicted = ~np.isnan(column), np.zeros((len(partial), len(alphas)))
        if np.count_nonzero(seen) < 2:
            predicted[~seen[partial]] = column[seen].sum() if seen.any() else 1 / y.shape[1]
            return np.zeros(len(alphas)), predicted
        label, holes = Spectrum.of(features, column, weights), ~seen[partial]
        predicted[holes] = label.predict(features, partial[holes], alphas)
        return _total(label.residuals(features, alphas) ** 2, weights, label.rows), predicted

    found = Parallel(n_jobs, prefer="threads")(delayed(error)(c) for c in y.T)
    rest = np.maximum(1 - np.nansum(y[partial], axis=1), 0)[:, None]
    gaps = rest - sum(predicted for _, predicted in found)
    gaps /= np.sqrt(np.isnan(y[partial]).sum(axis=1))[:, None]
    return np.sum([squares for squares, _ in found], axis=0) + _total(gaps**2, weights, partial)


def _total(values: Array, weights: Array | None, rows: Array) -> Array:
    """Return the sum over rows, each counting as much as its weight."""
    return values.sum(axis=0) if weights is None else weights[rows] @ values


def leave_one_out(
    features: Array,
    y: Array,
    alpha: float,
    n_jobs: int | None = None,
    weights: Array | None = None,
) -> Array:
    """Return a prediction for each row and label, made without that row's degrees.

    Where no degree of the label is left to learn from it is 1/C. The predictions are not
    projected.
    """

    def predict(column: Array) -> Array:
        count = np.count_nonzero(~np.isnan(column))
        if count > 1:
            return LabelRidge.of(features, column, alpha, weights).leave_one_out(features)
        out = np.full(len(column), np.nanmean(column) if count else 1 / y.shape[1])
        out[~np.isnan(column)] = 1 / y.shape[1]
        return out

    return np.column_stack(Parallel(n_jobs, prefer="threads")(delayed(predict)(c) for c in y.T))


def spread_of(y: Array, held_out: Array, weights: Array | None = None) -> Array:
    """Return the mean squared residual of each label, never 0."""
    return np.maximum(mean_degrees((y - held_out) ** 2, weights), np.finfo(float).tiny ** 0.5)


@dataclass(frozen=True)
class CompletedRidge:
    """A ridge regression onto completed degrees."""

    coef: Array
    intercept: Array
    n_iter: int
    completed: Array


def fit_completed(
    features: Array,
    y: Array,
    held_out: Array,
    alpha: float,
    *,
    max_iter: int,
    tol: float = 1e-6,
    weights: Array | None = None,
) -> CompletedRidge:
    """Fill the holes of y near the predictions, refit on all rows, and repeat.

    The first predictions, `held_out`, are those of `leave_one_out` with the same `alpha`. It ends
    after `max_iter` refits, or when no filled degree changes by as much as `tol`.
    """
    spread = spread_of(y, held_out, weights)
    center = _center(features, np.arange(len(y)), weights).astype(float)
    chunks = [slice(start, start + CHUNK) for start in range(0, len(y), CHUNK)]
    kind, exact = features.dtype, float if alpha < SINGLE * len(y) else features.dtype
    w = np.ones(len(y)) if weights is None else weights
    gram = -w.sum() * np.outer(center, center)
    for part in chunks:
        phi = features[part].astype(exact, copy=False)
        phi = phi if weights is None else phi * np.sqrt(w[part, None]).astype(exact)
        gram += phi.T @ phi
    gram[np.diag_indices_from(gram)] += alpha
    factor, completed = linalg.cho_factor(gram, overwrite_a=True), fill_near(y, held_out, spread)
    moments = sum(
        features[part].T @ (w[part, None] * completed[part]).astype(kind) for part in chunks
    )
    n_iter, change = 0, np.inf
    while n_iter < max_iter and change >= tol:
        mean = np.average(completed, 0, weights)
        coef = linalg.cho_solve(factor, moments - w.sum() * np.outer(center, mean))
        intercept = mean - center @ coef
        moments, change, n_iter = np.zeros_like(coef), 0.0, n_iter + 1
        for part in chunks:  # predict rows, and use them, while they are in a cache
            filled = fill_near(y[part], features[part] @ coef.astype(kind) + intercept, spread)
            change = max(change, float(np.abs(filled - completed[part]).max()))
            completed[part] = filled
            moments += features[part].T @ (w[part, None] * filled).astype(kind)
    return CompletedRidge(coef, intercept, n_iter, completed)


def _center(features: Array, rows: Array, weights: Array | None) -> Array:
    """Return the mean of the features of some rows."""
    own = np.ones(len(features)) if weights is None else weights
    total = sum(own[part].astype(features.dtype) @ features[part] for part in _chunks(rows))
    return (total / own[rows].sum()).astype(features.dtype)


def _chunks(rows: Array) -> Iterator[Array]:
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))


def _eigenbasis(
    features: Array, rows: Array, center: Array, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the nonzero eigenvalues of the centred Gram matrix, and their vectors as columns.

    Fewer rows than features are decomposed as rows x rows.
    """

    def centred(rows: Array) -> Array:
        part = features[rows] - center
        return part if weights is None else part * np.sqrt(weights[rows, None]).astype(part.dtype)

    if len(rows) < features.shape[1]:
        part = centred(rows)
        squares, left = linalg.eigh(part @ part.T)
        kept = squares > squares[-1:] * 1e-14
        return squares[kept], part.T @ (left[:, kept] / np.sqrt(squares[kept]))
    gram = np.zeros((features.shape[1],) * 2, features.dtype)
    for chunk in _chunks(rows):
        part = centred(chunk)
        gram += part.T @ part
    squares, basis = linalg.eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(squares, 0), basis
