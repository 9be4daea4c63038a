"""The statistics against scipy, scikit-posthocs, and a published worked example."""

import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs as posthocs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from inldl_paper.experiments.statistics import (
    _groups,
    _holm,
    friedman,
    mean_ranks,
    nemenyi,
    ranks,
    wilcoxon_holm,
    wins_ties_losses,
)

TREES = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["plain", "m", "cf", "m+cf"],
)
"""AUC of four decision trees on 14 data sets: Demšar, JMLR 7 (2006), table 6.

The 0.9751 is printed as 0.975, but with rank 2, and the 0.975 beside it with rank 3.
"""


@st.composite
def tables(draw, min_methods=3, distinct=False):
    """Draw whole scores, so that ties are common and no rounding blurs them."""
    shape = draw(st.tuples(st.integers(2, 8), st.integers(min_methods, 5)))
    values = draw(arrays(np.int64, shape, elements=st.integers(-4, 4)))
    if distinct:
        values = values * shape[1] + np.arange(shape[1])
    return pd.DataFrame(values, columns=list("ABCDE"[: shape[1]]))


def random_scores(n, k, seed=0):
    values = np.random.default_rng(seed).normal(np.arange(k) / 2, 1, size=(n, k))
    return pd.DataFrame(values, columns=[f"method {j}" for j in range(k)])


class TestPublishedExample:
    def test_mean_ranks(self):
        assert mean_ranks(TREES, True).round(3).tolist() == [3.143, 2.000, 2.893, 1.964]

    def test_friedman_without_the_correction_for_ties_is_the_printed_number(self):
        result = friedman(TREES, True)
        printed = result.statistic * result.tie_correction
        assert printed == pytest.approx(9.28, abs=0.005)
        assert 13 * printed / (14 * 3 - printed) == pytest.approx(3.69, abs=0.005)

    def test_friedman_with_the_correction_is_larger_and_that_of_scipy(self):
        result = friedman(TREES, True)
        expected = stats.friedmanchisquare(*TREES.to_numpy().T)
        assert (result.statistic, result.p_value) == pytest.approx(tuple(expected), rel=1e-12)
        # Two methods tie on three data sets and four on one: (t^3 - t) is 3*6 + 60, of 14*60.
        assert result.tie_correction == pytest.approx(1 - 78 / 840, rel=1e-12)

    @pytest.mark.parametrize(("alpha", "q", "printed"), [(0.10, 2.291, 1.12), (0.05, 2.569, 1.25)])
    def test_critical_difference(self, alpha, q, printed):
        difference = nemenyi(TREES, True, alpha).critical_difference
        assert difference == pytest.approx(q * math.sqrt(4 * 5 / (6 * 14)), rel=3e-4)
        assert difference == pytest.approx(printed, abs=0.005)

    def test_groups_at_both_levels(self):
        # At .10 both methods with m differ from the plain one (3.143 - 2.000 > 1.12).
        assert nemenyi(TREES, True, 0.10).groups == (("m+cf", "m", "cf"), ("cf", "plain"))
        assert nemenyi(TREES, True, 0.05).groups == (("m+cf", "m", "cf", "plain"),)

    def test_signed_ranks_of_the_first_two_trees(self):
        # The printed sums are 93 and 12; they split the ranks 1 and 2 of two zero differences.
        # Without these the other 12 ranks drop by 2 each: 7 and 3.5 become 5 and 1.5.
        row = wilcoxon_holm(TREES, True, reference="m").loc[("m", "plain")]
        assert (row["better"], row["statistic"]) == ("m", 6.5)
        printed = stats.wilcoxon(TREES["m"] - TREES["plain"], zero_method="zsplit")
        assert printed.statistic == 12


class TestPaper:
    @pytest.fixture
    def printed(self, shared):
        tables = json.loads((shared / "reference" / "paper_tables.json").read_text())

        def means(metric):
            rows = {
                name: {m: v[0] for m, v in row.items()} for name, row in tables[metric].items()
            }
            return pd.DataFrame(rows).T

        return means

    @pytest.mark.parametrize(
        ("metric", "higher", "rank", "firsts", "record"),
        [("cosine", True, 1.4, 8, (56, 0, 4)), ("clark", False, 1.1, 9, (59, 0, 1))],
    )
    def test_what_the_text_says_of_its_tables(self, printed, metric, higher, rank, firsts, record):
        # For cosine the text counts 57 wins of 60, but its own mean rank of 1.4 on ten datasets
        # leaves 10 * (1.4 - 1) = 4 losses, and so does its table.
        scores = printed(metric)
        assert mean_ranks(scores, higher)["WInLDL"] == pytest.approx(rank, rel=1e-12)
        assert (ranks(scores, higher)["WInLDL"] == 1).sum() == firsts
        totals = wins_ties_losses(scores, higher).groupby(level="method").sum()
        assert tuple(totals.loc["WInLDL"]) == record


class TestRanks:
    @given(scores=tables(min_methods=1))
    def test_scipy_ranks_the_same(self, scores):
        expected = stats.rankdata(-scores.to_numpy(), axis=1)
        np.testing.assert_array_equal(ranks(scores, True), expected)
        np.testing.assert_array_equal(ranks(-scores, False), expected)

    @given(scores=tables(min_methods=1))
    def test_each_row_shares_out_the_same_sum(self, scores):
        k = scores.shape[1]
        assert (ranks(scores, True).sum(axis=1) == k * (k + 1) / 2).all()
        assert mean_ranks(scores, False).sum() == pytest.approx(k * (k + 1) / 2)

    def test_names_of_problems_and_methods_stay(self):
        index = pd.MultiIndex.from_tuples([("Movie", 0.5), ("Gene", 0.9)])
        scores = pd.DataFrame({"A": [1, 2], "B": [2, 1]}, index=index)
        assert ranks(scores, False).index.equals(index)
        assert mean_ranks(scores, False).to_dict() == {"A": 1.5, "B": 1.5}


class TestWinsTiesLosses:
    @given(scores=tables(min_methods=1), tolerance=st.integers(0, 3))
    def test_a_win_is_the_loss_of_the_other(self, scores, tolerance):
        table = wins_ties_losses(scores, True, tolerance)
        assert len(table) == scores.shape[1] * (scores.shape[1] - 1)
        assert (table.sum(axis=1) == len(scores)).all()
        for a, b in table.index:
            assert tuple(table.loc[(a, b)]) == tuple(table.loc[(b, a)])[::-1]
            assert table.loc[(a, b), "wins"] == (scores[a] - scores[b] > tolerance).sum()

    @given(scores=tables())
    def test_mean_ranks_follow_from_the_totals(self, scores):
        totals = wins_ties_losses(scores, False).groupby(level="method").sum()
        expected = 1 + (totals["losses"] + totals["ties"] / 2) / len(scores)
        pd.testing.assert_series_equal(
            mean_ranks(scores, False), expected, check_names=False, rtol=1e-12
        )

    def test_the_tolerance_itself_is_a_tie(self):
        scores = pd.DataFrame({"A": [1.0, 1.0], "B": [0.5, 0.25]})
        assert wins_ties_losses(scores, True, 0.5).loc[("A", "B")].tolist() == [1, 1, 0]


class TestFriedman:
    @given(scores=tables())
    def test_f_is_that_of_a_two_way_analysis_of_variance_of_the_ranks(self, scores):
        ranked = ranks(scores, True).to_numpy()
        n, k = ranked.shape
        between = n * np.square(ranked.mean(axis=0) - (k + 1) / 2).sum()
        within = np.square(ranked - (k + 1) / 2).sum() - between
        assume(within > 1e-9)
        expected = between / (k - 1) / (within / ((k - 1) * (n - 1)))
        result = friedman(scores, True)
        assert result.f_statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert result.f_p_value == pytest.approx(
            stats.f.sf(expected, k - 1, (k - 1) * (n - 1)), abs=1e-9
        )

    @given(scores=tables(distinct=True))
    def test_without_ties_it_is_the_textbook_formula(self, scores):
        n, k = scores.shape
        squares = np.square(mean_ranks(scores, True)).sum()
        expected = 12 * n / (k * (k + 1)) * (squares - k * (k + 1) ** 2 / 4)
        result = friedman(scores, True)
        assert result.statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert result.tie_correction == pytest.approx(1, rel=1e-12)

    @pytest.mark.parametrize("n", [2, 7, 53])  # at 53 rounding leaves a denominator of 1e-13
    def test_perfect_agreement_has_an_infinite_f(self, n):
        result = friedman(pd.DataFrame([[3, 2, 1, 0]] * n), True)
        assert result.statistic == pytest.approx(3 * n)
        assert (result.f_statistic, result.f_p_value) == (math.inf, 0)

    def test_ties_everywhere_are_no_evidence(self):
        result = friedman(pd.DataFrame(np.ones((5, 3))), True)
        assert (result.statistic, result.p_value) == (0, 1)
        assert (result.f_statistic, result.f_p_value) == (0, 1)


class TestNemenyi:
    @pytest.mark.parametrize(("n", "k"), [(14, 4), (60, 7), (5, 2), (600, 10)])
    def test_p_values_are_those_of_scikit_posthocs(self, n, k):
        scores = random_scores(n, k)
        expected = posthocs.posthoc_nemenyi_friedman(scores)
        p_values = nemenyi(scores, True).p_values
        assert list(p_values.columns) == list(p_values.index) == list(scores.columns)
        np.testing.assert_allclose(p_values, expected, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize(("n", "k", "alpha"), [(14, 4, 0.05), (60, 7, 0.01), (30, 3, 0.1)])
    def test_groups_are_the_largest_sets_without_a_significant_pair(self, n, k, alpha):
        result = nemenyi(random_scores(n, k, seed=k), True, alpha)
        quiet = [
            set(methods)
            for size in range(2, k + 1)
            for methods in itertools.combinations(result.mean_ranks.index, size)
            if all(
                result.p_values.loc[a, b] > alpha for a, b in itertools.combinations(methods, 2)
            )
        ]
        largest = {frozenset(g) for g in quiet if not any(g < other for other in quiet)}
        assert {frozenset(g) for g in result.groups} == largest
        assert len(result.groups) == len(largest)

    def test_a_method_alone_has_no_bar_and_the_critical_difference_itself_separates(self):
        means = pd.Series({"A": 1.0, "D": 9.0, "B": 2.0, "C": 2.5})
        assert _groups(means, 1.0) == (("B", "C"),)
        assert _groups(means, 1.25) == (("A", "B"), ("B", "C"))
        assert _groups(means, 0.5) == ()

    @given(order=st.permutations(range(4)))
    def test_the_order_of_methods_does_not_matter(self, order):
        result, other = (nemenyi(t, True, 0.10) for t in (TREES, TREES.iloc[:, order]))
        reordered = other.p_values.loc[TREES.columns, TREES.columns]
        pd.testing.assert_frame_equal(reordered, result.p_values)
        assert other.groups == result.groups


class TestOrderOfMethods:
    @given(scores=tables(), data=st.data())
    def test_it_changes_nothing_but_the_order(self, scores, data):
        other = scores[data.draw(st.permutations(list(scores.columns)))]
        pd.testing.assert_frame_equal(ranks(other, True)[scores.columns], ranks(scores, True))
        a, b = friedman(other, True), friedman(scores, True)
        assert a.statistic == pytest.approx(b.statistic, rel=1e-9, abs=1e-9)
        counts = wins_ties_losses(scores, True)
        pd.testing.assert_frame_equal(wins_ties_losses(other, True).loc[counts.index], counts)


class TestMonotoneTransformations:
    @given(scores=tables())
    def test_ranks_and_what_follows_from_them_do_not_change(self, scores):
        cubed = 2 * scores**3 + 1
        pd.testing.assert_frame_equal(ranks(cubed, True), ranks(scores, True))
        pd.testing.assert_frame_equal(ranks(-cubed, False), ranks(scores, True))
        a, b = friedman(cubed, True), friedman(scores, True)
        assert (a.statistic, a.f_statistic) == (b.statistic, b.f_statistic)
        pd.testing.assert_frame_equal(
            wins_ties_losses(cubed, True), wins_ties_losses(scores, True)
        )


class TestWilcoxonHolm:
    @pytest.mark.parametrize(("n", "k"), [(10, 7), (60, 4), (25, 3)])
    def test_all_pairs_are_those_of_scikit_posthocs(self, n, k):
        scores = random_scores(n, k)
        melted = scores.melt(var_name="method", value_name="score")
        table = wilcoxon_holm(scores, True)
        assert len(table) == k * (k - 1) // 2
        for column, adjust in (("p_value", None), ("p_holm", "holm")):
            expected = posthocs.posthoc_wilcoxon(melted, "score", "method", p_adjust=adjust)
            ours = [table.loc[pair, column] for pair in table.index]
            np.testing.assert_allclose(ours, [expected.loc[pair] for pair in table.index])

    @settings(max_examples=20)
    @given(scores=tables(min_methods=2))
    def test_each_pair_is_scipy_and_symmetric(self, scores):
        higher, lower = wilcoxon_holm(scores, True), wilcoxon_holm(-scores, False)
        pd.testing.assert_frame_equal(higher, lower)
        for a, b in higher.index:
            difference = scores[a] - scores[b]
            row = higher.loc[(a, b)]
            if (difference == 0).all():
                assert (row["better"], row["statistic"], row["p_value"]) == (None, 0, 1)
                continue
            expected = stats.wilcoxon(difference.to_numpy(float))
            assert (row["statistic"], row["p_value"]) == pytest.approx(tuple(expected), rel=1e-9)

    @given(p=st.lists(st.floats(0, 1), min_size=1, max_size=8), alpha=st.floats(0.01, 0.5))
    def test_holm_rejects_what_his_steps_reject(self, p, alpha):
        rejected, m = set(), len(p)
        for step, i in enumerate(sorted(range(m), key=p.__getitem__)):
            if p[i] * (m - step) > alpha:
                break
            rejected.add(i)
        assert set(np.flatnonzero(_holm(np.array(p)) <= alpha)) == rejected

    def test_a_reference_is_compared_with_each_other_method(self):
        scores = random_scores(20, 4)
        table = wilcoxon_holm(scores, True, reference="method 2")
        pairs = [("method 2", f"method {j}") for j in (0, 1, 3)]
        assert list(table.index) == pairs
        assert table.index.names == ["method", "opponent"]
        raw = np.array([stats.wilcoxon(scores[a], scores[b]).pvalue for a, b in pairs])
        np.testing.assert_allclose(table["p_value"], raw)
        # Three tests count, not the six of all pairs.
        stepped = [max(p * (raw >= p).sum() for p in raw[raw <= mine]) for mine in raw]
        np.testing.assert_allclose(table["p_holm"], np.minimum(stepped, 1))

    def test_the_better_method_follows_the_direction(self):
        scores = pd.DataFrame({"A": np.arange(8.0), "B": np.arange(8.0) - 1 - np.arange(8) / 100})
        assert wilcoxon_holm(scores, True)["better"].tolist() == ["A"]
        assert wilcoxon_holm(scores, False)["better"].tolist() == ["B"]
        assert wilcoxon_holm(scores, True)["significant"].tolist() == [True]
        (p_value,) = wilcoxon_holm(scores, True)["p_holm"]
        for alpha, significant in ((p_value, True), (0.99 * p_value, False)):
            table = wilcoxon_holm(scores, True, alpha=alpha)
            assert table["significant"].tolist() == [significant]

    def test_differences_that_tie_on_paper_tie_here(self):
        a, b = np.array([0.2, 0.2, 0.5]), np.array([0.1, 0.3, 0.1])
        exact = stats.wilcoxon([1, -1, 4])
        row = wilcoxon_holm(pd.DataFrame({"A": a, "B": b}), True).iloc[0]
        assert (row["statistic"], row["p_value"]) == pytest.approx(tuple(exact))
        assert stats.wilcoxon(a - b).statistic != exact.statistic

    def test_equal_methods_have_p_value_1(self):
        table = wilcoxon_holm(pd.DataFrame({"A": [0.0, 0.0], "B": [0.0, 0.0]}), True)
        assert table[["p_value", "p_holm"]].to_numpy().tolist() == [[1, 1]]
        assert not table["significant"].any()


GOOD = pd.DataFrame({"A": [1.0, 2.0], "B": [2.0, 3.0], "C": [0.0, 1.0]}, index=["Movie", "Gene"])
EVERY = [ranks, mean_ranks, wins_ties_losses, friedman, nemenyi, wilcoxon_holm]


class TestRefusals:
    @pytest.mark.parametrize("function", EVERY)
    @pytest.mark.parametrize(
        ("scores", "words"),
        [
            (
                GOOD.replace(3.0, np.nan),
                "scores has nan for method 'B' on problem 'Gene': drop that method or that "
                "problem.",
            ),
            (GOOD.replace(3.0, np.inf), "scores has inf for method 'B' on problem 'Gene'"),
            (GOOD.astype("Float64").replace(3.0, pd.NA), "scores has nan for method 'B'"),
            (GOOD.rename_axis("data").reset_index(), "column 'data' of scores does not contain"),
            (GOOD.set_axis(["A", "B", "A"], axis=1), "scores has two columns named 'A'"),
            (GOOD.iloc[:0], "scores has shape (0, 3): give at least 1 problem and 1 method."),
        ],
    )
    def test_scores_that_cannot_be_compared(self, function, scores, words):
        with pytest.raises(ValueError, match=re.escape(words)):
            function(scores, True)

    @pytest.mark.parametrize("function", EVERY)
    def test_wrong_types(self, function):
        with pytest.raises(TypeError, match="must be a DataFrame of problems x methods, got list"):
            function([[1, 2]], True)
        with pytest.raises(TypeError, match="higher_is_better must be True or False, got 'lower'"):
            function(GOOD, "lower")

    def test_too_few_to_test(self):
        with pytest.raises(ValueError, match="friedman needs at least 3 methods, got 2: use"):
            friedman(GOOD[["A", "B"]], True)
        with pytest.raises(ValueError, match="friedman needs at least 2 problems, got 1"):
            friedman(GOOD[:1], True)
        for function in (nemenyi, wilcoxon_holm):
            with pytest.raises(ValueError, match="scores has only 1 method: add another"):
                function(GOOD[["A"]], True)

    @pytest.mark.parametrize("alpha", [0, 1, -0.1, "0.05", np.nan])
    @pytest.mark.parametrize("function", [nemenyi, wilcoxon_holm])
    def test_levels_outside_0_and_1(self, function, alpha):
        with pytest.raises(ValueError, match="alpha must be a number"):
            function(GOOD, True, alpha=alpha)

    def test_other_arguments(self):
        with pytest.raises(ValueError, match="reference 'Z' is not a method in scores; choose fr"):
            wilcoxon_holm(GOOD, True, reference="Z")
        with pytest.raises(ValueError, match="tolerance must be a number at least 0, got -1"):
            wins_ties_losses(GOOD, True, -1)
