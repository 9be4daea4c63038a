"""Datasets, and functions that hide some of their degrees.

``load`` and ``catalogue``, for the public datasets, are in the package inldl-paper.
"""

from typing import Any

from inldl.datasets._hiding import MECHANISMS, hide, hide_with_bounds, hide_with_sums
from inldl.datasets.built_in import load_budget_shares, load_concrete, make_distributions
from inldl.specs import import_distribution

__all__ = [
    "MECHANISMS",
    "hide",
    "hide_with_bounds",
    "hide_with_sums",
    "load_budget_shares",
    "load_concrete",
    "make_distributions",
]


def __getattr__(name: str) -> Any:
    if name in ("catalogue", "load"):
        return getattr(import_distribution("inldl-paper", f"inldl.datasets.{name}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
