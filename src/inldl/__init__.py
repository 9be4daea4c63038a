"""Learn from label distributions of which many degrees are missing.

Names are imported when they are first used, so that ``import inldl`` costs next to nothing.
"""

from importlib import import_module

from inldl import _file_state
from inldl._version import __version__ as __version__
from inldl.methods import classes

_OTHERS = {"Model": "inldl.tables:Model", "evaluate": "inldl.metrics:evaluate",
           "hide": "inldl.datasets:hide"}  # fmt: skip
__all__ = sorted([*classes(), *_OTHERS])


def __getattr__(name):
    path = {**classes(), **_OTHERS}.get(name)
    if path is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = path.partition(":")
    return globals().setdefault(name, getattr(import_module(module), attribute))


def __dir__():
    return sorted({*globals(), *__all__})


_file_state.exported = __getattr__  # model files name classes as this module does
