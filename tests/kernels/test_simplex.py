"""The projection against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inldl import kernels
from plain_numpy import project

EXTREME = [0.0, 1.0, 1 / 3, 1e-300, -1e-300, 1e-17, 1e20, 1e20 + 16384, -1e20, 0.5, 1e8, -1.0]
ENTRIES = st.one_of(
    st.sampled_from(EXTREME),
    st.floats(-2, 2),
    st.floats(-1e30, 1e30),
)


def exact(row, mass=1):
    """Project one row by sorting, in rational arithmetic."""
    u = sorted((Fraction(x) for x in row), reverse=True)
    sums = [sum(u[: t + 1]) - Fraction(mass) for t in range(len(u))]
    theta = max(s / (t + 1) for t, s in enumerate(sums))
    return [float(max(Fraction(x) - theta, Fraction(0))) for x in row]


def projected(rows, mass=None):
    V = np.array(rows, dtype=float).T.copy()
    kernels.project_columns(V, np.ones(V.shape[1]) if mass is None else np.asarray(mass, float))
    return V.T


@given(st.integers(1, 9).flatmap(lambda C: arrays(float, (3, C), elements=ENTRIES)))
def test_projection_is_exact(rows):
    expected = [exact(row) for row in rows]
    np.testing.assert_allclose(projected(rows), expected, rtol=0, atol=4e-16 * rows.shape[1])


@given(
    arrays(float, (4, 5), elements=st.floats(-3, 3)),
    arrays(float, 4, elements=st.floats(1e-12, 1)),
)
def test_projection_onto_less_mass(rows, mass):
    expected = [exact(row, m) for row, m in zip(rows, mass, strict=True)]
    np.testing.assert_allclose(projected(rows, mass), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("C", [1, 2, 7, 68, 1500])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0])
def test_projection_of_many_rows(n, C, spread):
    V = np.random.default_rng(0).normal(1 / C, spread, (n, C))
    np.testing.assert_allclose(projected(V), project(V), rtol=0, atol=1e-13)


def test_excluded_entries_stay_out():
    rows = [[0.3, -np.inf, 0.2], [-np.inf, -5.0, -np.inf]]
    np.testing.assert_allclose(projected(rows, [0.5, 0.25]), [[0.3, 0, 0.2], [0, 0.25, 0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_row_that_is_no_number_stays_one(bad, label):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    expected = project(rows)
    rows[[3, 17], label] = bad
    found = projected(rows)
    assert np.isnan(found[[3, 17]]).all()
    others = np.delete(np.arange(20), [3, 17])
    np.testing.assert_allclose(found[others], expected[others], rtol=0, atol=1e-15)
