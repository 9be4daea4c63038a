"""True and predicted rows side by side, ready for the formulas."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

FLOOR = 1e-6
"""Clark, Canberra and Kullback-Leibler replace a predicted 0 by this."""


class Pair(NamedTuple):
    """True rows ``p`` and predicted rows ``q``, both (n, C) and both 0 where missing."""

    p: FloatArray
    q: FloatArray
    observed: BoolArray

    @classmethod
    def of(cls, truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> Self:
        """Reduce both to the observed entries, in double precision, without any check."""
        observed = ~np.isnan(truth)
        # One memory order, so that sums do not depend on where the table came from.
        p, q = (np.where(observed, y, 0).astype(np.float64, order="C") for y in (truth, predicted))
        return cls(p, q, observed)

    def floored(self) -> FloatArray:
        """Return ``q`` with 0 replaced by ``FLOOR`` where the true degree is observed."""
        return np.where(self.observed & (self.q == 0), FLOOR, self.q)


def ratio(above: FloatArray, below: FloatArray, *, otherwise: float = 0.0) -> FloatArray:
    """Divide where ``below`` is positive, and return ``otherwise`` elsewhere."""
    return np.divide(above, below, out=np.full_like(above, otherwise), where=below > 0)
