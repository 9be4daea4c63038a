"""Names of the package, for type checkers; see tests/helpers/stubs.py."""

from inldl_torch.loss import partial_kl as partial_kl
from inldl_torch.modules import DistributionHead as DistributionHead
from inldl_torch.modules import WeightedPartialLoss as WeightedPartialLoss
from inldl_torch.modules import partial_kl_sparse as partial_kl_sparse
from inldl_torch.modules import project_simplex as project_simplex
from inldl_torch.neural import NeuralLDL as NeuralLDL

def need_torch(what: str) -> None: ...
