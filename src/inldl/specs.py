"""Name things in text: ``winldl(mu=8)``, ``package.module:Class(alpha=0.1)``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Spec:
    """A known name, or ``package.module:attribute``, and keyword arguments: literals, or words."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in sorted(self.arguments.items()))
        return f"{self.name}({inside})" if inside else self.name


def parse(text: str) -> Spec:
    """Read ``name`` or ``name(key=literal, ...)``. A name in an argument needs no quotes.

    Examples
    --------
    >>> parse("winldl( mu = 8 )")
    Spec(name='winldl', arguments={'mu': 8})
    >>> str(parse("winldl(ridge=auto)"))
    "winldl(ridge='auto')"
    >>> str(parse("tuned(method=inldl-p(lam=1))"))
    "tuned(method='inldl-p(lam=1)')"
    >>> str(parse("my.module:Method(b=2, a='x')"))
    "my.module:Method(a='x', b=2)"
    """
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return Spec(name.strip())
    source = f"f({rest}"
    try:
        call = ast.parse(source, mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        arguments = {k.arg or "**": _value(source, k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"{text!r} cannot be read: write a name, or a name with keyword arguments that are "
            "plain numbers, strings, lists or None, such as winldl(mu=8)."
        ) from None
    return Spec(name.strip(), arguments)


def _value(source: str, node: Any) -> Any:
    """Return a literal, or the text of a name, which may have hyphens and arguments itself."""
    text = ast.get_source_segment(source, node) or ""
    if isinstance(node, ast.Constant) or not re.fullmatch(r"[^\W\d]\w*(-\w+)*(\(.*\))?", text):
        return ast.literal_eval(node)
    return str(parse(text))


def import_object(path: str) -> Any:
    """Import what ``package.module:attribute`` names, or ``./file.py:attribute``."""
    module_name, _, attribute = path.partition(":")
    try:
        module = _import(module_name)
    except ImportError as error:
        raise ValueError(
            f"{path!r}: the module {module_name!r} cannot be imported ({error}); is it installed, "
            "or is its folder on PYTHONPATH?"
        ) from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        known = [name for name in dir(module) if not name.startswith("_")]
        raise ValueError(
            f"{module_name!r} has no {attribute!r}{did_you_mean(attribute, known)}"
        ) from None


def _import(name: str) -> Any:
    """Import a module, or a file, whose folder is on the path from then on."""
    if not name.endswith(".py"):
        return import_module(name)
    path = Path(name).resolve()
    if not path.is_file():
        raise ValueError(f"There is no file {name!r} to import from; check its path.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = import_module(path.stem)
    if str(module.__file__) != str(path):
        raise ImportError(f"there is another module {path.stem!r}; give the file another name")
    return module


def is_installed(distribution: str) -> bool:
    """Return whether a package that is released beside this one is there."""
    return find_spec(distribution.replace("-", "_")) is not None


def import_distribution(name: str, what: str) -> Any:
    """Import a package that is released beside this one; say how to install it for `what`."""
    if not is_installed(name):
        raise ImportError(
            f"{what} needs the package {name}: pip install {name} (in a clone of inldl: "
            f"pip install ./packages/{name})"
        )
    return import_module(name.replace("-", "_"))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: the near matches, or all that is known."""
    import difflib

    names = list(known)
    folded = {each.casefold(): each for each in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    if near:
        return f": did you mean {' or '.join(folded[each] for each in near)}?"
    return f": choose among {', '.join(names)}." if names else "."


def split_list(text: str) -> list[str]:
    """Split at the commas outside brackets.

    Examples
    --------
    >>> split_list("winldl(mu=8, tol=0), ldm")
    ['winldl(mu=8, tol=0)', 'ldm']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
