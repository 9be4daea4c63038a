"""Bend predictions towards one measure, as held-out rows advise."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from inldl.metrics import METRICS
from inldl.rows.cells import known_cells, quantiles

POWERS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75)
MOST_ROWS = 5000  # more would not change the choice among so few


@dataclass(frozen=True)
class Calibration:
    """Raise degrees to a floor, take a power, and scale rows to sum to 1.

    It serves the measure `metric`, whose value at what is known of held-out rows was
    `before` and is `after`. A power above 1 sharpens distributions. The floor of a label is the
    quantile `level` of its positive observed degrees.
    """

    metric: str
    power: float
    level: float
    floor: np.ndarray
    before: float
    after: float

    def __call__(self, degrees):
        """Return bent rows."""
        return _bent(degrees, self.floor, self.power)

    def __str__(self):
        floors = "no floor"
        if self.level:
            floors = f"floors at the {self.level:.0%} quantile of positive degrees"
        return (
            f"Adjusted to suit {self.metric}: power {self.power:g}, {floors}; on held-out rows it "
            f"went from {self.before:.4f} to {self.after:.4f}."
        )


def choose_calibration(metric, y, held_out, weights=None):
    """Return the calibration with the best value of `metric` on rows predicted without them."""
    rows = slice(None, None, -(-len(y) // MOST_ROWS))
    y, held_out = y[rows], held_out[rows]
    weights = None if weights is None else weights[rows]
    measure, sign = METRICS[metric].function, -1 if METRICS[metric].higher_is_better else 1
    floors = {level: _floor(y, level, weights) for level in LEVELS}

    def value(predicted):
        return measure(*known_cells(y, predicted), sample_weight=weights)

    values = {
        (power, level): value(_bent(held_out, floors[level], power))
        for power, level in product(POWERS, LEVELS)
    }
    # Of equals the one that bends least: ranks, for example, are the same for all powers.
    power, level = min(
        values, key=lambda each: (sign * values[each], abs(np.log(each[0])), each[1])
    )
    return Calibration(metric, power, level, floors[level], value(held_out), values[power, level])


def _floor(y, level, weights):
    """Return a quantile of the positive observed degrees of each label; none is the quantile 0."""
    if not level:
        return np.zeros(y.shape[1])
    positive = np.where(y > 0, y, np.nan)
    seen = ~np.isnan(positive).all(axis=0)
    floor = np.zeros(y.shape[1])
    floor[seen] = quantiles(positive[:, seen], level, weights)
    return floor


def _bent(degrees, floor, power):
    bent = np.maximum(degrees, floor) ** power
    return bent / bent.sum(axis=1, keepdims=True)
