"""The methods on which all contracts are tested: all but those that need PyTorch."""

from inldl.methods.registry import METHODS

PLAIN = [
    name
    for name, method in METHODS.items()
    if method.installed and method.distribution != "inldl-torch"
]
