r"""Ridge regression of each label on the rows where it is observed, left out one by one.

For label j with the observed rows :math:`O_j`, features :math:`\varphi` centred on those rows and
an intercept that is not penalised,

.. math:: \min_{w, b} \sum_{i \in O_j} (y_{ij} - b - \varphi_i' w)^2 + \alpha \|w\|^2

has the leave-one-out residual :math:`(y_{ij} - f_{ij}) / (1 - h_i)`, where
:math:`h_i = 1/n_j + \varphi_i' (\Phi'\Phi + \alpha I)^{-1} \varphi_i`. One eigendecomposition per
label gives it for every alpha. Rows are walked in chunks, so that the features are never copied.

With weights :math:`w_i` of the rows, squares and means are weighted, and
:math:`h_i = w_i (1/\sum w + \varphi_i' (\Phi' W \Phi + \alpha I)^{-1} \varphi_i)`: the row is left
out with all of its weight.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg

from inldl.solvers.completion import fill_near
from inldl.solvers.hidden_mass import partial_rows
from inldl.solvers.softmax import Array

SMALLEST = 1e-12
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
        degrees = column[rows]
        if weights is not None:
            return cls._weighted(features, column, rows, weights)
        center = sum(features[part].sum(axis=0) for part in _chunks(rows)) / len(rows)
        squares, basis = _eigenbasis(features, rows, center)
        moments, mean = np.zeros(features.shape[1]), degrees.mean()
        for part in _chunks(rows):
            moments += features[part].T @ (column[part] - mean)
        return cls(rows, degrees, center, basis, squares, basis.T @ moments, mean, None)

    @classmethod
    def _weighted(cls, features: Array, column: Array, rows: Array, weights: Array) -> "Spectrum":
        w = weights[rows]
        mean = float(np.average(column[rows], weights=w))
        center = sum(weights[part] @ features[part] for part in _chunks(rows)) / w.sum()
        squares, basis = _eigenbasis(features, rows, center, weights)
        moments = np.zeros(features.shape[1])
        for part in _chunks(rows):
            moments += features[part].T @ (weights[part] * (column[part] - mean))
        return cls(rows, column[rows], center, basis, squares, basis.T @ moments, mean, w)

    def coef(self, alphas: Array) -> Array:
        """Return the coefficients in the eigenbasis, one column per alpha."""
        return self.moments[:, None] / (self.squares[:, None] + alphas)

    def residuals(self, features: Array, alphas: Array) -> Array:
        """Return the leave-one-out residuals, observed rows x alphas."""
        coef, inverse = self.coef(alphas), 1 / (self.squares[:, None] + alphas)
        parts = []
        for part in _chunks(self.rows):
            rotated = (features[part] - self.center) @ self.basis
            parts.append((rotated @ coef, (rotated**2) @ inverse))
        fitted, leverage = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        deviation = (self.degrees - self.mean)[:, None]
        if self.weights is None:
            return (deviation - fitted) / (1 - 1 / len(self.rows) - leverage)
        own = self.weights[:, None]
        left = 1 - own / own.sum() - own * leverage  # about 0 if a row outweighs all others
        return (deviation - fitted) / np.maximum(left, SMALLEST)

    def predict(self, features: Array, rows: Array, alphas: Array) -> Array:
        """Return predictions of rows in which the label is not observed, rows x alphas."""
        coef = self.basis @ self.coef(alphas)
        parts = [features[part] @ coef for part in _chunks(rows)]
        fitted = np.concatenate(parts) if parts else np.zeros((0, len(alphas)))
        return fitted + (self.mean - self.center @ coef)

    def leave_one_out(self, features: Array, alpha: float) -> Array:
        """Return a prediction for every row, made without that row's own degree."""
        alphas = np.array([alpha])
        coef = self.basis @ self.coef(alphas)[:, 0]
        out = features @ coef + (self.mean - self.center @ coef)
        out[self.rows] = self.degrees - self.residuals(features, alphas)[:, 0]
        return out


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
            return Spectrum.of(features, column, weights).leave_one_out(features, alpha)
        out = np.full(len(column), np.nanmean(column) if count else 1 / y.shape[1])
        out[~np.isnan(column)] = 1 / y.shape[1]
        return out

    return np.column_stack(Parallel(n_jobs, prefer="threads")(delayed(predict)(c) for c in y.T))


def spread_of(y: Array, held_out: Array, weights: Array | None = None) -> Array:
    """Return the mean squared residual of each label, never 0."""
    squares = (y - held_out) ** 2
    seen = ~np.isnan(squares)
    if weights is not None:
        count = weights @ seen
        mean = weights @ np.where(seen, squares, 0) / np.where(count > 0, count, 1)
    else:
        mean = np.where(seen, squares, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.maximum(mean, np.finfo(float).tiny ** 0.5)


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
    spread, center = spread_of(y, held_out, weights), np.average(features, 0, weights)
    weighted, n = features, float(len(features))
    if weights is not None:
        weighted, n = features * weights[:, None], float(weights.sum())
    gram = features.T @ weighted - n * np.outer(center, center)
    gram[np.diag_indices_from(gram)] += alpha
    factor = linalg.cho_factor(gram, overwrite_a=True)
    completed, change, n_iter = fill_near(y, held_out, spread), np.inf, 0
    while n_iter < max_iter and change >= tol:
        mean = np.average(completed, 0, weights)
        coef = linalg.cho_solve(factor, weighted.T @ (completed - mean))
        intercept = mean - center @ coef
        before, completed = completed, fill_near(y, features @ coef + intercept, spread)
        change, n_iter = np.abs(completed - before).max(), n_iter + 1
    return CompletedRidge(coef, intercept, n_iter, completed)


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
        return part if weights is None else part * np.sqrt(weights[rows])[:, None]

    if len(rows) < features.shape[1]:
        part = centred(rows)
        squares, left = linalg.eigh(part @ part.T)
        kept = squares > squares[-1:] * 1e-14
        return squares[kept], part.T @ (left[:, kept] / np.sqrt(squares[kept]))
    gram = np.zeros((features.shape[1],) * 2)
    for chunk in _chunks(rows):
        part = centred(chunk)
        gram += part.T @ part
    squares, basis = linalg.eigh(gram)
    return np.maximum(squares, 0), basis
