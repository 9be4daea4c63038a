"""Partial distributions for PyTorch: a loss for holes, its sparse form, and a small network.

Names are imported when they are first used. All but `NeuralLDL` need PyTorch, the extra "torch";
nothing else in ``inldl`` does.
"""

from importlib import import_module

_HOMES = {
    "partial_kl": "_loss",
    "partial_kl_sparse": "_sparse",
    "WeightedPartialLoss": "_modules",
    "DistributionHead": "_modules",
    "project_simplex": "_modules",
    "NeuralLDL": "neural",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "NeuralLDL":  # it is fitted with PyTorch, but predicts and is loaded without
        from inldl.torch._extra import need_torch

        need_torch(f"inldl.torch.{name}")
    home = import_module(f"{__name__}.{_HOMES[name]}")
    return globals().setdefault(name, getattr(home, name))


def __dir__():
    return sorted({*globals(), *__all__})
