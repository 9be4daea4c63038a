"""Fill rows of which only the largest degrees are recorded.

What is learned from degrees that are hidden on purpose does not hold there: those that are
recorded are larger than all that are missing.
"""

from dataclasses import dataclass

import numpy as np

from inldl.solvers.selection import Selection, mechanism_of, split_evenly


@dataclass(frozen=True, eq=False)
class LargestRecorded:
    """What is expected of degrees that are not among the largest of their row.

    Attributes
    ----------
    selection : Selection
        What was learned about them.
    """

    selection: Selection

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
        return np.sqrt(variance + (split_evenly(y) - filled) ** 2)
