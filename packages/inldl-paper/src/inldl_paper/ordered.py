"""Metrics of ordered labels, such as ages and ratings, and of the labels with the largest degrees.

They are called as those of `inldl.metrics`, and `evaluate` computes them if they are named. Labels
are a step apart, so that distances are in labels: years where each label is a year. A row with
missing degrees has no value.

>>> from inldl.metrics import evaluate
>>> import inldl_paper.ordered
>>> evaluate([[0.0, 1.0, 0.0]], [[0.0, 0.5, 0.5]], ["earth_mover", "label_error", "zero_one"])
{'earth_mover': 0.5, 'label_error': 0.5, 'zero_one': 0.0}
"""

import numpy as np

from inldl.metrics.registry import EXTRA_METRICS, FloatArray, Pair, metric

__all__ = [
    "earth_mover",
    "label_error",
    "order_match",
    "ranked_probability",
    "top_3",
    "zero_one",
]


@metric(higher_is_better=False, perfect=0.0, into=EXTRA_METRICS)
def earth_mover(pair: Pair) -> FloatArray:
    """Compute the earth mover's distance: mass times labels that it is moved (lower is better).

    ``sum_j |F_j - G_j|`` with the cumulative sums F of p and G of q, from 0 to ``C - 1``.

    Examples
    --------
    >>> from inldl_paper.ordered import earth_mover
    >>> earth_mover([[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    2.0
    """
    return np.abs(_cumulated(pair)).sum(axis=1)


@metric(higher_is_better=False, perfect=0.0, into=EXTRA_METRICS)
def ranked_probability(pair: Pair) -> FloatArray:
    """Compute the CRPS distance of two distributions over ordered labels (lower is better).

    ``sum_j (F_j - G_j)^2``. If p is one label, it is the continuous ranked probability score of q.

    Examples
    --------
    >>> from inldl_paper.ordered import ranked_probability
    >>> ranked_probability([[1.0, 0.0, 0.0]], [[0.5, 0.5, 0.0]])
    0.25
    """
    return np.square(_cumulated(pair)).sum(axis=1)


@metric(higher_is_better=False, perfect=0.0, into=EXTRA_METRICS)
def label_error(pair: Pair) -> FloatArray:
    """Compute by how many labels the mean of the distribution is off (lower is better).

    ``|sum_j j p_j - sum_j j q_j|``: the mean absolute error of an age, where labels are years.

    Examples
    --------
    >>> from inldl_paper.ordered import label_error
    >>> label_error([[0.0, 1.0, 0.0]], [[0.5, 0.0, 0.5]])
    0.0
    """
    places = np.arange(pair.p.shape[1])
    return _complete(pair, np.abs((pair.p - pair.q) @ places))


@metric(higher_is_better=False, perfect=0.0, into=EXTRA_METRICS)
def zero_one(pair: Pair) -> FloatArray:
    """Compute how often the label with the largest predicted degree is wrong (lower is better).

    Where several labels have the largest true degree, each of them is right.

    Examples
    --------
    >>> from inldl_paper.ordered import zero_one
    >>> zero_one([[0.6, 0.4], [0.5, 0.5]], [[0.3, 0.7], [0.9, 0.1]])
    0.5
    """
    return _complete(pair, 1 - _among(pair, 1))


@metric(higher_is_better=True, perfect=1.0, into=EXTRA_METRICS)
def top_3(pair: Pair) -> FloatArray:
    """Compute how often a largest degree is among three predicted ones (higher is better).

    Examples
    --------
    >>> from inldl_paper.ordered import top_3
    >>> top_3([[0.1, 0.2, 0.3, 0.4]], [[0.4, 0.3, 0.2, 0.1]])
    0.0
    """
    return _complete(pair, _among(pair, 3))


@metric(higher_is_better=True, perfect=1.0, into=EXTRA_METRICS)
def order_match(pair: Pair) -> FloatArray:
    """Compute the share of labels that have the same place in both orders (higher is better).

    The place of a label is one more than the number of larger degrees; equal degrees share it.

    Examples
    --------
    >>> from inldl_paper.ordered import order_match
    >>> order_match([[0.1, 0.2, 0.3, 0.4]], [[0.2, 0.1, 0.3, 0.4]])
    0.5
    """
    of_p, of_q = (_places(rows) for rows in (pair.p, pair.q))
    return _complete(pair, (of_p == of_q).mean(axis=1))


def _places(rows: FloatArray) -> FloatArray:
    """Return the number of larger degrees of each degree of a row, label by label."""
    return np.stack([(rows > rows[:, [j]]).sum(axis=1) for j in range(rows.shape[1])], axis=1)


def _among(pair: Pair, most: int) -> FloatArray:
    """Say whether a label with the largest true degree is among the `most` largest predicted."""
    largest = np.asarray(pair.p == pair.p.max(axis=1, keepdims=True))
    chosen = np.argsort(-pair.q, axis=1, kind="stable")[:, :most]
    found = np.take_along_axis(largest, chosen, axis=1)
    return np.asarray(found.any(axis=1), dtype=np.float64)


def _cumulated(pair: Pair) -> FloatArray:
    return _complete(pair, np.cumsum(pair.p - pair.q, axis=1)[:, :-1])


def _complete(pair: Pair, values: FloatArray) -> FloatArray:
    """Return values that are NaN in rows with missing degrees."""
    holes = np.asarray(~pair.observed).any(axis=1)
    complete = np.array(values, dtype=np.float64)
    complete[holes] = np.nan
    return complete
