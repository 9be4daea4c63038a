"""How errors grow with the steps to what is known."""

import numpy as np
import pytest

from inldl.uncertainty.conformal import STEEPEST, WALK, Growth


@pytest.mark.parametrize("power", [0.0, 0.5, 1.3])
def test_the_power_of_growth_is_found(power):
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 9, 4000).astype(float)
    growth = Growth(steps[:, None], np.abs(rng.normal(size=4000)) * steps**power)
    assert growth.power == pytest.approx(power, abs=0.07)
    assert growth(np.array([[1.0], [4.0]])) == pytest.approx([1, 4**growth.power])
    assert (growth.expected == growth(steps[:, None])).all()


def test_growth_has_limits():
    steps = np.repeat([1.0, 2.0], 50)[:, None]
    assert Growth(steps, steps[:, 0] ** 9).power == STEEPEST
    assert Growth(steps, 1 / steps[:, 0]).power == 0
    assert Growth(steps[:50], np.ones(50)).power == WALK  # nothing tells it
    assert np.isfinite(Growth(steps, np.zeros(100)).power)
