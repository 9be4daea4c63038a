"""Compiled per-row work. Numba is imported when a kernel is first asked for, not before."""

from importlib import import_module

_ROOMS = {
    "add_boosted": "forest",
    "boost_softmax": "forest",
    "find_bytes": "text",
    "forest_mean": "forest",
    "grow_forest": "forest",
    "l1_distances": "products",
    "lane_count": "vectors",
    "masked_softmax_rows": "softmax",
    "narrow_fitted": "products",
    "narrow_moments": "products",
    "note_signs": "text",
    "packed_words": "text",
    "project_between": "simplex",
    "project_columns": "simplex",
    "read_numbers": "text",
    "weighted_simplex_columns": "simplex",
    "winldl_step": "winldl",
}


def __getattr__(name):
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kernel = getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    globals()[name] = kernel
    return kernel
