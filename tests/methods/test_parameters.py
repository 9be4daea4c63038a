"""Parameters that are stated once, as annotated attributes of a class."""

import inspect
import re
from typing import Literal

import numpy as np
import pytest
from numpydoc.validate import validate
from sklearn.base import BaseEstimator, clone

from inldl import WInLDL
from inldl.datasets import make_distributions
from inldl.methods.parameters import (
    Auto,
    Count,
    Folds,
    Jobs,
    NotNegative,
    Positive,
    parameters,
)
from inldl.methods.registry import METHODS, classes
from inldl.specs import import_object


@parameters
class Example(BaseEstimator):
    """A class with one parameter of each kind."""

    mode: Literal["fast", "exact"] = "fast"
    width: Positive = 1.0
    ridge: NotNegative = 0.0
    steps: Count = 10
    scale: Auto = "auto"
    folds: Folds = None
    n_jobs: Jobs = None
    anything: object = None


def test_the_constructor_stores_what_it_is_given_and_nothing_else():
    given = object()
    model = Example("exact", 2, anything=given)
    assert vars(model) == {
        **Example().get_params(),
        "mode": "exact",
        "width": 2,
        "anything": given,
    }
    assert repr(clone(Example(steps=3))) == "Example(steps=3)"
    assert model != Example("exact", 2, anything=given)  # as scikit-learn's own are compared


def test_help_shows_plain_types():
    shown = {p.name: p.annotation for p in inspect.signature(Example).parameters.values()}
    assert shown["width"] is float
    assert shown["steps"] is int
    assert shown["folds"] == int | None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mode": "slow"}, "mode must be one of 'fast', 'exact', got 'slow'."),
        ({"width": 0}, "width must be a number greater than 0, got 0."),
        ({"ridge": -1}, "ridge must be a number at least 0, got -1."),
        ({"steps": 1.5}, "steps must be an integer at least 1, got 1.5."),
        ({"scale": "large"}, "scale must be a number greater than 0 or 'auto', got 'large'."),
        ({"folds": 1}, "folds must be an integer at least 2, got 1."),
        ({"n_jobs": True}, "n_jobs must be an integer, got True."),
    ],
)
def test_wrong_values_are_refused_when_a_fit_begins(wrong, message):
    Example()._check_parameters()
    Example(scale=0.5, folds=2, n_jobs=-1)._check_parameters()
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Example(**wrong)._check_parameters()


def test_a_subclass_with_a_constructor_of_its_own_is_checked_too():
    class Own(WInLDL):
        def __init__(self, mu=-1):
            super().__init__(mu=mu)

    with pytest.raises(ValueError, match="mu must be a number greater than 0"):
        Own().fit(*make_distributions(20, random_state=0))


def test_dask_tells_two_fits_apart():
    tokenize = pytest.importorskip("dask.base").tokenize
    X, y = make_distributions(20, random_state=0)
    one, other = WInLDL().fit(X, y), WInLDL().fit(X, np.roll(y, 1, axis=1))
    assert tokenize(one) != tokenize(other)


@pytest.mark.parametrize("name", ["inldl_paper.literature", "inldl.methods"])
def test_every_parameter_and_section_is_documented_once(name):
    package = pytest.importorskip(name)
    for cls in (getattr(package, each) for each in package.__all__ if each in classes()):
        for title in ("Parameters", "Attributes", "Examples"):
            assert len(re.findall(rf"^{title}\n---", cls.__doc__, re.MULTILINE)) == 1
        section = cls.__doc__.partition("Parameters\n---")[2].partition("\n\nAttributes\n")[0]
        heads = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", section, re.MULTILINE)
        named = [each for head in heads for each in head.split(", ")]
        assert sorted(named) == sorted(inspect.signature(cls).parameters)


DOCUMENTED = ("", ".fit", ".predict", ".predict_interval", ".complete", ".complete_interval")
FINDINGS = {"PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR10", "RT01"}  # of names and types


PATHS = {method.path for method in METHODS.values() if method.distribution is None}


OTHERS = {"inldl.tables.model:TableModel", "inldl.tables.imputer:SharesImputer"}
FUNCTIONS = {"complete", "complete_interval", "draw", "draw_scorer"}
OTHERS |= {f"inldl.methods.pipelines:{name}" for name in FUNCTIONS}


@pytest.mark.parametrize("kind", sorted(PATHS | OTHERS | {"inldl.methods:AutoReport"}))
def test_numpydoc_finds_all_parameters_with_their_types(kind):
    name = kind.replace(":", ".")
    owner = import_object(kind)
    for method in (*DOCUMENTED, ".draw", ".score", ".transform", ".as_published", ".sample"):
        if not method or hasattr(owner, method[1:]):
            errors = validate(name + method)["errors"]
            assert [each for each in errors if each[0] in FINDINGS] == [], method
