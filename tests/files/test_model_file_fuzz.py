"""Random data and random damage: it survives to the bit, or is refused."""

import copy
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_files import npy, repacked, unpacked
from inldl.files.model_file import load_model, model_info, save_model

numbers = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
scalars = (
    numbers | st.floats() | st.floats(width=32).map(np.float32) | st.integers(-9, 9).map(np.int16)
)
keys = st.text(max_size=3)
plain = st.recursive(
    scalars | st.lists(st.floats()).map(np.array) | st.just(np.array(["a", "é"], dtype=object)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=10,
)


def assert_identical(mine, theirs):
    assert type(mine) is type(theirs)
    if isinstance(mine, list | tuple):
        assert len(mine) == len(theirs)
        for pair in zip(mine, theirs, strict=True):
            assert_identical(*pair)
    elif isinstance(mine, dict):
        assert_identical(list(mine), list(theirs))
        assert_identical(list(mine.values()), list(theirs.values()))
    elif isinstance(mine, np.ndarray):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    else:
        assert repr(mine) == repr(theirs)  # NaN is NaN, and -0.0 is not 0.0


@given(plain)
def test_plain_data_survives(tmp_path_factory, saved, value):
    model, path = load_model(saved["linear"]), tmp_path_factory.getbasetemp() / "plain.inldl"
    model.history_ = value
    save_model(model, path, overwrite=True)
    assert_identical(load_model(path).history_, value)


json_leaves = numbers | st.sampled_from([-1, 0.5, 2**40, -(2**63), 1e308, "nan", "[1]", "null"])
loaders = st.sampled_from(["DictNode", "ListNode", "TupleNode", "NdArrayNode", "JsonNode",
                           "ObjectNode", "TypeNode", "TreeNode", "FunctionNode"])  # fmt: skip
classes = st.sampled_from(["WInLDL", "AutoInLDL", "Columns", "Recalibration", "ForestLDL", "Ridge",
                           "ExtraTreesRegressor", "KNeighborsRegressor", "TableModel", "ndarray",
                           "float64", "str", "list", "dict", "tuple"])  # fmt: skip
modules = st.sampled_from(["builtins", "numpy", "inldl.methods.winldl", "inldl.tables.model",
                           "inldl.methods.kernel_features",
                           "sklearn.ensemble._forest"])  # fmt: skip
attributes = st.sampled_from(["coef_", "intercept_", "n_features_in_", "label_names_", "members_",
                              "held_out_", "weights_", "columns_", "sizes"])  # fmt: skip
fields = st.sampled_from(["content", "file", "type", "shape", "key_types", "__id__"])
json_trees = st.recursive(
    json_leaves | loaders | classes | modules,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(attributes | fields, inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "__loader__": loaders,
                "__class__": classes,
                "__module__": modules,
                "content": st.dictionaries(attributes, inner, max_size=5) | inner,
            },
            optional={"type": st.sampled_from(["numpy", "json"]), "key_types": inner},
        )
    ),
    max_leaves=12,
)


def places(node):
    """Return each container of a tree with each key in it."""
    children = node.items() if isinstance(node, dict) else enumerate(node)
    found = []
    for key, child in children:
        found.append((node, key))
        if isinstance(child, dict | list):
            found += places(child)
    return found


@settings(max_examples=4 * settings.default.max_examples)
@given(data=st.data())
def test_every_changed_byte_is_noticed(tmp_path_factory, saved, data):
    path = tmp_path_factory.getbasetemp() / "changed.inldl"
    content = bytearray(saved[data.draw(st.sampled_from(["linear", "table"]))].read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "drop", "insert"]))
    if kind == "flip":
        content[at] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del content[at:]
    elif kind == "drop":
        del content[at]
    else:
        content.insert(at, data.draw(st.integers(0, 255)))
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"it is (not a model file|damaged or was changed)"):
        load_model(path)


@pytest.mark.filterwarnings("ignore:.* was saved with scikit-learn")
@settings(max_examples=4 * settings.default.max_examples)
@given(
    name=st.sampled_from(["auto", "forest", "linear", "neighbors", "table", "trees"]),
    changes=st.lists(st.tuples(st.integers(0, 10**6), json_trees), min_size=1, max_size=3),
    array=st.none() | st.integers(0, 10**6),
    other=st.sampled_from(["i1", "u8", "f2", "f4", "?"]),
)
def test_changed_files_raise_value_errors_only(
    tmp_path_factory, saved, name, changes, array, other
):
    header, schema, members = unpacked(saved[name])
    for number, new in changes:
        found = places([header, schema])
        where, key = found[number % len(found)]
        where[key] = copy.deepcopy(new)
    if array is not None:
        member = sorted(members)[array % len(members)]
        with np.errstate(all="ignore"):
            values = np.atleast_1d(np.load(io.BytesIO(members[member])))
            members[member] = npy(values.T[..., array % 2 :].astype(other))
    path = repacked(tmp_path_factory.getbasetemp() / "tree.inldl", header, schema, members)
    for read in (load_model, model_info):
        complaint = complaint_of(read, path)
        assert complaint is None or complaint.startswith(f"{path} cannot be loaded: ")
        assert "\n" not in (complaint or "")


def complaint_of(read, path):
    try:
        read(path)
    except ValueError as error:
        return str(error)
    return None
