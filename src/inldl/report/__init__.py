"""Draw what was measured: tables, figures and pages. Nothing but the layout is computed here."""

from .figures import (
    comparison,
    completion_map,
    critical_difference,
    error_by_degree,
    errors_by_label,
    growth,
    hidden_mass,
    holes_per_row,
    influence,
    metric_against_rate,
    missing_map,
    mu_study,
    relative_error_by_size,
    reliability,
    risk_bound,
    run_time,
    save,
    svg,
)
from .run_page import write_page
from .table_pages import (
    comparison_page,
    completion_page,
    evaluation_page,
    inspection_page,
    model_page,
)
from .tables import ScoreTable

__all__ = [
    "ScoreTable",
    "comparison",
    "comparison_page",
    "completion_map",
    "completion_page",
    "critical_difference",
    "error_by_degree",
    "errors_by_label",
    "evaluation_page",
    "growth",
    "hidden_mass",
    "holes_per_row",
    "influence",
    "inspection_page",
    "metric_against_rate",
    "missing_map",
    "model_page",
    "mu_study",
    "relative_error_by_size",
    "reliability",
    "risk_bound",
    "run_time",
    "save",
    "svg",
    "write_page",
]
