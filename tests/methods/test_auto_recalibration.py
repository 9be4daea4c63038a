"""Bending predictions towards a measure: it helps that one, on rows it was not chosen by."""

import numpy as np
import pytest

from inldl import AutoInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.methods.auto import Recalibration, choose_recalibration
from inldl.metrics import METRICS


def rows(n, seed):
    """Return skewed distributions with tiny degrees, and flat predictions of them."""
    rng = np.random.default_rng(seed)
    y = rng.dirichlet([0.1, 0.5, 2.0], size=n)
    return y, 0.5 * y + 0.5 * y.mean(axis=0)


@pytest.mark.parametrize(
    ("metric", "rate"),
    [("clark", 0.5), ("kl_divergence", 0.5), ("canberra", 0.5), ("chebyshev", 0)],
)
def test_it_helps_new_rows(metric, rate):
    """The largest error of a part of a row says little: for that it needs whole rows."""
    y, predicted = rows(1000, 0)
    chosen = choose_recalibration(metric, hide(y, rate, random_state=1), predicted)
    y, predicted = rows(1000, 1)
    measure, sign = METRICS[metric].function, 1 if METRICS[metric].higher_is_better else -1
    assert sign * measure(y, chosen(predicted)) > sign * measure(y, predicted)


def test_it_never_hurts_the_rows_it_was_chosen_by():
    y, predicted = rows(200, 0)
    for metric in METRICS:
        chosen = choose_recalibration(metric, y, predicted)
        sign = 1 if METRICS[metric].higher_is_better else -1
        assert sign * chosen.after >= sign * chosen.before


def test_what_does_not_help_does_not_bend():
    y, predicted = rows(200, 0)
    chosen = choose_recalibration("kendall", y, predicted)
    assert (chosen.power, chosen.level) == (1.0, 0.0)


def test_rows_stay_distributions():
    bend = Recalibration("clark", 2.0, 0.5, np.array([0.1, 0.0, 0.0]), 0.0, 0.0)
    out = bend(np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(out.sum(axis=1), 1)
    assert (out >= 0).all()
    np.testing.assert_allclose(out[0], np.array([0.01, 0.25, 0.25]) / 0.51)


def test_auto_is_bent_only_when_asked():
    budget = load_budget_shares()
    X, y = budget.X[:300], hide(budget.y[:300], 0.5, random_state=1)
    settings = {"members": "kernel-softmax", "random_state": 0}
    plain = AutoInLDL(**settings).fit(X, y)
    bent = AutoInLDL(**settings, recalibrate="clark").fit(X, y)
    assert plain.recalibration_ is None
    np.testing.assert_allclose(bent.predict(X), bent.recalibration_(plain.predict(X)), atol=1e-12)
    assert "Adjusted to suit clark" in str(bent.report_)
    assert "Bent" not in str(plain.report_)


def test_unknown_measure():
    with pytest.raises(ValueError, match="recalibrate"):
        AutoInLDL(recalibrate="clarc").fit(np.eye(4), np.full((4, 2), 0.5))
