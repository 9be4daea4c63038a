"""Completing rows: members, weights, intervals, and what must never leak."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from inldl import AutoInLDL, TableModel, WInLDL, hide
from inldl.completion import Completer
from inldl.completion.members import Mixture, Near, RootNormal, refilled
from inldl.completion.normal import Normal
from inldl.datasets import load
from inldl.methods import KernelRidgeLDL
from inldl.rows.partial import PartialRows
from inldl.uncertainty.heldout import HeldOutSample, row_keys


def related(n=300, n_labels=5, seed=0):
    """Return distributions whose degrees explain each other, and a weak prediction of them."""
    rng = np.random.default_rng(seed)
    position, x = rng.uniform(0, n_labels - 1, n), np.arange(n_labels)
    y = np.exp(-((x - position[:, None]) ** 2) / 1.5)
    y /= y.sum(axis=1, keepdims=True)
    predicted = 0.2 * y + 0.8 * y.mean(axis=0) + 0.01 * rng.random(y.shape)
    return y, predicted / predicted.sum(axis=1, keepdims=True)


def several(y):
    holes = np.isnan(y)
    return holes & (holes.sum(axis=1) > 1)[:, None]


def rmse(filled, truth, at):
    return np.sqrt(np.mean((filled - truth)[at] ** 2))


# --- members ---------------------------------------------------------------------------------


@pytest.mark.parametrize("member", [Near, Normal, RootNormal])
def test_members_keep_what_is_known_and_sum_to_1(member):
    truth, predicted = related()
    y = hide(truth, 0.5, random_state=0)
    rows = PartialRows(y)
    filled, _ = member.learn(Mixture(rows, predicted)).fill(rows, predicted)
    known = ~np.isnan(y)
    np.testing.assert_array_equal(filled[known], y[known])
    np.testing.assert_allclose(filled.sum(axis=1), 1)
    assert filled.min() >= 0


def test_the_square_of_a_normal_number():
    """The moments that RootNormal uses, from random draws."""
    draws = np.random.default_rng(0).normal(0.6, 0.2, 10**6) ** 2
    assert draws.mean() == pytest.approx(0.6**2 + 0.2**2, rel=3e-3)
    assert draws.var() == pytest.approx(4 * 0.6**2 * 0.2**2 + 2 * 0.2**4, rel=1e-2)


# --- the mixture -----------------------------------------------------------------------------


def test_it_is_far_better_than_the_prediction_and_as_good_as_its_best_member():
    truth, predicted = related()
    y = hide(truth, 0.4, random_state=0)
    completer = Completer().fit(PartialRows(y), predicted)
    at, filled = several(y), completer.fill(PartialRows(y), predicted)
    fills = completer.members_.fills(PartialRows(y), predicted)[0]
    errors = dict(zip(completer.members_.names, (rmse(f, truth, at) for f in fills), strict=True))
    assert rmse(filled, truth, at) < 0.5 * errors["near"]
    assert rmse(filled, truth, at) < 1.05 * min(errors.values())
    assert sum(completer.weights_.values()) == pytest.approx(1)
    assert min(completer.weights_.values()) >= 0


def test_hidden_degrees_never_reach_what_fills_them():
    """Whatever a degree is, members that have not seen its row fill it with the same."""
    truth, predicted = related(120)
    y = hide(truth, 0.3, random_state=0)
    completer = Completer().fit(PartialRows(y), predicted)
    learn = partial(completer._learn, most_trees=5)

    def fill_hidden(y):
        return refilled(PartialRows(y), predicted, np.arange(len(y)), learn, seed=0)

    hidden, fills, *_ = fill_hidden(y)
    for entry in range(0, len(hidden.row), 100):
        row, label = hidden.row[entry], hidden.label[entry]
        changed = y.copy()
        changed[row, label] = 0.5 * (1 - np.nansum(np.delete(y[row], label)))
        again, other, *_ = fill_hidden(changed)
        assert (again.row[entry], again.label[entry]) == (row, label)
        np.testing.assert_array_equal(other[:, entry, label], fills[:, entry, label])


def test_nothing_is_learned_from_noise():
    """A leak would make the expected error smaller than the real one."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(5, 2.0), 600)
    predicted = np.full(truth.shape, 0.2)
    y = hide(truth, 0.4, random_state=1)
    completer = Completer().fit(PartialRows(y), predicted)
    found = completer.refilled_
    told = np.sqrt(np.average((found.filled - found.degrees) ** 2, weights=found.weights))
    real = rmse(completer.fill(PartialRows(y), predicted), truth, several(y))
    assert told == pytest.approx(real, rel=0.08)


def test_the_same_bits_for_any_number_of_threads():
    truth, predicted = related(100)
    y = hide(truth, 0.5, random_state=0)
    one, four = (Completer(n_jobs=n).fit(PartialRows(y), predicted) for n in (1, 4))
    np.testing.assert_array_equal(
        four.fill(PartialRows(y), predicted), one.fill(PartialRows(y), predicted)
    )
    for ours, theirs in zip(
        four.fill_with_intervals(PartialRows(y), predicted, 0.9),
        one.fill_with_intervals(PartialRows(y), predicted, 0.9),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


def odd_tables():
    truth, _ = related(90, 4)
    rare = truth.copy()
    rare[3:, 2] = np.nan
    same = truth.copy()
    same[:, [1, 3]] = np.nan
    same[:5] = truth[:5]
    many = np.random.default_rng(0).dirichlet(np.ones(60), 70)
    return {
        "three rows": truth[:3] * [[1, 1, 1, np.nan]],
        "two labels": np.column_stack([truth[:, 0], 1 - truth[:, 0]]) * [[1, np.nan]],
        "one label": np.ones((9, 1)),
        "60 labels": hide(many, 0.5, random_state=0),
        "a rare label": rare,
        "the same holes": same,
        "complete rows": truth,
        "empty rows": np.where(np.arange(90)[:, None] % 2, truth, np.nan),
    }


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * ("60" in n)) for n in odd_tables()]
)
def test_odd_tables_are_completed(name):
    y = odd_tables()[name]
    known = ~np.isnan(y)
    means = 0.01 + np.nansum(y, axis=0) / np.maximum(known.sum(axis=0), 1)
    predicted = np.tile(means / means.sum(), (len(y), 1))
    completer = Completer().fit(PartialRows(y), predicted)
    filled, low, high = completer.fill_with_intervals(PartialRows(y), predicted, 0.9)
    draws = completer.draw(PartialRows(y), predicted, 2, seed=0)
    for table in (filled, *draws):
        np.testing.assert_array_equal(table[known], y[known])
        np.testing.assert_allclose(table.sum(axis=1), 1)
        assert table.min() >= 0
    assert (low <= filled).all()
    assert (filled <= high).all()
    unsure = np.isnan(PartialRows(y).forced())
    assert ((np.ptp(draws, axis=0) > 0) <= unsure).all()
    assert (draws[0] != draws[1]).any() == unsure.any()


# --- intervals -------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [pytest.param(0.3, marks=pytest.mark.slow), 0.6])
def test_intervals_hold_also_in_rows_that_leave_little_or_much(rate):
    truth, predicted = related(1500)
    truth = 0.9 * truth + 0.1 * np.random.default_rng(1).dirichlet(np.ones(5), 1500)
    y = hide(truth, rate, random_state=0)
    _, low, high = (
        Completer()
        .fit(PartialRows(y), predicted)
        .fill_with_intervals(PartialRows(y), predicted, 0.9)
    )
    at = several(y)
    inside = ((low <= truth) & (truth <= high))[at]
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    rest = np.broadcast_to(1 - np.nansum(y, axis=1)[:, None], y.shape)[at]
    for part in np.array_split(np.argsort(rest), 4):
        assert inside[part].mean() == pytest.approx(0.9, abs=0.07)


@pytest.mark.slow
def test_intervals_hold_in_each_fifth_of_small_skewed_tables():
    """One label dominates, the others are log-normal: by what is filled in, by what is left."""
    inside, filled, rest = [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sizes = rng.normal([4.5, 1.5, 0.5, 0, -1], [0.3, 1.8, 2, 1.5, 2], size=(400, 5))
        truth = np.exp(sizes) / np.exp(sizes).sum(axis=1, keepdims=True)
        y = hide(truth, 0.4, random_state=seed)
        predicted = np.tile(truth.mean(axis=0), (400, 1))
        found, low, high = (
            Completer()
            .fit(PartialRows(y), predicted)
            .fill_with_intervals(PartialRows(y), predicted, 0.9)
        )
        at = several(y)
        inside.append(((low <= truth) & (truth <= high))[at])
        filled.append(found[at])
        rest.append(np.broadcast_to(1 - np.nansum(y, axis=1)[:, None], y.shape)[at])
    inside = np.concatenate(inside)
    for by in (filled, rest):
        for fifth in np.array_split(np.argsort(np.concatenate(by), kind="stable"), 5):
            assert inside[fifth].mean() == pytest.approx(0.9, abs=0.05)


# --- one way to complete -----------------------------------------------------------------------


def test_rows_of_the_fit_are_recognised():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 6)).astype(float)
    X[:, 0] += np.arange(200)
    keys = row_keys(X)
    assert len(np.unique(keys)) == 200
    np.testing.assert_array_equal(row_keys(sparse.csr_array(X)), keys)
    np.testing.assert_array_equal(row_keys(X.astype(np.float32)), keys)
    held_out, predicted = rng.random((2, 200, 3))
    examples = HeldOutSample.of(X, np.full((200, 3), np.nan), held_out)
    mixed = examples.replace_predictions(np.vstack([X[7], X[0] + 0.5]), predicted[:2])
    np.testing.assert_array_equal(mixed, [held_out[7], predicted[1]])


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(AutoInLDL(random_state=0), marks=pytest.mark.slow),
        KernelRidgeLDL(random_state=0),
    ],
)
def test_a_model_completes_as_its_method_does(method):
    rng = np.random.default_rng(0)
    truth, _ = related(150)
    X = (truth[:, :3] + rng.normal(size=(150, 3))).round(2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = hide(truth, 0.4, random_state=0)
    model, direct = TableModel(method).fit(X, y), method.fit(X, y)
    encoded = model.encoder_.transform(X)
    again = type(method)(random_state=0).fit(encoded, y)
    found = np.asarray(model.complete(X, y))
    np.testing.assert_array_equal(found, again.complete(encoded, y))
    np.testing.assert_allclose(found, direct.complete(X, y), rtol=0, atol=0.05)


def test_without_held_out_predictions_rows_are_filled_near_the_prediction():
    truth, _ = related(150)
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = hide(truth, 0.4, random_state=0)
    at = several(y)
    near, learned = (WInLDL(cross_fit=f).fit(X, y).complete(X, y) for f in (None, 5))
    assert rmse(learned, truth, at) < 0.6 * rmse(near, truth, at)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rate"), [("SJAFFE", 0.3), ("SJAFFE", 0.6), ("SCUT_FBP", 0.3)])
def test_public_data_are_completed_better_than_by_chained_forests(shared, monkeypatch, name, rate):
    """chained forests: scikit-learn's IterativeImputer with trees, fitted to rows of sum 1."""
    from sklearn.decomposition import PCA
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    monkeypatch.setenv("INLDL_DATA", str(shared))
    X, truth = load(name, return_X_y=True)
    X, truth = X[:400], truth[:400]
    y = hide(truth, rate, random_state=3)
    at, rest = several(y), np.maximum(1 - np.nansum(y, axis=1), 0)
    trees = ExtraTreesRegressor(50, min_samples_leaf=2, max_features=0.5, random_state=0)
    columns = np.hstack([PCA(30, random_state=0).fit_transform(X), y])
    chained = IterativeImputer(trees, max_iter=5, random_state=0, skip_complete=True, tol=0.01)
    with warnings.catch_warnings():  # it seldom converges
        warnings.simplefilter("ignore")
        found = np.maximum(chained.fit_transform(columns)[:, -y.shape[1] :], 0)
    found = np.where(np.isnan(y), found, 0)
    found *= (rest / np.maximum(found.sum(axis=1), 1e-12))[:, None]
    ours = AutoInLDL(random_state=0).fit(X, y).complete(X, y)
    assert rmse(ours, truth, at) <= 1.01 * rmse(found, truth, at)
