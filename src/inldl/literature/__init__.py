"""Methods of other papers that the paper compares with; later ones are in `inldl_paper`."""

from inldl.lazy import lazy_names
from inldl.methods.registry import modules

__getattr__, __dir__, __all__ = lazy_names(__name__, modules(__name__))
