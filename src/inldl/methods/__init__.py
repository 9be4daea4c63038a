"""One method, one file: its parameters, how it is fitted, and what it learned.

`registry` lists the methods by name. Classes are imported when they are first asked for; those
of the literature are in `inldl.literature`.
"""

from inldl.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "AutoInLDL": "inldl.methods.auto.estimator",
        "ConstantLDL": "inldl.methods.constant",
        "DistributionEstimator": "inldl.methods.base",
        "ForestLDL": "inldl.methods.forest",
        "KernelRidgeLDL": "inldl.methods.kernel_ridge",
        "KernelSoftmaxLDL": "inldl.methods.kernel_softmax",
        "METHODS": "inldl.methods.registry",
        "Method": "inldl.methods.registry",
        "RegressorLDL": "inldl.methods.regressor",
        "TunedLDL": "inldl.methods.tuned",
        "WInLDL": "inldl.methods.winldl",
        "canonical_method": "inldl.methods.registry",
        "make_method": "inldl.methods.registry",
        "register": "inldl.methods.registry",
    },
)
