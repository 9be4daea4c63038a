"""Which modules have doctests that can be run."""

from importlib.util import find_spec

if find_spec("torch") is None:
    collect_ignore_glob = ["src/inldl/torch/[lmt]*.py"]  # those that import PyTorch
