"""The file gives what the model predicts, wherever it is loaded."""

import json
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import inldl
from inldl import AutoInLDL, WInLDL, hide
from inldl.datasets import make_distributions
from inldl.files.onnx import export_onnx
from inldl.methods import (
    ConstantLDL,
    ForestLDL,
    KernelRidgeLDL,
    KernelSoftmaxLDL,
    RegressorLDL,
    auto,
    auto_fitting,
    make_method,
)
from inldl.methods.boosted import Boosted, NetworkLDL
from inldl.methods.kernel_features import Columns
from inldl.tables.model import TableModel
from inldl_paper.literature import (
    BFGSLDL,
    EDLLRL,
    IISLDL,
    LDM,
    InLDLADMM,
    InLDLProx,
)
from plain_methods import PLAIN

pytest.importorskip("onnx", reason="needs onnx to write files")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the files")

LINEAR = [
    WInLDL(),
    WInLDL(fit_intercept=False),
    InLDLProx(),
    InLDLADMM(),
    BFGSLDL(),
    IISLDL(),
    EDLLRL(),
    LDM(),
    *(make_method(name) for name in ("hidldl", "i2ldl") if name in PLAIN),
    ConstantLDL(),
    ConstantLDL("uniform"),
    RegressorLDL(),
    RegressorLDL(LinearRegression(), completer=WInLDL()),
    RegressorLDL(Ridge(fit_intercept=False), completer=WInLDL()),
    RegressorLDL(Lasso(alpha=0.01)),
]


@cache
def data(n_labels):
    """Return features and incomplete degrees: the artificial data, mixed into more labels."""
    X, y = make_distributions(200, random_state=0)
    if n_labels == 1:
        return X, np.ones((200, 1))
    if n_labels != 3:
        y = y @ np.random.default_rng(n_labels).dirichlet(np.full(n_labels, 0.1), 3)
    return X, hide(y, 0.4, random_state=0)


def session(model, path):
    """Write `model` and return the file, loaded."""
    export_onnx(model, path, overwrite=True)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(loaded, X):
    return loaded.run(["degrees"], {"X": X})[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_labels", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("estimator", LINEAR, ids=repr)
def test_same_degrees_as_predict(estimator, n_labels, tmp_path):
    X, y = data(n_labels)
    loaded = session(estimator.fit(X, y), tmp_path / "model.onnx")
    for rows in (X, 30 * X, X[:1]):  # far out, the projection puts many degrees at 0
        degrees = run(loaded, rows)
        assert degrees.dtype == np.float64
        np.testing.assert_allclose(degrees, estimator.predict(rows), rtol=0, atol=1e-12)
    assert run(loaded, X[:0]).shape == (0, n_labels)


def test_the_projection_is_at_work():
    X, y = data(8)
    degrees = WInLDL().fit(X, y).predict(30 * X)
    assert 0.1 < np.mean(degrees == 0) < 0.9


def with_coefficients(kind, coef, intercept):
    """Return an estimator with these coefficients."""
    model = kind()
    model.coef_, model.intercept_, model.label_names_ = coef, intercept, None
    model.n_labels_ = len(intercept)
    model.n_features_in_ = coef.shape[1]
    return model


@cache
def identity(kind, n_labels, folder):
    """Return an estimator whose features are the scores, and its file, loaded."""
    model = with_coefficients(kind, np.eye(n_labels), np.zeros(n_labels))
    return model, session(model, folder / f"{kind.__name__}{n_labels}.onnx")


HUGE = 8e307  # two of them differ by less than the largest number, but three sum to infinity
SCORES = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, -1.0, HUGE, -HUGE, 1 / 3, 1e15, 1e15 + 0.25]),
    st.floats(-2, 2),
    st.floats(-HUGE, HUGE),
)


@pytest.mark.parametrize("kind", [WInLDL, BFGSLDL])
@given(draw=st.data(), n_labels=st.sampled_from([1, 2, 3, 8, 40]))
def test_scores_of_any_size_and_ties(kind, tmp_path_factory, draw, n_labels):
    model, loaded = identity(kind, n_labels, tmp_path_factory.getbasetemp())
    scores = draw.draw(arrays(np.float64, (4, n_labels), elements=SCORES))
    degrees = run(loaded, scores)
    np.testing.assert_allclose(degrees, model.predict(scores), rtol=0, atol=1e-13)
    np.testing.assert_allclose(degrees.sum(axis=1), 1, rtol=0, atol=1e-13)
    assert degrees.min() >= 0


@pytest.mark.parametrize("kind", [WInLDL, BFGSLDL])
@given(draw=st.data(), n_labels=st.sampled_from([1, 2, 5]), k=st.integers(1, 6))
def test_random_coefficients(kind, tmp_path_factory, draw, n_labels, k):
    numbers = st.floats(-100, 100)
    coef = draw.draw(arrays(np.float64, (n_labels, k), elements=numbers))
    intercept = draw.draw(arrays(np.float64, n_labels, elements=numbers))
    X = draw.draw(arrays(np.float64, (3, k), elements=numbers))
    model = with_coefficients(kind, coef, intercept)
    loaded = session(model, tmp_path_factory.getbasetemp() / "random.onnx")
    # Scores of up to 6e4 are rounded to 1e-11, in another order of adding.
    np.testing.assert_allclose(run(loaded, X), model.predict(X), rtol=0, atol=1e-10)


def test_a_row_that_is_no_number_gets_no_distribution(tmp_path):
    X, y = data(3)
    for model in (WInLDL(), BFGSLDL()):
        loaded = session(model.fit(X, y), tmp_path / "model.onnx")
        rows = np.array([[np.nan, 0, 0], [0, np.inf, 0], [0, 0, -np.inf], X[1]])
        degrees = run(loaded, rows)
        assert np.isnan(degrees[:3]).any(axis=1).all()
        np.testing.assert_allclose(degrees[3:], model.predict(X[1:2]), rtol=0, atol=1e-12)


def test_metadata(tmp_path):
    X, y = data(3)
    X, y = pd.DataFrame(X, columns=["a", "b c", "ü"]), pd.DataFrame(y)
    y.columns = ["happy", "sad", "größer"]
    loaded = session(WInLDL().fit(X, y), tmp_path / "model.onnx")
    found = loaded.get_modelmeta().custom_metadata_map
    assert json.loads(found["labels"]) == ["happy", "sad", "größer"]
    assert json.loads(found["features"]) == ["a", "b c", "ü"]
    assert found["method"] == "WInLDL"
    assert found["inldl_version"] == inldl.__version__


def test_labels_without_names_are_numbered(tmp_path):
    loaded = session(WInLDL().fit(*data(2)), tmp_path / "model.onnx")
    found = loaded.get_modelmeta().custom_metadata_map
    assert json.loads(found["labels"]) == ["label 0", "label 1"]
    assert "features" not in found


def test_old_runtimes_can_load_it(tmp_path):
    import onnx

    export_onnx(WInLDL().fit(*data(3)), tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    assert [(each.domain, each.version) for each in model.opset_import] == [("", 13)]
    assert model.ir_version == 7


ELSEWHERE = """
import sys
import numpy as np
import onnxruntime
loaded = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
degrees = loaded.run(["degrees"], {"X": np.load(sys.argv[2])})[0]
assert not {"inldl", "onnx", "sklearn"} & set(sys.modules)
np.save(sys.argv[3], degrees)
"""


def test_a_process_without_inldl(tmp_path):
    X, y = data(8)
    model = WInLDL().fit(X, y)
    files = [tmp_path / name for name in ("model.onnx", "X.npy", "degrees.npy")]
    export_onnx(model, files[0])
    np.save(files[1], X)
    command = [sys.executable, "-c", ELSEWHERE, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(files[2]), model.predict(X), rtol=0, atol=1e-12)


def frame(n, seed, *, new=False):
    """Return columns of all kinds; with `new`, with levels and holes that the fit has not seen."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "income in €": rng.lognormal(10, 1, n),
            "town": rng.choice(["Rome", "Köln", "Oslo, N", "Rome "], n),
            "street": [f"street {j}" for j in (rng.pareto(0.7, n) * 80).astype(int)],
            "height": rng.normal(size=n),
            "X": rng.choice(["a", "b"], n),
        }
    )
    X.loc[rng.random(n) < 0.2, "income in €"] = np.nan
    X.loc[rng.random(n) < 0.2, "town"] = None
    if new:
        X.loc[rng.random(n) < 0.2, "age"] = np.nan
        X.loc[rng.random(n) < 0.2, "X"] = None
        for name in ("town", "street", "X"):
            X.loc[rng.random(n) < 0.2, name] = "(never seen)"
    return X


def table_degrees(X):
    """Return incomplete degrees of four labels that depend on the columns."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(len(X), 4))
    scores[:, 0] += (X["town"] == "Rome") + X["town"].isna() + X["age"].to_numpy() / 20
    scores[:, 1] += 2 * (X["X"] == "a") + X["income in €"].isna()
    y = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return pd.DataFrame(hide(y, 0.3, random_state=0), columns=["w", "x", "y", "z"])


def run_table(loaded, X):
    """Run a loaded file on the columns of a frame."""
    inputs = {}
    for each in loaded.get_inputs():
        assert each.shape[1] == 1
        column = X[each.name]
        if each.type == "tensor(string)":
            column = column.astype(object).where(column.notna(), "")
        else:
            assert each.type == "tensor(double)"
        inputs[each.name] = column.to_numpy()[:, None]
    return loaded.run(["degrees"], inputs)[0]


def uneven(n=250, k=4):
    """Return skewed and rounded columns, degrees of four labels, and rows beyond the columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    X[:, 0], X[:, 1] = np.exp(4 * X[:, 0]), np.where(X[:, 1] > 0, np.exp(4 * X[:, 1]), 0)
    X[:, 2] = np.round(np.exp(2 * X[:, 2]))
    logs = np.log1p(X[:, :3])
    scores = np.column_stack([logs, np.zeros(n)]) + np.sin(2 * logs[:, [1, 2, 0, 0]])
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = rng.gamma(30 * p) + 1e-9
    new = np.vstack([X, X * rng.lognormal(size=X.shape), [[1e9] * k, [-1e9] * k]])
    return X, hide(y / y.sum(axis=1, keepdims=True), 0.3, random_state=0), new


@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidgeLDL(kernel="rbf", random_state=0),
        KernelRidgeLDL(kernel="laplacian", random_state=0),
        KernelSoftmaxLDL(random_state=0),
        KernelSoftmaxLDL(kernel="linear", random_state=0),
        ForestLDL(n_trees=5, random_state=0),
        Boosted(random_state=0),
        NetworkLDL(random_state=0),
        AutoInLDL(["kernel-ridge", "boosted"], random_state=0, weights="equal"),
        AutoInLDL(["forest", "linear-softmax"], random_state=0, recalibrate="clark"),
    ],
    ids=str,
)
def test_kernels_and_trees(estimator, tmp_path):
    X, y, new = uneven()
    estimator.fit(X, y)
    loaded = session(estimator, tmp_path / "m.onnx")
    np.testing.assert_allclose(run(loaded, new), estimator.predict(new), rtol=0, atol=1e-6)
    assert run(loaded, new[:0]).shape == (0, 4)
    new[0, 1], new[1, 2] = np.nan, np.inf
    assert np.isnan(run(loaded, new)).all(axis=1).tolist() == [True, True] + [False] * 500


def test_columns_that_were_mapped_to_normal_quantiles(tmp_path):
    """Values that several quantiles have in common lie in their middle."""
    X, y, new = uneven()
    columns = Columns().fit(X, 0).with_quantiles(X)
    new = np.vstack([new, columns.quantiles_[:, ::9].T, columns.quantiles_[:, :2].mean(1)])
    model = KernelRidgeLDL(kernel="linear", random_state=0).fit(X, y)
    model.columns_ = columns
    loaded = session(model, tmp_path / "m.onnx")
    np.testing.assert_allclose(run(loaded, new), model.predict(new), rtol=0, atol=1e-9)
    new[0, 3], new[1, 3], new[2, 0] = np.inf, -np.inf, np.nan
    assert np.isnan(run(loaded, new)[:3]).all()


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeLDL(random_state=0),
        KernelSoftmaxLDL(kernel="linear", random_state=0),
        ForestLDL(n_trees=2, random_state=0),
        NetworkLDL(random_state=0),
    ],
    ids=str,
)
def test_very_wide_and_constant_features(model, tmp_path):
    X, y, _ = uneven()
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(250, 1000))])
    for features in (wide, np.ones((250, 2))):
        model.fit(features, y)
        found = run(session(model, tmp_path / "m.onnx"), features)
        np.testing.assert_allclose(found, model.predict(features), rtol=0, atol=2e-6)


def test_what_was_learned_from_very_many_rows(tmp_path, monkeypatch):
    X, y, new = uneven()
    monkeypatch.setattr(auto_fitting, "SAMPLE_ROWS", 150)
    monkeypatch.setattr(auto, "is_large", lambda *rows: True)
    model = AutoInLDL(["network", "boosted"], random_state=0, weights="equal").fit(X, y)
    found = run(session(model, tmp_path / "m.onnx"), new)
    np.testing.assert_allclose(found, model.predict(new), rtol=0, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*few rows:UserWarning")
def test_a_table_model_of_the_default_method(tmp_path):
    X = frame(200, 0)
    X["firm"] = np.random.default_rng(5).choice([f"f{j}" for j in range(120)], 200)
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(200) * 7 % 365, unit="D")
    model = TableModel(random_state=0).fit(X, table_degrees(X), unit="none", time="none")
    loaded = session(model, tmp_path / "model.onnx")
    given = X.assign(day=(X["day"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    found = run_table(loaded, given)
    np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=1e-5)


METHODS_OF_TABLES = ["winldl", "bfgs-ldl", "ridge", "constant-mean"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS_OF_TABLES)
def test_table_model(method, tmp_path):
    X = frame(600, 0)
    model = TableModel(method, cross_fit=None).fit(X, table_degrees(X))
    loaded = session(model, tmp_path / "model.onnx")
    new = frame(300, 1, new=True)
    for rows in (X, new, new[:1]):
        expected = model.predict(rows).to_numpy()
        np.testing.assert_allclose(run_table(loaded, rows), expected, rtol=0, atol=1e-12)
    assert run_table(loaded, new[:0]).shape == (0, 4)
    assert [each.name for each in loaded.get_inputs()] == list(X.columns)


def test_the_table_has_all_kinds_of_columns():
    X = frame(600, 0)
    model = TableModel("winldl", cross_fit=None).fit(X, table_degrees(X))
    columns = {column.name: column for column in model.encoder_.columns_}
    indicators = {name: columns[name].indicator for name in ("age", "income in €", "height")}
    assert indicators == {"age": False, "income in €": True, "height": False}
    extra = {
        name: (columns[name].other, columns[name].missing) for name in ("town", "street", "X")
    }
    assert extra == {"town": (False, True), "street": (True, False), "X": (False, False)}


@pytest.mark.parametrize("kept", [["age", "height"], ["town", "X"], ["street"]])
def test_tables_of_one_kind_of_columns(kept, tmp_path):
    X = frame(600, 0)
    model = TableModel("winldl", cross_fit=None).fit(X[kept], table_degrees(X))
    new = frame(300, 1, new=True)
    degrees = run_table(session(model, tmp_path / "model.onnx"), new)
    np.testing.assert_allclose(degrees, model.predict(new), rtol=0, atol=1e-12)


def test_columns_named_like_tensors_of_the_graph(tmp_path):
    import onnx

    X, path = frame(100, 0), tmp_path / "model.onnx"
    y, model = table_degrees(X), TableModel("winldl", cross_fit=None)
    export_onnx(model.fit(X, y), path)
    graph = onnx.load(path).graph
    inside = [each.output[0] for each in graph.node[:3]] + [
        each.name for each in graph.initializer
    ]
    renamed = X.set_axis(inside[: X.shape[1]], axis=1)
    degrees = run_table(session(model.fit(renamed, y), path), renamed)
    np.testing.assert_allclose(degrees, model.predict(renamed), rtol=0, atol=1e-12)


def test_metadata_of_a_table_model(tmp_path):
    X = frame(100, 0)
    model = TableModel("winldl", cross_fit=None).fit(X, table_degrees(X))
    found = session(model, tmp_path / "model.onnx").get_modelmeta().custom_metadata_map
    assert json.loads(found["labels"]) == ["w", "x", "y", "z"]
    assert found["method"] == "WInLDL"


@pytest.mark.parametrize(
    ("name", "message"), [("", "has no name"), ("degrees", "named 'degrees' like the output")]
)
def test_names_that_the_file_cannot_have(name, message, tmp_path):
    X = frame(100, 0)
    model = TableModel("winldl", cross_fit=None).fit(
        X.rename(columns={"age": name}), table_degrees(X)
    )
    with pytest.raises(ValueError, match=message):
        export_onnx(model, tmp_path / "model.onnx")


def test_table_models_that_are_refused(tmp_path):
    X = frame(100, 0)
    with pytest.raises(NotFittedError, match="TableModel"):
        export_onnx(TableModel("winldl"), tmp_path / "model.onnx")
    trees = RegressorLDL(RandomForestRegressor(n_estimators=2, random_state=0))
    model = TableModel(trees, cross_fit=None).fit(X, table_degrees(X))
    with pytest.raises(ValueError, match="RandomForestRegressor is not linear in its features"):
        export_onnx(model, tmp_path / "model.onnx")


def test_a_member_that_cannot_be_exported_is_named(tmp_path):
    X, y = data(3)
    model = AutoInLDL([LinearRegression()], random_state=0).fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="member LinearRegression cannot be exported to ONNX; le"):
        export_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_be_exported(tmp_path):
    X, y = data(3)
    with pytest.raises(NotFittedError, match="WInLDL"):
        export_onnx(WInLDL(), tmp_path / "model.onnx")
    with pytest.raises(TypeError, match="got Ridge"):
        export_onnx(Ridge().fit(X, X), tmp_path / "model.onnx")
    inside = RegressorLDL(make_pipeline(StandardScaler(), Ridge())).fit(X, y)
    with pytest.raises(ValueError, match="RegressorLDL with Pipeline"):
        export_onnx(inside, tmp_path / "model.onnx")


def test_coefficients_that_are_no_numbers(tmp_path):
    X, y = make_distributions(50, random_state=0)
    model = WInLDL().fit(X, y)
    model.intercept_[0] = np.nan
    with pytest.raises(ValueError, match="has NaN or infinity among its coefficients; fit it"):
        export_onnx(model, tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def test_without_onnx(tmp_path, monkeypatch):
    model = WInLDL().fit(*data(3))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs onnx: pip install 'inldl\[onnx\]'"):
        export_onnx(model, tmp_path / "model.onnx")


def test_paths_that_are_refused(tmp_path):
    model = WInLDL().fit(*data(3))
    with pytest.raises(ValueError, match=r"model\.bin does not end in '\.onnx'"):
        export_onnx(model, tmp_path / "model.bin")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere; create it first"):
        export_onnx(model, tmp_path / "nowhere" / "model.onnx")
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        export_onnx(model, tmp_path / "folder.onnx")


def test_a_file_is_replaced_only_on_request(tmp_path):
    model, path = WInLDL().fit(*data(3)), tmp_path / "model.onnx"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="exists already"):
        export_onnx(model, path)
    assert path.read_text() == "mine"
    export_onnx(model, str(path), overwrite=True)
    assert path.read_bytes() != b"mine"
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
