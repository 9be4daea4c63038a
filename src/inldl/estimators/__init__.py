"""One method, one file: parameters, validation and fitted attributes."""

from inldl.estimators._base import DistributionEstimator
from inldl.estimators.bfgs import BFGSLDL
from inldl.estimators.constant import ConstantLDL
from inldl.estimators.edl_lrl import EDLLRL
from inldl.estimators.iis import IISLDL
from inldl.estimators.inldl import InLDLADMM, InLDLProx
from inldl.estimators.ldm import LDM
from inldl.estimators.regressor import RegressorLDL
from inldl.estimators.winldl import WInLDL

__all__ = [
    "BFGSLDL",
    "EDLLRL",
    "IISLDL",
    "LDM",
    "ConstantLDL",
    "DistributionEstimator",
    "InLDLADMM",
    "InLDLProx",
    "RegressorLDL",
    "WInLDL",
]
