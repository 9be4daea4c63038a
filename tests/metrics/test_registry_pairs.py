"""What the measures accept, and the sentence for what they refuse."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inldl.metrics import METRICS, clark, evaluate

GOOD = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [1.0, 0.0, 0.0]])
NAN = np.nan


def changed(*rows, dtype=np.float64):
    """Give GOOD with rows 1, 2, ... replaced."""
    y = GOOD.astype(dtype)
    y[1 : 1 + len(rows)] = rows
    return y


BAD = {
    "shape": (
        GOOD,
        GOOD[:, :2],
        "y_true has shape (3, 3) but y_pred has shape (3, 2): both need the same rows and labels.",
    ),
    "rows": (
        GOOD[:1],
        GOOD,
        "y_true has shape (1, 3) but y_pred has shape (3, 3): both need the same rows and labels.",
    ),
    "unpredicted": (
        GOOD,
        changed([0.5, NAN, 0.5], [NAN, 0.5, 0.5]),
        "y_pred holds NaN in row 1: predict every degree.",
    ),
    "infinite truth": (
        changed([0.5, np.inf, NAN]),
        GOOD,
        "y_true is infinite in row 1: give degrees from 0 to 1.",
    ),
    "infinite prediction": (
        GOOD,
        changed([0.5, 0.2, 0.3], [0.5, -np.inf, 0.5]),
        "y_pred is infinite in row 2: give degrees from 0 to 1.",
    ),
    "negative truth": (
        changed([1.1, -0.1, NAN]),
        GOOD,
        "y_true is negative in row 1: give degrees from 0 to 1.",
    ),
    "negative prediction": (
        GOOD,
        changed([1.1, -0.1, 0.0]),
        "y_pred is negative in row 1: give degrees from 0 to 1.",
    ),
    "truth sums to less": (
        changed([0.5, 0.25, 0.0], [0.0, 0.0, 0.0]),
        GOOD,
        "row 1 of y_true sums to 0.75, not 1: divide each row by its sum.",
    ),
    "truth sums to more": (
        changed([0.5, NAN, NAN], [0.5, 0.5, 0.00002]),
        GOOD,
        "row 2 of y_true sums to 1.00002, not 1: divide each row by its sum.",
    ),
    "prediction sums to more": (
        GOOD,
        changed([0.5, 0.5, 0.5]),
        "row 1 of y_pred sums to 1.5, not 1: divide each row by its sum.",
    ),
    "observed part is too large": (
        changed([NAN, 0.75, 0.5]),
        GOOD,
        "The observed degrees of row 1 of y_true sum to 1.25, more than 1 (1 such row(s)); "
        "give them as shares of the whole row.",
    ),
    "order of labels": (
        pd.DataFrame(GOOD, columns=["a", "b", "c"]),
        pd.DataFrame(GOOD, columns=["a", "c", "b"]),
        "column 1 is 'b' in y_true but 'c' in y_pred: put the labels of both in the same order.",
    ),
}


@pytest.mark.parametrize(("y_true", "y_pred", "message"), BAD.values(), ids=BAD)
def test_bad_rows_are_refused_with_one_sentence(y_true, y_pred, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        clark(y_true, y_pred)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        evaluate(y_true, y_pred)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_strict(name):
    with pytest.raises(ValueError, match=r"row 1 of y_pred sums to 1\.5, "):
        METRICS[name].function(GOOD, changed([0.5, 0.5, 0.5]))


@pytest.mark.parametrize(
    "bad",
    [GOOD[0], GOOD[None], np.array([["a", "b", "c"]] * 3), np.zeros((0, 3))],
    ids=["1-D", "3-D", "strings", "empty"],
)
def test_what_is_no_table_of_numbers_is_refused(bad):
    with pytest.raises(ValueError, match=r"y_true|array|convert"):
        clark(bad, GOOD)
    with pytest.raises(ValueError, match=r"y_pred|array|convert"):
        clark(GOOD, bad)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-5), (np.float32, 1e-3)])
@pytest.mark.parametrize("row", [[0.5, 0.5, 0.0], [0.5, 0.5, NAN]], ids=["complete", "holes"])
def test_the_tolerance_follows_the_precision_of_each_table(dtype, tolerance, row):
    row = np.array(row)
    step = np.array([tolerance, 0, 0])
    inside, outside = (changed(row + s * step, dtype=dtype) for s in (0.9, 1.1))
    assert clark(inside, GOOD) >= 0
    with pytest.raises(ValueError, match="row 1 of y_true"):
        clark(outside, GOOD)
    if not np.isnan(row).any():
        assert clark(GOOD, inside) >= 0
        with pytest.raises(ValueError, match="row 1 of y_pred"):
            clark(GOOD, outside)


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_rounded_degrees_are_distributions(decimals):
    unit = 10.0**-decimals
    rounded = changed([0.5 + unit, 0.3, 0.2], [0.5 + unit, NAN, 0.5])
    assert clark(rounded, GOOD) >= 0
    assert clark(GOOD, changed([0.5 + unit, 0.3, 0.2])) >= 0
    with pytest.raises(ValueError, match="row 1 of y_true sums to"):
        clark(changed([0.5 + 2 * unit, 0.3, 0.2]), GOOD)


def test_float32_is_measured_in_float64():
    p, q = GOOD.astype(np.float32), GOOD[::-1].astype(np.float32)
    values = clark.per_row(p, q)
    assert values.dtype == np.float64
    wide = p.astype(np.float64), q.astype(np.float64)
    np.testing.assert_array_equal(values, clark.per_row(*wide))


@pytest.mark.parametrize("name", METRICS)
def test_the_memory_order_does_not_matter(name):
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(40), (2, 50))
    function = METRICS[name].function
    np.testing.assert_array_equal(
        function.per_row(np.asfortranarray(p), np.asfortranarray(q)),
        function.per_row(p, q),
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_tables(frame):
    p, q = changed([0.5, NAN, 0.1]), GOOD[::-1].copy()
    expected = clark.per_row(p, q)
    np.testing.assert_array_equal(clark.per_row(frame(p), q), expected)
    np.testing.assert_array_equal(clark.per_row(p, frame(q)), expected)
    np.testing.assert_array_equal(clark.per_row(frame(p), frame(q)), expected)


def test_frames_with_other_names_are_taken_in_their_order():
    p, q = pd.DataFrame(GOOD, columns=list("abc")), pd.DataFrame(GOOD[::-1], columns=list("xyz"))
    assert clark(p, q) == clark(GOOD, GOOD[::-1])


def test_whole_numbers_are_degrees():
    y = np.array([[1, 0], [0, 1]])
    assert clark(y, y) == 1.0
    assert clark(y.tolist(), y.astype(bool)) == 1.0


def test_inputs_are_left_alone():
    p, q = changed([0.5, NAN, 0.1]), GOOD[::-1].copy()
    before = p.copy(), q.copy()
    evaluate(p, q)
    np.testing.assert_array_equal(p, before[0])
    np.testing.assert_array_equal(q, before[1])
