"""Draw what was measured: tables and figures. Nothing is computed here beyond the layout."""

from .figures import (
    critical_difference,
    error_by_degree,
    growth,
    metric_against_rate,
    mu_study,
    relative_error_by_size,
    risk_bound,
    run_time,
    save,
    svg,
)
from .run_page import write_page
from .tables import ScoreTable

__all__ = [
    "ScoreTable",
    "critical_difference",
    "error_by_degree",
    "growth",
    "metric_against_rate",
    "mu_study",
    "relative_error_by_size",
    "risk_bound",
    "run_time",
    "save",
    "svg",
    "write_page",
]
