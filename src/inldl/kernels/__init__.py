"""Compiled per-row work. Numba is imported when a kernel is first asked for, not before."""

from inldl.lazy import lazy_names

_KERNELS = {
    "compile": ("lane_count",),
    "products": ("l1_distances", "narrow_fitted", "narrow_moments"),
    "simplex": (
        "masked_softmax_rows",
        "project_between",
        "project_columns",
        "weighted_simplex_columns",
    ),
    "trees": ("ExtraTrees", "add_boosted", "boost_softmax", "forest_mean", "grow_forest"),
    "winldl": ("winldl_step",),
}
__getattr__, __dir__, __all__ = lazy_names(
    __name__, {name: f"{__name__}.{home}" for home, names in _KERNELS.items() for name in names}
)
