"""Draws of distributions that a table may come from, against closed forms."""

import numpy as np
import pytest

from inldl.solvers.gaussian import ShareScale
from inldl.uncertainty.draws import JointNormal, NormalRows, has_converged

PLAIN = ShareScale(np.empty((0, 0)))


def table(n=300, seed=0):
    """Return what is told of rows, and degrees that are normal given it."""
    rng = np.random.default_rng(seed)
    told = rng.normal(size=(n, 2)) * [1, 50] + [3, 0]
    coef = np.array([[0.02, -0.02, 0.01, -0.01], [0.0004, 0, -0.0004, 0]])
    noise = rng.normal(size=(n, 4)) @ np.diag([0.02, 0.02, 0.05, 0.05])
    return told, 0.25 + (told - [3, 0]) @ coef + noise - noise.mean(axis=1, keepdims=True)


def test_expected_rows_are_the_conditional_mean():
    A = np.random.default_rng(0).normal(size=(3, 3))
    rows = NormalRows(np.array([[0.2, 0.3, 0.5], [0.1, -0.1, 0.0]]), A @ A.T)
    y, known = np.array([[0.4, np.nan, np.nan]]), np.array([[1.0, 2.0]])
    S, mean = rows.covariance, known @ rows.coef
    noise = 1e-3 * np.trace(S) / 3
    wanted = mean[0, 1:] + S[1:, 0] / (S[0, 0] + noise) * (0.4 - mean[0, 0])
    np.testing.assert_allclose(rows.expected(y, known), [[0.4, *wanted]])


def test_a_table_without_holes_gives_what_least_squares_says():
    """The mean of the coefficients, and their standard errors, are those of textbooks."""
    told, y = table()
    chain = JointNormal(y, told, y, PLAIN)
    drawn = chain.draw(2000, np.random.default_rng(1))
    A = np.column_stack([np.ones(len(told)), told])
    coef, squares, *_ = np.linalg.lstsq(A, y, rcond=None)
    errors = np.sqrt(np.outer(np.diag(np.linalg.inv(A.T @ A)), squares / (len(A) - 3)))
    rows = np.vstack([np.zeros(2), np.eye(2)])  # the differences are the coefficients
    found = np.diff([chain.known(rows) @ each.coef for each in drawn], axis=1)
    found = np.stack([found[:, 0], found[:, 0] + found[:, 1]], axis=1)
    np.testing.assert_allclose(found.std(axis=0), errors[1:], rtol=0.08)
    assert (np.abs(found.mean(axis=0) - coef[1:]) < 0.15 * errors[1:]).all()
    residuals = y - A @ coef
    np.testing.assert_allclose(
        NormalRows.mean(drawn).covariance, residuals.T @ residuals / len(A), rtol=0.1, atol=3e-5
    )


def test_holes_make_what_is_learned_less_sure():
    told, y = table()
    rng = np.random.default_rng(2)
    holes = np.where(rng.random(y.shape) < 0.5, np.nan, y)
    start = np.where(np.isnan(holes), 0.25, holes)
    spreads = []
    for given in (y, holes):
        drawn = JointNormal(given, told, start, PLAIN).draw(200, np.random.default_rng(3))
        spreads.append(np.std([each.coef for each in drawn], axis=0).mean())
    assert 1.2 < spreads[1] / spreads[0] < 2


def test_turns_are_a_multiple_of_the_draws():
    told, y = table(60)
    assert len(JointNormal(y, told, y, PLAIN).draw(3, np.random.default_rng(0))) == 198


def test_a_sequence_that_wanders_off_has_not_converged():
    """The halves of a trend disagree, those of chance around a mean agree."""
    rng = np.random.default_rng(0)
    means = 0.2 + 0.01 * rng.normal(size=(200, 3))
    trend = np.linspace(0, 0.2, 200)[:, None] * [1, 0, -1]
    for rows, wanted in ((means, True), (means + trend, False)):
        turns = [NormalRows(mean[None], np.eye(3) * rng.uniform(1, 2)) for mean in rows]
        assert has_converged(turns) is wanted


def test_labels_that_are_never_seen_together_are_said_aloud(monkeypatch):
    monkeypatch.setattr("inldl.uncertainty.draws.has_converged", lambda turns: False)
    told, y = table(40)
    with pytest.warns(UserWarning, match="depend on where their sequence started"):
        JointNormal(y, told, y, PLAIN).draw(5, np.random.default_rng(0))


@pytest.mark.parametrize(("n", "numbers"), [(19, 0), (45, 2), (100, 3)])
def test_as_many_numbers_tell_degrees_as_there_are_rows_for(n, numbers):
    """Columns that are constant or repeat others add nothing."""
    rng = np.random.default_rng(0)
    told = rng.normal(size=(n, 3))
    told = np.column_stack([told, np.full(n, 0.1), told[:, 0] + told[:, 1]])
    y = rng.dirichlet(np.ones(3), n)
    known = JointNormal(y, told, y, PLAIN).known(told)
    assert known.shape == (n, 1 + numbers)
    np.testing.assert_allclose(known.T @ known / n, np.eye(1 + numbers), atol=1e-9)


def test_few_rows_and_labels_that_do_not_vary_are_no_trouble():
    y = np.array([[0.5, 0.3, 0.2], [np.nan, np.nan, 0.2]])
    start = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    turns = JointNormal(y, np.zeros((2, 0)), start, PLAIN).draw(2, np.random.default_rng(0))
    assert all(np.isfinite(each.covariance).all() for each in turns)


def test_of_a_long_table_some_rows_are_learned_from():
    told, y = table(300)
    chain = JointNormal(y, told, y, PLAIN, most=75)
    assert chain.share == 0.5
    assert len(chain._y) == 75
