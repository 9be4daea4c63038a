"""Degrees that are missing because of their size.

Where only the largest degrees of each row are recorded, what is learned from degrees that are
hidden on purpose does not hold: those that are recorded are larger than all that are missing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from inldl.completion.hiding import raked
from inldl.rows.partial import PartialRows
from inldl.rows.selection import Selection, logarithm, mechanism_of

STEEPEST = (
    1.0  # slope: where size decides more strongly, too few like the missing ones are observed
)


@dataclass(frozen=True, eq=False)
class LargestRecorded:
    """What is expected of degrees that are not among the largest of their row."""

    selection: Selection  # what was learned about them

    @classmethod
    def of(cls, y):
        """Return what rows show, or None if others than the largest degrees are recorded."""
        if mechanism_of(y) != "rest":
            return None
        return cls(Selection.learn(y, bounded=True))

    def fill(self, y):
        """Return rows without holes, none of which is above the smallest recorded degree."""
        return self.selection.fill(y)[0]

    def limits(self, y):
        """Return what the holes of each row cannot exceed, as a column."""
        return self.selection.bounds(y)

    def spread(self, y):
        """Return the standard deviations of the holes around what is filled in, 0 elsewhere.

        What is expected of a hole lies as far from what is filled in as that does from an even
        split.
        """
        filled, variance = self.selection.fill(y)
        return np.sqrt(variance + (PartialRows(y).evenly() - filled) ** 2)


def weights_of_holes(y, refilled):
    r"""Return weights with which observed degrees, `refilled`, are like the missing ones of `y`.

    Rows with many holes count as they do by the weights so far, each label as often as it is
    missing, and the mean is that of the missing degrees, which the sums of the rows give: the
    weight of a degree d is multiplied by :math:`(C d + 0.1)^{-b}`, with the b that does it.
    Returns None if sizes decide what is missing and b is beyond -1 and 1: hardly any observed
    degrees are like the missing ones then.
    """
    holes, weights = np.isnan(y), refilled.weights
    if not holes.any():
        return weights
    rest = np.where(holes.any(axis=1), 1 - np.nansum(y, axis=1), 0)
    size, mean = logarithm(refilled.degrees, y.shape[1]), rest.sum() / holes.sum()
    n_holes = np.isnan(refilled.left).sum(axis=1)
    margins = [(n_holes, np.bincount(n_holes, weights)), (refilled.label, holes.sum(axis=0))]

    def tilted(b):
        return raked(weights * np.exp(-b * size), margins)

    def excess(b):
        return np.average(refilled.degrees, weights=tilted(b)) - mean

    beyond = np.sign(excess(STEEPEST)) == np.sign(excess(-STEEPEST))
    if beyond and mechanism_of(y, fewest=1) != "random":
        return None
    if beyond:  # by chance
        return tilted(min(-STEEPEST, STEEPEST, key=lambda b: abs(excess(b))))
    return tilted(brentq(excess, -STEEPEST, STEEPEST))


def most_errors(y, filled, bounds):
    """Return the largest sum of absolute errors that the holes of each row can have.

    They are at most `bounds`, and sum to what the row leaves. As many as possible reach the bound
    then, those first of which least was filled in.
    """
    holes, rest = np.isnan(y), np.maximum(1 - np.nansum(y, axis=1), 0)[:, None]
    ascending = np.sort(np.where(holes, filled, np.inf), axis=1)
    worst = np.clip(rest - np.arange(y.shape[1]) * bounds, 0, bounds)
    return np.where(np.isinf(ascending), 0, np.abs(worst - ascending)).sum(axis=1)
