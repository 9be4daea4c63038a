"""Compare methods: the paper's protocol, a resumable runner, statistics, and the paper's tables.

>>> from inldl_paper.experiments import Store, grid, run
>>> cells = grid(["random(n=200)"], ["winldl", "constant-mean"], rates=[0.5], splits=2)
>>> len(cells)
4

``run(cells, "run.sqlite", jobs=2)`` computes them, and ``Store("run.sqlite").frame()`` returns one
row for each.
"""

from inldl.lazy import lazy_names

_FOLDS = ["Fold", "authors_split", "make_fold", "preparation", "write_folds"]
_PROTOCOL = ["RATES", "RECIPES", "SPLITS", "Cell", "grid"]
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    dict.fromkeys(_FOLDS, "inldl_paper.experiments.folds")
    | dict.fromkeys(_PROTOCOL, "inldl_paper.experiments.protocol")
    | {
        "Row": "inldl_paper.experiments.store",
        "Store": "inldl_paper.experiments.store",
        "Summary": "inldl_paper.experiments.results",
        "run": "inldl_paper.experiments.runner",
        "summarize": "inldl_paper.experiments.results",
    },
)
