"""Draw curves over the missing rate, the number of rows, the size of degrees, and bounds."""

import numpy as np

from ..style import (
    COLUMN,
    FULL,
    GREY,
    LIGHT,
    drawn,
    in_order,
    legend_above,
    log_axis,
    looks,
    need_columns,
    new_figure,
    with_direction,
)
from ._panels import error_line, line_handles, single_panel, small_multiples


@drawn
def metric_against_rate(frame, metric, *, methods=None, width=FULL):
    """Draw a score against the missing rate, one panel per dataset.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, rate (a share between 0 and 1), mean, std.
    metric : str
        What the score is; the direction is added to the name of a known metric.
    methods : list of str, optional
        All methods of the study: the look of a method depends on its place in this list.
    width : float
        Width of the figure in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Bars are one standard deviation to each side. The panels have scales of their own.
    """
    need_columns(frame, "dataset", "method", "rate", "mean", "std")
    look = looks(in_order(frame["method"], methods))
    panels = small_multiples(in_order(frame["dataset"]), with_direction(metric), width)
    rates = np.unique(frame["rate"].astype(float))
    for dataset, axes in panels.items():
        for method, part in frame[frame["dataset"] == dataset].groupby("method", sort=False):
            part = part.sort_values("rate")
            error_line(axes, part["rate"], part["mean"], part["std"], look[method], method)
        axes.set_xticks(rates, [f"{100 * rate:.4g}" for rate in rates])
    figure = axes.figure
    figure.supxlabel("missing degrees (%)")
    legend_above(figure, line_handles(look, set(frame["method"])))
    return figure


@drawn
def growth(frame, exponents, *, label="time of one fit (s)", methods=None, width=COLUMN):
    """Draw time against the number of rows, both in powers of ten.

    Parameters
    ----------
    frame : DataFrame
        Columns method, n, seconds.
    exponents : Series
        The fitted slope of each method, written in the legend.
    label : str
        What the seconds are.
    methods : list of str, optional
        All methods of the study: the look of a method depends on its place in this list.
    width : float
        Width of the figure in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Slope 1 means that twice the rows take twice the time.
    """
    need_columns(frame, "method", "n", "seconds")
    look = looks(in_order(frame["method"], methods))
    axes = single_panel(width)
    for method, part in frame.groupby("method", sort=False):
        if method not in exponents.index:
            raise ValueError(f"exponents has no slope for the method {method!r}.")
        part = part.sort_values("n")
        name = f"{method} ({exponents[method]:.2f})"
        axes.plot(part["n"], part["seconds"], label=name, **look[method].line())
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set(xlabel="rows n", ylabel=label)
    legend_above(axes.figure, axes.get_lines(), title="method (slope)")
    return axes.figure


@drawn
def error_by_degree(
    frame, counts=None, *, by="method", label="mean absolute error", methods=None, width=COLUMN
):
    """Draw the error of degrees of each size, and below it how many degrees there are.

    Parameters
    ----------
    frame : DataFrame
        Columns degree (the middle of a bin), `by`, and error.
    counts : Series, optional
        Number of degrees in each bin, by the middle of the bin.
    by : str
        The column that tells the lines apart, e.g. "method" or "weighting".
    label : str
        What the error is.
    methods : list of str, optional
        All lines of the study: the look of a line depends on its place in this list.
    width : float
        Width of the figure in inches.
    """
    need_columns(frame, "degree", by, "error")
    look = looks(in_order(frame[by], methods))
    axes = _degree_axes(counts, width)
    for name, part in frame.groupby(by, sort=False):
        part = part.sort_values("degree")
        axes.plot(part["degree"], part["error"], label=str(name), **look[name].line())
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{label}\n(lower is better)")
    legend_above(axes.figure, axes.get_lines())
    return axes.figure


def _degree_axes(counts, width):
    """Return the axes for the errors, with the counts in a low panel below them."""
    if counts is None:
        axes = single_panel(width)
        axes.set_xlabel("true degree")
        return axes
    figure = new_figure(width, 2.8)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    bins = counts[counts > 0].sort_index()
    step = np.diff(bins.index).min() if len(bins) > 1 else 0.1
    below.bar(bins.index, bins, width=0.9 * step, color=LIGHT)
    log_axis(below.yaxis)
    below.set(xlabel="true degree", ylabel="count")
    figure.align_ylabels([axes, below])
    return axes


@drawn
def risk_bound(frame, *, label="bound on the risk", width=COLUMN):
    """Draw a bound on the risk against the number of rows, one line per largest weight.

    Parameters
    ----------
    frame : DataFrame
        Columns N, max_weight, bound, and optionally floor: the weighted risk to which the bound
        falls as N grows.
    label : str
        What the bound is.
    width : float
        Width of the figure in inches.
    """
    need_columns(frame, "N", "max_weight", "bound")
    weights = sorted(set(frame["max_weight"]))
    look = looks(weights)
    axes = single_panel(width)
    for weight in weights:
        part = frame[frame["max_weight"] == weight].sort_values("N")
        name = f"largest weight {weight:g}"
        axes.plot(part["N"], part["bound"], label=name, **look[weight].line())
    lines = list(axes.get_lines())
    if "floor" in frame.columns:
        lines += _floor_lines(axes, frame, look)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set(xlabel="rows N", ylabel=label)
    legend_above(axes.figure, lines)
    return axes.figure


def _floor_lines(axes, frame, look):
    """Draw the floors as thin lines, a common one in grey; return one of them for the legend."""
    floors = frame.pivot(index="N", columns="max_weight", values="floor").sort_index()
    if floors.nunique(axis=1).max() == 1:
        return axes.plot(floors.iloc[:, 0], color=GREY, linewidth=0.8, label="weighted risk")
    for weight in floors.columns:
        colour = look[weight].color
        axes.plot(floors[weight], color=colour, linewidth=0.8, label="weighted risk")
    return axes.get_lines()[-1:]
