"""Methods by name, ready to be compared."""

from __future__ import annotations

from typing import Any

from inldl.experiments.specs import Spec, did_you_mean, import_object, parse

_OURS = {
    "winldl": ("WInLDL", "weighted least squares with rows on the simplex: linear, fast"),
    "inldl-p": ("InLDLProx", "linear with predictions of low rank, by proximal gradient"),
    "inldl-a": ("InLDLADMM", "linear with predictions of low rank, by ADMM"),
    "bfgs-ldl": ("BFGSLDL", "softmax of a linear score, by L-BFGS"),
    "iis-ldl": ("IISLDL", "softmax of a linear score, by iterative scaling"),
    "edl-lrl": ("EDLLRL", "softmax of a linear score, low rank in groups of rows"),
    "ldm": ("LDM", "softmax of a linear score, with labels that explain each other"),
}
_PUBLISHED = [name for name in _OURS if name != "winldl"]
_BEYOND = {
    "auto": ("AutoInLDL", "no parameter to set: the mean of the next three, with chosen kernels"),
    "kernel-ridge": ("KernelRidgeLDL", "kernel ridge, chosen by leave-one-out, completed by sums"),
    "kernel-softmax": ("KernelSoftmaxLDL", "softmax of kernel features, at observed degrees"),
    "forest": ("ForestLDL", "extra trees on completed distributions"),
}
_SCHEMES = {
    "inldl-u": "uniform",
    "inldl-i": "proportional",
    "inldl-ii": "exponential",
    "inldl-rand": "random",
}
_REGRESSORS: dict[str, tuple[str, dict[str, Any]]] = {
    "ridge": ("sklearn.linear_model:Ridge", {}),
    "knn": ("sklearn.neighbors:KNeighborsRegressor", {"n_neighbors": 10}),
    "extra-trees": (
        "sklearn.ensemble:ExtraTreesRegressor",
        {"n_estimators": 100, "min_samples_leaf": 2, "max_features": 0.3},
    ),
    "boosting": ("sklearn.ensemble:HistGradientBoostingRegressor", {}),
}

METHODS: dict[str, str] = {
    **{name: meaning for name, (_, meaning) in _OURS.items()},
    **{name: meaning for name, (_, meaning) in _BEYOND.items()},
    **{f"{name}-published": f"{name} as it was published" for name in _PUBLISHED},
    **{name: f"WInLDL with {scheme} weights" for name, scheme in _SCHEMES.items()},
    **{
        name: f"{cls.partition(':')[2]} per label, projected onto the simplex"
        for name, (cls, _) in _REGRESSORS.items()
    },
    "constant-mean": "the mean of the observed degrees, for every row",
    "constant-uniform": "1/C, for every row",
}
"""What each name stands for. Any other method is named ``package.module:Class``."""


def canonical_method(text: str) -> str:
    """Return the one way to write the method `text`, or say what is near it."""
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
    """
    spec = parse(canonical_method(text))
    try:
        estimator = _make(spec)
    except ValueError:
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


def _make(spec: Spec) -> Any:
    if ":" in spec.name:
        return import_object(spec.name)(**spec.arguments)
    from inldl import estimators

    name, published = spec.name.removesuffix("-published"), spec.name.endswith("-published")
    if name in _OURS:
        kind = getattr(estimators, _OURS[name][0])
        return kind.as_published(**spec.arguments) if published else kind(**spec.arguments)
    if name in _BEYOND:
        return getattr(estimators, _BEYOND[name][0])(**spec.arguments)
    if name in _SCHEMES:
        return estimators.WInLDL(**{"weighting": _SCHEMES[name], **spec.arguments})
    if name in _REGRESSORS:
        path, defaults = _REGRESSORS[name]
        return estimators.RegressorLDL(import_object(path)(**{**defaults, **spec.arguments}))
    return estimators.ConstantLDL(name.removeprefix("constant-"), **spec.arguments)


def _seeded(estimator: Any, seed: int | None) -> Any:
    parameters = estimator.get_params(deep=True)
    free = [k for k, v in parameters.items() if k.split("__")[-1] == "random_state" and v is None]
    return estimator.set_params(**dict.fromkeys(free, seed)) if free else estimator
