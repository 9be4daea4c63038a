"""Learn from label distributions of which many degrees are missing.

Names are imported when they are first used, so that ``import inldl`` costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "AutoInLDL": "inldl.estimators",
    "BFGSLDL": "inldl.estimators",
    "ConstantLDL": "inldl.estimators",
    "EDLLRL": "inldl.estimators",
    "ForestLDL": "inldl.estimators",
    "IISLDL": "inldl.estimators",
    "InLDLADMM": "inldl.estimators",
    "InLDLProx": "inldl.estimators",
    "KernelRidgeLDL": "inldl.estimators",
    "KernelSoftmaxLDL": "inldl.estimators",
    "LDM": "inldl.estimators",
    "Model": "inldl.tables",
    "RegressorLDL": "inldl.estimators",
    "WInLDL": "inldl.estimators",
    "evaluate": "inldl.metrics",
    "hide": "inldl.datasets",
}
__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOMES})
