"""Pictures of the guide that `inldl.report` has no function for."""

import numpy as np
from matplotlib.patches import Patch

from inldl.report.style import (
    COLOURS,
    GREY,
    drawn,
    legend_above,
    looks,
    new_figure,
    single_panel,
)
from inldl.weighting import SCHEMES

WIDTH = 6.0  # inches: a page of text on a screen
PALE = ["#9ecae1", "#a1d99b", "#fdd0a2", "#bcbddc"]
HOLE = {"facecolor": "white", "edgecolor": GREY, "hatch": "//////", "linewidth": 0.6}
PROMISE = {"color": GREY, "linestyle": (0, (4, 2)), "linewidth": 0.9}
MEAN = 0.1  # of the label whose missing degrees are drawn


@drawn
def bars_with_holes(before, after, width=WIDTH):
    """Draw rows as bars of length 1: the known shares, and the completed rows."""
    colours = dict(zip(before.columns, PALE, strict=True))
    figure = new_figure(width, 0.3 * len(before) + 0.6)
    for axes, table, title in zip(
        figure.subplots(1, 2), (before, after), ("known", "filled"), strict=True
    ):
        for place, row in enumerate(table.to_numpy()):
            _bar(axes, place, row, colours)
        axes.set(title=title, xlim=(0, 1), xticks=[0, 0.5, 1], yticks=[], xlabel="share")
        axes.invert_yaxis()
        axes.spines["left"].set_visible(False)
    handles = [Patch(facecolor=colour, label=label) for label, colour in colours.items()]
    legend_above(figure, [*handles, Patch(label="not known", **HOLE)])
    return figure


def _bar(axes, place, row, colours):
    """Draw one row with the unknown rest at its end; wide shares show their number."""
    end = 0.0
    for share, colour in zip(row, colours.values(), strict=True):
        if np.isnan(share):
            continue
        axes.barh(place, share, left=end, color=colour, height=0.7)
        if share > 0.07:
            axes.text(end + share / 2, place, f"{share:.2f}"[1:], ha="center", va="center")
        end += share
    if np.isnan(row).any():
        axes.barh(place, 1 - end, left=end, height=0.7, **HOLE)


@drawn
def errors_beside_the_mean(tables, width=WIDTH):
    """Draw errors divided by that of the constant mean, from a dict of tables by name."""
    figure = new_figure(width, 1.7)
    for axes, (name, table) in zip(figure.subplots(1, len(tables)), tables.items(), strict=True):
        mean = table.loc["constant-mean"]
        others = table.drop("constant-mean").sort_values("predicting_rmse", ascending=False)
        ratio = others["predicting_rmse"] / mean["predicting_rmse"]
        axes.axvline(1, **PROMISE)
        axes.plot(ratio, ratio.index, "o", color=COLOURS[2], clip_on=False)
        for method, value in ratio.items():
            text = f"{value:.2f}" if value >= 0.01 else "<0.01"
            _beside(axes, text, (value, method), right=True)
        axes.set(title=name, xlim=(0, 1.45), xticks=[0, 0.5, 1], ylim=(-0.5, len(ratio) - 0.5))
    figure.supxlabel("error at predicting / that of the constant mean")
    return figure


@drawn
def intervals(predicted, lower, upper, truth, label, width=WIDTH):
    """Draw the intervals of one label over rows sorted by their prediction."""
    order = np.argsort(predicted, kind="stable")
    predicted, lower, upper, truth = (each[order] for each in (predicted, lower, upper, truth))
    inside, place = (lower <= truth) & (truth <= upper), np.arange(len(truth))
    figure = new_figure(width, 2.2)
    axes = figure.subplots()
    axes.vlines(place, lower, upper, color="#9ecae1", linewidth=3.5, label="90% interval")
    axes.plot(place, predicted, "_", color=COLOURS[2], markersize=4, label="prediction")
    dot = {"linestyle": "", "marker": "o", "markersize": 3, "color": "black"}
    axes.plot(place[inside], truth[inside], label="truth, inside", **dot)
    cross = {"linestyle": "", "marker": "x", "markersize": 5, "color": COLOURS[1]}
    axes.plot(place[~inside], truth[~inside], label="truth, outside", **cross)
    axes.set(xlabel=f"{len(truth)} unseen households", xticks=[], ylabel=label, ylim=(0, None))
    legend_above(figure, axes.get_legend_handles_labels()[0])
    return figure


@drawn
def coverages(found, promised=0.9, width=WIDTH):
    """Draw the fraction of intervals that contain the truth in each situation."""
    figure = new_figure(width, 0.26 * len(found) + 0.5)
    axes = figure.subplots()
    axes.axvline(promised, **PROMISE)
    for place, share in enumerate(found):
        axes.plot([promised, share], [place, place], color=COLOURS[1], linewidth=2)
        axes.plot(share, place, "o", color="black")
        _beside(axes, f"{share:.0%}", (share, place), right=share > promised)
    axes.set_yticks(range(len(found)), found.index)
    axes.set_xticks([0, 0.25, 0.5, 0.75, promised], ["0%", "25%", "50%", "75%", f"{promised:.0%}"])
    axes.set(xlim=(0, 1), ylim=(len(found) - 0.5, -0.5), xlabel="truth inside its 90% interval")
    return figure


def _beside(axes, text, point, right):
    """Write a text next to a dot."""
    axes.annotate(
        text,
        point,
        xytext=(6 if right else -6, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
    )


@drawn
def weights(own, name, width=WIDTH):
    """Draw the weights of the built-in schemes and one more, for observed and missing degrees."""
    schemes = {each: make() for each, make in SCHEMES.items() if each != "random"}
    schemes[name] = own
    degrees, progress = np.linspace(0, 1, 101), np.linspace(0.02, 1, 50)
    figure = new_figure(width, 2.2)
    left, right = figure.subplots(1, 2, sharey=True)
    for look, (each, scheme) in zip(looks(schemes).values(), schemes.items(), strict=True):
        style = {"color": look["color"], "linestyle": look["linestyle"], "label": each}
        left.plot(degrees, scheme.observed(degrees[None])[0], **style)
        missing = [scheme.unobserved(np.array([MEAN]), p)[0] for p in progress]
        right.plot(progress, missing, **style)
    left.set(xlabel="observed degree", ylabel="weight", xlim=(0, 1), ylim=(-0.05, 4.6))
    right.set(xlabel="progress t/T of the fit, missing degree", xlim=(0, 1))
    legend_above(figure, left.get_lines())
    return figure


@drawn
def error_against_cost(frame, unit, width=WIDTH):
    """Draw the error that is left against what was spent on questions, one line per strategy."""
    axes = single_panel(width, 2.8)
    look = looks(frame["strategy"])
    for name, part in frame.groupby("strategy", sort=False):
        axes.plot(part["cost"], part["rmse"], label=name, **look[name])
    axes.set_ylim(bottom=0)
    axes.set(xlabel="spent on answers", ylabel=f"root mean squared error ({unit})")
    return legend_above(axes.figure, axes.get_lines())
