"""EDL-LRL and LDM against printed and expected numbers, hard input, and scikit-learn's checks."""

import numpy as np
import pandas as pd
import pytest

from inldl import evaluate, hide
from inldl.datasets import make_distributions
from inldl_paper.literature import EDLLRL, LDM
from inldl_paper.literature.group_correlations import group_rows

BOTH = [EDLLRL, LDM]
EVERY = [EDLLRL, EDLLRL.as_published, LDM, LDM.as_published]


# --- properties ------------------------------------------------------------------------------

X, FULL = make_distributions(120, random_state=0)
Y = hide(FULL, 0.5, random_state=0)


@pytest.mark.parametrize("make", EVERY)
def test_the_same_seed_gives_the_same_bits(make):
    one, two = (make(random_state=3, max_iter=20).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    for seed in (None, np.random.RandomState(0), np.random.default_rng(0)):
        assert np.isfinite(make(random_state=seed, max_iter=2).fit(X, Y).coef_).all()


def test_chance_is_where_it_is_said_to_be():
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = (EDLLRL.as_published(random_state=seed, max_iter=1).fit(X, Y) for seed in (0, 1))
    assert np.abs(one.coef_ - two.coef_).max() > 0.01
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("filling", [0.0, 1e6, -3.0])
def test_what_fills_a_hole_never_matters(make, filling):
    holes = np.isnan(Y)
    expected = make(max_iter=3).fit(X, Y)
    model = make(max_iter=3).fit(X, np.ma.masked_array(np.where(holes, filling, Y), holes))
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("Estimator", BOTH)
def test_it_learns(Estimator):
    model = Estimator().fit(X, Y)
    constant = np.tile(np.nanmean(Y, axis=0), (len(X), 1))
    assert (
        model.score(X, FULL) > evaluate(FULL, constant / constant.sum(axis=1)[:, None])["cosine"]
    )
    assert model.history_["objective"].shape == (model.n_iter_,)
    assert model.coef_.shape == (3, X.shape[1])


@pytest.mark.parametrize("Estimator", BOTH)
def test_presets_take_changes_and_are_plain_parameters(Estimator):
    model = Estimator.as_published(n_groups=2, fit_intercept=True)
    assert (model.n_groups, model.fit_intercept, model.start) == (2, True, "uniform")
    same = Estimator(**model.get_params())
    assert same.get_params() == model.get_params()


def test_without_its_terms_each_method_is_a_plain_softmax_model():
    """Another witness: both then fit convex or smooth losses that do not know of groups."""
    for one, two in (
        (LDM(l2=0, l3=0, n_groups=2), LDM(l2=0, l3=0, n_groups=7)),
        (LDM(max_iter=1, n_groups=2), LDM(max_iter=1, l2=5.0)),
        (EDLLRL(lam2=0, n_groups=2), EDLLRL(lam2=0, n_groups=7)),
    ):
        P, Q = one.fit(X, Y).predict(X), two.fit(X, Y).predict(X)
        np.testing.assert_allclose(P, Q, rtol=0, atol=1e-6)


def test_w_steps_of_ldm_do_not_raise_the_objective():
    for model in (LDM(max_iter=8, tol=0.0), LDM.as_published(max_iter=100)):
        history = model.fit(X, Y).history_
        assert np.all(history["objective"] <= history["objective_before"])


@pytest.mark.parametrize("Estimator", BOTH)
def test_precision_of_the_features_hardly_matters(Estimator):
    wide, narrow = Estimator().fit(X, Y), Estimator().fit(X.astype(np.float32), Y)
    assert narrow.coef_.dtype == np.float64
    np.testing.assert_allclose(narrow.predict(X), wide.predict(X), rtol=0, atol=0.02)


@pytest.mark.parametrize("Estimator", BOTH)
def test_label_names(Estimator):
    model = Estimator(max_iter=1).fit(X, pd.DataFrame(Y, columns=list("abc")))
    assert list(model.label_names_) == list("abc")


# --- hard input ------------------------------------------------------------------------------


def hard_cases():
    rng = np.random.default_rng(0)
    holed = FULL[:40].copy()
    holed[5:20] = np.nan
    many = rng.dirichlet(np.ones(12), 5)
    return {
        "constant columns": (np.ones((40, 3)), FULL[:40]),
        "zero columns": (np.zeros((40, 3)), FULL[:40]),
        "rows without degrees": (X[:40], holed),
        "two distinct rows": (np.repeat(X[:2], 10, axis=0), np.repeat(FULL[:2], 10, axis=0)),
        "one row": (X[:1], FULL[:1]),
        "fewer rows than labels": (rng.normal(size=(5, 2)), many),
        "more features than rows": (rng.normal(size=(6, 50)), FULL[:6]),
        "one label": (X[:30], np.ones((30, 1))),
        "two labels": (X[:30], FULL[:30, :2] / FULL[:30, :2].sum(axis=1, keepdims=True)),
        "one-hot degrees": (X[:40], np.eye(3)[rng.integers(3, size=40)]),
        "features of 1e8": (1e8 * X[:40], FULL[:40]),
        "features of 1e150": (1e150 * X[:40], FULL[:40]),
        "features of 1e300": (1e300 * X[:40] / np.abs(X[:40]).max(), FULL[:40]),
        "features of 1e-300": (1e-300 * X[:40], FULL[:40]),
        "huge float32": ((1e30 * X[:40]).astype(np.float32), FULL[:40]),
        "one huge feature": (X[:40] * [1e12, 1, 1], FULL[:40]),
    }


@pytest.mark.parametrize("case", hard_cases())
@pytest.mark.parametrize("make", EVERY)
def test_hard_input(make, case):
    features, y = hard_cases()[case]
    model = make()
    if model.max_iter > 60:
        model.set_params(max_iter=60)
    model.fit(features, y)
    P = model.predict(features)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-9)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert all(np.isfinite(values).all() for values in model.history_.values())


@pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning")
@pytest.mark.parametrize("make", EVERY)
def test_numbers_that_are_no_degrees_do_no_harm(make):
    y = np.random.default_rng(0).normal(scale=100, size=(40, 3))
    for free in ({"l1": 0.0} if "LDM" in repr(make()) else {"lam1": 0.0}, {}):
        model = make(max_iter=20, **free).fit(X[:40], y)
        assert np.isfinite(model.coef_).all()
        np.testing.assert_allclose(model.predict(X).sum(axis=1), 1)


def test_no_group_is_empty():
    for n_groups in (1, 3, 50):
        groups = group_rows(np.repeat(X[:4], 3, axis=0), n_groups, 0)
        assert all(len(rows) for rows in groups)
        np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(12))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EDLLRL(n_groups=0), "n_groups must be an integer at least 1"),
        (EDLLRL(lam1=-1), "lam1 must be a number at least 0"),
        (EDLLRL(rho=0), "rho must be a number greater than 0"),
        (EDLLRL(rho_growth=0.5), "rho_growth must be a number at least 1"),
        (EDLLRL(loss="none"), "loss must be one of 'masked', 'zero'"),
        (EDLLRL(gradient="full"), "gradient must be one of 'exact', 'diagonal'"),
        (EDLLRL(threshold=1), "threshold must be one of 'soft', 'hard'"),
        (EDLLRL(start="eye"), "start must be one of 'zero', 'uniform'"),
        (LDM(l2=np.nan), "l2 must be a number at least 0"),
        (LDM(inner_iter=1.5), "inner_iter must be an integer at least 1"),
        (LDM(tol=-1), "tol must be a number at least 0"),
        (LDM(solver="adam"), "solver must be one of 'lbfgs', 'steepest'"),
        (LDM(start=None), "start must be one of"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value),
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
