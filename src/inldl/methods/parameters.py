"""Declare the parameters of an estimator once: name, kind, default and documentation.

The kinds below are types that know which values they refuse; a `Literal` lists all it takes.
"""

import re
from ast import literal_eval
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from inldl.methods.registry import classes
from inldl.rows.checks import check_choice, check_number


def _unless_auto(name, value, **limits):
    """Check a number that may be "auto" instead."""
    if not (isinstance(value, str) and value == "auto"):
        check_number(name, value, also=" or 'auto'", **limits)


# A default is not checked, so a parameter whose default is None need not say that None is allowed.
Positive = Annotated[float, partial(check_number, above=0)]
NotNegative = Annotated[float, partial(check_number, low=0)]
AtLeastOne = Annotated[float, partial(check_number, low=1)]
Count = Annotated[int, partial(check_number, low=1, integer=True)]
CountOrNone = Annotated[int | None, partial(check_number, low=1, integer=True)]
CountOrZero = Annotated[int, partial(check_number, low=0, integer=True)]
Auto = Annotated[float | str, partial(_unless_auto, above=0)]
AutoOrNotNegative = Annotated[float | str, partial(_unless_auto, low=0)]
Folds = Annotated[int | None, partial(check_number, low=2, integer=True)]
KernelOrNone = Annotated[str | None, partial(check_choice, choices=("rbf", "laplacian", "auto"))]
Jobs = Annotated[int | None, partial(check_number, integer=True)]
Seconds = Annotated[float | None, partial(check_number, above=0)]
Known = Literal["degrees", "ratios"]

_EXAMPLES = """Examples
--------
>>> from inldl import hide
>>> from {1} import {0}
>>> from inldl.datasets import make_distributions
>>> X, y = make_distributions(300, random_state=0)
>>> model = {0}().fit(X, hide(y, 0.4, random_state=0))
>>> model.predict(X[:1]).sum().round(6).item()
1.0
>>> bool(model.score(X, y) > 0.9)
True"""


Kind = TypeVar("Kind", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True)
def shared(cls: Kind) -> Kind:
    """Tell type checkers that a base annotates parameters of its methods, which come last."""
    return cls


@dataclass_transform(eq_default=False)
def parameters(cls: Kind) -> Kind:
    """Give a class the constructor that scikit-learn asks for: it stores the annotated attributes.

    Parameters that several classes share are annotated, and documented, in a base of theirs; they
    come after those of the class itself, which may give them another default.

    Python's `dataclass` writes the constructor, but the class does not stay one: Dask tells two
    dataclasses apart by their fields alone, and would take two fits with the same parameters for
    one. The method `_check_parameters` refuses wrong values when a fit begins, and when a method
    is named. A class that has more to refuse states its own, which calls `check_parameters`. The
    docstring gets the entries of the bases, and an example if it has none.
    """
    bases = [base for base in cls.__mro__[1:] if base.__module__.startswith("inldl.")]
    cls.__annotations__ = dict(vars(cls).get("__annotations__", {}))
    for base in bases:
        for name, kind in vars(base).get("__annotations__", {}).items():
            if get_origin(kind) is not ClassVar:
                cls.__annotations__.setdefault(name, kind)
    made: Any = dataclass(eq=False, repr=False, match_args=False)(cls)
    del made.__dataclass_fields__, made.__dataclass_params__
    made.__init__.__annotations__ = get_type_hints(made.__init__)  # the plain types, for `help`
    made._kinds = get_type_hints(cls, include_extras=True)
    if cls.__doc__ and bases:  # with PYTHONOPTIMIZE=2 there is none
        made.__doc__ = _documented(cls, bases)
    if "_check_parameters" not in vars(cls):
        made._check_parameters = check_parameters
    return made


def _documented(cls, bases):
    """Return the docstring of a class with what is documented elsewhere."""
    doc = cleandoc(cls.__doc__)
    for title in ("Parameters", "Attributes"):
        start, entries, rest = _section(doc, title)
        known = {name for entry in entries for name in _names(entry)}
        for base in bases:
            for entry in _section(cleandoc(base.__doc__ or ""), title)[1]:
                if not known.intersection(_names(entry)):
                    known.update(_names(entry))
                    entries.append(_with_default(entry, cls))
        doc = f"{start}{title}\n{'-' * len(title)}\n" + "\n".join(entries) + rest
    if "Examples\n" not in doc and cls.__name__ in classes():
        doc += "\n\n" + _EXAMPLES.format(cls.__name__, cls.__module__.rpartition(".")[0])
    return doc


def _section(doc, title):
    """Return what is before a section, its entries, and what is behind it."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\w[\w ]*\n---|\Z)", doc, re.M | re.S)
    if found is None:  # it goes before the first of the others
        first = re.search(r"^(?!Parameters)\w[\w ]*\n---", doc, re.M)
        at = len(doc) if first is None else first.start()
        return doc[:at], [], "\n\n" + doc[at:]
    return doc[: found.start()], re.split(r"\n(?=\w)", found[1]), doc[found.end() :]


def _names(entry):
    return entry.partition("\n")[0].partition(" : ")[0].split(", ")


def _with_default(entry, cls):
    """Return the entry of a shared parameter with the default that it has in a class."""
    stated, default = re.search("default=(.*)", entry), getattr(cls, _names(entry)[0], None)
    if stated is None or literal_eval(stated[1]) == default:
        return entry
    return entry.replace(stated[0], f"default={default!r}", 1)


def check_parameters(self) -> None:
    """Refuse values, other than the default, that a parameter does not take."""
    for name, kind in type(self)._kinds.items():
        value = getattr(self, name)
        if value is getattr(type(self), name):
            continue
        if get_origin(kind) is Literal:
            check_choice(name, value, get_args(kind))
        elif get_origin(kind) is Annotated:
            kind.__metadata__[0](name, value)
