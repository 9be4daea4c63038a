"""Weights of mixtures against another solver, and at their limits."""

import numpy as np
from scipy.optimize import minimize

from inldl.solvers.linear import simplex_weights, weights_towards

SAFE = np.array([0.5, 0.25, 0.25, 0.0])


def parts(m, seed=3, noise=(0.1, 0.15, 0.3, 0.2)):
    rng = np.random.default_rng(seed)
    target = rng.random(m)
    return target[:, None] + rng.standard_normal((m, 4)) * noise, target, rng.random(m) + 0.5


def slsqp(loss):
    sums = {"type": "eq", "fun": lambda w: w.sum() - 1}
    how = {"bounds": [(0, 1)] * 4, "constraints": sums, "options": {"ftol": 1e-12}}
    return minimize(loss, np.full(4, 0.25), **how).x


def test_weights_are_those_of_another_solver():
    fills, target, weights = parts(80)

    def squares(w):
        return (weights * (target - fills @ w) ** 2).sum()

    np.testing.assert_allclose(simplex_weights(fills, target, weights), slsqp(squares), atol=1e-5)

    def pulled(at):
        size = squares(at) / weights.sum()
        return slsqp(lambda w: squares(w) + 20 * size * ((w - SAFE) ** 2).sum())

    found = weights_towards(SAFE, 20, fills, target, weights)
    np.testing.assert_allclose(found, pulled(pulled(SAFE)), atol=1e-5)


def test_few_errors_move_weights_little_and_many_as_far_as_they_should():
    def moved(m):
        """Return how far weights go, as a share of how far they would go freely."""
        tries = [parts(m, seed) for seed in range(20)]
        free = sum(np.abs(simplex_weights(*each) - SAFE).sum() for each in tries)
        return sum(np.abs(weights_towards(SAFE, 20, *each) - SAFE).sum() for each in tries) / free

    assert moved(10) < 0.7
    assert moved(20_000) > 0.99
