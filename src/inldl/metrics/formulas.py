"""The metrics: a row of values from a pair of checked tables, the five of the paper first.

The two that use only the order of the labels compare every label with every other one, one lag at
a time: O(n C^2) work in O(n C) memory. Their arrays are (C, n), so that sums over labels run along
contiguous rows of data.
"""

import numpy as np
import numpy.typing as npt

from inldl.metrics.registry import FLOOR, FloatArray, Pair, metric, ratio


@metric(higher_is_better=True, perfect=1.0)
def cosine(pair: Pair) -> FloatArray:
    """Compute the cosine of the angle between two distributions (higher is better).

    ``sum_i p_i q_i / (|p|_2 |q|_2)``, from 0 to 1.

    A row whose observed degrees are all 0 has no direction and is undefined, whatever the
    prediction. If only the prediction is 0 on all observed entries, the value is 0.

    Examples
    --------
    >>> from inldl.metrics import cosine
    >>> cosine.per_row([[1.0, 0.0]], [[0.6, 0.4]]).round(4)
    array([0.8321])
    """
    similarity = np.einsum("ij,ij->i", _unit(pair.p), _unit(pair.q))
    return np.where(pair.p.any(axis=1), np.minimum(similarity, 1.0), np.nan)


@metric(higher_is_better=True, perfect=1.0)
def intersection(pair: Pair) -> FloatArray:
    """Compute the mass that two distributions share (higher is better).

    ``sum_i min(p_i, q_i)``, from 0 to 1, and at most the observed mass of an incomplete row.

    Examples
    --------
    >>> from inldl.metrics import intersection
    >>> intersection([[0.5, 0.5]], [[0.25, 0.75]])
    0.75
    """
    return np.minimum(pair.p, pair.q).sum(axis=1)


@metric(higher_is_better=False, perfect=0.0)
def chebyshev(pair: Pair) -> FloatArray:
    """Compute the largest error of any degree (lower is better).

    ``max_i |p_i - q_i|``, from 0 to 1.

    Examples
    --------
    >>> from inldl.metrics import chebyshev
    >>> chebyshev([[0.5, 0.5]], [[0.25, 0.75]])
    0.25
    """
    return np.abs(pair.p - pair.q).max(axis=1)


@metric(higher_is_better=False, perfect=0.0)
def clark(pair: Pair) -> FloatArray:
    """Compute the root of the summed squared relative errors (lower is better).

    ``sqrt(sum_i (p_i - q_i)^2 / (p_i + q_i)^2)``, from 0 to ``sqrt(C)``.

    As in the program of the paper's authors, a predicted 0 is first replaced by 1e-6. So a true 0
    predicted as 0 adds 1 under the root, as much as a wrong prediction would: exact predictions
    score 0 only in rows without zeros.

    Examples
    --------
    >>> from inldl.metrics import clark
    >>> clark([[0.5, 0.5]], [[0.5, 0.5]])
    0.0
    >>> clark([[1.0, 0.0]], [[1.0, 0.0]])
    1.0
    """
    return np.linalg.norm(_relative_errors(pair), axis=1)


@metric(higher_is_better=False, perfect=0.0)
def canberra(pair: Pair) -> FloatArray:
    """Compute the sum of the relative errors (lower is better).

    ``sum_i |p_i - q_i| / (p_i + q_i)``, from 0 to ``C``.

    As in the program of the paper's authors, a predicted 0 is first replaced by 1e-6. So a true 0
    predicted as 0 adds 1, as much as a wrong prediction would: exact predictions score 0 only in
    rows without zeros.

    Examples
    --------
    >>> from inldl.metrics import canberra
    >>> canberra.per_row([[0.5, 0.5]], [[0.25, 0.75]]).round(4)
    array([0.5333])
    """
    return _relative_errors(pair).sum(axis=1)


@metric(higher_is_better=False, perfect=0.0)
def kl_divergence(pair: Pair) -> FloatArray:
    """Compute the Kullback-Leibler divergence of prediction from truth (lower is better).

    ``sum_i p_i log(p_i / q_i)`` with the natural logarithm, and 0 where ``p_i = 0``.

    A predicted 0 is first replaced by 1e-6. Because of that, and in incomplete rows, the value can
    be negative.

    Examples
    --------
    >>> from inldl.metrics import kl_divergence
    >>> kl_divergence.per_row([[1.0, 0.0]], [[0.5, 0.5]]).round(4)
    array([0.6931])
    """
    return _relative_entropy(pair.p, pair.floored()).sum(axis=1)


@metric(higher_is_better=False, perfect=0.0)
def jensen_shannon(pair: Pair) -> FloatArray:
    """Compute the Jensen-Shannon divergence (lower is better).

    ``KL(p, m) / 2 + KL(q, m) / 2`` with ``m = (p + q) / 2`` and the natural logarithm, from 0
    to ``log 2``. This is the divergence; its root is the Jensen-Shannon distance.

    Examples
    --------
    >>> from inldl.metrics import jensen_shannon
    >>> jensen_shannon.per_row([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([0.6931])
    """
    both = pair.p + pair.q  # 2 m: halving the smallest numbers would give 0
    twice_kl = _relative_entropy(2 * pair.p, both) + _relative_entropy(2 * pair.q, both)
    return np.maximum(twice_kl.sum(axis=1) / 4, 0.0)


@metric(higher_is_better=False, perfect=0.0)
def euclidean(pair: Pair) -> FloatArray:
    """Compute the Euclidean distance (lower is better).

    ``sqrt(sum_i (p_i - q_i)^2)``, from 0 to ``sqrt(2)``.

    Examples
    --------
    >>> from inldl.metrics import euclidean
    >>> euclidean.per_row([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([1.4142])
    """
    return np.linalg.norm(pair.p - pair.q, axis=1)


@metric(higher_is_better=False, perfect=0.0)
def aitchison(pair: Pair) -> FloatArray:
    """Compute the Aitchison distance, which compares ratios of degrees (lower is better).

    The Euclidean distance of centred logarithms: ``sqrt(sum_i (d_i - mean(d))^2)`` with
    ``d_i = log(p_i / q_i)``. Doubling a small degree counts as much as doubling a large one.

    Degrees below 1e-6 count as 1e-6, true and predicted ones alike, so that zeros have a
    logarithm and none is further away than that. The value is undefined (NaN) where fewer than
    two degrees are observed: they have no ratio.

    Examples
    --------
    >>> from inldl.metrics import aitchison
    >>> aitchison.per_row([[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]]).round(4)
    array([0.9803])
    """
    p, q = (np.log(np.maximum(rows, FLOOR)) for rows in (pair.p, pair.q))
    count = pair.observed.sum(axis=1)
    apart = np.where(pair.observed, p - q, 0)
    mean = ratio(apart.sum(axis=1), count.astype(np.float64))
    centred = np.where(pair.observed, apart - mean[:, None], 0)
    return np.where(count > 1, np.linalg.norm(centred, axis=1), np.nan)


@metric(higher_is_better=False, perfect=0.0)
def mae(pair: Pair) -> FloatArray:
    """Compute the mean absolute error of the observed degrees (lower is better).

    ``mean_i |p_i - q_i|``, from 0 to 1.

    Examples
    --------
    >>> from inldl.metrics import mae
    >>> mae.per_row([[0.5, 0.5], [0.2, float("nan")]], [[0.25, 0.75], [0.3, 0.7]]).round(4)
    array([0.25, 0.1 ])
    """
    errors = np.abs(pair.p - pair.q).sum(axis=1)
    return ratio(errors, pair.observed.sum(axis=1).astype(np.float64))


@metric(higher_is_better=False, perfect=0.0)
def sorensen(pair: Pair) -> FloatArray:
    """Compute the Sorensen distance, also called Bray-Curtis (lower is better).

    ``sum_i |p_i - q_i| / sum_i (p_i + q_i)``, from 0 to 1; 0 where both sums are 0.

    Examples
    --------
    >>> from inldl.metrics import sorensen
    >>> sorensen([[0.5, 0.5]], [[0.25, 0.75]])
    0.25
    """
    p, q = pair.p, pair.q
    return ratio(np.abs(p - q).sum(axis=1), (p + q).sum(axis=1))


@metric(higher_is_better=False, perfect=0.0)
def squared_chi2(pair: Pair) -> FloatArray:
    """Compute the squared chi-squared distance (lower is better).

    ``sum_i (p_i - q_i)^2 / (p_i + q_i)``, from 0 to 2; entries with ``p_i = q_i = 0`` add 0.

    Examples
    --------
    >>> from inldl.metrics import squared_chi2
    >>> squared_chi2([[1.0, 0.0]], [[0.0, 1.0]])
    2.0
    """
    error = np.abs(pair.p - pair.q)
    return (error * ratio(error, pair.p + pair.q)).sum(axis=1)


@metric(higher_is_better=True, perfect=1.0)
def fidelity(pair: Pair) -> FloatArray:
    """Compute the fidelity, also called the Bhattacharyya coefficient (higher is better).

    ``sum_i sqrt(p_i q_i)``, from 0 to 1; below 1 in an incomplete row whose observed degrees sum
    to less than 1.

    Examples
    --------
    >>> from inldl.metrics import fidelity
    >>> fidelity([[1.0, 0.0]], [[0.25, 0.75]])
    0.5
    """
    return (np.sqrt(pair.p) * np.sqrt(pair.q)).sum(axis=1)


@metric(higher_is_better=True, perfect=1.0)
def spearman(pair: Pair) -> FloatArray:
    """Compute Spearman's rank correlation (higher is better).

    The correlation of the ranks of p with the ranks of q, from -1 to 1; equal degrees share
    the average of their ranks. It is undefined (NaN) where the observed degrees of p, or
    those of q, are all equal.

    Examples
    --------
    >>> from inldl.metrics import spearman
    >>> spearman([[0.1, 0.2, 0.3, 0.4]], [[0.2, 0.1, 0.3, 0.4]])
    0.8
    """
    p, q = (_centred_ranks(values) for values in _by_label(pair))
    return _correlation((p * q).sum(axis=0), (p * p).sum(axis=0), (q * q).sum(axis=0))


@metric(higher_is_better=True, perfect=1.0)
def kendall(pair: Pair) -> FloatArray:
    """Compute Kendall's rank correlation, tau-b (higher is better).

    ``(concordant - discordant) / sqrt(untied(p) * untied(q))``, counted over pairs of labels,
    from -1 to 1. It is undefined (NaN) where the observed degrees of p, or those of q, are all
    equal.

    Examples
    --------
    >>> from inldl.metrics import kendall
    >>> kendall.per_row([[0.1, 0.2, 0.3, 0.4]], [[0.3, 0.1, 0.2, 0.4]]).round(4)
    array([0.3333])
    """
    p, q = _by_label(pair)
    agreement, untied_p, untied_q = np.zeros((3, p.shape[1]))
    for lag in range(1, len(p)):
        a, b = _order(p, lag), _order(q, lag)
        agreement += (a * b).sum(axis=0, dtype=np.int32)
        untied_p += np.count_nonzero(a, axis=0)
        untied_q += np.count_nonzero(b, axis=0)
    return _correlation(agreement, untied_p, untied_q)


def _relative_errors(pair: Pair) -> FloatArray:
    """Return ``|p - q| / (p + q)`` with the floor, and 0 where a degree is missing."""
    q = pair.floored()
    return ratio(np.abs(pair.p - q), pair.p + q)


def _unit(rows: FloatArray) -> FloatArray:
    """Scale rows to length 1, first by the largest entry so that no square underflows."""
    peak = np.abs(rows).max(axis=1, keepdims=True)
    scaled = ratio(rows, np.broadcast_to(peak, rows.shape))
    return scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0)


def _relative_entropy(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``a log(a / b)`` where ``a > 0`` (``b > 0`` there), and 0 where ``a = 0``."""
    # A difference of logarithms, because a / b overflows when b is tiny.
    seen = a > 0
    log_a, log_b = (np.log(v, out=np.zeros_like(v), where=seen) for v in (a, b))
    return a * (log_a - log_b)


def _by_label(pair: Pair) -> tuple[FloatArray, FloatArray]:
    """Return p and q as (C, n) with NaN where missing, so that comparisons fail there."""
    hidden = ~pair.observed.T
    p, q = pair.p.T.copy(), pair.q.T.copy()
    p[hidden] = q[hidden] = np.nan
    return p, q


def _order(values: FloatArray, lag: int) -> npt.NDArray[np.int8]:
    """Compare each label with the one ``lag`` later: 1, 0 or -1, and 0 if either is NaN."""
    later, earlier = values[lag:], values[:-lag]
    return (later > earlier).view(np.int8) - (later < earlier).view(np.int8)


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Count smaller minus larger labels: twice the average rank minus its mean; 0 for NaN."""
    ranks = np.zeros(values.shape, dtype=np.int32)
    for lag in range(1, len(values)):
        order = _order(values, lag)
        ranks[lag:] += order
        ranks[:-lag] -= order
    return ranks.astype(np.float64)


def _correlation(shared: FloatArray, of_p: FloatArray, of_q: FloatArray) -> FloatArray:
    """Return ``shared / sqrt(of_p * of_q)`` inside [-1, 1], NaN where a row is constant."""
    return np.clip(ratio(shared, np.sqrt(of_p * of_q), otherwise=np.nan), -1.0, 1.0)
