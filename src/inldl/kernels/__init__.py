"""Compiled per-row work. Numba is imported when a kernel is first asked for, not before."""

from inldl.lazy import lazy_names

_KERNELS = {
    "boosting": ("add_boosted", "boost_softmax"),
    "compile": ("lane_count",),
    "flows": ("bridges", "room_around", "round_flow", "settle_flow"),
    "loops": (
        "covariance",
        "l1_distances",
        "masked_softmax_rows",
        "narrow_fitted",
        "narrow_moments",
        "predict_paths",
        "project_between",
    ),
    "simplex": ("project_columns", "winldl_step"),
    "trees": ("ExtraTrees", "forest_mean", "grow_forest"),
}
__getattr__, __dir__, __all__ = lazy_names(
    __name__, {name: f"{__name__}.{home}" for home, names in _KERNELS.items() for name in names}
)
