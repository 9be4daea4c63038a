"""WSLDL-MCSC as an estimator: new rows, wide features, model files, and bad parameters."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from inldl import evaluate, hide
from inldl.datasets import make_distributions
from inldl.files import load_model, save_model
from inldl.methods import ConstantLDL
from inldl_paper.literature import WSLDLMCSC

X, TRUTH = make_distributions(150, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)


def test_new_rows_are_nearly_what_they_are_among_the_others():
    """As published, rows to predict are there when it is fitted; here each is added by itself."""
    train, test = np.arange(150) < 120, np.arange(150) >= 120
    by_itself = WSLDLMCSC(tol=1e-6).fit(X[train], Y[train]).predict(X[test])
    together = WSLDLMCSC(tol=1e-6).fit(X, np.where(test[:, None], np.nan, Y)).recovered_[test]
    mean = ConstantLDL().fit(X[train], Y[train]).predict(X[test])
    apart = np.abs(by_itself - together).mean()
    assert apart < 0.2 * np.abs(together - mean).mean()
    for found in (by_itself, together):
        assert evaluate(TRUTH[test], found)["cosine"] > evaluate(TRUTH[test], mean)["cosine"]


def test_wide_features_are_turned_and_turned_back():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(400, 3)))[0].T
    thin = WSLDLMCSC(tol=1e-8, max_iter=2000).fit(X, Y)
    wide = WSLDLMCSC(tol=1e-8, max_iter=2000).fit(X @ turn, Y)
    np.testing.assert_allclose(wide.recovered_, thin.recovered_, atol=1e-6)
    np.testing.assert_allclose(wide.predict(X @ turn), thin.predict(X), atol=1e-5)


@pytest.mark.parametrize("filling", [0.0, 1e6, -3.0])
def test_what_fills_a_hole_never_matters(filling):
    holes = np.isnan(Y)
    model = WSLDLMCSC().fit(X, np.ma.masked_array(np.where(holes, filling, Y), holes))
    np.testing.assert_array_equal(model.predict(X), WSLDLMCSC().fit(X, Y).predict(X))


def test_a_model_file_predicts_the_same(tmp_path):
    model = WSLDLMCSC().fit(X, Y)
    save_model(model, tmp_path / "model.inldl")
    loaded = load_model(tmp_path / "model.inldl")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_it_says_when_it_did_not_converge():
    with pytest.warns(ConvergenceWarning, match="did not reach tol=0 in max_iter=2 iterations"):
        assert not WSLDLMCSC(max_iter=2, tol=0.0).fit(X, Y).converged_


def test_bad_parameters():
    with pytest.raises(ValueError, match="mu must be a number greater than 0"):
        WSLDLMCSC(mu=0).fit(X, Y)
    assert WSLDLMCSC.as_published(mu=2.0).get_params()["edges"] == "distance"
