"""How much each degree counts: the weighting schemes of the paper.

A scheme is any object with two methods that return the weights Q (the loss is weighted by Q
squared):

``observed(degrees)``
    the weights of a block of rows, in the shape of ``degrees`` (rows x labels, 0 where missing);
``unobserved(means, progress)``
    the weights of the missing degrees, one per label. ``means`` is the mean degree of each label
    over all rows, where missing ones count as 0, and ``progress`` is ``t / T`` in (0, 1]. NaN for
    a label means that each of its missing degrees keeps the weight that ``observed`` gave it.

The paper's three principles are checked by `check_principles`.
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
