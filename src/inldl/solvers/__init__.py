"""The mathematics, without scikit-learn: problems, the loop that solves them, and its result.

Each module states a problem in its docstring, with the functions that solve it; its estimator is
in `inldl.methods` or `inldl.literature`.
"""

__all__ = [
    "chosen_ridge",
    "gaussian",
    "group_correlations",
    "landmark_kernel",
    "linear",
    "loop",
    "low_rank",
    "masked_ridge",
    "maximum_entropy",
    "softmax",
    "winldl",
]
