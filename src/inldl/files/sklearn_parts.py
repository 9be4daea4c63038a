"""Parts of scikit-learn in model files.

Most are held as they are, by their attributes. Forests and neighbours are packed.

Of a forest the file has what a prediction needs, in a few arrays, which are checked before a tree
is made of them. The nodes of all trees stand one after the other. `left` and `right` say by how
much the number of a child is larger than that of its parent; both are 0 at a leaf. `feature`,
`threshold` and `missing_left` are those of the inner nodes, in order, and `value` those of the
leaves. Of nearest neighbours it has the rows they were fitted to.
"""

from inspect import signature

import numpy as np

from inldl.file_state import Array, FileState
from inldl.files.container import require

_ROTATION = FileState({"components_": Array(2), "explained_variance_ratio_": Array(finite=False)})
STATES = {
    "ExtraTreesRegressor": FileState({"value": Array(2), "threshold": Array(finite=False)}),
    "KNeighborsRegressor": FileState({"fitted_X": Array(2, finite=False), "fitted_y": Array(2)}),
    "Nystroem": FileState({"components_": Array(2), "normalization_": Array(2)}),
    "PCA": _ROTATION,
    "Ridge": FileState({"coef_": Array(2)}),
    "TruncatedSVD": _ROTATION,
}
"""What a file holds of each class."""
DEEPEST = 10_000  # levels; real trees have tens
_PARTS = {"sizes": "iu", "left": "iu", "right": "iu", "feature": "iu", "threshold": "f",
          "missing_left": "b", "value": "f"}  # fmt: skip


def pack_forest(forest):
    """Return the parameters of an ExtraTreesRegressor and, if it is fitted, its trees."""
    state = forest.get_params(deep=False)
    if not hasattr(forest, "estimators_"):
        return state
    trees = [each.tree_ for each in forest.estimators_]
    if max(tree.max_depth for tree in trees) >= DEEPEST:
        raise ValueError(f"A model file cannot hold trees of {DEEPEST} levels; give a max_depth.")

    def joined(name):
        return np.concatenate([getattr(tree, name) for tree in trees])

    left, right = joined("children_left"), joined("children_right")
    inner, own = left >= 0, np.concatenate([np.arange(tree.node_count) for tree in trees])
    return state | {
        "n_features": forest.n_features_in_,
        "feature_names": getattr(forest, "feature_names_in_", None),
        "sizes": np.array([tree.node_count for tree in trees]),
        "left": _small(np.where(inner, left - own, 0)),
        "right": _small(np.where(inner, right - own, 0)),
        "feature": _small(joined("feature")[inner]),
        "threshold": joined("threshold")[inner],
        "missing_left": joined("missing_go_to_left")[inner].astype(bool),
        "value": joined("value")[~inner, :, 0],
    }


def _small(numbers):
    """Return whole numbers, none negative, in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def unpack_forest(state):
    """Return the ExtraTreesRegressor; refuse trees that would lead a prediction astray."""
    from sklearn.ensemble import ExtraTreesRegressor

    forest = _unfitted(ExtraTreesRegressor, state)
    if "sizes" not in state:
        return forest
    parts = _checked_parts(state)
    forest.n_features_in_, forest.n_outputs_ = state["n_features"], parts["value"].shape[1]
    forest.estimator_ = forest.estimator
    nodes, values = _nodes(parts)
    forest.estimators_, start = [], 0
    for size, depth in zip(parts["sizes"].tolist(), _checked_depths(parts), strict=True):
        own = slice(start, start + size)
        forest.estimators_.append(_regressor(forest, nodes[own], values[own], depth))
        start += size
    return _with_names(forest, state)


def _checked_parts(state):
    """Return the arrays of a forest, all of fitting types, lengths and ranges."""
    parts = {name: state.get(name) for name in _PARTS}
    for name, kinds in _PARTS.items():
        part = parts[name]
        _check(isinstance(part, np.ndarray) and part.dtype.kind in kinds)
        _check(part.ndim == (2 if name == "value" else 1))
        if kinds == "iu":
            _check(part.min(initial=0) >= 0 and part.max(initial=0) < 2**31)
            parts[name] = part.astype(np.int64)
    n_nodes, n_inner = len(parts["left"]), int(np.count_nonzero(parts["left"]))
    _check(parts["sizes"].min(initial=1) > 0 and parts["sizes"].sum() == n_nodes > 0)
    _check(len(parts["right"]) == n_nodes)
    _check(all(len(parts[each]) == n_inner for each in ("feature", "threshold", "missing_left")))
    _check(len(parts["value"]) == n_nodes - n_inner and parts["value"].shape[1] > 0)
    n_features = state.get("n_features")
    _check(type(n_features) is int and parts["feature"].max(initial=0) < n_features < 2**31)
    return parts


def _checked_depths(parts):
    """Return the depth of each tree, if each node but its root is the child of one node in it."""
    sizes, left, right = parts["sizes"], parts["left"], parts["right"]
    tree, stops = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes)
    inner, roots = np.flatnonzero(left), stops - sizes
    _check(np.array_equal(inner, np.flatnonzero(right)))
    children = np.concatenate([inner + left[inner], inner + right[inner]])
    _check((children < np.tile(stops[tree[inner]], 2)).all())
    once = np.ones(len(left), int)
    once[roots] = 0
    _check(np.array_equal(np.bincount(children, minlength=len(left)), once))
    # The steps from each node to its root are counted by doubling their length.
    steps, above = once, np.arange(len(left))
    above[children] = np.tile(inner, 2)
    for _ in range(DEEPEST.bit_length()):
        steps, above = steps + steps[above], above[above]
    _check(np.isin(above, roots).all() and steps.max() < DEEPEST)
    return np.maximum.reduceat(steps, roots).tolist()


def _nodes(parts):
    """Return the nodes and values of all trees, as scikit-learn wants them."""
    from sklearn.tree._tree import NODE_DTYPE

    left, right, sizes = parts["left"], parts["right"], parts["sizes"]
    inner, own = left > 0, np.arange(len(left)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    nodes = np.zeros(len(left), NODE_DTYPE)
    nodes["left_child"] = np.where(inner, own + left, -1)
    nodes["right_child"] = np.where(inner, own + right, -1)
    nodes["feature"], nodes["threshold"] = -2, -2  # as scikit-learn marks leaves
    nodes["feature"][inner], nodes["threshold"][inner] = parts["feature"], parts["threshold"]
    nodes["missing_go_to_left"][inner] = parts["missing_left"]
    values = np.zeros((len(left), parts["value"].shape[1], 1))
    values[~inner, :, 0] = parts["value"]
    return nodes, values


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


def _check(good):
    require(good, "its trees are damaged")


def pack_neighbors(regressor):
    """Return the parameters of a KNeighborsRegressor and, if it is fitted, its rows."""
    state = regressor.get_params(deep=False)
    if state.get("metric_params") is not None:
        raise ValueError("A model file cannot hold a KNeighborsRegressor with metric_params.")
    if not hasattr(regressor, "_fit_X"):
        return state
    if not isinstance(regressor._fit_X, np.ndarray):
        raise ValueError(
            "A model file cannot hold a KNeighborsRegressor that was fitted to sparse features; "
            "fit it to X.toarray()."
        )
    names = getattr(regressor, "feature_names_in_", None)
    return state | {"fitted_X": regressor._fit_X, "fitted_y": regressor._y, "feature_names": names}


def unpack_neighbors(state):
    """Return the KNeighborsRegressor; fitting it again needs nothing but memory and moments."""
    from sklearn.neighbors import KNeighborsRegressor

    require(state.get("metric_params") is None, "it holds neighbours with metric_params")
    regressor = _unfitted(KNeighborsRegressor, state)
    if "fitted_X" not in state:
        return regressor
    return _with_names(regressor.fit(state["fitted_X"], state["fitted_y"]), state)


def _unfitted(kind, state):
    known = defaults(kind)
    return kind(**{name: state.get(name, known[name]) for name in known})


def _with_names(regressor, state):
    if state["feature_names"] is not None:
        regressor.feature_names_in_ = state["feature_names"]
    return regressor


def defaults(kind):
    """Return the parameters of a constructor that have a default, with it."""
    found = signature(kind).parameters.values()
    return {each.name: each.default for each in found if each.default is not each.empty}


PACKED = {
    "ExtraTreesRegressor": (pack_forest, unpack_forest),
    "KNeighborsRegressor": (pack_neighbors, unpack_neighbors),
}
"""How to make the state of an instance, and an instance of a state."""
