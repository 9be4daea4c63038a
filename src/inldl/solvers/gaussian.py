"""Normal errors: scales on which they are normal, their covariance, what is expected of others."""

import numpy as np
from scipy import linalg

from inldl import kernels
from inldl.solvers.winldl import Array

PAIRS = 20  # errors of two labels that are trusted as much as no errors at all
SMALLEST = 1e-4  # eigenvalue of a covariance, relative to the largest
NOISE = 1e-3  # of the mean variance: keeps the inverse of a covariance within bounds
TINY = float(np.finfo(float).tiny)
PATTERN_ENTRIES = 4_000_000  # of the matrices that are held at once
LEAST_DEGREE = 1e-9  # of which a logarithm is taken
BEYOND_LARGEST = 0.7  # how far logarithms may go beyond the largest that is known
FEWEST_ZEROS, MANY_ZEROS = 3, 0.02  # of a label, and their share of its observed degrees
SAME = 1.001  # ratio of degrees that are equal but for rounding
MOST_LOG_VARIANCE = 2.0  # of logarithms: more would say nothing but that a degree may be large


def fill_in_proportion(y: Array, predicted: Array) -> Array:
    """Return y with its holes filled in proportion to what is predicted, so that rows sum to 1.

    Holes of which nothing is predicted share what is left evenly.
    """
    holes = np.isnan(y)
    rest = np.maximum(1 - np.nansum(y, axis=1, keepdims=True), 0)
    found = np.where(holes, np.maximum(predicted, 0), 0)
    found[found.sum(axis=1) <= 0] = 1
    found *= holes
    return np.where(holes, rest * found / np.maximum(found.sum(axis=1, keepdims=True), TINY), y)


def error_covariance(errors: Array) -> Array:
    """Return the covariance of the errors of the labels, from errors of which some are NaN.

    Pairs of labels that are rarely seen together are drawn towards what errors would have that
    have nothing to do with each other but for their sum, which is 0.
    """
    found, trust = _products(errors)
    mixed = centred(trust * found + (1 - trust) * unrelated_errors(np.diag(found)))
    values, vectors = np.linalg.eigh((mixed + mixed.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def unrelated_errors(variance: Array) -> Array:
    """Return the covariance of errors that have nothing to do with each other but their sum, 0."""
    return np.diag(variance) - np.outer(variance, variance) / variance.sum()


def centred(covariance: Array) -> Array:
    """Return what is left of a covariance for errors that sum to 0."""
    covariance = covariance - covariance.mean(axis=0)
    return covariance - covariance.mean(axis=1, keepdims=True)


def pairwise_covariance(errors: Array) -> Array:
    """Return the same for errors whose sum is not known.

    Pairs that are rarely seen together are drawn towards no relation at all.
    """
    found, trust = _products(errors)
    mixed = trust * found + (1 - trust) * np.diag(np.diag(found))
    values, vectors = np.linalg.eigh(mixed)
    return (vectors * np.maximum(values, SMALLEST * values[-1])) @ vectors.T


def _products(errors: Array) -> tuple[Array, Array]:
    """Return the mean products of errors that are seen together, and how far to trust them."""
    seen = ~np.isnan(errors)
    known, count = np.where(seen, errors, 0), seen.T.astype(float) @ seen
    found = known.T @ known / np.maximum(count, 1)
    least = np.finfo(float).tiny ** 0.5
    np.fill_diagonal(found, np.maximum(np.diag(found), least))
    return found, count / (count + PAIRS)


def given_observed(y: Array, predicted: Array, covariance: Array) -> tuple[Array, Array]:
    """Return what is expected at the holes of y once the observed degrees of the row are known.

    With p predicted and S the covariance of its errors, at the holes h of a row,

        p_h + S_ho S_oo^-1 (y_o - p_o),    of variance    diag(S_hh - S_ho S_oo^-1 S_oh)

    where o are the observed labels: the mean and the variance of errors that are normal. A little
    noise is added to the diagonal of S_oo. With P = S^-1, noise included, the same is

        p_h - P_hh^-1 P_ho (y_o - p_o),    of variance    diag(P_hh^-1) - noise

    so that each row costs the cube of its holes or of its observed labels, whichever is less.
    Where y is observed, the two are `predicted` and 0.
    """
    C = y.shape[1]
    expected, variance = predicted.astype(np.float64), np.zeros(y.shape)
    noise = NOISE * np.trace(covariance) / C + TINY
    S = covariance / noise + np.eye(C)
    precision = np.linalg.inv(S)
    n_holes = np.isnan(y).sum(axis=1)
    for m in np.unique(n_holes[n_holes > 0]):
        size = max(1, PATTERN_ENTRIES // (C * min(m, C - m) + 1))
        having = np.flatnonzero(n_holes == m)
        for rows in np.split(having, range(size, len(having), size)):
            holes = np.isnan(y[rows])
            errors = np.where(holes, 0, y[rows] - expected[rows])
            if 3 * m <= 2 * C:  # as much work for both
                moves, left = _from_holes(holes, errors, precision)
            else:
                moves, left = _from_observed(holes, errors, S)
            expected[rows] += np.where(holes, moves, 0)
            variance[rows] = np.where(holes, noise * np.maximum(left, 1), 0)
    return expected, variance


def _from_observed(holes: Array, errors: Array, S: Array) -> tuple[Array, Array]:
    """Return S_ho S_oo^-1 e_o and diag(S_hh - S_ho S_oo^-1 S_oh) - 1 at the holes.

    All rows have the same number of holes; S is in units of the noise, which it includes.
    """
    seen, which = _distinct(~holes)
    root = _inverse_roots(S, seen)
    known = np.square(root @ S[seen]).sum(axis=1)
    weights, at = np.zeros(holes.shape), seen[which]
    np.put_along_axis(weights, at, _solved(root[which], np.take_along_axis(errors, at, 1)), 1)
    return weights @ S, (np.diag(S) - known - 1)[which]


def _from_holes(holes: Array, errors: Array, precision: Array) -> tuple[Array, Array]:
    """Return the same as -P_hh^-1 P_ho e_o and diag(P_hh^-1) - 1, where P is S^-1."""
    missing, which = _distinct(holes)
    root = _inverse_roots(precision, missing)
    (moves, left), at = np.zeros((2, *holes.shape)), missing[which]
    pulls = np.take_along_axis(errors @ precision, at, 1)
    np.put_along_axis(moves, at, -_solved(root[which], pulls), 1)
    np.put_along_axis(left, at, (np.square(root).sum(axis=1) - 1)[which], 1)
    return moves, left


def _distinct(chosen: Array) -> tuple[Array, Array]:
    """Return the columns chosen in rows that differ from each other, and which each row is.

    Equally many are chosen in each row.
    """
    _, first, which = np.unique(
        np.packbits(chosen, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return np.nonzero(chosen[first])[1].reshape(len(first), -1), which.ravel()


def _inverse_roots(A: Array, at: Array) -> Array:
    """Return R with R'R = A_ii^-1, one for each row i of `at`; A is positive definite."""
    roots = np.linalg.cholesky(A[at[:, :, None], at[:, None, :]])
    for root in roots if at.size else ():
        root[:] = linalg.lapack.dtrtri(root.T, lower=0, overwrite_c=1)[0].T
    return roots


def _solved(root: Array, right: Array) -> Array:
    """Return R'R b for each root R and each row b."""
    return np.einsum("nji,nj->ni", root, np.einsum("nij,nj->ni", root, right))


def projected(raw: Array) -> Array:
    """Return the rows of `raw` projected onto the simplex."""
    columns = np.array(raw.T, dtype=np.float64, order="C")
    kernels.project_columns(columns, np.ones(columns.shape[1]))
    return np.ascontiguousarray(columns.T)


class ShareScale:
    """Degrees as they are; their errors sum to 0 in each row."""

    of_sum_0 = True

    def __init__(self, y: Array) -> None:
        pass

    def of(self, degrees: Array) -> Array:
        """Return degrees on this scale."""
        return degrees

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return means and variances of degrees that are normal on this scale."""
        return mean, variance

    def back(self, values: Array) -> Array:
        """Return the degrees of values on this scale."""
        return self.moments(values, np.zeros_like(values))[0]


class RootScale(ShareScale):
    """Square roots, whose errors are of about one size for small and large degrees."""

    of_sum_0 = False

    def of(self, degrees: Array) -> Array:
        """Return the roots."""
        return np.sqrt(np.maximum(degrees, 0))

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return m^2 + v and 4 m^2 v + 2 v^2, the moments of the square of a normal number."""
        mean = np.maximum(mean, 0)
        return mean**2 + variance, 4 * mean**2 * variance + 2 * variance**2


class LogScale(ShareScale):
    """Logarithms, in which ratios of degrees are differences.

    Zeros stand for half of the smallest degree of the label that is not 0.
    """

    of_sum_0 = False

    def __init__(self, y: Array) -> None:
        positive = np.where(y > 0, y, np.nan)
        least = np.fmin.reduce(positive, axis=0, initial=np.nan) / 2
        self.least = np.where(np.isnan(least), LEAST_DEGREE, np.maximum(least, LEAST_DEGREE))
        most = np.fmax.reduce(positive, axis=0, initial=np.nan)
        self.most = np.log(np.where(np.isnan(most), 1, most)) + BEYOND_LARGEST

    def of(self, degrees: Array) -> Array:
        """Return the logarithms."""
        return np.log(np.maximum(degrees, self.least))

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return e = exp(m + v / 2) and e^2 (exp(v) - 1), the moments of a log-normal number."""
        variance = np.minimum(variance, MOST_LOG_VARIANCE)
        expected = np.exp(np.minimum(mean, self.most) + variance / 2)
        return expected, expected**2 * np.expm1(variance)


class DrawScale(ShareScale):
    """The scale that errors are drawn on: logarithms, or roots of labels with many zeros.

    Where a label has no zeros, its smallest degree counts as one if it is there many times. A root
    below that of the smallest is the smallest, so that zeros are drawn only where there are some.
    """

    of_sum_0 = False

    def __init__(self, y: Array) -> None:
        self._logs, n_seen = LogScale(y), (~np.isnan(y)).sum(axis=0)
        smallest = np.fmin.reduce(y, axis=0, initial=1)
        n_zeros = (y <= SAME * smallest).sum(axis=0)
        self._roots = (n_zeros >= FEWEST_ZEROS) & (n_zeros > MANY_ZEROS * n_seen)
        self._least = np.sqrt(np.maximum(smallest, 0))

    def of(self, degrees: Array) -> Array:
        """Return degrees on this scale."""
        return np.where(self._roots, np.sqrt(np.maximum(degrees, 0)), self._logs.of(degrees))

    def back(self, values: Array) -> Array:
        """Return the degrees of values on this scale."""
        roots = np.maximum(values, self._least)
        return np.where(self._roots, roots**2, self._logs.back(values))

    def slopes(self, degrees: Array) -> Array:
        """Return how much values change with degrees."""
        degrees = np.maximum(degrees, self._logs.least)
        return np.where(self._roots, 0.5 / np.sqrt(degrees), 1 / degrees)
