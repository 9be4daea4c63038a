"""I2LDL as an estimator: bad parameters, holes, and its place beside other linear methods."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from inldl import hide
from inldl.datasets import make_distributions
from inldl.methods import ConstantLDL
from inldl_paper.literature import I2LDL

X, TRUTH = make_distributions(120, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)


@pytest.mark.parametrize("name", ["lam1", "lam2", "lam3"])
def test_penalties_are_not_negative(name):
    with pytest.raises(ValueError, match=f"{name} must be a number at least 0"):
        I2LDL(**{name: -1}).fit(X, Y)


@pytest.mark.parametrize("filling", [0.0, 1e6, -3.0])
def test_what_fills_a_hole_never_matters(filling):
    holes = np.isnan(Y)
    model = I2LDL().fit(X, np.ma.masked_array(np.where(holes, filling, Y), holes))
    np.testing.assert_array_equal(model.coef_, I2LDL().fit(X, Y).coef_)


def test_it_says_when_it_did_not_converge():
    with pytest.warns(ConvergenceWarning, match="did not reach tol=0 in max_iter=3 iterations"):
        model = I2LDL(max_iter=3, tol=0.0).fit(X, Y)
    assert model.history_["primal_residual"].shape == (3,)


def test_each_penalty_counts():
    found = [
        I2LDL(*lams, tol=1e-5, max_iter=5000).fit(X, Y).predict(X)
        for lams in [(2.0, 0.1, 0.02), (0.2, 0.1, 0.02), (2.0, 1.0, 0.02), (2.0, 0.1, 0.2)]
    ]
    for other in found[1:]:
        assert np.abs(other - found[0]).max() > 1e-3


def test_it_learns_and_stays_on_the_simplex():
    model = I2LDL().fit(X, Y)
    assert model.score(X, TRUTH) > ConstantLDL().fit(X, Y).score(X, TRUTH) + 0.01
    np.testing.assert_allclose(model.predict(X).sum(axis=1), 1)


def test_parameters_of_a_base_are_declared_and_documented_once():
    shown = inspect.signature(I2LDL).parameters
    assert shown["max_iter"].default == 500
    assert shown["n_jobs"].default is None
    assert I2LDL.__doc__.count("max_iter : int, default=500\n    Iterations at most.") == 1
    assert I2LDL.__doc__.count("\nn_jobs : int or None, default=None\n") == 1
    assert "Coefficients (W + Q)'" in I2LDL.__doc__
    assert I2LDL.__doc__.count("coef_, intercept_") == 1
    with pytest.raises(ValueError, match="max_iter must be an integer at least 1, got 0"):
        I2LDL(max_iter=0)._check_parameters()
