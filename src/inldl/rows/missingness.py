"""Why degrees are missing: test whether at random, and say what follows if they are not.

The hidden degrees of a row have a mass that is known: 1 minus the observed ones. It shows whether
degrees are missing at random. What it cannot show, a user may assume: that zeros are degrees too
small to be recorded, or that the missing degrees of a label are larger than they seem.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from inldl.rows.checks import like, rounding_gap, sum_tolerance
from inldl.rows.density import GammaDegrees
from inldl.rows.partial import PartialRows

Array = np.ndarray
LEVEL = 0.01  # p values below it count as evidence
SMALL_EFFECT = 0.05  # of the expected mass: less is certain in a long table, but of no importance
FEWEST_ROWS = 30  # with holes, that can tell why degrees are missing
CONSISTENT = 0.995  # share of them that must not contradict
BELOW_LIMIT = 0.65  # of a limit: the usual size of a degree below it
EQUALLY_MANY = 0.95  # share of them that have the same number of observed degrees


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


def hidden_mass(y: Array, expected: Array | None = None) -> Mass | None:
    r"""Compare what rows hide with the means of the observed degrees.

    Over all rows the two differ by exactly :math:`n (1 - \sum_j m_j)`: the question is whether
    the means of the labels sum to 1. If degrees are `expected` from what is known of their rows,
    such as the unit, the question is the same of what is left of them: holes where little is
    expected are not blamed on size. Rows with NaN there do not count. A label that is nowhere
    observed counts as 0, the least. Returns None if no row has both holes and degrees.
    """
    whole = 1.0
    if expected is not None:
        told = ~np.isnan(y).all(axis=1) & ~np.isnan(expected).any(axis=1)
        y, expected = y[told], expected[told]
        whole = 1 - expected.sum(axis=1).mean() if len(y) else 1.0
    observed, partial = ~np.isnan(y), PartialRows(y).partial
    counts = np.maximum(observed.sum(axis=0), 1)
    if not partial.any():
        return None
    left = y if expected is None else y - expected
    means = np.nansum(left, axis=0) / counts
    scale = observed.any(axis=1).sum() / partial.sum()  # a mean over the rows with holes only
    error, freedom = error_of_sum(scale * deviations(left, means, counts).sum(axis=1))
    hidden = float((1 - np.nansum(y[partial], axis=1)).mean())
    difference = float(scale * (whole - means.sum()))
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


def mechanism_of(y: Array, fewest: int = FEWEST_ROWS, expected: Array | None = None) -> str:
    """Return which degrees are missing: "random", "small", "large", or "rest".

    The last is where only the largest degrees of each row are recorded: no row contradicts it,
    and the hidden degrees are smaller than random ones would be. "random" is also what cannot be
    told, and where fewer than `fewest` rows have holes. Degrees that the sum of a row gives are
    not missing. `expected` degrees are as in `hidden_mass`.
    """
    mass = hidden_mass(y, expected) if PartialRows(y).partial.sum() >= fewest else None
    if mass is None or mass.p_value >= LEVEL:
        return "random"
    if abs(mass.difference) < SMALL_EFFECT * mass.expected:
        return "random"
    if mass.difference > 0:  # which a label that is nowhere observed may have
        return "random" if np.isnan(y).all(axis=0).any() else "large"
    return "rest" if _largest_recorded(y) else "small"


def _largest_recorded(y: Array) -> bool:
    """Say whether rows show their largest degrees only: as many in each, or all above a size.

    A single degree in each row may be chance, unless all rows have one.
    """
    recorded = (~np.isnan(y)).sum(axis=1)
    y, empty = y[PartialRows(y).partial], np.count_nonzero(recorded == 0)
    if np.isfinite(bounds_of_largest(y)).mean() < CONSISTENT:
        return False
    recorded = (~np.isnan(y)).sum(axis=1)
    counts = np.bincount(recorded)
    n_rows = len(y) + (empty if counts.argmax() == 1 else 0)
    mean_hole = (1 - np.nansum(y, axis=1)) / (y.shape[1] - recorded)
    above_a_size = (mean_hole <= np.nanmin(y)).mean() >= CONSISTENT
    return bool(counts.max() >= EQUALLY_MANY * n_rows or above_a_size)


def top_k_rows(y: Array) -> PartialRows:
    """Return rows of which only the largest degrees are recorded.

    No hole exceeds the smallest observed degree, unless the row contradicts: on average its holes
    are larger.
    """
    bounds, holes = bounds_of_largest(y)[:, None], np.isnan(y)
    upper = np.where(holes, np.minimum(bounds, 1), y)
    return PartialRows(y, np.where(holes, 0, y), upper)


def bounds_of_largest(y: Array) -> Array:
    """Return what no hole of a row can exceed if only the largest degrees are recorded.

    It is infinite for a row that contradicts.
    """
    rows = PartialRows(y)
    smallest = np.fmin.reduce(y, axis=1, initial=np.inf)
    mean = rows.rest / np.maximum(rows.holes.sum(axis=1), 1)
    possible = mean <= smallest + sum_tolerance(y.dtype)
    return np.where(possible, np.maximum(smallest, mean), np.inf)


def fill_top_k(degrees: GammaDegrees, rows: PartialRows) -> tuple[Array, Array]:
    """Return filled rows of `top_k_rows`, and standard deviations of their holes.

    Labels that are rarely among the largest remain little known, so what is filled in lies half
    way from what is expected to an even split.
    """
    expected, variance = degrees.fill(rows)
    even = rows.evenly()
    filled = (expected + even) / 2
    return filled, np.sqrt(variance + (even - filled) ** 2)


def most_errors(rows: PartialRows, filled: Array) -> Array:
    """Return the largest sum of absolute errors that the holes of each row can have.

    All holes of a row have the same bound, and sum to what the row leaves. As many as possible
    reach the bound then, those first of which least was filled in.
    """
    largest = np.where(rows.holes, rows.possible[1], 0).max(axis=1, keepdims=True)
    bounds = np.maximum(largest, 0)
    ascending = np.sort(np.where(rows.holes, filled, np.inf), axis=1)
    left = np.maximum(rows.rest, 0)[:, None] - np.arange(filled.shape[1]) * bounds
    worst = np.clip(left, 0, bounds)
    return np.where(np.isinf(ascending), 0, np.abs(worst - ascending)).sum(axis=1)


def rounded_zeros(y: Any, limit: Any = None, whole: Any = 1.0) -> tuple[Any, Any, Any]:
    """Return degrees whose zeros are unobserved, and lower and upper bounds of the unobserved.

    A 0 that stands for a degree too small to be recorded becomes a hole below its limit. If the
    other degrees of its row are all observed and sum to the whole, they would leave nothing to
    it. The largest of them is then a hole as well, which gives way by what the limits of the row
    allow.

    Parameters
    ----------
    y : array-like or frame of shape (n_samples, n_labels)
        Degrees, or the same in other units, NaN = unobserved.
    limit : float or array-like of shape (n_labels,), optional
        What such degrees are below; NaN keeps the zeros of a label. By default the smallest other
        degree of the label.
    whole : float or array-like of shape (n_samples,), default=1
        What the degrees of a row sum to.

    Returns
    -------
    y, lower, upper : ndarray or frame of shape (n_samples, n_labels)
        As `fit` and `complete` take them; bounds are NaN where there is none.

    Examples
    --------
    >>> from inldl.tables import rounded_zeros
    >>> y, lower, upper = rounded_zeros([[0.7, 0.3, 0.0], [0.5, 0.48, 0.0]], 0.02)
    >>> y.tolist()
    [[nan, 0.3, nan], [0.5, 0.48, nan]]
    >>> lower[0].round(2).tolist(), upper[0].round(2).tolist()
    ([0.68, nan, nan], [0.72, nan, 0.02])
    """
    degrees = np.array(y, dtype=np.float64)
    limits = smallest_positive(degrees) if limit is None else np.asarray(limit, dtype=np.float64)
    limits = np.broadcast_to(limits, degrees.shape)
    zeros = (degrees == 0) & ~np.isnan(limits)
    gap = max(rounding_gap(degrees, float(np.max(whole, initial=0.0))), sum_tolerance(np.float64))
    full = zeros.any(axis=1) & (degrees.sum(axis=1) >= np.asarray(whole) * (1 - gap))
    room = np.where(zeros, limits, 0).sum(axis=1)[full]
    lower, upper = np.full(zeros.shape, np.nan), np.where(zeros, limits, np.nan)
    largest = np.flatnonzero(full), degrees[full].argmax(axis=1)
    lower[largest] = np.maximum(degrees[largest] - room, 0)
    upper[largest] = np.minimum(degrees[largest] + room, np.broadcast_to(whole, len(full))[full])
    degrees[zeros] = degrees[largest] = np.nan
    return like(y, degrees), like(y, lower), like(y, upper)


def smallest_positive(y: Array) -> Array:
    """Return the smallest degree above 0 of each label, NaN if there is none."""
    return np.asarray(np.fmin.reduce(np.where(y > 0, y, np.nan), axis=0, initial=np.nan))


def settle_largest(rows: PartialRows, largest: Array | None) -> PartialRows:
    """Return rows in which degrees that give way to rounded zeros are known, to learn from.

    They are what the zeros leave if these are as large as is usual below their limits.
    """
    if largest is None or not largest.any():
        return rows
    zeros = rows.holes & ~largest
    less = BELOW_LIMIT * np.where(zeros, rows.box[1], 0).sum(axis=1)
    settled = np.maximum(rows.rest - less, 0)[:, None]
    y, *ends = (np.where(largest, settled, each) for each in (rows.y, *rows.box))
    return replace(rows, y=y, lower=ends[0], upper=ends[1])


def shift_filled(rows: PartialRows, filled: Array, factors: Array) -> Array:
    """Return completed rows in which the filled degrees of some labels are larger or smaller.

    Those of a label are multiplied by its factor, and the other filled degrees of the row scaled
    so that it keeps its sum, within bounds and sums of labels. Observed degrees stay as they are.
    If a row has no other filled degrees, its sum leaves them less choice, or none.

    Parameters
    ----------
    rows : PartialRows
        The rows before they were filled.
    filled : ndarray of shape (n, n_labels)
        The completed rows.
    factors : ndarray of shape (n_labels,)
        What to multiply the filled degrees of each label by; 1 of all others.
    """
    holes, named = rows.holes, factors != 1
    before = np.where(holes, filled, 0).astype(np.float64)
    wanted, left = before * np.where(named, factors, 0), before.sum(axis=1)
    asked, others = wanted.sum(axis=1), before[:, ~named].sum(axis=1)
    given = np.where(others > 0, np.minimum(asked, left), left)
    grown = np.divide(given, asked, out=np.ones(len(rows)), where=asked > 0)
    scaled = np.divide(left - given, others, out=np.ones(len(rows)), where=others > 0)
    after = np.where(named, wanted * grown[:, None], before * scaled[:, None])
    stuck = (asked <= 0) & (others <= 0)  # nothing else can have what they would lose
    out = np.where(holes & ~stuck[:, None], after, filled)
    if len(some := rows.limited_rows):
        out[some] = rows.take(some).project(out[some])
    return out.astype(filled.dtype, copy=False)
