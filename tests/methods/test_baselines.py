"""RegressorLDL against a hand-written loop, scikit-learn's checks, and awkward data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from inldl import WInLDL, evaluate, hide
from inldl.datasets import make_distributions
from inldl.methods import ConstantLDL
from inldl.methods.baselines import RegressorLDL
from plain_numpy import project

REGRESSORS = [
    Ridge(),
    KNeighborsRegressor(),
    ExtraTreesRegressor(5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5),
    GradientBoostingRegressor(n_estimators=5, random_state=0),
    make_pipeline(StandardScaler(), SVR()),
]
COMPLETERS = [None, WInLDL()]


@pytest.fixture(scope="module")
def data():
    X, y = make_distributions(150, random_state=0)
    y = hide(y, 0.5, random_state=0)
    y[7] = np.nan
    return X, y


# --- the same by hand ------------------------------------------------------------------------


def by_hand(regressor, X, y, new):
    """Predict label by label from the rows that have it, without projecting."""
    columns = []
    for j in range(y.shape[1]):
        seen = ~np.isnan(y[:, j])
        columns.append(clone(regressor).fit(X[seen], y[seen, j]).predict(new))
    return np.column_stack(columns)


def raw(model, X):
    return np.column_stack([fitted.predict(X) for fitted in model.regressors_])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda r: type(r).__name__)
def test_equals_a_loop_over_the_labels(data, regressor, n_jobs):
    X, y = data
    model = RegressorLDL(regressor, n_jobs=n_jobs).fit(X[:120], y[:120])
    expected = by_hand(regressor, X[:120], y[:120], X[120:])
    np.testing.assert_array_equal(raw(model, X[120:]), expected)
    np.testing.assert_allclose(model.predict(X[120:]), project(expected), rtol=0, atol=1e-14)
    assert model.completer_ is None
    assert len(model.regressors_) == 3


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda r: type(r).__name__)
def test_equals_completing_first(data, regressor, n_jobs):
    X, y = data
    model = RegressorLDL(regressor, completer=WInLDL(), n_jobs=n_jobs).fit(X, y)
    full = WInLDL().fit(X, y).complete(X, y)
    np.testing.assert_allclose(full[7].sum(), 1)  # the row without a degree is learned from too
    if get_tags(regressor).target_tags.multi_output:
        assert len(model.regressors_) == 1
        expected = clone(regressor).fit(X, full).predict(X)
    else:
        assert len(model.regressors_) == 3
        expected = by_hand(regressor, X, full, X)
    np.testing.assert_array_equal(raw(model, X), expected)
    np.testing.assert_allclose(model.predict(X), project(expected), rtol=0, atol=1e-14)


def test_templates_are_not_fitted(data):
    regressor, completer = Ridge(), WInLDL()
    RegressorLDL(regressor, completer=completer).fit(*data)
    assert not hasattr(regressor, "coef_")
    assert not hasattr(completer, "coef_")


def test_ridge_is_the_default(data):
    X, y = data
    np.testing.assert_array_equal(
        RegressorLDL().fit(X, y).predict(X), RegressorLDL(Ridge()).fit(X, y).predict(X)
    )


def test_nested_parameters_reach_the_parts(data):
    X, y = data
    grid = {
        "regressor__alpha": [0.1, 1e6],
        "completer": [None, ConstantLDL("uniform")],
    }
    search = GridSearchCV(RegressorLDL(Ridge()), grid, cv=3).fit(X, y)
    assert search.best_params_ == {"completer": None, "regressor__alpha": 0.1}
    assert search.best_estimator_.regressors_[0].alpha == 0.1
    model = RegressorLDL(Ridge(), completer=WInLDL()).set_params(completer__mu=3.0).fit(X, y)
    assert model.completer_.mu == 3.0


# --- properties ------------------------------------------------------------------------------


@st.composite
def problems(draw):
    n, k, C = draw(st.integers(2, 9)), draw(st.integers(1, 12)), draw(st.integers(1, 12))
    X = draw(arrays(float, (n, k), elements=st.sampled_from([0.0, 1.0, -2.5, 1e3])))
    weight = draw(arrays(float, (n, C), elements=st.sampled_from([0.25, 1.0, 3.0])))
    holes = draw(arrays(bool, (n, C)))
    holes[0] = False  # each label is seen once, some only there
    return X, weight / weight.sum(axis=1, keepdims=True), holes


@given(
    problems(),
    st.sampled_from([Ridge(), KNeighborsRegressor(1), DecisionTreeRegressor(random_state=0)]),
    st.sampled_from(COMPLETERS),
)
def test_small_wide_and_constant_data(problem, regressor, completer):
    """Rows without degrees, one label, fewer rows than labels or features, equal rows."""
    X, y, holes = problem
    model = RegressorLDL(regressor, completer=completer).fit(X, np.where(holes, np.nan, y))
    for P in (model.predict(X), model.complete(X, np.where(holes, np.nan, y))):
        assert P.shape == y.shape
        assert P.min() >= 0
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)


@given(problems(), st.sampled_from([0.0, 1e6, np.inf]), st.sampled_from(COMPLETERS))
def test_what_fills_a_hole_never_matters(problem, filling, completer):
    X, y, holes = problem
    model = RegressorLDL(completer=completer)
    expected = clone(model).fit(X, np.where(holes, np.nan, y)).predict(X)
    filled = np.ma.masked_array(np.where(holes, filling, y), holes)
    np.testing.assert_array_equal(model.fit(X, filled).predict(X), expected)


def test_label_that_is_the_same_everywhere():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.tile([0.5, 0.5, 0.0], (20, 1))
    for regressor in REGRESSORS[:4]:
        P = RegressorLDL(regressor).fit(X, y).predict(X)
        np.testing.assert_allclose(P, y, rtol=0, atol=1e-12)


@pytest.mark.parametrize("regressor", [RandomForestRegressor(3), KNeighborsRegressor(2)])
@pytest.mark.parametrize("completer", COMPLETERS)
def test_single_label(regressor, completer):
    X, y = np.arange(12.0).reshape(6, 2) % 5, np.ones((6, 1))
    P = RegressorLDL(regressor, completer=completer).fit(X, y).predict(X)
    np.testing.assert_array_equal(P, y)


@pytest.mark.parametrize("completer", COMPLETERS)
def test_regressor_that_knows_only_several_targets(data, completer):
    X, y = data
    model = RegressorLDL(MultiTaskLasso(1e-3), completer=completer).fit(X, y)
    assert len(model.regressors_) == (3 if completer is None else 1)
    assert model.score(X, y) > 0.9


# --- kinds of input --------------------------------------------------------------------------


@pytest.mark.parametrize("completer", COMPLETERS)
@pytest.mark.parametrize("regressor", [Ridge(), KNeighborsRegressor(3)])
def test_float32(data, regressor, completer):
    X, y = data
    model = RegressorLDL(regressor, completer=completer)
    expected = clone(model).fit(X, y).predict(X)
    P = model.fit(X.astype(np.float32), y.astype(np.float32)).predict(X.astype(np.float32))
    assert P.dtype == np.float32
    np.testing.assert_allclose(P, expected, rtol=0, atol=2e-3)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("completer", COMPLETERS)
@pytest.mark.parametrize("kind", [csr_array, coo_array])
def test_sparse(data, kind, completer):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0, X)
    model = RegressorLDL(Ridge(solver="sparse_cg", tol=1e-10), completer=completer)
    expected = clone(model).fit(X, y).predict(X)
    P = model.fit(kind(X), y).predict(kind(X))
    np.testing.assert_allclose(P, expected, rtol=0, atol=1e-6)


def test_sparse_is_refused_where_the_regressor_refuses_it(data):
    X, y = data
    with pytest.raises(TypeError, match="dense data is required"):
        RegressorLDL(HistGradientBoostingRegressor()).fit(csr_array(X), y)


def test_nan_in_X_is_for_regressors_that_take_it(data):
    X, y = data
    X = X.copy()
    X[::5, 0] = np.nan
    regressor = HistGradientBoostingRegressor(max_iter=5)
    model = RegressorLDL(regressor).fit(X, y)
    np.testing.assert_array_equal(raw(model, X), by_hand(regressor, X, y, X))
    np.testing.assert_allclose(model.predict(X).sum(axis=1), 1)
    for other in (RegressorLDL(), RegressorLDL(regressor, completer=WInLDL())):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            other.fit(X, y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(np.where(np.isnan(X), np.inf, X))


@pytest.mark.parametrize("completer", COMPLETERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_the_parts(data, frame, completer):
    X, y = data
    X_frame = frame(dict(zip("abc", X.T, strict=True)))
    y_frame = frame(dict(zip(["low", "mid", "high"], y.T, strict=True)))
    model = RegressorLDL(completer=completer).fit(X_frame, y_frame)
    assert list(model.label_names_) == ["low", "mid", "high"]
    for part in (model, *model.regressors_, *([model.completer_] if completer else [])):
        assert list(part.feature_names_in_) == ["a", "b", "c"]
    expected = RegressorLDL(completer=completer).fit(X, y)
    np.testing.assert_allclose(model.predict(X_frame), expected.predict(X), rtol=0, atol=1e-12)
    assert isinstance(model.complete(X_frame, y_frame), frame)


def test_columns_chosen_by_name(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(len(X))[::-1])
    chosen = make_pipeline(make_column_transformer(("passthrough", ["c"])), Ridge())
    model = RegressorLDL(chosen).fit(frame, y)
    np.testing.assert_allclose(
        model.predict(frame), RegressorLDL(Ridge()).fit(X[:, [2]], y).predict(X[:, [2]])
    )


def test_frame_without_names_is_an_array(data):
    X, y = data
    model = RegressorLDL().fit(pd.DataFrame(X), pd.DataFrame(y))
    np.testing.assert_array_equal(model.predict(X), RegressorLDL().fit(X, y).predict(X))


# --- what cannot be done is said -------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["low", "mid", "high"]])
def test_label_with_too_few_rows_is_named(data, names):
    X, y = data[0], data[1].copy()
    y[:, 1] = np.nan
    y[:3] = [np.nan, 0.2, np.nan]
    label = "'mid'" if names else "1"
    message = rf"PLSRegression\(.*\) cannot learn label {label} from the 3 of 150 row\(s\) in "
    with pytest.raises(ValueError, match=message + ".*a completer, may help: `n_components`"):
        RegressorLDL(PLSRegression(4)).fit(np.c_[X, X**2], pd.DataFrame(y, columns=names))
    model = RegressorLDL(PLSRegression(4), completer=WInLDL()).fit(np.c_[X, X**2], y)
    np.testing.assert_allclose(model.predict(np.c_[X, X**2]).sum(axis=1), 1)


def test_too_few_rows_for_all_labels(data):
    X, y = data[0][:3], np.full((3, 2), 0.5)
    with pytest.raises(ValueError, match=r"cannot learn the labels from the 3 of 3 row\(s\)"):
        RegressorLDL(PLSRegression(4), completer=WInLDL()).fit(np.c_[X, X**2], y)


@pytest.mark.parametrize("wrapped", [False, True])
def test_fewer_rows_than_neighbours_are_all_neighbours(data, wrapped):
    regressor = make_pipeline(KNeighborsRegressor()) if wrapped else KNeighborsRegressor()
    X, y = data[0], data[1].copy()
    y[:, 1] = np.nan
    y[:3] = [[np.nan, 0.2, np.nan], [np.nan, 0.3, np.nan], [np.nan, 0.7, np.nan]]
    model = RegressorLDL(regressor).fit(X, y)
    np.testing.assert_allclose(model.regressors_[1].predict(X), 0.4)
    seen = ~np.isnan(y[:, 0])
    whole = clone(regressor).fit(X[seen], y[seen, 0]).predict(X)
    np.testing.assert_array_equal(model.regressors_[0].predict(X), whole)


def test_rows_that_count_twice_are_two_neighbours(data):
    X, y = data[0][:3], np.array([[0.2, 0.8], [0.3, 0.7], [0.7, 0.3]])
    model = RegressorLDL(KNeighborsRegressor()).fit(X, y, sample_weight=[2, 1, 1])
    np.testing.assert_allclose(model.predict(X), np.full((3, 2), [0.35, 0.65]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"regressor": Ridge}, r"regressor must be an estimator .* such as Ridge\(\), got <class"),
        (
            {"regressor": "ridge"},
            "regressor must be an estimator with the methods fit and pred",
        ),
        ({"completer": Ridge()}, "completer must be an estimator with the methods fit and compl"),
        ({"completer": WInLDL}, r"such as WInLDL\(\), got <class"),
        ({"n_jobs": "two"}, "n_jobs must be an integer, got 'two'"),
    ],
)
def test_bad_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RegressorLDL(**parameters).fit(*data)


class Exploding(Ridge):
    def predict(self, X):
        return np.where(X[:, 0] > 100, np.inf, super().predict(X))


def test_predictions_that_are_no_numbers_are_refused(data):
    X, y = data
    model = RegressorLDL(Exploding()).fit(X, y)
    with pytest.raises(ValueError, match="predicted NaN or infinity for row 1 of X"):
        model.predict([[0, 0, 0], [1000, 0, 0]])


def test_learns_what_a_linear_model_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    share = 0.1 + 0.8 * (np.sign(X[:, 0]) == np.sign(X[:, 1]))
    y = np.column_stack([share, 1 - share])
    train, test = np.s_[:500], np.s_[500:]
    holey = hide(y[train], 0.3, random_state=0)
    scores = {
        name: evaluate(y[test], model.fit(X[train], holey).predict(X[test]))["cosine"]
        for name, model in [
            ("linear", WInLDL()),
            ("trees", RegressorLDL(ExtraTreesRegressor(50, random_state=0))),
        ]
    }
    assert scores["trees"] > 0.97 > 0.8 > scores["linear"]
