"""Bound the expected risk by the weighted empirical risk: theorems 1 and 2.

The weights P apply to the loss itself. The schemes of ``inldl.weighting`` give Q with ``P = Q^2``.
Arguments broadcast as in numpy, so one call can give a whole curve.
"""

from typing import Any

import numpy as np

__all__ = [
    "linear_bound",
    "rademacher_bound",
    "weighted_empirical_risk",
]

Numbers = Any  # a number or an array
_AT_LEAST_0 = ("at least 0", lambda x: x >= 0)
_AT_LEAST_1 = ("at least 1", lambda x: x >= 1)
_RANGES = {  # of all other arguments: at least 0
    "n_labels": _AT_LEAST_1,
    "n_samples": _AT_LEAST_1,
    "loss_bound": ("greater than 0", lambda x: x > 0),
    "delta": ("between 0 and 1, both excluded", lambda x: (x > 0) & (x < 1)),
}


def weighted_empirical_risk(losses: Numbers, weights: Numbers) -> float:
    """Compute the weighted empirical risk (definition 1).

    ``1/N sum_ij P_ij l_ij``: the mean over rows of the weighted sum over labels.

    Parameters
    ----------
    losses : array-like of shape (n_samples, n_labels)
        Loss of each degree.
    weights : array-like of shape (n_samples, n_labels)
        P, non-negative. To leave a degree out, give it weight 0 and any finite loss.

    Examples
    --------
    >>> from inldl.risk_bounds import weighted_empirical_risk
    >>> weighted_empirical_risk([[0.5, 0.25], [1.0, 0.0]], [[1, 2], [1, 1]])
    1.0
    """
    losses, weights = _number("losses", losses), _number("weights", weights)
    if losses.ndim != 2 or losses.shape != weights.shape or not losses.size:
        raise ValueError(
            f"losses has shape {losses.shape} and weights has shape {weights.shape}: both need "
            "one row per sample and one column per label."
        )
    _forbid(~np.isfinite(losses), "the loss in row {}, column {} is not finite: give any number "
            "and weight 0 if it does not count.")  # fmt: skip
    _forbid(~(np.isfinite(weights) & (weights >= 0)), "the weight in row {}, column {} must be a "
            "finite number of at least 0.")  # fmt: skip
    return float(np.einsum("ij,ij->", weights, losses) / len(losses))


def rademacher_bound(
    empirical_risk: Numbers,
    rademacher_complexity: Numbers,
    *,
    max_weight: Numbers,
    n_labels: Numbers,
    loss_bound: Numbers,
    n_samples: Numbers,
    delta: Numbers,
) -> Numbers:
    """Bound the expected risk of every function of a class (theorem 1).

    ``R <= R_S + 2 |P| Rad_N + C B |P| sqrt(log(1/delta) / (2N))``
    with probability at least ``1 - delta``.

    Parameters
    ----------
    empirical_risk : array-like
        R_S, see `weighted_empirical_risk`.
    rademacher_complexity : array-like
        Rad_N of definition 2, the expectation over samples, of the loss summed over labels.
    max_weight : array-like
        ``|P|``, the largest weight.
    n_labels : array-like
        C.
    loss_bound : array-like
        B; the loss of one degree lies between 0 and B.
    n_samples : array-like
        N.
    delta : array-like
        Probability that the bound fails.

    Returns
    -------
    float or ndarray
        The bound, in the shape that the arguments broadcast to.

    Notes
    -----
    The formula is as printed. It holds if all labels of a row have the same weight. If weights
    differ between labels it can fail: the sum over labels may be constant, with complexity 0,
    while the weighted sum is not. `linear_bound` does not need that step. Row i of P may
    depend on sample i only, not on means over the sample.

    Examples
    --------
    >>> from inldl.risk_bounds import rademacher_bound
    >>> rademacher_bound(0.2, 0.1, max_weight=1, n_labels=1, loss_bound=1,
    ...                  n_samples=[100, 10_000], delta=0.05).round(3)
    array([0.522, 0.412])
    """
    risk, complexity, weight, labels, loss, samples, delta = _checked(**locals())
    deviation = labels * loss * np.sqrt(np.log(1 / delta) / (2 * samples))
    return risk + weight * (2 * complexity + deviation)


def linear_bound(
    empirical_risk: Numbers,
    *,
    max_weight: Numbers,
    n_labels: Numbers,
    loss_bound: Numbers,
    lipschitz: Numbers,
    coef_norm: Numbers,
    max_row_norm: Numbers,
    n_samples: Numbers,
    delta: Numbers,
) -> Numbers:
    """Bound the expected risk of every linear function with a bounded matrix (theorem 2).

    ``R <= R_S + 2 sqrt(2) L B0 sqrt(C) max_i |x_i| |P| / sqrt(N)
    + 3 C B |P| sqrt(log(2/delta) / (2N))``.

    Parameters
    ----------
    empirical_risk, max_weight, n_labels, loss_bound, n_samples, delta : array-like
        R_S, ``|P|``, C, B, N and delta, as in `rademacher_bound`.
    lipschitz : array-like
        L, the Lipschitz constant of the loss; see the notes.
    coef_norm : array-like
        B0, the largest Frobenius norm of the matrix W in ``x -> W x``.
    max_row_norm : array-like
        Largest Euclidean norm of a row of X.

    Returns
    -------
    float or ndarray
        The bound, in the shape that the arguments broadcast to.

    Notes
    -----
    The formula is as printed. The paper states probability ``1 - delta/2``, but its terms belong
    to the usual argument (two events of probability ``delta/2`` each), which gives
    ``1 - delta``: rely on that. The paper also takes L from the loss of one degree, but the
    vector contraction it cites needs the constant of the loss summed over labels, with respect
    to the Euclidean norm, which can be ``sqrt(C)`` times as large: pass that to be safe.

    Examples
    --------
    >>> from inldl.risk_bounds import linear_bound
    >>> linear_bound(0.1, max_weight=[1, 2, 4], n_labels=4, loss_bound=0.25, lipschitz=0.5,
    ...              coef_norm=1, max_row_norm=1, n_samples=10_000, delta=0.05).round(3)
    array([0.169, 0.238, 0.376])
    """
    risk, weight, labels, loss, slope, norm, row_norm, samples, delta = _checked(**locals())
    complexity = np.sqrt(2 * labels / samples) * slope * norm * row_norm
    deviation = 3 * labels * loss * np.sqrt(np.log(2 / delta) / (2 * samples))
    return risk + weight * (2 * complexity + deviation)


def _checked(**arguments):
    """Return the arguments as arrays, in order, after checking their ranges and shapes."""
    arrays = {name: _number(name, value) for name, value in arguments.items()}
    for name, array in arrays.items():
        words, allowed = _RANGES.get(name, _AT_LEAST_0)
        bad = array[~(np.isfinite(array) & allowed(array))]
        if bad.size:
            raise ValueError(f"{name} must be a finite number {words}, got {bad[0]:g}.")
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items() if a.ndim)
        raise ValueError(
            f"the arguments do not broadcast: {shapes}; give numbers, or arrays whose shapes "
            "numpy can broadcast together."
        ) from None
    return arrays.values()


def _number(name, value):
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a number or an array of numbers, got {value!r}."
        ) from None


def _forbid(bad, message):
    """Raise ``message`` with the row and column of the first bad entry, if there is one."""
    if bad.any():
        raise ValueError(message.format(*np.argwhere(bad)[0]))
