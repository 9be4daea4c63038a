"""Scales on which degrees are compared, against random numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.solvers.gaussian import DrawScale, LogScale, RootScale, ShareScale

DEGREES = np.random.default_rng(0).dirichlet([5, 2, 0.5], 200)
SCALES = [ShareScale, RootScale, LogScale, DrawScale]


@pytest.mark.parametrize("scale", SCALES)
def test_degrees_come_back(scale):
    scale = scale(DEGREES)
    np.testing.assert_allclose(scale.back(scale.of(DEGREES)), DEGREES, rtol=1e-12)


@pytest.mark.parametrize("scale", [ShareScale, RootScale, LogScale])
@given(mean=st.floats(-1.5, -0.5), variance=st.floats(0.01, 0.3))
def test_moments_are_those_of_random_numbers(scale, mean, variance):
    mean = mean + 2 if scale is RootScale else mean  # a root is positive, nearly always
    drawn = mean + np.sqrt(variance) * np.random.default_rng(1).standard_normal(200_000)
    values = {"ShareScale": drawn, "RootScale": drawn**2, "LogScale": np.exp(drawn)}
    values = values[scale.__name__]
    table = np.ones((3, 1))
    found, spread = scale(table).moments(np.array([[mean]]), np.array([[variance]]))
    assert found[0, 0] == pytest.approx(values.mean(), rel=0.05, abs=0.01)
    assert spread[0, 0] == pytest.approx(values.var(), rel=0.15, abs=0.01)


def test_zeros_have_a_logarithm():
    scale = LogScale(np.array([[0.0, 1.0], [0.2, 0.8], [0.5, 0.5]]))
    assert scale.of(np.array([[0.0, 0.9]]))[0, 0] == pytest.approx(np.log(0.1))


def test_labels_with_many_zeros_are_drawn_as_roots():
    y = DEGREES.copy()
    y[:10, 2] = 0
    scale = DrawScale(y / y.sum(axis=1, keepdims=True))
    assert scale.back(np.full((1, 3), -0.1))[0, 2] == 0
    assert (scale.back(np.full((1, 3), -9.0))[0, :2] > 0).all()


def test_slopes_are_derivatives():
    scale, step = DrawScale(DEGREES), 1e-7
    found = (scale.of(DEGREES + step) - scale.of(DEGREES)) / step
    some = DEGREES > 1e-3
    np.testing.assert_allclose(scale.slopes(DEGREES)[some], found[some], rtol=1e-3)
