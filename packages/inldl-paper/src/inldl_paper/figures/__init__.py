"""Draw the figures of runs and of the paper; `inldl.report.save` writes one to a file."""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    dict.fromkeys(["critical_difference", "metric_against_rate", "run_time"], f"{__name__}.runs")
    | dict.fromkeys(
        ["error_by_degree", "growth", "mu_study", "relative_error_by_size", "risk_bound"],
        f"{__name__}.paper",
    ),
)
