"""Measure how close predicted distributions are to true ones.

Call every metric as ``metric(y_true, y_pred, *, sample_weight=None)`` for the mean over rows, and
as ``metric.per_row(y_true, y_pred)`` for the value of each row. In the formulas, p is a row of
``y_true`` and q the same row of ``y_pred``. Where a degree of ``y_true`` is NaN (missing), the
metric ignores both p and q. `crps` and `energy_score` judge draws, several tables at
once, and `log_score` judges Dirichlet distributions.
"""

from inldl.metrics.draws import crps, energy_score, log_score
from inldl.metrics.formulas import *  # noqa: F403
from inldl.metrics.registry import (
    EXTRA_METRICS,
    METRICS,
    Metric,
    Pair,
    evaluate,
    recovery,
    scorer,
    scorers,
)

__all__ = [
    "EXTRA_METRICS",
    "METRICS",
    "Metric",
    "Pair",
    "crps",
    "energy_score",
    "evaluate",
    "log_score",
    "recovery",
    "scorer",
    "scorers",
    *METRICS,
]
