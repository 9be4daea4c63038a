"""The noise of shares of few votes, beside simulations of it."""

import numpy as np
import pytest

from inldl.methods.vote_weights import VoteNoise, estimate_vote_noise


def simulated(lasting, n, seed=0, alpha=20.0):
    """Return squared errors of known predictions, votes, and the variance of one vote."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(5, alpha), n)  # nearly alike, so one variance fits all
    votes = rng.integers(3, 300, n)
    shares = rng.multinomial(votes, p) / votes[:, None]
    predicted = p + rng.normal(scale=np.sqrt(lasting), size=p.shape)
    return ((shares - predicted) ** 2).mean(axis=1), votes, (p * (1 - p)).mean()


@pytest.mark.parametrize("lasting", [0.0, 1e-3, 1e-2])
def test_both_parts_are_found(lasting):
    squares, votes, of_one_vote = simulated(lasting, 20_000)
    noise = estimate_vote_noise(squares, votes)
    assert noise.lasting == pytest.approx(lasting, rel=0.05, abs=1e-5)
    assert noise.of_one_vote == pytest.approx(of_one_vote, rel=0.15)


def test_weights_are_inverse_variances():
    votes = np.array([1.0, 4.0, 100.0, 0.0])
    weights = VoteNoise(0.01, 0.2).weights(votes)
    np.testing.assert_allclose(weights / weights[0], [1, 0.21 / 0.06, 0.21 / 0.012, 0])
    assert weights[:3].mean() == pytest.approx(1)
    np.testing.assert_allclose(VoteNoise(0.0, 0.2).weights(votes) * 105 / 3, votes)
    np.testing.assert_allclose(VoteNoise(0.3, 0.0).weights(votes), [1, 1, 1, 0])


def test_errors_that_do_not_shrink_with_votes_weigh_equally():
    rng = np.random.default_rng(0)
    votes = rng.integers(3, 300, 500)
    growing = 0.01 + 1e-4 * votes  # as no noise of votes can be
    assert estimate_vote_noise(growing, votes).of_one_vote == 0


@pytest.mark.parametrize("squares", [np.zeros(5), np.full(5, np.nan), np.full(5, 0.1)])
def test_nothing_to_learn_from_gives_equal_weights(squares):
    noise = estimate_vote_noise(squares, np.full(5, 10.0))
    np.testing.assert_allclose(noise.weights(np.full(5, 10.0)), 1)


def test_rows_without_an_error_or_votes_do_not_count():
    squares, votes, _ = simulated(1e-3, 200)
    more = np.append(squares, [np.nan, 5.0]), np.append(votes, [10, 0])
    assert estimate_vote_noise(*more) == estimate_vote_noise(squares, votes)


def test_units_do_not_matter():
    squares, votes, _ = simulated(1e-3, 200)
    one, other = estimate_vote_noise(squares, votes), estimate_vote_noise(1e4 * squares, votes)
    np.testing.assert_allclose(other.weights(votes), one.weights(votes), rtol=1e-6)
