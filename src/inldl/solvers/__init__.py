"""The mathematics, without scikit-learn: problems, the loop that solves them, and its result.

Each module states a problem in its docstring, with the functions that solve it; its estimator is
in `inldl.methods`.
"""

from pkgutil import iter_modules

__all__ = sorted(module.name for module in iter_modules(__path__))
