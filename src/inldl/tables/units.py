"""The units of a table: shares as fractions of 1, or as percentages where the table has these.

A unit is the word for it, or nothing for fractions.
"""

import math

import numpy as np

from inldl.tables.scale import WHOLE

PERCENT = "percent"
POINTS = "percentage points"
ROUNDING = 0.025  # of an error, by which the printed one may differ
MOST_DECIMALS = 8
NONE = 1e-9  # smaller errors come from rounding in computing


def whole_of(scale):
    """Return what shares in a table sum to; counts are shown as fractions."""
    return WHOLE.get(scale, 1.0)


def form_of(unit, errors=()):
    """Return the format of shares and errors: percentages need fewer decimals than fractions.

    Small errors get more decimals, up to eight, so that rounding changes them by at most 2.5%.
    """
    least = min((each for each in errors if each > NONE), default=1.0)
    needed = math.ceil(math.log10(0.5 / ROUNDING / least) - 1e-9)
    return f".{min(max(2 if unit else 4, needed), MOST_DECIMALS)}f"


def in_unit(unit):
    """Return the end of a caption that names the unit."""
    return f", in {unit}" if unit else ""


def amount(share, unit):
    """Return a share as a sentence has it: 0.339, or 33.9%."""
    return f"{share:.1f}%" if unit else f"{share:.3f}"


def error(value, unit):
    """Return an error as a sentence has it: 0.0576, or 5.76 percentage points."""
    return f"{value:{form_of(unit, [value])}} {unit}".rstrip()


def paired_ends(lower, upper):
    """Return the ends of the intervals, both of a label side by side."""
    return np.round(np.stack([lower, upper], axis=2), 6).reshape(len(lower), -1)


def rounded_rows(values):
    """Return rows of nine decimals that keep their sum: the largest takes the rest."""
    rounded = np.round(values, 9)
    rows, largest = np.arange(len(values)), np.argmax(values, axis=1)
    rounded[rows, largest] += np.round(values.sum(axis=1) - rounded.sum(axis=1), 9)
    return rounded
