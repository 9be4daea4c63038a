"""Datasets, and functions that hide some of their degrees."""

from inldl.datasets._hiding import MECHANISMS, hide, hide_with_bounds, hide_with_sums
from inldl.datasets.built_in import load_budget_shares, load_concrete, make_distributions
from inldl.datasets.public import catalogue, load

__all__ = [
    "MECHANISMS",
    "catalogue",
    "hide",
    "hide_with_bounds",
    "hide_with_sums",
    "load",
    "load_budget_shares",
    "load_concrete",
    "make_distributions",
]
