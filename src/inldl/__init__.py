"""Learn from label distributions with many missing degrees.

Names are imported when they are first used, so that ``import inldl`` costs next to nothing. It
imports nothing itself: under ``python -m inldl`` the working folder is still first on the path.
"""

from inldl._version import __version__ as __version__

_OTHERS = {"Model": "inldl.tables:Model", "complete": "inldl.estimators._given_rows:complete",
           "evaluate": "inldl.metrics:evaluate", "hide": "inldl.datasets:hide",
           "pooled": "inldl.pooling:pooled", "suggest": "inldl.tables.asking:suggest",
           "vote_weights": "inldl.estimators.vote_weights:vote_weights"}  # fmt: skip


def __getattr__(name):
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from inldl.methods import classes

    paths = {**classes(), **_OTHERS}
    if name == "__all__":
        return sorted(paths)
    if name not in paths:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = paths[name].partition(":")
    return globals().setdefault(name, getattr(import_module(module), attribute))


def __dir__():
    return sorted({*globals(), *__getattr__("__all__")})
