"""Measure how close predicted distributions are to true ones.

Every measure is called as ``measure(y_true, y_pred, *, per_row=False)``. In formulas p is a row
of ``y_true`` and q the same row of ``y_pred``. Degrees of ``y_true`` that are NaN were not
observed, and the measure sees neither p nor q there.
"""

from ._pair import Pair
from ._paper import *  # noqa: F403
from ._probability import *  # noqa: F403
from ._ranks import *  # noqa: F403
from ._registry import METRICS, Metric, evaluate
from ._scorers import scorer, scorers

__all__ = ["METRICS", "Metric", "Pair", "evaluate", "scorer", "scorers", *METRICS]
