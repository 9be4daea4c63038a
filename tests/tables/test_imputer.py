"""Shares in pipelines: what scikit-learn asks of a transformer, frames of all kinds, no leaks."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from inldl import SharesImputer, TableModel, hide
from inldl.files import load_model, model_info, save_model
from two_groups import AGES as B
from two_groups import VOTES as A
from two_groups import two_groups

TWO = {"votes": A, "ages": B}

# scikit-learn 1.6 gives sparse matrices also to estimators whose tags say that they take none.
OLD_CHECKS = (
    {"check_sample_weight_equivalence_on_sparse_data": "takes frames and dense arrays"}
    if sklearn.__version__.startswith("1.6.")
    else {}
)


@pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning")
@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
@pytest.mark.filterwarnings("ignore:Rows of .* sum to about:UserWarning")
@parametrize_with_checks(
    [SharesImputer(), SharesImputer(add_indicator=True)],
    expected_failed_checks=lambda _: OLD_CHECKS,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def plain(shares=None, **parameters):
    """Return an imputer that is quick, and does not look for units and times."""
    about = {"method": "winldl", "unit": "none", "time": "none"} | parameters
    return SharesImputer(shares, **about)


@pytest.fixture(scope="module")
def table():
    return two_groups()


@pytest.fixture(scope="module")
def completed(table):
    return plain(TWO).fit_transform(table[0])


def test_known_shares_and_other_columns_stay(table, completed):
    frame = table[0]
    others = ["town", "income", "day"]
    pd.testing.assert_frame_equal(completed[others], frame[others])
    assert list(completed) == list(frame)
    known = frame[A + B].notna()
    assert (completed[A + B] == frame[A + B])[known].sum().sum() == known.sum().sum()
    for labels in TWO.values():
        np.testing.assert_allclose(completed[labels].sum(axis=1), 1, atol=1e-12)


def test_one_group_is_completed_as_the_table_model_does(table):
    frame = table[0].drop(columns=B)
    by_hand = TableModel("winldl").fit(frame.drop(columns=A), frame[A], unit="none", time="none")
    expected = by_hand.complete(frame.drop(columns=A), frame[A])
    imputer = plain(A).fit(frame)
    np.testing.assert_allclose(imputer.transform(frame)[A], expected, atol=1e-12)
    assert imputer.errors_.isna().all(axis=None)


def _rmse(filled, truth, given, labels):
    holes = given[labels].isna().to_numpy()
    return np.sqrt(np.mean((filled[labels].to_numpy() - truth[labels].to_numpy())[holes] ** 2))


def test_groups_that_tell_of_each_other_are_completed_together(table, completed):
    frame, truth = table
    imputer = plain(TWO).fit(frame)
    assert (imputer.errors_["together"] < 0.9 * imputer.errors_["alone"]).all()
    for name, labels in TWO.items():
        others = [n for n in A + B if n not in labels]
        alone = plain(labels).fit_transform(frame.drop(columns=others))
        error = _rmse(completed, truth, frame, labels)
        assert error < 0.85 * _rmse(alone, truth, frame, labels)
        assert imputer.errors_["together"][name] > 0.8 * error  # nothing was learned by heart


@pytest.mark.parametrize("related", [True, False])
def test_an_imputer_is_stored_without_pickle(related, tmp_path):
    frame, _ = two_groups(related=related)
    imputer, skops = plain(TWO, add_indicator=True).fit(frame), pytest.importorskip("skops.io")
    save_model(imputer, tmp_path / "m.inldl")
    data = skops.dumps(imputer)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    for other in (load_model(tmp_path / "m.inldl"), again):
        pd.testing.assert_frame_equal(other.transform(frame), imputer.transform(frame))
        pd.testing.assert_frame_equal(other.errors_, imputer.errors_)
        assert (
            list(other.together_)
            == list(imputer.together_)
            == (["votes", "ages"] if related else [])
        )
    assert model_info(tmp_path / "m.inldl")["labels"] == A + B
    with pytest.raises(ValueError, match="SharesImputer instance is not fitted"):
        save_model(plain(TWO), tmp_path / "n.inldl")


def test_shares_that_sum_to_something_else_are_named(table):
    frame = table[1][A] * 1.5
    with pytest.warns(UserWarning, match="Rows of 'a1', 'a2', 'a3' sum to about 1.5, not to 1"):
        imputer = plain(A).fit(frame)
    assert imputer.groups_["shares"].scale == "count"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(A, scale="count").fit(frame)
        plain(A).fit((1000 * table[1][A]).round())


@pytest.mark.parametrize("kind", [lambda frame: frame, pl.from_pandas])
def test_columns_that_are_no_features_may_be_absent(kind, table):
    frame = table[0].reset_index(drop=True)
    imputer = plain(A, features=["income", "town"]).fit(kind(frame))
    whole, part = (imputer.transform(kind(t)) for t in (frame, frame[["town", *A, "income"]]))
    assert list(part.columns) == [name for name in frame if name in ["town", *A, "income"]]
    np.testing.assert_array_equal(part[A], whole[A])
    with pytest.raises(ValueError, match="The table lacks 'income', which the imputer was"):
        imputer.transform(kind(frame[["town", *A]]))
    with pytest.raises(ValueError, match="The table lacks 'b1', 'b2', 'b3', 'day', which"):
        imputer.set_output(transform="pandas").transform(kind(frame[["town", *A, "income"]]))


def test_groups_that_do_not_are_completed_alone():
    frame, _ = two_groups(related=False)
    imputer = plain(TWO).fit(frame)
    assert imputer.models_ == imputer.first_models_
    alone = plain(A).fit_transform(frame.drop(columns=B))
    pd.testing.assert_frame_equal(imputer.transform(frame)[A], alone[A])


def test_new_rows_are_filled_by_what_the_fit_learned(table):
    """Also one by one, in any order, with towns and holes that were not there."""
    frame = table[0]
    imputer = plain(TWO).fit(frame[:45])
    new = frame[45:].assign(town="unheard of", income=np.nan)
    filled = imputer.transform(new)
    one_by_one = pd.concat([imputer.transform(new[i : i + 1]) for i in range(len(new))])
    pd.testing.assert_frame_equal(filled, one_by_one, atol=1e-12)
    backwards = imputer.transform(new.iloc[::-1, ::-1].assign(more="left out"))
    pd.testing.assert_frame_equal(backwards.iloc[::-1], filled, atol=1e-12)
    assert filled[A + B].notna().all(axis=None)


def test_a_search_learns_nothing_from_the_rows_that_it_scores_on(table):
    """Rows that are scored on are replaced by others: what was fitted without them is the same."""
    frame = table[0]
    y = np.random.default_rng(3).normal(size=len(frame))
    [train, test] = fold = list(KFold(3).split(frame))[1]
    other, y_other = frame.copy(), y.copy()
    other.iloc[test] = frame.iloc[test[::-1]].to_numpy()
    other = other.astype(frame.dtypes)
    other.loc[other.index[test], A + B] = np.roll(other.iloc[test][A + B].to_numpy(), 3, axis=1)
    y_other[test] += 100
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), ("passthrough", A + B)
    )
    pipe = Pipeline([("shares", plain(TWO)), ("prepare", prepare), ("model", Ridge())])
    fitted = [
        cross_validate(pipe, X, target, cv=[fold], return_estimator=True)["estimator"][0]
        for X, target in ((frame, y), (other, y_other))
    ]
    np.testing.assert_array_equal(*(each.predict(frame) for each in fitted))
    by_hand = clone(pipe).fit(frame.iloc[train], y[train])
    np.testing.assert_array_equal(fitted[0].predict(frame), by_hand.predict(frame))


def test_what_is_hidden_does_not_come_back_in_a_search():
    """The target is a share that is hidden and that nothing else tells; rows have an id."""
    rng = np.random.default_rng(0)
    whole = rng.dirichlet(np.ones(3), 90)
    frame = pd.DataFrame(hide(whole, 0.4, random_state=0), columns=A)
    y = whole[:, 0]
    frame["a1"] = np.nan
    frame.loc[::9, "a1"] = whole[::9, 0]  # some are known, so that the label is
    frame.loc[frame["a2"].notna() & frame["a3"].notna(), "a2"] = np.nan
    frame["key"] = [f"k{i}" for i in range(90)]
    frame["number"] = rng.permutation(90)
    pipe = Pipeline(
        [
            ("shares", plain(A)),
            ("numbers", make_column_transformer(("passthrough", ["a1"]))),
            ("model", ExtraTreesRegressor(20, random_state=0)),
        ]
    )
    search = GridSearchCV(
        pipe, {"shares__cross_fit": [3, 5]}, cv=KFold(3, shuffle=True, random_state=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.fit(frame, y)
    best = search.cv_results_["mean_test_score"].max()
    rest = 1 - np.nansum(frame[["a2", "a3"]], axis=1)  # what anybody can tell: the most it can be
    assert best < np.corrcoef(rest, y)[0, 1] ** 2 + 0.1


def test_it_works_inside_other_transformers_and_searches(table):
    frame = table[0]
    y = np.arange(len(frame)) % 5
    filled = make_column_transformer(
        (plain(A), [*A, "town", "income"]), (SimpleImputer(), B), remainder="drop"
    ).set_output(transform="pandas").fit_transform(frame)  # fmt: skip
    assert filled.filter(like="sharesimputer__a").notna().all(axis=None)
    kept = make_column_transformer(("passthrough", A))
    pipe = make_pipeline(plain(A, features=["income"]), kept, Ridge())
    grid = {"sharesimputer__method": ["winldl", "constant-mean"]}
    search = GridSearchCV(pipe, grid | {"sharesimputer__cross_fit": [3]}, cv=2).fit(frame, y)
    assert search.best_estimator_[0].models_["shares"].cross_fit == 3
    assert np.isfinite(search.predict(frame)).all()


@pytest.mark.parametrize(
    "kind", ["polars", "arrow types", "nullable types", "arrow table", "objects"]
)
def test_frames_of_all_kinds_are_filled_alike(kind, table, completed):
    frame = table[0].reset_index(drop=True)
    given = {
        "polars": lambda: pl.from_pandas(frame),
        "arrow types": lambda: frame.convert_dtypes(dtype_backend="pyarrow"),
        "nullable types": frame.convert_dtypes,
        "arrow table": lambda: pa.Table.from_pandas(frame, preserve_index=False),
        "objects": lambda: frame.astype(dict.fromkeys(A, object)),
    }[kind]()
    filled = plain(TWO).fit_transform(given)
    assert type(filled) is type(given)
    if kind == "arrow table":
        assert filled.schema.field("day") == given.schema.field("day")
        filled = filled.to_pandas()
    assert list(filled.columns) == list(frame)
    np.testing.assert_allclose(filled[A + B].to_numpy().astype(float), completed[A + B], atol=1e-9)
    if kind == "polars":
        assert filled["day"].equals(given["day"])
    elif kind != "arrow table":
        assert filled["day"].dtype == given["day"].dtype


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas])
def test_columns_are_found_by_name_in_all_kinds_of_frames(kind, table, completed):
    frame = table[0].reset_index(drop=True)
    imputer = plain(TWO).fit(kind(frame))
    filled = imputer.transform(kind(frame[[*reversed(frame.columns)]])).to_pandas()
    assert list(filled) == list(frame)
    np.testing.assert_allclose(filled[A + B], completed[A + B], atol=1e-9)
    with pytest.raises(ValueError, match="The table lacks 'a1', which the imputer was fitted to"):
        imputer.transform(kind(frame.drop(columns="a1")))


@pytest.mark.parametrize("wanted", ["pandas", "polars"])
@pytest.mark.parametrize("given", ["pandas", "polars", "pyarrow"])
def test_output_can_be_chosen(wanted, given, table):
    kinds = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    frame = kinds[given](table[0].reset_index(drop=True))
    imputer = plain(TWO, add_indicator=True).set_output(transform=wanted)
    filled = imputer.fit_transform(frame)
    assert type(filled).__module__.partition(".")[0] == wanted
    assert list(filled.columns) == list(imputer.get_feature_names_out())
    assert str(filled["a1"].dtype).lower() == "float64"


def test_indicators_tell_what_was_missing(table):
    frame = table[0].assign(b1=table[1]["b1"])
    imputer = plain(TWO, add_indicator=True)
    filled = imputer.fit_transform(frame)
    marks = [f"missingindicator_{name}" for name in A + B if name != "b1"]
    assert list(filled)[-5:] == marks
    np.testing.assert_array_equal(filled[marks] == 1, frame[[m[17:] for m in marks]].isna())
    array = SharesImputer(add_indicator=True, method="winldl").fit_transform(frame[A].to_numpy())
    np.testing.assert_array_equal(array[:, 3:], frame[A].isna())


def test_arrays_name_columns_by_position(table):
    frame = table[0]
    array = frame[["income", *A]].to_numpy()
    filled = plain([1, 2, -1]).fit_transform(array)
    expected = plain(A).fit_transform(frame[["income", *A]])
    np.testing.assert_allclose(filled, expected.to_numpy(), atol=1e-12)
    assert plain().fit_transform(array[:, 1:].astype(np.float32)).dtype == np.float32


def test_percentages_and_counts(table):
    frame = table[0].drop(columns=B)
    expected = plain(A).fit_transform(frame)[A]
    percent = frame.assign(**{name: 100 * frame[name] for name in A})
    np.testing.assert_allclose(plain("a*").fit_transform(percent)[A], 100 * expected, atol=1e-9)
    total = np.random.default_rng(0).integers(50, 5000, len(frame)).astype(float)
    counts = frame.assign(**{name: total * frame[name] for name in A}, total=total)
    imputer = plain(A, total="total")
    found = imputer.fit_transform(counts)
    np.testing.assert_allclose(found[A], expected.mul(total, axis=0), rtol=1e-7, atol=1e-9)
    assert "total" not in imputer.features_
    assert (found["total"] == total).all()
    thousand = frame.assign(**{name: 1000 * frame[name] for name in A})
    np.testing.assert_allclose(
        plain(A, total=1000).fit_transform(thousand)[A], 1000 * expected, atol=1e-7
    )


def test_counts_without_a_total_keep_their_ratios():
    rng = np.random.default_rng(0)
    total = rng.integers(100, 1000, 59)[:, None]
    counts = total * np.array([0.5, 0.3, 0.2])
    given = counts.copy()
    given[::3, 0], given[1::3, 2], given[2] = np.nan, np.nan, np.nan
    filled = SharesImputer().fit_transform(given)
    rows = np.delete(np.arange(59), 2)
    np.testing.assert_allclose(filled[rows], counts[rows], rtol=1e-3)  # shares are estimated
    usual = np.median(counts.sum(axis=1)[~np.isnan(given).any(axis=1)])
    np.testing.assert_allclose(filled[2].sum(), usual)


def test_weights_reach_the_models(table):
    frame = table[0]
    weight = np.where(np.arange(len(frame)) < 40, 1.0, 0)
    weighted = plain(TWO).fit(frame, sample_weight=weight)
    expected = plain(TWO).fit(frame[:40])
    for name, model in weighted.first_models_.items():
        predicted = model.predict(frame[["town", "income", "day"]])
        np.testing.assert_allclose(
            predicted,
            expected.first_models_[name].predict(frame[["town", "income", "day"]]),
            atol=1e-9,
        )
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(plain(TWO).set_fit_request(sample_weight=True, groups=True))
        pipe.fit(frame, sample_weight=weight, groups=np.arange(len(frame)) // 2)
    assert pipe[0].models_["votes"].held_out_ is not None


def test_it_is_stored_and_repeated(table):
    frame = table[0]
    imputer = plain(TWO, random_state=np.random.RandomState(0)).fit(frame)
    again = pickle.loads(pickle.dumps(imputer))
    pd.testing.assert_frame_equal(imputer.transform(frame), again.transform(frame))
    without = plain(TWO, cross_fit=None).fit(frame)  # then no error tells which is better
    assert without.models_ == without.first_models_


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"shares": {"u": A, "v": [*B, "a1"]}}, "The label 'a1' is in two groups of shares"),
        ({"shares": {"u": A, "v": []}}, "The group 'v' has 0 columns"),
        ({"shares": {}}, "The groups in shares are none"),
        ({"shares": TWO, "total": {"w": "income"}}, "in total no others"),
        ({"shares": ["a1", "a4"]}, "No columns found for 'a4'"),
        ({"shares": [0, 77]}, "There is no column 77; X has 9 columns"),
        ({"shares": ["town", "a1"]}, r"Column 'town' holds '.*' in row 0, but shares"),
        ({"shares": ["income", "a1"]}, "Negative values in data, or infinite ones: column"),
        ({"shares": A, "total": "income"}, r"The total in row .* but shares are missing there"),
        ({"shares": A, "scale": "promille"}, "scale must be one of"),
        ({"shares": A, "method": "boosting", "scale": "count"}, "cannot learn from ratios"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(parameters, words, table):
    with pytest.raises(ValueError, match=words) as error:
        plain(**parameters).fit(table[0])
    assert str(error.value).count(". ") <= 1


def test_rows_that_cannot_be_are_refused(table):
    frame = table[0]
    imputer = plain(TWO).fit(frame)
    with pytest.raises(ValueError, match="The table lacks 'a2', 'b1', which the imputer"):
        imputer.transform(frame.drop(columns=["a2", "b1"]))
    unseen = plain(TWO).fit_transform(frame.assign(a1=np.nan))  # follows from the sums of the rows
    np.testing.assert_allclose(unseen[["a1", "a2", "a3"]].sum(axis=1), 1)
    wrong = frame[:3].assign(a1=0.9, a2=0.4, a3=np.nan)
    with pytest.raises(ValueError, match=r"sum to 1\.3, more than 1"):
        imputer.transform(wrong)
