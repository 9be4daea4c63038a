"""What answers are worth: against simulated errors, exhaustive search, and by hand."""

from itertools import combinations

import numpy as np
import pytest

from inldl.completion.asking import (
    RowErrors,
    affordable,
    best_slopes,
    choose_questions,
    error_covariances,
    greedy_paths,
    worths,
)


def covariance(C, seed=0):
    """Return the covariance of some errors that sum to 0."""
    errors = np.random.default_rng(seed).normal(size=(2 * C, C)) * np.linspace(0.5, 1.5, C)
    errors -= errors.mean(axis=1, keepdims=True)
    return errors.T @ errors / len(errors)


def left_after(S, asked):
    """Return the expected squared error once some degrees are known."""
    asked = list(asked)
    inverse = np.linalg.pinv(S[np.ix_(asked, asked)], hermitian=True)
    return np.trace(S - S[:, asked] @ inverse @ S[asked])


def table_errors(spread, cov=None):
    spread = np.asarray(spread, dtype=float)
    C = spread.shape[1]
    return RowErrors(np.full(spread.shape, 1 / C), spread, covariance(C) if cov is None else cov)


def unrelated(C):
    return np.eye(C) - 1 / C


def test_worth_is_what_an_answer_takes_from_simulated_errors():
    S = covariance(5)
    errors = np.random.default_rng(1).multivariate_normal(np.zeros(5), S, 200_000)
    for j, worth in enumerate(worths(S[None])[0]):
        slope = (
            errors.T @ errors[:, j] / (errors[:, j] @ errors[:, j])
        )  # least squares, no formula
        left = errors - errors[:, [j]] * slope
        taken = (errors**2).sum(axis=1).mean() - (left**2).sum(axis=1).mean()
        assert worth == pytest.approx(taken, rel=0.01)


def test_paths_lower_the_expected_error_by_their_gains():
    S = np.array([covariance(5, seed) for seed in range(8)])
    labels, gains = greedy_paths(S.copy(), 5)
    for each, path, gained in zip(S, labels, gains, strict=True):
        for k in range(1, 5):
            assert np.trace(each) - gained[:k].sum() == pytest.approx(
                left_after(each, path[:k]), abs=1e-9
            )
        assert len(set(path[:4])) == 4
        assert gained[4] == 0  # the sum of the row gives the last


def test_first_answer_is_the_best_of_all_and_pairs_are_nearly_so():
    S = np.array([covariance(6, seed) for seed in range(30)])
    _, gains = greedy_paths(S.copy(), 2)
    for each, gained in zip(S, gains, strict=True):
        assert gained[0] == pytest.approx(
            np.trace(each) - min(left_after(each, [j]) for j in range(6))
        )
        best = np.trace(each) - min(left_after(each, pair) for pair in combinations(range(6), 2))
        assert best * 0.9 <= gained.sum() <= best + 1e-9


def test_questions_of_small_tables_are_the_best_of_all_sets():
    spread = np.array([[3.0, 2.0, 1.0, 0.0], [2.5, 2.5, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    errors = table_errors(spread, unrelated(4))
    S = errors.covariances(np.arange(3))
    cells = np.argwhere(spread > 0).tolist()

    def gained(chosen):
        rows = {row: [label for r, label in chosen if r == row] for row, _ in chosen}
        return sum(np.trace(S[r]) - left_after(S[r], labels) for r, labels in rows.items())

    for budget in (1, 2, 3):
        best = max(map(gained, combinations(cells, budget)))
        assert choose_questions(errors, budget).gain.sum() == pytest.approx(best)


def test_errors_of_rows_sum_to_0_and_two_holes_are_as_unsure_as_each_other():
    spread = np.array([[0.1, 0.1, 0, 0], [0.2, 0.1, 0.3, 0.1], [0.1, 0, 0, 0], [0, 0, 0, 0]])
    S = error_covariances(spread, covariance(4))
    np.testing.assert_allclose(S.sum(axis=2), 0, atol=1e-12)
    np.testing.assert_allclose(S[0, :2, :2], [[0.01, -0.01], [-0.01, 0.01]], rtol=1e-9)
    assert (np.linalg.eigvalsh(S) > -1e-12).all()
    assert not S[2:].any()  # one hole follows from the sum, and there is nothing to ask
    assert not S[0, 2:].any()


def test_unrelated_errors_keep_their_spreads():
    S = error_covariances(np.full((1, 5), 0.1), unrelated(5))[0]
    np.testing.assert_allclose(np.diag(S), 0.01, rtol=1e-6)
    np.testing.assert_allclose(S[0, 1:], -0.0025, rtol=1e-6)


def test_a_large_spread_beside_a_small_one_does_not_count():
    S = error_covariances(np.array([[0.1, 0.01, 0]]), unrelated(3))[0]
    assert S[0, 0] < 3 * 0.01**2


def test_labels_that_go_together_are_not_both_asked_for():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(500, 1))
    errors = np.hstack([common, common, rng.normal(size=(500, 3))])
    errors[:, :2] += 0.05 * rng.normal(size=(500, 2))
    errors -= errors.mean(axis=1, keepdims=True)
    cov = errors.T @ errors / 500
    labels, _ = greedy_paths(error_covariances(np.ones((1, 5)), cov), 2)
    assert set(labels[0]) != {0, 1}
    assert {0, 1} & set(labels[0])


def test_a_row_with_two_holes_is_done_with_one_answer():
    found = choose_questions(table_errors([[0.2, 0.2, 0, 0], [0.2, 0.2, 0, 0]]), np.inf)
    assert found.row.tolist() == [0, 1]
    assert found.gain.sum() == pytest.approx(found.before)


def test_ties_go_to_the_first_row_and_label():
    found = choose_questions(table_errors(np.full((3, 4), 0.1), unrelated(4)), 3)
    assert list(zip(found.row, found.label, strict=True)) == [(0, 0), (1, 0), (2, 0)]


def test_blocks_change_nothing(monkeypatch):
    errors = table_errors(np.random.default_rng(0).uniform(0, 1, (40, 5)))
    whole = choose_questions(errors, 50)
    monkeypatch.setattr("inldl.completion.asking.NUMBERS", 75)  # three rows at once
    for name, values in vars(choose_questions(errors, 50)).items():
        np.testing.assert_allclose(values, getattr(whole, name), rtol=1e-12)


def test_known_columns_behind_the_labels_are_never_asked_for():
    spread = np.array([[0.1, 0.0, 0.5], [0.1, 0.1, 0.5]])
    errors = RowErrors(np.zeros((2, 2)), spread, covariance(3))
    found = choose_questions(errors, np.inf)
    assert found.label.max() <= 1
    assert 0 in found.row  # it is unsure, since the other unknown is not asked for


def test_nothing_to_ask_and_no_budget():
    for spread in (np.zeros((3, 4)), np.zeros((0, 4))):
        found = choose_questions(table_errors(spread), np.inf)
        assert len(found.row) == 0
        assert found.before == 0
    found = choose_questions(table_errors(np.ones((2, 4))), 0.5)
    assert len(found.row) == 0
    assert found.before > 0


def test_worth_is_that_of_the_best_stretch():
    gains = np.array([[5.0, 4.0, 0.5], [1.0, 5.0, 1.0]])
    costs = np.array([[3.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(best_slopes(gains, costs), [[2.25, 2.25, 0.5], [3, 3, 1]])


def test_rows_that_are_dear_to_open_are_asked_for_more_at_once():
    errors = table_errors(np.random.default_rng(0).uniform(0.5, 1, (30, 6)), unrelated(6))
    plain = choose_questions(errors, 24)
    dear = choose_questions(errors, 24, first_cost=6.0, more_cost=1.0)
    assert dear.cost.sum() <= 24
    per_row = [len(each.row) / len(set(each.row)) for each in (plain, dear)]
    assert per_row[1] > 2 * per_row[0]
    for row in set(dear.row):  # the first answer in a row has the price of the row
        assert dear.cost[dear.row == row][0] == 6
        assert (dear.cost[dear.row == row][1:] == 1).all()


def test_a_cheap_row_comes_before_an_equal_dear_one():
    errors = table_errors(np.full((2, 4), 0.1), unrelated(4))
    prices = np.array([2.0, 1.0])
    found = choose_questions(errors, 1, first_cost=prices, more_cost=prices)
    assert found.row.tolist() == [1]


def test_whole_rows_are_taken_together():
    errors = table_errors([[0.3, 0.3, 0.3, 0.3], [0.1, 0.1, 0, 0], [0.2, 0.2, 0.2, 0]])
    found = choose_questions(errors, 5, whole_rows=True)
    rows = found.row.tolist()
    assert sorted(rows) == [0, 0, 0, 2, 2]
    assert rows == sorted(rows, key=rows.index)
    found = choose_questions(errors, 4, whole_rows=True)
    assert sorted(found.row.tolist()) == [0, 0, 0, 1]  # row 2 does not fit any more, row 1 does


def test_what_is_too_dear_is_left_out_with_all_that_follows_it():
    row, cost = np.array([0, 1, 1, 2, 0]), np.array([2.0, 4.0, 1.0, 1.0, 1.0])
    assert affordable(row, cost, 4).tolist() == [True, False, False, True, True]
    assert affordable(row, cost, 100).all()
    assert affordable(row[:0], cost[:0], 1).tolist() == []
    together = affordable(row, cost, 3, whole_rows=True)
    assert together.tolist() == [True, False, False, True, False]
