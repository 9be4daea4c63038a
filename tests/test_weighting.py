"""The schemes by their formulas, the paper's principles, and schemes of one's own."""

import numpy as np
import pytest

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.weighting import (
    LEARNED_SCHEMES,
    SCHEMES,
    AutoWeighting,
    PropensityWeighting,
    check_principles,
    get_weighting,
)

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


# --- weights that are learned from the sums of rows ---------------------------------------------


def selected(power, n=4000, seed=0):
    """Return features, true degrees, and what is observed of them with a chance (.02 + d)^power.

    The degrees vary around a linear function of the features, and the labels differ in size.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    means = np.exp(0.3 * X @ rng.normal(size=(4, 5)) + [0.0, 0.5, 0.0, -0.5, 0.3])
    truth = rng.gamma(4 * means / means.sum(axis=1, keepdims=True))
    truth /= truth.sum(axis=1, keepdims=True)
    chance = (0.02 + truth) ** power
    seen = rng.random(truth.shape) < 0.9 * chance / chance.max()
    return X, truth, np.where(seen, truth, np.nan), chance


@pytest.mark.parametrize("power", [0.4, 0.8, 1.2])
def test_the_power_of_the_chances_is_found(power):
    _, _, y, _ = selected(power)
    scheme = get_weighting("propensity", y)
    assert scheme.power == pytest.approx(power, abs=0.06)
    seen = ~np.isnan(y)
    assert (scheme.observed(y)[seen] ** 2).mean() == pytest.approx(1)
    assert (scheme.unobserved(np.ones(5), 0.5) == 0).all()


def test_weighted_risks_of_selected_degrees_are_those_of_all():
    """For a fixed prediction, the mean loss over observed degrees with weights 1 / chance."""
    _, truth, y, _ = selected(0.8)
    losses, seen = (truth - truth.mean(axis=0)) ** 2, ~np.isnan(y)
    squares = get_weighting("propensity", y).observed(np.where(seen, y, 0)) ** 2
    whole, plain = losses.mean(), losses[seen].mean()
    weighted = (losses * squares)[seen].sum() / squares[seen].sum()
    assert abs(weighted - whole) < 0.03 * whole
    assert abs(plain - whole) > 0.25 * whole


@pytest.mark.parametrize("power", [0.5, 0.8])
def test_predictions_are_those_that_all_degrees_would_give(power):
    X, truth, y, _ = selected(power)
    whole = WInLDL(weighting="uniform", ridge="auto").fit(X, truth).predict(X)
    apart = {
        name: np.abs(WInLDL(weighting=name, ridge="auto").fit(X, y).predict(X) - whole).mean()
        for name in ("uniform", "propensity")
    }
    assert apart["propensity"] < 0.6 * apart["uniform"]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_weighted_where_holes_are_random_or_all_but_the_largest(seed):
    X, truth, *_ = selected(0, n=400, seed=seed)
    for mechanism in ("uniform", "top"):
        y = hide(truth, 0.5, mechanism=mechanism, random_state=seed)
        assert get_weighting("propensity", y).power == 0
    assert get_weighting("propensity", selected(-0.5)[2]).power == 0  # large ones are missing
    plain, learned = (WInLDL(weighting=w).fit(X, y).predict(X) for w in ("uniform", "propensity"))
    np.testing.assert_array_equal(plain, learned)


def test_a_metric_of_relative_errors_adds_to_the_power():
    _, _, y, _ = selected(0.5, n=500)
    found = get_weighting("propensity", y).power
    assert get_weighting("auto", y).power == found
    assert get_weighting("auto(metric=clark)", y).power == found + 1
    assert get_weighting(AutoWeighting(metric="canberra"), y).power == found + 1
    assert isinstance(get_weighting(PropensityWeighting(offset=0.1), y), PropensityWeighting)
    for wrong in ("auto(metrik=clark)", "degree(base=3)"):
        with pytest.raises(ValueError, match="cannot be made"):
            get_weighting(wrong, y)
    with pytest.raises(ValueError, match=r"metric must be .*'clark'"):
        get_weighting("auto(metric=clarc)", y)


def test_a_strong_selection_has_a_limit():
    _, _, y, _ = selected(4)
    assert get_weighting("propensity", y).power == 2


@pytest.mark.parametrize("name", LEARNED_SCHEMES)
def test_without_sums_of_rows_learned_weights_are_refused(name):
    X, y = make_distributions(40, random_state=0)
    with pytest.raises(ValueError, match="learns from the sums of the rows"):
        get_weighting(name)
    ratios = hide(y, 0.3, renormalise=True, random_state=0)
    with pytest.raises(ValueError, match=r"in memory and known=.degrees."):
        WInLDL(weighting=name, known="ratios").fit(X, ratios)
