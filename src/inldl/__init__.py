"""Learn from label distributions with many missing degrees.

Names are imported when they are first used, so that ``import inldl`` costs next to nothing.
"""

from inldl.lazy import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "AutoInLDL": "inldl.methods.auto",
        "SharesImputer": "inldl.tables.imputer",
        "TableModel": "inldl.tables.model",
        "WInLDL": "inldl.methods.winldl",
        "compare": "inldl.tables.comparison",
        "complete": "inldl.methods.pipelines",
        "complete_interval": "inldl.methods.pipelines",
        "draw": "inldl.methods.pipelines",
        "evaluate": "inldl.metrics",
        "hide": "inldl.datasets",
        "load_model": "inldl.files.model_file",
        "pool": "inldl.pooling",
        "read_table": "inldl.tables.reading",
        "save_model": "inldl.files.model_file",
        "suggest": "inldl.tables.ask",
        "vote_weights": "inldl.methods.vote_weights",
    },
)
