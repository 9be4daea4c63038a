"""The methods by name: the only list of them.

A method is a solver, an estimator, a test, and one line here. Commands, comparisons, model files,
the names that ``inldl`` exports, and scikit-learn's checks all ask this list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inldl.specs import (
    Spec,
    did_you_mean,
    import_distribution,
    import_object,
    is_installed,
    parse,
)


@dataclass(frozen=True)
class Method:
    """A method that can be asked for by name."""

    name: str  # as people write it, such as ``winldl``
    path: str  # where its class is: ``package.module:Class``
    about: str  # what it does, in one line
    # Arguments of its class. What a user gives replaces them
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # Whether to call ``Class.as_published`` instead: the settings of its paper
    published: bool = False
    # The path of a regressor of scikit-learn that the class is put around. Arguments are then
    # those of the regressor
    regressor: str | None = None
    # The distribution that has its class, if that is not this one. Without it the method is
    # listed, and whoever asks for it is told what to install
    distribution: str | None = None

    @property
    def class_name(self) -> str:
        """The name of its class."""
        return self.path.partition(":")[2]

    @property
    def installed(self) -> bool:
        """Whether its class is there."""
        return self.distribution is None or is_installed(self.distribution)

    def load(self) -> Any:
        """Return its class."""
        if self.distribution is not None:
            import_distribution(self.distribution, self.class_name)
        return import_object(self.path)

    def make(self, **arguments: Any) -> Any:
        """Return the estimator, not fitted."""
        kind, arguments = self.load(), {**self.arguments, **arguments}
        if self.regressor is not None:
            return kind(import_object(self.regressor)(**arguments))
        return kind.as_published(**arguments) if self.published else kind(**arguments)


TUNED = "tuned"  # the method that chooses constants, and the value of a constant to be chosen

METHODS: dict[str, Method] = {}
"""All methods by name. Any other one is named ``package.module:Class``."""


def register(method: Method) -> None:
    """Add a method to the list, under a name that it does not have yet."""
    if method.name in METHODS:
        raise ValueError(f"There is a method {method.name!r} already; choose another name.")
    METHODS[method.name] = method


def _add(name: str, path: str, about: str, published: bool = False, **rest: Any) -> None:
    """Register a method of ours, and its published variant if it has one."""
    register(Method(name, path, about, **rest))
    if published:
        about = f"{name} as it was published"
        register(Method(f"{name}-published", path, about, published=True, **rest))


_PAPER = "inldl-paper"
# fmt: off
_add("winldl", "inldl.methods.winldl:WInLDL",
     "weighted least squares with rows on the simplex: linear, fast")
_add("inldl-p", "inldl_paper.literature.low_rank:InLDLProx",
     "linear, low-rank predictions, by proximal gradient", True, distribution=_PAPER)
_add("inldl-a", "inldl_paper.literature.low_rank:InLDLADMM",
     "linear, predictions of low rank, by ADMM", True, distribution=_PAPER)
_add("bfgs-ldl", "inldl_paper.literature.maximum_entropy:BFGSLDL",
     "softmax of a linear score, by L-BFGS", True, distribution=_PAPER)
_add("iis-ldl", "inldl_paper.literature.maximum_entropy:IISLDL",
     "softmax of a linear score, by iterative scaling", True, distribution=_PAPER)
_add("edl-lrl", "inldl_paper.literature.group_correlations:EDLLRL",
     "softmax of a linear score, low rank in groups of rows", True, distribution=_PAPER)
_add("ldm", "inldl_paper.literature.group_correlations:LDM",
     "softmax of a linear score, labels explain each other", True, distribution=_PAPER)
_add("hidldl", "inldl_paper.literature.hidldl:HidLDL",
     "softmax of a linear score, from ratios of observed degrees", distribution=_PAPER)
_add("i2ldl", "inldl_paper.literature.i2ldl:I2LDL",
     "linear, a low-rank part and a sparse part, by ADMM", distribution=_PAPER)
_add("wsldl-mcsc", "inldl_paper.literature.wsldl_mcsc:WSLDLMCSC",
     "features and degrees as one low-rank matrix", True, distribution=_PAPER)
_add("auto", "inldl.methods.auto:AutoInLDL",
     "nothing to set: the mean of kernel methods, a forest and ridge")
_add("kernel-ridge", "inldl.methods.members:KernelRidgeLDL",
     "kernel ridge, penalty by leave-one-out")
_add("kernel-softmax", "inldl.methods.members:KernelSoftmaxLDL",
     "softmax of kernel features")
_add("forest", "inldl.methods.members:ForestLDL", "extra trees on completed distributions")
for _name, _weights in {
    "inldl-u": "uniform",
    "inldl-i": "proportional",
    "inldl-ii": "exponential",
    "inldl-rand": "random",
}.items():
    _about = f"WInLDL with {_weights} weights"
    _add(_name, "inldl.methods.winldl:WInLDL", _about, arguments={"weighting": _weights})
_TREES = {"n_estimators": 100, "min_samples_leaf": 2, "max_features": 0.3}
for _name, _regressor, _arguments in [
    ("ridge", "sklearn.linear_model:Ridge", {}),
    ("knn", "sklearn.neighbors:KNeighborsRegressor", {"n_neighbors": 10}),
    ("extra-trees", "sklearn.ensemble:ExtraTreesRegressor", _TREES),
    ("boosting", "sklearn.ensemble:HistGradientBoostingRegressor", {}),
]:
    _about = f"{_regressor.partition(':')[2]} per label, projected onto the simplex"
    _made: dict[str, Any] = {"arguments": _arguments, "regressor": _regressor}
    _add(_name, "inldl.methods.baselines:RegressorLDL", _about, **_made)
_add("neural", "inldl_torch.neural:NeuralLDL",
     "small neural networks, trained with PyTorch", distribution="inldl-torch")
_add(TUNED, "inldl_paper.tuned:TunedLDL",
     "winldl, or another: tuned(method=ldm), constants by hidden degrees", distribution=_PAPER)
_add("constant-mean", "inldl.methods.baselines:ConstantLDL",
     "the mean of the observed degrees, for every row", arguments={"strategy": "mean"})
_add("constant-uniform", "inldl.methods.baselines:ConstantLDL",
     "1/C, for every row", arguments={"strategy": "uniform"})
# fmt: on


def classes() -> dict[str, str]:
    """Return the path of each class of a method, by its name."""
    return {method.class_name: method.path for method in METHODS.values()}


def modules(package: str) -> dict[str, str]:
    """Return the module of each class of a method in a package, by the name of the class."""
    paths = classes().items()
    return {name: path.partition(":")[0] for name, path in paths if path.startswith(f"{package}.")}


def has_method(module: str) -> bool:
    """Return whether a module outside of this package has the class of a method.

    If its distribution is not installed, an ImportError says so.
    """
    outside = [each for each in METHODS.values() if not each.path.startswith("inldl.")]
    asked = [m for m in outside if m.distribution is None or m.path.startswith(f"{module}:")]
    return any(method.load().__module__ == module for method in asked)


def canonical_method(text: str) -> str:
    """Return the standard form of a method, or raise an error that suggests similar names."""
    spec = parse(text)
    if ":" in spec.name:
        return str(spec)
    name = spec.name.casefold().replace("_", "-")
    if name not in METHODS:
        raise ValueError(
            f"There is no method {spec.name!r}{did_you_mean(name, METHODS)} "
            "A method of your own is named package.module:Class."
        )
    return str(Spec(name, spec.arguments))


def make_method(text: str, seed: int | None = None) -> Any:
    """Return the estimator that `text` names, with `seed` where it draws random numbers.

    Parameters
    ----------
    text : str
        A name in ``METHODS`` or ``package.module:Class``, with arguments if it has any.
    seed : int, optional
        Given to every ``random_state`` that is None.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_method("winldl(mu=8)")
    WInLDL(mu=8)
    >>> make_method("winldl(mu=8, ridge=tuned)")
    TunedLDL(estimator=WInLDL(mu=8), grids=['ridge'])
    """
    spec = _with_tuner(parse(canonical_method(text)))
    arguments = dict(spec.arguments)
    if spec.name == TUNED and "method" in arguments:
        arguments["estimator"] = make_method(arguments.pop("method"), seed)
    make = import_object(spec.name) if ":" in spec.name else METHODS[spec.name].make
    try:
        estimator = make(**arguments)
        _check(estimator, text)
    except (ValueError, ImportError):
        raise
    except Exception as error:
        raise ValueError(f"{text!r} cannot be made: {error}.") from error
    missing = [each for each in ("fit", "predict", "get_params") if not hasattr(estimator, each)]
    if missing:
        raise ValueError(
            f"{text!r} has no {' and no '.join(missing)}: a method is a scikit-learn estimator "
            "whose y has NaN where a degree is unobserved."
        )
    return _seeded(estimator, seed)


def _check(estimator: Any, text: str) -> None:
    """Refuse values that a fit would refuse, if the class knows which these are."""
    try:
        getattr(estimator, "_check_parameters", lambda: None)()
    except ValueError as error:
        from difflib import get_close_matches

        given = parse(text).arguments.items()
        words = [(k, v) for k, v in given if isinstance(v, str) and v != TUNED]
        near = [name for name, word in words if get_close_matches(word, [TUNED])]
        hint = f" Did you mean {near[0]}={TUNED}?" if near else ""
        raise ValueError(f"{text}: {error}{hint}") from None


def _with_tuner(spec: Spec) -> Spec:
    """Return `winldl(mu=8, ridge=tuned)` as the tuner of `winldl(mu=8)`, others as they are."""
    wanted = [name for name, value in spec.arguments.items() if value == TUNED]
    if not wanted:
        return spec
    rest = {name: value for name, value in spec.arguments.items() if name not in wanted}
    known = METHODS.get(spec.name)
    inside = "regressor__" if known is not None and known.regressor is not None else ""
    grids = [f"{inside}{name}" for name in sorted(wanted)]
    return Spec(TUNED, {"method": str(Spec(spec.name, rest)), "grids": grids})


def _seeded(estimator: Any, seed: int | None) -> Any:
    parameters = estimator.get_params(deep=True)
    free = [k for k, v in parameters.items() if k.split("__")[-1] == "random_state" and v is None]
    return estimator.set_params(**dict.fromkeys(free, seed)) if free else estimator


def with_ratios(method: str) -> str:
    """Return a method that learns from ratios of degrees, or refuse one that cannot.

    A class that can has the parameter `known`; a tuner can what its method can.

    Examples
    --------
    >>> with_ratios("winldl(mu=8)")
    "winldl(known='ratios', mu=8)"
    >>> with_ratios("winldl(ridge=tuned)")
    "winldl(known='ratios', ridge='tuned')"
    """
    spec = parse(canonical_method(method))
    if spec.name == TUNED:
        inside = with_ratios(spec.arguments.get("method", "winldl"))
        return str(Spec(TUNED, {**spec.arguments, "method": inside}))
    settled = {name: value for name, value in spec.arguments.items() if value != TUNED}
    if not _takes_ratios(make_method(str(Spec(spec.name, settled)))):
        made = {name: each.make() for name, each in METHODS.items() if each.installed}
        able = [name for name in made if _takes_ratios(made[name])]
        raise ValueError(
            f"{spec.name} cannot learn from ratios alone; use one of {', '.join(able)}."
        )
    return str(Spec(spec.name, {**spec.arguments, "known": "ratios"}))


def _takes_ratios(estimator: Any) -> bool:
    return "known" in estimator.get_params(deep=False)
