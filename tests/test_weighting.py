"""The schemes by their formulas, the paper's principles, and schemes of one's own."""

import numpy as np
import pytest

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.weighting import SCHEMES, check_principles, get_weighting

FORMULAS = {
    "degree": (lambda d: 2 ** (1 - d), lambda m, a: a ** (1 - m)),
    "linear": (lambda d: 1 - d, lambda m, a: 1 - m),
    "uniform": (lambda d: 1 + 0 * d, lambda m, a: 0 * m),
    "proportional": (lambda d: d, lambda m, a: m),
    "exponential": (lambda d: 2**d, lambda m, a: a**m),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name):
    degrees, means = np.linspace(0, 1, 12).reshape(3, 4), np.linspace(0, 1, 4)
    observed, unobserved = FORMULAS[name]
    scheme = get_weighting(name)
    np.testing.assert_allclose(scheme.observed(degrees), observed(degrees))
    np.testing.assert_allclose(scheme.unobserved(means, 0.3), unobserved(means, 1.3))


def test_random_weights_are_uniform_numbers_that_can_be_drawn_again():
    scheme, degrees = get_weighting("random"), np.random.default_rng(0).random((2000, 3))
    weights = scheme.observed(degrees)
    np.testing.assert_array_equal(weights, scheme.observed(degrees))
    assert abs(weights.mean() - 0.5) < 0.02
    assert (np.abs(weights - scheme.observed(degrees[::-1])) > 0).all()
    assert np.isnan(scheme.unobserved(np.ones(3), 0.5)).all()


def test_missing_degrees_keep_a_weight_of_their_own():
    """NaN from `unobserved` means the entry's weight: the same as if it were written there."""

    class Own:
        def observed(self, degrees):
            return np.full_like(degrees, 0.7)

        def unobserved(self, means, progress):
            return np.full_like(means, np.nan)

    class Told(Own):
        def unobserved(self, means, progress):
            return np.full_like(means, 0.7)

    X, y = make_distributions(100, random_state=0)
    y = hide(y, 0.5, random_state=0)
    own, told = WInLDL(weighting=Own()).fit(X, y), WInLDL(weighting=Told()).fit(X, y)
    np.testing.assert_allclose(own.coef_, told.coef_, rtol=0, atol=1e-14)
    assert np.abs(own.coef_ - WInLDL().fit(X, y).coef_).max() > 1e-4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("degree", (True, True, True)),
        ("linear", (True, False, False)),
        ("uniform", (False, True, False)),
        ("proportional", (False, False, False)),
        ("exponential", (False, True, True)),
        ("random", (False, False, False)),
    ],
)
def test_principles(name, expected):
    found = check_principles(name)
    assert (
        found.small_degrees_weigh_more,
        found.observed_above_missing,
        found.missing_grow,
    ) == expected
    assert bool(found) == all(expected)


def test_every_scheme_has_a_verdict_and_a_fit():
    X, y = make_distributions(60, random_state=0)
    y = hide(y, 0.4, random_state=0)
    for name in SCHEMES:
        P = WInLDL(weighting=name).fit(X, y).predict(X)
        np.testing.assert_allclose(P.sum(axis=1), 1)
