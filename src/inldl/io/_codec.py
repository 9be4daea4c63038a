"""Turn models into trees of plain data and back, without pickle and without running anything.

A tree is made of what JSON has, and of these: ``{"float": "nan"}``, ``{"tuple": [...]}``,
``{"dict": [[key, value], ...]}``, ``{"scalar": [dtype, value]}``, ``{"texts": [...]}`` (an array
of str), ``{"array": name}`` and ``{"class": name, "state": {attribute: value}}``.
"""

import dataclasses
import math
import re
from contextlib import suppress
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator

from inldl import _file_state
from inldl._file_state import Array, FileState, file_state
from inldl._specs import import_object
from inldl.estimators import DistributionEstimator, RegressorLDL
from inldl.io._container import require
from inldl.io._sklearn_parts import PACKED, STATES, defaults
from inldl.methods import classes

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
    with suppress(AttributeError):
        kind = _file_state.exported(name)
        return kind if _is_model(kind) else None
    return None


def _is_model(kind):
    return isinstance(kind, type) and issubclass(kind, DistributionEstimator)


def _state_of(kind):
    """Return what files hold of a class."""
    return file_state(kind) or STATES.get(kind.__name__, _NOTHING)


class _Limits:
    """Refuse more models or trees than any real file has, before time is spent on them."""

    def __init__(self):
        self._models = self._trees = 0

    def add(self, kind, state):
        """Count an instance of a class."""
        self._models += _is_model(kind)
        self._trees += np.size(state.get("sizes", ())) if kind.__name__ in PACKED else 0
        require(self._models <= MOST_MODELS, f"it holds more than {MOST_MODELS} models")
        require(self._trees <= MOST_TREES, f"it holds more than {MOST_TREES} trees")


class Encoder:
    """Make the tree of a model; `arrays` then has what it refers to, by name."""

    def __init__(self):
        self.arrays, self._names, self._limits = {}, {}, _Limits()

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
        name = self._names.get(id(value))
        if name is None:
            name = f"{len(self.arrays)}-{where}"
            self.arrays[name], self._names[id(value)] = value, name
        return {"array": name}

    def _instance(self, value, where, owner, depth):
        kind, name = type(value), type(value).__name__
        if named_class(name, owner) is not kind or not hasattr(value, "__dict__"):
            raise _cannot_hold(value, where)
        packed, own = PACKED.get(name, (vars,))[0](value), _state_of(kind)
        self._limits.add(kind, packed)
        state = {key: self.tree(item, key, own, depth + 1) for key, item in packed.items()}
        return {"class": name, "state": state}


def _cannot_hold(value, where):
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"{value.ndim}-D array of {value.dtype}"
    return ValueError(
        f"A model file cannot hold the {kind} that is the {where or 'model'} here; it can hold "
        f"{savable()}, with parameters that are numbers or texts."
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

    def value(self, node, where="", owner=_NOTHING, depth=0):
        """Return what a tree stands for; it belongs to the attribute `where` of an `owner`."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        require(depth <= 2 * DEEPEST, "it is nested too deeply")
        if type(node) is list:
            return [self.value(item, where, owner, depth + 1) for item in node]
        reader = self._readers.get(tuple(sorted(node)))
        require(reader is not None, f"it holds something unknown ({', '.join(node)[:80]})")
        return reader(node, where, owner, depth + 1)

    def _float(self, node, where, owner, depth):
        return _FLOATS[_text(node["float"])]

    def _scalar(self, node, where, owner, depth):
        name, value = _list(node["scalar"], 2)
        value = self.value(value, where, owner, depth)
        good = _text(name) in DTYPES and type(value) in (bool, int, float)
        require(good, "it holds a number of an unknown kind")
        return np.dtype(name).type(value)

    def _texts(self, node, where, owner, depth):
        found = np.empty(len(_list(node["texts"])), dtype=object)
        found[:] = [_text(item) for item in node["texts"]]
        return found

    def _array(self, node, where, owner, depth):
        name = _text(node["array"])
        if name not in self._arrays:
            self._arrays[name] = self._read_array(name)
        array, known = self._arrays[name], owner.arrays.get(where, Array())
        require(array.ndim <= known.ndim, f"its {where} has too many dimensions")
        self._left -= array.nbytes
        require(self._left >= 0, "its parts use the same arrays too often")
        _check_finite(array, where, known)
        return array

    def _tuple(self, node, where, owner, depth):
        return tuple(self.value(_list(node["tuple"]), where, owner, depth))

    def _dict(self, node, where, owner, depth):
        pairs = [self.value(_list(pair, 2), where, owner, depth) for pair in _list(node["dict"])]
        found = dict(pairs)
        require(len(found) == len(pairs), "it says something twice")
        return found

    def _instance(self, node, where, owner, depth):
        name, state = _text(node["class"]), node["state"]
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
        _check_jobs(state.get("n_jobs"))
        self._limits.add(kind, state)
        made = PACKED[name][1](state) if name in PACKED else _made(kind, state)
        if _is_model(kind):
            self.models.append(made)
        if name in PACKED:
            self.of_sklearn.append(made)
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
    missing = [name for name in _state_of(kind).needed if name not in state]
    require(not missing or not is_fitted(state), f"it lacks {', '.join(missing)}")
    vars(instance).update(state)  # past frozen fields, properties and __setattr__
    return instance


def is_fitted(state):
    """Return whether attributes are those of an instance that was fitted."""
    return any(name.endswith("_") for name in state)


def _check_finite(array, where, known):
    good = not known.finite or array.dtype.kind != "f" or np.isfinite(array).all()
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
