"""Metrics that use only the order of the labels in a row.

Both compare every label with every other one, one lag at a time: O(n C^2) work in O(n C) memory.
Arrays are (C, n) here, so that sums over labels run along contiguous rows of data.
"""

import numpy as np
import numpy.typing as npt

from inldl.metrics._registry import FloatArray, Pair, metric, ratio


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
    >>> kendall([[0.1, 0.2, 0.3, 0.4]], [[0.3, 0.1, 0.2, 0.4]], per_row=True).round(4)
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
