"""Each measure against an independent computation, row by row on the observed entries."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance
from scipy.special import rel_entr

from inldl import metrics
from inldl.metrics import METRICS


def floor(q):
    return np.array([1e-6 if v == 0 else v for v in q])


def constant(v):
    return len(set(v.tolist())) < 2


def cosine_oracle(p, q):
    if not p.any():
        return math.nan
    return 1 - distance.cosine(p, q) if q.any() else 0.0


def rank_oracle(correlation):
    def oracle(p, q):
        return math.nan if constant(p) or constant(q) else correlation(p, q).statistic

    return oracle


def aitchison_oracle(p, q):
    """Compare the logarithms of all ratios of two degrees (Aitchison 1986), not centred ones."""
    if len(p) < 2:
        return math.nan
    p, q = (np.maximum(row, 1e-6) for row in (p, q))
    gaps = [math.log(p[i] / p[j] / (q[i] / q[j])) for i in range(len(p)) for j in range(i)]
    return math.sqrt(math.fsum(gap**2 for gap in gaps) / len(p))


ORACLES = {
    "cosine": cosine_oracle,
    "intersection": lambda p, q: math.fsum(map(min, p, q)),
    "chebyshev": distance.chebyshev,
    "clark": lambda p, q: math.sqrt(
        math.fsum(((a - b) / (a + b)) ** 2 for a, b in zip(p, floor(q), strict=True))
    ),
    "canberra": lambda p, q: distance.canberra(p, floor(q)),
    "kl_divergence": lambda p, q: math.fsum(rel_entr(p, floor(q))),
    "jensen_shannon": lambda p, q: (
        math.fsum(rel_entr(p, (p + q) / 2)) / 2 + math.fsum(rel_entr(q, (p + q) / 2)) / 2
    ),
    "euclidean": distance.euclidean,
    "aitchison": aitchison_oracle,
    "mae": lambda p, q: math.fsum(np.abs(p - q)) / len(p),
    "sorensen": lambda p, q: distance.braycurtis(p, q) if (p + q).any() else 0.0,
    "squared_chi2": lambda p, q: math.fsum(
        (a - b) ** 2 / (a + b) for a, b in zip(p, q, strict=True) if a + b > 0
    ),
    "fidelity": lambda p, q: math.fsum(math.sqrt(a * b) for a, b in zip(p, q, strict=True)),
    "spearman": rank_oracle(stats.spearmanr),
    "kendall": rank_oracle(stats.kendalltau),
}


def smooth_rows(rng):
    return rng.dirichlet(np.full(7, 0.5), 60), rng.dirichlet(np.ones(7), 60)


def tied_rows(rng):
    """Give rows with many zeros and many equal degrees."""
    return rng.multinomial(8, [1 / 7] * 7, 60) / 8, rng.multinomial(6, [1 / 7] * 7, 60) / 6


@pytest.mark.parametrize("hidden", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("rows", [smooth_rows, tied_rows])
@pytest.mark.parametrize("name", METRICS)
def test_each_row_equals_the_oracle_on_its_observed_entries(name, rows, hidden):
    rng = np.random.default_rng(3)
    p, q = rows(rng)
    p[rng.random(p.shape) < hidden] = np.nan
    seen = ~np.isnan(p)
    expected = [
        ORACLES[name](p[i, s], q[i, s]) if s.any() else math.nan for i, s in enumerate(seen)
    ]
    got = METRICS[name].function.per_row(p, q)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    mean = METRICS[name].function(p, q)
    assert isinstance(mean, float)
    assert mean == pytest.approx(np.nanmean(expected), rel=1e-10, abs=1e-12)


def test_divergences_equal_those_of_scipy_on_complete_rows():
    p, q = smooth_rows(np.random.default_rng(4))
    np.testing.assert_allclose(
        metrics.kl_divergence.per_row(p, q), stats.entropy(p, q, axis=1), rtol=1e-9
    )
    np.testing.assert_allclose(
        metrics.jensen_shannon.per_row(p, q),
        distance.jensenshannon(p, q, axis=1) ** 2,
        rtol=1e-9,
        atol=1e-14,
    )


def test_the_floor_of_predicted_zeros():
    p, q = [[0.75, 0.25, 0.0]], [[1.0, 0.0, 0.0]]
    missed = (0.25 - 1e-6) / (0.25 + 1e-6)
    kept = 0.25 / 1.75
    assert metrics.canberra(p, q) == pytest.approx(kept + missed + 1, rel=1e-14)
    assert metrics.clark(p, q) == pytest.approx(math.sqrt(kept**2 + missed**2 + 1), rel=1e-14)
    kl = 0.75 * math.log(0.75) + 0.25 * math.log(0.25 / 1e-6)
    assert metrics.kl_divergence(p, q) == pytest.approx(kl, rel=1e-14)


def test_the_floor_does_not_touch_small_positive_predictions():
    p, q = [[0.5, 0.5]], [[1 - 1e-9, 1e-9]]
    kl = 0.5 * math.log(0.5 / (1 - 1e-9)) + 0.5 * math.log(0.5 / 1e-9)
    assert metrics.kl_divergence(p, q) == pytest.approx(kl, rel=1e-12)


def test_a_true_zero_predicted_as_zero_costs_one_in_clark_and_canberra_only():
    y = [[0.5, 0.5, 0.0, 0.0]]
    assert metrics.canberra(y, y) == 2.0
    assert metrics.clark(y, y) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert metrics.kl_divergence(y, y) == 0.0
    assert metrics.squared_chi2(y, y) == 0.0


def test_zeros_have_a_logarithm_in_aitchison():
    y = [[0.5, 0.5, 0.0]]
    assert metrics.aitchison(y, y) == 0.0
    missed = metrics.aitchison(y, [[0.5, 0.25, 0.25]])
    gaps = np.array([0, math.log(2), math.log(1e-6 / 0.25)])
    assert missed == pytest.approx(math.sqrt(3) * gaps.std(), rel=1e-14)
    assert metrics.aitchison(y, [[0.5, 0.5 - 1e-9, 1e-9]]) < 1e-8
    assert math.isnan(metrics.aitchison([[0.5, np.nan, np.nan]], y))


def test_the_floor_is_not_applied_where_nothing_was_observed():
    p, q = [[0.5, np.nan, np.nan]], [[0.5, 0.5, 0.0]]
    assert metrics.canberra(p, q) == 0.0
    assert metrics.clark(p, q) == 0.0


def test_cosine_is_undefined_by_the_truth_alone():
    p = [[0.0, np.nan], [0.0, np.nan], [0.5, np.nan]]
    q = [[0.0, 1.0], [0.5, 0.5], [0.0, 1.0]]
    np.testing.assert_array_equal(metrics.cosine.per_row(p, q), [np.nan, np.nan, 0.0])


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_constant_rows_have_no_rank_correlation_and_are_left_out_of_the_mean(name):
    function = METRICS[name].function
    p = [[0.25] * 4, [0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]]
    q = [[0.1, 0.2, 0.3, 0.4], [0.25] * 4, [0.4, 0.3, 0.2, 0.1]]
    np.testing.assert_array_equal(function.per_row(p, q), [np.nan, np.nan, -1.0])
    assert function(p, q) == -1.0
    assert math.isnan(function(p[:2], q[:2]))


@pytest.mark.parametrize("name", METRICS)
def test_rows_without_an_observed_degree_are_left_out_of_the_mean(name):
    function = METRICS[name].function
    p = np.array([[0.5, 0.3, 0.2], [np.nan] * 3])
    q = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    values = function.per_row(p, q)
    assert values.shape == (2,)
    assert math.isnan(values[1])
    assert function(p, q) == values[0] == function(p[:1], q[:1])
    assert math.isnan(function(p[1:], q[1:]))


@pytest.mark.parametrize("tiny", [5e-324, 1e-200])
def test_the_smallest_degrees_neither_overflow_nor_vanish(tiny):
    p, q = [[tiny, tiny, np.nan]], [[tiny, 0.0, 1.0]]
    assert metrics.cosine(p, q) == pytest.approx(math.sqrt(0.5))
    assert metrics.sorensen(p, q) == pytest.approx(1 / 3)
    assert 0 <= metrics.jensen_shannon(p, q) <= 2 * tiny
    kl = metrics.kl_divergence([[1.0, 0.0]], [[tiny, 1.0]])
    assert kl == pytest.approx(-math.log(tiny))


def test_rounding_never_leaves_the_range():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(9), 2000)
    q = p * (1 + 1e-9 * rng.normal(size=p.shape))
    q /= q.sum(axis=1, keepdims=True)
    assert metrics.cosine.per_row(p, q).max() <= 1.0
    assert metrics.jensen_shannon.per_row(p, q).min() >= 0.0
