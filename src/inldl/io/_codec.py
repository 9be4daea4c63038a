"""Turn models into trees of plain data and back, without pickle and without running anything.

A tree is made of what JSON has, and of these: ``{"float": "nan"}``, ``{"tuple": [...]}``,
``{"dict": [[key, value], ...]}``, ``{"scalar": [dtype, value]}``, ``{"texts": [...]}`` (an array
of str), ``{"array": name}`` and ``{"class": name, "state": {attribute: value}}``.
"""

import dataclasses
import math
import re
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator

from inldl.io._known import MODELS, SAVABLE, defaults, known_class, known_name, require
from inldl.io._neighbors import pack_neighbors, unpack_neighbors
from inldl.io._trees import pack_forest, unpack_forest

DEEPEST = 50  # a model of a model of a model has less
MOST_JOBS = 1024  # joblib starts as many threads
MOST_MODELS = 50  # in one file, parts of others included; each is tried out
MOST_TREES = 20_000  # of all forests in one file; a tree takes 50 microseconds to make
MOST_USES = 10  # of the bytes of a file, as parts may share arrays
DTYPES = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
# All other arrays are vectors: what a prediction makes of them cannot outgrow the memory.
DIMENSIONS = {"calibration_": 3, "coef_": 2, "completion_scores_": 2, "components_": 2,
              "covariance_": 2, "fitted_X": 2, "fitted_y": 2, "held_out_": 2,
              "normalization_": 2, "value": 2}  # fmt: skip
# In all other arrays NaN or infinity would become predictions that are no numbers.
NOT_FINITE = frozenset(["calibration_", "completion_scores_", "explained_variance_ratio_",
                        "fitted_X", "held_out_", "history_", "threshold"])  # fmt: skip
OF_TRAINING_ROWS = ("held_out_", "held_out_rows_")  # of which only the width is needed later
_ATTRIBUTE = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SPECIAL = {
    "ExtraTreesRegressor": (pack_forest, unpack_forest),
    "KNeighborsRegressor": (pack_neighbors, unpack_neighbors),
}


class _Limits:
    """Refuse more models or trees than any real file has, before time is spent on them."""

    def __init__(self):
        self._models = self._trees = 0

    def add(self, name, state):
        """Count an instance of the class `name`."""
        self._models += name in MODELS
        self._trees += np.size(state.get("sizes", ())) if name in _SPECIAL else 0
        require(self._models <= MOST_MODELS, f"it holds more than {MOST_MODELS} models")
        require(self._trees <= MOST_TREES, f"it holds more than {MOST_TREES} trees")


class Encoder:
    """Make the tree of a model; `arrays` then has what it refers to, by name."""

    def __init__(self):
        self.arrays, self._names, self._limits = {}, {}, _Limits()

    def tree(self, value, where="", depth=0):
        """Return `value` as a tree; `where` is the attribute that it belongs to."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where)
        if depth == DEEPEST:
            raise ValueError(f"A model file cannot hold the model: {where} is nested too deeply.")
        if kind in (list, tuple):
            items = [self.tree(item, where, depth + 1) for item in value]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            pairs = [[self.tree(x, where, depth + 1) for x in pair] for pair in value.items()]
            return {"dict": pairs}
        return self._instance(value, where, depth)

    def _scalar(self, value, where):
        if value.dtype.kind == "U":
            return str(value)
        if value.dtype.name not in DTYPES:
            raise _cannot_hold(value, where)
        return {"scalar": [value.dtype.name, self.tree(value.item())]}

    def _array(self, value, where):
        if value.dtype == object and value.ndim == 1 and all(type(x) is str for x in value):
            return {"texts": value.tolist()}
        if value.dtype.name not in DTYPES or value.ndim > DIMENSIONS.get(where, 1):
            raise _cannot_hold(value, where)
        if where in OF_TRAINING_ROWS:
            value = value[:0]
        _check_finite(value, where)
        name = self._names.get(id(value))
        if name is None:
            name = f"{len(self.arrays)}-{where}"
            self.arrays[name], self._names[id(value)] = value, name
        return {"array": name}

    def _instance(self, value, where, depth):
        name = known_name(type(value))
        if name is None or not hasattr(value, "__dict__"):
            raise _cannot_hold(value, where)
        packed = _SPECIAL.get(name, (vars,))[0](value)
        self._limits.add(name, packed)
        state = {key: self.tree(item, key, depth + 1) for key, item in packed.items()}
        return {"class": name, "state": state}


def _cannot_hold(value, where):
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"{value.ndim}-D array of {value.dtype}"
    return ValueError(
        f"A model file cannot hold the {kind} that is the {where or 'model'} here; it can hold "
        f"{SAVABLE}, with parameters that are numbers or texts."
    )


class Decoder:
    """Make the model of a tree; whatever is wrong with the tree is an exception.

    Parameters
    ----------
    read_array : callable
        Returns the array of a name.
    size : int, optional
        Bytes of the file; all uses of its arrays together may take no more than some times that.

    Attributes
    ----------
    models : list
        The models that were met.
    of_sklearn : list
        The forests and neighbours that were met.
    """

    def __init__(self, read_array, size=math.inf):
        self._read_array, self._arrays, self._left = read_array, {}, MOST_USES * size
        self.models, self.of_sklearn, self._limits = [], [], _Limits()
        self._readers = {
            ("array",): self._array,
            ("class", "state"): self._instance,
            ("dict",): self._dict,
            ("float",): self._float,
            ("scalar",): self._scalar,
            ("texts",): self._texts,
            ("tuple",): self._tuple,
        }

    def value(self, node, where="", depth=0):
        """Return what a tree stands for; `where` is the attribute that it belongs to."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        require(depth <= 2 * DEEPEST, "it is nested too deeply")
        if type(node) is list:
            return [self.value(item, where, depth + 1) for item in node]
        reader = self._readers.get(tuple(sorted(node)))
        require(reader is not None, f"it holds something unknown ({', '.join(node)[:80]})")
        return reader(node, where, depth + 1)

    def _float(self, node, where, depth):
        return _FLOATS[_text(node["float"])]

    def _scalar(self, node, where, depth):
        name, value = _list(node["scalar"], 2)
        value = self.value(value, where, depth)
        good = _text(name) in DTYPES and type(value) in (bool, int, float)
        require(good, "it holds a number of an unknown kind")
        return np.dtype(name).type(value)

    def _texts(self, node, where, depth):
        found = np.empty(len(_list(node["texts"])), dtype=object)
        found[:] = [_text(item) for item in node["texts"]]
        return found

    def _array(self, node, where, depth):
        name = _text(node["array"])
        if name not in self._arrays:
            self._arrays[name] = self._read_array(name)
        array = self._arrays[name]
        require(array.ndim <= DIMENSIONS.get(where, 1), f"its {where} has too many dimensions")
        self._left -= array.nbytes
        require(self._left >= 0, "its parts use the same arrays too often")
        _check_finite(array, where)
        return array

    def _tuple(self, node, where, depth):
        return tuple(self.value(_list(node["tuple"]), where, depth))

    def _dict(self, node, where, depth):
        pairs = [_list(pair, 2) for pair in _list(node["dict"])]
        value = self.value
        found = {value(key, where, depth): value(item, where, depth) for key, item in pairs}
        require(len(found) == len(pairs), "it says something twice")
        return found

    def _instance(self, node, where, depth):
        name, state = node["class"], node["state"]
        kind = known_class(name)
        good = type(state) is dict and all(map(_ATTRIBUTE.fullmatch, state))
        good = good and not any(callable(getattr(kind, key, None)) for key in state)
        require(good, f"it holds a {name} without proper attributes")
        state = {key: self.value(item, key, depth) for key, item in state.items()}
        _check_jobs(state.get("n_jobs"))
        self._limits.add(name, state)
        made = _SPECIAL[name][1](state) if name in _SPECIAL else _made(kind, state)
        for kinds, found in ((MODELS, self.models), (_SPECIAL, self.of_sklearn)):
            if name in kinds:
                found.append(made)
        return made


def _made(kind, state):
    """Return an instance with the attributes `state`, without running its constructor.

    Parameters that the version which wrote the file did not have yet get their defaults.
    """
    instance = object.__new__(kind)
    if issubclass(kind, BaseEstimator):
        state = defaults(kind) | state
    elif dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
        needed = {field.name for field in fields if field.default is dataclasses.MISSING}
        missing = needed - state.keys()
        require(not missing, f"it holds a {kind.__name__} without {', '.join(sorted(missing))}")
    vars(instance).update(state)  # past frozen fields, properties and __setattr__
    return instance


def _check_finite(array, where):
    good = where in NOT_FINITE or array.dtype.kind != "f" or np.isfinite(array).all()
    require(good, f"its {where} has NaN or infinity in it")


def _check_jobs(n_jobs):
    good = n_jobs is None or (isinstance(n_jobs, Integral) and abs(n_jobs) <= MOST_JOBS)
    require(good, "it asks for more threads than make sense")


def _text(node):
    require(type(node) is str, "it has something else where a text must be")
    return node


def _list(node, length=None):
    good = type(node) is list and length in (None, len(node))
    require(good, "it has something else where a list must be")
    return node
