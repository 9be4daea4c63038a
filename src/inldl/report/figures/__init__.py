"""Draw the figures of a study from tables of numbers.

Every function takes frames, series and arrays, and returns a ``matplotlib.figure.Figure`` that
belongs to nobody: pyplot is not used. Widths are in inches.
"""

from ._bars import relative_error_by_size, run_time
from ._curves import error_by_degree, growth, metric_against_rate, risk_bound
from ._held_out import comparison, errors_by_label, reliability
from ._holes import hidden_mass, holes_per_row, missing_map
from ._maps import completion_map, influence, predicted_map
from ._mu import mu_study
from ._ranks import critical_difference
from ._saving import save, svg

__all__ = [
    "comparison",
    "completion_map",
    "critical_difference",
    "error_by_degree",
    "errors_by_label",
    "growth",
    "hidden_mass",
    "holes_per_row",
    "influence",
    "metric_against_rate",
    "missing_map",
    "mu_study",
    "predicted_map",
    "relative_error_by_size",
    "reliability",
    "risk_bound",
    "run_time",
    "save",
    "svg",
]
