"""`vote_weights`: what it takes, and that it helps."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from inldl import AutoInLDL, WInLDL, vote_weights
from inldl.datasets import make_distributions
from inldl.methods import KernelRidgeLDL
from inldl.metrics import kl_divergence

X, TRUTH = make_distributions(400, random_state=0)
RNG = np.random.default_rng(0)
VOTES = RNG.choice([2, 5, 50, 500], 400)
COUNTS = RNG.multinomial(VOTES, TRUTH)
SHARES = COUNTS / VOTES[:, None]
QUICK = KernelRidgeLDL(kernel="rbf", scale=1.0, alpha=1.0, n_landmarks=50, random_state=0)


def test_more_votes_weigh_more_and_the_mean_is_1():
    weights = vote_weights(X, COUNTS, estimator=QUICK)
    each = [weights[n == VOTES] for n in (2, 5, 50, 500)]
    assert [np.ptp(group) for group in each] == [0, 0, 0, 0]
    assert each[0][0] < each[1][0] < each[2][0] < each[3][0]
    assert weights.mean() == pytest.approx(1)


def test_counts_are_shares_and_votes():
    expected = vote_weights(X, COUNTS, estimator=QUICK)
    np.testing.assert_allclose(vote_weights(X, SHARES, VOTES, estimator=QUICK), expected)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(COUNTS, columns=list("def"))
    np.testing.assert_allclose(vote_weights(*frames, estimator=QUICK), expected)
    np.testing.assert_allclose(
        vote_weights(X.tolist(), COUNTS.tolist(), estimator=QUICK), expected
    )


@pytest.mark.parametrize("estimator", [WInLDL(), WInLDL(cross_fit=3), None], ids=repr)
def test_any_estimator_can_predict_the_held_out_rows(estimator):
    weights = vote_weights(sparse.csr_array(X), COUNTS, estimator=estimator)
    assert weights[VOTES == 500][0] > 1 > weights[VOTES == 2][0]


def test_weights_by_votes_predict_better():
    """Few rows with many votes among many with two: what they are for."""
    weights = vote_weights(X, COUNTS, estimator=QUICK)
    new, truth = make_distributions(500, random_state=0)
    errors = [
        kl_divergence(truth, QUICK.fit(X, SHARES, sample_weight=w).predict(new))
        for w in (None, weights)
    ]
    assert errors[1] < 0.9 * errors[0]


def test_rows_without_votes_weigh_nothing():
    counts = COUNTS.copy()
    counts[:3] = 0
    weights = vote_weights(X, counts, estimator=QUICK)
    assert weights[:3].tolist() == [0, 0, 0]
    assert weights[3:].mean() == pytest.approx(1)
    np.testing.assert_allclose(weights[3:], vote_weights(X[3:], counts[3:], estimator=QUICK))


def test_degrees_may_be_missing():
    y = np.where(RNG.random(SHARES.shape) < 0.3, np.nan, SHARES)
    y[0] = np.nan
    weights = vote_weights(X, y, VOTES, estimator=QUICK)
    assert weights[VOTES == 500][0] > 1 > weights[VOTES == 2][0]


@pytest.mark.parametrize(
    ("y", "votes", "words"),
    [
        (SHARES, None, "All rows of y sum to 1 or less, so y holds shares; give votes"),
        (np.where(COUNTS > 20, np.nan, COUNTS), None, r"Label \d is nan in row \d+ .*not a count"),
        (-COUNTS, None, "which is not a count; give counts without holes"),
        (SHARES, VOTES[1:], r"one number for each of 400 rows, but its shape is \(399,\)"),
        (SHARES, -VOTES, r"votes is -\d+ in row 0 \(counted from 0\); give how many votes"),
        (SHARES, np.where(np.arange(400) == 4, 5, 0), r"1 row\(s\) have votes"),
        (COUNTS[1:], None, "X has 400 rows and y has 399"),
    ],
)
def test_what_makes_no_sense_is_refused(y, votes, words):
    with pytest.raises(ValueError, match=words):
        vote_weights(X, y, votes, estimator=QUICK)


def test_weights_go_into_auto():
    some = slice(0, 80)
    weights = vote_weights(X[some], COUNTS[some], estimator=QUICK)
    options = {"members": "kernel-ridge", "random_state": 0}
    model = AutoInLDL(**options).fit(X[some], SHARES[some], sample_weight=weights)
    plain = AutoInLDL(**options).fit(X[some], SHARES[some])
    assert kl_divergence(TRUTH, model.predict(X)) < kl_divergence(TRUTH, plain.predict(X))
