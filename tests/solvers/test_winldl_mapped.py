"""A problem on features of the rows: the same as on an array of these features."""

from dataclasses import replace

import numpy as np
import pytest

from inldl import hide
from inldl.engines.base import row_blocks
from inldl.engines.local import LocalEngine, MemoryRows
from inldl.solvers.loop import iterations, run
from inldl.solvers.winldl import WInLDLProblem
from inldl.weighting import get_weighting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5000, 3))  # three blocks
Y = hide(RNG.dirichlet(np.ones(4), 5000), 0.5, random_state=0)
PROBLEM = WInLDLProblem(get_weighting("degree"), True, 2.0, 20, 1e-3, True, True)


class Squares:
    """The features and their squares; it counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, X):
        self.calls += 1
        return np.hstack([X, X**2])


def solve(problem, X):
    rows = MemoryRows(X, Y)
    with rows.engine(1, "mapped") as engine:
        assert isinstance(engine, LocalEngine)
        return run(iterations(problem, engine, rows, 0.0), 20)


@pytest.mark.parametrize("keep", [True, False])
def test_it_is_the_problem_on_the_features(keep):
    expected, features = solve(PROBLEM, Squares()(X)), Squares()
    found = solve(replace(PROBLEM, features=features, keep_features=keep), X)
    np.testing.assert_array_equal(found.shared.coef, expected.shared.coef)
    np.testing.assert_array_equal(
        found.history["degree_change"], expected.history["degree_change"]
    )
    n_blocks = len(row_blocks(X, Y))
    assert n_blocks > 2
    assert features.calls == n_blocks * (1 if keep else 1 + 20)
