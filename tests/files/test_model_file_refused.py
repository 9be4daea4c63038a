"""Model files of strangers: refused in one sentence, and nothing in them is run."""

import json
import pickle
import sys
import zipfile

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from hostile_files import npy, parts_of, repacked, rezipped, sealed, unpacked
from inldl import WInLDL
from inldl.files.container import TREE
from inldl.files.model_file import load_model, model_info, save_model
from inldl.tables import TableModel


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not a model file that inldl has written"),
        (b"a,b\n1,2\n", "it is not a model file that inldl has written"),
        (pickle.dumps({"a": 1}), "it is not a model file that inldl has written"),
        (b"PK\x03\x04" + b"\0" * 80, "it is not a model file that inldl has written"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "other"
    path.write_bytes(content)
    for read in (load_model, model_info):
        with pytest.raises(ValueError, match=rf"other cannot be loaded: {message}\.$"):
            read(path)


def test_random_zips_and_absent_files_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("readme.txt", "hello " * 20)
    np.savez(tmp_path / "arrays.npz", x=np.ones(3))
    for name in ("zip", "arrays.npz"):
        with pytest.raises(ValueError, match="it is not a model file"):
            load_model(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*none\.$"):
        load_model(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match="is a folder, not a model file"):
        load_model(tmp_path)


def test_newer_formats_are_named(tmp_path, saved):
    tree, arrays = unpacked(saved["linear"])
    tree["version"] = 3
    path = repacked(tmp_path / "new.inldl", tree, arrays)
    message = (
        r"it was written by a newer inldl \(format 3, this one reads up to 1\); upgrade with pip "
        r"install -U inldl\.$"
    )
    for read in (load_model, model_info):
        with pytest.raises(ValueError, match=message):
            read(path)


def test_files_of_other_versions_load(tmp_path, saved, named_data):
    """Parameters that are new get their defaults; attributes that are gone do no harm."""
    tree, arrays = unpacked(saved["forest"])
    tree["header"]["sklearn"], tree["header"]["numpy"] = "1.5.0", "2.0.0"
    del tree["model"]["state"]["min_samples_leaf"]
    tree["model"]["state"]["older_"] = 1
    for forest in parts_of(tree, "ExtraTreesRegressor"):
        del forest["monotonic_cst"]
        forest["older"] = 1
    path = repacked(tmp_path / "old.inldl", tree, arrays)
    told = rf"old\.inldl was saved with scikit-learn 1\.5\.0, but this is {sklearn.__version__}"
    with pytest.warns(UserWarning, match=told):
        loaded = load_model(path)
    assert loaded.min_samples_leaf == 2
    expected = load_model(saved["forest"]).predict(named_data[0])
    np.testing.assert_array_equal(loaded.predict(named_data[0]), expected)


def test_linear_models_are_the_same_with_every_scikit_learn(tmp_path, saved):
    tree, arrays = unpacked(saved["linear"])
    tree["header"]["sklearn"] = "1.6.0"
    load_model(repacked(tmp_path / "old.inldl", tree, arrays))  # warnings are errors here


def state(tree):
    return tree["model"]["state"]


def other_class(name):
    return lambda tree, arrays: tree["model"].update({"class": name})


def put(name, value):
    return lambda tree, arrays: state(tree).update({name: value})


def drop(name):
    return lambda tree, arrays: state(tree).pop(name)


def nested(tree, arrays):
    node = []
    for _ in range(200):
        node = [node]
    state(tree)["mu"] = node


def headless(tree, arrays):
    tree["header"]["labels"] = 3


def coef_of_other_width(tree, arrays):
    arrays[state(tree)["coef_"]["array"]] = np.zeros((3, 2))


def few_calibrated(tree, arrays):
    arrays[state(tree)["calibration_"]["array"]] = np.zeros((1, 5, 3))


def infinite_examples(tree, arrays):
    arrays[state(tree)["examples_"]["state"]["degrees"]["array"]][1, 0] = np.inf


def column(values):
    return lambda tree, arrays: arrays.update({state(tree)["intercept_"]["array"]: values})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_class("os:system"), "it holds a 'os:system', which this inldl does not know"),
        (other_class("this"), "it holds a 'this', which this inldl does not know; a newer one"),
        (other_class("SVR"), "it holds a 'SVR', which"),
        (other_class(["WInLDL"]), "it has something else where a text must be"),
        (other_class("StandardScaler"), "it holds a 'StandardScaler', which this inldl does not"),
        (other_class("TableModel"), "do not make a model|it lacks"),
        (
            other_class("Recalibration"),
            "it holds a 'Recalibration', which this inldl does not know",
        ),
        (put("weighting", {"class": "Columns", "state": {}}), "it holds a 'Columns', which this"),
        (put("__class__", 1), "it holds a WInLDL without proper attributes"),
        (put("__dict__", {"dict": []}), "it holds a WInLDL without proper attributes"),
        (put("a b", 1), "it holds a WInLDL without proper attributes"),
        (put("mu", {"function": "eval"}), r"it holds something unknown \(function\)"),
        (put("mu", {}), "it holds something unknown"),
        (put("mu", {"array": "none"}), "its array none is missing"),
        (put("mu", {"array": 3}), "it has something else where a text must be"),
        (put("mu", {"tuple": 3}), "it has something else where a list must be"),
        (put("mu", {"dict": [[1, 2, 3]]}), "it has something else where a list must be"),
        (put("mu", {"dict": [[1, 2], [1, 2]]}), "it says something twice"),
        (put("mu", {"dict": [[[1], 2]]}), r"its parts do not make a model \(TypeError\)"),
        (put("mu", {"scalar": ["object", 1]}), "it holds a number of an unknown kind"),
        (put("mu", {"scalar": ["int8", 999]}), r"do not make a model \(OverflowError\)"),
        (put("mu", {"float": "1"}), r"do not make a model \(KeyError\)"),
        (put("n_jobs", 10**9), "it asks for more threads than make sense"),
        (put("n_features_in_", 10**13), "its features are too many"),
        (put("n_features_in_", "3"), "its features are too many"),
        (put("label_names_", {"texts": ["p"]}), "its labels are not those that it predicts"),
        (put("predict", 1), "it holds a WInLDL without proper attributes"),
        (put("mu", {"array": "0-coef_"}), "its mu has too many dimensions"),
        (drop("coef_"), "do not make a model"),
        (drop("n_features_in_"), "do not make a model"),
        (drop("label_names_"), "do not make a model"),
        (nested, "it is nested too deeply"),
        (headless, "its description is incomplete"),
        (coef_of_other_width, "do not make a model"),
        (few_calibrated, "do not make a model"),
        (infinite_examples, "its examples are not finite rows of its labels"),
        (column(np.zeros((3, 1))), "its intercept_ has too many dimensions"),
        (column(np.array([0, np.nan, 0])), "its intercept_ has NaN or infinity in it"),
        (column(np.array([0, np.inf, 0])), "its intercept_ has NaN or infinity in it"),
    ],
)
def test_trees_that_make_no_model(tmp_path, saved, change, message):
    tree, arrays = unpacked(saved["linear"])
    change(tree, arrays)
    path = repacked(tmp_path / "changed.inldl", tree, arrays)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(caught.value).count("\n") == 0
    assert "this" not in sys.modules


def test_json_that_is_none(tmp_path, saved):
    text = json.dumps(unpacked(saved["linear"])[0])
    texts = {
        "[" * 100_000: "RecursionError",
        text[:-1]: "JSONDecodeError",
        "3": "it is not a model file",
        text.replace('"mu": 2.0', '"mu": 2.0, "mu": 2.0'): "it says something twice",
        text.replace('"mu": 2.0', '"mu": ' + "9" * 5000): "do not make a model",
    }
    for changed, message in texts.items():
        path = rezipped(tmp_path / "changed.inldl", {TREE: changed.encode()})
        with pytest.raises(ValueError, match=message):
            load_model(path)


def test_containers_that_lie(tmp_path, saved):
    with zipfile.ZipFile(saved["linear"]) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = "0-coef_.npy"
    coef = npy(np.zeros((3, 3)))
    assert name in members
    path = tmp_path / "changed.inldl"
    load_model(rezipped(path, {**members, name: coef}))

    def message(changed, **options):
        with pytest.raises(ValueError, match="cannot be loaded: ") as caught:
            load_model(rezipped(path, changed, **options))
        return str(caught.value)

    assert "packed, or larger" in message(members, compression=zipfile.ZIP_DEFLATED)
    assert "packed, or larger" in message(members, compression=zipfile.ZIP_LZMA)
    assert "the same name" in message([*members.items(), (name, coef)])
    assert "is missing" in message({k: v for k, v in members.items() if k != name})
    for shape in (b"(3000000000000, 3)", b"(3, 2)", b"(3, 4)", b"(3, 0)", b"()", b"(9, 9)"):
        changed = coef.replace(b"(3, 3)", shape)
        assert "has another size than it says" in message({**members, name: changed})
    empty = npy(np.zeros((0, 3))).replace(b"(0, 3)", b"(0, 3000000000)")
    assert "has another size than it says" in message({**members, name: empty})
    for dtype in (b"'|O'", b"'<c8'", b"'|V8'", b"'<M8'", b"'<U2'", b"[('a', '<f8')]"):
        changed = coef.replace(b"'<f8'", dtype)
        assert "is not one of numbers" in message({**members, name: changed})
    for shape in (b"(-3, -3)", b"(3.0, 3)", b"(3, __import__('os').abort())"):
        changed = coef.replace(b"(3, 3)", shape)
        assert "is not one of numbers" in message({**members, name: changed})
    assert "is not one of numbers" in message({**members, name: b"hello"})


def test_overlapping_parts_are_refused(tmp_path):
    """Two entries of a directory that share their bytes would make more of a file than it is."""
    content = bytearray(rezipped(tmp_path / "x", {TREE: b"{}" * 500, "b.npy": b"x"}).read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 20 : at + 28] = np.array([1000, 1000], np.uint32).tobytes()
    (tmp_path / "x").write_bytes(sealed(bytes(content)))
    with pytest.raises(ValueError, match="packed, or larger than the file"):
        load_model(tmp_path / "x")


class Bomb:
    """Create a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_pickles_are_never_loaded(tmp_path, saved):
    sentinel = tmp_path / "sentinel"
    bomb = pickle.dumps(Bomb(str(sentinel)))
    pickle.loads(bomb).close()
    sentinel.unlink()  # so it works
    with zipfile.ZipFile(saved["linear"]) as file:
        members = {name: file.read(name) for name in file.namelist()}
    array = npy(np.array([Bomb(str(sentinel))], dtype=object), allow_pickle=True)
    assert b"|O" in array
    for content in (array, bomb, members["0-coef_.npy"][:128] + bomb):
        path = rezipped(tmp_path / "model.inldl", {**members, "0-coef_.npy": content})
        with pytest.raises(ValueError, match="cannot be loaded"):
            load_model(path)
    (tmp_path / "model.pkl").write_bytes(bomb)
    with pytest.raises(ValueError, match="it is not a model file"):
        load_model(tmp_path / "model.pkl")
    assert not sentinel.exists()


USES = {
    "predict": lambda model, X, y: model.predict(X),
    "predict_interval": lambda model, X, y: model.predict_interval(X),
    "complete": lambda model, X, y: model.complete_interval(X, y),
    "influence": lambda model, X, y: model.influence(X, y),
    "evaluate": lambda model, X, y: model.means_ + model.held_out_,
    "describe": lambda model, X, y: (model.encoder_.dropped_, model.encoder_.notes_),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "uses"),
    [
        ("linear", ["predict", "predict_interval", "complete"]),
        ("auto", ["predict", "predict_interval", "complete"]),
        ("forest", ["predict"]),
        ("neighbors", ["predict"]),
        ("table", list(USES)),
    ],
)
def test_a_model_without_an_attribute_is_refused_or_does_all(
    tmp_path, saved, named_data, name, uses
):
    tree, arrays = unpacked(saved[name])
    fitted = [("model", key) for key in state(tree) if key.endswith("_")]
    if name == "table":
        fitted += [("encoder_", key) for key in state(tree)["encoder_"]["state"]]
    refused = []
    for part, key in fitted:
        changed = json.loads(json.dumps(tree))
        inner = state(changed) if part == "model" else state(changed)[part]["state"]
        del inner[key]
        try:
            model = load_model(repacked(tmp_path / "changed", changed, arrays))
        except ValueError:
            refused.append(key)
            continue
        for use in uses:
            USES[use](model, *named_data)
    assert "label_names_" in refused
    assert ("calibration_" in refused) == ("predict_interval" in uses)


def test_a_new_fit_imports_nothing_that_the_file_names(tmp_path, saved, named_data):
    """Neither the model nor a clone of it, as in a cross-validation, runs the method of a file."""
    sentinel = tmp_path / "sentinel"
    tree, arrays = unpacked(saved["table"])
    state(tree)["method"] = f"builtins:open(file={str(sentinel)!r}, mode='w')"
    path = repacked(tmp_path / "changed", tree, arrays)
    model, expected = load_model(path), load_model(saved["table"])
    for each in (model, clone(model)):
        refitted = each.fit(*named_data)
        assert type(refitted.estimator_) is WInLDL
        np.testing.assert_array_equal(
            refitted.predict(named_data[0]), expected.predict(named_data[0])
        )
    assert not sentinel.exists()
    unfitted = {"class": "TableModel", "state": {"method": "builtins:open(file='x')"}}
    state(tree)["method"] = unfitted
    with pytest.raises(ValueError, match=r'its method "builtins:open.* is not a known one'):
        load_model(repacked(tmp_path / "changed", tree, arrays))


def test_own_methods_come_back(tmp_path, named_data):
    model = TableModel("inldl.methods:WInLDL(mu=3.0)").fit(*named_data)
    save_model(model, tmp_path / "own")
    again = load_model(tmp_path / "own").fit(*named_data)
    assert again.estimator_.mu == 3.0
    np.testing.assert_array_equal(again.predict(named_data[0]), model.predict(named_data[0]))


def test_no_model_with_nan_is_saved(tmp_path, named_data):
    model = WInLDL().fit(*named_data)
    model.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"cannot be saved: The model gives no number for row 0"):
        save_model(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_more_parts_than_any_model_has(tmp_path, saved):
    """They are refused before time is spent on them."""
    tree, arrays = unpacked(saved["linear"])

    def message():
        with pytest.raises(ValueError, match="cannot be loaded: ") as caught:
            load_model(repacked(tmp_path / "changed", tree, arrays))
        return str(caught.value)

    inner = json.loads(json.dumps(tree["model"]))
    inner["state"] = {k: v for k, v in inner["state"].items() if "array" not in json.dumps(v)}
    state(tree)["members_"] = [inner] * 60
    assert "it holds more than 50 models" in message()
    del state(tree)["members_"]
    state(tree)["calibration_"] = [state(tree)["calibration_"]] * 1000
    assert "its parts use the same arrays too often" in message()
    del state(tree)["calibration_"]
    constant = {"distribution_": [1.0], "n_features_in_": 6 * 10**6, "label_names_": None}
    state(tree)["members_"] = [{"class": "ConstantLDL", "state": constant}] * 2
    assert "its features are too many" in message()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("means_", {"texts": ["a"]}), "its means are not those of its labels"),
        (put("scale_", ["percent"]), "the scale of its degrees is unknown"),
        (drop("means_"), "it lacks means_"),
    ],
)
def test_models_of_tables_need_their_parts(tmp_path, saved, change, message):
    tree, arrays = unpacked(saved["table"])
    change(tree, arrays)
    with pytest.raises(ValueError, match=message):
        load_model(repacked(tmp_path / "changed", tree, arrays))
