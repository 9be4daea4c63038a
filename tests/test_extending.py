"""What CONTRIBUTING promises of new metrics, weightings and mechanisms: they touch one file."""

import numpy as np
import pytest
from typer.testing import CliRunner

from inldl import WInLDL, datasets, evaluate, hide, metrics, weighting
from inldl.cli._app import app
from inldl.datasets import make_distributions
from inldl.experiments import grid
from inldl.metrics import METRICS, scorer
from inldl.metrics._registry import metric


@pytest.fixture
def data():
    X, y = make_distributions(60, random_state=0)
    return X, hide(y, 0.3, random_state=0)


def test_a_metric(data, monkeypatch):
    monkeypatch.setattr(metrics._registry, "METRICS", METRICS.copy())

    @metric(higher_is_better=False, perfect=0.0)
    def largest_error(pair):
        """Measure the largest error of a row."""
        return np.abs(pair.p - pair.q).max(axis=1)

    X, y = data
    predicted = WInLDL().fit(X, y).predict(X)
    assert evaluate(y, predicted)["largest_error"] == largest_error(y, predicted) > 0
    assert scorer("largest_error")(WInLDL().fit(X, y), X, y) == -largest_error(y, predicted)


def test_a_weighting(data, monkeypatch):
    class Halves(weighting.UniformWeighting):
        def observed(self, degrees):
            return np.full_like(degrees, 0.5)

    monkeypatch.setitem(weighting.SCHEMES, "halves", Halves)
    by_name, by_object = (WInLDL(each).fit(*data) for each in ("halves", Halves()))
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    with pytest.raises(ValueError, match="'halves'"):
        WInLDL("thirds").fit(*data)


def test_a_mechanism(monkeypatch):
    def first(y, rate, rng):
        return np.arange(y.shape[1]) > 0 * y

    monkeypatch.setitem(datasets.MECHANISMS, "first", first)
    assert np.isnan(hide(np.full((4, 2), 0.5), 0.5, mechanism="first")[:, 0]).all()
    assert "first" in CliRunner().invoke(app, ["bench", "--help"]).output
    grid(["random(n=60)"], ["constant-mean"], mechanism="first")
