"""Going on from a fit when rows or degrees arrive: fewer iterations, the same limit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from inldl import WInLDL, hide
from inldl.datasets import load_budget_shares


@pytest.fixture(scope="module")
def grown():
    """Return the table before, with more rows, and with more degrees."""
    budget = load_budget_shares()
    X, y = StandardScaler().fit_transform(budget.X), budget.y
    holes = hide(y, 0.5, random_state=0)
    more = np.where(np.random.default_rng(1).random(y.shape) < 0.1, y, holes)
    return X, holes, more


@pytest.mark.parametrize("what", ["rows", "degrees"])
def test_fewer_iterations_to_the_same_limit(grown, what):
    X, y, more = grown
    before = (X[:1400], y[:1400]) if what == "rows" else (X, y)
    after = (X, y) if what == "rows" else (X, more)
    for options, difference in (({"max_iter": 50}, 3e-3), ({"max_iter": 2000, "tol": 1e-7}, 1e-4)):
        model = WInLDL(warm_start=True, **options).fit(*before).fit(*after)
        anew = WInLDL(**options).fit(*after)
        assert model.converged_
        assert model.n_iter_ < anew.n_iter_
        np.testing.assert_allclose(model.predict(X), anew.predict(X), rtol=0, atol=difference)


def test_the_first_fit_and_a_fit_without_it_start_anew(grown):
    X, y, _ = grown
    plain = WInLDL().fit(X, y)
    np.testing.assert_array_equal(WInLDL(warm_start=True).fit(X, y).coef_, plain.coef_)
    np.testing.assert_array_equal(WInLDL().fit(X[:100], y[:100]).fit(X, y).coef_, plain.coef_)


def test_wide_features_start_from_the_same_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 200)), rng.dirichlet(np.ones(3), 40)
    y = hide(y, 0.3, random_state=0)
    model = WInLDL(warm_start=True, max_iter=2000, tol=1e-6).fit(X[:, :], y)
    first, steps = model.coef_.copy(), model.n_iter_
    again = model.fit(X, y)
    assert again.n_iter_ <= steps
    np.testing.assert_allclose(again.coef_, first, atol=1e-4)


def test_another_shape_or_order_is_refused(grown):
    X, y, _ = grown
    y = pd.DataFrame(y, columns=list("abcdef"))
    model = WInLDL(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="fit with 6 labels and 4 features, but now there are 6 "):
        model.fit(X[:, 1:], y)
    with pytest.raises(ValueError, match="give the same columns in the same order"):
        model.fit(X, y[list("fedcba")])
