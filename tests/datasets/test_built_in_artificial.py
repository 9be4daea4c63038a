import numpy as np

from inldl.datasets import make_distributions
from inldl.datasets.built_in import _degrees


def published(x1, x2, x3):
    """The formula of Geng (2016), one number at a time."""
    t1, t2, t3 = (1.0 * x + 0.5 * x**2 + 0.2 * x**3 + 1.0 for x in (x1, x2, x3))
    psi1 = (4 * t1 + 2 * t2 + 1 * t3) ** 2
    psi2 = (1 * t1 + 2 * t2 + 4 * t3 + 0.01 * psi1) ** 2
    psi3 = (1 * t1 + 4 * t2 + 2 * t3 + 0.01 * psi2) ** 2
    total = psi1 + psi2 + psi3
    return [psi1 / total, psi2 / total, psi3 / total]


def test_degrees_follow_the_published_formula():
    X, y = make_distributions(300, random_state=0)
    expected = [published(*map(float, row)) for row in X]
    np.testing.assert_allclose(y, expected, rtol=1e-13)


def test_degrees_at_the_origin():
    psi = np.array([7**2, 7.49**2, 7.561001**2])  # t = 1, so that each w't is 7
    np.testing.assert_allclose(_degrees(np.zeros((1, 3)))[0], psi / psi.sum(), rtol=1e-14)


def test_rows_are_distributions():
    X, y = make_distributions(5000, random_state=1)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-14)
    assert y.min() > 0
    assert X.shape == y.shape == (5000, 3)
    assert X.dtype == y.dtype == np.float64


def test_features_are_uniform_on_the_cube():
    X, _ = make_distributions(20_000, random_state=2)
    np.testing.assert_allclose(X.min(axis=0), -1, atol=1e-3)
    np.testing.assert_allclose(X.max(axis=0), 1, atol=1e-3)
    assert np.abs(X).max() <= 1
    np.testing.assert_allclose(np.cov(X.T), np.eye(3) / 3, atol=0.01)


def test_random_state_decides():
    first, again = make_distributions(5, random_state=3), make_distributions(5, random_state=3)
    np.testing.assert_array_equal(first, again)
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(make_distributions(5, random_state=rng), first)
    assert not np.array_equal(make_distributions(5, random_state=rng), first)
    assert make_distributions()[0].shape == (500, 3)


def test_refuses_legacy_generators():
    twice = [make_distributions(5, random_state=np.random.RandomState(0))[0] for _ in range(2)]
    np.testing.assert_array_equal(*twice)
