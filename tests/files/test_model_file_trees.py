"""Forests and neighbours in model files of strangers: no tree may lead a prediction astray."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from hostile_files import parts_of, repacked, unpacked
from inldl.files.model_file import load_model
from inldl.files.sklearn_parts import pack_forest, unpack_forest


def forest_change(name, change):
    def apply(forest, arrays):
        key = forest[name]["array"]
        arrays[key] = change(arrays[key].copy())

    return apply


def at(index, value):
    def change(array):
        array = array.astype(np.result_type(array, np.min_scalar_type(value)))
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        forest_change("left", at(0, 200)),
        forest_change("left", at(0, 0)),
        forest_change("left", at(0, 2)),
        forest_change("right", at(0, 1)),
        forest_change("right", at(0, 2**40)),
        forest_change("right", at(0, 0)),
        forest_change("right", lambda a: -a.astype(int)),
        forest_change("right", lambda a: a[:-1]),
        forest_change("right", lambda a: a.astype(float)),
        forest_change("left", lambda a: a[:, None]),
        forest_change("feature", at(0, 3)),
        forest_change("feature", at(0, -1)),
        forest_change("feature", lambda a: a[:-1]),
        forest_change("threshold", lambda a: a[:-1]),
        forest_change("threshold", lambda a: a.astype(int)),
        forest_change("missing_left", lambda a: a[:-1]),
        forest_change("value", lambda a: a[:-1]),
        forest_change("value", lambda a: a[:, :0]),
        forest_change("value", lambda a: a[:, 0]),
        forest_change("sizes", lambda a: a[:0]),
        forest_change("sizes", lambda a: a + np.array([1, -1])),
        forest_change("sizes", lambda a: np.array([a.sum() + 5, -5])),
        forest_change("sizes", lambda a: np.array([0, a.sum()])),
        lambda forest, arrays: forest.update(n_features=0),
        lambda forest, arrays: forest.update(n_features=True),
        lambda forest, arrays: forest.update(n_features=2**40),
        lambda forest, arrays: forest.update(value=None),
        lambda forest, arrays: forest.pop("right"),
    ],
)
def test_trees_that_are_none(tmp_path, saved, change):
    tree, arrays = unpacked(saved["trees"])
    change(parts_of(tree, "ExtraTreesRegressor")[1], arrays)
    path = repacked(tmp_path / "changed.inldl", tree, arrays)
    with pytest.raises(ValueError, match=r"its trees are damaged|too many dimensions"):
        load_model(path)


def test_endless_and_entangled_trees(tmp_path, saved):
    """A chain is deep but a tree; nodes with two parents would be met exponentially often."""
    tree, arrays = unpacked(saved["trees"])
    forest = parts_of(tree, "ExtraTreesRegressor")[1]
    n = 300_001
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    chain = {
        "sizes": np.array([n]),
        "left": inner.astype(np.uint8),
        "right": 2 * inner.astype(np.uint8),
        "feature": np.zeros(inner.sum(), np.uint8),
        "threshold": np.zeros(inner.sum()),
        "missing_left": np.zeros(inner.sum(), bool),
        "value": np.zeros((n - inner.sum(), 1)),
    }
    chain_of = {key: forest[key]["array"] for key in chain}
    for changes in ({}, {"right": inner.astype(np.uint8)}):
        arrays.update({chain_of[key]: value for key, value in (chain | changes).items()})
        with pytest.raises(ValueError, match="its trees are damaged"):
            load_model(repacked(tmp_path / "changed.inldl", tree, arrays))


def stumps(n, n_labels):
    return {
        "sizes": np.ones(n, int),
        "left": np.zeros(n, np.uint8),
        "right": np.zeros(n, np.uint8),
        "feature": np.zeros(0, np.uint8),
        "threshold": np.zeros(0),
        "missing_left": np.zeros(0, bool),
        "value": np.full((n, n_labels), 0.5),
    }


def test_many_trees_are_refused_before_they_are_made(tmp_path, saved):
    tree, arrays = unpacked(saved["trees"])
    for forest in parts_of(tree, "ExtraTreesRegressor")[1:]:
        arrays.update({forest[key]["array"]: part for key, part in stumps(8000, 1).items()})
    with pytest.raises(ValueError, match="it holds more than 20000 trees"):
        load_model(repacked(tmp_path / "changed.inldl", tree, arrays))


def test_a_leaf_of_nan_is_refused(tmp_path, saved):
    tree, arrays = unpacked(saved["trees"])
    value = arrays[parts_of(tree, "ExtraTreesRegressor")[1]["value"]["array"]]
    value[-1] = np.nan
    with pytest.raises(ValueError, match="its value has NaN or infinity in it"):
        load_model(repacked(tmp_path / "changed.inldl", tree, arrays))


def test_depths_of_loaded_trees(saved, named_data):
    """They are what scikit-learn has found when it grew the trees."""
    forest = ExtraTreesRegressor(5, random_state=0).fit(*named_data[:1], named_data[0]["a"])
    again = unpack_forest(pack_forest(forest))
    assert [e.get_depth() for e in again.estimators_] == [
        e.get_depth() for e in forest.estimators_
    ]


def test_neighbors_that_do_not_fit(tmp_path, saved):
    for change in (
        lambda part, arrays: arrays.update({part["fitted_y"]["array"]: np.zeros(3)}),
        lambda part, arrays: arrays.update({part["fitted_X"]["array"]: np.zeros((150, 9))}),
        lambda part, arrays: part.update(metric="none"),
        lambda part, arrays: part.update(algorithm=3),
        lambda part, arrays: part.update(metric_params={"dict": []}),
        lambda part, arrays: part.update(n_neighbors=10**9),
    ):
        tree, arrays = unpacked(saved["neighbors"])
        change(parts_of(tree, "KNeighborsRegressor")[1], arrays)
        with pytest.raises(ValueError, match="cannot be loaded"):
            load_model(repacked(tmp_path / "changed.inldl", tree, arrays))
