r"""How sure shares of votes are: noise that shrinks with the number of votes, and the rest.

A share of N votes differs from the share of all who could vote by a variance :math:`s^2 / N`, and
that from what a model can predict by :math:`\tau^2`, whatever N is. Held-out squared errors are
about :math:`\tau^2 + s^2 / N`, so both follow from a regression on :math:`1 / N`; a row weighs

.. math:: w \propto \frac{1}{\tau^2 + s^2 / N}

With :math:`\tau^2` large, as for a poor model, votes hardly matter; with :math:`\tau^2 = 0` rows
weigh in proportion to their votes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from inldl.solvers.winldl import Array

ROUNDS = 10  # of weighing the regression by what it found before


@dataclass(frozen=True)
class VoteNoise:
    """The variance of errors that stays with any number of votes, and that of a single vote."""

    lasting: float
    of_one_vote: float

    def weights(self, votes: Array) -> Array:
        """Return the weights of rows, of mean 1 where there are votes; 0 where there are none."""
        voted = votes > 0
        variance = self.lasting + self.of_one_vote / np.where(voted, votes, 1)
        found = np.where(voted, 1 / variance if (variance > 0).all() else 1.0, 0.0)
        return found / found[voted].mean() if voted.any() else found


def estimate_vote_noise(squares: Array, votes: Array) -> VoteNoise:
    """Estimate the noise from the mean squared errors of held-out rows, NaN where there are none.

    The regression of the squares on 1 and 1/N, with N the votes that the shares of a row rest on,
    has coefficients that are not negative. A squared error varies in proportion to its
    expectation, so each counts by the inverse of that.
    """
    known = np.isfinite(squares) & (votes > 0)
    squares, votes = squares[known], votes[known]
    if not squares.any():
        return VoteNoise(0.0, 0.0)
    unit = squares.mean()
    parts = np.column_stack([np.ones(len(votes)), 1 / votes])
    expected = np.ones(len(votes))
    for _ in range(ROUNDS):
        found = nnls(parts / expected[:, None], squares / unit / expected)[0]
        expected = np.maximum(parts @ found, 1e-6)
    return VoteNoise(*(unit * found).tolist())
