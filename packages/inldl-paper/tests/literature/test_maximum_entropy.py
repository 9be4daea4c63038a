"""BFGS-LDL and IIS-LDL against the printed numbers, scikit-learn's checks, and hard data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from inldl import hide
from inldl.datasets import make_distributions
from inldl_paper.literature import BFGSLDL, IISLDL

ended_early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# --- the contract ----------------------------------------------------------------------------

ESTIMATORS = [
    BFGSLDL(),
    BFGSLDL.as_published(),
    IISLDL(),
    IISLDL(mass="observed"),
    IISLDL.as_published(),
]


def test_presets_take_changes():
    assert BFGSLDL.as_published(l2=0.5).get_params() == {
        "l2": 0.5, "fit_intercept": False, "max_iter": 400, "tol": 2e-9, "start": "eye",
    }  # fmt: skip
    assert IISLDL.as_published(max_iter=3).get_params() == {
        "max_iter": 3, "tol": 0.0, "fit_intercept": False, "mass": "unit", "start": "eye",
    }  # fmt: skip


@pytest.mark.parametrize("model", [BFGSLDL(), IISLDL()], ids=repr)
def test_attributes(model):
    X, y = make_distributions(200, random_state=0)
    names = ["low", "mid", "high"]
    model.fit(X, pd.DataFrame(hide(y, 0.5, random_state=0), columns=names))
    assert model.coef_.shape == (3, 3)
    assert model.intercept_.shape == (3,)
    assert model.history_["objective"].shape == (model.n_iter_,)
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    assert list(model.label_names_) == names
    assert model.fit(X, y).score(X, y) > 0.9
    assert not type(model)(fit_intercept=False).fit(X, y).intercept_.any()


def test_bfgs_says_when_it_did_not_converge():
    X, y = make_distributions(200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="ended after 2 iterations") as caught:
        model = BFGSLDL(max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert BFGSLDL().fit(X, y).converged_


@pytest.mark.parametrize("estimator", [BFGSLDL, IISLDL])
def test_no_iteration_predicts_the_start(estimator):
    X, y = make_distributions(50, random_state=0)
    model = estimator(max_iter=0).fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict(X), 1 / 3)
    np.testing.assert_array_equal(estimator(max_iter=0, start="eye").fit(X, y).coef_, np.eye(3))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BFGSLDL(l2=-1), "l2 must be a number at least 0, got -1"),
        (BFGSLDL(max_iter=-1), "max_iter must be an integer at least 0, got -1"),
        (BFGSLDL(tol=np.nan), "tol must be a number at least 0"),
        (BFGSLDL(start="one"), "start must be one of 'zero', 'eye', got 'one'"),
        (IISLDL(max_iter=2.5), "max_iter must be an integer at least 0"),
        (IISLDL(tol=-1), "tol must be a number at least 0"),
        (IISLDL(mass="half"), "mass must be one of 'unit', 'observed', got 'half'"),
        (IISLDL(start=0), "start must be one of 'zero', 'eye', got 0"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*make_distributions(20, random_state=0))


# --- hard data -------------------------------------------------------------------------------


def hard_data(kind):
    rng = np.random.default_rng(0)
    n, k, C = {"few rows": (3, 2, 6), "wide": (10, 40, 4), "one label": (20, 3, 1)}.get(
        kind, (40, 4, 3)
    )
    X, y = rng.normal(size=(n, k)), rng.dirichlet(np.ones(C), size=n)
    if kind != "one label":
        y[1:][rng.random((n - 1, C)) < 0.4] = np.nan
    change = {
        "constant column": lambda: X.__setitem__((slice(None), 1), -2.0),
        "zero column": lambda: X.__setitem__((slice(None), 1), 0.0),
        "all zero": lambda: X.fill(0.0),
        "empty rows": lambda: y.__setitem__(slice(5, 30), np.nan),
        "unused label": lambda: y.__setitem__((slice(None), 2), 0.0),
        "one huge row": lambda: X.__setitem__(3, 1e9),
        "huge": lambda: X.__imul__(1e100),
        "tiny": lambda: X.__imul__(1e-200),
    }
    change.get(kind, lambda: None)()
    return X, y


@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
@ended_early
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", [*ESTIMATORS, IISLDL(mass="observed", max_iter=500)], ids=repr)
@pytest.mark.parametrize(
    "kind",
    ["constant column", "zero column", "all zero", "empty rows", "unused label", "one huge row",
     "huge", "tiny", "few rows", "wide", "one label"],
)  # fmt: skip
def test_hard_data_gives_distributions(kind, model, dtype):
    X, y = hard_data(kind)
    if dtype == np.float32 and kind in ("huge", "tiny"):
        X *= 1e-80 if kind == "huge" else 1e170
    X = X.astype(dtype)
    P = model.fit(X, y).predict(X)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(P).all()
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-6)
    slack = 1e-6 if dtype == np.float32 else 1e-12
    objective = model.history_["objective"]
    assert np.all(np.diff(objective) <= slack * np.abs(objective[1:]))


@pytest.mark.parametrize("model", [BFGSLDL(), IISLDL()], ids=repr)
def test_negative_degrees_count_as_zero(model):
    X, y = make_distributions(50, random_state=0)
    y[:20, 0] = np.nan
    y[20:30, 1] = -5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = model.fit(X, y).coef_
        expected = model.fit(X, np.where(y < 0, 0, y)).coef_
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("model", [BFGSLDL(), IISLDL()], ids=repr)
def test_order_of_rows_and_labels_does_not_matter(model):
    X, y = make_distributions(80, random_state=0)
    y = hide(y, 0.5, random_state=0)
    expected = model.fit(X, y).predict(X)
    order = np.random.default_rng(0).permutation(80)
    found = model.fit(X[order], y[order][:, [2, 0, 1]]).predict(X)
    np.testing.assert_allclose(found, expected[:, [2, 0, 1]], rtol=0, atol=1e-4)
