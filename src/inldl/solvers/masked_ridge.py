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

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg, sparse

from inldl.rows.density import mean_degrees
from inldl.rows.partial import PartialRows
from inldl.solvers.softmax import Array

LEAST_LEFT = 1e-12
SINGLE = 1e-6  # of the rows: smaller penalties drown in the rounding of single precision
CHUNK = 2048  # rows at a time: they stay in a cache, and copies of them cost nothing


class LabelSpectrum(NamedTuple):
    """The regression of one label for every penalty, in the eigenbasis of its features.

    `center` are the mean features, `basis` the eigenvectors as columns, `squares` the eigenvalues,
    `moments` are X'y in that basis. `numbers` are the mean degree, the part of h that a bias has
    (0 without one), and how many rows have the label.
    """

    center: Array
    basis: Array
    squares: Array
    moments: Array
    numbers: Array

    @classmethod
    def of_rows(cls, features: Array, column: Array, weights: Array | None = None) -> Self:
        """Decompose the features of the rows in which `column` is observed."""
        rows, k = np.flatnonzero(~np.isnan(column)), features.shape[1]
        w = np.ones(len(column)) if weights is None else weights
        share = 1 / w[rows].sum() if rows.size else 0.0
        mean = float(w[rows] @ column[rows] * share)
        numbers = np.array([mean, share, len(rows)])
        if len(rows) < 2:
            return cls(np.zeros(k), np.zeros((k, 0)), np.zeros(0), np.zeros(0), numbers)
        center = _center(features, rows, weights)
        squares, basis = _eigenbasis(features, rows, center, weights)
        moments = np.zeros(k)
        for part in _chunks(rows):
            moments += features[part].T @ (w[part] * (column[part] - mean)).astype(features.dtype)
        return cls(center, basis, squares, basis.T @ moments, numbers)

    @classmethod
    def of_sums(cls, bias: bool, G: Array, total: Array, moments: Array, numbers: Array) -> Self:
        """Decompose X'X, X'1, X'y, and the number, sum and count of degrees.

        With weights of the rows all but the count are weighted. Without a bias nothing is centred.
        """
        n, degrees, count = numbers
        share = 1 / n if bias and n > 0 else 0.0
        center, mean = total * share, degrees * share
        squares, basis = linalg.eigh(G - n * np.outer(center, center))
        moments = basis.T @ (moments - total * mean)
        return cls(center, basis, np.maximum(squares, 0), moments, np.array([mean, share, count]))

    def linear(self, alphas: Array) -> tuple[Array, Array]:
        """Return the coefficients of the features and the bias, a column for each alpha."""
        coef = self.basis @ (self.moments[:, None] / (self.squares[:, None] + alphas))
        return coef, self.numbers[0] - self.center @ coef

    def predict(self, X: Any, rows: Array, alphas: Array) -> Array:
        """Return what all rows predict for some, rows x alphas."""
        coef, bias = self.linear(alphas)
        coef = coef.astype(X.dtype)
        parts = [X[part] @ coef for part in _chunks(rows)]
        return np.concatenate([np.zeros((0, len(alphas))), *parts]) + bias

    def squared_errors(
        self, X: Any, alphas: Array, rows: Array, degrees: Array, weights: Array | None
    ) -> Array:
        """Return the sum of squared errors at degrees that are left out, for each alpha."""
        mean, share, count = self.numbers
        total, inverse = np.zeros(len(alphas)), 1 / (self.squares[:, None] + alphas)
        coef, inverse = ((a * inverse).astype(X.dtype) for a in (self.moments[:, None], 1.0))
        for part in _chunks(np.arange(len(rows) if count > 1 else 0)):
            rotated = self._rotated(X[rows[part]])
            errors = degrees[part, None] - mean - rotated @ coef
            np.square(rotated, out=rotated)
            leverage = share + rotated @ inverse
            if weights is None:
                total += np.square(errors / (1 - leverage)).sum(axis=0)
            else:  # a row may outweigh all others
                own = weights[part]
                left = np.maximum(1 - own[:, None] * leverage, LEAST_LEFT)
                total += own @ np.square(errors / left)
        return total

    def _rotated(self, X: Any) -> Array:
        """Return centred features in the basis; sparse ones are centred there."""
        if sparse.issparse(X):
            return X @ self.basis - self.center @ self.basis
        return (X - self.center) @ self.basis


def leave_one_out_errors(
    features: Array,
    y: Array,
    alphas: Array,
    n_jobs: int | None = None,
    weights: Array | None = None,
    fold: Array | None = None,
) -> Array:
    """Return the summed squared leave-one-out residuals, one number per alpha.

    They are those of all observed degrees, and those of the sums of the holes of a row. The
    latter are divided by the number of holes, since the errors of as many regressions add up in
    them. A label with fewer than two observed degrees says nothing. Threads run over the labels.
    Rows count as much as their weights say. Where rows have the number of a `fold`, all rows of
    one are left out together.
    """
    C = y.shape[1]
    if fold is not None:
        parts = leave_out_folds(features, y, alphas, fold, weights, n_jobs)
        cells, own = map(PartialRows(y).cells, parts), 1.0 if weights is None else weights
        return np.array([np.sum(own * np.nansum((a - b) ** 2, axis=1)) for a, b in cells])

    def regression(j: int) -> LabelSpectrum:
        label = LabelSpectrum.of_rows(features, y[:, j], weights)
        if not label.numbers[2]:
            label.numbers[0] = 1 / C
        return label

    return errors_of_labels(features, y, np.arange(C), regression, alphas, weights, n_jobs)


def errors_of_labels(
    X: Any,
    y: Array,
    labels: Array,
    regression: Callable[[int], LabelSpectrum],
    alphas: Array,
    weights: Array | None,
    n_jobs: int | None = 1,
) -> Array:
    """Return the same for some rows of those that the regressions were learned from.

    Without all labels, nothing is said about the holes of a row.
    """
    partial = np.flatnonzero(PartialRows(y).partial & (len(labels) == y.shape[1]))

    def errors(number: int, j: int) -> tuple[Array, Array, Array]:
        label, rows = regression(number), np.flatnonzero(~np.isnan(y[:, j]))
        own, holes = None if weights is None else weights[rows], np.isnan(y[partial, j])
        squares = label.squared_errors(X, alphas, rows, y[rows, j], own)
        return squares, holes, label.predict(X, partial[holes], alphas)

    found = Parallel(n_jobs, prefer="threads")(
        delayed(errors)(*each) for each in enumerate(labels)
    )
    gaps = np.tile(np.maximum(1 - np.nansum(y[partial], axis=1), 0)[:, None], len(alphas))
    for _, holes, predicted in found:
        gaps[holes] -= predicted
    gaps /= np.sqrt(np.isnan(y[partial]).sum(axis=1))[:, None]
    of_sums = (gaps**2).sum(axis=0) if weights is None else weights[partial] @ gaps**2
    return np.sum([squares for squares, *_ in found], axis=0) + of_sums


def leave_one_out(
    features: Array,
    y: Array,
    alpha: float,
    n_jobs: int | None = None,
    weights: Array | None = None,
    fold: Array | None = None,
) -> Array:
    """Return a prediction for each row and label, made without that row's degrees.

    Where no degree of the label is left to learn from it is 1/C. The predictions are not
    projected. They are made without all rows of a `fold`, if rows have the number of one.
    """
    if fold is not None:
        return leave_out_folds(features, y, np.array([alpha]), fold, weights, n_jobs)[0]

    def predict(column: Array) -> Array:
        count = np.count_nonzero(~np.isnan(column))
        if count > 1:
            return _leave_out_each(features, column, alpha, weights)
        out = np.full(len(column), np.nanmean(column) if count else 1 / y.shape[1])
        out[~np.isnan(column)] = 1 / y.shape[1]
        return out

    return np.column_stack(Parallel(n_jobs, prefer="threads")(delayed(predict)(c) for c in y.T))


def leave_out_folds(
    features: Array,
    y: Array,
    alphas: Array,
    fold: Array,
    weights: Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Return predictions, alphas x rows x labels, made without the rows of the same fold.

    Products of features are added up in each fold once; those of the others are their sums.
    """
    tests = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    center = _center(features, np.arange(len(y)), weights)

    def predict(column: Array) -> Array:
        out, seen = np.full((len(alphas), len(column)), 1 / y.shape[1]), ~np.isnan(column)
        kind = _precision(features, np.count_nonzero(seen), float(alphas.min()))
        parts = [_products(features, column, t[seen[t]], center, weights, kind) for t in tests]
        for i, test in enumerate(tests):
            others: Any = sum(parts[:i] + parts[i + 1 :])
            if not np.any(others):  # no degree is left to learn from
                continue
            mean = others[-2] / others[-2, -2]
            gram = others[:-2] - np.outer(others[:-2, -2], mean)
            for alpha, predicted in zip(alphas, out, strict=True):
                own = gram[:, :-2].copy()
                own[np.diag_indices_from(own)] += alpha
                factor = linalg.cho_factor(own.T, overwrite_a=True, check_finite=False)
                coef = linalg.cho_solve(factor, gram[:, -1], check_finite=False)
                bias = mean[-1] - (center + mean[:-2]) @ coef
                predicted[test] = features[test] @ coef.astype(features.dtype) + bias
        return out

    return np.stack(Parallel(n_jobs, prefer="threads")(delayed(predict)(c) for c in y.T), axis=-1)


def _products(
    features: Array, degrees: Array, rows: Array, center: Array, weights: Array | None, kind: Any
) -> Array:
    """Return the products of centred features, ones and degrees with each other, over rows."""
    total = np.zeros((features.shape[1] + 2,) * 2)
    for part in _chunks(rows):
        columns = features[part] - center, np.ones((len(part), 1)), degrees[part, None]
        both = np.hstack(columns, dtype=kind, casting="same_kind")
        if weights is not None:
            both *= np.sqrt(weights[part, None]).astype(kind)
        total += both.T @ both
    return total


def _precision(features: Array, n_rows: Any, alpha: float) -> Any:
    """Return the precision that products of features need: few rows are fitted closely."""
    exact = n_rows <= features.shape[1] or alpha < SINGLE * n_rows
    return float if exact else features.dtype


def _leave_out_each(features: Array, column: Array, alpha: float, weights: Array | None) -> Array:
    """Return a prediction of one label for every row, made without that row's own degree."""
    rows = np.flatnonzero(~np.isnan(column))
    own, degrees = None if weights is None else weights[rows], column[rows]
    center, mean = _center(features, rows, weights), np.average(degrees, weights=own)
    kind = _precision(features, len(rows), alpha)
    products = _products(features, column - mean, rows, center, weights, kind)
    gram, moments = products[:-2, :-2], products[:-2, -1]
    gram[np.diag_indices_from(gram)] += alpha
    factor = linalg.cholesky(gram, lower=True, check_finite=False)
    coef = linalg.cho_solve((factor, True), moments, check_finite=False)
    kind = float if len(rows) <= len(gram) else features.dtype
    factor, out, parts = factor.astype(kind), features @ coef.astype(features.dtype), []
    out = out + (mean - center @ coef)
    options = {"lower": True, "overwrite_b": True, "check_finite": False}
    for part in _chunks(rows):
        phi = (features[part] - center).astype(kind, copy=False)
        fitted = phi @ coef.astype(kind) + mean
        half = linalg.solve_triangular(factor, phi.T, **options)  # which overwrites phi
        parts.append((fitted, np.einsum("ij,ij->j", half, half)))
    fitted, leverage = (np.concatenate(each) for each in zip(*parts, strict=True))
    if own is None:
        left = 1 - 1 / len(rows) - leverage
    else:  # a row may outweigh all others
        left = np.maximum(1 - own / own.sum() - own * leverage, LEAST_LEFT)
    out[rows] = degrees - (degrees - fitted) / left
    return out


def spread_of(y: Array, held_out: Array, weights: Array | None = None) -> Array:
    """Return the mean squared residual of each label, never 0."""
    return np.maximum(mean_degrees((y - held_out) ** 2, weights), np.finfo(float).tiny ** 0.5)


def fit_completed(
    features: Array,
    y: Array,
    held_out: Array,
    alpha: float,
    *,
    max_iter: int,
    tol: float = 1e-6,
    weights: Array | None = None,
) -> tuple[Array, Array, int]:
    """Fill the holes of y near the predictions, refit on all rows, and repeat.

    Return coefficients, intercept and the number of refits.

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
    factor = linalg.cho_factor(gram, overwrite_a=True)
    completed = PartialRows(y).project(held_out, spread)
    parts = [PartialRows(y[chunk]) for chunk in chunks]
    moments = sum(
        features[part].T @ (w[part, None] * completed[part]).astype(kind) for part in chunks
    )
    n_iter, change = 0, np.inf
    while n_iter < max_iter and change >= tol:
        mean = np.average(completed, 0, weights)
        coef = linalg.cho_solve(factor, moments - w.sum() * np.outer(center, mean))
        intercept = mean - center @ coef
        moments, change, n_iter = np.zeros_like(coef), 0.0, n_iter + 1
        for part, rows in zip(chunks, parts, strict=True):  # what is predicted stays in a cache
            filled = rows.project(features[part] @ coef.astype(kind) + intercept, spread)
            change = max(change, float(np.abs(filled - completed[part]).max()))
            completed[part] = filled
            moments += features[part].T @ (w[part, None] * filled).astype(kind)
    return coef, intercept, n_iter


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
