r"""What rows hide, and what they would hide if holes had nothing to do with the degrees.

The hidden degrees of a row have a mass that is known: 1 minus the observed ones.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from inldl.rows.checks import sum_tolerance
from inldl.rows.partial import PartialRows

Array = np.ndarray


class Mass(NamedTuple):
    """The mass that rows with holes hide on average, and a test of what is expected."""

    hidden: float  # the mean over rows with holes and observed degrees
    difference: float  # how much more that is than if holes were random
    error: float  # the standard error of the difference
    freedom: float  # its degrees of freedom
    p_value: float  # how probable so large a difference is if holes are random

    @property
    def expected(self) -> float:
        """What rows would hide on average if holes were random."""
        return self.hidden - self.difference


def hidden_mass(y: Array) -> Mass | None:
    r"""Compare what rows hide with the means of the observed degrees.

    Over all rows the two differ by exactly :math:`n (1 - \sum_j m_j)`: the question is whether
    the means of the labels sum to 1. Returns None if no row has both holes and degrees, or a
    label is nowhere observed.
    """
    observed, partial = ~np.isnan(y), PartialRows(y).partial
    counts = observed.sum(axis=0)
    if not partial.any() or (counts == 0).any():
        return None
    means = np.nansum(y, axis=0) / counts
    scale = observed.any(axis=1).sum() / partial.sum()  # a mean over the rows with holes only
    error, freedom = error_of_sum(scale * deviations(y, means, counts).sum(axis=1))
    hidden = float((1 - np.nansum(y[partial], axis=1)).mean())
    difference = float(scale * (1 - means.sum()))
    p_value = float(t_test(difference, error, freedom))
    return Mass(hidden, difference, float(error), float(freedom), p_value)


def deviations(y: Array, means: Array, counts: Array) -> Array:
    """Return what each observed degree adds to the error of its mean, and 0 at holes.

    Deviations are enlarged a little, since the mean has adapted to them.
    """
    return np.nan_to_num((y - means) / np.sqrt(counts * np.maximum(counts - 1.0, 1)))


def error_of_sum(parts: Array) -> tuple[Array, Array]:
    """Return the standard error of sums over rows, and its degrees of freedom."""
    squares = np.square(parts)
    variance, fourth = squares.sum(axis=0), np.square(squares).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.sqrt(variance), np.where(fourth > 0, variance**2 / fourth, 1.0)


def t_test(difference: Array | float, error: Array, freedom: Array) -> Array:
    """Return the p value of a difference."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(np.abs(difference) > 1e-12, np.abs(difference) / error, 0.0)
    return 2 * stats.t.sf(ratio, freedom)


def bounds_of_largest(y: Array) -> Array:
    """Return what no hole of a row can exceed if only the largest degrees are recorded.

    That is the smallest observed degree. It is infinite for a row that contradicts: on average
    its holes are larger.
    """
    holes = np.isnan(y)
    smallest = np.fmin.reduce(y, axis=1, initial=np.inf)
    mean = (1 - np.nansum(y, axis=1)) / np.maximum(holes.sum(axis=1), 1)
    possible = mean <= smallest + sum_tolerance(y.dtype)
    return np.where(possible, np.maximum(smallest, mean), np.inf)
