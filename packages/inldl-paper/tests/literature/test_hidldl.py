"""HidLDL as an estimator: what it keeps, and what it refuses."""

import numpy as np
import pytest

from inldl import hide
from inldl.datasets import make_distributions
from inldl.methods.registry import make_method, with_ratios
from inldl_paper.literature import BFGSLDL, HidLDL

X, TRUTH = make_distributions(120, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)


def test_it_learns_what_it_recovers():
    model = HidLDL().fit(X, Y)
    learned = BFGSLDL(l2=1e-4, max_iter=2000).fit(X, model.recovered_)
    np.testing.assert_allclose(model.predict(X), learned.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.recovered_.sum(axis=1), 1)


def test_rows_that_were_rescaled_are_as_good():
    seen = np.nansum(Y, axis=1, keepdims=True)
    rescaled = Y / np.where(seen > 0, seen, 1)
    found = HidLDL().fit(X, rescaled)
    np.testing.assert_allclose(found.recovered_, HidLDL().fit(X, Y).recovered_, atol=1e-10)
    assert np.nanmax(np.abs(rescaled - Y)) > 0.3


@pytest.mark.parametrize("filling", [0.0, 1e6, -3.0])
def test_what_fills_a_hole_never_matters(filling):
    holes = np.isnan(Y)
    model = HidLDL().fit(X, np.ma.masked_array(np.where(holes, filling, Y), holes))
    np.testing.assert_array_equal(model.coef_, HidLDL().fit(X, Y).coef_)


def test_recovered_rows_are_those_that_have_a_weight():
    weights = np.r_[0.0, 0.0, np.ones(118)]
    model = HidLDL().fit(X, Y, sample_weight=weights)
    assert model.recovered_.shape == (118, 3)
    twice = HidLDL().fit(np.vstack([X, X]), np.vstack([Y, Y]))
    np.testing.assert_array_equal(twice.recovered_[:120], twice.recovered_[120:])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "sigma must be a number greater than 0"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer at least 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        HidLDL(**parameters).fit(X, Y)


@pytest.mark.parametrize("text", ["hidldl", "tuned(method=hidldl)"])
def test_it_takes_ratios(text):
    assert make_method(with_ratios(text)).known == "ratios"
    with pytest.raises(ValueError, match=r"ldm cannot learn .* use one of winldl, .*hidldl, "):
        with_ratios("ldm")
