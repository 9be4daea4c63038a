"""Forests of scikit-learn in model files: all trees in a few arrays, checked before they are used.

skops would write each tree as an object of its own, which takes ten times as long and half as
much room again. And scikit-learn follows the nodes of a tree without checking where they lead: a
crafted one would send a prediction outside of its arrays, or round in circles. So a file has the
nodes of all trees of a forest one after the other, without their statistics, and the values of
the leaves.
"""

import numpy as np

DEEPEST_TREE = 10_000  # levels; real trees have tens
COLUMNS = {"left_child": "i", "right_child": "i", "feature": "i", "threshold": "f",
           "missing_go_to_left": "u"}  # fmt: skip
"""What a prediction needs of nodes, and the kinds of these numbers."""


def packed_forest(state: dict) -> dict:
    """Return the attributes of a fitted forest with arrays in place of its trees."""
    trees = [each.tree_ for each in state["estimators_"]]
    if max(tree.max_depth for tree in trees) >= DEEPEST_TREE:
        raise ValueError(
            f"A model file cannot hold trees of {DEEPEST_TREE} levels; give a max_depth."
        )
    states = [tree.__getstate__() for tree in trees]
    nodes, values = (np.concatenate([s[name] for s in states]) for name in ("nodes", "values"))
    packed = {name: nodes[name] for name in COLUMNS}
    packed["values"] = values[nodes["left_child"] < 0, :, 0]
    packed["sizes"] = np.array([len(each["nodes"]) for each in states])
    return {**state, "estimators_": packed}


def unpack_forest(forest) -> bool:
    """Make the trees of a forest from its arrays; return whether they are trees."""
    from sklearn.tree._tree import NODE_DTYPE

    packed = forest.estimators_
    if not _fit_together(packed, forest.n_features_in_, forest.n_outputs_):
        return False
    sizes, inner, depths = packed["sizes"], packed["left_child"] >= 0, _depths(packed)
    if depths is None:
        return False
    nodes = np.zeros(len(inner), NODE_DTYPE)
    for name in COLUMNS:
        nodes[name] = packed[name]
    values = np.zeros((len(inner), forest.n_outputs_, 1))
    values[~inner, :, 0] = packed["values"]
    stops = np.cumsum(sizes)
    forest.estimators_ = [
        _regressor(forest, nodes[stop - size : stop], values[stop - size : stop], depth)
        for stop, size, depth in zip(stops, sizes, depths, strict=True)
    ]
    return True


def _fit_together(packed, n_features, n_outputs):
    """Return whether the arrays are there, of fitting kinds, lengths and ranges."""
    kinds = {**COLUMNS, "sizes": "i", "values": "f"}
    if type(packed) is not dict or packed.keys() != kinds.keys():
        return False
    for name, kind in kinds.items():
        part = packed[name]
        good = type(part) is np.ndarray and part.dtype.kind == kind
        if not good or part.ndim != (2 if name == "values" else 1):
            return False
    sizes, left, feature = packed["sizes"], packed["left_child"], packed["feature"]
    inner, n_nodes = left >= 0, len(left)
    return (
        sizes.min(initial=1) > 0
        and sizes.sum() == n_nodes > 0
        and {len(packed[name]) for name in COLUMNS} == {n_nodes}
        and packed["values"].shape == (np.count_nonzero(~inner), n_outputs)
        and type(n_features) is int
        and feature[inner].min(initial=0) >= 0
        and feature[inner].max(initial=0) < n_features < 2**31
        and np.isfinite(packed["values"]).all()
    )


def _depths(packed):
    """Return the depth of each tree if each node but its root has one parent, which is before it.

    Nodes of all trees are looked at together, level by level.
    """
    sizes, left, right = packed["sizes"], packed["left_child"], packed["right_child"]
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
