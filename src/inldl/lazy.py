"""Import the names of a package when they are first used.

This module imports nothing itself: under ``python -m inldl`` the working folder is still first on
the path, and a file there may have the name of a standard module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    `homes` maps each public name to the module that defines it.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(homes[name]), name)
        setattr(import_module(package), name, value)  # from now on it is found without this
        return value

    return __getattr__, lambda: sorted(homes), sorted(homes)
