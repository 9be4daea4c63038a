"""Compiled per-row work. Numba is imported when a kernel is first asked for, not before."""

from inldl.lazy import lazy_names

_HOMES = {
    "ExtraTrees": "trees",
    "add_boosted": "trees",
    "boost_softmax": "trees",
    "forest_mean": "trees",
    "grow_forest": "trees",
    "l1_distances": "products",
    "lane_count": "vectors",
    "masked_softmax_rows": "simplex",
    "narrow_fitted": "products",
    "narrow_moments": "products",
    "project_between": "simplex",
    "project_columns": "simplex",
    "weighted_simplex_columns": "simplex",
    "winldl_step": "winldl",
}
__getattr__, __dir__, __all__ = lazy_names(
    __name__, {name: f"inldl.kernels.{home}" for name, home in _HOMES.items()}
)
