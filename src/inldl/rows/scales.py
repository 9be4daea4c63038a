"""Scales on which degrees are compared: shares, their roots, and logarithms."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
LEAST_DEGREE = 1e-9  # of which a logarithm is taken
BEYOND_LARGEST = 0.7  # how far logarithms may go beyond the largest that is known
FEWEST_ZEROS, MANY_ZEROS = 3, 0.02  # of a label, and their share of its observed degrees
SAME = 1.001  # ratio of degrees that are equal but for rounding
MOST_LOG_VARIANCE = 2.0  # of logarithms: more would say nothing but that a degree may be large


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
