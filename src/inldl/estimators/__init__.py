"""One method, one file: parameters, validation and fitted attributes.

``inldl.methods`` lists the methods; a class is imported when it is first asked for.
"""

from importlib import import_module
from pkgutil import iter_modules

from inldl.estimators._base import DistributionEstimator

__all__ = ["DistributionEstimator"]


def __getattr__(name):
    """Find a class in the module that defines it."""
    if not name.startswith("_"):
        for found in iter_modules(__path__):
            module = import_module(f"{__name__}.{found.name}")
            if getattr(vars(module).get(name), "__module__", None) == module.__name__:
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
