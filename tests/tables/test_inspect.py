"""Looking at a table: numbers against direct formulas, the test of random holes by simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inldl.datasets import hide, load_budget_shares, make_distributions
from inldl.tables import TableFile
from inldl.tables.features import find_dependence
from inldl.tables.findings import estimate_hidden_means, size_test
from inldl.tables.inspect import inspect_file, inspect_table

NAN = np.nan


@pytest.fixture(scope="module")
def budget():
    return load_budget_shares(return_X_y=True, as_frame=True)


def frame(**columns):
    return pd.DataFrame(columns)


def a_table(y, **columns):
    """Return features that say nothing, those given, and degrees with names."""
    y = np.asarray(y, dtype=float)
    return frame(x=np.arange(len(y)) ** 1.5, **columns), pd.DataFrame(
        y, columns=[f"d{j}" for j in range(y.shape[1])]
    )


# Counting


def test_counts_of_a_small_table():
    X, y = a_table([[0.2, 0.3, 0.5], [0.0, NAN, NAN], [0.4, NAN, NAN], [NAN, NAN, NAN]])
    found = inspect_table(X, y)
    assert (found.n_rows, found.n_features, found.labels) == (4, 1, ["d0", "d1", "d2"])
    assert found.missing == pytest.approx(7 / 12)
    label = found.by_label.set_index("label")
    assert label["observed"].tolist() == [3, 1, 1]
    assert label["missing"].tolist() == [0.25, 0.75, 0.75]
    np.testing.assert_allclose(label["mean"], [0.2, 0.3, 0.5])
    assert label.loc["d0", ["smallest", "largest"]].tolist() == [0, 0.4]
    np.testing.assert_allclose(label["zeros"], [1 / 3, 0, 0])
    assert found.by_row["rows"].tolist() == [1, 0, 2, 1]
    assert found.patterns["hidden"].tolist()[0] == ("d1", "d2")
    assert found.patterns["rows"].tolist() == [2, 1, 1]


@pytest.mark.parametrize("n_labels", [3, 64, 65, 130])
def test_patterns_equal_those_counted_by_hand(n_labels):
    rng = np.random.default_rng(0)
    holes = rng.random((12, n_labels)) < 0.5
    y = np.where(np.repeat(holes, np.arange(1, 13), axis=0), NAN, 1 / n_labels)
    X, y = a_table(y)
    patterns = inspect_table(X, y).patterns
    expected = y.isna().value_counts().head(10)
    assert patterns["rows"].tolist() == expected.tolist()
    for hidden, rows in zip(patterns["hidden"], patterns["rows"], strict=True):
        same = y.isna().eq(y.columns.isin(hidden)).all(axis=1)
        assert same.sum() == rows


# Rows that cannot be


def test_impossible_rows_are_counted_once_and_named():
    X, y = a_table(
        [[0.5, 0.5, 0], [-0.1, 1.5, 0.1], [1.2, NAN, NAN], [0.7, 0.7, NAN], [0.5, 0.4, 0],
         [NAN, NAN, NAN], [np.inf, 0, 0], [0.5, NAN, 0.5 + 1e-9]]
    )  # fmt: skip
    found = inspect_table(X, y, where=lambda row: f"Line {row + 2}")
    assert [(p.what, p.n_rows, p.severe, p.examples) for p in found.problems] == [
        ("a share below 0", 1, True, ("Line 3 (share -0.1)",)),
        ("a share above 1", 2, True, ("Line 4 (share 1.2)", "Line 8 (share inf)")),
        ("known shares that sum to more than 1", 1, True, ("Line 5 (sum 1.4)",)),
        ("a sum other than 1", 1, True, ("Line 6 (sum 0.9)",)),
        ("no known share", 1, False, ("Line 7",)),
    ]
    first = "Rows with a share below 0 (1 of 8): Line 3 (share -0.1);"
    assert found.findings[0].startswith(first)
    assert "Rows with a sum other than 1 (1 of 8): Line 6 (sum 0.9)" in found.findings[3]


def test_impossible_rows_do_not_change_the_test(budget):
    X, y = budget
    y = hide(y, 0.3, random_state=0)
    worse = y.copy()
    worse.iloc[:30] = np.tile([[NAN, 50, 1, 1, 1, 1]], (30, 1))
    assert inspect_table(X, worse).size == inspect_table(X[30:], y[30:]).size


def test_many_examples_are_cut():
    X, y = a_table(np.full((9, 2), 0.6))
    found = inspect_table(X, y)
    assert found.problems[0].n_rows == 9
    assert found.problems[0].examples == tuple(f"Row {i} (sum 1.2)" for i in range(5))
    assert "Row 4 (sum 1.2), ...;" in found.findings[0]


# Whether missing is random


def bootstrap(y, times, seed):
    """Return the statistic as it is defined, row by row, for resampled rows."""
    y = y[~np.isnan(y).all(axis=1)]
    rows = np.random.default_rng(seed).integers(0, len(y), (times, len(y)))
    return np.array([statistic(y[chosen]) for chosen in rows])


def statistic(y):
    partial = np.isnan(y).any(axis=1)
    means, hidden = np.nanmean(y, axis=0), 1 - np.nansum(y[partial], axis=1)
    expected = (np.isnan(y[partial]) * means).sum(axis=1)
    return (hidden - expected).mean()


def test_size_statistic_is_hidden_minus_expected_mass_and_its_error_that_of_a_bootstrap(budget):
    y = hide(budget[1].to_numpy(), 0.4, random_state=1)
    found = size_test(y, list("abcdef"))
    assert found.hidden - found.expected == pytest.approx(statistic(y), abs=1e-6)  # 4 decimals
    error = (found.upper - found.lower) / 2 / stats.t.ppf(0.975, 300)
    assert error == pytest.approx(bootstrap(y, 1000, 0).std(), rel=0.08)


@pytest.mark.parametrize(
    ("mechanism", "rate"), [("uniform", 0.2), ("uniform", 0.7), ("keep", 0.5)]
)
def test_random_holes_are_called_random_as_often_as_promised(mechanism, rate):
    # 300 tables each: a p value below 0.05 in 15 of them, with a standard deviation of 4.
    p_values, of_labels = [], []
    for seed in range(300):
        _, y = make_distributions(200, random_state=seed)
        holes = hide(y, rate, mechanism=mechanism, random_state=seed)
        p_values.append(size_test(holes, list("abc")).p_value)
        of_labels.append(np.nanmin(estimate_hidden_means(holes)[1]))
    assert 3 <= np.sum(np.array(p_values) < 0.05) <= 28
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    assert np.sum(np.array(of_labels) < 0.05) <= 28


def test_rates_that_differ_and_holes_that_come_together_are_still_random(budget):
    rng, y = np.random.default_rng(0), budget[1].to_numpy()
    p_values = []
    for _ in range(100):
        together = rng.random((len(y), 1)) < 0.5
        holes = (rng.random(y.shape) < np.linspace(0.05, 0.9, 6)) & together
        p_values.append(size_test(np.where(holes, NAN, y), list("abcdef")).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_small_degrees_that_are_missing_are_seen(budget):
    X, y = budget
    for seed in range(5):
        found = inspect_table(X, hide(y, 0.3, mechanism="small", random_state=seed))
        assert found.size.answer == "small"
        assert found.size.p_value < 1e-6
        assert found.size.upper < 0
    assert found.size.verdict.startswith("Small shares are missing more often: the missing shares")
    assert any(finding.startswith(found.size.verdict) for finding in found.findings)


def test_features_that_may_be_the_cause_are_pointed_at():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = np.exp(np.column_stack([2 * x, 0 * x, 0 * x]) + rng.normal(size=(2000, 3)))
    y /= y.sum(axis=1, keepdims=True)
    y[(x < 0) & (rng.random(2000) < 0.8), 0] = NAN
    y[rng.random(2000) < 0.3, 1] = NAN
    found = inspect_table(frame(x=x), y)
    assert found.size.answer == "small"
    assert found.findings[0].endswith("may be the cause; see below.")
    assert "'label 0' is missing less often where 'x' is larger" in found.findings[1]


def test_large_degrees_that_are_missing_are_seen(budget):
    X, y = budget
    found = inspect_table(X, y.mask(y > 0.3))
    assert found.size.answer == "large"
    assert found.size.verdict.startswith("Large shares are missing more often")


def test_means_of_hidden_degrees_are_near_the_truth(budget):
    y = budget[1].to_numpy()
    holes = hide(y, 0.4, mechanism="small", random_state=0)
    found, p_values = estimate_hidden_means(holes)
    hidden = np.array([y[np.isnan(h), j].mean() for j, h in enumerate(holes.T)])
    seen = np.nanmean(holes, axis=0)
    assert (np.abs(found - hidden) < 0.7 * np.abs(seen - hidden)).all()
    assert (p_values < 0.01).sum() >= 4


def test_a_single_hole_is_known_so_the_mean_of_hidden_degrees_is_exact():
    y = np.random.default_rng(0).dirichlet([1, 2, 3], 60)
    holes = y.copy()
    holes[np.arange(60), np.arange(60) % 3] = NAN
    found, _ = estimate_hidden_means(holes)
    np.testing.assert_allclose(found, [y[j::3, j].mean() for j in range(3)])


def test_labels_that_are_always_hidden_together_are_not_told_apart():
    y = np.random.default_rng(0).dirichlet([1, 2, 3], 60)
    y[:30, :2] = NAN
    found, p_values = estimate_hidden_means(y)
    assert np.isnan(found).all()
    assert np.isnan(p_values).all()


def test_one_label_that_hides_by_size_is_found_though_another_balances_it(budget):
    X, y = budget
    food, other = y["food"], y["other"]
    hidden = y.assign(food=food.mask(food > 0.45), other=other.mask(other < other.quantile(0.15)))
    shares = hidden.isna().mean()
    assert shares["food"] == pytest.approx(shares["other"], abs=0.1)
    by_label = inspect_table(X, hidden).by_label.set_index("label")
    assert by_label.loc["food", "hidden_mean"] > by_label.loc["food", "mean"]
    assert by_label.loc["other", "hidden_mean"] < by_label.loc["other", "mean"]
    assert (by_label.loc[["food", "other"], "hidden_p"] < 1e-6).all()


@pytest.mark.parametrize(
    ("y", "answer", "words"),
    [
        ([[0.5, 0.5], [0.2, 0.8]], "complete", "No share is missing."),
        ([[0.5, 0.5], [0.2, 0.8], [NAN, NAN]], "rows", "either complete or empty"),
        ([[0.5, 0.5], [0.2, NAN], [0.3, NAN]], "unknown", "'d1' is observed less than twice"),
        (
            [[0.5, 0.5], [1, NAN], [NAN, 1], [1, NAN]],
            "zeros",
            "in 100% of the rows",
        ),
        ([[0.9, 0.1], [0.2, 0.8], [0.1, NAN], [NAN, 0.5]], "few", "Too few rows to tell"),
    ],
)
def test_what_cannot_be_told(y, answer, words):
    size = inspect_table(*a_table(y)).size
    assert size.answer == answer
    assert words in size.verdict


# Whether missing depends on features


def test_correlations_equal_those_of_scipy():
    rng = np.random.default_rng(0)
    number, word = rng.normal(size=300), rng.choice(["A", "B"], 300)
    y = rng.dirichlet([1, 1, 1], 300)
    y[(number + rng.normal(size=300) > 0.5), 0] = NAN
    y[rng.random(300) < 0.3, 1] = NAN
    X = frame(number=number, word=word)
    found = inspect_table(X, pd.DataFrame(y, columns=["a", "b", "c"])).dependence
    assert len(found) == 6  # two labels with holes; a number and two words
    for row in found.itertuples():
        x = number if row.value == "larger" else word == row.value.strip("'")
        rank = stats.spearmanr(x, np.isnan(y[:, "ab".index(row.label)]))
        assert row.correlation == pytest.approx(rank.statistic)
        assert row.p_value == pytest.approx(min(1, rank.pvalue * 6))


def test_a_feature_that_decides_is_named():
    rng = np.random.default_rng(0)
    X = frame(age=rng.normal(size=500), noise=rng.normal(size=500), gap=np.ones(500))
    X.loc[rng.random(500) < 0.3, "gap"] = NAN
    y = pd.DataFrame(rng.dirichlet([1, 1, 1], 500), columns=["a", "b", "c"])
    y["a"] = y["a"].mask(X["age"] > 0.5)
    y["b"] = y["b"].mask(X["gap"].isna())
    findings = " ".join(inspect_table(X, y).findings)
    assert "'a' is missing more often where 'age' is larger (rank correlation 0.8" in findings
    assert "'b' is missing more often where 'gap' is missing (rank correlation 1.00)" in findings
    assert "noise" not in findings


def test_features_without_influence_are_rarely_named():
    named = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        columns = {name: pd.Series(rng.standard_cauchy(100)) for name in "abc"}
        columns["rare"] = pd.Series(rng.choice(["x", "y"], 100, p=[0.04, 0.96]))
        y = np.where(rng.random((100, 4)) < 0.2, NAN, 0.25)
        named += bool((find_dependence(columns, y, list("efgh"))["p_value"] < 0.05).any())
    assert named <= 13  # 5 are expected, with a standard deviation of 2


# Features


def test_kinds_and_remarks_of_features():
    n, rng = 100, np.random.default_rng(0)
    y = pd.DataFrame(rng.dirichlet([1, 1, 1], n), columns=["a", "b", "c"])
    X = frame(
        number=rng.normal(size=n),
        word=rng.choice(["u", "v"], n),
        day=pd.date_range("2020-01-01", periods=n),
        nothing=np.full(n, NAN),
        one=np.ones(n),
        id=[f"k{i}" for i in range(n)],
        rare=np.where(np.arange(n) < 3, np.arange(n) + 0.5, NAN),
        leak=3 - 2 * y["b"],
        levels=[f"w{i % 60}" for i in range(n)],
    )
    X["again"] = X["word"]
    found = inspect_table(X, y)
    features = found.features.set_index("column")
    kinds = [
        "number",
        "text",
        "date",
        "empty",
        "constant",
        "id",
        "number",
        "number",
        "text",
        "text",
    ]
    assert features["kind"].tolist() == kinds
    assert features.loc["rare", ["holes", "distinct"]].tolist() == [0.97, 3]
    assert features.loc["rare", "remark"] == "is empty in 97.0% of the rows"
    assert features.loc["again", "remark"] == "is identical to 'word'"
    assert features.loc["levels", "remark"] == ""
    assert features.loc["one", "remark"].startswith("is left out: ")
    assert features.loc["day", ["remark", "usable"]].tolist() == ["", True]
    assert found.copies == {"leak": ("b", pytest.approx(-1))}
    assert found.findings[0].startswith("Column 'leak' is a linear copy of the label 'b'")


def test_a_copy_is_seen_through_holes_but_not_in_a_handful_of_rows():
    rng = np.random.default_rng(0)
    y = rng.dirichlet([1, 1, 1], 50)
    X = frame(copy=np.where(rng.random(50) < 0.5, NAN, y[:, 1]), few=np.r_[y[:9, 0], [NAN] * 41])
    holes = hide(y, 0.3, random_state=0)
    holes[7] = [70, 80, 90]  # a wrong row hides no copy
    assert list(inspect_table(X, holes).copies) == ["copy"]


@pytest.mark.parametrize(
    "dtype", ["float32", "int8", "bool", "category", "str", "Float64", "object"]
)
def test_columns_of_any_dtype(dtype):
    X = frame(x=pd.Series([0, 1, 1, 0, 1, 0] * 5).astype(dtype))
    found = inspect_table(X, np.full((30, 2), 0.5))
    assert found.features["distinct"].tolist() == [2]
    assert found.features["holes"].tolist() == [0]


def test_a_large_table_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr("inldl.tables.inspect.CORRELATED_CELLS", 2000)
    rng = np.random.default_rng(0)
    X = frame(x=rng.normal(size=3000), z=rng.normal(size=3000))
    y = np.where(X[["x"]] > 0, NAN, [[0.5, 0.5]])
    found = inspect_table(X, y)
    assert found.notes == ["Correlations come from a random sample of 1,000 rows."]
    assert "where 'x' is larger" in " ".join(found.findings)


# Anything


@given(
    st.lists(
        st.lists(
            st.sampled_from([NAN, 0.0, 0.2, 0.5, 0.8, 1.0, -1.0, 7.0, np.inf, -np.inf]),
            min_size=3,
            max_size=3,
        ),
        min_size=1,
        max_size=12,
    ),
    st.data(),
)
def test_no_degrees_whatever_make_it_stumble(rows, data):
    X, y = a_table(rows, odd=[data.draw(st.sampled_from([None, "a", "b"])) for _ in rows])
    found = inspect_table(X, y)
    assert found.by_row["rows"].sum() == len(rows)
    assert sum(p.n_rows for p in found.problems) <= len(rows)
    assert all(finding.endswith(".") for finding in found.findings)


def test_what_it_refuses():
    X, y = a_table([[0.5, 0.5], [0.2, 0.8]])
    with pytest.raises(ValueError, match="X has 1 rows and y has 2"):
        inspect_table(X[:1], y)
    with pytest.raises(ValueError, match="nothing to look at"):
        inspect_table(X[:0], y[:0])


def test_the_limit_of_a_p_value_is_told_beside_it(budget):
    found = inspect_table(budget[0], hide(budget[1], 0.3, random_state=0)).size
    assert found.answer == "random"
    limit = f"(p = {found.p_value:.2g}; below 0.01 would count against it)"
    assert found.verdict.startswith(f"Shares seem to be missing at random {limit}: ")


def test_a_table_of_percentages_is_described_in_percent(budget):
    X, y = budget
    y = hide(y, 0.3, mechanism="small", random_state=0)
    y.iloc[0] = 0.5
    fraction, percent = (inspect_table(X, y, scale=scale) for scale in ("fraction", "percent"))
    assert (fraction.unit, percent.unit) == ("", "percent")
    for name in ("mean", "smallest", "largest", "hidden_mean"):
        np.testing.assert_allclose(percent.by_label[name], 100 * fraction.by_label[name])
    for name in ("missing", "zeros", "hidden_p"):
        np.testing.assert_array_equal(percent.by_label[name], fraction.by_label[name])
    assert percent.size.answer == fraction.size.answer == "small"
    assert percent.size.expected == pytest.approx(100 * fraction.size.expected)
    assert f"sum to {percent.size.hidden:.1f}% on average" in percent.size.verdict
    assert percent.findings[0].startswith("Rows with a sum other than 100 (1 of")
    assert percent.problems[0].examples == ("Row 0 (sum 300)",)


def test_a_cell_that_is_refused_is_found_in_its_line():
    X, y = a_table([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    X = X.assign(a=[1.0, np.inf, 2])
    remarks = [
        inspect_table(X, y, where).features.set_index("column").loc["a", "remark"]
        for where in (None, lambda row: f"Line {row + 2}")
    ]
    places = "row 1 (counted from 0)", "line 3"
    advice = "give a finite one or leave the cell empty"
    assert remarks == [f"holds an infinite number in {place}; {advice}" for place in places]


@pytest.mark.parametrize(
    ("rate", "which"),
    [(0.5, "3 largest shares of each row seem"), (0.9, "largest share of each row seems")],
)
def test_only_the_largest_are_recorded(rate, which):
    y = np.random.default_rng(0).dirichlet([3.0, 3.0, 2.0, 2.0, 2.0, 2.0], 200)
    found = inspect_table(pd.DataFrame({"x": range(200)}), hide(y, rate, mechanism="top"))
    assert found.size.answer == "largest"
    assert found.findings[0].startswith(f"Only the {which} to be recorded. Small shares are")
    assert "nothing above the smallest recorded share" in found.findings[0]


def test_sums_that_are_all_short_are_said_in_one_way(tmp_path):
    rows = "".join(f"{x},{20.5 + x},{72 - x / 2}\n" for x in range(8))
    (tmp_path / "t.csv").write_text("x,a,b\n" + rows)
    found, _, notes = inspect_file(TableFile(tmp_path / "t.csv", "a,b"))
    assert notes[0] == (
        "The shares are read as percentages: complete rows sum to 92.5 to 96, near 100, so a "
        "label may be missing (--other)."
    )
    assert "(8 of 8)" in found.findings[0]
    assert "is a label missing from --labels? Else correct the numbers" in found.findings[0]
