"""The figures of the paper: what is drawn is what was given, and all texts can be read."""

import numpy as np
import pandas as pd
import pytest

from figure_parts import legend_texts, lines_of, tick_texts
from inldl.report.style import COLUMN, FULL
from inldl_paper import figures
from text_boxes import assert_readable


def test_growth_writes_the_slopes(study):
    data = study(7)
    figure = figures.growth(data.times, data.exponents)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert legend_texts(figure) == [f"{m} ({data.exponents[m]:.2f})" for m in data.methods]
    for method, line in zip(data.methods, axes.get_lines(), strict=True):
        part = data.times[data.times["method"] == method]
        np.testing.assert_array_equal(line.get_xydata(), part[["n", "seconds"]])
    with pytest.raises(ValueError, match="no slope for the method 'LDM'"):
        figures.growth(data.times, data.exponents.drop("LDM"))
    plain = figures.growth(data.times, data.exponents * np.nan)
    assert not any("(" in text.get_text() for text in plain.legends[0].get_texts())


def test_mu_study_compares_with_the_reference(study):
    data = study()
    scores, speed = figures.mu_study(data.mu, data.histories).axes
    for bars in scores.containers:
        part = data.mu[data.mu["metric"] == bars.get_label()].set_index("mu")["mean"]
        expected = 100 * (part - part[2]) / part[2]
        drawn = bars.lines[0].get_ydata().astype(float)
        np.testing.assert_allclose(drawn, expected, atol=1e-9)
    assert legend_texts(scores)[-2:] == ["cosine ↑", "intersection ↑"]
    assert legend_texts(scores)[0] == "chebyshev ↓"
    for mu, changes in data.histories.items():
        np.testing.assert_array_equal(lines_of(speed)[f"{mu:g}"].get_ydata(), changes)
    assert speed.get_yscale() == "log"
    with pytest.raises(ValueError, match="one row with mu = 3"):
        figures.mu_study(data.mu, data.histories, reference=3)
    with pytest.raises(ValueError, match="histories is empty"):
        figures.mu_study(data.mu, {})


def test_a_change_of_zero_is_left_out_of_the_log_scale(study):
    data = study()
    speed = figures.mu_study(data.mu, {2: [1.0, 0.1, 0.0]}).axes[1]
    np.testing.assert_array_equal(speed.get_lines()[0].get_ydata(), [1.0, 0.1, np.nan])


def test_relative_errors_stand_at_their_methods(study):
    data = study(7)
    figure = figures.relative_error_by_size(data.sizes)
    assert legend_texts(figure) == ["below 0.5", "0.5 and above"]
    assert tick_texts(figure.axes[0].yaxis) == data.methods
    for axes in figure.axes:
        for bars in axes.containers:
            part = data.sizes.query("dataset == @axes.get_title() and size == @bars.get_label()")
            np.testing.assert_array_equal([bar.get_width() for bar in bars], part["error"])
            middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
            np.testing.assert_array_equal(np.round(middles), np.arange(7))
    with pytest.raises(ValueError, match="one error per dataset"):
        figures.relative_error_by_size(pd.concat([data.sizes, data.sizes]))


def test_errors_by_degree_stand_over_their_counts(study):
    data = study()
    above, below = figures.error_by_degree(data.degrees, data.counts, by="weighting").axes
    for name, line in lines_of(above).items():
        part = data.degrees[data.degrees["weighting"] == name]
        np.testing.assert_array_equal(line.get_xydata(), part[["degree", "error"]])
    np.testing.assert_array_equal([bar.get_height() for bar in below.patches], data.counts)
    assert above.get_ylabel().endswith("(lower is better)")
    assert len(figures.error_by_degree(data.degrees, by="weighting").axes) == 1


def test_risk_bounds_and_their_floors(study):
    data = study()
    figure = figures.risk_bound(data.bounds)
    lines = lines_of(figure.axes[0])
    for weight, part in data.bounds.groupby("max_weight"):
        line = lines[f"largest weight {weight}"]
        np.testing.assert_array_equal(line.get_xydata(), part[["N", "bound"]])
    np.testing.assert_array_equal(lines["weighted risk"].get_ydata(), 0.1)
    own = data.bounds.assign(floor=data.bounds["max_weight"] / 10)
    axes = figures.risk_bound(own).axes[0]
    floors = [line for line in axes.get_lines() if line.get_label() == "weighted risk"]
    assert sorted(line.get_ydata()[0] for line in floors) == [0.1, 0.2, 0.4]
    assert len(figures.risk_bound(data.bounds.drop(columns="floor")).axes[0].get_lines()) == 3


SLOW = pytest.mark.slow
FIGURES = {
    "growth": lambda d, w: figures.growth(d.times, d.exponents, width=w),
    "mu_study": lambda d, w: figures.mu_study(d.mu, d.histories, width=w),
    "relative_error_by_size": lambda d, w: figures.relative_error_by_size(d.sizes, width=w),
    "error_by_degree": lambda d, w: figures.error_by_degree(
        d.degrees, d.counts, by="weighting", width=w
    ),
    "risk_bound": lambda d, w: figures.risk_bound(d.bounds, width=w),
}


@pytest.mark.parametrize("width", [COLUMN, pytest.param(FULL, marks=SLOW)])
@pytest.mark.parametrize("count", [pytest.param(3, marks=SLOW), pytest.param(7, marks=SLOW), 20])
@pytest.mark.parametrize("name", FIGURES)
def test_all_texts_can_be_read_and_panels_have_room(study, drawn_texts, name, count, width):
    figure = FIGURES[name](study(count), width)
    texts = drawn_texts(figure)
    assert figure.get_figwidth() == width
    assert_readable(figure, texts)


def test_odd_names_are_written_as_they_are(study, drawn_texts):
    odd = {"WInLDL": "cost $5 & $6", "LDM": "under_score", "EDL-LRL": "a\\frac{1}<b>"}
    figure = figures.relative_error_by_size(study(3).sizes.replace(odd))
    written = " ".join(text.get_text() for text in drawn_texts(figure))
    assert all(name in written for name in odd.values())
