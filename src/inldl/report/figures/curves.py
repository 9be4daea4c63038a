"""Draw curves: scores over the missing rate, errors over costs, known and filled degrees."""

import numpy as np

from inldl.report import style
from inldl.report.style import FULL, PALE, Drawing, drawn

BINS, MOST_PANELS = 20, 12


def draw_lines(axes, frame, by, x, y, look, name=str) -> list:
    """Draw a line for each value in the column `by`, in order of appearance; return the lines."""
    for value, part in frame.groupby(by, sort=False):
        part = part.sort_values(x)
        axes.plot(part[x], part[y], label=name(value), **look[value])
    return list(axes.get_lines())


def draw_error_line(axes, x, mean, std, look, name) -> None:
    """Draw means joined by a line, and thin bars of one standard deviation."""
    axes.errorbar(x, mean, yerr=std, label=str(name), elinewidth=0.7, capsize=0, **look)


@drawn
def metric_against_rate(frame, metric, *, methods=None, width=FULL) -> Drawing:
    """Draw a score against the missing rate, one panel per dataset.

    Bars are one standard deviation to each side. The panels have scales of their own.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, rate (a share between 0 and 1), mean, std.
    metric : str
        What the score is; the direction is added to the name of a known metric.
    """
    style.need_columns(frame, "dataset", "method", "rate", "mean", "std")
    look = style.looks(frame["method"], methods)
    word = style.better(metric)
    label = f"{metric.replace('_', ' ')}\n({word} is better)" if word else metric
    panels = style.small_multiples(style.in_order(frame["dataset"]), label, width)
    rates = np.unique(frame["rate"].astype(float))
    for dataset, axes in panels.items():
        for method, part in frame[frame["dataset"] == dataset].groupby("method", sort=False):
            part = part.sort_values("rate")
            draw_error_line(axes, part["rate"], part["mean"], part["std"], look[method], method)
        axes.set_xticks(rates, [f"{100 * rate:.4g}" for rate in rates])
    figure = axes.figure
    figure.supxlabel("missing degrees (%)")
    present = set(frame["method"])
    return style.legend_above(
        figure, style.line_handles({n: each for n, each in look.items() if n in present})
    )


@drawn
def known_and_filled(before, after, *, width=FULL) -> Drawing:
    """Draw how the known and the filled degrees of each label are distributed.

    Labels with most filled degrees come first; at most 12 are drawn.

    Parameters
    ----------
    before, after : DataFrame of shape (n, C)
        Degrees with holes (NaN), and the same rows completed.
    """
    counts = before.isna().sum().sort_values(ascending=False, kind="stable")
    names = list(counts.index[counts > 0][:MOST_PANELS])
    if not names:
        raise ValueError("No degree is missing, so there is nothing to draw.")
    panels = style.small_multiples(style.shortened(names), "density", width)
    for name, axes in zip(names, panels.values(), strict=True):
        edges, known = np.linspace(0, after[name].max() or 1, BINS + 1), before[name].dropna()
        each = np.full(len(known), 1 / max(len(known), 1) / edges[1])
        axes.hist(known, edges, weights=each, color=PALE, label="known")
        filled = after[name][before[name].isna()]
        axes.hist(filled, edges, density=True, color="#d55e00", histtype="step", label="filled in")
        axes.locator_params(axis="x", nbins=4 if width > 5 else 2)
    handles, _ = axes.get_legend_handles_labels()
    axes.figure.supxlabel("share")
    return style.legend_above(axes.figure, handles)
