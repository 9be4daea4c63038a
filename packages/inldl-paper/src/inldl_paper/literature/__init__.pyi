"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_paper.literature.group_correlations import EDLLRL as EDLLRL
from inldl_paper.literature.group_correlations import LDM as LDM
from inldl_paper.literature.hidldl import HidLDL as HidLDL
from inldl_paper.literature.i2ldl import I2LDL as I2LDL
from inldl_paper.literature.low_rank import InLDLADMM as InLDLADMM
from inldl_paper.literature.low_rank import InLDLProx as InLDLProx
from inldl_paper.literature.maximum_entropy import BFGSLDL as BFGSLDL
from inldl_paper.literature.maximum_entropy import IISLDL as IISLDL
from inldl_paper.literature.wsldl_mcsc import WSLDLMCSC as WSLDLMCSC
