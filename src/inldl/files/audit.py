"""Decide what a model file may hold: before it is written, before it is loaded, and afterwards.

`skops` makes objects from attributes without running their constructors, and refuses types that it
is not told to trust. It leaves three things open, which are checked here. `check_payload` looks at
all types and sizes before anything is made. `check_parts` looks at what was made, before anything
predicts: attributes, numbers, and the nodes of trees, which scikit-learn follows without checking
where they lead. `portable` applies the same rules when a model is saved.
"""

import copy
import dataclasses
import json
import re
from collections import Counter
from importlib import import_module
from inspect import signature
from numbers import Integral

import numpy as np
from numpy.lib import format as npy
from sklearn.base import BaseEstimator

from inldl.files.trees import packed_forest, unpack_forest
from inldl.methods import DistributionEstimator, RegressorLDL
from inldl.methods.registry import METHODS, classes
from inldl.specs import import_object

ROOMS = frozenset(["completion", "literature", "methods", "rows", "solvers", "tables", "torch",
                   "uncertainty", "weighting"])  # fmt: skip
"""The parts of inldl whose classes a file may hold."""
SKLEARN = {
    "ExtraTreeRegressor": "sklearn.tree",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "KNeighborsRegressor": "sklearn.neighbors",
    "PCA": "sklearn.decomposition",
    "Ridge": "sklearn.linear_model",
    "StandardScaler": "sklearn.preprocessing",
    "TruncatedSVD": "sklearn.decomposition",
}
"""The classes of scikit-learn that a file may hold."""
TRAINING_ROWS = frozenset(["held_out_", "held_out_rows_", "recovered_"])
"""Attributes with an entry for each training row, of which files have none."""
WITH_NAN = frozenset(["calibration_", "completion_scores_", "degrees", "explained_variance_ratio_",
                      "held_out_", "history_", "_fit_X", "estimators_"])  # fmt: skip
"""Attributes in which NaN or infinity is no fault."""
MATRICES = frozenset(
    ["components_", "coef_", "estimators_", "_fit_X", "_y"]
)  # of parts of scikit-learn
DTYPES = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
SCALARS = (bool, int, float, str)
NODES = {
    "DictNode": {"builtins.dict"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *(f"numpy.{name}" for name in DTYPES)},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": {"builtins.str", "builtins.int", "builtins.float"},  # of the keys of a dict
}
"""What skops may make besides objects, by the name of its loader."""
OLDEST_PROTOCOL = 2  # of skops; readers of older ones are less strict
DEEPEST = 200  # levels of JSON; a model of a model of a model has less
MOST_DIMENSIONS = 3
MOST_JOBS = 1024  # joblib starts as many threads
MOST_MODELS = 50  # in one file, parts of others included; each is tried out
MOST_TREES = 20_000  # of all forests in one file
MOST_TIMES = 50  # the bytes of a file that its parts can have in memory; most have 10
MOST_COLUMNS = 10**6  # of an array without entries
_ATTRIBUTE = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
_TRUSTED: set[str] = set()  # the paths of classes from outside
_MODULE = re.compile(r"[A-Za-z_]\w*(\.(?!__)[A-Za-z_]\w*)*", re.ASCII)


class MalformedError(ValueError):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


def require(good: object, what: str) -> None:
    """Refuse a file with the words `what` unless something about it is good."""
    if not good:
        raise MalformedError(what)


def savable() -> str:
    """Return what can be saved, in words."""
    ours = ", ".join(name for name in classes() if name != RegressorLDL.__name__)
    around = "Ridge, ExtraTreesRegressor or KNeighborsRegressor"
    return f"{ours}, and RegressorLDL around {around}"


def trust(kind: type) -> None:
    """Let files hold a class from outside, such as a kind of column."""
    _TRUSTED.add(f"{kind.__module__}.{kind.__name__}")


def trusted_class(module: str, name: str) -> type | None:
    """Return a class that files may hold, or None.

    It is one of `SKLEARN`, one that was given to `trust`, or a class without code that runs when
    it is loaded, in one of `ROOMS` or in the module of a registered method.
    """
    if name in SKLEARN:
        kind = import_object(f"{SKLEARN[name]}:{name}")
        return kind if kind.__module__ == module else None
    root, *rest = module.split(".")
    ours = root == "inldl" and bool(rest) and rest[0] in ROOMS and _MODULE.fullmatch(module)
    known = f"{module}.{name}" in _TRUSTED or module in _registered_modules()
    if not ours and not known:
        return None
    try:
        kind = getattr(import_module(module), name, None)
    except ImportError:
        return None
    return kind if isinstance(kind, type) and _is_plain(kind, module) else None


def _registered_modules():
    """Return the modules of the methods that were registered from outside."""
    paths = {each.path for each in METHODS.values() if not each.path.startswith("inldl.")}
    return {import_object(path).__module__ for path in paths}


def _is_plain(kind, module):
    """Return whether instances come and go without running anything of their class."""
    restored = getattr(kind, "__setstate__", None) in (None, BaseEstimator.__setstate__)
    quiet = kind.__new__ is object.__new__ and not hasattr(kind, "__del__")
    return kind.__module__ == module and restored and quiet


def is_model(kind: object) -> bool:
    """Return whether it is a class of ours that predicts distributions."""
    return isinstance(kind, type) and issubclass(kind, DistributionEstimator)


def _is_part(kind):
    return trusted_class(kind.__module__, kind.__name__) is kind


def portable(value, where="model"):
    """Return a copy of a model without caches and training rows; refuse what files cannot hold.

    Caches are attributes of our classes with a leading underscore. `where` is the attribute that
    the value belongs to.
    """
    kind = type(value)
    if value is None or kind in SCALARS:
        return value
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return value
    if kind in (np.ndarray, np.memmap):
        return _portable_array(value, where)
    if kind in (list, tuple):
        return kind([portable(item, where) for item in value])
    if kind is dict and all(type(key) in (str, int, float) for key in value):
        return {key: portable(item, where) for key, item in value.items()}
    if not _is_part(kind):
        raise _cannot_hold(kind.__name__, where)
    return _portable_instance(value)


def _portable_array(value, where):
    if where in TRAINING_ROWS:
        value = value[:0]
    if value.dtype == object and value.ndim == 1 and all(type(x) is str for x in value):
        return value
    if value.dtype.name not in DTYPES or value.ndim > MOST_DIMENSIONS:
        raise _cannot_hold(f"{value.ndim}-D array of {value.dtype}", where)
    # In one piece, and in its order: products of other memory orders have other last bits.
    rows_first = value.ndim < 2 or value.strides[0] >= value.strides[-1]
    return np.asarray(value, order="C" if value.flags.c_contiguous or rows_first else "F")


def _portable_instance(value):
    made, ours = copy.copy(value), type(value).__name__ not in SKLEARN
    state = {k: v for k, v in vars(value).items() if not (ours and k.startswith("_"))}
    if type(value).__name__ == "KNeighborsRegressor":
        state["_tree"] = None  # its nodes could lead astray; it is made again from the rows
        _check_neighbors(value)
    if "estimators_" in state and type(value).__name__ == "ExtraTreesRegressor":
        state = packed_forest(state)
    vars(made).clear()
    vars(made).update({key: portable(item, key) for key, item in state.items()})
    return made


def _check_neighbors(regressor):
    kind = type(regressor).__name__
    if regressor.metric_params is not None:
        raise ValueError(f"A model file cannot hold a {kind} with metric_params.")
    if not isinstance(getattr(regressor, "_fit_X", np.zeros(0)), np.ndarray):
        raise ValueError(
            f"A model file cannot hold a {kind} that was fitted to sparse features; fit it to "
            "X.toarray()."
        )


def _cannot_hold(kind, where):
    return ValueError(
        f"A model file cannot hold the {kind} that is the {where} here; it can hold {savable()}, "
        "with parameters that are numbers or texts."
    )


def unpacked_size(archive) -> int:
    """Return how many bytes the members of a zip say to have."""
    return sum(member.file_size for member in archive.infolist())


def check_payload(archive, size: int) -> list[str]:
    """Return the types in a zip of skops, all of them trusted; `size` is that of the file.

    The zip is refused before anything is made of it if it holds other types, arrays of other
    sizes than they say, or more than its size explains.
    """
    members = archive.infolist()
    require(len({m.filename for m in members}) == len(members), "two of its parts have one name")
    room = MOST_TIMES * size
    require(unpacked_size(archive) <= room, "its parts are larger than the file explains")
    schema, types = json.loads(archive.read("schema.json")), []
    require(type(schema) is dict, "it has something else where a part must be")
    protocol = schema.get("protocol")
    require(type(protocol) is int and protocol >= OLDEST_PROTOCOL, "it does not say its version")
    audit = _Audit(archive, room)
    for node, depth in _json_nodes(schema):
        require(depth <= DEEPEST, "it is nested too deeply")
        if "__loader__" in node:
            types.append(audit.check(node))
    shared = any(audit.uses[number] > 1 for number in audit.filled)
    require(not shared, "it uses a part twice")  # a few of these can stand for millions
    return sorted(set(types))


def _json_nodes(schema):
    """Yield each dict in JSON data and how deep it lies."""
    stack = [(schema, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, dict):
            yield node, depth
            node = list(node.values())
        if isinstance(node, list):
            stack += [(each, depth + 1) for each in node if isinstance(each, dict | list)]


class _Audit:
    """Check the nodes of a file one by one, and count what they add up to."""

    def __init__(self, archive, room):
        self.archive, self.room = archive, room
        self.models = 0
        self.uses = Counter()  # how often skops meets each number of a node
        self.filled = []  # the numbers of nodes that hold others

    def check(self, node):
        """Return the type that skops makes of a node; refuse it if it is not a trusted one."""
        loader, name, module = (node.get(f"__{key}__") for key in ("loader", "class", "module"))
        proper = all(isinstance(text, str) for text in (loader, name, module))
        require(proper, "it has something else where a text must be")
        known = loader in NODES or loader == "ObjectNode"
        require(known, f"it holds something unknown ({loader[:80]})")
        path = f"{module}.{name}"
        if loader == "ObjectNode":
            kind = trusted_class(module, name)
            self.models += is_model(kind)
            require(self.models <= MOST_MODELS, f"it holds more than {MOST_MODELS} models")
        trusted = kind is not None if loader == "ObjectNode" else path in NODES[loader]
        require(
            trusted,
            f"it holds a {name[:80]!r}, which this inldl does not know; a newer one may (pip "
            "install -U inldl)",
        )
        if loader == "NdArrayNode" and node.get("type") == "numpy":
            self._check_array(node.get("file"))
        number, leaf = node.get("__id__"), loader in ("JsonNode", "TypeNode", "NdArrayNode")
        self.uses[number] += 1
        self.filled += [number] if number and not leaf and node.get("content") else []
        return path

    def _check_array(self, name):
        """Refuse an array that is not one of numbers, or has another size than it says."""
        members = self.archive.NameToInfo
        require(isinstance(name, str) and name in members, f"its array {name!s:.80} is missing")
        self.room -= members[name].file_size
        require(self.room >= 0, "its parts use the same arrays too often")
        with self.archive.open(members[name]) as file:
            try:
                require(npy.read_magic(file) == (1, 0), "")
                shape, _, dtype = npy.read_array_header_1_0(file)
            except ValueError:
                raise MalformedError(f"its array {name[:80]} is not one of numbers") from None
            start = file.tell()
        require(dtype.name in DTYPES, f"its array {name[:80]} is not one of numbers")
        count, longest = 1, members[name].file_size - start
        for length in shape:
            count *= length
        good = all(length >= 0 for length in shape) and count * dtype.itemsize == longest
        # No array without entries may be so wide that what is made of it fills the memory.
        good = good and max(shape, default=0) <= max(longest, MOST_COLUMNS)
        require(good, f"its array {name[:80]} has another size than it says")


@dataclasses.dataclass
class Parts:
    """What a loaded model is made of."""

    models: list = dataclasses.field(default_factory=list)
    forests: list = dataclasses.field(default_factory=list)
    neighbors: list = dataclasses.field(default_factory=list)

    @property
    def of_sklearn(self) -> bool:
        """Whether another scikit-learn may predict differently."""
        return bool(self.forests or self.neighbors)


def check_parts(model) -> Parts:
    """Return the parts of a loaded model; refuse what no fit can have made."""
    parts = Parts()
    for value, where, owner in _walk(model, "model", None):
        kind = type(value)
        if kind is np.ndarray:
            _check_array(value, where, owner)
        elif hasattr(value, "__dict__"):
            _check_instance(value)
            _sort(value, parts)
    for regressor in parts.neighbors:
        _fit_again(regressor)
    trees = sum(np.size(forest.estimators_["sizes"]) for forest in parts.forests)
    require(trees <= MOST_TREES, f"it holds more than {MOST_TREES} trees")
    for forest in parts.forests:
        require(unpack_forest(forest), "its trees are damaged")
    return parts


def _walk(value, where, owner):
    """Yield all that a loaded model holds once, the attribute it is in, and whose that is."""
    stack, met = [(value, where, owner)], set()
    while stack:
        value, where, owner = stack.pop()
        if id(value) in met and not isinstance(value, np.ndarray):
            continue
        met.add(id(value))
        yield value, where, owner
        if isinstance(value, dict):
            stack += [(each, where, owner) for each in value.values()]
        elif isinstance(value, list | tuple):
            stack += [(each, where, owner) for each in value]
        elif hasattr(value, "__dict__"):
            stack += [(each, name, value) for name, each in vars(value).items()]


def _check_array(array, where, owner):
    most = MOST_DIMENSIONS
    if type(owner).__name__ in SKLEARN:
        most = 2 if where in MATRICES else 1
    require(array.ndim <= most, f"its {where} has too many dimensions")
    if array.dtype == object:
        texts = array.ndim == 1 and all(type(text) is str for text in array)
        require(texts, f"its {where} is something else than texts")
    finite = where in WITH_NAN or array.dtype.kind != "f" or np.isfinite(array).all()
    require(finite, f"its {where} has NaN or infinity in it")


def _check_instance(value):
    """Refuse attributes that are none; give parameters that are new their defaults."""
    kind, state = type(value), vars(value)
    good = all(isinstance(name, str) and _ATTRIBUTE.fullmatch(name) for name in state)
    good = good and not any(callable(getattr(kind, name, None)) for name in state)
    require(good, f"it holds a {kind.__name__} without proper attributes")
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
        missing = [f.name for f in fields if f.name not in state and not hasattr(kind, f.name)]
        require(not missing, f"it holds a {kind.__name__} without {', '.join(missing)}")
    elif isinstance(value, BaseEstimator):
        vars(value).update(_defaults(kind) | state)
    require(_fits_coefficients(state), "its intercept_ does not fit its coef_")
    if isinstance(value, DistributionEstimator):
        _check_parameters(value)
    jobs = state.get("n_jobs")
    good = jobs is None or (isinstance(jobs, Integral) and abs(jobs) <= MOST_JOBS)
    require(good, "it asks for more threads than make sense")


def _check_parameters(model):
    """Refuse parameters that a fit would refuse."""
    try:
        getattr(model, "_check_parameters", lambda: None)()
    except ValueError as error:
        raise MalformedError(" ".join(str(error).split())[:200].rstrip(".")) from None


def _defaults(kind):
    """Return the parameters of a constructor that have a default, with it."""
    parameters = signature(kind).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def _fits_coefficients(state):
    """Return whether an intercept has a number for each label that the coefficients are of."""
    coef, intercept = np.shape(state.get("coef_")), np.shape(state.get("intercept_"))
    return len(coef) < 2 or intercept in ((), coef[:1], coef[1:])


def _sort(value, parts):
    lists = {"ExtraTreesRegressor": (parts.forests, "estimators_"),
             "KNeighborsRegressor": (parts.neighbors, "_fit_X")}  # fmt: skip
    if isinstance(value, DistributionEstimator):
        parts.models.append(value)
    elif type(value).__name__ in lists:
        kept, fitted = lists[type(value).__name__]
        kept += [value] if fitted in vars(value) else []


def _fit_again(regressor):
    """Fit a KNeighborsRegressor to its rows, which needs nothing but memory and moments."""
    require(regressor.metric_params is None, "it holds neighbours with metric_params")
    names = getattr(regressor, "feature_names_in_", None)
    regressor.fit(regressor._fit_X, regressor._y)
    if names is not None:
        regressor.feature_names_in_ = names
