"""How much each degree counts: the weighting schemes of the paper, and what they do to the risk.

A scheme is any object with two methods that return the weights Q (the loss is weighted by Q
squared):

``observed(degrees)``
    the weights of a block of rows, in the shape of ``degrees`` (rows x labels, 0 where missing);
``unobserved(means, progress)``
    the weights of the missing degrees, one per label. ``means`` is the mean degree of each label
    over all rows, where missing ones count as 0, and ``progress`` is ``t / T`` in (0, 1]. NaN for
    a label means that each of its missing degrees keeps the weight that ``observed`` gave it.

The paper's three principles are checked by `check_principles`. Theorems 1 and 2 bound the expected
risk by the weighted empirical risk, whose weights P apply to the loss itself: ``P = Q^2``.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from inldl.rows.checks import check_choice

__all__ = [
    "SCHEMES",
    "DegreeWeighting",
    "ExponentialWeighting",
    "LinearWeighting",
    "Principles",
    "ProportionalWeighting",
    "RandomWeighting",
    "UniformWeighting",
    "check_principles",
    "get_weighting",
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


class DegreeWeighting:
    """Give small degrees more weight (WInLDL, equation 8): ``2^(1-d)`` and ``a^(1-m)``.

    The base ``a = 1 + t/T`` of the missing degrees grows from 1 to 2 during the fit.
    """

    def observed(self, degrees) -> np.ndarray:
        """Return ``2^(1-d)``."""
        return np.exp2(1 - degrees)

    def unobserved(self, means, progress) -> np.ndarray:
        """Return ``(1 + t/T)^(1-m)``."""
        return (1 + progress) ** (1 - means)


class LinearWeighting:
    """Give small degrees more weight, linearly (equation 7): ``1-d`` and ``1-m``."""

    def observed(self, degrees) -> np.ndarray:
        """Return ``1-d``."""
        return 1 - degrees

    def unobserved(self, means, progress) -> np.ndarray:
        """Return ``1-m``."""
        return 1 - means


class UniformWeighting:
    """Give observed degrees weight 1 and missing ones weight 0 (InLDL-U)."""

    def observed(self, degrees) -> np.ndarray:
        """Return 1."""
        return np.ones_like(degrees)

    def unobserved(self, means, progress) -> np.ndarray:
        """Return 0."""
        return np.zeros_like(means)


class ProportionalWeighting:
    """Give large degrees more weight (InLDL-I): ``d`` and ``m``."""

    def observed(self, degrees) -> np.ndarray:
        """Return ``d``."""
        return degrees

    def unobserved(self, means, progress) -> np.ndarray:
        """Return ``m``."""
        return means


class ExponentialWeighting:
    """Give large degrees more weight (InLDL-II): ``2^d`` and ``a^m`` with ``a = 1 + t/T``."""

    def observed(self, degrees) -> np.ndarray:
        """Return ``2^d``."""
        return np.exp2(degrees)

    def unobserved(self, means, progress) -> np.ndarray:
        """Return ``(1 + t/T)^m``."""
        return (1 + progress) ** means


class RandomWeighting:
    """Draw every weight once from U(0, 1) (InLDL-Rand), for both observed and missing degrees.

    The weights of a block depend only on ``random_state`` and on the block's degrees, so threads
    and the order of blocks do not change them.
    """

    def __init__(self, random_state=0):
        self.random_state = random_state

    def observed(self, degrees) -> np.ndarray:
        """Return uniform random numbers, for missing entries too."""
        fingerprint = zlib.crc32(np.ascontiguousarray(degrees).tobytes())
        return np.random.default_rng([self.random_state, fingerprint]).random(degrees.shape)

    def unobserved(self, means, progress) -> np.ndarray:
        """Return NaN: a missing degree keeps the weight drawn for it."""
        return np.full_like(means, np.nan)


#: The schemes of the paper by name.
SCHEMES = {
    "degree": DegreeWeighting,
    "linear": LinearWeighting,
    "uniform": UniformWeighting,
    "proportional": ProportionalWeighting,
    "exponential": ExponentialWeighting,
    "random": RandomWeighting,
}


def get_weighting(weighting) -> Any:
    """Return the scheme named `weighting`, or `weighting` itself if it already is a scheme."""
    if isinstance(weighting, str):
        check_choice("weighting", weighting, SCHEMES)
        return SCHEMES[weighting]()
    methods = [getattr(weighting, name, None) for name in ("observed", "unobserved")]
    if isinstance(weighting, type) or not all(callable(method) for method in methods):
        raise ValueError(
            f"weighting must be one of {', '.join(map(repr, SCHEMES))}, or an object with the "
            f"methods observed(degrees) and unobserved(means, progress), got {weighting!r}."
        )
    _try_out(weighting)
    return weighting


def _try_out(scheme):
    """Refuse a user's scheme if its weights have the wrong shape."""
    degrees = np.full((2, 3), 1 / 3)
    for name, weights, shape in [
        ("observed", scheme.observed(degrees), (2, 3)),
        ("unobserved", scheme.unobserved(degrees[0], 0.5), (3,)),
    ]:
        if np.shape(weights) != shape or not np.issubdtype(np.asarray(weights).dtype, np.number):
            raise ValueError(
                f"{name} of the weighting {scheme!r} must return numbers in the shape of its "
                f"first argument; for {shape} it returned {weights!r}."
            )


@dataclass(frozen=True)
class Principles:
    """Which of the paper's three principles a scheme follows."""

    small_degrees_weigh_more: bool
    observed_above_missing: bool
    missing_grow: bool

    def __bool__(self):
        return self.small_degrees_weigh_more and self.observed_above_missing and self.missing_grow


def check_principles(weighting, *, max_iter=50, resolution=101) -> Principles:
    """Check the paper's three principles for a weighting scheme on a grid of degrees.

    1. The smaller a degree, the larger its weight.
    2. An observed degree weighs more than a missing one of a label with the same mean; in the
       last iteration they may be equal, as in the paper's own scheme.
    3. The weight of a missing degree grows with the iterations.

    Parameters
    ----------
    weighting : str or object
        A name in ``SCHEMES``, or an object with the two methods of a scheme.
    max_iter : int, default=50
        The number T of iterations.
    resolution : int, default=101
        The number of degrees tried, evenly spaced between 0 and 1.

    Returns
    -------
    Principles
        Three booleans; the object itself is true if all three hold.

    Examples
    --------
    >>> from inldl.weighting import check_principles
    >>> bool(check_principles("degree"))
    True
    >>> check_principles("linear").missing_grow
    False
    """
    scheme = get_weighting(weighting)
    degrees = np.linspace(0, 1, resolution + 2)[1:-1]
    seen = np.asarray(scheme.observed(degrees[None, :]))[0]
    missing = np.stack([scheme.unobserved(degrees, t / max_iter) for t in range(1, max_iter + 1)])
    missing = np.where(np.isnan(missing), seen, missing)
    return Principles(
        small_degrees_weigh_more=bool(np.all(np.diff(seen) < 0)),
        observed_above_missing=bool(
            np.all(seen > missing[:-1]) and np.all(seen >= missing[-1] * (1 - 1e-12))
        ),
        missing_grow=bool(np.all(np.diff(missing, axis=0) > 0)),
    )


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
    >>> from inldl.weighting import weighted_empirical_risk
    >>> weighted_empirical_risk([[0.5, 0.25], [1.0, 0.0]], [[1, 2], [1, 1]])
    1.0
    """
    losses, weights = _number("losses", losses), _number("weights", weights)
    if losses.ndim != 2 or losses.shape != weights.shape or not losses.size:
        raise ValueError(
            f"losses has shape {losses.shape} and weights has shape {weights.shape}: both need "
            "one row per sample and one column per label."
        )
    finite = "is not finite: give any number and weight 0 if it does not count"
    positive = "must be a finite number of at least 0"
    for name, array, problem in (("loss", losses, finite), ("weight", weights, positive)):
        bad = ~np.isfinite(array) | ((array < 0) & (name == "weight"))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise ValueError(f"the {name} in row {row}, column {column} {problem}.")
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
    >>> from inldl.weighting import rademacher_bound
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
    >>> from inldl.weighting import linear_bound
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
