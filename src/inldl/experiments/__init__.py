"""Compare methods: the paper's protocol, a resumable runner, statistics, and the paper's tables.

>>> from inldl.experiments import Store, grid, run
>>> cells = grid(["random(n=200)"], ["winldl", "constant-mean"], rates=[0.5], splits=2)
>>> len(cells)
4

``run(cells, "run.sqlite", jobs=2)`` computes them, and ``Store("run.sqlite").frame()`` returns one
row for each.
"""

from inldl.experiments.protocol import (
    RATES,
    RECIPES,
    SPLITS,
    Cell,
    Fold,
    grid,
    make_fold,
    preparation,
)
from inldl.experiments.results import Summary, summarize
from inldl.experiments.runner import run
from inldl.experiments.store import Row, Store

__all__ = [
    "RATES",
    "RECIPES",
    "SPLITS",
    "Cell",
    "Fold",
    "Row",
    "Store",
    "Summary",
    "grid",
    "make_fold",
    "preparation",
    "run",
    "summarize",
]
