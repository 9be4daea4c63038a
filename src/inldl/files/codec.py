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

from inldl.file_state import Array, FileState, file_state
from inldl.files.container import require
from inldl.files.sklearn_parts import PACKED, STATES, defaults
from inldl.methods import DistributionEstimator, RegressorLDL
from inldl.methods.registry import classes
from inldl.specs import import_object

DEEPEST = 50  # a model of a model of a model has less
MOST_JOBS = 1024  # joblib starts as many threads
MOST_MODELS = 50  # in one file, parts of others included; each is tried out
MOST_TREES = 20_000  # of all forests in one file; a tree takes 50 microseconds to make
MOST_USES = 10  # of the bytes of a file, as parts may share arrays
DTYPES = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
_ATTRIBUTE = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NOTHING = FileState()
_WORDS = {str: "text", list: "list"}
_HELD = {"array": str, "dict": list, "float": str, "scalar": list, "texts": list, "tuple": list}


def savable():
    """Return what can be saved, in words."""
    ours = ", ".join(name for name in classes() if name != RegressorLDL.__name__)
    *some, last = (str(part).partition(":")[2] for part in file_state(RegressorLDL).parts)
    return f"{ours}, and RegressorLDL around {', '.join(some)} or {last}"


def named_class(name, owner=_NOTHING):
    """Return the class that a file calls `name`, or None.

    It is an estimator that inldl exports, or a part of the `owner`, by what that says of itself.
    """
    for part in owner.parts:
        if isinstance(part, str) and part.endswith(f":{name}"):
            return import_object(part)
        if isinstance(part, type) and part.__name__ == name:
            return part
    paths = {"TableModel": "inldl.tables:TableModel", **classes()}
    kind = import_object(paths[name]) if name in paths else None
    return kind if _is_model(kind) else None


def is_fitted(state):
    """Return whether attributes are those of an instance that was fitted."""
    return any(name.endswith("_") for name in state)


def _is_model(kind):
    return isinstance(kind, type) and issubclass(kind, DistributionEstimator)


def _state_of(kind):
    """Return what files hold of a class."""
    return file_state(kind) or STATES.get(kind.__name__, _NOTHING)


class _Coder:
    """Refuse more models or trees than any real file has, before time is spent on them."""

    _models = _trees = 0

    def _count(self, kind, state):
        self._models += _is_model(kind)
        self._trees += np.size(state.get("sizes", ())) if kind.__name__ in PACKED else 0
        require(self._models <= MOST_MODELS, f"it holds more than {MOST_MODELS} models")
        require(self._trees <= MOST_TREES, f"it holds more than {MOST_TREES} trees")


class Encoder(_Coder):
    """Make the tree of a model; `arrays` then has what it refers to, by name."""

    def __init__(self):
        self.arrays, self._names = {}, {}

    def tree(self, value, where="", owner=_NOTHING, depth=0):
        """Return `value` as a tree; it belongs to the attribute `where` of an `owner`."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where, owner)
        if depth == DEEPEST:
            raise ValueError(f"A model file cannot hold the model: {where} is nested too deeply.")
        if kind in (list, tuple):
            items = [self.tree(item, where, owner, depth + 1) for item in value]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            pairs = value.items()
            return {"dict": [[self.tree(x, where, owner, depth + 1) for x in p] for p in pairs]}
        return self._instance(value, where, owner, depth)

    def _scalar(self, value, where):
        if value.dtype.kind == "U":
            return str(value)
        if value.dtype.name not in DTYPES:
            raise _cannot_hold(value, where)
        return {"scalar": [value.dtype.name, self.tree(value.item())]}

    def _array(self, value, where, owner):
        known = owner.arrays.get(where, Array())
        if value.dtype == object and value.ndim == 1 and all(type(x) is str for x in value):
            return {"texts": value.tolist()}
        if value.dtype.name not in DTYPES or value.ndim > known.ndim:
            raise _cannot_hold(value, where)
        if not known.rows:
            value = value[:0]
        _check_finite(value, where, known)
        name = self._names.setdefault(id(value), f"{len(self.arrays)}-{where}")
        self.arrays[name] = value
        return {"array": name}

    def _instance(self, value, where, owner, depth):
        kind, name = type(value), type(value).__name__
        if named_class(name, owner) is not kind or not hasattr(value, "__dict__"):
            raise _cannot_hold(value, where)
        packed, own = PACKED.get(name, (vars,))[0](value), _state_of(kind)
        self._count(kind, packed)
        kept = {key: item for key, item in packed.items() if key not in own.omitted}
        state = {key: self.tree(item, key, own, depth + 1) for key, item in kept.items()}
        return {"class": name, "state": state}


def _cannot_hold(value, where):
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"{value.ndim}-D array of {value.dtype}"
    return ValueError(
        f"A model file cannot hold the {kind} that is the {where or 'model'} here; it can hold "
        f"{savable()}, with parameters that are numbers or texts."
    )


class Decoder(_Coder):
    """Make the model of a tree; whatever is wrong with the tree is an exception.

    `read_array` returns the array of a name; all uses of arrays together may take no more than
    some times the `size` of the file. `models` and `of_sklearn`, the forests and neighbours, are
    those that were met.
    """

    def __init__(self, read_array, size=math.inf):
        self._read_array, self._arrays, self._left = read_array, {}, MOST_USES * size
        self.models, self.of_sklearn = [], []

    def value(self, node, where="", owner=_NOTHING, depth=0):
        """Return what a tree stands for; it belongs to the attribute `where` of an `owner`."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        require(depth <= 2 * DEEPEST, "it is nested too deeply")
        if type(node) is list:
            return [self.value(item, where, owner, depth + 1) for item in node]
        if node.keys() == {"class", "state"}:
            return self._instance(node["class"], node["state"], owner, depth + 1)
        known = len(node) == 1 and node.keys() <= _HELD.keys()
        require(known, f"it holds something unknown ({', '.join(node)[:80]})")
        [(tag, held)] = node.items()
        _check_type(held, _HELD[tag])
        if tag == "array":
            return self._array(held, where, owner)
        if tag == "float":
            return _FLOATS[held]
        return _MAKERS[tag]([self.value(item, where, owner, depth + 1) for item in held])

    def _array(self, name, where, owner):
        if name not in self._arrays:
            self._arrays[name] = self._read_array(name)
        array, known = self._arrays[name], owner.arrays.get(where, Array())
        require(array.ndim <= known.ndim, f"its {where} has too many dimensions")
        self._left -= array.nbytes
        require(self._left >= 0, "its parts use the same arrays too often")
        _check_finite(array, where, known)
        return array

    def _instance(self, name, state, owner, depth):
        _check_type(name, str)
        kind = named_class(name, owner)
        require(
            kind is not None,
            f"it holds a {name[:80]!r}, which this inldl does not know; a newer one may "
            "(pip install -U inldl)",
        )
        good = type(state) is dict and all(map(_ATTRIBUTE.fullmatch, state))
        good = good and not any(callable(getattr(kind, key, None)) for key in state)
        require(good, f"it holds a {name} without proper attributes")
        own = _state_of(kind)
        state = {key: self.value(item, key, own, depth) for key, item in state.items()}
        jobs = state.get("n_jobs")
        good = jobs is None or (isinstance(jobs, Integral) and abs(jobs) <= MOST_JOBS)
        require(good, "it asks for more threads than make sense")
        self._count(kind, state)
        made = PACKED[name][1](state) if name in PACKED else _made(kind, state)
        if _is_model(kind):
            self.models.append(made)
        if name in PACKED:
            self.of_sklearn.append(made)
        return made


def _dict(pairs):
    for pair in pairs:
        _check_type(pair, list, 2)
    found = dict(pairs)
    require(len(found) == len(pairs), "it says something twice")
    return found


def _scalar(items):
    _check_type(items, list, 2)
    name, value = items
    good = name in DTYPES and type(value) in (bool, int, float)
    require(good, "it holds a number of an unknown kind")
    return np.dtype(name).type(value)


def _texts(items):
    found = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        _check_type(item, str)
        found[i] = item
    return found


_MAKERS = {"dict": _dict, "scalar": _scalar, "texts": _texts, "tuple": tuple}


def _check_type(node, kind, length=None):
    good = type(node) is kind and length in (None, len(node))
    require(good, f"it has something else where a {_WORDS[kind]} must be")


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
    missing = [name for name in _state_of(kind).needed if name not in state]
    require(not missing or not is_fitted(state), f"it lacks {', '.join(missing)}")
    vars(instance).update(state)  # past frozen fields, properties and __setattr__
    return instance


def _check_finite(array, where, known):
    good = not known.finite or array.dtype.kind != "f" or np.isfinite(array).all()
    require(good, f"its {where} has NaN or infinity in it")
