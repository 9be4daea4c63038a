"""Other metrics between probability vectors that label distribution papers report."""

import numpy as np

from inldl.metrics._registry import FloatArray, Pair, metric, ratio


@metric(higher_is_better=False, perfect=0.0)
def kl_divergence(pair: Pair) -> FloatArray:
    """Compute the Kullback-Leibler divergence of prediction from truth (lower is better).

    ``sum_i p_i log(p_i / q_i)`` with the natural logarithm, and 0 where ``p_i = 0``.

    A predicted 0 is first replaced by 1e-6. Because of that, and in incomplete rows, the value can
    be negative.

    Examples
    --------
    >>> from inldl.metrics import kl_divergence
    >>> kl_divergence([[1.0, 0.0]], [[0.5, 0.5]], per_row=True).round(4)
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
    >>> jensen_shannon([[1.0, 0.0]], [[0.0, 1.0]], per_row=True).round(4)
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
    >>> euclidean([[1.0, 0.0]], [[0.0, 1.0]], per_row=True).round(4)
    array([1.4142])
    """
    return np.linalg.norm(pair.p - pair.q, axis=1)


@metric(higher_is_better=False, perfect=0.0)
def mae(pair: Pair) -> FloatArray:
    """Compute the mean absolute error of the observed degrees (lower is better).

    ``mean_i |p_i - q_i|``, from 0 to 1.

    Examples
    --------
    >>> from inldl.metrics import mae
    >>> mae([[0.5, 0.5], [0.2, float("nan")]], [[0.25, 0.75], [0.3, 0.7]], per_row=True).round(4)
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


def _relative_entropy(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``a log(a / b)`` where ``a > 0`` (``b > 0`` there), and 0 where ``a = 0``."""
    # A difference of logarithms, because a / b overflows when b is tiny.
    seen = a > 0
    log_a, log_b = (np.log(v, out=np.zeros_like(v), where=seen) for v in (a, b))
    return a * (log_a - log_b)
