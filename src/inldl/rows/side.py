"""What is known of rows beside their degrees and predictions."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Beside:
    """What is known of n rows beside their degrees and predictions.

    Attributes
    ----------
    signs : ndarray of shape (n, q) or None
        What tells how large errors are, such as a number of votes.
    features : ndarray of shape (n, k) or None
        All features, if they are few.
    """

    signs: np.ndarray | None = None
    features: np.ndarray | None = None

    def __getitem__(self, rows):
        """Return what is known of some rows."""
        return Beside(*(None if a is None else a[rows] for a in (self.signs, self.features)))


NOTHING = Beside()
