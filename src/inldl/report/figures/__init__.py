"""Draw the figures of a study from tables of numbers.

Every function takes frames, series and arrays, and returns a ``matplotlib.figure.Figure`` that
belongs to nobody: pyplot is not used. Widths are in inches. A function that is marked with
`inldl.report.style.drawn` in a module of this folder is a figure; nothing else lists it.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from inldl.report.figures._saving import save, svg

_modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
FIGURES = {
    name: function
    for module in _modules
    for name, function in vars(module).items()
    if getattr(function, "is_figure", False)
}
globals().update(FIGURES)
__all__ = ["save", "svg"]
__all__ += sorted(FIGURES)

if TYPE_CHECKING:  # a figure has a name here as soon as it is in a module

    def __getattr__(name: str) -> Any: ...
