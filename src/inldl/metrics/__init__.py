"""Measure how close predicted distributions are to true ones.

Call every metric as ``metric(y_true, y_pred, *, per_row=False, sample_weight=None)``. In the
formulas, p is a row of ``y_true`` and q the same row of ``y_pred``. Where a degree of ``y_true``
is NaN (missing), the metric ignores both p and q.
"""

from inldl.metrics._paper import *  # noqa: F403
from inldl.metrics._probability import *  # noqa: F403
from inldl.metrics._ranks import *  # noqa: F403
from inldl.metrics._recovery import recovery
from inldl.metrics._registry import METRICS, Metric, Pair, evaluate, scorer, scorers

__all__ = ["METRICS", "Metric", "Pair", "evaluate", "recovery", "scorer", "scorers", *METRICS]
