"""How much each degree counts: the weighting schemes of the paper.

A scheme is any object with two methods that return the weights Q (the loss is weighted by Q
squared):

``observed(degrees)``
    the weights of a block of rows, in the shape of ``degrees`` (rows x labels, 0 where missing);
``unobserved(means, progress)``
    the weights of the missing degrees, one per label. ``means`` is the mean degree of each label
    over all rows, where missing ones count as 0, and ``progress`` is ``t / T`` in (0, 1]. NaN for
    a label means that each of its missing degrees keeps the weight that ``observed`` gave it.

A scheme that depends on the data also has

``learn(y)``
    the scheme for these degrees (NaN where missing), which is used instead.

The paper's three principles are checked by `check_principles`.
"""

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from inldl.rows.checks import check_choice
from inldl.rows.missingness import mechanism_of
from inldl.specs import parse

__all__ = [
    "ADDED_POWERS",
    "LEARNED_SCHEMES",
    "SCHEMES",
    "AutoWeighting",
    "DegreeWeighting",
    "ExponentialWeighting",
    "LinearWeighting",
    "Principles",
    "PropensityWeighting",
    "ProportionalWeighting",
    "RandomWeighting",
    "UniformWeighting",
    "check_principles",
    "get_weighting",
]


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


@dataclass(frozen=True)
class PropensityWeighting:
    """Weigh a degree by one over the chance that it was observed: ``Q^2 = s (offset + d)^-p``.

    Where small degrees are missing more often than large ones, the observed degrees are no fair
    sample, and these weights make up for it. `learn` takes the power p with which the weighted
    means of the labels sum to 1, as those of complete rows do, and the scale s with which the mean
    ``Q^2`` of the observed degrees is 1. If the sums of the rows do not show such a difference, or
    only the largest degrees of each row are recorded (the others have no chance then, and no
    weight makes up for that), p is 0. Missing degrees have weight 0.

    Parameters
    ----------
    offset : float, default=0.02
        Keeps the weights of the smallest degrees finite.
    power, scale : float
        p and s, which `learn` finds.
    """

    offset: float = 0.02
    power: float = 0.0
    scale: float = 1.0

    def learn(self, y) -> "PropensityWeighting":
        """Return the weighting for degrees, NaN where missing."""
        return self._with_power(self._balanced(y), y)

    def _balanced(self, y):
        """Return the power with which the weighted means of the labels sum to 1."""
        if mechanism_of(y) != "small":
            return 0.0
        logs = np.log(self.offset + np.maximum(y, 0))

        def excess(power):
            weights = np.exp(-power * logs)
            return (np.nansum(weights * y, axis=0) / np.nansum(weights, axis=0)).sum() - 1

        return MOST_POWER if excess(MOST_POWER) > 0 else brentq(excess, 0, MOST_POWER, xtol=1e-6)

    def _with_power(self, power, y):
        weights = (self.offset + np.maximum(y, 0)) ** -power
        return replace(self, power=power, scale=1 / np.nanmean(weights))

    def observed(self, degrees) -> np.ndarray:
        """Return ``sqrt(s) (offset + d)^(-p/2)``."""
        return np.sqrt(self.scale) * (self.offset + np.maximum(degrees, 0)) ** (-self.power / 2)

    def unobserved(self, means, progress) -> np.ndarray:
        """Return 0."""
        return np.zeros_like(means)


@dataclass(frozen=True)
class AutoWeighting(PropensityWeighting):
    """Weigh degrees for one metric: `PropensityWeighting`, and more for small degrees if it asks.

    Weights that decrease with the degree move predictions towards smaller degrees. That is what
    Clark's and the Canberra distance ask for, which measure relative errors: 1 is added to the
    power for them. Other metrics need the mean, so that nothing is added.

    Parameters
    ----------
    offset, power, scale : float
        As in `PropensityWeighting`.
    metric : str, default="cosine"
        What predictions will be judged by, one of `ADDED_POWERS`.
    """

    metric: str = "cosine"

    def learn(self, y) -> "AutoWeighting":
        """Return the weighting for degrees, NaN where missing."""
        check_choice("metric", self.metric, ADDED_POWERS)
        return self._with_power(self._balanced(y) + ADDED_POWERS[self.metric], y)


MOST_POWER = 2.0
_MEAN = ("cosine", "intersection", "chebyshev", "euclidean", "kl_divergence")
#: What `AutoWeighting` adds to the power for each metric.
ADDED_POWERS = {**dict.fromkeys(_MEAN, 0), "clark": 1, "canberra": 1}

#: The schemes that learn from the degrees, by name.
LEARNED_SCHEMES = {"propensity": PropensityWeighting, "auto": AutoWeighting}

#: The schemes of the paper by name.
SCHEMES = {
    "degree": DegreeWeighting,
    "linear": LinearWeighting,
    "uniform": UniformWeighting,
    "proportional": ProportionalWeighting,
    "exponential": ExponentialWeighting,
    "random": RandomWeighting,
}


def get_weighting(weighting, y=None) -> Any:
    """Return the scheme named `weighting`, or `weighting` itself if it already is a scheme.

    A name may have arguments, as in ``auto(metric=clark)``. What learns from the degrees gets `y`.
    """
    if isinstance(weighting, str):
        known = {**SCHEMES, **LEARNED_SCHEMES}
        spec = parse(weighting)
        check_choice("weighting", spec.name, known)
        try:
            weighting = known[spec.name](**spec.arguments)
        except TypeError as error:
            raise ValueError(f"The weighting {weighting!r} cannot be made: {error}.") from None
    if hasattr(weighting, "learn") and not isinstance(weighting, type):
        if y is None:
            raise ValueError(
                f"The weighting {weighting!r} learns from the sums of the rows: it needs the "
                'degrees of WInLDL, with X and y in memory and known="degrees".'
            )
        weighting = weighting.learn(y)
    methods = [getattr(weighting, name, None) for name in ("observed", "unobserved")]
    if isinstance(weighting, type) or not all(callable(method) for method in methods):
        names = ", ".join(map(repr, [*SCHEMES, *LEARNED_SCHEMES]))
        raise ValueError(
            f"weighting must be one of {names}, or an object with the "
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
