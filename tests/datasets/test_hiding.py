import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from inldl.datasets import MECHANISMS, hide, make_distributions
from inldl.datasets._hiding import _scale

EVERY = pytest.mark.parametrize("mechanism", list(MECHANISMS))
RATES = (0.1, 0.5, 0.9)


@pytest.fixture
def y():
    return np.random.default_rng(7).dirichlet(np.full(8, 0.7), size=2000)


@pytest.fixture
def holey(y):
    y = y.copy()
    y[np.random.default_rng(8).random(y.shape) < 0.3] = np.nan
    return y


# Every mechanism


@EVERY
@given(data=st.data(), rate=st.floats(0, 1, exclude_max=True), seed=st.integers(0, 2**32))
def test_never_reveals_and_never_changes_a_kept_degree(mechanism, data, rate, seed):
    shape = data.draw(array_shapes(min_dims=2, max_dims=2, max_side=9))
    degree = st.floats(0, 1, width=32) | st.just(np.nan)
    y = data.draw(arrays(data.draw(st.sampled_from([np.float32, np.float64])), shape,
                         elements=degree))  # fmt: skip
    before = y.copy()
    out = hide(y, rate, mechanism=mechanism, random_state=seed)
    kept = ~np.isnan(out)
    assert out.shape == y.shape
    assert out.dtype == y.dtype
    assert not np.any(kept & np.isnan(y))
    np.testing.assert_array_equal(out[kept], y[kept])
    np.testing.assert_array_equal(y, before)
    assert not np.shares_memory(out, y)


@EVERY
def test_rate_zero_hides_nothing(mechanism, holey):
    out = hide(holey, 0, mechanism=mechanism)
    np.testing.assert_array_equal(out, holey)
    assert not np.shares_memory(out, holey)


@EVERY
def test_random_state_decides(mechanism, y):
    y = y.round(1)  # chance decides between equal degrees, for each mechanism

    def run(random_state):
        return hide(y, 0.5, mechanism=mechanism, random_state=random_state)

    np.testing.assert_array_equal(run(3), run(3))
    np.testing.assert_array_equal(run(3), run(np.random.default_rng(3)))
    assert not np.array_equal(run(3), run(4), equal_nan=True)
    assert not np.array_equal(run(None), run(None), equal_nan=True)
    rng = np.random.default_rng(3)
    assert not np.array_equal(run(rng), run(rng), equal_nan=True)


@EVERY
def test_global_generator_is_left_alone(mechanism, y):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    hide(y, 0.5, mechanism=mechanism)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@EVERY
def test_pandas_in_pandas_out(mechanism, holey):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(holey, index=np.arange(len(holey))[::-1], columns=list("abcdefgh"))
    before = frame.copy()
    out = hide(frame, 0.5, mechanism=mechanism, random_state=0)
    expected = hide(holey, 0.5, mechanism=mechanism, random_state=0)
    pd.testing.assert_frame_equal(
        out, pd.DataFrame(expected, index=frame.index, columns=frame.columns)
    )
    pd.testing.assert_frame_equal(frame, before)


def test_polars_in_polars_out(holey):
    pl = pytest.importorskip("polars")
    out = hide(pl.DataFrame(holey, schema=list("abcdefgh")), 0.5, random_state=0)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == list("abcdefgh")
    np.testing.assert_array_equal(out.to_numpy(), hide(holey, 0.5, random_state=0))


def test_lists_integers_and_masked_arrays_become_float64():
    assert hide([[0, 1], [1, 0]], 0.5, random_state=0).dtype == np.float64
    masked = np.ma.masked_array([[0.25, 0.75]], mask=[[True, False]])
    np.testing.assert_array_equal(hide(masked, 0), [[np.nan, 0.75]])


@EVERY
def test_without_an_observed_degree_there_is_nothing_to_do(mechanism):
    empty = np.full((3, 4), np.nan)
    np.testing.assert_array_equal(hide(empty, 0.5, mechanism=mechanism), empty)


# One by one


@pytest.mark.parametrize("rate", RATES)
def test_uniform_is_the_rule_of_the_reference_splits(y, rate):
    expected = y.copy()
    expected[np.random.default_rng(11).random((2000, 8)) < rate] = np.nan
    np.testing.assert_array_equal(hide(y, rate, random_state=11), expected)


def test_uniform_continues_a_generator(y):
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    rng.permutation(2000)
    twin.permutation(2000)
    hidden = np.isnan(hide(y, 0.5, random_state=rng))
    np.testing.assert_array_equal(hidden, ~(twin.random(y.shape) >= 0.5))


@pytest.mark.parametrize("mechanism", ["uniform", "small"])
@pytest.mark.parametrize("rate", RATES)
def test_share_hidden_is_the_rate(holey, mechanism, rate):
    observed = ~np.isnan(holey)
    hidden = np.isnan(hide(holey, rate, mechanism=mechanism, random_state=0))[observed]
    # The variance of a sum of independent draws is the largest when all have probability `rate`.
    assert abs(hidden.mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / hidden.size)


@pytest.mark.parametrize("rate", RATES)
def test_small_hides_small_degrees(y, rate):
    hidden = np.isnan(hide(y, rate, mechanism="small", random_state=0))
    assert y[hidden].mean() < 0.95 * y.mean() < y.mean() < y[~hidden].mean()
    share = [part.mean() for part in np.array_split(hidden.ravel()[np.argsort(y, axis=None)], 5)]
    assert share == sorted(share, reverse=True)


def test_small_hides_a_zero_twice_as_often_as_an_average_degree():
    y = np.repeat([[0.0, 0.25, 0.75, 0.0]], 100_000, axis=0)
    share = np.isnan(hide(y, 0.25, mechanism="small", random_state=0)).mean(axis=0)
    weight = np.array([1, 1 / 2, 1 / 4, 1])
    np.testing.assert_allclose(share, weight / weight.sum(), atol=0.006)


def test_small_uses_float32_degrees_without_loss():
    _, y = make_distributions(400, random_state=0)
    y = y.astype(np.float32)
    single, double = (
        hide(v, 0.5, mechanism="small", random_state=1) for v in (y, y.astype(float))
    )
    np.testing.assert_array_equal(single, double)


@given(
    weight=arrays(float, st.integers(1, 30), elements=st.floats(1e-3, 1)),
    rate=st.floats(0, 0.999),
)
def test_scale_gives_the_mean_probability(weight, rate):
    c = _scale(weight, rate)
    assert c >= 0
    assert np.minimum(1, c * weight).mean() == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize(
    ("n_labels", "rate", "kept"),
    [(6, 0.5, 3), (5, 0.5, 3), (7, 0.5, 3), (6, 0.1, 5), (6, 0.05, 6), (6, 0.9, 1), (6, 0.99, 1),
     (2, 0.9, 1), (1, 0.9, 1), (10, 0.3, 7), (10, 0.7, 3)],
)  # fmt: skip
def test_keep_keeps_the_same_number_in_each_row(n_labels, rate, kept):
    y = np.full((50, n_labels), 1 / n_labels)
    out = hide(y, rate, mechanism="keep", random_state=0)
    np.testing.assert_array_equal((~np.isnan(out)).sum(axis=1), kept)


def test_keep_chooses_each_label_equally_often():
    out = hide(np.full((40_000, 4), 0.25), 0.75, mechanism="keep", random_state=0)
    np.testing.assert_allclose((~np.isnan(out)).mean(axis=0), 0.25, atol=0.01)


def test_keep_chooses_among_the_observed(holey):
    out = hide(holey, 0.5, mechanism="keep", random_state=0)
    there = (~np.isnan(holey)).sum(axis=1)
    assert there.min() < 4
    np.testing.assert_array_equal((~np.isnan(out)).sum(axis=1), np.minimum(there, 4))


def test_top_keeps_the_largest(holey):
    out = hide(holey, 0.5, mechanism="top")
    there, kept = (~np.isnan(holey)).sum(axis=1), ~np.isnan(out)
    np.testing.assert_array_equal(kept.sum(axis=1), np.minimum(there, 4))
    lost = np.where(kept, -1, np.nan_to_num(holey, nan=-1)).max(axis=1)
    assert (np.where(kept, holey, 2).min(axis=1) >= lost).all()


def test_top_leaves_equal_degrees_to_chance():
    out = hide(np.full((40_000, 4), 0.25), 0.75, mechanism="top", random_state=0)
    np.testing.assert_allclose((~np.isnan(out)).mean(axis=0), 0.25, atol=0.01)


@pytest.mark.parametrize(
    ("n", "rate", "lost"),
    [(10, 0.3, 3), (7, 0.5, 4), (5, 0.5, 2), (3, 0.1, 0), (2000, 0.9, 1800)],
)
def test_rows_loses_exactly_so_many(n, rate, lost):
    hidden = np.isnan(hide(np.full((n, 3), 1 / 3), rate, mechanism="rows", random_state=0))
    np.testing.assert_array_equal(hidden.all(axis=1), hidden.any(axis=1))
    assert hidden.all(axis=1).sum() == lost


def test_a_mechanism_of_ones_own(monkeypatch):
    monkeypatch.setitem(MECHANISMS, "first", lambda y, rate, rng: np.arange(y.shape[1]) > 0)
    np.testing.assert_array_equal(hide([[0.4, 0.6]], 0.5, mechanism="first"), [[np.nan, 0.6]])


# What is refused


@pytest.mark.parametrize("rate", [1, 1.0, -0.1, 50, np.nan, np.inf])
def test_refuses_rates_outside(rate, y):
    with pytest.raises(ValueError, match="rate must be at least 0 and below 1, got"):
        hide(y, rate)


@pytest.mark.parametrize("mechanism", ["Uniform", "", None, []])
def test_refuses_unknown_mechanisms(mechanism, y):
    with pytest.raises(ValueError, match=r"mechanism must be one of 'uniform', 'small'.* got"):
        hide(y, 0.5, mechanism=mechanism)


@pytest.mark.parametrize("y", [np.ones(3), np.ones((2, 2, 2))])
def test_refuses_what_is_not_2d(y):
    with pytest.raises(ValueError, match="y must be 2-D"):
        hide(y, 0.5)


def test_refuses_legacy_generators(y):
    twice = [hide(y, 0.5, random_state=np.random.RandomState(0)) for _ in range(2)]
    np.testing.assert_array_equal(*twice)
    with pytest.raises(TypeError):
        hide(y, 0.5, random_state="seven")


class TestRenormalised:
    """What is left of each row is divided by its sum."""

    def test_ratios_stay_and_rows_sum_to_1(self):
        y = np.random.default_rng(0).dirichlet(np.ones(5), 50)
        plain = hide(y, 0.5, random_state=1)
        found = hide(y, 0.5, random_state=1, renormalise=True)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(plain))
        sums = np.nansum(plain, axis=1, keepdims=True)
        np.testing.assert_allclose(found * sums, plain, atol=1e-15)
        known = ~np.isnan(found).all(axis=1)
        np.testing.assert_allclose(np.nansum(found[known], axis=1), 1)

    def test_nothing_but_zeros_stays_zero(self):
        y = np.array([[0.0, 0.0, 1.0]] * 30)
        found = hide(y, 0.5, random_state=0, renormalise=True)
        assert set(found[~np.isnan(found)]) == {0.0, 1.0}
