"""The list of methods, and all that follows from a line in it."""

import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import inldl
from inldl import hide, methods
from inldl.cli.app import app
from inldl.datasets import make_distributions
from inldl.files import export_onnx, load_model, save_model
from inldl.methods import DistributionEstimator
from inldl.methods.registry import (
    METHODS,
    Method,
    has_method,
    make_method,
    register,
    with_ratios,
)
from inldl.specs import import_object
from inldl.tables import compare
from plain_methods import PLAIN

OUTSIDE = '''
import numpy as np
from inldl.rows.inputs import validate_features, validate_fit
from inldl.methods import DistributionEstimator
from inldl.solvers.softmax import softmax

class Note:
    def __init__(self, text):
        self.text = text

class SteepLDL(DistributionEstimator):
    """The softmax of a multiple of the first feature."""

    def __init__(self, slope=1.0):
        self.slope = slope

    @classmethod
    def as_published(cls, **changes):
        return cls(**{"slope": 7.0, **changes})

    def fit(self, X, y):
        X, y, self.label_names_ = validate_fit(self, X, y, accept_sparse=False)
        self.coef_ = np.zeros((y.shape[1], X.shape[1]))
        self.coef_[:, 0] = self.slope * np.arange(y.shape[1])
        self.intercept_, self.note_ = np.zeros(y.shape[1]), Note("steep")
        return self

    def predict(self, X):
        return softmax(validate_features(self, X) @ self.coef_.T + self.intercept_)

    def _to_onnx(self, graph, features):
        return graph.softmax(graph.scores(features, self.coef_, self.intercept_))
'''


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Add a method that lies outside of the package, by one line."""
    (tmp_path / "steep_method.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(methods, "METHODS", METHODS.copy())
    monkeypatch.delitem(sys.modules, "steep_method", raising=False)
    methods.register(Method("steep", "steep_method:SteepLDL", "the first feature, made steep"))
    yield
    vars(inldl).pop("SteepLDL", None)


@pytest.mark.usefixtures("outside")
def test_one_line_is_enough_for_all_that_uses_methods(tmp_path):
    """Neither files nor ONNX, commands nor comparisons have a list of their own."""
    X, y = make_distributions(80, random_state=0)
    y = hide(y, 0.3, random_state=0)
    model = make_method("steep(slope=2)").fit(X, y)
    assert type(model) is import_object("steep_method:SteepLDL")
    with pytest.raises(ValueError, match="did you mean steep"):
        make_method("stepe")

    save_model(model, tmp_path / "steep.inldl")
    loaded = load_model(tmp_path / "steep.inldl")
    assert loaded.note_.text == "steep"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))

    runtime = pytest.importorskip("onnxruntime")
    export_onnx(model, tmp_path / "steep.onnx")
    session = runtime.InferenceSession(tmp_path / "steep.onnx")
    np.testing.assert_allclose(session.run(None, {"X": X})[0], model.predict(X))

    in_table = inldl.TableModel("steep").fit(X, y)
    save_model(in_table, tmp_path / "table.inldl")
    assert type(load_model(tmp_path / "table.inldl").estimator_) is import_object(
        "steep_method:SteepLDL"
    )
    assert "steep" in str(compare(pd.DataFrame(X), pd.DataFrame(y), ["steep"]))

    listed = CliRunner().invoke(app, ["methods"]).output
    assert "the first feature, made steep" in listed


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="There is a method 'winldl' already"):
        register(METHODS["winldl"])


@pytest.mark.parametrize("name", PLAIN)
def test_every_method_is_made_and_exported(name):
    method = METHODS[name]
    estimator = method.make()
    assert isinstance(estimator, DistributionEstimator)
    assert type(estimator) is import_object(method.path)
    assert method.published == name.endswith("-published")
    assert method.about
    assert method.about[-1] != "."


MISSING = (
    r"{name} needs the package {package}: pip install {package} \(in a clone of inldl: "
    r"pip install \./packages/{package}\)"
)


@pytest.mark.parametrize(
    ("method", "name", "home"),
    [
        ("neural", "NeuralLDL", "inldl_torch.neural"),
        ("hidldl", "HidLDL", "inldl_paper.literature.hidldl"),
    ],
)
def test_a_method_of_a_missing_distribution_is_listed_and_says_what_to_install(
    method, name, home, monkeypatch
):
    module, _, _ = home.partition(".")
    monkeypatch.setitem(sys.modules, module, None)
    assert f"\n{method} " in CliRunner().invoke(app, ["methods"]).output
    message = MISSING.format(name=name, package=module.replace("_", "-"))
    for use in (
        lambda: make_method(f"{method}(l2=3)"),
        lambda: getattr(methods, name),
        lambda: inldl.TableModel(method).fit(np.eye(4), np.full((4, 2), 0.5)),
        lambda: has_method(home),
    ):
        with pytest.raises(ImportError, match=f"^{message}$"):
            use()
    assert not has_method(f"{module}.training")


def test_ratios_ask_for_no_distribution_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "inldl_paper", None)
    with pytest.raises(ValueError, match="use one of winldl, auto, "):
        with_ratios("sklearn.linear_model:Ridge")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("winldl(ridge=tunde)", r"got 'tunde'\. Did you mean ridge=tuned\?"),
        ("winldl(mu=-1)", r"^winldl\(mu=-1\): mu must be a number greater than 0, got -1\.$"),
        ("winldl(mu=tuned)", "WInLDL declares candidates only for ridge"),
        ("tuned(method=constant-mean)", "ConstantLDL declares nothing to tune"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_computed(text, why):
    with pytest.raises(ValueError, match=why):
        make_method(text)


def test_names_in_arguments_need_no_quotes():
    assert make_method("tuned(method=inldl-p(lam=2))").estimator.lam == 2
    assert make_method("tuned(method=winldl, grids={'mu': [1, 4]})").grids == {"mu": [1, 4]}


@pytest.mark.parametrize(
    "text", ["winldl", "winldl(ridge=tuned)", "tuned(method=winldl)", "tuned"]
)
def test_methods_that_take_ratios(text):
    assert make_method(with_ratios(text)).known == "ratios"


@pytest.mark.parametrize("text", ["ldm", "ldm(l1=tuned)", "tuned(method=ldm)"])
def test_methods_that_take_no_ratios(text):
    with pytest.raises(ValueError, match="ldm cannot learn from ratios alone; use one of winldl"):
        with_ratios(text)
