"""AutoInLDL: what it chooses, what it says, hard data, budgets, and expected numbers."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from inldl import AutoInLDL, TableModel, WInLDL, evaluate, hide
from inldl.datasets import make_distributions
from inldl.methods import ConstantLDL, KernelRidgeLDL
from inldl.methods import auto_fitting as _auto_fitting
from inldl.rows.partial import PartialRows
from inldl.solvers.softmax import softmax

nan = np.nan


def curved(n=300, rate=0.4, seed=0, noise=0.0):
    """Return distributions that no linear function predicts, with holes, and without."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    scores = 2 * np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2, X[:, 2], np.zeros(n)])
    y = softmax(scores + noise * rng.normal(size=scores.shape))
    return X, hide(y, rate, random_state=seed), y


def assert_distributions(P, shape):
    assert P.shape == shape
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = curved()
    return AutoInLDL(random_state=0).fit(X, y)


def test_mean_of_members(fitted):
    X, y, truth = curved()
    parts = [fitted.weights_[name] * m.predict(X) for name, m in fitted.members_.items()]
    mean = sum(parts) + fitted.weights_["constant-mean"] * fitted.constant_
    np.testing.assert_allclose(fitted.predict(X), mean, atol=1e-12)
    assert_distributions(fitted.held_out_, y.shape)
    assert evaluate(truth, fitted.held_out_)["cosine"] > 0.97


def test_learned_weights_are_on_the_way_to_the_best(fitted):
    """Another optimiser finds the same weights, and equal ones are an option."""
    X, y, _ = curved()
    y = PartialRows(y).forced()
    seen, holes = ~np.isnan(y), np.isnan(y)
    rows = seen.any(axis=1) & holes.any(axis=1)
    target = np.append(y[seen], 1 - np.nansum(y[rows], axis=1))
    held_out = [
        np.append(member.held_out_[seen], (member.held_out_ * holes).sum(axis=1)[rows])
        for member in fitted.members_.values()
    ]
    n = len(held_out)
    found = minimize(
        lambda w: 1e3 * ((w @ held_out - target) ** 2).sum(),
        np.ones(n) / n,
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        tol=1e-12,
    )
    assert "linear-ridge" not in fitted.members_  # of no weight here
    weights = [fitted.weights_[name] for name in fitted.members_]
    observed = seen.sum()
    equal = np.array([name == "kernel-softmax" for name in fitted.members_])  # others err more
    expected = (observed * found.x + 1000 * equal) / (observed + 1000)
    np.testing.assert_allclose(weights, expected, atol=2e-3)
    equal = clone(fitted).set_params(weights="equal").fit(X, y)
    assert [name for name, weight in equal.weights_.items() if weight] == ["kernel-softmax"]
    three = ("kernel-ridge", "forest", "linear-ridge")
    assert sorted(AutoInLDL(three, "equal").fit(X[:60], y[:60]).weights_.values())[-1] >= 0.5
    with pytest.raises(ValueError, match="weights must be one of 'learned', 'equal'"):
        AutoInLDL(weights="best").fit(X, y)


def test_intervals_hold_what_they_promise():
    X, y, _ = curved(noise=0.3)
    model = AutoInLDL(random_state=0).fit(X, y)
    X, _, truth = curved(600, seed=1, noise=0.3)
    for coverage in (0.5, 0.9):
        lower, upper = model.predict_interval(X, coverage)
        inside = np.mean((lower <= truth) & (truth <= upper))
        assert inside == pytest.approx(coverage, abs=0.05)


def test_report(fitted):
    _, y, _ = curved()
    report = fitted.report_
    assert report.rows == 300
    assert report.kernel == fitted.members_["kernel-ridge"].kernel_
    assert report.members["kernel-ridge"].chosen == {
        "alpha": fitted.members_["kernel-ridge"].alpha_
    }
    rmse = np.sqrt(np.nanmean((fitted.held_out_ - y) ** 2))
    assert report.error == pytest.approx(rmse, rel=0.05)
    assert report.error < report.members["constant-mean"].error / 2
    assert report.notes == [
        "As linear-ridge errs much more than kernel-softmax, linear-softmax was left out.",
        "Adds nothing to the others, so not used: forest, linear-ridge.",
    ]
    text = str(report)
    for word in ("kernel-ridge", "alpha=", "constant-mean", "combined", report.kernel):
        assert word in text


def test_reproducible_for_any_number_of_threads():
    X, y, _ = curved(80)
    models = [AutoInLDL(random_state=3, n_jobs=n).fit(X, y) for n in (None, 2, -1)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict(X), models[0].predict(X))
        np.testing.assert_array_equal(model.held_out_, models[0].held_out_)
    copy = pickle.loads(pickle.dumps(models[0]))
    np.testing.assert_array_equal(copy.predict(X), models[0].predict(X))


def test_members_can_be_fewer():
    X, y, _ = curved(100)
    model = AutoInLDL("kernel-softmax", random_state=0).fit(X, y)
    assert list(model.members_) == ["kernel-softmax"]
    assert model.weights_["kernel-softmax"] > 0.9
    for members in ("trees", ("forest", "forest"), (), 3):
        with pytest.raises(ValueError, match="members must be some of 'boosted', "):
            AutoInLDL(members).fit(X, y)


def test_verbose_says_what_is_done(capsys):
    X, y, _ = curved(60)
    AutoInLDL(random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert "kernel of scale" in lines[0]
    names = ["boosted", "kernel-softmax", "kernel-ridge", "forest", "linear-ridge"]
    for name, line in zip(names, lines[1:], strict=False):
        assert f"{name}: held-out error" in line
    assert "linear-softmax was left out" in lines[6]
    assert "Adds nothing to the others" in lines[7]
    assert len(lines) == 8


def test_members_of_one_class_have_numbers_and_estimators_of_distributions_learn_all_labels():
    X, y, _ = curved(100)
    model = AutoInLDL([Ridge(), Ridge(alpha=3.0), WInLDL(ridge=1.0)], random_state=0).fit(X, y)
    assert {"Ridge-1", "Ridge-2", "WInLDL"} < set(model.report_.members)
    alone = AutoInLDL([WInLDL(ridge=1.0)], random_state=0).fit(X, y)
    assert alone.weights_["WInLDL"] > 0.3
    assert isinstance(alone.members_["WInLDL"].models_[0], WInLDL)


def test_regressors_are_members_too():
    X, y, _truth = curved(150)
    y[:, 1] = np.where(np.arange(150) == 7, y[:, 1], np.nan)  # in most folds without a degree
    members = ("kernel-softmax", KNeighborsRegressor(3), ExtraTreesRegressor(20))
    model = AutoInLDL(members, random_state=0).fit(X, y)
    names = ["kernel-softmax", "KNeighborsRegressor", "ExtraTreesRegressor"]
    assert list(model.report_.members)[1:] == names
    again = AutoInLDL(clone(model).members, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    alone = AutoInLDL(KNeighborsRegressor(3), random_state=0).fit(X, y)
    assert list(alone.members_) == ["KNeighborsRegressor"]
    for wrong in (("forest", "forest"), (3,), KNeighborsRegressor):
        with pytest.raises(ValueError, match="and regressors, each once, got"):
            AutoInLDL(wrong).fit(X, y)


def test_few_rows_show_which_members_are_hopeless(monkeypatch):
    """Where labels jump, kernels get no time, and the report says why."""
    monkeypatch.setattr(_auto_fitting, "RACE", 100)
    monkeypatch.setattr(_auto_fitting, "ROWS_FOR_KERNEL", 100)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 6))
    y = np.where(np.sign(X[:, :2]).prod(axis=1, keepdims=True) > 0, [[0.8, 0.2]], [[0.3, 0.7]])
    model = AutoInLDL(random_state=0).fit(X, y)
    report = model.report_
    assert list(report.members) == ["constant-mean", "boosted"]
    assert next(name for name, *_ in report.curve) == "kernel ridge"
    assert any("kernel-ridge was left out" in note for note in report.notes)
    assert "With fewer rows: kernel ridge 100 rows " in str(report)
    assert report.error < report.curve[0][-1] / 2


def linear(n=300, k=40):
    """Return distributions that are linear in many features, with holes, and without."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.maximum(0.25 + 0.01 * X @ rng.normal(size=(k, 4)), 0.001)
    y += 0.03 * rng.random(y.shape)
    y /= y.sum(axis=1, keepdims=True)
    return X, hide(y, 0.5, random_state=0), y


def test_a_linear_member_has_weight_where_data_are_linear():
    X, y, _ = linear()
    model = AutoInLDL(("kernel-ridge", "linear-ridge"), random_state=0).fit(X, y)
    assert model.weights_["linear-ridge"] > 0.3
    assert model.members_["linear-ridge"].kernel_ == "linear"


def test_features_become_quantiles_where_that_helps():
    """Only the order of these features tells; most rows look the same on their own scale."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    y = softmax(np.column_stack([2 * Z, np.zeros(300)]))
    holes = hide(y, 0.5, random_state=0)
    found = [AutoInLDL("kernel-ridge", random_state=0).fit(X, holes) for X in (Z, np.exp(3 * Z))]
    assert [model.columns_.quantiles_ is not None for model in found] == [False, True]
    assert "normal quantiles" in str(found[1].report_)
    assert "rbf of quantiles" in str(found[1].report_)
    plain = KernelRidgeLDL(random_state=0).fit(np.exp(3 * Z), holes)
    errors = [evaluate(y, m.held_out_)["euclidean"] for m in (found[1], plain)]
    assert errors[0] < 0.7 * errors[1]
    far = found[1].predict(np.array([[1e9, -5.0, 1.0]]))  # beyond all quantiles
    assert_distributions(far, (1, 4))


def test_a_costly_member_that_falls_behind_is_not_fitted(monkeypatch):
    monkeypatch.setattr(_auto_fitting, "RACE", 100)
    monkeypatch.setattr(_auto_fitting, "RACE_OF_EACH", 1)
    X, y, _ = linear()
    model = AutoInLDL(random_state=0).fit(X, y)
    assert "forest" not in model.weights_
    assert "rows the error of forest is" in str(model.report_)
    X = np.random.default_rng(0).uniform(-1, 1, size=(210, 15))  # one feature tells, in steps
    y = softmax(np.column_stack([4.0 * (X[:, 0] > 0.3), 4.0 * (X[:, 0] < -0.3), np.ones(210)]))
    monkeypatch.setattr(_auto_fitting, "RACE", 1000)  # all rows are few
    members = ("kernel-ridge", "forest")
    model = AutoInLDL(members, random_state=0).fit(X, hide(y, 0.3, random_state=0))
    assert "forest" in model.weights_


# --- honest where there is nothing to learn -----------------------------------------------------


def test_noise_gives_the_constant_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 10)), rng.dirichlet(np.ones(4), 900)
    holes = hide(y, 0.5, random_state=0)
    model = AutoInLDL(random_state=0).fit(X[:400], holes[:400])
    constant = ConstantLDL().fit(X[:400], holes[:400])
    ours, theirs = (evaluate(y[400:], m.predict(X[400:]))["cosine"] for m in (model, constant))
    assert model.weights_["forest"] == 0
    assert ours > theirs - 0.004
    assert "No better than the constant mean" in str(model.report_)


def test_held_out_predictions_do_not_see_their_fold():
    """Degrees that are noise cannot be predicted, though a feature gives each row away."""
    rng = np.random.default_rng(0)
    y = hide(rng.dirichlet(np.ones(3), 100), 0.3, random_state=0)
    model = AutoInLDL(random_state=0).fit(np.eye(100), y)
    for member in model.report_.members.values():
        assert member.error > 0.95 * model.report_.members["constant-mean"].error


# --- small degrees ----------------------------------------------------------------------------


def small_and_large(n, seed):
    """Return a feature, and two degrees that it and a little noise tell."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1))
    first = np.clip(x[:, 0] + rng.normal(0, 0.003, n), 0, 1)
    return x, np.column_stack([first, 1 - first])


def test_small_degrees_are_predicted_as_small_as_they_are():
    X, y = small_and_large(1000, 0)
    model = AutoInLDL(random_state=0).fit(X, y)
    given = np.array([[0.01], [0.02], [0.05], [0.99]])
    np.testing.assert_allclose(model.predict(given)[:, :1], given, atol=0.003)
    new, truth = small_and_large(4000, 1)
    lower, upper = model.predict_interval(new, 0.9)
    inside = ((lower <= truth) & (truth <= upper))[truth < 0.1]
    assert inside.mean() == pytest.approx(0.9, abs=0.04)


# --- rows of groups -----------------------------------------------------------------------------


def groups_of_rows(n_groups, seed):
    """Return features and degrees of groups that features do not tell all of, and the groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), 6)
    features, own = rng.normal(size=(n_groups, 4)), rng.normal(size=(n_groups, 3))
    y = softmax(features[:, :3][group] + own[group] + 0.1 * rng.normal(size=(len(group), 3)))
    return np.column_stack([features[group], rng.random(len(group))]), y, group


@pytest.mark.parametrize(
    "model", [AutoInLDL("kernel-ridge", random_state=0), TableModel(), WInLDL(cross_fit=5)]
)
def test_errors_are_those_of_new_groups_if_groups_are_given(model):
    X, y, group = groups_of_rows(80, 0)
    new, truth, _ = groups_of_rows(200, 1)
    errors = []
    for groups in (None, group):
        fitted = clone(model).fit(X, y, groups=groups)
        own = np.sqrt(np.mean((fitted.held_out_ - y) ** 2))
        errors.append(own / np.sqrt(np.mean((fitted.predict(new) - truth) ** 2)))
    assert errors[0] < errors[1] == pytest.approx(1, abs=0.15)


def test_rows_of_a_group_without_weight_are_left_out():
    X, y, group = groups_of_rows(30, 0)
    weights, model = (group != 3).astype(float), AutoInLDL("kernel-ridge", random_state=0)
    some = clone(model).fit(X[group != 3], y[group != 3], groups=group[group != 3])
    all_rows = model.fit(X, y, weights, groups=group)
    np.testing.assert_allclose(all_rows.held_out_[group != 3], some.held_out_)


@pytest.mark.parametrize(
    ("groups", "words"),
    [([1, 2], "one group for each"), ([None] * 180, "has no group"), ([1] * 180, "one group")],
)
def test_groups_that_cannot_be_held_out_are_refused(groups, words):
    X, y, _ = groups_of_rows(30, 0)
    with pytest.raises(ValueError, match=words):
        AutoInLDL("kernel-ridge").fit(X, y, groups=groups)


# --- time ---------------------------------------------------------------------------------------


def test_a_budget_of_nothing_gives_the_constant_mean():
    X, y, _ = curved(100)
    with pytest.warns(UserWarning, match="forest was left out, to keep the time budget"):
        model = AutoInLDL(time_budget=1e-9, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.tile(model.constant_, (100, 1)))
    assert model.report_.members.keys() == {"constant-mean"}


def test_a_budget_that_is_ample_changes_nothing():
    X, y, _ = curved(50)
    models = [AutoInLDL(time_budget=t, random_state=0).fit(X, y) for t in (None, 1e4)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


@pytest.mark.slow
def test_a_budget_takes_rows(monkeypatch):
    """Rows are taken by their predicted cost: here the clock counts rows instead of seconds."""
    X, y, truth = curved(1500)
    asked = []

    def rows(self, trial, n, share):
        asked.append((n, share))
        return n if len(asked) < 3 else 600

    monkeypatch.setattr(_auto_fitting.Budget, "rows", rows)
    with pytest.warns(UserWarning, match="kernel-ridge was fitted to about 600 of 1500 rows"):
        model = AutoInLDL(time_budget=1.0, random_state=0).fit(X, y)
    shares = [0.2, 1 / 7, 1 / 6, 1 / 5, 1 / 4, 1 / 3, 1 / 2]
    assert [share for _, share in asked] == pytest.approx(shares)
    taken = [1500, 1500, 600, 600, 600, 600, 600]
    assert [m.rows for m in model.report_.members.values()] == taken
    assert_distributions(model.held_out_, y.shape)
    assert evaluate(truth, model.held_out_)["cosine"] > 0.97


def test_budget_extrapolates_a_trial(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_auto_fitting, "perf_counter", lambda: now[0])

    def trial(rows):
        now[0] += rows / 500  # a second
        return 2.0

    assert _auto_fitting.Budget(None, 0.0).rows(trial, 10_000, 1) == 10_000
    assert _auto_fitting.Budget(100.0, 0.0).rows(trial, 900, 1) == 900
    assert now[0] == 0
    assert _auto_fitting.Budget(13.0, 0.0).rows(trial, 10_000, 1) == 5000
    assert _auto_fitting.Budget(100.0, now[0]).rows(trial, 10_000, 1) == 10_000
    assert _auto_fitting.Budget(3.5, now[0]).rows(trial, 10_000, 1) == 0
    assert _auto_fitting.Budget(0.5, 0.0).rows(trial, 900, 1) == 0


# --- hard data ----------------------------------------------------------------------------------


def hard_cases():
    rng = np.random.default_rng(0)
    X, y, _ = curved(20)
    yield "20 rows", X, y
    yield "2 labels", X, hide(rng.dirichlet([1, 1], 20), 0.3, random_state=0)
    yield "one feature", X[:, :1], y
    yield "all rows with holes", X, np.where(np.eye(4)[rng.integers(4, size=20)], nan, y)
    rare = y.copy()
    rare[3:, 1] = nan
    yield "three degrees of a label", X, rare
    rare = rare.copy()
    rare[1:, 1] = nan
    yield "one degree of a label", X, rare
    yield "constant features", np.ones((20, 3)), y
    empty = y.copy()
    empty[::2] = nan
    yield "rows without degrees", X, empty
    yield "duplicated rows", X[[0, 1] * 10], y[[0, 1] * 10]
    yield "two rows", X[:2], np.array([[0.2, 0.8], [0.6, 0.4]])
    yield "one label", X, np.ones((20, 1))
    yield "more features than rows", rng.normal(size=(20, 60)), y
    yield "degrees 0 and 1", X, np.eye(4)[rng.integers(4, size=20)]


CASES = {name: (X, y) for name, X, y in hard_cases()}


@pytest.mark.parametrize("case", CASES)
def test_hard_data(case):
    X, y = CASES[case]
    y = y.copy()
    if np.isnan(y).all(axis=0).any():
        y[0] = 1 / y.shape[1]
    model = AutoInLDL(random_state=0).fit(X, y)
    assert_distributions(model.predict(X), y.shape)
    assert_distributions(model.held_out_, y.shape)
    assert_distributions(model.predict(X + 1e6), y.shape)
    assert str(model.report_)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="AutoInLDL needs at least 2 rows to hold one out"):
        AutoInLDL().fit(np.ones((1, 2)), np.array([[0.5, 0.5]]))


def test_wrong_parameters():
    X, y = make_distributions(20, random_state=0)
    with pytest.raises(ValueError, match="time_budget must be a number greater than 0"):
        AutoInLDL(time_budget=0).fit(X, y)


# --- expected numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rate", "cosine"),
    [
        pytest.param("SJAFFE", 0.5, 0.956, marks=pytest.mark.slow),
        pytest.param("SJAFFE", 0.1, 0.962, marks=pytest.mark.slow),
        pytest.param("SJAFFE", 0.9, 0.937, marks=pytest.mark.slow),
        pytest.param("SCUT_FBP", 0.5, 0.872, marks=pytest.mark.slow),  # .860 without quantiles
        pytest.param("Yeast_heat", 0.5, 0.9887, marks=pytest.mark.slow),
    ],
)
def test_expected_cosine(public, name, rate, cosine):
    X, y = public(name)
    n, found, constant = len(X), [], []
    for seed in range(5 if name == "SJAFFE" else 2):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n)
        train, test = order[: int(0.8 * n)], order[int(0.8 * n) :]
        given = np.where(rng.random((len(train), y.shape[1])) < 1 - rate, y[train], nan)
        for models, model in ((found, AutoInLDL(random_state=0)), (constant, ConstantLDL())):
            models.append(evaluate(y[test], model.fit(X[train], given).predict(X[test]))["cosine"])
    assert np.mean(found) == pytest.approx(cosine, abs=0.004)
    assert np.mean(found) > np.mean(constant)
