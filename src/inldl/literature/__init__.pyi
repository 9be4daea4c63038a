"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl.literature.group_correlations import EDLLRL as EDLLRL
from inldl.literature.group_correlations import LDM as LDM
from inldl.literature.low_rank import InLDLADMM as InLDLADMM
from inldl.literature.low_rank import InLDLProx as InLDLProx
from inldl.literature.maximum_entropy import BFGSLDL as BFGSLDL
from inldl.literature.maximum_entropy import IISLDL as IISLDL
