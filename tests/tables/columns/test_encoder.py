"""Features of a table as numbers: against scikit-learn, and for any table."""

import datetime
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from inldl.tables import CategoryColumn, FeatureEncoder, NumberColumn, read_table

WORDS = [f"word {i}" for i in range(30)]


@pytest.fixture
def rng():
    """Return a generator of numbers."""
    return np.random.default_rng(5)


def encoded(column, new=None, max_levels=50):
    """Return the matrix of a table with one column, as it is fitted or for new cells."""
    encoder = FeatureEncoder(max_levels).fit(pd.DataFrame({"a": column}))
    return encoder.transform(pd.DataFrame({"a": column if new is None else new}))


# --- the same numbers as scikit-learn


def test_numbers_are_those_of_the_standard_scaler(rng):
    X = pd.DataFrame(rng.normal(3, [1, 50, 1e-9], size=(9000, 3)), columns=list("abc"))
    encoder = FeatureEncoder().fit(X[:5000])
    expected = StandardScaler().fit(X[:5000].to_numpy()).transform(X.to_numpy())
    np.testing.assert_allclose(encoder.transform(X), expected, rtol=1e-6, atol=1e-6)
    assert encoder.notes_ == []


def test_holes_are_those_of_the_imputer_with_indicators(rng):
    X = pd.DataFrame(rng.exponential(size=(500, 3)), columns=list("abc"))
    X = X.mask(rng.random(X.shape) < [0.3, 0, 0.1])
    train, new = X[:400], X[400:].copy()
    new.loc[400:420, "b"] = np.nan
    encoder = FeatureEncoder().fit(train)
    assert list(encoder.get_feature_names_out()) == ["a", "a missing", "b", "c", "c missing"]
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(train.to_numpy())
    filled = imputer.transform(new.to_numpy())
    scaler = StandardScaler().fit(train.to_numpy())  # it leaves holes out
    expected = np.column_stack([scaler.transform(filled[:, :3]), filled[:, 3:]])[
        :, [0, 3, 1, 2, 4]
    ]
    np.testing.assert_allclose(encoder.transform(new), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["str", object, "category", "string"])
def test_levels_are_those_of_the_one_hot_encoder(rng, dtype):
    words = rng.permutation(np.repeat(WORDS, np.arange(1, 31)))
    table = pd.DataFrame({"a": pd.Series(words, dtype=dtype)})
    encoder = FeatureEncoder(max_levels=8).fit(table)
    oracle = OneHotEncoder(max_categories=9, sparse_output=False).fit(words[:, None])
    kept = [w for w in oracle.categories_[0] if w not in oracle.infrequent_categories_[0]]
    order = [*(kept.index(level) for level in encoder.columns_[0].levels), 8]
    expected = oracle.transform(words[:, None])[:, order]
    np.testing.assert_array_equal(encoder.transform(table), expected)
    assert encoder.get_feature_names_out()[-1] == "a=(other)"
    assert encoder.notes_ == [
        "Column 'a' has 30 levels; the 8 most frequent have a column each, the others share one."
    ]


def test_levels_are_ordered_by_frequency_then_by_name():
    encoder = FeatureEncoder(max_levels=3).fit(pd.DataFrame({"a": list("zybbxya ")}))
    assert encoder.columns_ == [CategoryColumn("a", ("b", "y", "a"), True, True)]
    assert encoder.transform(pd.DataFrame({"a": ["y", "z", "new", None, " "]})).tolist() == [
        [0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1],
    ]  # fmt: skip


def test_without_others_and_holes_in_the_fit_new_levels_and_holes_are_zeros():
    assert encoded(["u", "v", "u"], ["v", "w", None, "U", " u"]).tolist() == [
        [0, 1], [0, 0], [0, 0], [0, 0], [0, 0],
    ]  # fmt: skip


# --- one column, many ways to hold it


@pytest.mark.parametrize(
    "cells",
    [
        pd.array([3, 1, None, 8], dtype="Int64"),
        pd.array([3, 1, None, 8], dtype="Float32"),
        pd.array([3, 1, None, 8], dtype="int16[pyarrow]"),
        pd.arrays.SparseArray([3.0, 1, np.nan, 8]),
        [3, 1, None, 8],
        pd.Series([3, 1, None, 8], dtype=object),
        pd.Series([Decimal(3), 1, float("nan"), np.float32(8)], dtype=object),
        np.array([3, 1, np.nan, 8], dtype=np.float16),
    ],
)
def test_numbers_of_every_kind_are_encoded_alike(cells):
    expected = encoded([3.0, 1.0, np.nan, 8.0])
    np.testing.assert_array_equal(encoded(cells), expected)
    np.testing.assert_array_equal(encoded([3.0, 1.0, np.nan, 8.0], cells), expected)


@pytest.mark.parametrize(
    "cells",
    [
        [True, False, None, True],
        pd.array([True, False, None, True], dtype="boolean"),
        pd.array([True, False, None, True], dtype="bool[pyarrow]"),
        ["True", "False", "", "True"],
        ["TRUE", "false", None, "true"],
        pd.Categorical([True, False, None, True]),
        [1, 0, None, 1.0],
    ],
)
def test_truth_values_are_the_numbers_0_and_1(cells):
    expected = encoded([1.0, 0.0, np.nan, 1.0])
    np.testing.assert_array_equal(encoded(cells), expected)
    np.testing.assert_array_equal(encoded([1.0, 0.0, np.nan, 1.0], cells), expected)
    assert encoded([True, False], np.array([False, True])).tolist() == [[-1], [1]]


@pytest.mark.parametrize("new", [[1, 2, 10], [1.0, 2.0, 10.0], ["1", "2", "10"], [1, "2", 10.0]])
@pytest.mark.parametrize("fitted", [pd.Categorical([1, 10, 2]), ["1", "10", "2"], [1, "10", 2.0]])
def test_a_number_is_the_level_that_reads_like_it(fitted, new):
    assert encoded(fitted, new).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_a_number_finds_a_level_that_is_written_differently():
    assert encoded(["01", "1.50", "x"], [1, 1.5, 2]).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert encoded(["0.1", "x"], np.array([0.1], dtype=np.float32)).tolist() == [[1, 0]]


def test_text_that_looks_like_numbers_stays_text():
    assert encoded(["10", "20", "10"]).shape == (3, 2)


def test_text_that_reads_as_a_number_is_one_in_a_column_of_numbers():
    np.testing.assert_array_equal(
        encoded([1.0, 2.5, np.nan], ["1", " 2.5", "n/a"]), encoded([1.0, 2.5, np.nan])
    )


def test_a_category_without_cells_is_no_level():
    cells = pd.Categorical(["a", "b", "a"], categories=["c", "b", "a"])
    assert FeatureEncoder().fit(pd.DataFrame({"x": cells})).columns_[0].levels == ("a", "b")


def test_intervals_are_levels():
    cells = pd.cut([1, 12, 3, 18], [0, 10, 20])
    encoder = FeatureEncoder().fit(pd.DataFrame({"age": cells}))
    assert encoder.columns_[0].levels == ("(0, 10]", "(10, 20]")
    text = pd.DataFrame({"age": ["(10, 20]", "(0, 10]"]})
    assert encoder.transform(text).tolist() == [[0, 1], [1, 0]]


def test_a_table_is_encoded_alike_from_memory_and_from_a_file(tmp_path):
    table = pd.DataFrame(
        {
            "age": pd.array([31, None, 50, 31], dtype="Int64"),
            "group": pd.Categorical([2, 1, 2, None]),
            "member": [True, False, False, True],
            "town": ["Ulm", 'a "b", c', None, "Ulm"],
        }
    )
    encoder = FeatureEncoder().fit(table)
    file = tmp_path / "t.csv"
    table.assign(joy=0.5, anger=0.5).to_csv(file, index=False)
    read = read_table(file, "joy,anger").features
    np.testing.assert_array_equal(encoder.transform(read), encoder.transform(table))
    backwards = FeatureEncoder().fit(read.drop(columns="group"))
    assert backwards.columns_ == [c for c in encoder.columns_ if c.name != "group"]


# --- tables of every kind


def test_columns_are_found_by_name_and_others_are_ignored():
    table = pd.DataFrame({"a": [1.0, 2, 4], "b": list("uvu")})
    encoder = FeatureEncoder().fit(table)
    new = table[["b", "a"]].assign(day=pd.to_datetime("2024-05-01"))
    np.testing.assert_array_equal(encoder.transform(new), encoder.transform(table))
    assert encoder.sources_ == ["a", "b", "b"]
    assert list(encoder.feature_names_in_) == ["a", "b"]
    assert encoder.n_features_in_ == 2
    scale = encoder.columns_[0].scale
    assert encoder.columns_[0] == NumberColumn("a", 7 / 3, scale, 2.0, False, 1.0, 4.0)


def test_what_the_fit_has_not_seen_is_told():
    table = pd.DataFrame({"a": [1.0, 2, 4, None], "b": ["u", "v", "u", None], "c": list("wxyz")})
    encoder = FeatureEncoder(max_levels=3).fit(table)
    assert not np.any(encoder.unfamiliar(table))
    new = pd.DataFrame(
        {"a": [0.9, 4.1, 3, None, 1], "b": ["u", "w", None, "", "v"], "c": list("wwwwn")}
    )
    outside, unseen = encoder.unfamiliar(new)
    assert outside.tolist() == [True, True, False, False, False]
    assert unseen.tolist() == [False, True, False, False, False]  # c has others: not all are kept


def test_arrays_and_lists_are_tables(rng):
    X = rng.normal(size=(50, 3))
    encoder = FeatureEncoder().fit(X)
    assert list(encoder.get_feature_names_out()) == ["x0", "x1", "x2"]
    expected = StandardScaler().fit_transform(X)
    for table in (X, X.tolist(), np.asfortranarray(X), X.astype(object), np.ma.array(X)):
        np.testing.assert_allclose(encoder.transform(table), expected, atol=1e-12)
    with pytest.raises(ValueError, match="X has 2 features, but FeatureEncoder is expecting 3"):
        encoder.transform(X[:, :2])
    mixed = FeatureEncoder().fit([[1, "u"], [2, "v"]])
    assert mixed.transform([[1, "v"]]).tolist() == [[-1, 0, 1]]


def test_an_array_takes_the_names_of_the_fit():
    table = pd.DataFrame({"k": 1, "a": [1.0, 2, 4], "b": [3.0, 1, 1]})
    encoder = FeatureEncoder().fit(table)
    np.testing.assert_array_equal(encoder.transform(table.to_numpy()), encoder.transform(table))


def test_polars_frames_are_tables():
    cells = {
        "a": [1.5, None, 4.0],
        "b": ["u", None, "v"],
        "c": [True, None, False],
        "d": [1, 2, 4],
    }
    table = pl.DataFrame(cells, schema_overrides={"b": pl.Categorical})
    expected = FeatureEncoder().fit_transform(pd.DataFrame(cells))
    np.testing.assert_array_equal(FeatureEncoder().fit_transform(table), expected)
    days = {"day": [datetime.date(2024, 5, i) for i in (1, 2)]}
    expected = FeatureEncoder().fit_transform(pd.DataFrame(days))
    np.testing.assert_array_equal(FeatureEncoder().fit_transform(pl.DataFrame(days)), expected)


def test_a_table_without_rows_is_encoded():
    table = pd.DataFrame({"a": [1.0, 2], "b": list("uv")})
    assert FeatureEncoder().fit(table).transform(table[:0]).shape == (0, 3)


def test_the_encoder_is_a_transformer():
    encoder = FeatureEncoder(max_levels=3)
    assert clone(encoder).get_params() == {"max_levels": 3, "dates": "auto"}
    with pytest.raises(NotFittedError):
        encoder.transform(pd.DataFrame({"a": [1]}))
    table = pd.DataFrame({"a": [1.0, 2, 4]})
    piped = make_pipeline(encoder, StandardScaler()).fit(table)
    np.testing.assert_allclose(piped.transform(table), encoder.transform(table), atol=1e-12)


def test_the_table_is_left_alone():
    table = pd.DataFrame({"a": [1.0, np.nan, 4], "b": ["u", None, "u"]})
    before = table.copy(deep=True)
    FeatureEncoder().fit(table).transform(table)
    pd.testing.assert_frame_equal(table, before)


# --- extreme numbers

HUGE, TINY = np.finfo(float).max, np.nextafter(0, 1)


@pytest.mark.parametrize(
    "cells",
    [[-HUGE, HUGE, HUGE], [1e200, 2e200, 5e200], [1e-200, 2e-200, 5e-200], [1e300, 1e300, 1]],
)
def test_huge_and_tiny_numbers_neither_overflow_nor_vanish(cells):
    scaled = np.array(cells) / np.abs(cells).max()
    np.testing.assert_allclose(encoded(cells)[:, 0], StandardScaler().fit_transform(
        scaled[:, None])[:, 0], rtol=1e-12)  # fmt: skip


def test_what_is_far_outside_stays_finite():
    table = pd.DataFrame({"a": [0.0, TINY, 0.0], "b": [1.0, 2.0, 3.0]})
    encoder = FeatureEncoder().fit(table)
    assert np.ptp(encoder.transform(table)[:, 0]) == 1
    new = encoder.transform(pd.DataFrame({"a": [1.0, -1.0, 0.0], "b": [HUGE, -HUGE, 2.0]}))
    assert np.isfinite(new).all()
    assert new[2].tolist() == [encoder.transform(table)[0, 0], 0]
    np.testing.assert_array_equal(np.sign(new[:2]), [[1, 1], [-1, -1]])


# --- any table

NUMBERS = st.floats(width=64) | st.integers(-(2**70), 2**70) | st.booleans() | st.none()
TEXTS = st.text(max_size=5) | st.sampled_from(["1", "1.0", "true", "NA", "2024-05-01", "inf"])
CELLS = NUMBERS | TEXTS | st.decimals(allow_nan=False) | st.dates() | st.binary(max_size=2)
SERIES = st.sampled_from([NUMBERS, st.floats(-10, 10) | st.none(), TEXTS, TEXTS | NUMBERS, CELLS])


@st.composite
def frames(draw):
    n = draw(st.integers(1, 25))
    columns = {}
    for name in draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True)):
        cells = draw(st.lists(draw(SERIES), min_size=n, max_size=n))
        series = pd.Series(cells, dtype=draw(st.sampled_from([None, object])))
        columns[name] = series.astype("category") if draw(st.booleans()) else series
    return pd.DataFrame(columns)


def attempt(function, *arguments):
    """Return the result, or None where the table is refused."""
    try:
        return function(*arguments)
    except ValueError as error:
        if not str(error).endswith("."):  # a sentence of numpy or pandas, none of ours
            raise
        return None


@given(frames(), frames(), st.data())
def test_any_table_is_encoded_or_refused_in_a_sentence(table, other, data):
    encoder = FeatureEncoder(max_levels=3)
    if attempt(encoder.fit, table) is None:
        return
    matrix = encoder.transform(table)
    assert matrix.shape == (len(table), len(encoder.get_feature_names_out()))
    assert np.isfinite(matrix).all()
    assert set(encoder.sources_) | set(encoder.dropped_) == set(table.columns)
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=10))
    np.testing.assert_array_equal(encoder.transform(table.iloc[rows]), matrix[rows])
    order = data.draw(st.permutations(list(table.columns)))
    np.testing.assert_array_equal(encoder.transform(table[order]), matrix)
    again = attempt(encoder.transform, other.rename(columns=dict(zip(other, table, strict=False))))
    assert again is None or np.isfinite(again).all()


@settings(deadline=None)
@given(st.data())
def test_the_order_of_the_training_rows_does_not_matter(data):
    n = data.draw(st.integers(3, 15))
    whole = st.integers(-20, 20) | st.none()
    table = pd.DataFrame(
        {
            "a": pd.array(data.draw(st.lists(whole, min_size=n, max_size=n)), dtype="Int64"),
            "b": data.draw(st.lists(st.sampled_from("uvwx "), min_size=n, max_size=n)),
        }
    )
    order = data.draw(st.permutations(range(n)))
    first, second = FeatureEncoder(2), FeatureEncoder(2)
    if attempt(first.fit, table) is None:
        return
    second.fit(table.iloc[order])
    np.testing.assert_allclose(second.transform(table), first.transform(table), atol=1e-12)
    assert second.sources_ == first.sources_


@settings(deadline=None)
@given(st.lists(st.sampled_from(["u", "U", "1", "1.5", "x y", 'q"', "é", ""]), min_size=2))
def test_levels_survive_a_file(cells):
    table = pd.DataFrame({"a": cells, "b": range(len(cells))})
    encoder = FeatureEncoder().fit(table)
    read = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    np.testing.assert_array_equal(encoder.transform(read), encoder.transform(table))


def test_none_for_features_says_what_to_give_instead():
    with pytest.raises(ValueError, match="give a frame without columns"):
        FeatureEncoder().fit(None)
