"""Pictures of tables: what is drawn is what was given, and every name can be read."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba

from inldl import report
from inldl.report.style import COLUMN, FULL, shortened
from text_boxes import area, boxes_of, cut_off, overlapping

LONG = "How strongly do you agree that the thing, as it was shown, is <b>useful</b> & cheap: "
SHAPES = [(2, 3, False), (60, 3, True), (60, 40, True), (2, 40, False), (5, 70, False)]
QUICK = SHAPES[0], SHAPES[2]


def make(n, n_labels, long=False):
    """Return a table of any size, and all that can be drawn of it."""
    rng = np.random.default_rng(n + n_labels)
    labels = [f"{LONG if long else 'label '}{j}" for j in range(n_labels)]
    after = rng.dirichlet(np.full(n_labels, 0.5), n)
    before = np.where(rng.random(after.shape) < 0.4, np.nan, after)
    places = np.sort(rng.uniform(0, 0.8, 10))
    features = [f"{LONG if long else 'feature '}{k}" for k in range(max(2, n // 2))]
    methods = ["auto", "winldl", "ridge", "constant-mean", f"package:Class(name={LONG!r})"]
    return SimpleNamespace(
        labels=labels,
        before=before,
        after=after,
        groups=pd.DataFrame(
            {
                "predicted": places,
                "observed": rng.uniform(0, 0.8, 10),
                "error": rng.uniform(0.01, 0.05, 10),
                "n": rng.integers(1, 500, 10),
            }
        ),
        errors=pd.DataFrame(
            {
                "label": labels,
                "rmse": rng.uniform(0.02, 0.1, n_labels),
                "constant_rmse": rng.uniform(0.05, 0.15, n_labels),
                "n": rng.integers(1, 50, n_labels),
            }
        ),
        influence=pd.DataFrame(
            rng.normal(size=(len(features), n_labels)), index=features, columns=labels
        ),
        methods=pd.DataFrame(
            {
                "method": methods,
                "completing_rmse": np.sort(rng.uniform(0.03, 0.1, 5)),
                "completing_se": 0.004,
                "predicting_rmse": rng.uniform(0.03, 0.1, 5),
                "predicting_se": 0.006,
            }
        ),
    )


FIGURES = {
    "completion_map": lambda d, w: report.completion_map(d.before, d.after, d.labels, width=w),
    "named_rows": lambda d, w: report.completion_map(d.before, named(d.after), d.labels, width=w),
    "predicted_map": lambda d, w: report.predicted_map(named(d.after), d.labels, width=w),
    "reliability": lambda d, w: report.reliability(d.groups, coverage=0.9, width=w),
    "errors_by_label": lambda d, w: report.errors_by_label(d.errors, width=w),
    "influence": lambda d, w: report.influence(d.influence, width=w),
    "missing_map": lambda d, w: report.missing_map(~np.isnan(d.before), d.labels, width=w),
    "map_of_places": lambda d, w: report.map_of_places(places(d), width=w),
    "holes_per_row": lambda d, w: report.holes_per_row(holes(d.before), width=w),
    "hidden_mass": lambda d, w: report.hidden_mass(-0.01, -0.03, 0.01, width=w),
    "moved_means": lambda d, w: report.moved_means(moved(d), width=w),
    "known_and_filled": lambda d, w: report.known_and_filled(*frames(d), width=w),
    "comparison": lambda d, w: report.comparison(d.methods, recommended="auto", width=w),
}
OF_ANY_SHAPE = {"reliability", "hidden_mass", "comparison"}  # that are drawn the same
DRAWN = [
    pytest.param(
        name, shape, width, marks=[pytest.mark.slow] * (width == FULL or shape not in QUICK)
    )
    for name in FIGURES
    for shape in (SHAPES[:1] if name in OF_ANY_SHAPE else SHAPES)
    for width in (COLUMN, FULL)
]


def named(y):
    """Return rows with names, of which the last is long."""
    names = [f"row {number}" for number in range(len(y) - 1)]
    return pd.DataFrame(y, index=pd.Index([*names, LONG], name=LONG))


def places(data):
    """Return two maps of as many units as there are rows, at as many times as there are labels."""
    shares = named(data.before).set_axis(data.labels, axis=1).rename_axis(columns="time")
    return {"one": shares, LONG: 1 - shares}


def moved(data):
    """Return the means of the labels, and what two cases make of them."""
    means = pd.Series(data.after.mean(axis=0), data.labels)
    return pd.DataFrame({"as filled in": means, "a +10%": 1.1 * means, LONG: 0.7 * means})


def frames(data):
    return [pd.DataFrame(y, columns=data.labels) for y in (data.before, data.after)]


def holes(y):
    return np.bincount(np.isnan(y).sum(axis=1), minlength=y.shape[1] + 1)


def images(figure):
    return [axes.get_images()[0] for axes in figure.axes if axes.get_images()]


def cells_of(axes):
    """Return the (row, column) of all marks on a map, sorted."""
    marks = [line.get_xydata()[:, ::-1] for line in axes.get_lines()]
    return sorted(map(tuple, np.concatenate(marks).astype(int).tolist()))


def names_beside(axis):
    return [label.get_text() for label in axis.get_ticklabels() if label.get_text()]


@pytest.mark.parametrize(("name", "shape", "width"), DRAWN)
def test_all_texts_and_panels_have_room(drawn_texts, name, shape, width):
    figure = FIGURES[name](make(*shape), width)
    texts = drawn_texts(figure)
    assert len(texts) >= 5
    assert figure.get_figwidth() == width
    assert cut_off(figure, texts) == []
    assert overlapping(texts) == []
    assert min(text.get_fontsize() for text in texts) >= 8
    for axes in figure.axes:
        box = axes.get_window_extent()
        scale = axes.get_label() == "<colorbar>"
        assert box.width / figure.dpi > 0.9
        assert box.height / figure.dpi > (0.03 if scale else 0.35)
        below = [text for text, other in boxes_of(texts) if area(box, other) > 1]
        assert not (scale and below)


@pytest.mark.parametrize("name", FIGURES)
def test_the_words_are_those_of_people_with_a_table(drawn_texts, name):
    texts = " ".join(text.get_text() for text in drawn_texts(FIGURES[name](make(5, 3), COLUMN)))
    assert not re.search("degree|not observed|hidden", texts)


@pytest.mark.parametrize("shape", QUICK)
def test_both_maps_of_a_completion_have_one_scale(shape):
    data = make(*shape)
    before, after = images(report.completion_map(data.before, data.after, data.labels))
    np.testing.assert_array_equal(np.ma.filled(before.get_array(), np.nan), data.before)
    np.testing.assert_array_equal(after.get_array(), data.after)
    assert before.norm is after.norm
    assert (after.norm.vmin, after.norm.vmax) == (0, data.after.max())


def test_dots_stand_on_the_filled_cells_and_contrast_with_them():
    data = make(60, 12)
    figure = report.completion_map(data.before, data.after, data.labels)
    axes, image = figure.axes[1], images(figure)[1]
    assert cells_of(axes) == sorted(map(tuple, np.argwhere(np.isnan(data.before)).tolist()))
    for line in axes.get_lines():
        column, row = line.get_xydata().T.astype(int)
        ground = image.cmap(image.norm(data.after[row, column]))[:, :3].mean(axis=1)
        assert (np.abs(ground - to_rgba(line.get_color())[0]) > 0.3).all()


def test_a_hole_that_stays_is_hatched_and_has_no_dot():
    before = np.array([[0.2, np.nan], [np.nan, np.nan]])
    after = np.array([[0.2, 0.8], [np.nan, np.nan]])
    left, right = report.completion_map(before, after, ["a", "b"]).axes[:2]
    assert cells_of(right) == [(0, 1)]
    for axes in (left, right):
        (ground,) = axes.patches
        assert ground.get_hatch()
        assert ground.get_zorder() < axes.get_images()[0].get_zorder()
    whole = report.completion_map(after[:1], after[:1], ["a", "b"]).axes[0]
    assert list(whole.patches) == []


def test_few_labels_stand_beside_each_other_and_many_below():
    few, many = make(20, 12), make(20, 40)
    first, second = report.completion_map(few.before, few.after, few.labels).axes[:2]
    assert first.get_position().y0 == second.get_position().y0
    first, second = report.completion_map(many.before, many.after, many.labels).axes[:2]
    assert first.get_position().y0 > second.get_position().y1
    assert names_beside(second.xaxis) == many.labels


def test_labels_without_room_are_thinned_evenly_and_it_is_said():
    data = make(5, 70)
    axes = report.missing_map(~np.isnan(data.before), data.labels).axes[1]
    assert axes.get_xlabel() == "one label in 2 is named"
    assert names_beside(axes.xaxis) == data.labels[::2]


@pytest.mark.parametrize(
    ("before", "after", "labels"),
    [
        (np.zeros((2, 3)), np.zeros((2, 3)), ["a", "b"]),
        (np.zeros((2, 3)), np.zeros((3, 3)), ["a", "b", "c"]),
        (np.zeros(3), np.zeros(3), ["a", "b", "c"]),
    ],
)
def test_completion_map_refuses_other_shapes(before, after, labels):
    with pytest.raises(ValueError, match="must both have one column for each of the"):
        report.completion_map(before, after, labels)


def test_completion_map_refuses_an_empty_table():
    with pytest.raises(ValueError, match="no cells"):
        report.completion_map(np.zeros((0, 2)), np.zeros((0, 2)), ["a", "b"])


def test_reliability_shows_means_with_their_errors():
    groups = make(2, 3).groups
    figure = report.reliability(groups, coverage=0.914)
    above, below = figure.axes
    dots, _, (bars,) = above.containers[0].lines
    np.testing.assert_array_equal(dots.get_xydata(), groups[["predicted", "observed"]])
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(np.ptp(ends, axis=1), 2 * groups["error"])
    diagonal = above.get_lines()[0].get_xydata()
    np.testing.assert_array_equal(diagonal[:, 0], diagonal[:, 1])
    tops = [segment[1] for segment in below.collections[0].get_segments()]
    np.testing.assert_array_equal(tops, groups[["predicted", "n"]])
    assert "91%" in figure.legends[0].get_title().get_text()
    assert report.reliability(groups).legends[0].get_title().get_text() == ""


def test_a_group_of_one_has_no_bar_but_a_dot():
    groups = pd.DataFrame({"predicted": [0.3], "observed": [0.4], "error": [np.nan], "n": [1]})
    above, _ = report.reliability(groups).axes
    np.testing.assert_array_equal(above.containers[0].lines[0].get_xydata(), [[0.3, 0.4]])
    assert above.get_xlim()[1] > 0.4


def test_errors_stand_at_their_labels():
    errors = make(60, 40, long=True).errors
    axes = report.errors_by_label(errors, width=FULL).axes[0]
    drawn = {line.get_label(): line.get_xdata() for line in axes.get_lines()}
    np.testing.assert_array_equal(drawn["model"], errors["rmse"])
    np.testing.assert_array_equal(drawn["mean of the label"], errors["constant_rmse"])
    assert names_beside(axes.yaxis) == shortened(errors["label"])
    top, bottom = axes.transData.transform([(0, 0), (0, 39)])[:, 1]
    assert top > bottom


def test_the_most_influential_features_are_drawn():
    frame = make(60, 12).influence
    axes = report.influence(frame).axes[0]
    order = frame.abs().sum(axis=1).sort_values(ascending=False).index[:15]
    assert names_beside(axes.yaxis) == list(order)
    np.testing.assert_array_equal(axes.get_images()[0].get_array(), frame.loc[order])


def test_numbers_below_zero_have_a_colour_and_a_dash():
    frame = make(8, 5).influence
    axes, scale = report.influence(frame, label="rise").axes
    shown = axes.get_images()[0]
    assert shown.norm.vmin == -shown.norm.vmax
    assert cells_of(axes) == sorted(map(tuple, np.argwhere(shown.get_array() < 0).tolist()))
    assert scale.get_xlabel() == "rise (dash: below zero)"

    axes, scale = report.influence(frame.abs(), label="rise").axes
    assert axes.get_images()[0].norm.vmin == 0
    assert cells_of(axes) == []
    assert scale.get_xlabel() == "rise"


def test_influence_bears_holes_zeros_and_refuses_nothing():
    frame = pd.DataFrame({"a": [0.0, 0.0], "b": [np.nan, 0.0]}, index=["x", "y"])
    assert report.influence(frame).axes[0].get_images()[0].norm.vmax == 1
    with pytest.raises(ValueError, match="nothing to draw"):
        report.influence(frame.iloc[:0])


def test_missing_map_has_all_rows_sorted_and_the_shares():
    data = make(60, 12)
    observed = ~np.isnan(data.before)
    above, below = report.missing_map(observed, data.labels).axes
    drawn = below.get_images()[0].get_array().astype(bool)
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, observed))
    assert (np.diff(drawn.sum(axis=1)) <= 0).all()
    shares = [bar.get_height() for bar in above.patches]
    np.testing.assert_allclose(shares, 100 * np.isnan(data.before).mean(axis=0))


def test_rows_that_look_alike_can_be_counted_instead():
    rng = np.random.default_rng(0)
    patterns, counts = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], bool), np.array([5, 3, 9])
    rows = rng.permutation(np.repeat(patterns, counts, axis=0))
    figures = [
        report.missing_map(rows, ["a", "b", "c"]),
        report.missing_map(patterns, ["a", "b", "c"], counts=counts),
    ]
    one, other = (images(figure)[0].get_array() for figure in figures)
    np.testing.assert_array_equal(one, other)
    heights = [[bar.get_height() for bar in figure.axes[0].patches] for figure in figures]
    np.testing.assert_allclose(*heights)
    given = report.missing_map(patterns, ["a", "b", "c"], counts=counts, missing=[0.1, 0.2, 0.9])
    np.testing.assert_allclose([bar.get_height() for bar in given.axes[0].patches], [10, 20, 90])


def test_many_rows_are_drawn_at_even_steps():
    observed = np.arange(10_000)[:, None] < [10_000, 5000, 2500]
    axes = report.missing_map(observed, ["a", "b", "c"]).axes[1]
    drawn = axes.get_images()[0].get_array()
    assert len(drawn) == 400
    np.testing.assert_allclose(drawn.mean(axis=0), [1, 0.5, 0.25], atol=0.003)
    assert axes.get_ylabel() == "10,000 rows, sorted"


def test_missing_map_refuses_other_shapes():
    with pytest.raises(ValueError, match="one column for each of the 2 labels"):
        report.missing_map(np.ones((3, 3), bool), ["a", "b"])


def test_map_of_places_has_units_down_and_times_across():
    shares = pd.DataFrame([[1, 0.5, 0], [np.nan, 0, 0]], index=["a", "b"], columns=[1, 2, 3])
    shares = shares.rename_axis(index="state", columns="year")
    figure = report.map_of_places({"wool": shares, "hides": shares / 2})
    for image, expected in zip(images(figure), (shares, shares / 2), strict=False):
        np.testing.assert_array_equal(image.get_array().filled(np.nan), expected)
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["wool", "hides"]
    assert (figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()) == ("state", "year")
    many = pd.DataFrame(np.arange(1000) >= 500).rename_axis(index="unit", columns="time")
    drawn = images(report.map_of_places({"": many}))[0].get_array()
    assert drawn.shape == (400, 1)
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ValueError, match="rows and columns"):
        report.map_of_places({})


def test_holes_per_row_shows_the_counts():
    axes = report.holes_per_row([4, 0, 2]).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [4, 0, 2]
    assert [text.get_text() for text in axes.texts] == ["4", "", "2"]
    with pytest.raises(ValueError, match="number of rows with 0, 1, 2"):
        report.holes_per_row([0, 0])


@pytest.mark.parametrize("numbers", [(-0.02, -0.03, -0.01), (0.2, -0.1, 0.5), (0, 0, 0)])
def test_hidden_mass_is_to_scale_around_zero(numbers):
    axes = report.hidden_mass(*numbers).axes[0]
    difference, lower, upper = numbers
    dot, _, (bar,) = axes.containers[0].lines
    assert dot.get_xdata() == [difference]
    np.testing.assert_allclose(bar.get_segments()[0][:, 0], [lower, upper])
    low, high = axes.get_xlim()
    assert low == -high
    assert low < lower <= upper < high


def test_means_are_drawn_in_each_case():
    frame = moved(make(60, 3))
    axes = report.moved_means(frame, width=FULL).axes[0]
    for line, case in zip(axes.get_lines(), frame, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), frame[case])


def test_known_and_filled_shares_are_densities_of_their_own():
    data = make(60, 3)
    figure = report.known_and_filled(*frames(data))
    counts = np.isnan(data.before).sum(axis=0)
    assert [axes.get_title() for axes in figure.axes] == [
        data.labels[j] for j in np.argsort(-counts, kind="stable")
    ]
    for axes in figure.axes:
        bars = [each for each in axes.patches if each.get_label() != "filled in"][:20]
        assert np.isclose(sum(bar.get_width() * bar.get_height() for bar in bars), 1)
    with pytest.raises(ValueError, match="nothing to draw"):
        report.known_and_filled(frames(data)[1], frames(data)[1])


def test_hidden_mass_refuses_numbers_out_of_order():
    with pytest.raises(ValueError, match="must lie between"):
        report.hidden_mass(0.5, -0.1, 0.1)


@pytest.mark.parametrize("width", [COLUMN, pytest.param(FULL, marks=pytest.mark.slow)])
def test_comparison_marks_the_recommended_and_the_constant(width):
    frame = make(2, 3).methods
    panels = report.comparison(frame, recommended="winldl", width=width).axes
    for axes, task in zip(panels, ("completing", "predicting"), strict=True):
        drawn = {bars.get_label(): bars.lines for bars in axes.containers}
        for name, part in (
            ("recommended", frame[frame["method"] == "winldl"]),
            ("method ± standard error", frame[frame["method"] != "winldl"]),
        ):
            dots, _, (bars,) = drawn[name]
            np.testing.assert_array_equal(dots.get_xdata(), part[f"{task}_rmse"])
            np.testing.assert_array_equal(dots.get_ydata(), part.index)
            ends = np.array([segment[:, 0] for segment in bars.get_segments()])
            np.testing.assert_allclose(np.ptp(ends, axis=1), 2 * part[f"{task}_se"])
        (line,) = [each for each in axes.get_lines() if each.get_label() == "constant mean"]
        assert set(line.get_xdata()) == {frame[f"{task}_rmse"][3]}
    assert names_beside(panels[0].yaxis)[:4] == ["auto", "winldl", "ridge", "constant-mean"]


def test_comparison_leaves_out_what_has_no_error():
    frame = make(2, 3).methods.iloc[:3]
    failed = frame.assign(predicting_rmse=[np.nan, 0.2, 0.1], completing_rmse=np.nan)
    figure = report.comparison(failed)
    (axes,) = figure.axes
    assert axes.get_title() == "predicting new rows"
    assert names_beside(axes.yaxis) == ["winldl", "ridge"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["method ± standard error"]
    with pytest.raises(ValueError, match="No method has an error"):
        report.comparison(failed.iloc[:1])


@given(st.lists(st.text(max_size=80), max_size=30, unique=True), st.integers(12, 40))
def test_short_names_fit_and_stay_apart(names, most):
    short = shortened(names, most)
    assert len(short) == len(names)
    assert max(map(len, short), default=0) <= most
    assert all(text.isprintable() for text in short)
    readable = {" ".join("".join(c if c.isprintable() else " " for c in n).split()) for n in names}
    assert len(set(short)) >= len(readable)


@pytest.mark.parametrize("width", [COLUMN, pytest.param(FULL, marks=pytest.mark.slow)])
def test_odd_names_are_written_as_they_are(drawn_texts, width):
    odd = ["cost $5 & $6", "a\\frac{1}<b>", "two\nlines"]
    y = np.array([[0.2, 0.3, 0.5], [0.1, np.nan, np.nan]])
    figure = report.completion_map(y, y, odd, width=width)
    written = [text.get_text() for text in drawn_texts(figure)]
    assert {"cost $5 & $6", "a\\frac{1}<b>", "two lines"} <= set(written)
