"""Draw the figures of the paper that no other page has: degrees by size, mu, growth, a bound."""

import numpy as np

from inldl.report import style
from inldl.report.style import COLUMN, FULL, GREY, PALE, Drawing, drawn
from inldl_paper.figures.axes import legend_over, line_handles, log_axis
from inldl_paper.figures.runs import draw_error_line

GROWING = {"n": "rows", "k": "features", "C": "labels"}


@drawn
def relative_error_by_size(frame, *, label="mean relative error", width=FULL) -> Drawing:
    """Draw the errors of small and of large degrees side by side, one panel per dataset.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, size (of the degrees, e.g. "below 0.5"), error.
    """
    style.need_columns(frame, "dataset", "method", "size", "error")
    table = frame.set_index(["dataset", "size", "method"])["error"]
    if table.index.has_duplicates:
        raise ValueError("The frame must have one error per dataset, method and size.")
    methods, sizes = style.in_order(frame["method"]), style.in_order(frame["size"])
    datasets = style.in_order(frame["dataset"])
    columns = min(len(datasets), max(1, round((width - 0.8) / 2)))
    rows = -(-len(datasets) // columns)
    height = 0.3 + rows * (0.45 + 0.13 * (len(sizes) + 0.5) * len(methods))
    panels = style.titled_panels(datasets, width, height, columns, sharey=True)
    for dataset, axes in panels.items():
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_yticks(range(len(methods)), methods)
        axes.tick_params(axis="y", length=0)
        for place, size in enumerate(sizes):
            errors = [table.get((dataset, size, method), np.nan) for method in methods]
            _draw_bars(axes, errors, place, size, len(sizes))
    axes.figure.supxlabel(f"{label} (lower is better)")
    return style.legend_above(axes.figure, axes.containers)


def _draw_bars(axes, errors, place, size, sizes):
    """Draw the bars of one size for all methods; shade and hatch tell the sizes apart."""
    height = 0.8 / sizes
    middles = np.arange(len(errors)) + (place - (sizes - 1) / 2) * height
    look = {"edgecolor": "black", "linewidth": 0.5, "label": str(size)}
    look["facecolor"], look["hatch"] = ((PALE, ""), (GREY, ""), ("white", "////"))[place % 3]
    axes.barh(middles, errors, height=0.9 * height, **look)


def _draw_lines(axes, frame, by, x, y, look, name=str):
    """Draw a line for each value in the column `by`, in order of appearance; return the lines."""
    for value, part in frame.groupby(by, sort=False):
        part = part.sort_values(x)
        axes.plot(part[x], part[y], label=name(value), **look[value])
    return list(axes.get_lines())


@drawn
def growth(
    frame, exponents, *, by="n", label="time of one fit (s)", methods=None, width=COLUMN
) -> Drawing:
    """Draw time against a size of the data, both in powers of ten.

    Slope 1 means that twice the rows take twice the time.

    Parameters
    ----------
    frame : DataFrame
        Columns method, `by`, seconds.
    exponents : Series
        The fitted slope of each method, written in the legend unless it is NaN.
    by : {"n", "k", "C"}
        What grows: rows, features or labels.
    """
    style.need_columns(frame, "method", by, "seconds")
    look = style.looks(frame["method"], methods)
    for method in style.in_order(frame["method"]):
        if method not in exponents.index:
            raise ValueError(f"exponents has no slope for the method {method!r}.")
    slopes = {name: f" ({slope:.2f})" for name, slope in exponents.dropna().items()}
    axes = style.single_panel(width)
    lines = _draw_lines(
        axes, frame, "method", by, "seconds", look, lambda name: name + slopes.get(name, "")
    )
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set(xlabel=f"{GROWING[by]} {by}", ylabel=label)
    return style.legend_above(axes.figure, lines, title="method (slope)" if slopes else "method")


@drawn
def error_by_degree(
    frame, counts=None, *, by="method", label="mean absolute error", methods=None, width=COLUMN
) -> Drawing:
    """Draw the error of degrees of each size, and below it how many degrees there are.

    Parameters
    ----------
    frame : DataFrame
        Columns degree (the middle of a bin), `by`, and error.
    counts : Series, optional
        Number of degrees in each bin, by the middle of the bin.
    by : str
        The column that tells the lines apart, e.g. "method" or "weighting".
    """
    style.need_columns(frame, "degree", by, "error")
    look = style.looks(frame[by], methods)
    axes = _degree_axes(counts, width)
    lines = _draw_lines(axes, frame, by, "degree", "error", look)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{label}\n(lower is better)")
    return style.legend_above(axes.figure, lines)


def _degree_axes(counts, width):
    """Return the axes for the errors, with the counts in a low panel below them."""
    if counts is None:
        axes = style.single_panel(width)
        axes.set_xlabel("true degree")
        return axes
    axes, below = style.two_panels(width, 2.8, 3, 1)
    bins = counts[counts > 0].sort_index()
    step = np.diff(bins.index).min() if len(bins) > 1 else 0.1
    below.bar(bins.index, bins, width=0.9 * step, color=PALE)
    log_axis(below.yaxis)
    below.set(xlabel="true degree", ylabel="count")
    return axes


@drawn
def risk_bound(frame, *, label="bound on the risk", width=COLUMN) -> Drawing:
    """Draw a bound on the risk against the number of rows, one line per largest weight.

    Parameters
    ----------
    frame : DataFrame
        Columns N, max_weight, bound, and optionally floor: the weighted risk to which the bound
        falls as N grows.
    """
    style.need_columns(frame, "N", "max_weight", "bound")
    frame = frame.sort_values("max_weight", kind="stable")
    look = style.looks(frame["max_weight"])
    axes = style.single_panel(width)
    lines = _draw_lines(
        axes, frame, "max_weight", "N", "bound", look, "largest weight {:g}".format
    )
    if "floor" in frame.columns:
        lines += _floor_lines(axes, frame, look)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set(xlabel="rows N", ylabel=label)
    return style.legend_above(axes.figure, lines)


def _floor_lines(axes, frame, look):
    """Draw the floors as thin lines, a common one in grey; return one of them for the legend."""
    floors = frame.pivot(index="N", columns="max_weight", values="floor").sort_index()
    thin = {"linewidth": 0.8, "label": "weighted risk"}
    if floors.nunique(axis=1).max() == 1:
        return axes.plot(floors.iloc[:, 0], color=GREY, **thin)
    for weight in floors:
        lines = axes.plot(floors[weight], color=look[weight]["color"], **thin)
    return lines


@drawn
def mu_study(
    frame, histories, *, reference=2, label="change per iteration", width=FULL
) -> Drawing:
    """Draw the scores against mu, and how fast the fit settles for each mu.

    The arrow behind a known metric points to its better side. The panels stand side by side from
    a width of 5 inches on.

    Parameters
    ----------
    frame : DataFrame
        Columns mu (positive), metric, mean, std.
    histories : dict of float to array
        For each mu the changes iteration by iteration.
    reference : float
        The mu to which the scores are compared, in percent: so metrics of any scale share a panel.
    """
    style.need_columns(frame, "mu", "metric", "mean", "std")
    side_by_side = width >= 5
    figure = style.new_figure(width, 2.2 if side_by_side else 4.4)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    scores, speed = figure.subplots(*((1, 2) if side_by_side else (2, 1)))
    room = (width / 2 if side_by_side else width) - 0.7
    heights = [
        legend_over(scores, _draw_scores(scores, frame, reference), room),
        legend_over(speed, _draw_histories(speed, histories, label), room),
    ]
    figure.set_figheight(figure.get_figheight() + (max(heights) if side_by_side else sum(heights)))
    return figure


def _draw_scores(axes, frame, reference):
    """Draw each metric as its distance from the reference in percent; return the handles."""
    look = style.looks(frame["metric"])
    for name in look:
        part = frame[frame["metric"] == name].sort_values("mu")
        scale = part.loc[part["mu"] == reference, "mean"]
        if len(scale) != 1:
            raise ValueError(f"The metric {name!r} needs one row with mu = {reference}.")
        percent = 100 / scale.iloc[0]
        change = part["mean"] * percent - 100
        draw_error_line(axes, part["mu"], change, part["std"] * percent, look[name], name)
    axes.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    log_axis(axes.xaxis)
    axes.minorticks_off()
    values = np.unique(frame["mu"].astype(float))
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set(xlabel="μ", ylabel=f"change from μ = {reference:g} (%)")
    return line_handles(
        {f"{name} {style.better(name, '↓↑')}".rstrip(): look[name] for name in look}
    )


def _draw_histories(axes, histories, label):
    """Draw one curve per mu, with a few markers each; return the handles."""
    if not histories:
        raise ValueError("histories is empty: give the changes of at least one mu.")
    look = style.looks(sorted(histories))
    for mu, line in look.items():
        changes = np.asarray(histories[mu], dtype=float)
        changes = np.where(changes > 0, changes, np.nan)  # 0 has no place on a log scale
        iterations = np.arange(1, len(changes) + 1)
        every = max(1, len(changes) // 8)
        axes.plot(iterations, changes, label=f"{mu:g}", markevery=every, **line)
    log_axis(axes.yaxis)
    axes.set(xlabel="iteration", ylabel=label)
    return line_handles({f"μ = {mu:g}": line for mu, line in look.items()})
