"""What observed degrees tell of the others: the normal distribution, and errors that sum to 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl import hide
from inldl.rows.partial import PartialRows
from inldl.solvers import gaussian as completion
from inldl.solvers.gaussian import error_covariance, given_observed


def errors_that_sum_to_zero(rng, n, C):
    """Return draws of a covariance that is not diagonal, and that covariance."""
    mix = rng.normal(size=(C, C)) * 0.03
    mix -= mix.mean(axis=0)
    return rng.normal(size=(n, C)) @ mix.T, mix @ mix.T


@given(
    seed=st.integers(0, 1000),
    C=st.integers(2, 9) | st.just(40),
    rate=st.sampled_from([0.1, 0.5, 0.9]),
    entries=st.sampled_from([1, 200, 10**6]),
)
def test_it_is_the_normal_distribution_given_some_of_its_entries(seed, C, rate, entries):
    rng = np.random.default_rng(seed)
    errors, covariance = errors_that_sum_to_zero(rng, 30, C)
    predicted = rng.dirichlet(np.ones(C), 30)
    y = np.where(rng.random((30, C)) < rate, np.nan, predicted + errors)
    y[0], y[1] = np.nan, predicted[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "PATTERN_ENTRIES", entries)
        expected, variance = given_observed(y, predicted, covariance)
    noise = completion.NOISE * np.trace(covariance) / C
    for row in range(30):
        h, o = np.isnan(y[row]), ~np.isnan(y[row])
        inner = covariance[np.ix_(o, o)] + noise * np.eye(o.sum())
        gain = covariance[np.ix_(h, o)] @ np.linalg.inv(inner)
        mean = predicted[row, h] + gain @ (y[row, o] - predicted[row, o])
        left = np.diag(covariance[np.ix_(h, h)] - gain @ covariance[np.ix_(o, h)])
        np.testing.assert_allclose(expected[row, h], mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(variance[row, h], np.maximum(left, noise), atol=1e-12)
        np.testing.assert_array_equal(expected[row, o], predicted[row, o])
        assert (variance[row, o] == 0).all()


@pytest.mark.parametrize(("n_holes", "largest"), [(5, 5), (30, 30), (55, 5)])
def test_a_row_costs_its_holes_or_its_observed_labels(n_holes, largest, monkeypatch):
    """Not the cube of all labels, which took minutes for some hundred of them."""
    rng = np.random.default_rng(0)
    errors, covariance = errors_that_sum_to_zero(rng, 20, 60)
    y = rng.dirichlet(np.ones(60), 20) + errors
    y[rng.permuted(np.tile(np.arange(60) < n_holes, (20, 1)), axis=1)] = np.nan
    sizes, cholesky = [], np.linalg.cholesky

    def noting(a):
        sizes.append(a.shape[-1])
        return cholesky(a)

    monkeypatch.setattr(np.linalg, "cholesky", noting)
    given_observed(y, np.full(y.shape, 1 / 60), covariance)
    assert max(sizes) == largest


def test_the_covariance_is_found_in_spite_of_holes():
    rng = np.random.default_rng(0)
    errors, covariance = errors_that_sum_to_zero(rng, 20_000, 5)
    found = error_covariance(hide(errors, 0.5, random_state=1))
    np.testing.assert_allclose(found, covariance, atol=0.05 * np.abs(covariance).max())
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-15)
    assert np.linalg.eigvalsh(found).min() > -1e-15


def test_labels_that_are_never_seen_together_are_taken_as_unrelated():
    errors = np.array([[0.1, np.nan, np.nan], [np.nan, -0.2, np.nan], [np.nan, np.nan, 0.1]])
    found = error_covariance(np.vstack([errors, -errors] * 50))
    variance = np.diag(found)
    assert variance[1] > variance[0]
    assert found[0, 1] < 0  # as errors are that sum to 0
    assert abs(found[0, 2]) < 0.1 * variance[0]


def test_what_goes_together_is_completed_better():
    """Two labels whose errors are opposite: the observed one gives the other away."""
    rng = np.random.default_rng(0)
    predicted = np.tile([0.3, 0.3, 0.2, 0.2], (2000, 1))
    shift, other = rng.normal(scale=0.05, size=(2, 2000, 1))
    truth = predicted + shift * [1, -1, 0, 0] + other * [0, 0, 0.5, -0.5]
    truth = np.clip(truth, 0.001, None)
    truth /= truth.sum(axis=1, keepdims=True)
    y = np.where([False, True, False, True], np.nan, truth)
    expected, variance = given_observed(y, predicted, error_covariance(truth - predicted))
    better, plain = (
        PartialRows(y).project(expected, variance + 1e-300),
        PartialRows(y).project(predicted, np.ones(4)),
    )
    errors = [np.sqrt(np.mean((filled - truth)[np.isnan(y)] ** 2)) for filled in (better, plain)]
    assert errors[0] < 0.3 * errors[1]
    np.testing.assert_allclose(better.sum(axis=1), 1, atol=1e-12)


def test_no_errors_at_all_change_nothing():
    predicted = np.full((4, 3), 1 / 3)
    y = np.array([[1 / 3, np.nan, np.nan]] * 4)
    expected, _ = given_observed(y, predicted, error_covariance(y - predicted))
    np.testing.assert_allclose(expected, predicted)
