"""One method, one file: parameters, validation and fitted attributes."""

from inldl.estimators.constant import ConstantLDL
from inldl.estimators.winldl import WInLDL

__all__ = ["ConstantLDL", "WInLDL"]
