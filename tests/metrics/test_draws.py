"""Scores of draws against closed forms, each other and sums over all pairs."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.spatial.distance import cdist, pdist

from inldl.metrics import crps, energy_score, log_score

RNG = np.random.default_rng(0)
TRUTH = RNG.dirichlet([4.0, 2.0, 1.0], 8)
DRAWS = RNG.dirichlet([4.0, 2.0, 1.0], (6, 8))
HOLES = np.where(RNG.random(TRUTH.shape) < 0.4, np.nan, TRUTH)
HOLES[0] = np.nan

tables = arrays(np.float64, (4, 3, 2), elements=st.floats(0, 1))


@pytest.mark.parametrize("at", [-1.0, 0.0, 0.3, 2.5])
def test_crps_of_normal_draws_is_that_of_the_normal_distribution(at):
    """Gneiting and Raftery 2007, equation 21."""
    found = crps(np.full((2000, 1), at), RNG.normal(size=(100, 2000, 1)))
    z = stats.norm
    closed = at * (2 * z.cdf(at) - 1) + 2 * z.pdf(at) - 1 / math.sqrt(math.pi)
    assert found == pytest.approx(closed, abs=0.01)


def test_the_expected_score_does_not_depend_on_the_number_of_draws():
    """With 1 / m^2 in place of 1 / (m (m - 1)), two draws of a normal would score 0.28 more."""
    y = np.zeros((20_000, 1))
    closed = (math.sqrt(2) - 1) / math.sqrt(math.pi)
    for n_draws in (2, 5):
        draws = RNG.normal(size=(n_draws, *y.shape))
        assert crps(y, draws) == pytest.approx(closed, abs=0.02)


@pytest.mark.parametrize("y", [TRUTH, HOLES], ids=["complete", "holes"])
def test_scores_are_sums_over_all_pairs(y):
    """Take each cell, and each row, by itself, and the distances from SciPy."""

    def score(truth, drawn):
        return cdist([truth], drawn).mean() - pdist(drawn).mean() / 2

    seen = ~np.isnan(y)
    cells = [score([y[at]], DRAWS[:, *at][:, None]) for at in zip(*np.nonzero(seen), strict=True)]
    assert crps(y, DRAWS) == pytest.approx(np.mean(cells))
    rows = [score(y[i, s], DRAWS[:, i, s]) for i, s in enumerate(seen) if s.any()]
    assert energy_score(y, DRAWS) == pytest.approx(np.mean(rows))


@given(draws=tables)
def test_the_energy_score_of_one_label_is_the_crps(draws):
    one = draws[..., :1]
    assert energy_score(one[0], one[1:]) == pytest.approx(crps(one[0], one[1:]), abs=1e-12)


@given(draws=tables)
def test_draws_that_agree_have_their_error(draws):
    truth, same = draws[0], np.stack([draws[1]] * 3)
    assert crps(truth, same) == pytest.approx(np.abs(truth - draws[1]).mean(), abs=1e-12)
    distances = np.linalg.norm(truth - draws[1], axis=1)
    assert energy_score(truth, same) == pytest.approx(distances.mean(), abs=1e-12)
    assert crps(truth, draws[[0, 0]]) == energy_score(truth, draws[[0, 0]]) == 0


def test_the_true_distribution_scores_best():
    y = RNG.dirichlet([4.0, 2.0, 1.0], 3000)
    sizes = [4, 2, 1], [40, 20, 10], [2, 2, 2]
    true, narrow, shifted = (RNG.dirichlet(size, (10, 3000)) for size in sizes)
    for score in (crps, energy_score, lambda y, d: crps(y, d, log=True)):
        assert score(y, true) < min(score(y, narrow), score(y, shifted))


def test_the_energy_score_sees_labels_that_go_together():
    """Both labels are drawn from their own distribution, but as if they were unrelated."""
    both = RNG.normal(size=(12, 2000, 1))
    y, together = np.repeat(both[0], 2, axis=1), np.repeat(both[1:], 2, axis=2)
    apart = np.concatenate([both[1:], RNG.permuted(both[1:], axis=1)], axis=2)
    assert energy_score(y, together) < energy_score(y, apart) - 0.02
    assert crps(y, together) == pytest.approx(crps(y, apart), abs=0.01)


def test_logarithms():
    assert crps(HOLES, DRAWS, log=True) == pytest.approx(crps(np.log(HOLES), np.log(DRAWS)))
    zeros = np.zeros((3, 1, 1))
    assert crps([[1e-6]], zeros, log=True) == crps([[0.0]], zeros, log=True) == 0
    assert crps([[0.01]], zeros, log=True) == pytest.approx(math.log(1e4))


def test_frames_and_masked_arrays_are_tables():
    frames = [pd.DataFrame(table, columns=list("abc")) for table in DRAWS]
    masked = np.ma.MaskedArray(np.where(np.isnan(HOLES), 1e6, HOLES), mask=np.isnan(HOLES))
    for score in (crps, energy_score):
        assert score(pd.DataFrame(HOLES), frames) == score(masked, DRAWS) == score(HOLES, DRAWS)


def test_nothing_to_judge():
    nothing = np.full_like(TRUTH, np.nan)
    assert math.isnan(crps(nothing, DRAWS))
    assert math.isnan(energy_score(nothing, DRAWS))


@pytest.mark.parametrize("score", [crps, energy_score])
@pytest.mark.parametrize(
    ("draws", "words"),
    [
        (DRAWS[:1], "two or more"),
        (DRAWS[:, :3], r"shape \(3, 3\), but y has \(8, 3\)"),
        (np.stack([HOLES] * 2), "draws hold NaN"),
        (DRAWS[0], "draws must be 2-D"),
    ],
)
def test_what_are_no_draws_is_refused(score, draws, words):
    with pytest.raises(ValueError, match=words):
        score(TRUTH, draws)


def test_the_log_score_is_that_of_dirichlet_distributions():
    concentration = RNG.gamma(3.0, size=TRUTH.shape)
    pairs = list(zip(TRUTH, concentration, strict=True))
    own = [-stats.dirichlet.logpdf(y, a) for y, a in pairs]
    assert log_score(TRUTH, concentration) == pytest.approx(np.mean(own))
    weights = np.arange(len(TRUTH))
    found = log_score(TRUTH, concentration, sample_weight=weights)
    assert found == pytest.approx(np.average(own, weights=weights))
    alone = np.where(np.arange(3) == 1, TRUTH, np.nan)
    own = [-stats.beta.logpdf(y[1], a[1], a[0] + a[2]) for y, a in pairs]
    assert log_score(alone, concentration) == pytest.approx(np.mean(own))
    assert math.isnan(log_score(np.full((1, 3), np.nan), [[1, 1, 1]]))
    assert math.isfinite(log_score([[0.0, 0.4, 0.6]], [[0.1, 1, 1]]))
    with pytest.raises(ValueError, match=r"positive numbers of the shape \(8, 3\) of y"):
        log_score(TRUTH, -concentration)


@pytest.mark.parametrize("score", [crps, energy_score])
def test_a_weight_is_as_good_as_copies(score):
    weights = np.array([0, 1, 2, 3, 0, 1, 1, 2])
    copies = np.repeat(np.arange(8), weights)
    found = score(HOLES, DRAWS, sample_weight=weights)
    assert found == pytest.approx(score(HOLES[copies], DRAWS[:, copies]))
