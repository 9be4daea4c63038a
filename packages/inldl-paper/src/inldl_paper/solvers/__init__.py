"""The problems of the compared methods, without scikit-learn: each module states one.

Numba is imported when the kernel is first asked for, not before.
"""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {"weighted_simplex_columns": f"{__name__}.weighted_simplex"}
)
