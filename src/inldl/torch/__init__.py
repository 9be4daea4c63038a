"""Partial distributions for PyTorch: a loss for holes, its sparse form, and a small network.

Names are imported when they are first used. All but `NeuralLDL` need PyTorch, the extra "torch";
nothing else in ``inldl`` does.
"""

from importlib import import_module

_HOMES = {
    "partial_kl": "loss",
    "partial_kl_sparse": "modules",
    "WeightedPartialLoss": "modules",
    "DistributionHead": "modules",
    "project_simplex": "modules",
    "NeuralLDL": "neural",
}
__all__ = sorted(_HOMES)


def need_torch(what: str) -> None:
    """Refuse to go on without PyTorch, which `what` needs."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs PyTorch: pip install 'inldl[torch]'") from error


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "NeuralLDL":  # it is fitted with PyTorch, but predicts and is loaded without
        need_torch(f"inldl.torch.{name}")
    home = import_module(f"{__name__}.{_HOMES[name]}")
    return globals().setdefault(name, getattr(home, name))


def __dir__():
    return sorted({*globals(), *__all__})
