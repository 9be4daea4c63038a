"""Estimators of label distributions: their parameters, how they are fitted, what they learned.

`registry` lists the methods by name. Their classes are imported when they are first used; some are
in distributions of their own.
"""

from typing import Any

from inldl.lazy import lazy_names
from inldl.methods.registry import METHODS, modules

_lazy_name, __dir__, __all__ = lazy_names(
    __name__,
    modules(__name__)
    | {
        "AutoReport": "inldl.methods.auto_fitting",
        "DistributionEstimator": "inldl.methods.base",
        "METHODS": "inldl.methods.registry",
        "MemberReport": "inldl.methods.auto_fitting",
        "Method": "inldl.methods.registry",
        "canonical_method": "inldl.methods.registry",
        "draw_scorer": "inldl.methods.pipelines",
        "make_method": "inldl.methods.registry",
        "register": "inldl.methods.registry",
    },
)


def __getattr__(name: str) -> Any:
    for method in METHODS.values():
        if method.distribution is not None and method.class_name == name:
            return method.load()
    return _lazy_name(name)
