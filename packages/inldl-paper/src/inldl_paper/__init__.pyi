"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_paper.hidldl import HidLDL as HidLDL
from inldl_paper.i2ldl import I2LDL as I2LDL
from inldl_paper.reproduction import reproduce as reproduce
from inldl_paper.study import printed_results as printed_results
from inldl_paper.wsldl_mcsc import WSLDLMCSC as WSLDLMCSC
