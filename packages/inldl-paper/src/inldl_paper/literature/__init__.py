"""Methods of other papers: those that the paper compares with, and later ones."""

from inldl.lazy import lazy_names
from inldl.methods.registry import modules

__getattr__, __dir__, __all__ = lazy_names(__name__, modules(__name__))
