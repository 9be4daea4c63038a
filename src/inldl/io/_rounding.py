"""What rounding explains: by how much the sum of rounded degrees may miss the whole."""

import numpy as np

MOST = 0.05  # of the whole: a larger gap is an error more likely than rounding
_DECIMALS = 6  # finer numbers sum to the whole as exactly as is asked for
_STORED, _COMPUTED = 1e-7, 1e-9  # what single precision, and a computation, leave of a decimal


def explained_gap(values, whole):
    """Return by how much the rows of rounded numbers may miss the whole, as a share of it.

    Each number of a row is off by half a unit of the last decimal at most, and so are their sums
    by as many halves as there are columns.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        Numbers as they stand in the file, NaN where unobserved.
    whole : float
        What a row sums to.

    Returns
    -------
    float
        0 if the numbers have no few decimals.
    """
    known = values[np.isfinite(values)]
    near = _COMPUTED + _STORED * np.abs(known)
    for decimals in range(_DECIMALS + 1):
        if (np.abs(known - np.round(known, decimals)) <= near).all():
            gap = values.shape[1] / 2 * 10.0**-decimals / whole
            return min(gap, MOST) + _COMPUTED
    return 0.0


def gap_notes(sums, complete, holed, whole):
    """Return notes on the rows that are divided by their sums, of which some have holes."""
    notes = []
    if complete.any():
        what = "it is divided by its sum"
        if complete.sum() > 1:
            what = "they are divided by their sums"
        notes.append(
            f"{_rows(complete)} to {span(sums[complete] * whole)}, as rounded numbers do; "
            f"{what} for learning."
        )
    if holed.any():
        notes.append(
            f"{_rows(holed, ' with holes')} to {span(sums[holed] * whole)}, as rounded numbers "
            "do; the holes become 0."
        )
    return notes


def span(numbers):
    """Return "99 to 101", or "99" if all numbers look the same."""
    ends = [f"{end:.6g}" for end in (numbers.min(), numbers.max())]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _rows(which, more=""):
    count = int(which.sum())
    return f"1 row{more} sums" if count == 1 else f"{count:,} rows{more} sum"
