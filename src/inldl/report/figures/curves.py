"""Draw curves: scores over the missing rate, and errors over what was spent on questions."""

import numpy as np

from inldl.report import style
from inldl.report.style import FULL, Drawing, drawn


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
