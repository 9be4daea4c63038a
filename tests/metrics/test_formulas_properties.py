"""Properties that hold for any rows."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inldl.metrics import METRICS, Pair

RANGES = {
    "cosine": (0, 1),
    "intersection": (0, 1),
    "chebyshev": (0, 1),
    "clark": (0, "sqrt C"),
    "canberra": (0, "C"),
    "kl_divergence": (0, -math.log(1e-6)),
    "jensen_shannon": (0, math.log(2)),
    "euclidean": (0, math.sqrt(2)),
    "aitchison": (0, "ratios"),
    "mae": (0, 1),
    "sorensen": (0, 1),
    "squared_chi2": (0, 2),
    "fidelity": (0, 1),
    "spearman": (-1, 1),
    "kendall": (-1, 1),
}
RANKED = ("spearman", "kendall")


def assert_close(name, actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14, err_msg=name)


@st.composite
def pairs(draw, *, positive=False):
    """Draw two tables of distributions; whole numbers make zeros and ties likely."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 6)))
    sizes = st.integers(1 if positive else 0, 5).map(float) | st.floats(1e-3, 1)
    tables = [draw(arrays(np.float64, shape, elements=sizes)) for _ in range(2)]
    assume(all((t.sum(axis=1) > 0).all() for t in tables))
    return [t / t.sum(axis=1, keepdims=True) for t in tables]


@st.composite
def pairs_with_holes(draw):
    p, q = draw(pairs())
    return p, q, draw(arrays(np.bool_, p.shape))


def test_the_ranges_name_every_metric():
    assert list(RANGES) == list(METRICS)


@given(pair=pairs(positive=True))
def test_an_exact_prediction_gives_the_perfect_value(pair):
    p, _ = pair
    constant = (p == p[:, :1]).all(axis=1)
    for name, metric in METRICS.items():
        values = metric.function.per_row(p, p)
        expected = np.where(constant & (name in RANKED), np.nan, metric.perfect)
        assert_close(name, values, expected)


@given(pair=pairs())
def test_values_stay_in_their_range(pair):
    p, q = pair
    limits = {"C": p.shape[1], "sqrt C": math.sqrt(p.shape[1])}
    limits["ratios"] = -math.log(1e-6) * limits["sqrt C"]
    for name, (low, high) in RANGES.items():
        values = METRICS[name].function.per_row(p, q)
        values = values[~np.isnan(values)]
        # Floored predictions sum to slightly more than 1, so that KL may fall below 0.
        slack = 1e-5 if name == "kl_divergence" else 1e-12
        assert (values >= low - slack).all(), name
        assert (values <= limits.get(high, high) + 1e-12).all(), name


@given(pair=pairs(positive=True))
def test_truth_and_prediction_can_be_exchanged_except_in_kl(pair):
    p, q = pair
    for name in METRICS.keys() - {"kl_divergence"}:
        function = METRICS[name].function
        assert_close(name, function.per_row(p, q), function.per_row(q, p))


@given(pair=pairs(positive=True), data=st.data())
def test_aitchison_is_about_ratios(pair, data):
    """Scaling each label of both tables by its own factor changes nothing; equal rows are at 0."""
    factors = data.draw(arrays(np.float64, pair[0].shape[1], elements=st.floats(0.1, 10)))
    moved = [rows * factors / (rows @ factors)[:, None] for rows in pair]
    distance = METRICS["aitchison"].function.per_row
    np.testing.assert_allclose(distance(*moved), distance(*pair), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(distance(moved[0], moved[0]), 0)


def test_kl_is_not_symmetric():
    p, q = [[0.9, 0.1]], [[0.5, 0.5]]
    function = METRICS["kl_divergence"].function
    assert abs(function(p, q) - function(q, p)) > 0.1


@given(drawn=pairs_with_holes(), data=st.data())
def test_the_order_of_labels_does_not_matter(drawn, data):
    p, q, hidden = drawn
    p = np.where(hidden, np.nan, p)
    order = data.draw(st.permutations(range(p.shape[1])))
    for name, metric in METRICS.items():
        moved = metric.function.per_row(p[:, order], q[:, order])
        assert_close(name, moved, metric.function.per_row(p, q))


@given(drawn=pairs_with_holes())
def test_a_hole_acts_as_if_the_label_were_not_there(drawn):
    p, q, hidden = drawn
    for name, metric in METRICS.items():
        values = metric.function.per_row(np.where(hidden, np.nan, p), q)
        expected = [_without_holes(metric, *row) for row in zip(p, q, ~hidden, strict=True)]
        assert_close(name, values, expected)


def _without_holes(metric, p, q, seen):
    if not seen.any():
        return np.nan
    part = Pair(p[None, seen], q[None, seen], seen[None, seen])
    return metric.formula(part).item()


@given(drawn=pairs_with_holes(), fill=st.sampled_from([0.0, -7.0, 1e6, np.inf, np.nan]))
def test_what_lies_under_a_mask_never_matters(drawn, fill):
    p, q, hidden = drawn
    masked = np.ma.MaskedArray(np.where(hidden, fill, p), mask=hidden)
    holes = np.where(hidden, np.nan, p)
    for name, metric in METRICS.items():
        np.testing.assert_array_equal(
            metric.function.per_row(masked, q),
            metric.function.per_row(holes, q),
            err_msg=name,
        )
