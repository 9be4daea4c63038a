"""Constants that are chosen by degrees hidden on purpose."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.files import load_model, save_model
from inldl.methods import ConstantLDL, RegressorLDL
from inldl.methods.registry import make_method
from inldl.metrics import METRICS
from inldl_paper import TunedLDL
from inldl_paper.experiments import Store, grid
from inldl_paper.experiments.runner import measure
from plain_methods import PLAIN

X, TRUTH = make_distributions(90, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)
GRID = {"ridge": [1e-5, 1e6]}  # the second makes all rows alike


class Recording(WInLDL):
    """WInLDL that remembers what it was fitted to."""

    seen = []  # noqa: RUF012

    def __init__(self, ridge=1e6):
        super().__init__(ridge=ridge)

    def fit(self, X, y):
        Recording.seen.append((self.ridge, np.array(y)))
        return super().fit(X, y)


@pytest.mark.parametrize("hide_what", ["rows", "degrees"])
@pytest.mark.parametrize("metric", ["rmse", "cosine", "kl_divergence"])
def test_the_better_constant_is_chosen(hide_what, metric):
    tuned = TunedLDL(WInLDL(ridge=1e6), GRID, hide=hide_what, metric=metric, random_state=0)
    tuned.fit(X, Y)
    assert tuned.best_params_ == {"ridge": 1e-5}
    assert [trial["parameters"]["ridge"] for trial in tuned.trials_] == [1e6, 1e-5]
    assert tuned.trials_[1]["error"] < tuned.trials_[0]["error"]
    expected = WInLDL(ridge=1e-5).fit(X, Y)
    np.testing.assert_array_equal(tuned.predict(X), expected.predict(X))
    np.testing.assert_array_equal(tuned.complete(X, Y), expected.complete(X, Y))


@pytest.mark.parametrize("hide_what", ["rows", "degrees"])
def test_what_judges_was_not_learned_from(hide_what):
    """A trial sees no degree by which it is judged, and the truth is never asked."""
    Recording.seen.clear()
    TunedLDL(Recording(), GRID, hide=hide_what, n_folds=3, random_state=0).fit(X, Y)
    *trials, last = Recording.seen
    np.testing.assert_array_equal(last[1], Y)
    known = np.count_nonzero(~np.isnan(Y))
    for ridge in (1e6, 1e-5):
        left = [np.count_nonzero(~np.isnan(y)) for r, y in trials if r == ridge]
        assert len(left) == 3
        assert sum(known - each for each in left) == known  # each is hidden once


def test_unobserved_degrees_do_not_matter():
    """Filling what is hidden from the fit with anything else must not change a choice."""
    one, two = (TunedLDL(grids=GRID, random_state=0).fit(X, y) for y in (Y, Y.copy()))
    assert one.trials_ == two.trials_


def test_defaults_are_kept_if_nothing_is_better():
    tuned = TunedLDL(WInLDL(ridge=0.5), {"ridge": [0.5]}, random_state=0).fit(X, Y)
    assert tuned.best_params_ == {"ridge": 0.5}
    assert len(tuned.trials_) == 1


def test_a_candidate_that_is_refused_is_left_out():
    grids = {"regressor__n_neighbors": [5, 0]}
    tuned = TunedLDL(make_method("knn"), grids, random_state=0).fit(X, Y)
    assert [trial["parameters"]["regressor__n_neighbors"] for trial in tuned.trials_] == [10, 5]


def test_many_combinations_are_tried_one_constant_after_the_other():
    grids = {"ridge": [1e-5, 1e-2, 1], "mu": [1.0, 2.0, 4.0]}
    few = TunedLDL(grids=grids, max_trials=8, random_state=0).fit(X, Y)
    every = TunedLDL(grids=grids, max_trials=9, random_state=0).fit(X, Y)
    assert len(every.trials_) == 9
    assert len(few.trials_) == 5


def test_ratios_are_judged_as_ratios():
    y = hide(TRUTH, 0.4, renormalise=True, random_state=0)
    tuned = TunedLDL(WInLDL(known="ratios", ridge=1e6), GRID, random_state=0).fit(X, y)
    assert tuned.known == "ratios"
    assert tuned.best_params_ == {"ridge": 1e-5}


def test_weights_reach_the_method():
    weights = np.arange(len(X)) % 3 + 0.5
    tuned = TunedLDL(grids=GRID, random_state=0).fit(X, Y, sample_weight=weights)
    expected = WInLDL(**tuned.best_params_).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(tuned.predict(X), expected.predict(X))


def test_a_pipeline_can_be_tuned():
    pipeline = make_pipeline(StandardScaler(), WInLDL(ridge=1e6))
    tuned = TunedLDL(pipeline, {"winldl__ridge": [1e-5]}, random_state=0).fit(X, Y)
    assert tuned.best_params_ == {"winldl__ridge": 1e-5}
    assert tuned.complete(X, Y).shape == Y.shape


@pytest.mark.parametrize("name", PLAIN)
def test_declared_constants_are_parameters(name):
    """Every candidate that a method declares is one that it takes."""
    method = make_method(name, 0)
    for constant, candidates in method.tunable.items():
        assert constant in method.get_params()
        assert len(candidates) > 1
        for value in candidates:
            changed = clone(method).set_params(**{constant: value})
            check = getattr(changed, "_check_parameters", None)
            if check is not None:
                check()


@pytest.mark.parametrize(
    ("tuner", "why"),
    [
        (TunedLDL(ConstantLDL()), "ConstantLDL declares nothing to tune; give your own"),
        (TunedLDL(grids=["mu"]), "only for ridge; give your own, as in .*{'mu': "),
        (TunedLDL(grids="mu"), "only for ridge"),
        (TunedLDL(grids=["rigde"]), "WInLDL has no parameter 'rigde': did you mean ridge"),
        (TunedLDL(grids={"mu": 3}), "The candidates for 'mu' must be a list, got 3"),
        (TunedLDL(metric="nice"), "metric must be"),
        (TunedLDL(hide="all"), "hide must be"),
    ],
)
def test_refusals(tuner, why):
    with pytest.raises(ValueError, match=why):
        tuner.fit(X, Y)


def test_names():
    tuned = make_method("winldl(mu=4, ridge=tuned)", 3)
    assert (tuned.estimator.mu, tuned.grids, tuned.random_state) == (4, ["ridge"], 3)
    assert make_method("tuned(method=forest)", 3).estimator.random_state == 3
    tuned = make_method("ridge(alpha=tuned)", 0).fit(X, Y)
    assert isinstance(tuned.estimator_, RegressorLDL)
    assert list(tuned.best_params_) == ["regressor__alpha"]


def test_results_record_what_was_chosen(tmp_path):
    methods = ["winldl(ridge=tuned)", "winldl"]
    store = Store(tmp_path / "run.sqlite")
    for cell in grid(["random(n=60)"], methods, rates=[0.5], splits=1, recipe="raw"):
        store.add(measure(cell))
    chosen = store.frame().set_index("method")["chosen"]
    assert chosen["winldl(ridge='tuned')"].startswith("ridge=")
    assert chosen["winldl"] == ""


def test_files(tmp_path):
    tuned = TunedLDL(grids=GRID, random_state=0).fit(X, Y)
    save_model(tuned, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    np.testing.assert_array_equal(again.predict(X), tuned.predict(X))
    assert again.chosen_ == "ridge=1e-05"


def test_metrics_are_those_of_the_list():
    for name in METRICS:
        TunedLDL(metric=name)._check_parameters()
