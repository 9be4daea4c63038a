"""Draw bars: run time, and errors of small and large degrees."""

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
    need_columns,
)
from ._panels import single_panel, titled_panels

BAR = 0.2  # inches per bar


@drawn
def run_time(frame, *, label="total time of the fits (s)", width=COLUMN):
    """Draw the sum of the seconds of each method, the fastest at the top.

    A method that lacks datasets says so behind its name: its sum is not the whole.

    Parameters
    ----------
    frame : DataFrame
        Columns method, dataset, seconds, one row per method and dataset.
    label : str
        What the seconds are, e.g. "sum of median fit times over 10 datasets (s)".
    """
    need_columns(frame, "method", "dataset", "seconds")
    known = frame.dropna(subset="seconds")
    if known.duplicated(["method", "dataset"]).any():
        raise ValueError("The frame must have one row per method and dataset: summarise repeats.")
    totals = known.groupby("method")["seconds"].sum().sort_values(kind="stable")
    if totals.empty or not (totals > 0).all():
        raise ValueError("Every method needs a positive number of seconds in the column seconds.")
    present = known.groupby("method")["dataset"].nunique()
    wanted = frame["dataset"].nunique()
    names = [
        name if count == wanted else f"{name} ({count} of {wanted} datasets)"
        for name, count in present[totals.index].items()
    ]
    axes = single_panel(width, 0.55 + BAR * len(totals))
    bars = axes.barh(np.arange(len(totals)), totals, height=0.7, color=GREY)
    log_axis(axes.xaxis)
    axes.set_yticks(np.arange(len(totals)), names)
    times = [f"{each:.0f}" if each >= 100 else f"{each:.3g}" for each in totals]
    axes.bar_label(bars, times, padding=2)
    axes.set(xlabel=label, ylim=(len(totals) - 0.4, -0.6))
    axes.set_xlim(left=10 ** np.floor(np.log10(0.8 * totals.iloc[0])))
    axes.tick_params(axis="y", length=0)
    return axes.figure


@drawn
def relative_error_by_size(frame, *, label="mean relative error", width=FULL):
    """Draw the errors of small and of large degrees side by side, one panel per dataset.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, size (of the degrees, e.g. "below 0.5"), error.
    label : str
        What the error is.
    """
    need_columns(frame, "dataset", "method", "size", "error")
    table = frame.set_index(["dataset", "size", "method"])["error"]
    if table.index.has_duplicates:
        raise ValueError("The frame must have one error per dataset, method and size.")
    methods, sizes = in_order(frame["method"]), in_order(frame["size"])
    datasets = in_order(frame["dataset"])
    for dataset, axes in _shared_names(datasets, methods, len(sizes), width).items():
        for place, size in enumerate(sizes):
            errors = [table.get((dataset, size, method), np.nan) for method in methods]
            _draw_bars(axes, errors, place, size, len(sizes))
    axes.figure.supxlabel(f"{label} (lower is better)")
    legend_above(axes.figure, axes.containers)
    return axes.figure


def _shared_names(datasets, methods, sizes, width):
    """Return a dict of axes in rows of at most three, the methods named at the left."""
    columns = min(len(datasets), max(1, round((width - 0.8) / 2)))
    rows = -(-len(datasets) // columns)
    height = 0.3 + rows * (0.45 + 0.13 * (sizes + 0.5) * len(methods))
    panels = titled_panels(datasets, width, height, columns, sharey=True)
    for axes in panels.values():
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_yticks(range(len(methods)), methods)
        axes.tick_params(axis="y", length=0)
    return panels


def _draw_bars(axes, errors, place, size, sizes):
    """Draw the bars of one size for all methods; shade and hatch tell the sizes apart."""
    height = 0.8 / sizes
    middles = np.arange(len(errors)) + (place - (sizes - 1) / 2) * height
    axes.barh(
        middles,
        errors,
        height=0.9 * height,
        facecolor=(LIGHT, GREY, "white")[place % 3],
        hatch=("", "", "////")[place % 3],
        edgecolor="black",
        linewidth=0.5,
        label=str(size),
    )
