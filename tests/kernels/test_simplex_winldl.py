"""The row work of WInLDL against its formulas, whatever the thresholds were before."""

import numpy as np
import pytest

from inldl import kernels
from inldl.solvers.winldl import lanes, own_ratios
from plain_numpy import project


class Rows:
    """Rows of random degrees, and what the formulas make of their state."""

    def __init__(self, n, C, dtype=np.float64):
        self.rng, self.dtype = np.random.default_rng(1), dtype
        self.y = self.rng.dirichlet(np.ones(C), n).astype(dtype)
        self.y[self.rng.random(self.y.shape) < 0.5] = np.nan
        self.Z, self.A = self.rng.random((2, n, C)).astype(dtype)
        self.U = self.rng.normal(0, 0.1, (n, C)).astype(dtype)
        self.intercept, self.missing = self.rng.random((2, C)).astype(dtype)
        self.state = lanes((self.U, self.Z), dtype)
        self.given = lanes((self.y, self.A), dtype)
        shape = len(self.state), 2, self.state.shape[-1]
        self.thresholds = np.full(shape, np.nan, dtype)

    def step(self, S, impute=True):
        """Take the step, and compare it with the formulas."""
        S = S.astype(self.dtype)
        hole = np.isnan(self.y)
        fitted = (S + self.intercept).astype(float)
        target = np.where(hole, project(fitted) if impute else 0, self.y)
        ratio = np.where(hole & ~np.isnan(self.missing), self.missing, self.A)
        new = project(target + ratio * (fitted + self.U - target))
        dual = self.U + fitted - new

        R = S.T.copy()
        given, missing = own_ratios(self.given, self.missing)
        total, change = kernels.winldl_step(
            R, self.state, given, self.thresholds, self.intercept, missing, impute
        )
        scale = np.abs(fitted).max()
        close = {"rtol": 0, "atol": (1e-13 if self.dtype == np.float64 else 1e-4) * max(scale, 1)}
        np.testing.assert_allclose(R.T, new - dual, **close)
        np.testing.assert_allclose(
            total, (new - dual).sum(axis=0), rtol=0, atol=close["atol"] * len(S)
        )
        np.testing.assert_allclose(change, np.abs(new - self.Z).max(), **close)
        held = lanes((dual, new), self.dtype)
        np.testing.assert_allclose(self.rows(self.state), self.rows(held), **close)
        self.U, self.Z = np.moveaxis(self.rows(self.state).copy(), 2, 0)

    def rows(self, held):
        """Return groups x labels x 2 x lanes as rows x labels x 2."""
        groups, C, parts, width = held.shape
        return held.transpose(0, 3, 1, 2).reshape(groups * width, C, parts)[: len(self.y)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("impute", [True, False])
@pytest.mark.parametrize(
    ("n", "C", "spread"), [(1, 1, 1), (300, 5, 0.01), (301, 5, 1), (70, 90, 1), (9, 3000, 1)]
)
def test_step_follows_the_formulas(n, C, spread, impute, dtype):
    rows = Rows(n, C, dtype)
    for _ in range(2):  # without, and with thresholds to start from
        rows.step(rows.rng.normal(1 / C, spread, (n, C)), impute)


@pytest.mark.parametrize("C", [2, 7, 68])
def test_any_step_may_follow_any_other(C):
    """Rows go to the edge and back, far below the last threshold and far above it."""
    rows = Rows(45, C)
    rows.intercept[:] = 0
    for spread, shift in [(1e-3, 0), (3, 0), (1e-3, 0), (3, 0), (3, -50), (3, 90), (1e-3, -7)]:
        rows.step(rows.rng.normal(1 / C + shift, spread, (45, C)))
        at_edge = ~np.isnan(rows.thresholds[:, 0])
        assert at_edge.any() == (spread == 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_entries_too_large_to_tell_1_end(dtype):
    """Thresholds are rounded to the largest entries and 1 below in turns, rows in two beats."""
    rows = Rows(20, 4, dtype)
    rows.intercept[:] = 0
    huge = 1 / np.finfo(dtype).eps + 2
    rows.step(np.tile([[huge, huge, 0, 0], [huge, huge, 0.9 * huge, 0]], (10, 1)))


def test_equal_entries():
    rows = Rows(20, 6)
    for value in (0.0, 1 / 6, -3.0, 1 / 6):
        rows.step(np.full((20, 6), value) - rows.intercept)


@pytest.mark.parametrize("own", [[0], [0, 1, 2, 3]])
def test_missing_degrees_keep_their_own_weight(own):
    rows = Rows(30, 4)
    rows.missing[own] = np.nan
    given = rows.given.copy()
    for _ in range(3):
        rows.step(rows.rng.normal(1 / 4, 0.3, (30, 4)))
        np.testing.assert_array_equal(rows.given, given)


def test_numbers_that_are_none_end():
    """A fit that overflowed must come back, so that somebody can say so."""
    for value in (np.nan, np.inf, -np.inf, 1e308):
        rows = Rows(10, 3)
        R = np.full((3, 10), value)
        arrays = (rows.state, rows.given, rows.thresholds, rows.intercept, rows.missing)
        for _ in range(3):
            kernels.winldl_step(R, *arrays, True)
