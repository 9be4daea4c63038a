"""The five metrics of the paper."""

import numpy as np

from inldl.metrics._registry import FloatArray, Pair, metric, ratio


@metric(higher_is_better=True, perfect=1.0)
def cosine(pair: Pair) -> FloatArray:
    """Compute the cosine of the angle between two distributions (higher is better).

    ``sum_i p_i q_i / (|p|_2 |q|_2)``, from 0 to 1.

    A row whose observed degrees are all 0 has no direction and is undefined, whatever the
    prediction. If only the prediction is 0 on all observed entries, the value is 0.

    Examples
    --------
    >>> from inldl.metrics import cosine
    >>> cosine([[1.0, 0.0]], [[0.6, 0.4]], per_row=True).round(4)
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
    >>> canberra([[0.5, 0.5]], [[0.25, 0.75]], per_row=True).round(4)
    array([0.5333])
    """
    return _relative_errors(pair).sum(axis=1)


def _relative_errors(pair: Pair) -> FloatArray:
    """Return ``|p - q| / (p + q)`` with the floor, and 0 where a degree is missing."""
    q = pair.floored()
    return ratio(np.abs(pair.p - q), pair.p + q)


def _unit(rows: FloatArray) -> FloatArray:
    """Scale rows to length 1, first by the largest entry so that no square underflows."""
    peak = np.abs(rows).max(axis=1, keepdims=True)
    scaled = ratio(rows, np.broadcast_to(peak, rows.shape))
    return scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0)
