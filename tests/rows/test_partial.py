"""What is known of missing degrees: what it allows, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from inldl.errors import DataError
from inldl.rows.partial import PartialRows

NAN = np.nan
Y = np.array([[0.5, 0.3, 0.2, 0.0], [0.4, NAN, NAN, NAN], [NAN, 0.1, NAN, 0.25]])
NONE = np.full(Y.shape, NAN)


def at(*cells, like=NONE):
    """Return bounds that are none but in some cells: (row, label, bound)."""
    out = like.copy()
    for row, label, bound in cells:
        out[row, label] = bound
    return out


def frame(a):
    return pd.DataFrame(a, columns=["beer", "wine", "milk", "tea"])


@st.composite
def limited(draw, groups=True):
    """Return rows, and bounds and sums that a complete table within them allows."""
    n, C = draw(st.integers(1, 4)), draw(st.integers(3, 6))
    truth = draw(arrays(float, (n, C), elements=st.floats(0.01, 1)))
    truth /= truth.sum(axis=1, keepdims=True)
    y = np.where(draw(arrays(bool, (n, C))), truth, NAN)
    room = draw(arrays(float, (2, n, C), elements=st.sampled_from([NAN, 0.0, 0.02, 0.3])))
    lower, upper = truth - room[0], truth + room[1]
    sums = {}
    if groups:
        known = draw(arrays(bool, (2, n)))
        sums = {(0, 1): np.where(known[0], truth[:, :2].sum(axis=1), NAN)}
        if C > 3:
            sums[C - 1, C - 2] = np.where(known[1], truth[:, C - 2 :].sum(axis=1), NAN)
    return truth, y, lower, upper, sums


def test_nothing_is_known():
    assert not PartialRows.of(Y).constrained
    assert not PartialRows.of(Y, NONE, NONE).constrained
    assert not PartialRows.of(Y, sums={}).constrained
    assert not PartialRows.of(Y, sums={(0, 1): [NAN] * 3}).constrained


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (np.zeros_like(Y), np.ones_like(Y)),
        (None, at((1, 1, 0.6), (1, 2, 0.61), (2, 0, 0.65), (2, 2, 1.0))),
        (Y, Y),
        (None, np.full(Y.shape, 7.0)),
        (np.full(Y.shape, -3.0), None),
    ],
    ids=["0 to 1", "the rest of the row", "observed", "above 1", "below 0"],
)
def test_bounds_that_tell_nothing_are_none(lower, upper):
    assert not PartialRows.of(Y, lower, upper).constrained


def test_bounds_of_holes_and_observed_degrees():
    limits = PartialRows.of(Y, at((1, 1, 0.1)), at((1, 1, 0.2), (0, 0, 0.9), (2, 2, 0.3)))
    np.testing.assert_array_equal(
        limits.lower, [[0.5, 0.3, 0.2, 0], [0.4, 0.1, 0, 0], [0, 0.1, 0, 0.25]]
    )
    np.testing.assert_array_equal(
        limits.upper, [[0.5, 0.3, 0.2, 0], [0.4, 0.2, 1, 1], [1, 0.1, 0.3, 0.25]]
    )
    np.testing.assert_array_equal(np.argwhere(limits.bounded), [[1, 1], [2, 2]])
    assert limits.limited_rows.tolist() == [1, 2]


def test_a_sum_tells_something_although_bounds_do_not():
    loose = np.where(np.isnan(Y), 0.95, NAN)
    limits = PartialRows.of(Y, upper=loose, sums={(1, 2): [NAN, 0.3, NAN]})
    assert limits.informative.tolist() == [False, True, False]
    found = limits.project(np.zeros_like(Y))
    np.testing.assert_allclose(found[1], [0.4, 0.15, 0.15, 0.3])


def test_each_row_tells_for_itself():
    """It may be in a block without the others."""
    upper = at((1, 1, 0.95), (1, 2, 0.05), (2, 0, 0.8))
    limits = PartialRows.of(Y, upper=upper)
    assert limits.informative.tolist() == [False, True, False]
    for row in range(3):
        alone = PartialRows.of(Y[row : row + 1], upper=upper[row : row + 1])
        assert alone.constrained == limits.informative[row]


@given(limited())
def test_possible_degrees_are_those_of_a_linear_program(case):
    _, y, lower, upper, sums = case
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    low, high = limits.possible
    for row in range(len(y)):
        parts = [(inside[row], total[row]) for inside, *_, total in limits.parts]
        parts = [(inside, total) for inside, total in parts if inside.any()]
        A, b = np.array([i for i, _ in parts], float), np.array([t for _, t in parts])
        box = list(zip(limits.lower[row], limits.upper[row], strict=True))
        for label in np.flatnonzero(np.isnan(y[row])):
            cost = np.eye(y.shape[1])[label]
            for sign, found in ((1, low), (-1, high)):
                best = linprog(sign * cost, A_eq=A, b_eq=b, bounds=box)
                if best.status == 0:  # it has a tolerance of 1e-7, and may see no room at all
                    assert found[row, label] == pytest.approx(best.x[label], abs=1e-6)
    seen = ~np.isnan(y)
    np.testing.assert_array_equal(low[seen], y[seen])
    np.testing.assert_array_equal(high[seen], y[seen])
    assert (low <= high).all()


@given(limited(), st.floats(-1, 2))
def test_nearest_rows_are_within_all_limits(case, value):
    truth, y, lower, upper, sums = case
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    found = limits.project(np.full(y.shape, value), 0.1 + truth)
    seen = ~np.isnan(y)
    np.testing.assert_array_equal(found[seen], y[seen])
    assert (found >= np.fmax(lower, 0))[~seen].all()
    assert (found <= np.fmin(upper, 1))[~seen].all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    for labels, total in sums.items():
        there = found[:, list(labels)].sum(axis=1)
        np.testing.assert_allclose(there[~np.isnan(total)], total[~np.isnan(total)], atol=1e-9)
    np.testing.assert_allclose(limits.project(found), found, atol=1e-9)
    np.testing.assert_allclose(limits.project(truth), truth, atol=1e-9)


@given(limited())
def test_what_is_told_is_filled_and_the_rest_is_not(case):
    _, y, lower, upper, sums = case
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    filled = limits.feasible()
    np.testing.assert_array_equal(np.isnan(filled), np.isnan(y) & ~limits.limited)
    low, high = limits.possible
    told = limits.limited
    assert (filled[told] >= low[told] - 1e-12).all()
    assert (filled[told] <= high[told] + 1e-12).all()


@given(limited())
def test_rows_can_be_taken(case):
    _, y, lower, upper, sums = case
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    rows = np.arange(len(y))[::-2]
    part = limits.take(rows)
    for name in (
        "limited",
        "bounded",
        "informative",
        "y",
        "lower",
        "upper",
        "sums",
    ):
        np.testing.assert_array_equal(getattr(part, name), getattr(limits, name)[rows])
    for some, every in zip(part.possible, limits.possible, strict=True):
        np.testing.assert_array_equal(some, every[rows])
    zeros = np.zeros(y.shape)
    np.testing.assert_array_equal(part.project(zeros[rows]), limits.project(zeros)[rows])


@given(limited())
def test_what_was_given_gives_the_same_limits(case):
    _, y, lower, upper, sums = case
    limits = PartialRows.of(y, lower, upper, sums)
    assume(limits.constrained)
    again = PartialRows.of(y, **limits.arguments())
    np.testing.assert_array_equal(again.lower, limits.lower)
    np.testing.assert_array_equal(again.upper, limits.upper)
    np.testing.assert_array_equal(again.sums, limits.sums)


def test_limits_of_rows_of_which_less_is_observed():
    limits = PartialRows.of(Y, upper=at((1, 1, 0.2), (2, 2, 0.3)), sums={(1, 2): [0.5, 0.3, NAN]})
    less = Y.copy()
    less[0, 1], less[1, 0] = NAN, NAN
    left = limits.hide(less)
    np.testing.assert_array_equal(left.lower[0], [0.5, 0, 0.2, 0])
    np.testing.assert_array_equal(left.upper[:2], [[0.5, 1, 0.2, 0], [1, 0.2, 1, 1]])
    np.testing.assert_array_equal(left.sums, limits.sums)
    more = Y.copy()
    more[1, 1] = 0.9  # against what is known
    left = limits.hide(more)
    np.testing.assert_array_equal(left.sums, [[0.5], [NAN], [NAN]])
    np.testing.assert_array_equal(np.argwhere(left.bounded), [[2, 2]])
    assert not limits.take([1]).hide(more[[1]]).constrained


def test_open_limits_bind_holes_only():
    limits = PartialRows.of(Y, upper=at((1, 1, 0.2)), sums={(2, 3): [NAN, 0.5, NAN]})
    opened = limits.free()
    assert np.isnan(opened.y).all()
    np.testing.assert_array_equal(opened.upper[1], [1, 0.2, 1, 1])
    found = opened.project(np.array([[0.25] * 4, [0, 0.9, 0.1, 0.1], [0.25] * 4]))
    np.testing.assert_allclose(found[1], [0.3, 0.2, 0.25, 0.25])


def test_rows_that_lack_something_have_one_more_label():
    limits = PartialRows.of(
        np.array([[0.5, 0.3, NAN, NAN], [0.2, 0.2, 0.2, 0.3]]),
        upper=at((0, 2, 0.1), like=np.full((2, 4), NAN)),
    )
    wider = limits.with_slack(2.0)
    np.testing.assert_allclose(wider.y[:, :2], [[0.25, 0.15], [0.1, 0.1]])
    np.testing.assert_allclose(wider.y[:, 4], [NAN, 0.55])
    np.testing.assert_allclose(wider.upper[0], [0.25, 0.15, 0.05, 0.5, 1])
    np.testing.assert_allclose(wider.upper[1, 4], wider.lower[1, 4])


CONTRADICTIONS = {
    "bounds that cross": (
        {"lower": at((1, 2, 0.3)), "upper": at((1, 2, 0.2))},
        r"The bounds of label {milk} in row 1 \(counted from 0\) are 0.3 and 0.2, and no share",
    ),
    "above 1": ({"lower": at((2, 0, 1.5))}, "bounds of label {beer} in row 2 .* are 1.5 and 1,"),
    "below 0": ({"upper": at((2, 0, -0.1))}, "bounds of label {beer} in row 2 .* are 0 and -0.1,"),
    "observed above": (
        {"upper": at((2, 3, 0.1))},
        "observed degree of label {tea} in row 2 .* is 0.25, outside of its bounds 0 and 0.1:",
    ),
    "observed below": (
        {"lower": at((0, 0, 0.8))},
        "observed degree of label {beer} in row 0 .* is 0.5, outside of its bounds 0.8 and 1:",
    ),
    "too little": (
        {"upper": at((1, 1, 0.1), (1, 2, 0.1), (1, 3, 0.1))},
        r"In row 1 .* the labels {all} must sum to 1, .* sums from 0.4 to 0.7 \(1 such row",
    ),
    "too much": (
        {"lower": at((1, 1, 0.3), (1, 2, 0.5))},
        "In row 1 .* the labels {all} must sum to 1, .* only sums from 1.2 to 3.4",
    ),
    "sums of a group": (
        {"sums": {(0, 1): [0.8, 0.3, NAN]}},
        "In row 1 .* the labels {beer}, {wine} must sum to 0.3, .* sums from 0.4 to 1.4",
    ),
    "observed group": (
        {"sums": {(0, 1): [0.9, NAN, NAN]}},
        "In row 0 .* labels {beer}, {wine} must sum to 0.9, .* only sums from 0.8 to 0.8",
    ),
    "what groups leave": (
        {"sums": {(0, 1): [NAN, NAN, 0.8], (2,): [NAN, NAN, 0.1]}},
        "In row 2 .* the labels {tea} must sum to 0.1, .* sums from 0.25 to 0.25",
    ),
    "groups of all labels": (
        {"sums": {(0, 1): [NAN, 0.8, NAN], (2, 3): [NAN, 0.3, NAN]}},
        "In row 1 .* the labels {all} must sum to 1, .* sums from 1.1 to 1.1",
    ),
}


@pytest.mark.parametrize("named", [True, False], ids=["names", "numbers"])
@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_one_sentence_with_the_row(case, named):
    given, sentence = CONTRADICTIONS[case]
    names = list(frame(Y)) if named else [0, 1, 2, 3]
    one = "label {" in sentence  # a single label is quoted
    words = {old: repr(new) if one else new for old, new in zip(frame(Y), names, strict=True)}
    sentence = sentence.format(**words, all=", ".join(map(str, names)))
    if named:
        given = {name: a if name == "sums" else frame(a) for name, a in given.items()}
    with pytest.raises(DataError, match=sentence) as told:
        PartialRows.of(frame(Y) if named else Y, **given)
    assert str(told.value).count(". ") == 0
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


def test_rows_are_counted_from_the_first_one():
    bad = at((1, 2, -1.0))
    header, known = PartialRows.open(Y, Y, None, bad, None)
    for numbers, words in (
        (known["row"], "in row 1 \\("),
        (np.array([[3], [5], [9]]), "in row 5 "),
        (None, "in row 1 of"),
    ):
        with pytest.raises(DataError, match=words):
            header.block(Y, row=numbers, upper=bad)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"upper": NONE[:, 1:]}, r"upper has the shape \(3, 3\), but y has the shape \(3, 4\)"),
        ({"lower": NONE[1:]}, r"lower has the shape \(2, 4\), but y has the shape \(3, 4\)"),
        ({"upper": NONE[0]}, "upper must be 2-D, one row per sample"),
        ({"upper": np.full(Y.shape, np.inf)}, "Input upper contains infinity"),
        ({"sums": {(0, 1): [0.1, 0.2]}}, r"sums of \(0, 1\) have the shape \(2,\), .* 3 rows"),
        ({"sums": {(0, 1): NONE}}, r"sums of \(0, 1\) have the shape \(3, 4\), .* 3 rows"),
        ({"sums": {(0, 1): 0.5}}, r"sums of \(0, 1\) have the shape \(\), .* 3 rows"),
        ({"sums": {(0, 4): [NAN] * 3}}, "sums names the label 4; the labels are 0 to 3"),
        ({"sums": {(0, -1): [NAN] * 3}}, "sums names the label -1; the labels are 0 to 3"),
        ({"sums": {("beer",): [NAN] * 3}}, "sums names the label 'beer'; the labels are 0 to 3"),
        ({"sums": {"beer": [NAN] * 3}}, "as tuples, such as .*, got 'beer'"),
        ({"sums": {0: [NAN] * 3}}, "as tuples, such as .*, got 0"),
        ({"sums": {(): [NAN] * 3}}, r"as tuples, such as .*, got \(\)"),
        ({"sums": {(0, 1): [NAN] * 3, (1, 2): [NAN] * 3}}, "in two of the groups in sums"),
        ({"sums": {(1, 1): [NAN] * 3}}, "in two of the groups in sums, or twice in one"),
    ],
)
def test_what_cannot_be_read_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        PartialRows.of(Y, **given)


def test_frames_have_the_labels_in_their_order():
    swapped = frame(NONE)[["wine", "beer", "milk", "tea"]]
    words = "The columns of upper are wine, beer, milk, tea, but the labels are beer, wine, milk"
    for refuse in (
        lambda: PartialRows.of(frame(Y), upper=swapped),
        lambda: PartialRows.open(Y, frame(Y), None, swapped, None),
    ):
        with pytest.raises(ValueError, match=words):
            refuse()
    assert PartialRows.of(frame(Y), upper=frame(at((1, 1, 0.1)))).constrained
    by_name = PartialRows.of(frame(Y), sums={("wine", "milk"): [NAN, 0.3, NAN]})
    assert by_name.groups[0].tolist() == [1, 2]
    with pytest.raises(ValueError, match="label 'rum'; the labels are beer, wine, milk, tea"):
        PartialRows.of(frame(Y), sums={("rum",): [NAN] * 3})


def test_masked_entries_are_none():
    upper = np.ma.masked_invalid(at((1, 1, 0.2)))
    upper.data[~np.isfinite(upper.data)] = 0.0
    total = np.ma.masked_array([0.1, 0.5, 0.9], [True, False, True])
    y = np.ma.masked_array(np.nan_to_num(Y, nan=9.0), np.isnan(Y))
    limits = PartialRows.of(y, upper=upper, sums={(2, 3): total})
    np.testing.assert_array_equal(limits.y, Y)
    assert limits.upper[1].tolist() == [0.4, 0.2, 1, 1]
    np.testing.assert_array_equal(limits.sums.T, [[NAN, 0.5, NAN]])
    _, known = PartialRows.open(Y, y, None, upper, {(2, 3): total})
    np.testing.assert_array_equal(known["upper"], at((1, 1, 0.2)))
    np.testing.assert_array_equal(known["sums"].T, [[NAN, 0.5, NAN]])


@pytest.mark.parametrize(
    ("y", "upper", "good"),
    [
        ([0.33, 0.33, NAN, NAN], [NAN, NAN, 0.33, 0.0], True),  # sums to 0.99
        ([0.33, 0.33, NAN, NAN], [NAN, NAN, 0.30, 0.0], False),
        ([0.333333, 0.333333, NAN, NAN], [NAN, NAN, 0.333333, 0.0], True),
        ([0.3333333, 0.3333333, NAN, NAN], [NAN, NAN, 0.3333, 0.0], False),
    ],
)
def test_sums_may_be_off_by_what_rounding_explains(y, upper, good):
    if good:
        limits = PartialRows.of([y], upper=[upper])
        np.testing.assert_allclose(limits.project(np.ones((1, 4)))[0, 2:], upper[2:])
        low, high = limits.possible
        assert (low <= high).all()
    else:
        with pytest.raises(DataError, match="must sum to 1"):
            PartialRows.of([y], upper=[upper])


def test_single_precision_has_its_own_tolerance():
    """What can be completed without bounds can be completed with them."""
    y = np.array([[0.4123457, 0.5879543, NAN, NAN], [0.1, 0.2, NAN, NAN]], np.float32)
    upper = at((1, 2, 0.3), like=np.full((2, 4), NAN))
    limits = PartialRows.of(y, upper=upper)
    assert limits.project(np.ones((2, 4))).dtype == np.float32
    np.testing.assert_array_equal(limits.project(np.ones((2, 4)))[0, 2:], 0)
    with pytest.raises(DataError, match="In row 0"):
        PartialRows.of(y.astype(float), upper=upper)


def test_blocks_have_the_limits_of_their_rows():
    sums = {("milk", "tea"): [0.2, 0.3, NAN]}
    header, known = PartialRows.open(Y, frame(Y), at((1, 1, 0.1)), None, sums)
    assert [columns.tolist() for columns in header.groups] == [[2, 3]]
    assert header.names == ("beer", "wine", "milk", "tea")
    assert known.keys() == {"lower", "sums", "row"}
    whole, block = PartialRows.of(frame(Y), at((1, 1, 0.1)), None, sums), slice(1, 3)
    part = header.block(Y[block], **{name: a[block] for name, a in known.items()})
    for name in ("lower", "upper", "sums"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[block])
    known["lower"] = at((2, 2, 2.0))
    with pytest.raises(DataError, match="label 'milk' in row 2 "):
        header.block(Y[block], **{name: a[block] for name, a in known.items()})
    del known["row"]
    with pytest.raises(DataError, match="label 'milk' in row 1 of a block of rows"):
        header.block(Y[block], **{name: a[block] for name, a in known.items()})


def test_rows_without_limits_have_nothing_beside_them():
    for y in (Y, frame(Y), Y[:, 0], None):  # whatever is wrong with y is told elsewhere
        header, arrays = PartialRows.open(Y, y, None, None, None)
        assert (arrays, header.groups) == ({}, ())
    with pytest.raises(ValueError, match="y must be 2-D, one row per sample"):
        PartialRows.open(Y, Y[:, 0], None, NONE, None)


def test_no_rows():
    nothing = np.empty((0, 4))
    limits = PartialRows(nothing, nothing, nothing)
    assert limits.project(nothing).shape == (0, 4)
    assert not limits.informative.any()


def test_what_else_is_known_of_some_rows():
    side = {"spread_features": np.arange(6).reshape(3, 2), "features": np.eye(3)}
    some = PartialRows(Y, **side, weight=np.arange(3.0)).take(slice(1, None))
    np.testing.assert_array_equal(some.spread_features, [[2, 3], [4, 5]])
    np.testing.assert_array_equal(some.features, np.eye(3)[1:])
    np.testing.assert_array_equal(some.weight, [1, 2])
    assert PartialRows(Y).take(np.array([0])).features is None
    (at, first), (_, last) = PartialRows(Y).blocks(2)
    assert (at, len(first), len(last)) == (slice(0, 2), 2, 1)
