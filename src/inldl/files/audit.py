"""Decide what a model file may hold: before it is written, before it is loaded, and afterwards.

`skops` makes objects from attributes without running their constructors, and refuses types that it
is not given as trusted. It leaves open how large a file pretends to be, and what its objects hold.
"""

import copy
import json
import math
import re
from collections import Counter
from importlib import import_module
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.lib import format as npy
from sklearn.base import BaseEstimator

from inldl.methods import RegressorLDL
from inldl.methods.registry import classes, has_method
from inldl.specs import import_object

ROOMS = frozenset(["completion", "methods", "rows", "solvers", "tables",
                   "uncertainty", "weighting"])  # fmt: skip
SKLEARN = {
    "ExtraTreeRegressor": "sklearn.tree",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "KNeighborsRegressor": "sklearn.neighbors",
    "PCA": "sklearn.decomposition",
    "Ridge": "sklearn.linear_model",
    "StandardScaler": "sklearn.preprocessing",
    "TruncatedSVD": "sklearn.decomposition",
}
# Attributes with an entry for each training row, of which files have none
TRAINING_ROWS = frozenset(["held_out_", "held_out_rows_", "recovered_"])
# Attributes in which NaN or infinity is no fault
WITH_NAN = frozenset(["completion_scores_", "degrees", "explained_variance_ratio_",
                      "group_errors_", "held_out_", "history_", "left", "_fit_X",
                      "estimators_"])  # fmt: skip
DTYPES = {"bool", "float16", "float32", "float64"}
DTYPES |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# What skops may make besides objects, by the name of its loader
NODES = {
    "DictNode": {"builtins.dict"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *(f"numpy.{name}" for name in DTYPES)},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": {"builtins.str", "builtins.int", "builtins.float"},  # of the keys of a dict
}
LEAVES = frozenset(["JsonNode", "NdArrayNode", "TypeNode"])  # nodes without others in them
OLDEST_PROTOCOL = 2  # of skops; readers of older ones are less strict
MOST_DIMENSIONS = 3
MOST_JOBS = 1024  # joblib starts as many threads
DEEPEST_TREE = 10_000  # levels; real trees have tens
NODE_COLUMNS = ("left_child", "right_child", "feature", "threshold", "missing_go_to_left")
MOST_TREES = 20_000  # of all forests in one file; a tree takes 50 microseconds to make
MOST_TIMES = 50  # the bytes of a file that its parts can have in memory; most have 10
MOST_COLUMNS = 10**6  # of an array without entries
_ATTRIBUTE = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
_trusted: set[str] = set()  # the paths of classes from outside


class MalformedError(ValueError):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


def require(good: object, what: str) -> None:
    """Refuse a file with the words `what` unless something about it is good."""
    if not good:
        raise MalformedError(what)


def savable() -> str:
    """Return what can be saved, in words."""
    ours = ", ".join(name for name in classes() if name != RegressorLDL.__name__)
    return f"{ours}, and RegressorLDL around Ridge, ExtraTreesRegressor or KNeighborsRegressor"


def trust(kind: type) -> None:
    """Let files hold a class from outside, such as a kind of column."""
    _trusted.add(f"{kind.__module__}.{kind.__name__}")


def trusted_class(module: str, name: str) -> type | None:
    """Return a class that files may hold, or None.

    It is one of `SKLEARN`, or a class of which nothing runs when it is loaded or forgotten, in one
    of `ROOMS`, in the module of a registered method, or given to `trust`.
    """
    if name in SKLEARN:
        kind = import_object(f"{SKLEARN[name]}:{name}")
        return kind if kind.__module__ == module else None
    root, *rest = module.split(".")
    known = root == "inldl" and rest and rest[0] in ROOMS and all(map(str.isidentifier, rest))
    known = known or has_method(module)
    if not known and f"{module}.{name}" not in _trusted:
        return None
    try:
        kind = getattr(import_module(module), name, None)
    except ImportError:
        return None
    good = isinstance(kind, type) and kind.__module__ == module and kind.__new__ is object.__new__
    good = good and getattr(kind, "__setstate__", None) in (None, BaseEstimator.__setstate__)
    return kind if good and not hasattr(kind, "__del__") else None


def portable(value, where="model", loaded: list[Any] | None = None) -> Any:
    """Return a copy of a model without caches and training rows; refuse what files cannot hold.

    Caches are attributes of our classes with a leading underscore. `where` is the attribute that
    the value belongs to. The objects of a `loaded` model are checked, and added to that list.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if isinstance(value, np.generic) and kind.__name__ in DTYPES | {"str_"}:
        return value if kind.__name__ in DTYPES else str(value)
    if kind in (np.ndarray, np.memmap):
        require(_is_plain_array(value), f"its {where} is something else than numbers or texts")
        finite = where in WITH_NAN or value.dtype.kind != "f" or np.isfinite(value).all()
        require(finite, f"its {where} has NaN or infinity in it")
        return _in_one_piece(value[:0] if where in TRAINING_ROWS else value)
    if kind in (list, tuple):
        return kind([portable(item, where, loaded) for item in value])
    if kind is dict and all(type(key) in (str, int, float) for key in value):
        return {key: portable(item, where, loaded) for key, item in value.items()}
    if trusted_class(kind.__module__, kind.__name__) is kind:
        if loaded is not None:
            _check_instance(value)
        made = copy.copy(value)
        vars(made).clear()
        vars(made).update({k: portable(item, k, loaded) for k, item in _state(value).items()})
        if loaded is not None:
            loaded.append(made)
        return made
    raise ValueError(
        f"A model file cannot hold the {kind.__name__} that is the {where} here; it can hold "
        f"{savable()}, with parameters that are numbers or texts."
    )


def _is_plain_array(value):
    if value.dtype == object:
        return value.ndim == 1 and all(type(x) is str for x in value)
    return value.dtype.name in DTYPES and value.ndim <= MOST_DIMENSIONS


def _in_one_piece(value):
    """Return an array without gaps; products of other memory orders have other last bits."""
    rows_first = value.ndim < 2 or value.strides[0] >= value.strides[-1]
    return np.asarray(value, order="C" if value.flags.c_contiguous or rows_first else "F")


def _state(value):
    """Return the attributes of an object that a file has."""
    state, name = vars(value), type(value).__name__
    if name not in SKLEARN:
        return {key: item for key, item in state.items() if not key.startswith("_")}
    if name == "ExtraTreesRegressor" and type(state.get("estimators_")) is list:
        return packed_forest(state)
    if name != "KNeighborsRegressor":
        return state
    sparse = not isinstance(state.get("_fit_X", np.zeros(0)), np.ndarray)
    if sparse or value.metric_params is not None:
        what = "that was fitted to sparse features; fit it to X.toarray()" if sparse else ""
        raise ValueError(f"A model file cannot hold a {name} {what or 'with metric_params'}.")
    return {**state, "_tree": None}  # which is made again from the rows, and cannot lead astray


def check_payload(archive, room: int) -> list[str]:
    """Return the types in a zip of skops; refuse it if not all are trusted.

    It is also refused if an array has another size than it says, or if all parts together take
    more than `room` bytes.
    """
    size = sum(member.file_size for member in archive.infolist())
    require(size <= room, "its parts are larger than the file explains")
    schema = json.loads(archive.read("schema.json"))
    require(type(schema) is dict, "it has something else where a part must be")
    protocol = schema.get("protocol")
    require(type(protocol) is int and protocol >= OLDEST_PROTOCOL, "it does not say its version")
    nodes = list(_nodes(schema))
    types = {_checked_type(node) for node in nodes}
    arrays = Counter(node.get("file") for node in nodes if node.get("type") == "numpy")
    used = sum(times * _checked_size(archive, name) for name, times in arrays.items())
    require(used <= room, "its parts use the same arrays too often")
    # skops knows nodes by their numbers. A few lists of lists twice each can stand for millions.
    uses = Counter(node.get("__id__") for node in nodes)
    filled = [node for node in nodes if node["__loader__"] not in LEAVES and node.get("content")]
    numbers = [node["__id__"] for node in filled if node.get("__id__")]
    require(all(uses[number] == 1 for number in numbers), "it uses a part twice")
    return sorted(types)


def _nodes(schema):
    """Yield the nodes of skops in JSON data."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            node = list(node.values())
        stack += [each for each in node if isinstance(each, dict | list)]


def _checked_type(node):
    """Return the type that skops makes of a node; refuse one that is not trusted."""
    loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
    texts = all(isinstance(text, str) for text in (loader, module, name))
    require(texts, "it has something else where a text must be")
    path, ours = f"{module}.{name}", loader == "ObjectNode"
    require(ours or loader in NODES, f"it holds something unknown ({loader[:80]})")
    require(
        trusted_class(module, name) is not None if ours else path in NODES[loader],
        f"it holds a {name[:80]!r}, which this inldl does not know; a newer one may (pip install "
        "-U inldl)",
    )
    return path


def _checked_size(archive, name):
    """Return the bytes of an array; refuse one that has other sizes than it says."""
    known = isinstance(name, str) and name in archive.NameToInfo
    require(known, f"its array {name!s:.80} is missing")
    size = archive.NameToInfo[name].file_size
    with archive.open(name) as file:
        try:
            require(npy.read_magic(file) == (1, 0), "")
            shape, _, dtype = npy.read_array_header_1_0(file)
        except ValueError:
            raise MalformedError(f"its array {name[:80]} is not one of numbers") from None
        rest = size - file.tell()
    require(dtype.name in DTYPES, f"its array {name[:80]} is not one of numbers")
    good = min(shape, default=0) >= 0 and math.prod(shape) * dtype.itemsize == rest
    # No array without entries may be so wide that what is made of it fills the memory.
    good = good and max(shape, default=0) <= max(rest, MOST_COLUMNS)
    require(good, f"its array {name[:80]} has another size than it says")
    return size


def check_loaded(model) -> tuple[Any, list[Any]]:
    """Return a model that was loaded, and all objects in it, checked and ready."""
    objects: list[Any] = []
    model = portable(model, loaded=objects)
    for each in objects:
        if type(each).__name__ == "KNeighborsRegressor" and hasattr(each, "_fit_X"):
            _fit_again(each)
    kinds = (each for each in objects if type(each).__name__ == "ExtraTreesRegressor")
    forests = [each for each in kinds if hasattr(each, "estimators_")]
    trees = sum(np.size(forest.estimators_["sizes"]) for forest in forests)
    require(trees <= MOST_TREES, f"it holds more than {MOST_TREES} trees")
    require(all(map(unpack_forest, forests)), "its trees are damaged")
    return model, objects


def _check_instance(value):
    """Refuse attributes that no instance has; give parameters that are new their defaults."""
    kind, state = type(value), vars(value)
    good = all(isinstance(name, str) and _ATTRIBUTE.fullmatch(name) for name in state)
    good = good and not any(callable(getattr(kind, name, None)) for name in state)
    require(good, f"it holds a {kind.__name__} without proper attributes")
    if isinstance(value, BaseEstimator):
        for each in signature(kind).parameters.values():
            if each.default is not each.empty:
                state.setdefault(each.name, each.default)
    jobs = state.get("n_jobs")
    good = jobs is None or (isinstance(jobs, Integral) and abs(jobs) <= MOST_JOBS)
    require(good, "it asks for more threads than make sense")
    coef, intercept = np.shape(state.get("coef_")), np.shape(state.get("intercept_"))
    fits = len(coef) < 2 or intercept in ((), coef[:1], coef[1:])
    require(fits, "its intercept_ does not fit its coef_")
    require(type(state.get("dropped_", {})) is dict, "what it has left out is no list of columns")
    try:
        getattr(value, "_check_parameters", lambda: None)()
    except ValueError as error:
        raise MalformedError(" ".join(str(error).split())[:200].rstrip(".")) from None


def _fit_again(regressor):
    """Fit a KNeighborsRegressor to its rows, which needs nothing but memory and moments."""
    names = {k: v for k, v in vars(regressor).items() if k == "feature_names_in_"}
    vars(regressor.fit(regressor._fit_X, regressor._y)).update(names)


def packed_forest(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a fitted forest with a few arrays in place of its trees.

    skops would write each tree as an object, which takes ten times as long and half as much room
    again. Files have no statistics of nodes, and the values of leaves alone.
    """
    trees = [each.tree_ for each in state["estimators_"]]
    if max(tree.max_depth for tree in trees) >= DEEPEST_TREE:
        raise ValueError(
            f"A model file cannot hold trees of {DEEPEST_TREE} levels; give a max_depth."
        )
    states = [tree.__getstate__() for tree in trees]
    nodes, values = (np.concatenate([s[name] for s in states]) for name in ("nodes", "values"))
    packed = {name: nodes[name] for name in NODE_COLUMNS}
    packed["values"] = values[nodes["left_child"] < 0, :, 0]
    packed["sizes"] = np.array([len(each["nodes"]) for each in states])
    return {**state, "estimators_": packed}


def unpack_forest(forest) -> bool:
    """Make the trees of a forest from its arrays; return whether they are trees.

    scikit-learn follows nodes without checking where they lead: a crafted tree would send a
    prediction outside of its arrays, or round in circles.
    """
    from sklearn.tree._tree import NODE_DTYPE

    packed, n_outputs = forest.estimators_, forest.n_outputs_
    leaves, sizes = packed["values"], packed["sizes"]
    nodes = np.zeros(len(packed["left_child"]), NODE_DTYPE)
    for name in NODE_COLUMNS:
        nodes[name] = packed[name]
    inner, features = nodes["left_child"] >= 0, nodes["feature"][nodes["left_child"] >= 0]
    width = forest.n_features_in_ if type(forest.n_features_in_) is int else 0
    good = ((features >= 0) & (features < width)).all() and 0 < width < 2**31
    good = good and leaves.shape == (np.count_nonzero(~inner), n_outputs)
    good = good and np.isfinite(leaves).all() and sizes.dtype.kind == "i" and sizes.ndim == 1
    good = good and ((sizes > 0) & (sizes < 2**31)).all() and sizes.sum() == len(nodes) > 0
    depths = _depths(nodes, sizes) if good else None
    if depths is None:
        return False
    values = np.zeros((len(nodes), n_outputs, 1))
    values[~inner, :, 0] = leaves
    forest.estimators_ = [
        _regressor(forest, nodes[stop - size : stop], values[stop - size : stop], depth)
        for stop, size, depth in zip(np.cumsum(sizes), sizes, depths, strict=True)
    ]
    return True


def _depths(nodes, sizes):
    """Return the depth of each tree if each node but its root has one parent, which is before it.

    Nodes of all trees are looked at together, level by level.
    """
    left, right = nodes["left_child"], nodes["right_child"]
    stops, tree_of = np.cumsum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    roots, inner = stops - sizes, left >= 0
    parents = np.tile(np.flatnonzero(inner), 2)
    children = np.concatenate([left[inner], right[inner]]) + roots[tree_of[parents]]
    good = (children > parents).all() and (children < stops[tree_of[parents]]).all()
    good = good and (left[~inner] == -1).all()  # scikit-learn knows leaves by that
    once = np.ones(len(left), int)
    once[roots] = 0
    if not good or not np.array_equal(np.bincount(children, minlength=len(left)), once):
        return None
    depths, level = np.zeros(len(sizes), int), roots[inner[roots]]
    while len(level) and depths.max() < DEEPEST_TREE:
        depths[tree_of[level]] += 1
        level = np.concatenate([left[level], right[level]]) + np.tile(roots[tree_of[level]], 2)
        level = level[inner[level]]
    return None if len(level) else depths.tolist()


def _regressor(forest, nodes, values, depth):
    """Return one tree of a forest."""
    from sklearn.tree import ExtraTreeRegressor
    from sklearn.tree._tree import Tree

    given = {name: getattr(forest, name) for name in forest.estimator_params}
    regressor = ExtraTreeRegressor(**given | {"random_state": None})
    n_features, outputs = forest.n_features_in_, forest.n_outputs_
    regressor.n_features_in_, regressor.n_outputs_ = n_features, outputs
    regressor.tree_ = Tree(n_features, np.ones(outputs, np.intp), outputs)
    state = {"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    regressor.tree_.__setstate__(state)
    return regressor
