"""Forests and neighbours in model files of strangers: no tree may lead a prediction astray."""

import copy

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from hostile_files import changed
from inldl import AutoInLDL
from inldl.files.audit import packed_forest, unpack_forest
from inldl.files.model_file import load_model, save_model


def arrays(name, change):
    """Change one of the arrays of the second forest."""

    def apply(model):
        packed = model.regressors_[1].estimators_
        packed[name] = change(packed[name].copy())

    return apply


def forest(**attributes):
    return lambda model: vars(model.regressors_[1]).update(attributes)


def at(index, value):
    def change(array):
        array = array.astype(np.result_type(array, np.min_scalar_type(value)))
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "change",
    [
        arrays("left_child", at(0, 200)),
        arrays("left_child", at(0, 0)),
        arrays("left_child", at(0, -1)),
        arrays("left_child", at(0, -5)),
        arrays("left_child", lambda a: np.where(a < 0, -5, a)),
        arrays("left_child", at(0, 2)),
        arrays("right_child", at(0, 1)),
        arrays("right_child", at(0, 2**40)),
        arrays("right_child", at(0, 0)),
        arrays("right_child", at(0, -1)),
        arrays("right_child", lambda a: -a),
        arrays("right_child", lambda a: a[:-1]),
        arrays("left_child", lambda a: a[:, None]),
        arrays("feature", at(0, 3)),
        arrays("feature", at(0, -1)),
        arrays("feature", lambda a: a[:-1]),
        arrays("threshold", lambda a: a[:-1]),
        arrays("missing_go_to_left", lambda a: a[:-1]),
        arrays("values", lambda a: a[:-1]),
        arrays("values", lambda a: a[:, :0]),
        arrays("values", lambda a: a[:, 0]),
        arrays("values", at((-1, 0), np.nan)),
        arrays("sizes", lambda a: a[:0]),
        arrays("sizes", lambda a: a.astype(float)),
        arrays("sizes", lambda a: np.array([2**62] * 4 + a.tolist())),
        arrays("sizes", lambda a: a + np.array([1, -1])),
        arrays("sizes", lambda a: np.array([a.sum() + 5, -5])),
        arrays("sizes", lambda a: np.array([0, a.sum()])),
        arrays("values", lambda a: None),
        forest(n_features_in_=0),
        forest(n_features_in_=2),
        forest(n_features_in_=True),
        forest(n_features_in_=2**40),
        forest(n_outputs_=2),
        lambda model: model.regressors_[1].estimators_.pop("right_child"),
    ],
)
def test_trees_that_are_none(tmp_path, saved, change):
    path = changed(tmp_path / "changed.inldl", saved["trees"], change)
    with pytest.raises(ValueError, match=r"its (trees are damaged|parts do not make a model)"):
        load_model(path)


def test_trees_that_are_no_arrays(tmp_path, saved):
    for value in ([], {}, 3, {"sizes": [2, 2]}):
        path = changed(tmp_path / "changed.inldl", saved["trees"], forest(estimators_=value))
        with pytest.raises(ValueError, match=r"cannot be loaded: its (trees|parts)"):
            load_model(path)


def chain(n):
    """Return a tree whose inner nodes have a leaf and the next inner node."""
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    return {
        "left_child": np.where(inner, np.arange(n) + 1, -1),
        "right_child": np.where(inner, np.arange(n) + 2, -1),
        "feature": np.zeros(n, int),
        "threshold": np.zeros(n),
        "missing_go_to_left": np.zeros(n, np.uint8),
        "values": np.zeros((n - inner.sum(), 1)),
        "sizes": np.array([n]),
    }


def test_endless_and_entangled_trees(tmp_path, saved):
    """A chain is deep but a tree; nodes with two parents would be met exponentially often."""
    deep, entangled = chain(300_001), chain(301)
    entangled["right_child"] = entangled["left_child"]
    for packed in (deep, entangled):
        path = changed(tmp_path / "changed.inldl", saved["trees"], forest(estimators_=packed))
        with pytest.raises(ValueError, match="its trees are damaged"):
            load_model(path)
    load_model(changed(tmp_path / "good", saved["trees"], forest(estimators_=chain(301))))


def test_many_trees_are_refused_before_they_are_made(tmp_path, saved):
    stumps = {name: np.tile(part, 8000) for name, part in chain(1).items() if name != "values"}
    stumps["values"] = np.full((8000, 1), 0.5)

    def change(model):
        for each in model.regressors_:
            each.estimators_ = copy.deepcopy(stumps)

    with pytest.raises(ValueError, match="it holds more than 20000 trees"):
        load_model(changed(tmp_path / "changed.inldl", saved["trees"], change))


def test_depths_of_loaded_trees(named_data):
    """They are what scikit-learn has found when it grew the trees."""
    forest = ExtraTreesRegressor(5, random_state=0).fit(*named_data[:1], named_data[0]["a"])
    again = copy.copy(forest)
    vars(again).update(packed_forest(vars(forest)))
    assert unpack_forest(again)
    assert [e.get_depth() for e in again.estimators_] == [
        e.get_depth() for e in forest.estimators_
    ]


def test_neighbors_that_do_not_fit(tmp_path, saved):
    for attributes in (
        {"_y": np.zeros(3)},
        {"_fit_X": np.zeros((150, 9))},
        {"metric": "none"},
        {"algorithm": 3},
        {"metric_params": {}},
        {"n_neighbors": 10**9},
    ):

        def change(model, attributes=attributes):
            vars(model.regressors_[1]).update(attributes)

        with pytest.raises(ValueError, match="cannot be loaded"):
            load_model(changed(tmp_path / "changed.inldl", saved["neighbors"], change))


def test_boosted_trees_that_are_none(tmp_path, named_data):
    """The kernel that follows them does not look where they lead either."""
    model = AutoInLDL(members=["boosted"], random_state=0).fit(*named_data)
    save_model(model, tmp_path / "good")
    load_model(tmp_path / "good")
    changes = {
        "feature": [lambda a: a + 10**6, lambda a: -1 - a, lambda a: a[:-1], lambda a: a * 0.5],
        "threshold": [lambda a: a[:-1], lambda a: a[None]],
        "child": [lambda a: a + 10**6, lambda a: a * 0, lambda a: a - 10**6, lambda a: a[:-1]],
        "roots": [lambda a: a + 1, lambda a: a[:-1], lambda a: a[:1], lambda a: a[::-1]],
        "value": [lambda a: a[:, :-1], lambda a: a[:-1], lambda a: a[..., None]],
        "mean": [lambda a: a[:-1], lambda a: a[None]],
    }
    for name, some in changes.items():
        for each in some:

            def change(model, name=name, each=each):
                trees = model.members_["boosted"].models_[0]
                setattr(trees, name, each(getattr(trees, name)))

            path = changed(tmp_path / "changed", tmp_path / "good", change)
            with pytest.raises(ValueError, match="cannot be loaded"):
                load_model(path)
