"""The parameters of an estimator, each stated once: its name, its kind, and its default.

The kinds below are types that know which values they refuse; a `Literal` lists all it takes.
"""

from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from typing import Annotated, Literal, dataclass_transform, get_args, get_origin, get_type_hints

from inldl.rows.checks import check_choice, check_number


def _check_kernel(name, value):
    if value is not None:
        check_choice(name, value, ("rbf", "laplacian", "auto"))


def _unless(special, **limits):
    """Return the check of a number that may be `special` instead."""

    def check(name, value):
        if not (isinstance(value, type(special)) and value == special):
            also = f" or {special!r}" if isinstance(special, str) else ""
            check_number(name, value, also=also, **limits)

    return check


Positive = Annotated[float, partial(check_number, above=0)]
NotNegative = Annotated[float, partial(check_number, low=0)]
AtLeastOne = Annotated[float, partial(check_number, low=1)]
Count = Annotated[int, partial(check_number, low=1, integer=True)]
CountOrNone = Annotated[int | None, _unless(None, low=1, integer=True)]
CountOrZero = Annotated[int, partial(check_number, low=0, integer=True)]
Auto = Annotated[float | str, _unless("auto", above=0)]
AutoOrNotNegative = Annotated[float | str, _unless("auto", low=0)]
Folds = Annotated[int | None, _unless(None, low=2, integer=True)]
KernelOrNone = Annotated[str | None, _check_kernel]
Jobs = Annotated[int | None, _unless(None, integer=True)]
Seconds = Annotated[float | None, _unless(None, above=0)]
Known = Literal["degrees", "ratios"]

_ATTRIBUTES = """
n_features_in_, n_labels_ : int
    Number of features, and of labels.
feature_names_in_, label_names_ : ndarray of str
    Their names, if `X` and `y` are frames that have names; else `label_names_` is None."""
_EXAMPLES = """Examples
--------
>>> from inldl import hide
>>> from inldl.{1} import {0}
>>> from inldl.datasets import make_distributions
>>> X, y = make_distributions(300, random_state=0)
>>> model = {0}().fit(X, hide(y, 0.4, random_state=0))
>>> model.predict(X[:1]).sum().round(6).item()
1.0
>>> bool(model.score(X, y) > 0.9)
True"""


@dataclass_transform(eq_default=False)
def parameters(cls):
    """Give a class the constructor that scikit-learn asks for: it stores the annotated attributes.

    Python's `dataclass` writes it, but the class does not stay one: Dask tells two dataclasses
    apart by their fields alone, and would take two fits with the same parameters for one. The
    method `_check_parameters` refuses wrong values when a fit begins, and when a method is named.
    A class that has more to refuse states its own, which calls `check_parameters`. The docstring
    gets the attributes that every fitted estimator has, behind its own, and an example if it has
    none.
    """
    cls = dataclass(eq=False, repr=False, match_args=False)(cls)
    del cls.__dataclass_fields__, cls.__dataclass_params__
    cls.__init__.__annotations__ = get_type_hints(cls.__init__)  # the plain types, for `help`
    cls._kinds = get_type_hints(cls, include_extras=True)
    start, title, rest = cleandoc(cls.__doc__ or "").partition("Attributes\n----------\n")
    if title:  # with PYTHONOPTIMIZE=2 there is none
        own, *others = rest.split("\n\n")
        if "Examples\n" not in rest:
            others.append(_EXAMPLES.format(cls.__name__, cls.__module__.split(".")[1]))
        cls.__doc__ = "\n\n".join([start + title + own + _ATTRIBUTES, *others])
    if "_check_parameters" not in vars(cls):
        cls._check_parameters = check_parameters
    return cls


def check_parameters(self):
    """Refuse values that a parameter does not take."""
    for name, kind in type(self)._kinds.items():
        if get_origin(kind) is Literal:
            check_choice(name, getattr(self, name), get_args(kind))
        elif get_origin(kind) is Annotated:
            check = kind.__metadata__[0]
            check(name, getattr(self, name))
