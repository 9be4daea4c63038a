"""A label that is the total of the others is no share of its own."""

import re

import numpy as np

from inldl._validation import rounding_gap
from inldl.io._scale import WHOLE

_NAME = re.compile(r"(?i)(.*[\W_])?(total|totals|sum|all|overall|gesamt|summe|totale?)([\W_].*)?")
_FEW, _FEWEST = 10, 2  # rows that prove a total, and those that do if its name says so
_COARSE = 0.002  # of the whole: a label may well be a half everywhere if it is rounded to more


def refused_total(labels, values):
    """Return a sentence about a label that is the sum of all others in each complete row, or None.

    `values` are the numbers of the labels as they stand in the file. In a table of two labels, the
    two would be equal, which proves nothing.
    """
    complete = values[~np.isnan(values).any(axis=1)]
    sums = complete.sum(axis=1)
    complete, sums = complete[sums > 0], sums[sums > 0]
    if len(labels) < 3 or len(complete) < _FEWEST:
        return None
    # Each number may be off by half a unit of its last decimal.
    largest = np.abs(complete).max()
    gap = rounding_gap(complete, largest) * largest
    totals = (np.abs(2 * complete - sums[:, None]) <= gap).all(axis=0)
    others_vary = np.ptp(complete / sums[:, None], axis=0).max() > 0
    shares = any(np.abs(sums / whole - 1).max() <= _COARSE for whole in WHOLE.values())
    proved = len(complete) >= _FEW and others_vary and not (shares and gap > _COARSE * sums.min())
    for j in np.flatnonzero(totals):
        if proved or _NAME.fullmatch(labels[j]):
            return (
                f"The label {labels[j]!r} is the sum of the other labels in each of the "
                f"{len(complete):,} complete rows, so it is their total and no share of its own; "
                f"leave it out of the labels (--ignore {_quoted(labels[j])})."
            )
    return None


def _quoted(name):
    return f'"{name}"' if re.search(r"[^\w.-]", name) else name
