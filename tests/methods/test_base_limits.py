"""Bounds and sums in `fit` and `complete` of every method."""

import inspect

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inldl import AutoInLDL, WInLDL, complete, hide
from inldl.files import load_model, save_model
from inldl.methods import KernelRidgeLDL
from inldl.methods.registry import METHODS, make_method
from inldl_paper.literature import InLDLProx
from plain_methods import PLAIN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NAN = np.nan
N = 40  # too few for forests, which take their time
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
TRUTH = np.exp(X @ RNG.normal(size=(3, 4)) / 2 + RNG.normal(size=(N, 4)) / 4)
TRUTH /= TRUTH.sum(axis=1, keepdims=True)
Y = hide(TRUTH, 0.5, random_state=0)
HOLES = np.isnan(Y)
UPPER = np.where(HOLES & (np.arange(N) % 3 > 0)[:, None], TRUTH + 0.03, NAN)
LOWER = np.where(HOLES & (np.arange(N) % 4 == 0)[:, None], TRUTH * 0.8, NAN)
SUMS = {(0, 2): np.where(np.arange(N) % 5 == 0, TRUTH[:, 0] + TRUTH[:, 2], NAN)}
KNOWN = {"lower": LOWER, "upper": UPPER, "sums": SUMS}
REST = np.broadcast_to(1 - np.nansum(Y, axis=1, keepdims=True), Y.shape)
VACUOUS = [
    {"lower": np.zeros_like(Y), "upper": np.ones_like(Y)},
    {"upper": np.where(HOLES, REST, NAN), "sums": {(0, 1): np.full(N, NAN)}},
]
SMALL = {
    "auto": "auto(members=('kernel-ridge',))",
    "forest": "forest(n_trees=2, kernel='rbf', scale=1.0)",
    "kernel-softmax": "kernel-softmax(kernel='rbf', scale=1.0)",
    "kernel-ridge": "kernel-ridge(kernel='rbf', scale=1.0)",
    "extra-trees": "extra-trees(n_estimators=3)",
    "boosting": "boosting(max_iter=2)",
}
NAMES = [name for name in PLAIN if not name.endswith("-published") and ":" not in name]
BOUNDED = ["winldl", "inldl-u", "inldl-rand", "auto", "kernel-ridge", "kernel-softmax", "forest"]


def made(name):
    model = make_method(SMALL.get(name, name))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=5)
    return model


def keeps(completed, y=Y, lower=LOWER, upper=UPPER, sums=SUMS, atol=1e-9):
    """Assert that a completed table keeps all that is known, bounds in its own precision."""
    completed, y = np.asarray(completed), np.asarray(y)
    holes, kind = np.isnan(y), completed.dtype
    np.testing.assert_array_equal(completed[~holes], y[~holes])
    assert (completed >= np.fmax(lower, 0).astype(kind))[holes].all()
    assert (completed <= np.fmin(upper, 1).astype(kind))[holes].all()
    np.testing.assert_allclose(completed.sum(axis=1), 1, atol=atol)
    for labels, total in (sums or {}).items():
        told = ~np.isnan(total)
        there = completed[:, list(labels)].sum(axis=1)
        np.testing.assert_allclose(there[told], total[told], atol=atol)


def test_the_methods_that_learn_from_bounds():
    found = {n for n in NAMES if "lower" in inspect.signature(made(n).fit).parameters}
    assert found >= set(BOUNDED)
    assert {METHODS[name].class_name for name in found} == {
        METHODS[name].class_name for name in BOUNDED
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_method_completes_within_bounds(name):
    model = made(name).fit(X, Y)
    keeps(model.complete(X, Y, **KNOWN))
    plain = model.complete(X, Y)
    for known in VACUOUS:
        np.testing.assert_array_equal(model.complete(X, Y, **known), plain)


@pytest.mark.parametrize("name", BOUNDED[1:])  # tests/solvers/test_winldl_limits.py has the first
def test_bounds_that_say_nothing_change_no_bit_of_a_fit(name):
    expected = made(name).fit(X, Y).predict(X)
    for known in VACUOUS:
        np.testing.assert_array_equal(made(name).fit(X, Y, **known).predict(X), expected)


@pytest.mark.parametrize(
    "name", [name for name in BOUNDED if name != "inldl-u"]
)  # no weight there
def test_a_fit_within_bounds_is_another_and_reproducible(name):
    within = made(name).fit(X, Y, **KNOWN)
    assert np.abs(within.predict(X) - made(name).fit(X, Y).predict(X)).max() > 1e-4
    keeps(within.complete(X, Y, **KNOWN))
    again = made(name).fit(X, Y, **KNOWN).predict(X)
    np.testing.assert_array_equal(again, within.predict(X))


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_in_a_hole_under_its_bound_changes_nothing(name):
    expected = made(name).fit(X, Y, **KNOWN)
    for value in (0.0, 1e6):
        y = np.ma.masked_array(np.where(HOLES, value, Y), HOLES)
        upper = np.ma.masked_array(np.where(np.isnan(UPPER), value, UPPER), np.isnan(UPPER))
        model = made(name).fit(X, y, **KNOWN | {"upper": upper})
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))
        completed = model.complete(X, y, **KNOWN | {"upper": upper})
        np.testing.assert_array_equal(completed, expected.complete(X, Y, **KNOWN))


INTERVALS = {
    "winldl": WInLDL(cross_fit=3, max_iter=5),
    "kernel-ridge": KernelRidgeLDL(kernel="rbf", scale=1.0, random_state=0),
    "auto": AutoInLDL(members="kernel-ridge", random_state=0),
}


@pytest.fixture(scope="module")
def models():
    """Return models that were fitted without and with bounds."""
    found = {name: clone(model).fit(X, Y) for name, model in INTERVALS.items()}
    within = {f"{n} within": clone(m).fit(X, Y, **KNOWN) for n, m in INTERVALS.items()}
    return found | within


@pytest.mark.parametrize("name", [*INTERVALS, *(f"{name} within" for name in INTERVALS)])
def test_intervals_and_draws_keep_what_is_known(models, name):
    model = models[name]
    filled, lower, upper = model.complete_interval(X, Y, **KNOWN)
    np.testing.assert_array_equal(filled, model.complete(X, Y, **KNOWN))
    keeps(filled)
    assert (lower <= filled).all()
    assert (filled <= upper).all()
    assert (lower >= np.fmax(LOWER, 0) - 1e-9)[HOLES].all()
    assert (upper <= np.fmin(UPPER, 1) + 1e-9)[HOLES].all()
    np.testing.assert_array_equal(lower[~HOLES], Y[~HOLES])
    draws = model.draw(X, Y, n_draws=3, random_state=0, **KNOWN)
    for each in draws:
        keeps(each)
    assert (draws[0] != draws[1]).any()
    for known in VACUOUS:
        np.testing.assert_array_equal(
            model.draw(X, Y, n_draws=3, random_state=0, **known),
            model.draw(X, Y, n_draws=3, random_state=0),
        )
        plain = model.complete_interval(X, Y)
        for a, b in zip(model.complete_interval(X, Y, **known), plain, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [*INTERVALS, "winldl within"])
def test_single_precision_stays_and_keeps_bounds(models, name):
    y = Y.astype(np.float32)
    known = KNOWN | {"sums": None}
    completed = models[name].complete(X, y, **known)
    assert completed.dtype == np.float32
    keeps(completed, y, sums=None, atol=1e-6)
    for each in models[name].draw(X, y, n_draws=2, random_state=0, **known):
        keeps(each, y, sums=None, atol=1e-6)


@settings(max_examples=10)
@given(st.data())
def test_rows_of_any_kind_are_completed_within_bounds(models, data):
    name = data.draw(st.sampled_from(sorted(models)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    truth = rng.dirichlet(np.full(4, data.draw(st.sampled_from([0.2, 1.0, 30.0]))), N)
    y = np.where(rng.random(truth.shape) < data.draw(st.floats(0, 1)), NAN, truth)
    room = data.draw(st.sampled_from([0.0, 1e-6, 0.05, 0.5]))
    lower = np.where(rng.random(truth.shape) < 0.5, truth - room, NAN)
    upper = np.where(rng.random(truth.shape) < 0.5, truth + room, NAN)
    total = np.where(rng.random(N) < 0.5, truth[:, 1] + truth[:, 3], NAN)
    known = {"lower": lower, "upper": upper, "sums": {(1, 3): total}}
    keeps(models[name].complete(X, y, **known), y, **known)


def test_frames_come_back_as_frames(models):
    y, upper = (pd.DataFrame(a, columns=list("abcd"), index=range(7, 47)) for a in (Y, UPPER))
    model = models["kernel-ridge"]
    completed = model.complete(X, y, upper=upper, sums={("a", "c"): SUMS[0, 2]})
    pd.testing.assert_index_equal(completed.index, y.index)
    expected = model.complete(X, Y, upper=UPPER, sums=SUMS)
    np.testing.assert_array_equal(completed, expected)
    for each in model.draw(X, y, upper=upper, n_draws=2, random_state=0):
        assert list(each.columns) == list("abcd")
    with pytest.raises(ValueError, match="columns of upper are d, c, b, a, but the labels are a"):
        model.complete(X, y, upper=upper[list("dcba")])


CALLS = {
    "complete": lambda model, y, **known: model.complete(X, y, **known),
    "intervals": lambda model, y, **known: model.complete_interval(X, y, **known),
    "draws": lambda model, y, **known: model.draw(X, y, n_draws=2, **known),
    "fit": lambda model, y, **known: clone(model).fit(X, y, **known),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", INTERVALS)
def test_contradictions_name_row_and_label(models, name, call):
    row, label = np.argwhere(HOLES)[-1]
    bad = UPPER.copy()
    bad[row, label] = -0.5
    frame = pd.DataFrame(Y, columns=list("abcd"))
    for y, told in ((Y, f"label {label}"), (frame, f"label '{'abcd'[label]}'")):
        words = rf"The bounds of {told} in row {row} \(counted from 0\) are 0 and -0.5"
        with pytest.raises(ValueError, match=words):
            CALLS[call](models[name], y, upper=bad)
    total = np.full(N, NAN)
    total[3] = 1.5
    with pytest.raises(ValueError, match=r"In row 3 \(counted from 0\) the labels 0, 2 must sum"):
        CALLS[call](models[name], Y, sums={(0, 2): total})


@pytest.mark.parametrize("model", [WInLDL(max_iter=5), InLDLProx(max_iter=3)], ids=repr)
def test_dask_arrays_are_completed_lazily_within_bounds(model):
    model.fit(X, Y)
    expected = model.complete(X, Y, **KNOWN)
    lazy = da.from_array(X, chunks=(13, 2)), da.from_array(Y, chunks=(9, -1))
    for known in (KNOWN, KNOWN | {"upper": da.from_array(UPPER, chunks=(11, 3))}):
        completed = model.complete(*lazy, **known)
        assert isinstance(completed, da.Array)
        np.testing.assert_allclose(completed.compute(), expected, rtol=0, atol=1e-12)
        keeps(completed.compute())
    bad = UPPER.copy()
    row, label = np.argwhere(HOLES)[-1]
    bad[row, label] = -1
    later = model.complete(*lazy, upper=bad)
    with pytest.raises(ValueError, match=f"label {label} in row {row} "):
        later.compute()


UNSEEN = np.where(np.arange(4) == 0, NAN, Y)
ALWAYS = {
    "lower": np.where(np.arange(4) == 0, TRUTH * 0.8, NAN),
    "upper": np.where(np.arange(4) == 0, TRUTH * 1.2, NAN),
}


@pytest.mark.parametrize("name", ["kernel-ridge", "auto"])
def test_a_label_that_is_only_ever_bounded_can_be_learned(name):
    model = clone(INTERVALS[name]).fit(X, UNSEEN, **ALWAYS)
    mean = np.broadcast_to(TRUTH.mean(axis=0), TRUTH.shape)
    errors = [((p - TRUTH)[:, 0] ** 2).mean() for p in (model.predict(X), mean)]
    assert errors[0] < 0.6 * errors[1]
    completed, lower, upper = model.complete_interval(X, UNSEEN, **ALWAYS)
    keeps(completed, UNSEEN, sums=None, **ALWAYS)
    assert (lower <= completed).all()
    assert (completed <= upper).all()
    keeps(model.draw(X, UNSEEN, n_draws=1, random_state=0, **ALWAYS)[0], UNSEEN, sums=None,
          **ALWAYS)  # fmt: skip
    with pytest.raises(ValueError, match="Label column 0 of y has no observed degree"):
        clone(INTERVALS[name]).fit(X, UNSEEN)


def test_intervals_of_a_label_that_is_only_ever_bounded_are_everything():
    y = np.where(np.arange(4) == 0, NAN, TRUTH)
    y[np.arange(N), np.arange(N) % 2 + 1] = NAN  # one hole is never the only one of its row
    model = KernelRidgeLDL(kernel="rbf", scale=1.0, random_state=0).fit(X, y, **ALWAYS)
    with pytest.warns(UserWarning, match=r"Label 0 was observed 0 time\(s\)"):
        lower, upper = model.predict_interval(X)
    np.testing.assert_array_equal(lower[:, 0], 0)
    np.testing.assert_array_equal(upper[:, 0], 1)
    assert (upper[:, 3] < 1).any()


def test_rows_without_weight_take_their_bounds_along():
    model, kept = INTERVALS["kernel-ridge"], np.arange(N) % 3 > 0
    known = {"upper": np.where(kept[:, None], NAN, np.where(HOLES, TRUTH + 0.03, NAN))}
    weighted = clone(model).fit(X, Y, sample_weight=kept.astype(float), **known)
    without = clone(model).fit(X[kept], Y[kept])
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-9)


@pytest.mark.parametrize("name", [f"{name} within" for name in INTERVALS])
def test_a_saved_model_completes_the_same(models, name, tmp_path):
    model = models[name]
    save_model(model, tmp_path / "model.inldl")
    loaded = load_model(tmp_path / "model.inldl")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.complete(X, Y, **KNOWN), model.complete(X, Y, **KNOWN))
    draws = (each.draw(X, Y, 2, random_state=0, **KNOWN) for each in (loaded, model))
    np.testing.assert_array_equal(*draws)
    for a, b in zip(
        loaded.complete_interval(X, Y, **KNOWN),
        model.complete_interval(X, Y, **KNOWN),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_pipelines_complete_within_bounds():
    pipeline = make_pipeline(StandardScaler(), WInLDL()).fit(X, Y)
    completed = complete(pipeline, X, Y, **KNOWN)
    keeps(completed)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(completed, WInLDL().fit(scaled, Y).complete(scaled, Y, **KNOWN))


def test_bounds_are_routed_through_pipelines_and_searches():
    known = {"lower": LOWER, "upper": UPPER}
    with sklearn.config_context(enable_metadata_routing=True):
        model = WInLDL().set_fit_request(lower=True, upper=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, Y, **known)
        search = GridSearchCV(pipeline, {"winldl__ridge": [1e-5, 10.0]}, cv=3)
        search.fit(X, Y, **known)
    scaled = StandardScaler().fit_transform(X)
    expected = WInLDL().fit(scaled, Y, **known)
    np.testing.assert_array_equal(pipeline[-1].coef_, expected.coef_)
    best = search.best_estimator_[-1]
    np.testing.assert_array_equal(
        best.coef_, WInLDL(ridge=best.ridge).fit(scaled, Y, **known).coef_
    )
    folds = np.array_split(np.arange(N), 3)
    scores = []
    for test in folds:
        train = np.setdiff1d(np.arange(N), test)
        part = {name: a[train] for name, a in known.items()}
        with sklearn.config_context(enable_metadata_routing=True):
            scores.append(clone(pipeline).fit(X[train], Y[train], **part).score(X[test], Y[test]))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores))
    keeps(complete(search, X, Y, **KNOWN))
