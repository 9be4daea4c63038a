"""What the weights of rows may be."""

import numpy as np

from inldl.errors import DataError

WEIGHTLESS = (
    "All weights in sample_weight are zero, so no row counts; give at least one row a weight "
    "above 0."
)


def check_weights(weights, first_row=0):
    """Refuse weights of rows that are negative or not finite."""
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(
            "sample_weight has {value:g} in {row}; weights of rows are finite and not negative: "
            "correct it, or give 0 to leave the row out.",
            value=weights.flat[bad[0]],
            row=int(first_row + bad[0]),
        )


def as_weights(sample_weight, n=None):
    """Return the weights of n rows in double precision, or None if there are none."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    check_1d(weights)
    if n is not None and len(weights) != n:
        raise ValueError(
            f"There are {n} rows and {len(weights)} weights; give one weight per sample."
        )
    check_weights(weights)
    if not weights.any():
        raise ValueError(WEIGHTLESS)
    return weights


def check_1d(weights):
    """Refuse weights that are not one for each row."""
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight must be 1-D, one weight per sample, but its shape is {weights.shape}."
        )
