"""Partial distributions for PyTorch: a loss for holes, its sparse form, and a small network.

Names are imported when they are first used. All but `NeuralLDL` need PyTorch.
"""

from typing import Any

from inldl.lazy import lazy_names

_MODULES = {
    "loss": ("partial_kl",),
    "modules": ("partial_kl_sparse", "WeightedPartialLoss", "DistributionHead", "project_simplex"),
    "neural": ("NeuralLDL",),
}
_lazy_name, __dir__, __all__ = lazy_names(
    __name__, {name: f"{__name__}.{home}" for home, names in _MODULES.items() for name in names}
)


def need_torch(what: str) -> None:
    """Refuse to go on without PyTorch, which `what` needs."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs PyTorch: pip install torch") from error


def __getattr__(name: str) -> Any:
    if name in __all__ and name != "NeuralLDL":  # which predicts and is loaded without PyTorch
        need_torch(f"inldl_torch.{name}")
    return _lazy_name(name)
