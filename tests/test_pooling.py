"""Rubin's rules against numbers worked out by hand and another program."""

import numpy as np
import pytest
from scipy import stats

from inldl import pool


def test_by_hand():
    found = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    assert found.estimate == 5
    assert found.within == 2
    assert found.between == 1
    assert found.total == pytest.approx(2 + 4 / 3)
    assert found.missing_share == pytest.approx(0.4)
    assert found.df == pytest.approx(2 / 0.4**2)
    low, high = found.interval(0.9)
    reach = stats.t.ppf(0.95, 12.5) * np.sqrt(10 / 3)
    assert (low, high) == (pytest.approx(5 - reach), pytest.approx(5 + reach))


def test_degrees_of_freedom_of_barnard_and_rubin_by_hand():
    # lambda = 0.4; old: 12.5; observed: 10 * 11 / 13 * 0.6; 1 / (1/12.5 + 1/5.0769)
    found = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], complete_df=10)
    assert found.df == pytest.approx(3.610503, abs=1e-5)
    assert pool([1.0, 1.0], [1.0, 1.0], complete_df=10).df == pytest.approx(110 / 13)


def test_coefficients_are_pooled_one_by_one():
    rng = np.random.default_rng(0)
    q, u = rng.normal(size=(5, 2, 3)), rng.uniform(1, 2, size=(5, 2, 3))
    found = pool(q, u, complete_df=30)
    for at in np.ndindex(2, 3):
        one = pool(q[:, *at], u[:, *at], complete_df=30)
        for name in ("estimate", "within", "between", "total", "df", "error", "missing_share"):
            assert getattr(found, name)[at] == pytest.approx(float(getattr(one, name)))
        np.testing.assert_allclose([end[at] for end in found.interval()], one.interval())


@pytest.mark.slow
def test_statsmodels_agrees():
    """Its chained equations, pooled by its own code, from the analyses that it kept."""
    mice = pytest.importorskip("statsmodels.imputation.mice")
    import pandas as pd
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["x", "z"])
    data["y"] = data.x + data.z + rng.normal(size=80)
    data.loc[::4, "x"] = np.nan
    np.random.seed(0)  # noqa: NPY002 - it has no generator of its own
    theirs = mice.MICE("y ~ x + z", sm.OLS, mice.MICEData(data))
    result = theirs.fit(n_burnin=1, n_imputations=5)
    variances = [np.diag(each.cov_params()) for each in theirs.results_list]
    ours = pool([each.params for each in theirs.results_list], variances)
    np.testing.assert_allclose(ours.estimate, result.params)
    np.testing.assert_allclose(ours.total, np.diag(result.cov_params()))
    np.testing.assert_allclose(ours.missing_share, result.frac_miss_info)


def test_intervals_of_the_table_itself_need_no_variances():
    found = pool([[1.0, 3.0], [2.0, 3.0], [3.0, 3.0]])
    np.testing.assert_allclose(found.total, [4 / 3, 0])
    assert found.df[0] == 2
    low, high = found.interval()
    assert high[0] - 2 == pytest.approx(stats.t.ppf(0.975, 2) * np.sqrt(4 / 3))
    assert low[1] == high[1] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0],), "at least two completed tables"),
        (([1.0, 2.0], [1.0]), "one variance for each estimate"),
        (([1.0, 2.0], [1.0, -1.0]), "squares of standard errors"),
        (([1.0, np.nan],), "estimates must be finite"),
        ((1.0,), "estimates must be finite"),
    ],
)
def test_what_cannot_be_pooled_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pool(*arguments)


def test_degrees_of_freedom_without_variances_are_refused():
    with pytest.raises(ValueError, match="complete_df is of use with variances only"):
        pool([1.0, 2.0], complete_df=10)
    with pytest.raises(ValueError, match="coverage must be a number"):
        pool([1.0, 2.0]).interval(1.5)
