"""The parameters of an estimator, each stated once."""

from dataclasses import dataclass
from typing import dataclass_transform


@dataclass_transform(eq_default=False)
def parameters(cls):
    """Give a class the constructor that scikit-learn asks for: it stores the annotated attributes.

    Python's `dataclass` writes it, but the class does not stay one: Dask tells two dataclasses
    apart by their fields alone, and would take two fits with the same parameters for one.
    """
    cls = dataclass(eq=False, repr=False, match_args=False)(cls)
    del cls.__dataclass_fields__, cls.__dataclass_params__
    return cls
