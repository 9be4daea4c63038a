"""The projection between bounds against exact rational arithmetic, and what makes it optimal."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from inldl import kernels

UNIT = st.floats(0, 1)
SPREADS = st.sampled_from([1.0, 0.3, 1e-3, 1e-12, 0.999])


def between(v, spread, lower, upper, mass):
    """Project one row."""
    V, *others = (np.array([a], dtype=float) for a in (v, spread, lower, upper))
    kernels.project_between(V, *others, np.array([mass], dtype=float))
    return V[0]


def exact(v, spread, lower, upper, mass):
    """Project one row by trying all corners of the sum as a function of theta."""
    v, s, low, high = ([Fraction(x) for x in a] for a in (v, spread, lower, upper))
    mass = min(max(Fraction(mass), sum(low)), sum(high))

    def row(theta):
        moved = (a - theta * b for a, b in zip(v, s, strict=True))
        return [min(max(z, a), b) for z, a, b in zip(moved, low, high, strict=True)]

    each = list(zip(v, s, low, high, strict=True))
    corners = sorted({(a - end) / b for a, b, *ends in each for end in ends})
    after = next(i for i, theta in enumerate(corners) if sum(row(theta)) <= mass)
    if after == 0:
        return [float(z) for z in row(corners[0])]
    left, right = corners[after - 1], corners[after]
    most, least = sum(row(left)), sum(row(right))
    theta = left + (right - left) * (most - mass) / (most - least)
    return [float(z) for z in row(theta)]


@st.composite
def problems(draw, values=None, spreads=SPREADS):
    """Return a row, spreads, bounds, and a mass that they allow."""
    C = draw(st.integers(1, 7))
    v = draw(arrays(float, C, elements=st.floats(-2, 2) if values is None else values))
    ends = draw(arrays(float, (2, C), elements=UNIT))
    lower, upper = ends.min(axis=0), ends.max(axis=0)
    share = draw(st.one_of(st.sampled_from([0.0, 1.0]), UNIT))
    mass = lower.sum() + share * (upper.sum() - lower.sum())
    return v, draw(arrays(float, C, elements=spreads)), lower, upper, mass


@given(problems())
def test_projection_is_exact(problem):
    np.testing.assert_allclose(between(*problem), exact(*problem), rtol=0, atol=1e-11)


@given(problems(st.sampled_from([0.0, 1e-300, 1e-17, 1e8, -1e8, 1e20, -1e20, 0.5]), st.just(1.0)))
def test_huge_and_tiny_values_lose_nothing(problem):
    found = between(*problem)
    np.testing.assert_allclose(found, exact(*problem), rtol=0, atol=1e-7)
    assert found.sum() == pytest.approx(problem[-1], abs=1e-11)


@given(problems(st.sampled_from([0.0, 1.0, 1e8, -1e15, 1e20, 1e20 + 16384]), SPREADS))
def test_sum_and_bounds_hold_for_any_values_and_spreads(problem):
    found, (_, _, lower, upper, mass) = between(*problem), problem
    assert (lower <= found).all()
    assert (found <= upper).all()
    assert found.sum() == pytest.approx(mass, abs=1e-9)


@given(problems(spreads=st.floats(0.1, 1)))
def test_optimality_conditions(problem):
    """No mass can move from an entry above its lower bound to one below its upper bound."""
    v, s, lower, upper, mass = problem
    z = between(*problem)
    assert z.sum() == pytest.approx(mass, abs=1e-12)
    gain = (v - z) / s
    can_rise, can_fall = gain[z < upper], gain[z > lower]
    assert can_rise.max(initial=-np.inf) <= can_fall.min(initial=np.inf) + 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_another_solver_finds_the_same(seed):
    rng = np.random.default_rng(seed)
    v, s = rng.normal(size=5), rng.uniform(0.2, 1, 5)
    lower, upper = np.sort(rng.uniform(size=(2, 5)), axis=0)
    mass = (0.6 * lower + 0.4 * upper).sum()
    found = minimize(
        lambda z: ((z - v) ** 2 / s).sum() / 2, (lower + upper) / 2, jac=lambda z: (z - v) / s,
        method="SLSQP", bounds=list(zip(lower, upper, strict=True)), options={"ftol": 1e-14},
        constraints={"type": "eq", "fun": lambda z: z.sum() - mass},
    )  # fmt: skip
    np.testing.assert_allclose(between(v, s, lower, upper, mass), found.x, atol=1e-6)


def test_bounds_of_the_simplex_give_its_projection():
    V = np.random.default_rng(0).normal(0.2, 0.3, (200, 6))
    expected, found = V.T.copy(), V.copy()
    kernels.project_columns(expected, np.ones(200))
    ones = np.ones_like(V)
    kernels.project_between(found, ones, 0 * ones, ones, np.ones(200))
    np.testing.assert_allclose(found, expected.T, rtol=0, atol=1e-14)


@pytest.mark.parametrize("v", [[0.3, -1.0, 7.0], [1e20, -1e20, 0.1], [1e20, 1e20, 1e20]])
@pytest.mark.parametrize("spread", [[1.0, 1.0, 1.0], [0.3, 0.7, 1e-12]])
def test_mass_at_and_beyond_the_ends(v, spread):
    lower, upper = np.array([0.1, 0.0, 0.05]), np.array([0.3, 0.2, 0.5])
    for mass in (lower.sum(), -1.0, 0.0):
        np.testing.assert_array_equal(between(v, spread, lower, upper, mass), lower)
    for mass in (upper.sum(), 2.0):
        np.testing.assert_array_equal(between(v, spread, lower, upper, mass), upper)


def test_equal_bounds_hold_their_entry():
    found = between([5.0, 0.1, 0.2], [1, 1, 1], [0.25, 0, 0], [0.25, 1, 1], 1.0)
    np.testing.assert_allclose(found, [0.25, 0.325, 0.425])
    assert found[0] == 0.25


def test_degrees_move_in_proportion_to_spreads():
    found = between([0.2, 0.2, 0.2], [1.0, 0.5, 0.1], [0] * 3, [1] * 3, 1.0)
    np.testing.assert_allclose((found - 0.2) / 0.25, [1.0, 0.5, 0.1])


def test_no_rows_and_many_rows():
    nothing = np.empty((0, 3))
    kernels.project_between(nothing, nothing, nothing, nothing, np.empty(0))
    rng = np.random.default_rng(1)
    V, s = rng.normal(size=(50, 4)), rng.uniform(0.1, 1, (50, 4))
    lower, upper = np.sort(rng.uniform(size=(2, 50, 4)), axis=0)
    mass = (lower + upper).sum(axis=1) / 2
    together = V.copy()
    kernels.project_between(together, s, lower, upper, mass)
    alone = [between(*rows) for rows in zip(V, s, lower, upper, mass, strict=True)]
    np.testing.assert_array_equal(together, alone)
