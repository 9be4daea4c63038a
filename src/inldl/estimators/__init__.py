"""One method, one file: parameters, validation and fitted attributes."""

from inldl.estimators._base import DistributionEstimator
from inldl.estimators.auto import AutoInLDL
from inldl.estimators.bfgs import BFGSLDL
from inldl.estimators.constant import ConstantLDL
from inldl.estimators.edl_lrl import EDLLRL
from inldl.estimators.forest import ForestLDL
from inldl.estimators.iis import IISLDL
from inldl.estimators.inldl import InLDLADMM, InLDLProx
from inldl.estimators.kernel_ridge import KernelRidgeLDL
from inldl.estimators.kernel_softmax import KernelSoftmaxLDL
from inldl.estimators.ldm import LDM
from inldl.estimators.regressor import RegressorLDL
from inldl.estimators.winldl import WInLDL

__all__ = [
    "BFGSLDL",
    "EDLLRL",
    "IISLDL",
    "LDM",
    "AutoInLDL",
    "ConstantLDL",
    "DistributionEstimator",
    "ForestLDL",
    "InLDLADMM",
    "InLDLProx",
    "KernelRidgeLDL",
    "KernelSoftmaxLDL",
    "RegressorLDL",
    "WInLDL",
]
