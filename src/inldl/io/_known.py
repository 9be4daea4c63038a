"""The classes that a model file may hold; no other name is ever imported for one."""

from importlib import import_module
from inspect import signature

_ESTIMATORS = [
    "WInLDL",
    "InLDLProx",
    "InLDLADMM",
    "BFGSLDL",
    "IISLDL",
    "EDLLRL",
    "LDM",
    "ConstantLDL",
    "AutoInLDL",
    "KernelRidgeLDL",
    "KernelSoftmaxLDL",
    "ForestLDL",
    "RegressorLDL",
]
_REGRESSORS = {
    "Ridge": "sklearn.linear_model",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "KNeighborsRegressor": "sklearn.neighbors",
}
_WEIGHTINGS = [
    f"{name}Weighting"
    for name in ("Degree", "Linear", "Uniform", "Proportional", "Exponential", "Random")
]
TABLE_MODEL = "Model"
MODELS = frozenset([*_ESTIMATORS, TABLE_MODEL])
"""What a file may hold as a whole."""

# Files hold the short names, so that a class can move to another module.
HOMES = {
    **dict.fromkeys(_ESTIMATORS, "inldl.estimators"),
    **dict.fromkeys(_WEIGHTINGS, "inldl.weighting"),
    **_REGRESSORS,
    "Columns": "inldl.estimators._kernel_features",
    "Calibration": "inldl.estimators._calibration",
    "AutoReport": "inldl.estimators._auto_report",
    "MemberReport": "inldl.estimators._auto_report",
    TABLE_MODEL: "inldl.tables.model",
    "FeatureEncoder": "inldl.tables.encoding",
    "StandardScaler": "sklearn.preprocessing",
    "PCA": "sklearn.decomposition",
    "TruncatedSVD": "sklearn.decomposition",
    "Nystroem": "sklearn.kernel_approximation",
}

PARTS = {}
"""Classes of higher layers that files may hold as parts of a model, by name."""

SAVABLE = (
    f"{', '.join(_ESTIMATORS[:-1])}, and RegressorLDL around {', '.join(list(_REGRESSORS)[:-1])} "
    f"or {list(_REGRESSORS)[-1]}"
)
"""What can be saved, in words."""


class MalformedError(ValueError):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


def require(good, what):
    """Refuse a file of which `what` is to be said if something about it is not good."""
    if not good:
        raise MalformedError(what)


def add_part(kind):
    """Let files hold instances of a dataclass, which they know by its name."""
    name = kind.__name__
    if name in HOMES or PARTS.get(name, kind).__module__ != kind.__module__:
        raise ValueError(f"Model files hold another {name} already; rename the class.")
    PARTS[name] = kind


def known_class(name):
    """Return the class that a file calls `name`; refuse any that is not listed."""
    if isinstance(name, str) and name in PARTS:
        return PARTS[name]
    require(
        isinstance(name, str) and name in HOMES,
        f"it holds a {str(name)[:80]!r}, which this inldl does not know; a newer one may "
        "(pip install -U inldl)",
    )
    return getattr(import_module(HOMES[name]), name)


def known_name(kind):
    """Return what files call a class, or None if they cannot hold it."""
    name = kind.__name__
    if PARTS.get(name) is kind:
        return name
    if kind.__module__.split(".")[0] not in ("inldl", "sklearn") or name not in HOMES:
        return None
    return name if known_class(name) is kind else None


def defaults(kind):
    """Return the parameters of a constructor that have a default, with it."""
    found = signature(kind).parameters.values()
    return {each.name: each.default for each in found if each.default is not each.empty}
