"""Which columns of a table are left out or refused, and in which words."""

import datetime

import numpy as np
import pandas as pd
import pytest

from inldl.tables import FeatureEncoder, NumberColumn


@pytest.fixture
def rng():
    """Return a generator of numbers."""
    return np.random.default_rng(5)


def encoded(column, new=None, max_levels=50):
    """Return the matrix of a table with one column, as it is fitted or for new cells."""
    encoder = FeatureEncoder(max_levels).fit(pd.DataFrame({"a": column}))
    return encoder.transform(pd.DataFrame({"a": column if new is None else new}))


def refusal(table, new=None):
    """Return in which words a table is refused, by the fit or else by the transformation."""
    encoder = FeatureEncoder()
    if new is not None:
        encoder.fit(pd.DataFrame(table))
    with pytest.raises(ValueError, match=r"\.$") as error:
        encoder.fit(pd.DataFrame(table)) if new is None else encoder.transform(new)
    return str(error.value)


# --- what is left out


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("code", [f"p{i}" for i in range(21)], "every cell is different, like an id"),
        ("person id", list("abc"), "every cell is different, like an id"),
        ("userId", [7, 100, 3], "every cell is different, like an id"),
        ("ID", [7.0, 100.0, np.nan], "every cell is different, like an id"),
        ("t", [f"p{i}" for i in range(95)] + ["p1"] * 5, "nearly every cell is different"),
        ("count", np.arange(5.0, 26.0), "it is a running number"),
        ("a", ["u", "u"], "every cell is the same"),
        ("a", [4, 4], "every cell is the same"),
        ("a", pd.to_datetime(["2024-05-01"] * 2), "every cell is the same"),
        ("a", ["2024-05-01"] * 2, "every cell is the same"),
        ("a", [np.nan, np.nan], "it has no observed cell"),
        ("a", [None, " "], "it has no observed cell"),
        ("a", pd.to_datetime([None, None]), "it has no observed cell"),
        ("a", pd.Categorical([None, None], categories=["b"]), "it has no observed cell"),
    ],
)
def test_left_out_with_a_note(rng, name, cells, reason):
    good = rng.normal(size=len(cells))
    encoder = FeatureEncoder().fit(pd.DataFrame({name: cells, "good": good}))
    assert encoder.dropped_[name].startswith(reason)
    assert encoder.notes_ == [f"Column {name!r} is left out: {encoder.dropped_[name]}."]
    assert encoder.sources_ == ["good"]
    without = encoder.transform(pd.DataFrame({"good": good}))
    np.testing.assert_array_equal(without, encoded(good))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("id", [0.5, 1.5, 2.25]),
        ("income", (np.arange(100) * 7) % 100 + 30_000),
        ("year", np.arange(1990, 2020)),
        ("dose", np.arange(1, 11)),
        ("grid", [1, 2, 3]),
        ("descending", np.arange(50, 0, -1)),
        ("class_id", [1, 2, 1]),
        ("town", [f"t{i}" for i in range(20)]),
        ("group", [f"g{i}" for i in range(90)] + ["g1"] * 10),
        ("ticked", ["yes", None, "yes"]),
        ("amount", [3.0, np.nan, 3.0]),
    ],
)
def test_honest_columns_stay(name, cells):
    encoder = FeatureEncoder().fit(pd.DataFrame({name: cells}))
    assert encoder.dropped_ == {}
    assert np.ptp(encoder.transform(pd.DataFrame({name: cells})), axis=0).max() > 0


def test_one_number_with_holes_is_its_own_mean():
    encoder = FeatureEncoder().fit(pd.DataFrame({"a": [0.1] * 10 + [None]}))
    assert encoder.columns_ == [NumberColumn("a", 0.1, 1.0, 0.1, True, 0.1, 0.1)]


def test_notes_on_many_columns_are_few():
    table = {f"{kind}{i}": cells for i in range(20) for kind, cells in {
        "constant": ["u"] * 100,
        "empty": [None] * 100,
        "text": [f"t{i}" for i in range(100)],
        "run": np.arange(100),
        "level": [f"{i % 60}x" for i in range(100)],
        "stray": ["<5", *map(str, range(99))],
    }.items()}  # fmt: skip
    notes = FeatureEncoder(max_levels=50).fit(pd.DataFrame(table)).notes_
    assert len(notes) == 6
    assert notes[0] == (
        "Columns 'constant0', 'constant1', 'constant2' and 17 more are left out: every cell is "
        "the same."
    )
    assert notes[-1].startswith("Columns 'level0', 'level1', 'level2' and 17 more have more than")


def test_a_column_of_numbers_with_a_stray_word_is_told(rng):
    cells = [*map(str, rng.integers(0, 9, 40)), "<5"]
    encoder = FeatureEncoder().fit(pd.DataFrame({"a": cells}))
    assert encoder.notes_ == [
        "Column 'a' is nearly all numbers, but taken as text because of cells such as '<5' in row "
        "40 (counted from 0)."
    ]


def test_a_stray_number_among_objects_is_told():
    encoder = FeatureEncoder().fit(pd.DataFrame({"a": [*range(40), *range(40), np.inf, "x"]}))
    assert "because of cells such as 'inf' in row 80" in encoder.notes_[0]


def test_nothing_left_tells_what_happened_to_each():
    table = pd.DataFrame({"k": [1, 1], "e": [None, None], "id": ["a", "b"]})
    encoder = FeatureEncoder().fit(table)
    assert [note.split(":")[0] for note in encoder.notes_] == [
        "Column 'k' is left out",
        "Column 'e' is left out",
        "Column 'id' is left out",
        "No feature column tells rows apart",
    ]
    assert encoder.transform(table).tolist() == [[0], [0]]
    assert encoder.get_feature_names_out().tolist() == ["none"]
    assert not np.any(encoder.unfamiliar(table))


# --- what is refused

TIMES = [
    pd.to_timedelta([1, 2, None], unit="D"),
    [datetime.timedelta(1), datetime.timedelta(2), None],
    [datetime.time(12, 30), datetime.time(12, 31), "noon"],
]


@pytest.mark.parametrize("cells", TIMES)
def test_times_and_durations_are_refused_with_advice(cells):
    assert refusal({"day": cells}) == (
        "Column 'day' holds times of day or durations; replace it by numbers, such as hours or "
        "days, or leave it out (--ignore)."
    )


def test_dates_are_refused_later_too():
    new = pd.DataFrame({"day": pd.to_datetime(["2024-05-01"])})
    assert refusal({"day": [1, 3]}, new).startswith("Column 'day' holds dates")
    assert refusal({"day": ["a", "b"]}, new).startswith("Column 'day' holds dates")


@pytest.mark.parametrize("word", ["1.2.3", "10.20.30.40", "12:30", "2024", "A-2024-05-01", "1-2"])
def test_other_words_with_digits_are_no_dates(word):
    assert encoded([word, f"{word}7"]).shape == (2, 2)


def test_a_few_dates_among_words_are_levels():
    assert encoded(["2024-05-01", "unknown", "unknown"]).shape == (3, 2)


@pytest.mark.parametrize(
    "cells",
    [
        [1.0, np.inf, 2.0],
        np.array([1, -np.inf, 2], "f4"),
        np.array([1, 10**400, 2], object),
    ],
)
def test_infinite_numbers_are_refused(cells):
    words = "Column 'a' holds an infinite number in row 1 (counted from 0)"
    assert refusal({"a": cells}).startswith(words)
    assert refusal({"a": [1.0, 2.0]}, pd.DataFrame({"a": cells})).startswith(words)


@pytest.mark.parametrize("word", ["inf", "-Inf ", "Infinity", "∞"])
def test_infinite_numbers_among_text_are_refused(word):
    """In a file such a word makes text of the whole column."""
    words = "Column 'a' holds an infinite number in row 1 (counted from 0)"
    assert refusal({"a": ["0,5", word, "NA", "2"]}).startswith(words)
    assert encoded(["north", word, "south"]).shape == (3, 3)
    assert encoded([word, "NA", word]).shape == (3, 2)


def test_the_row_of_an_infinite_number_is_that_of_the_table():
    new = pd.DataFrame({"b": np.zeros(10_000), "a": np.arange(10_000.0)})
    new.loc[9_876, "a"] = np.inf
    assert "Column 'a' holds an infinite number in row 9876" in refusal(
        {"a": [1.5, 2], "b": [1.5, 2]}, new
    )


def test_text_in_a_column_of_numbers_is_refused():
    assert refusal({"a": [1, 3]}, pd.DataFrame({"a": ["4", "NA", "high", "low"]})) == (
        "Column 'a' held numbers when the model was fitted, but row 2 (counted from 0) holds "
        "'high'; give a number or leave the cell empty."
    )


@pytest.mark.parametrize("cell", [[1], {1: 2}, b"u", 1j, object()])
def test_cells_that_are_no_number_and_no_text_are_refused(cell):
    words = (
        f"Column 'a' holds a {type(cell).__name__} in row 1 (counted from 0), neither a number "
    )
    assert refusal({"a": ["u", cell, None]}).startswith(words)
    assert refusal({"a": ["u", "v"]}, pd.DataFrame({"a": ["u", cell]})).startswith(words)


def test_the_row_of_a_refused_category_is_that_of_the_table():
    cells = pd.Categorical(["u", "v", b"w"], categories=[b"w", "u", "v"])
    assert "holds a bytes in row 2 (counted from 0)," in refusal({"a": cells})


def test_missing_columns_are_named_with_what_is_near():
    new = pd.DataFrame({"heigth": [1.0], "c": [2.0]})
    assert refusal({"height": [1, 3], "b": ["u", "v"], "c": [1, 3]}, new) == (
        "The table lacks columns 'height', 'b', which the model was fitted to: 'height' may be "
        "'heigth'; give a table with all its columns."
    )
    new = pd.DataFrame({"HEIGHT": [1.0]})
    assert "'height' may be 'HEIGHT'" in refusal({"height": [1, 3]}, new)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "More than one column is called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "More than one column is called '1'"),
        (pd.DataFrame({"a": []}), "X has no rows"),
        (pd.DataFrame(), "X has no rows"),
        ([], "X must be a table"),
        ([1, 2], "X must be a table"),
        (pd.Series([1, 2]), "X must be a table"),
        (None, "X is None; if there are no features, give a frame without columns"),
        ([[1, 2], [1]], "The rows of X differ in length"),
    ],
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        FeatureEncoder().fit(X)


@pytest.mark.parametrize("max_levels", [0, 2.5, None])
def test_max_levels_is_checked(max_levels):
    with pytest.raises(ValueError, match="max_levels must be an integer at least 1"):
        FeatureEncoder(max_levels).fit(pd.DataFrame({"a": [1, 2]}))
