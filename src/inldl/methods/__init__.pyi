"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.methods.auto import AutoInLDL as AutoInLDL
from inldl.methods.auto_fitting import AutoReport as AutoReport
from inldl.methods.auto_fitting import MemberReport as MemberReport
from inldl.methods.base import DistributionEstimator as DistributionEstimator
from inldl.methods.baselines import ConstantLDL as ConstantLDL
from inldl.methods.baselines import RegressorLDL as RegressorLDL
from inldl.methods.members import ForestLDL as ForestLDL
from inldl.methods.members import KernelRidgeLDL as KernelRidgeLDL
from inldl.methods.members import KernelSoftmaxLDL as KernelSoftmaxLDL
from inldl.methods.pipelines import draw_scorer as draw_scorer
from inldl.methods.registry import METHODS as METHODS
from inldl.methods.registry import Method as Method
from inldl.methods.registry import canonical_method as canonical_method
from inldl.methods.registry import make_method as make_method
from inldl.methods.registry import register as register
from inldl.methods.winldl import WInLDL as WInLDL
