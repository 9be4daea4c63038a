"""What is drawn is what was given."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

from figure_parts import legend_texts, lines_of, tick_texts
from inldl import report
from inldl_paper import figures
from inldl_paper.figures.axes import power

COUNTS = [3, 7, 20]


@pytest.mark.parametrize("count", COUNTS)
def test_critical_difference_is_to_scale(study, count):
    data = study(count)
    axes = figures.critical_difference(data.ranks, 1.5, data.groups).axes[0]
    lines = lines_of(axes)
    x = pd.Series({name: lines[name].get_xdata()[0] for name in data.methods})
    slope, start = np.polyfit(data.ranks, x, 1)
    np.testing.assert_allclose(x, start + slope * data.ranks, atol=1e-9)
    assert slope > 0
    assert np.ptp(lines["CD"].get_xdata()) == pytest.approx(1.5 * slope)
    assert len([line for line in axes.get_lines() if line.get_label() == "group"]) == sum(
        len(group) > 1 for group in data.groups
    )


def test_critical_difference_bars_span_their_groups_and_keep_apart(study):
    data = study(7)
    axes = figures.critical_difference(data.ranks, 1.5, data.groups).axes[0]
    place = {name: lines_of(axes)[name].get_xdata()[0] for name in data.methods}
    bars = [line for line in axes.get_lines() if line.get_label() == "group"]
    spans = {tuple(np.round(bar.get_xdata(), 6)): bar.get_ydata()[0] for bar in bars}
    for group in data.groups:
        ends = [place[name] for name in group]
        assert (round(min(ends), 6), round(max(ends), 6)) in spans
    overlapping = [(a, b) for a in spans for b in spans if a < b and b[0] <= a[1]]
    assert overlapping
    assert all(spans[a] != spans[b] for a, b in overlapping)


def test_critical_difference_names_every_method_with_its_rank(study):
    data = study(20)
    axes = figures.critical_difference(data.ranks, 3.2, data.groups).axes[0]
    texts = {text.get_text() for text in axes.texts}
    assert {f"{name} ({rank:.2f})" for name, rank in data.ranks.items()} < texts
    assert "CD = 3.20" in texts


@pytest.mark.parametrize(
    ("ranks", "cd", "groups", "message"),
    [
        ({"a": 1.0, "b": 2.0}, 0, [], "cd must be a number greater than 0"),
        ({"a": 1.0, "b": 2.5}, 1, [], "between 1 and 2"),
        ({"a": 1.0}, 1, [], "at least two methods"),
        ({"a": 1.0, "b": 2.0}, 1, [["a", "c"]], "'c', which has no rank"),
    ],
)
def test_critical_difference_refuses(ranks, cd, groups, message):
    with pytest.raises(ValueError, match=message):
        figures.critical_difference(pd.Series(ranks), cd, groups)


@pytest.mark.parametrize("width", [3.5, 7])
def test_long_names_leave_room_for_the_ranks(width):
    ranks = pd.Series({"n" * 60: 1.0, "m" * 60: 2.0, "n" * 61: 3.0})
    axes = figures.critical_difference(ranks, 1.2, [], width=width).axes[0]
    assert axes.get_window_extent().width / axes.figure.dpi > 0.5


def test_rate_panels_hold_the_scores(study):
    data = study(7)
    figure = figures.metric_against_rate(data.scores.sample(frac=1, random_state=0), "cosine")
    assert {axes.get_title() for axes in figure.axes} == set(data.scores["dataset"])
    for axes in figure.axes:
        for bars in axes.containers:
            part = data.scores.query(
                "dataset == @axes.get_title() and method == @bars.get_label()"
            )
            line, _, (segments,) = bars.lines
            np.testing.assert_array_equal(line.get_xydata(), part[["rate", "mean"]])
            ends = np.array([segment[:, 1] for segment in segments.get_segments()])
            np.testing.assert_allclose(np.ptp(ends, axis=1), 2 * part["std"])
        assert tick_texts(axes.xaxis) == ["10", "30", "50", "70", "90"]
    assert figure.axes[0].get_ylabel() == "cosine\n(higher is better)"
    assert set(legend_texts(figure)) == set(data.methods)


def test_a_method_keeps_its_look_when_others_are_left_out(study):
    data = study(7)
    scores = data.scores[data.scores["dataset"] == "Gene"]
    some = scores[scores["method"].isin(["LDM", "IIS-LDL"])]
    drawn = [
        figures.metric_against_rate(frame, "cosine", methods=data.methods)
        for frame in (scores, some)
    ]
    colours = [
        {bars.get_label(): bars.lines[0].get_color() for bars in figure.axes[0].containers}
        for figure in drawn
    ]
    assert set(colours[1]) == {"LDM", "IIS-LDL"}
    assert colours[1].items() < colours[0].items()
    assert set(legend_texts(drawn[1])) == {"LDM", "IIS-LDL"}
    with pytest.raises(ValueError, match="'LDM', which is not among"):
        figures.metric_against_rate(some, "cosine", methods=["IIS-LDL"])


def test_no_two_of_twenty_looks_agree():
    looks = report.style.looks([f"m{number}" for number in range(20)])
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == 20
    assert len({(look["linestyle"], look["marker"]) for look in looks.values()}) == 20


def test_run_time_sums_and_tells_of_gaps(study):
    data = study(7)
    seconds = data.seconds[~((data.seconds.method == "LDM") & (data.seconds.dataset == "Gene"))]
    axes = figures.run_time(seconds, label="sum of medians (s)").axes[0]
    totals = seconds.groupby("method")["seconds"].sum().sort_values()
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], totals)
    names = [
        name.replace("LDM", "LDM (5 of 6 datasets)") if name == "LDM" else name
        for name in totals.index
    ]
    assert tick_texts(axes.yaxis) == names
    written = [float(text.get_text()) for text in axes.texts]
    np.testing.assert_allclose(written, totals, rtol=0.01)
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "sum of medians (s)"
    with pytest.raises(ValueError, match="one row per method and dataset"):
        figures.run_time(pd.concat([seconds, seconds]))
    with pytest.raises(ValueError, match="positive number of seconds"):
        figures.run_time(seconds.assign(seconds=0.0))


def test_frames_without_their_columns_or_rows_are_refused(study):
    data = study()
    with pytest.raises(ValueError, match="lacks the column\\(s\\) 'std'; it has 'dataset'"):
        figures.metric_against_rate(data.scores.drop(columns="std"), "cosine")
    with pytest.raises(ValueError, match="no rows"):
        figures.run_time(data.seconds.iloc[:0])


@pytest.mark.parametrize(("value", "text"), [(1e-4, "10⁻⁴"), (2.5e5, "2.5·10⁵"), (1, "10⁰")])
def test_powers_of_ten(value, text):
    assert power(value) == text


def test_the_settings_of_the_user_neither_matter_nor_change(study):
    data = study(3)
    plain = report.svg(figures.run_time(data.seconds), "time")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        assert report.svg(figures.run_time(data.seconds), "time") == plain
        assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_extra_is_named(study, monkeypatch):
    data = study(3)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'inldl\[report\]'"):
        figures.run_time(data.seconds)


def test_a_narrow_diagram_has_all_names_at_one_side(drawn_texts):
    ranks = pd.Series({"a method with a name of many words": 1.4, "b": 1.8, "c": 2.8})
    figure = figures.critical_difference(ranks, 1.2, [["b", "c"]], width=3.5)
    seen = {text.get_text(): text for text in drawn_texts(figure)}
    names = [seen[name] for name in ("a method wit…words (1.40)", "b (1.80)", "c (2.80)")]
    left = {round(name.get_window_extent().x0) for name in names}
    assert len(left) == 1
    assert max(name.get_window_extent().x1 for name in names) <= 3.5 * figure.dpi
    heights = [name.get_window_extent().y0 for name in names]
    assert heights == sorted(heights)  # the worst hangs highest, so that no lines cross
