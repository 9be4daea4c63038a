"""Forests of scikit-learn in model files: all trees in a few arrays, checked before they are used.

skops would write each tree as an object of its own, which takes ten times as long and half as
much room again. And scikit-learn follows the nodes of a tree without checking where they lead: a
crafted one would send a prediction outside of its arrays, or round in circles. So a file has the
nodes of all trees of a forest one after the other, without their statistics, and the values of
the leaves.
"""

import numpy as np

DEEPEST_TREE = 10_000  # levels; real trees have tens
COLUMNS = ("left_child", "right_child", "feature", "threshold", "missing_go_to_left")


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

    packed, n_outputs = forest.estimators_, forest.n_outputs_
    leaves, sizes = packed["values"], packed["sizes"]
    nodes = np.zeros(len(packed["left_child"]), NODE_DTYPE)
    for name in COLUMNS:
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
