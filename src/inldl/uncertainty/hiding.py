"""Hide observed degrees on purpose, as holes are."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from inldl.rows.density import evenly_spaced, log_size
from inldl.rows.missingness import mechanism_of
from inldl.rows.partial import PartialRows

MOST_NUMBERS = 2_500_000  # of all hidden degrees with their rows
FEWEST_OF_LABEL = 4  # hidden degrees, even if that is more
MOST_WEIGHT = 5.0  # of a hidden degree, relative to the mean
ROUNDS = 3  # of meeting margins one after the other
# Where sizes decide more strongly, too few degrees like the missing ones are observed
STEEPEST_WEIGHTS = 1.0


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Observed degrees that are hidden, one in each row of `left`; then what fills them again."""

    row: np.ndarray  # (m,) where they stand
    label: np.ndarray  # (m,)
    left: np.ndarray  # (m, n_labels) what is left of their rows
    degrees: np.ndarray  # (m,) what they are
    filled: np.ndarray | None = None  # (m,) what was filled in by what was learned without them
    # (m,) how much each counts, so that rows with many holes count as they do among all holes
    weights: np.ndarray | None = None

    @property
    def at(self) -> tuple[np.ndarray, np.ndarray]:
        """Where they stand in `left`."""
        return np.arange(len(self.row)), self.label

    def take(self, chosen) -> "HiddenCells":
        """Return some of them."""
        arrays = {name: a[chosen] for name, a in vars(self).items() if a is not None}
        return HiddenCells(**arrays)

    @classmethod
    def together(cls, parts) -> "HiddenCells":
        """Return several as one."""
        names = [name for name, a in vars(parts[0]).items() if a is not None]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})


def hide_each_label(y, seed, rows=None) -> HiddenCells:
    """Hide each observed degree of some rows, one at a time.

    A row keeps the holes it has. If it has no other hole, the sum would give the hidden degree
    away; such a row also gets the holes of a row that misses the label, or one at random if there
    is no such row with several holes. Tables with many labels are thinned out evenly.
    """
    rows = np.arange(len(y)) if rows is None else rows
    generator = np.random.default_rng([seed, 1])
    most = max(FEWEST_OF_LABEL, MOST_NUMBERS // y.shape[1] ** 2)
    labels = range(y.shape[1])
    return HiddenCells.together([_hide_label(y, j, rows, most, generator) for j in labels])


def _hide_label(y, label, rows, most, generator):
    holes, n_labels = np.isnan(y), y.shape[1]
    rows = rows[~holes[rows, label]]
    rows = rows[evenly_spaced(len(rows), most)]
    left = y[rows]
    left[:, label] = np.nan
    alone = np.flatnonzero(np.isnan(left).sum(axis=1) == 1)
    like = np.flatnonzero(holes[:, label] & (holes.sum(axis=1) > 1))
    if len(like):
        left[alone] = np.where(holes[generator.choice(like, len(alone))], np.nan, left[alone])
    elif n_labels > 1:
        other = (label + generator.integers(1, n_labels, len(alone))) % n_labels
        left[alone, other] = np.nan
    return HiddenCells(rows, np.full(len(rows), label), left, y[rows, label])


def raked(weights, margins) -> np.ndarray:
    """Return weights whose sums over groups are in the wanted proportions, nearly in all margins.

    A margin is the group of each weight, and a wanted sum for each group; those of the last margin
    are met. Groups without a weight are left out.
    """
    for group, want in margins * ROUNDS:
        have = np.bincount(group, weights, minlength=len(want))
        want = np.where(have > 0, want, 0)
        if want.any():
            weights = weights * (want / np.where(have > 0, have, 1))[group]
    return weights


def share_of_holes(left, y) -> np.ndarray:
    """Return weights with which rows of `left` have as many holes as those of `y`.

    They are 1 if y has no row with several holes.
    """
    n_labels = y.shape[1]
    have, want = (np.isnan(a).sum(axis=1) for a in (left, y))
    want = np.bincount(want, minlength=n_labels + 1) * np.arange(n_labels + 1.0)
    want[:2] = 0
    if not want.any():
        return np.ones(len(left))
    weights = (want / np.maximum(np.bincount(have, minlength=n_labels + 1), 1))[have]
    if not weights.any():
        return np.ones(len(left))
    return np.minimum(weights / weights.mean(), MOST_WEIGHT)


def weights_of_holes(y, refilled) -> np.ndarray | None:
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
    rest = np.where(holes.any(axis=1), PartialRows(y).rest, 0)
    size, mean = log_size(refilled.degrees, y.shape[1]), rest.sum() / holes.sum()
    n_holes = np.isnan(refilled.left).sum(axis=1)
    margins = [(n_holes, np.bincount(n_holes, weights)), (refilled.label, holes.sum(axis=0))]

    def tilted(b):
        return raked(weights * np.exp(-b * size), margins)

    def excess(b):
        return np.average(refilled.degrees, weights=tilted(b)) - mean

    beyond = np.sign(excess(STEEPEST_WEIGHTS)) == np.sign(excess(-STEEPEST_WEIGHTS))
    if beyond and mechanism_of(y, fewest=1) != "random":
        return None
    if beyond:  # by chance
        return tilted(min(-STEEPEST_WEIGHTS, STEEPEST_WEIGHTS, key=lambda b: abs(excess(b))))
    return tilted(brentq(excess, -STEEPEST_WEIGHTS, STEEPEST_WEIGHTS))
