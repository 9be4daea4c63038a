"""Model files of strangers: refused in one sentence, and nothing in them is run."""

import io
import json
import pickle
import re
import sys
import zipfile
from collections import OrderedDict
from contextlib import suppress
from fractions import Fraction
from functools import partial
from operator import itemgetter

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from hostile_files import attributes, changed, npy, repacked, sealed, unpacked
from inldl import WInLDL
from inldl.files.model_file import load_model, model_info, save_model
from inldl.tables import TableModel


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not a model file that inldl has written"),
        (b"a,b\n1,2\n", "it is not a model file that inldl has written"),
        (pickle.dumps({"a": 1}), "it is not a model file that inldl has written"),
        (b"PK\x03\x04" + b"\0" * 80, "it is not a model file that inldl has written"),
        (b"inldl-model\n", "it is damaged or was changed; get or save it again"),
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
    header, schema, members = unpacked(saved["linear"])
    header["format"] = 3
    path = repacked(tmp_path / "new.inldl", header, schema, members)
    message = (
        r"it was written by a newer inldl \(format 3, this one reads up to 1\); upgrade with pip "
        r"install -U inldl\.$"
    )
    for read in (load_model, model_info):
        with pytest.raises(ValueError, match=message):
            read(path)


def test_files_of_other_versions_load(tmp_path, saved, named_data):
    """Parameters that are new get their defaults; attributes that are gone do no harm."""

    def change(model):
        del model.min_samples_leaf
        model.older_ = 1
        for forest in model.forests_:
            del forest.monotonic_cst
            forest.older = 1

    path = changed(tmp_path / "old.inldl", saved["forest"], change)
    header, schema, members = unpacked(path)
    header["sklearn"], header["numpy"] = "1.5.0", "2.0.0"
    repacked(path, header, schema, members)
    told = rf"old\.inldl was saved with scikit-learn 1\.5\.0, but this is {sklearn.__version__}"
    with pytest.warns(UserWarning, match=told):
        loaded = load_model(path)
    assert loaded.min_samples_leaf == 2
    expected = load_model(saved["forest"]).predict(named_data[0])
    np.testing.assert_array_equal(loaded.predict(named_data[0]), expected)


def test_linear_models_are_the_same_with_every_scikit_learn(tmp_path, saved):
    header, schema, members = unpacked(saved["linear"])
    header["sklearn"] = "1.6.0"
    load_model(repacked(tmp_path / "old.inldl", header, schema, members))  # warnings are errors


def put(name, value):
    return lambda model: vars(model).update({name: value})


def drop(name):
    return lambda model: vars(model).pop(name)


def nested(model):
    model.mu = []
    for _ in range(200):
        model.mu = [model.mu]


def infinite_examples(model):
    model.held_out_sample_.degrees[1, 0] = np.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("weighting", np.random.RandomState(0)), r"it holds something unknown \(RandomState"),
        (put("weighting", len), r"it holds something unknown \(|it holds a 'len', which"),
        (put("weighting", json.loads), r"it holds something unknown \(FunctionNode\)"),
        (put("weighting", WInLDL), "it holds a 'WInLDL', which this inldl does not know"),
        (put("weighting", WInLDL().fit), r"it holds something unknown \(MethodNode\)"),
        (put("weighting", partial(print, 1)), r"it holds something unknown \(PartialNode\)"),
        (put("weighting", {1}), r"it holds something unknown \(SetNode\)"),
        (put("weighting", itemgetter(1)), r"it holds something unknown \(OperatorFuncNode\)"),
        (put("weighting", SVR()), "it holds a 'SVR', which this inldl does not know; a newer one"),
        (put("weighting", DecisionTreeRegressor().fit([[1]], [1])), "TreeNode|DecisionTreeRegr"),
        (put("weighting", OrderedDict()), "it holds a 'OrderedDict', which"),
        (put("weighting", Fraction(1, 2)), r"it holds something unknown \(Constructor"),
        (put("__class__", 1), "it holds a WInLDL without proper attributes"),
        (put("__dict__", {}), "it holds a WInLDL without proper attributes"),
        (put("a b", 1), "it holds a WInLDL without proper attributes"),
        (put("n_jobs", 10**9), "it asks for more threads than make sense"),
        (put("n_features_in_", 10**13), "its features are too many"),
        (put("n_features_in_", "3"), "its features are too many"),
        (put("label_names_", np.array(["p"], object)), "its labels are not those that it predic"),
        (
            put("label_names_", np.array([1, 2, 3], object)),
            "something else than numbers or texts",
        ),
        (put("predict", 1), "it holds a WInLDL without proper attributes"),
        (put("mu", np.zeros((3, 3))), "mu must be a number"),
        (put("older_", np.zeros((1, 1, 1, 1))), "its older_ is something else than numbers"),
        (drop("coef_"), "do not make a model"),
        (drop("n_features_in_"), "else than a fitted model"),
        (drop("label_names_"), "do not make a model"),
        (nested, "mu must be a number"),
        (put("coef_", np.zeros((3, 2))), "do not make a model|coefficients"),
        (put("held_out_sample_", np.zeros((1, 5, 3))), "do not make a model"),
        (infinite_examples, "its examples are not finite rows of its labels"),
        (put("intercept_", np.zeros((3, 1))), "its intercept_ does not fit its coef_"),
        (put("intercept_", np.zeros((10**6, 1))), "its intercept_ does not fit its coef_"),
        (put("intercept_", np.array([0, np.nan, 0])), "its intercept_ has NaN or infinity in it"),
        (put("intercept_", np.array([0, np.inf, 0])), "its intercept_ has NaN or infinity in it"),
    ],
)
def test_parts_that_make_no_model(tmp_path, saved, change, message):
    path = changed(tmp_path / "changed.inldl", saved["linear"], change)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path} cannot be loaded: ")
    assert str(caught.value).count("\n") == 0


UNKNOWN = "', which this inldl does not know; a newer one may"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"__module__": "os", "__class__": "system"}, f"it holds a 'system{UNKNOWN}"),
        ({"__module__": "this", "__class__": "s"}, f"it holds a 's{UNKNOWN}"),
        ({"__module__": "inldl.methods.none"}, f"it holds a 'WInLDL{UNKNOWN}"),
        ({"__module__": "inldl.methods"}, f"it holds a 'WInLDL{UNKNOWN}"),
        ({"__module__": "inldl.methods.winldl.x"}, f"it holds a 'WInLDL{UNKNOWN}"),
        ({"__module__": "inldl_studio.app", "__class__": "App"}, f"it holds a 'App{UNKNOWN}"),
        ({"__module__": "inldl.methods.winldl", "__class__": "np"}, f"it holds a 'np{UNKNOWN}"),
        ({"__class__": ["WInLDL"]}, "it has something else where a text must be"),
        (
            {"__class__": "Ridge", "__module__": "sklearn.linear_model._ridge"},
            "else than a",
        ),
        ({"__loader__": "TypeNode"}, f"it holds a 'WInLDL{UNKNOWN}"),
        ({"__loader__": "JsonNode", "content": "1"}, f"it holds a 'WInLDL{UNKNOWN}"),
        ({"__loader__": "ConstructorFromReduceNode"}, r"something unknown \(Constructor"),
        ({"__loader__": "TreeNode"}, r"it holds something unknown \(TreeNode"),
        ({"__loader__": 3}, "it has something else where a text must be"),
        ({"protocol": 0}, "it does not say its version"),
        ({"protocol": True}, "it does not say its version"),
        ({"protocol": 99}, "do not make a model"),
        ({"content": None}, "something else than a fitted model|do not make a model"),
    ],
)
def test_classes_that_are_not_trusted(tmp_path, saved, change, message):
    header, schema, members = unpacked(saved["linear"])
    path = repacked(tmp_path / "changed.inldl", header, schema | change, members)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(caught.value).count("\n") == 0
    assert "this" not in sys.modules


def test_a_method_of_a_missing_distribution(tmp_path, saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "inldl_torch", None)
    header, schema, members = unpacked(saved["linear"])
    network = {"__module__": "inldl_torch.neural", "__class__": "NeuralLDL"}
    path = repacked(tmp_path / "network.inldl", header, schema | network, members)
    why = r"cannot be loaded: NeuralLDL needs the package inldl-torch: pip install inldl-torch \("
    with pytest.raises(ValueError, match=why):
        load_model(path)


def test_descriptions_that_are_incomplete(tmp_path, saved):
    header, schema, members = unpacked(saved["linear"])
    changes = {
        "its description is incomplete": [{"labels": 3}, {"features": [3]}, {"info": None}],
        "it does not say its version": [{"format": "1"}, {"format": True}, {"format": 0}],
    }
    for message, some in changes.items():
        for each in some:
            path = repacked(tmp_path / "changed.inldl", header | each, schema, members)
            for read in (load_model, model_info):
                with pytest.raises(ValueError, match=message):
                    read(path)


def test_json_that_is_none(tmp_path, saved):
    header, schema, members = unpacked(saved["linear"])
    text = json.dumps(schema)
    texts = {
        "[" * 100_000: "RecursionError",
        text[:-1]: "JSONDecodeError",
        "3": "it has something else where a part must be",
        text.replace('"content": "2.0"', '"content": "' + "9" * 5000 + '"'): "do not make a model",
        text.replace('"content": "2.0"', '"content": "[[["'): "do not make a model",
    }
    for each, message in texts.items():
        assert each != text
        path = repacked(tmp_path / "changed.inldl", header, each, members)
        with pytest.raises(ValueError, match=message):
            load_model(path)
    for each, message in {b"[" * 100_000: "Recursion", b"3": "version", b"{": "JSONDec"}.items():
        sealed(tmp_path / "changed.inldl", each, b"")
        with pytest.raises(ValueError, match=message):
            model_info(tmp_path / "changed.inldl")


@pytest.mark.parametrize("content", [[], [1]])
def test_parts_that_stand_for_many(tmp_path, saved, content):
    """A list of two lists of two lists ... would take longer than anybody waits."""
    header, schema, members = unpacked(saved["linear"])
    kind = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    node = attributes(schema)["mu"]
    for number in range(1, 50):
        again = {**kind, "__id__": number - 1, "content": content}
        node = {**kind, "__id__": number, "content": [node, again]}
    attributes(schema)["mu"] = node
    with pytest.raises(ValueError, match="it uses a part twice"):
        load_model(repacked(tmp_path / "changed", header, schema, members))


def other_shape(array, shape):
    """Return an array that says it has another shape."""
    old = re.search(rb"\(\d+, \d+\)[^\n]*", array)[0]
    return array.replace(old, (shape + b", }").ljust(len(old)), 1)


def test_containers_that_lie(tmp_path, saved):
    header, schema, members = unpacked(saved["linear"])
    name = attributes(schema)["coef_"]["file"]
    coef = npy(np.zeros((3, 3)))
    path = tmp_path / "changed.inldl"
    load_model(repacked(path, header, schema, {**members, name: coef}))

    def message(members, **options):
        with pytest.raises(ValueError, match="cannot be loaded: ") as caught:
            load_model(repacked(path, header, schema, members, **options))
        return str(caught.value)

    zeros = npy(np.zeros((1000, 1000)))
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        changed = {**members, name: zeros}
        assert "larger than the file explains" in message(changed, compression=packing)
    assert "another size" in message([*members.items(), (name, coef[:-8])])  # the last one counts
    assert "is missing" in message({k: v for k, v in members.items() if k != name})
    for shape in (b"(3000000000000, 3)", b"(3, 2)", b"(3, 4)", b"(3, 0)", b"()", b"(9, 9)"):
        changed = other_shape(coef, shape)
        assert "has another size than it says" in message({**members, name: changed})
    empty = other_shape(npy(np.zeros((0, 3))), b"(0, 3000000000)")
    assert "has another size than it says" in message({**members, name: empty})
    assert "has another size" in message({**members, name: other_shape(coef, b"(-3, -3)")})
    for dtype in (b"'|O'", b"'<c8'", b"'|V8'", b"'<M8'", b"'<U2'", b"[('a', '<f8')]"):
        changed = coef.replace(b"'<f8'", dtype)
        assert "is not one of numbers" in message({**members, name: changed})
    for shape in (b"(3.0, 3)", b"(3, __import__('os').abort())"):
        changed = other_shape(coef, shape)
        assert "is not one of numbers" in message({**members, name: changed})
    assert "is not one of numbers" in message({**members, name: b"hello"})
    archive = io.BytesIO()
    np.savez(archive, np.zeros(3))
    assert "is not one of numbers" in message({**members, name: archive.getvalue()})


def test_overlapping_parts_are_refused(tmp_path, saved):
    """Entries of a directory that share their bytes would make more of a file than it is."""
    header, schema, _ = unpacked(saved["linear"])
    member = b"x" * 10**6
    path = repacked(tmp_path / "x", header, schema, [(f"{i}.npy", b"") for i in range(99)])
    content = bytearray(path.read_bytes().split(b"\n", 3)[3])
    at = 0
    for _ in range(99):
        at = content.index(b"PK\x01\x02", at + 1)
        content[at + 20 : at + 28] = np.array([len(member)] * 2, np.uint32).tobytes()
    sealed(path, header, bytes(content))
    with pytest.raises(ValueError, match="larger than the file explains"):
        load_model(path)


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
    header, schema, members = unpacked(saved["linear"])
    name = attributes(schema)["coef_"]["file"]
    array = npy(np.array([Bomb(str(sentinel))], dtype=object), allow_pickle=True)
    assert b"|O" in array
    for content in (array, bomb, members[name][:128] + bomb):
        changed_members = {**members, name: content}
        path = repacked(tmp_path / "model.inldl", header, schema, changed_members)
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
    model = load_model(saved[name])
    fitted = [("model", key) for key in vars(model) if key.endswith("_")]
    if name == "table":
        fitted += [("encoder_", key) for key in vars(model.encoder_)]
    refused = []
    for part, key in fitted:

        def change(model, part=part, key=key):
            del vars(model if part == "model" else model.encoder_)[key]

        path = changed(tmp_path / "changed", saved[name], change)
        try:
            model = load_model(path)
        except ValueError:
            refused.append(key)
            continue
        for use in uses:
            with suppress(NotFittedError):  # a model without intervals says so
                USES[use](model, *named_data)
    assert "label_names_" in refused


def test_a_new_fit_imports_nothing_that_the_file_names(tmp_path, saved, named_data):
    """Neither the model nor a clone of it, as in a cross-validation, runs the method of a file."""
    sentinel = tmp_path / "sentinel"
    method = f"builtins:open(file={str(sentinel)!r}, mode='w')"
    path = changed(tmp_path / "changed", saved["table"], put("method", method))
    model, expected = load_model(path), load_model(saved["table"])
    for each in (model, clone(model)):
        refitted = each.fit(*named_data)
        assert type(refitted.estimator_) is WInLDL
        np.testing.assert_array_equal(
            refitted.predict(named_data[0]), expected.predict(named_data[0])
        )
    assert not sentinel.exists()
    unfitted = put("method", TableModel("builtins:open(file='x')"))
    with pytest.raises(ValueError, match=r'its method "builtins:open.* is not a known one'):
        load_model(changed(tmp_path / "changed", saved["table"], unfitted))


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


def test_what_could_not_be_loaded_is_not_saved(tmp_path, named_data):
    model = WInLDL().fit(*named_data)
    model.further_ = np.array([1, np.inf])
    with pytest.raises(ValueError, match=r"cannot be saved: its further_ has NaN or infinity"):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_arrays_that_are_used_too_often(tmp_path, saved):
    """They are refused before memory is spent on them."""
    many = put("held_out_sample_", [np.zeros((100, 1000))] * 1000)
    path = changed(tmp_path / "changed", saved["linear"], many)
    with pytest.raises(ValueError, match="its parts use the same arrays too often"):
        load_model(path)


def left_out(columns):
    return lambda model: vars(model.encoder_).update(dropped_=columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("means_", np.array(["a"], object)), "its means are not those of its labels"),
        (put("scale_", ["percent"]), "the scale of its degrees is unknown"),
        (drop("means_"), "do not make a model"),
        (left_out(["x"]), "what it has left out is no list of columns"),
        (drop("held_out_rows_"), "it lacks held_out_rows_"),
    ],
)
def test_models_of_tables_need_their_parts(tmp_path, saved, change, message):
    path = changed(tmp_path / "changed", saved["table"], change)
    with pytest.raises(ValueError, match=message):
        load_model(path)
